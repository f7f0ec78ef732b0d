"""``--safe`` and COMMONPLACE_SAFE leave the builtins; every command says what is off."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Run = Any
MODULE = """
from pathlib import Path
Path(__file__).with_name("imported").touch()
"""


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there once the plugins of a third party have been imported."""
    site = tmp_path / "site"
    info = site / "a_stranger-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: a-stranger\nVersion: 1.0\n")
    entries = "[commonplace]\nevents.stranger = a_stranger\ncommand.stranger = a_stranger\n"
    (info / "entry_points.txt").write_text(entries)
    (site / "a_stranger.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "a_stranger", raising=False)
    return site / "imported"


@pytest.mark.parametrize("by", ["option first", "option last", "variable"])
def test_safe_mode_imports_nothing_of_third_parties_and_says_so(
    by: str,
    indexed: str,  # before there is a stranger
    mark: Path,
    run: Callable[..., Run],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", indexed)
    before = ["--safe"] if by == "option first" else []
    if by == "variable":
        monkeypatch.setenv("COMMONPLACE_SAFE", "1")
    after = ["--safe"] if by == "option last" else []
    words = "safe mode (COMMONPLACE_SAFE)"
    assert words in run(*before, "status", *after).out
    assert words in run(*before, "doctor", *after).out
    listed = run(*before, "plugins", "--json", *after).json
    assert any(words in warning for warning in listed["warnings"])
    (info,) = (one for one in listed["plugins"] if one["name"] == "events.stranger")
    assert (info["state"], info["notices"]) == ("disabled", ["switched off by COMMONPLACE_SAFE"])
    assert run(*before, "search", *after, "herons").code == 0
    refused = run(*before, "stranger", *after)
    assert "'stranger' is switched off by COMMONPLACE_SAFE" in refused.err
    assert not mark.exists()

    monkeypatch.delenv("COMMONPLACE_SAFE", raising=False)
    run("plugins", "--json")
    assert mark.exists(), "without it they are imported"


def test_a_command_that_the_configuration_denies_names_the_setting(
    mark: Path, run: Callable[..., Run], tmp_path: Path
) -> None:
    config = tmp_path / "own.json5"
    config.write_text('{plugins: {deny: ["stranger", "rankr.mmr"]}}')
    refused = run("stranger", "--config", str(config))
    assert f"switched off by plugins.deny in {config}" in refused.err
    checked = run("config", "check", "--config", str(config))
    assert "did you mean 'ranker.mmr'?" in checked.out + checked.err
    assert not mark.exists()
