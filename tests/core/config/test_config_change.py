"""Changing one file of the configuration, several times and beside other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.config.change import ConfigFile
from commonplace.config.json5 import parse_json5
from commonplace.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def opened(path: Path) -> ConfigFile:
    return ConfigFile(
        str(path), env={"HOME": "/nonexistent"}, classes=lambda _: None, absence=lambda *_: ""
    )


def settings(**query: float) -> dict[str, object]:
    return {"agents": {"defaults": {"memorySearch": {"query": query}}}}


@pytest.mark.parametrize("begun", [False, True], ids=["no file", "a file"])
def test_what_another_program_has_changed_meanwhile_is_not_overwritten(
    tmp_path: Path, *, begun: bool
) -> None:
    path = tmp_path / "config.json5"
    if begun:
        opened(path).set("query.maxResults", "7")
    ours, theirs = opened(path), opened(path)
    theirs.set("query.minScore", "0.5")
    saved = path.read_bytes()
    with pytest.raises(ConfigError, match="was changed meanwhile"):
        ours.set("query.maxResults", "8")
    assert path.read_bytes() == saved
    ours.set("query.maxResults", "8")
    assert parse_json5(path.read_text()) == settings(maxResults=8, minScore=0.5)


def test_what_was_deleted_meanwhile_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "config.json5"
    opened(path).set("query.maxResults", "7")
    ours = opened(path)
    path.unlink()
    with pytest.raises(ConfigError, match="was changed meanwhile"):
        ours.unset("query.maxResults")
    assert not path.exists()


def test_one_file_takes_several_changes(tmp_path: Path) -> None:
    path = tmp_path / "config.json5"
    file = opened(path)
    file.set("query.maxResults", "7")
    file.set("query.minScore", "0.5")
    assert file.set("query.maxResults", "9").before == 7
    assert file.unset("query.minScore").changed
    assert parse_json5(path.read_text()) == settings(maxResults=9)
