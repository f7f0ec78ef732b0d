"""The one place that knows how an extra is added to this very Python."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from commonplace.errors import how_to_install

ROOT = Path(__file__).parents[2]
AUTHORING = "commands/authoring.py"


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an environment that this Python is of."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def test_with_the_pip_of_the_environment(python: Path) -> None:
    bare = [sys.executable, "-m", "pip", "install", "commonplace[watch]"]
    assert shlex.split(how_to_install("commonplace[watch]")) == bare
    (python / "bin" / "pip").touch()
    pip = str(python / "bin" / "pip")
    assert how_to_install("commonplace[watch]") == f"{pip} install 'commonplace[watch]'"


def test_as_pipx_does_it(python: Path) -> None:
    (python / "pipx_metadata.json").touch()
    expected = "pipx runpip commonplace install 'commonplace[watch]'"
    assert how_to_install("commonplace[watch]") == expected


def test_as_uv_does_it(python: Path) -> None:
    (python / "uv-receipt.toml").touch()
    expected = f"uv pip install --python {sys.executable} 'commonplace[watch]'"
    assert how_to_install("commonplace[watch]") == expected


def test_a_folder_with_a_blank_is_quoted(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/a folder/bin/python")
    assert shlex.split(how_to_install("x"))[0] == "/a folder/bin/python"


def test_no_page_tells_to_install_what_is_not_published() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"install\s+[\"']?commonplace(?!@)\b", text), page.name


def test_the_program_says_it_in_one_place_alone() -> None:
    folders = (Path(sys.modules["commonplace"].__file__ or "").parent, *_plugins())
    for folder in folders:
        for file in folder.rglob("*.py"):
            # The other one installs the plugin that it has written.
            if f"{file.parent.name}/{file.name}" not in ("commonplace/errors.py", AUTHORING):
                assert "pip install" not in file.read_text(encoding="utf-8"), file


def _plugins() -> list[Path]:
    from importlib.util import find_spec

    names = ("sqlite", "lancedb", "qmd", "local", "mcp", "sessions", "openai")
    specs = [find_spec(f"commonplace_{name}") for name in names]
    return [Path(spec.origin).parent for spec in specs if spec is not None and spec.origin]
