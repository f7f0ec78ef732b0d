"""Core knows no plugin by name: only one file holds the ids of the default parts."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS = ("backend", "source", "chunker", "provider", "ranker")

EXEMPT = ("config/defaults.py", "testing/", "sample/")
"""The defaults, the tests' own kit, and the notes of the demonstration."""

WORDS = frozenset({"memory", "sessions", "lines", "single", "local", "markdown", "builtin"}) | {
    "evidence",
    "importance",
    "spread",
}
"""Ids that are words of the configuration or of English, too: they count as whole literals only."""

OURS = {
    "memory": "a section and a folder",
    "local": "a section",
    "lines": "an argument of the tool that reads notes",
    "importance": "an argument of the tool that writes notes",
}
"""Whole literals that name something of core's own."""


def ids(project: dict[str, Any]) -> set[str]:
    """The ids of all parts that come with commonplace."""
    names = project["project"]["entry-points"]["commonplace"]
    return {id_ for kind, _, id_ in (name.partition(".") for name in names) if kind in KINDS}


def named(source: str, known: set[str]) -> Iterator[tuple[int, str]]:
    """Line and id of each id in an identifier or a literal of ``source``; docstrings are text."""
    tree = ast.parse(source)
    distinct = known - WORDS
    # An id may stand in a name beside others (`mmr_lambda`), and as a part of a literal.
    pattern = re.compile(
        rf"(?<![a-z0-9])({'|'.join(map(re.escape, sorted(distinct)))})(?![a-z0-9])"
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None  # a docstring
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in known - OURS.keys():
                yield node.lineno, node.value
            else:
                yield from ((node.lineno, found) for found in pattern.findall(node.value))
        for field in ("id", "attr", "arg", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield from (
                    (getattr(node, "lineno", 0), found) for found in pattern.findall(name.lower())
                )


def test_core_names_no_plugin(project: dict[str, Any], packages: dict[str, Path]) -> None:
    core, known = packages["commonplace"], ids(project)
    found = [
        f"{path}:{line}: {id_}"
        for file in sorted(core.rglob("*.py"))
        if not (path := file.relative_to(core).as_posix()).startswith(EXEMPT)
        for line, id_ in named(file.read_text(encoding="utf-8"), known)
    ]
    assert found == []


def test_names_are_found_wherever_they_stand() -> None:
    source = '''
"""Of mmr and qmd."""
from x import qmd_files
def f(mmr_lambda, kept):
    "Of qmd."
    g(kept.qmd, "builtin", "sessions are many", chain=["weighted", "sessions"])
    return {"memory.qmd": 1, "memory": 2, "rrfs": 3}
'''
    known = {"mmr", "qmd", "builtin", "weighted", "sessions", "memory", "rrf"}
    assert sorted(named(source, known)) == [
        (3, "qmd"),
        (4, "mmr"),
        (6, "builtin"),
        (6, "qmd"),
        (6, "sessions"),
        (6, "weighted"),
        (7, "qmd"),
    ]


def test_every_id_that_counts_is_one(project: dict[str, Any]) -> None:
    assert ids(project) >= WORDS | OURS.keys()
