"""A home of its own for the commands that connect harnesses."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from commonplace.cli import main
from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOVING = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "OPENCLAW_STATE_DIR")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with notes, a project, and a command ``commonplace`` on the path."""
    copy_workspace(str(tmp_path / "notes"))
    for folder in ("bin", "project"):
        (tmp_path / folder).mkdir()
    program = tmp_path / "bin" / "commonplace"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m commonplace "$@"\n')
    program.chmod(0o755)
    for name in (*MOVING, "OPENCLAW_CONFIG_PATH", "COMMONPLACE_CONFIG", "COMMONPLACE_AGENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COMMONPLACE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(tmp_path / "notes"))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.fixture
def commonplace(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command line; its exit code, standard output and standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run
