"""Fixtures of the tests of ``commonplace eval``."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from commonplace.cli import main
from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Callable


class Ran(NamedTuple):
    """The result of a command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder for the test alone."""
    home = tmp_path / "home"
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(("COMMONPLACE_", "OPENCLAW_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    """A copy of the sample workspace."""
    folder = str(tmp_path / "workspace")
    copy_workspace(folder)
    return folder


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a command line in this process."""

    def run(*argv: str) -> Ran:
        capsys.readouterr()
        code = main(argv)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def reference() -> Any:
    """The reference script that scores a run, as a module; skips where it is not to be had."""
    default = Path(__file__).resolve().parents[4] / "shared" / "eval"
    script = Path(os.environ.get("COMMONPLACE_EVAL_DIR", default)) / "score.py"
    if not script.is_file():
        pytest.skip("score.py not found; COMMONPLACE_EVAL_DIR names its folder")
    spec = importlib.util.spec_from_file_location("reference_score", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
