"""Core knows no plugin, plugins do not know each other, and core's floors hold."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.guards.conftest import Outline


def imported(file: Outline) -> Iterator[str]:
    """The modules that a file imports absolutely, wherever in it."""
    for node in file.imports:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif not node.level and node.module:
            yield node.module


def test_core_imports_no_plugin(
    packages: dict[str, Path], outline: Callable[[Path], Outline], root: Path
) -> None:
    found = [
        f"{file.relative_to(root)}: {module}"
        for file in sorted(packages["commonplace"].rglob("*.py"))
        for module in imported(outline(file))
        if module.startswith("commonplace_")
    ]
    assert found == []


def test_imports_inside_functions_are_seen(
    tmp_path: Path, outline: Callable[[Path], Outline]
) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "import os\ndef f():\n    from commonplace_x.y import z\n    import commonplace_w as w\n"
    )
    assert list(imported(outline(file))) == ["os", "commonplace_x.y", "commonplace_w"]


def test_the_contracts_hold(packages: dict[str, Path], root: Path) -> None:
    pytest.importorskip("importlinter", reason="import-linter is not installed")
    folders = {str(folder.parent) for folder in packages.values()}
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    answer = subprocess.run(
        [sys.executable, "-c", program, "--no-cache", "--config", str(root / "pyproject.toml")],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sorted(folders))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_every_list_of_packages_is_complete(
    project: dict[str, Any], packages: dict[str, Path], plugins: dict[str, Path]
) -> None:
    linter = project["tool"]["importlinter"]
    contracts = {contract["name"]: contract for contract in linter["contracts"]}
    first_party = project["tool"]["ruff"]["lint"]["isort"]["known-first-party"]
    assert sorted(linter["root_packages"]) == sorted(packages)
    assert sorted(first_party) == sorted(packages)
    core = contracts["core knows no plugin"]
    assert core["source_modules"] == ["commonplace"]
    assert sorted(core["forbidden_modules"]) == sorted(plugins)
    assert sorted(contracts["plugins do not know each other"]["modules"]) == sorted(plugins)


def test_every_part_of_core_stands_on_a_floor(project: dict[str, Any]) -> None:
    (floors,) = [c for c in project["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    assert floors["containers"] == ["commonplace"]
    assert floors["exhaustive"] is True
    assert not floors.get("ignore_imports")
