"""What the guards look at: the folders of the repository, as they are on disk."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE_ROOTS = ("core", "backends", "providers", "plugins")


class Outline(NamedTuple):
    """What several guards ask of a file; its whole tree would be too much to keep."""

    docstring: str
    imports: tuple[ast.Import | ast.ImportFrom, ...]  # wherever in the file


@pytest.fixture(scope="session")
def outline() -> Callable[[Path], Outline]:
    """Parse a file, once for all guards."""

    def parsed(file: Path) -> Outline:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
        return Outline(ast.get_docstring(tree) or "", tuple(imports))

    return cache(parsed)


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def project(root: Path) -> dict[str, Any]:
    """``pyproject.toml``."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def packages(root: Path) -> dict[str, Path]:
    """The top-level packages under the four source roots, by name."""
    return {
        file.parent.name: file.parent
        for source_root in SOURCE_ROOTS
        for file in sorted((root / source_root).glob("*/__init__.py"))
    }


@pytest.fixture(scope="session")
def plugins(root: Path) -> dict[str, Path]:
    """The folders that hold plugins, by name, packages or not."""
    return {
        folder.name: folder
        for source_root in SOURCE_ROOTS[1:]
        for folder in sorted((root / source_root).glob("commonplace_*"))
        if folder.is_dir()
    }


@pytest.fixture(scope="session")
def sources(packages: dict[str, Path]) -> list[Path]:
    """Every Python file of every package."""
    return [file for folder in packages.values() for file in sorted(folder.rglob("*.py"))]
