"""No circle between files: imports inside functions and for types alone are counted."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.guards.conftest import Outline


def module_of(file: Path, folder: Path) -> str:
    """The dotted name of a file below a source root's package."""
    parts = file.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def graph_of(folder: Path, outline: Callable[[Path], Outline]) -> dict[str, set[str]]:
    """Which modules of a package each of its modules imports, wherever in the file."""
    files = {module_of(file, folder): file for file in sorted(folder.rglob("*.py"))}
    graph: dict[str, set[str]] = {}
    for module, file in files.items():
        found: set[str] = set()
        for node in outline(file).imports:
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif node.module and not node.level:
                submodules = {f"{node.module}.{alias.name}" for alias in node.names}
                found.update(submodules & set(files) or {node.module})
        graph[module] = (found & set(files)) - {module}
    return graph


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    """The modules of one circle, the first again at the end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def test_no_circle_between_files(
    packages: dict[str, Path], outline: Callable[[Path], Outline]
) -> None:
    circles = {name: circle_in(graph_of(folder, outline)) for name, folder in packages.items()}
    assert {name: circle for name, circle in circles.items() if circle} == {}


@pytest.mark.parametrize("lazy", ["from pack.b import x", "import pack.b", "from pack import b"])
def test_a_circle_by_a_lazy_import_is_seen(
    tmp_path: Path, outline: Callable[[Path], Outline], lazy: str
) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "a.py").write_text(f"def f():\n    {lazy}\n")
    (folder / "b.py").write_text("if 0:\n    from pack.a import f\n")
    assert set(circle_in(graph_of(folder, outline))) == {"pack.a", "pack.b"}
