"""The page for agents: its commands and its Python run, its JSON and TOML are valid."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from commonplace.cli import main
from commonplace.model.prompt import DATA_NOTICE
from commonplace.sample import copy_workspace
from commonplace.tools.toolset import GET_CHARS, GET_LINES

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy_workspace(str(tmp_path / "notes"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, folder in {"STATE_DIR": "state", "CACHE_DIR": "cache", "WORKSPACE": "notes"}.items():
        monkeypatch.setenv(f"COMMONPLACE_{name}", str(tmp_path / folder))
    return tmp_path


def test_its_commands_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("commonplace recall")]
    assert len(commands) >= 3
    for line in commands:
        assert main(shlex.split(line, comments=True)[1:]) == 0, line
        assert "Memory Recall" in capsys.readouterr().out


@pytest.mark.usefixtures("home")
def test_its_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks("python")
    exec(compile(block, "agents.md", "exec"), {})
    shown = capsys.readouterr().out
    assert DATA_NOTICE in shown
    assert "'citation': 'MEMORY.md#L29-L33'" in shown


def test_every_entry_for_a_client_is_valid_and_starts_the_server() -> None:
    entries = [json.loads(block) for block in blocks("json")]
    entries += [tomllib.loads(block) for block in blocks("toml")]
    assert len(entries) >= 4
    for entry in entries:
        (servers,) = entry.values()
        server = servers["memory"]
        command = server["command"]
        line = command if isinstance(command, list) else [command, *server["args"]]
        assert line[:3] == ["commonplace", "mcp", "--workspace"]


def test_its_numbers_are_those_of_the_code() -> None:
    assert f"at most {GET_LINES} lines and {GET_CHARS:,} characters" in PAGE
    assert DATA_NOTICE in PAGE
