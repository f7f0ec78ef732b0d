"""What the README shows works as it stands."""

from __future__ import annotations

import asyncio
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli import main
from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def notes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_workspace(str(home / "notes"))
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(home / "notes"))
    assert main(["index"]) == 0


def test_its_commands_run(run: Callable[..., Any]) -> None:
    lines = [line for block in _blocks("sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("commonplace ")]
    assert len(commands) >= 9
    for line in commands:
        ran = run(*shlex.split(line, comments=True)[1:])
        said = re.sub(r"note: no (?:matches|note has)[^\n]*\n", "", ran.err)
        assert (ran.code, said) in {(0, ""), (0, _PART)}, line


_PART = "note: memory/2026-10-12.md: lines 3 to 10 of 15\n"


def test_its_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    space: dict[str, Any] = {}
    for block in _blocks("python"):
        exec(compile(block, "README.md", "exec"), space)
    assert "<memory path=" in asyncio.run(space["recall"]("who has the spare key?"))
    shown = capsys.readouterr().out
    assert "MEMORY.md#L" in shown
    assert "# What to remember always" in shown


def test_its_configuration_is_right(run: Callable[..., Any], tmp_path: Path) -> None:
    blocks = _blocks("json5")
    assert blocks
    for block in blocks:
        config = tmp_path / "config.json5"
        config.write_text(block, encoding="utf-8")
        report = run("config", "check", "--config", str(config), "--json")
        assert (report.code, report.json["problems"], report.json["warnings"]) == (0, [], [])


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((docs/[^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
