"""What a docstring refers to is there."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROLE = re.compile(r":(?:func|class|meth|data|attr|mod|exc):`([^`]+)`")


def targets(source: str) -> Iterator[tuple[int, str]]:
    """The line and the full name of all of ours that ``source`` refers to."""
    for match in ROLE.finditer(source):
        text = " ".join(match[1].split())
        shown = re.search(r"<(.+)>\Z", text)
        name = (shown[1] if shown else text).lstrip("~").removesuffix("()").replace(" ", "")
        if re.match(r"commonplace(?:_\w+)?\.", name):
            yield source.count("\n", 0, match.start()) + 1, name


def is_there(name: str) -> bool:
    """Whether ``name`` is a module, or of one; what lacks a library of others counts as there."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:count]))
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("commonplace"):
                return True
            continue
        for part in parts[count:]:
            if part in getattr(found, "__annotations__", {}) and not hasattr(found, part):
                return True
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("commonplace.files.globs.matcher", True),
        ("commonplace.Memory.open", True),
        ("commonplace.files.roots", True),
        ("commonplace.files.roots.matcher", False),
        ("commonplace.no_such_module.matcher", False),
    ],
)
def test_a_name_is_looked_up(name: str, *, there: bool) -> None:
    assert is_there(name) is there


def test_a_role_is_read_with_its_line() -> None:
    source = "'''\nSee :func:`~commonplace.a.b` and :class:`the\n notes <commonplace.c>`.\n'''"
    assert list(targets(source)) == [(2, "commonplace.a.b"), (2, "commonplace.c")]


def test_what_docstrings_refer_to_is_there(sources: list[Path], root: Path) -> None:
    lost = [
        f"{file.relative_to(root)}:{line}: {name}"
        for file in sources
        for line, name in targets(file.read_text(encoding="utf-8"))
        if not is_there(name)
    ]
    assert lost == []
