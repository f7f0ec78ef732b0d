"""Fixtures of the command line's tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from attrs import frozen

from commonplace.cli import main
from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@frozen
class Ran:
    """What a run of the command line came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own: no configuration or index of this machine is seen or touched."""
    home = tmp_path / "home"
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(("COMMONPLACE_", "OPENCLAW_", "XDG_")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    """A copy of the sample workspace."""
    folder = str(tmp_path / "workspace")
    copy_workspace(folder)
    return folder


@pytest.fixture
def indexed(workspace: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The same, with its index made: how fast this machine is changes no answer."""
    assert main(["index", "--workspace", workspace]) == 0
    capsys.readouterr()
    return workspace


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a command line in this process."""

    def run(*argv: str) -> Ran:
        capsys.readouterr()
        code = main(argv)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def process(home: Path) -> Callable[..., Ran]:
    """Runs a command line in a process of its own."""

    def process(*argv: str, **env: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "commonplace", *argv],
            capture_output=True,
            check=False,
            encoding="utf-8",
            env={**os.environ, **env},
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return process
