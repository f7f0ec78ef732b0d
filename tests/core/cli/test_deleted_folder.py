"""Where the current folder was deleted: commands say so, or do without it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from commonplace.config.load import load_settings
from commonplace.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.core.cli.conftest import Ran as Run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a folder in use stays there")


@pytest.fixture
def gone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "gone").mkdir()
    monkeypatch.chdir(home / "gone")
    os.rmdir(home / "gone")


@pytest.mark.usefixtures("gone")
@pytest.mark.parametrize(
    "command",
    [
        ["search", "x"],
        ["search", "x", "--workspace", "notes"],
        ["status"],
        ["config", "path", "--config", "own.json5"],
        ["install", "claude-code", "--scope", "project"],
        ["demo", "--into", "demo"],
    ],
)
def test_a_command_that_needs_it_says_that_it_is_gone(
    command: list[str], run: Callable[..., Run]
) -> None:
    ran = run(*command)
    assert ran.code == 2
    assert ran.err.startswith("commonplace: the current folder does not exist any more\n")
    assert "fix: change to another one with cd, and name the folder of your notes" in ran.err


@pytest.mark.usefixtures("gone")
def test_a_command_that_needs_it_not_works(indexed: str, run: Callable[..., Run]) -> None:
    for command in (["search", "key"], ["status"], ["plugins"], ["init"]):
        ran = run(*command, "--workspace", indexed)
        assert (ran.code, "current folder" in ran.err) == (0, False)


@pytest.mark.usefixtures("gone")
def test_opening_a_memory_raises_the_same(home: Path) -> None:
    for given in ({}, {"config": {"memory": {"citations": "on"}}}, {"workspace": "notes"}):
        with pytest.raises(ConfigError, match="the current folder does not exist any more"):
            load_settings(env={"HOME": str(home)}, **given)
