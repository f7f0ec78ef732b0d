"""Core knows no plugin by name, and a name of a constant has one meaning in all of core.

Only one file holds the ids of the default parts.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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


def constants(source: str) -> Iterator[tuple[str, str]]:
    """Name and value of each public constant of a module; type variables are none."""
    found: list[ast.stmt] = [*ast.parse(source).body]
    while found:
        node = found.pop()
        if isinstance(node, ast.If | ast.Try):
            found += [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            value = ast.unparse(node.value)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if not isinstance(target, ast.Name) or value.startswith("TypeVar("):
                    continue
                if target.id.isupper() and not target.id.startswith("_"):
                    yield target.id, value


def ambiguous(found: Iterable[tuple[str, str, str]]) -> dict[str, list[str]]:
    """The names that have one value in a module and another in another: module, name, value."""
    values: dict[str, dict[str, str]] = {}
    for module, name, value in found:
        values.setdefault(name, {})[module] = value
    return {name: sorted(by) for name, by in values.items() if len(set(by.values())) > 1}


def test_a_public_constant_has_one_value_in_all_of_core(packages: dict[str, Path]) -> None:
    core = packages["commonplace"]
    found = [
        (file.relative_to(core).as_posix(), name, value)
        for file in sorted(core.rglob("*.py"))
        for name, value in constants(file.read_text("utf-8"))
    ]
    assert len(found) > 100
    assert ambiguous(found) == {}


def test_constants_with_two_values_are_found() -> None:
    one = "T = TypeVar('T')\nMOST = 1\n_OWN = 1\nSAME: int = 5\nlower = 1"
    two = "T = TypeVar('T', bound=A)\nif a:\n  MOST = 2\n_OWN = 2\nSAME = 5\nMORE = 3\nlower = 2"

    def found(*sources: str) -> list[tuple[str, str, str]]:
        modules = enumerate(sources)
        return [(str(at), *one) for at, source in modules for one in constants(source)]

    assert ambiguous(found(one, two)) == {"MOST": ["0", "1"]}
    assert ambiguous(found(one, one)) == {}
