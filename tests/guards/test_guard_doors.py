"""Plugins, builtin or not, examples and docs import from the three public modules alone."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.guards.conftest import Outline

DOORS = {"commonplace", "commonplace.plugin", "commonplace.testing"}
IN_A_PAGE = re.compile(
    r"^\s*(?:>>> )?(?:from|import)\s+(commonplace(?:\.\w+)*)(?!\w)", re.MULTILINE
)


def imported(program: Outline) -> Iterator[str]:
    """The modules of commonplace that a program imports."""
    for node in program.imports:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif node.module and not node.level:
            names = [node.module]
        yield from (name for name in names if name.partition(".")[0] == "commonplace")


def test_plugins_and_examples_come_in_by_the_doors(
    plugins: dict[str, Path], outline: Callable[[Path], Outline], root: Path
) -> None:
    folders = [*plugins.values(), root / "examples"]
    found = [
        f"{file.relative_to(root)}: {module}"
        for folder in folders
        for file in sorted(folder.rglob("*.py"))
        for module in imported(outline(file))
        if module not in DOORS
    ]
    assert found == []


def test_pages_show_the_doors_alone(root: Path) -> None:
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    pages += sorted((root / "examples").rglob("*.md"))
    found = [
        f"{page.relative_to(root)}: {module}"
        for page in pages
        for module in IN_A_PAGE.findall(page.read_text(encoding="utf-8"))
        if module not in DOORS
    ]
    assert found == []


def test_core_does_not_use_the_door_of_plugins(
    packages: dict[str, Path], outline: Callable[[Path], Outline], root: Path
) -> None:
    found = [
        str(file.relative_to(root))
        for file in sorted(packages["commonplace"].rglob("*.py"))
        if "commonplace.plugin" in set(imported(outline(file)))
    ]
    assert found == []
