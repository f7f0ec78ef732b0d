"""The page on harnesses: its commands run, and it names every harness with what it has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.cli import main
from commonplace.sample import copy_workspace
from commonplace_harnesses.edits import JsonHooks
from commonplace_harnesses.harnesses import HARNESSES, Setup

if TYPE_CHECKING:
    import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "harnesses.md").read_text(encoding="utf-8")
MOVING = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "OPENCLAW_STATE_DIR")


def test_its_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_workspace(str(tmp_path / "notes"))
    for name in (*MOVING, "OPENCLAW_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COMMONPLACE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(tmp_path / "notes"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)  # a hook's input, at the end of the page
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) >= 9
    for line in lines:
        words = shlex.split(line.removesuffix("< /dev/null").replace("~", str(tmp_path)))
        assert main(words[1:]) == 0, line
        assert capsys.readouterr().out or "sessions archive" in line
    assert (tmp_path / ".codex" / "hooks.json").exists()
    assert not (tmp_path / ".vscode").exists()


def test_its_table_is_that_of_the_code(tmp_path: Path) -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| yes \| (\w+).*? \| (.*) \|$", PAGE, re.MULTILINE)
    assert [id_ for id_, _, _ in rows] == list(HARNESSES)
    for id_, hook, scopes in rows:
        harness = HARNESSES[id_]
        assert tuple(re.findall(r"`(\w+)`", scopes)) == harness.scopes
        setup = Setup(("commonplace",), (), "memory", "user", str(tmp_path), {"HOME": "/home/me"})
        targets = harness.targets(setup)
        assert (hook == "yes") == any(isinstance(target.edit, JsonHooks) for target in targets)
        assert f"\n## {harness.title}\n" in PAGE
