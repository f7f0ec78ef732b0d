"""Which files of a folder QMD takes for a pattern, and which folders it never looks into."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.plugin import matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["NEVER_INDEXED", "OURS_IGNORED", "literal", "wanted_by"]

NEVER_INDEXED = frozenset({"node_modules", "vendor", "dist", "build"})
"""Folders that QMD passes over at any depth, beside those whose names begin with a dot."""

OURS_IGNORED = frozenset({"venv", "__pycache__"})
"""Folders of tools that QMD would index, and is told not to."""

_PLAIN = re.compile(r"[^\w./ @%+=~-]")


def wanted_by(pattern: str) -> Callable[[str], bool]:
    """Whether a path below the collection's root (forward slashes) is one of ``pattern``.

    As QMD reads it, commas outside brackets and braces part several patterns.
    """
    tests = [matcher(part) for part in _parts(pattern)]
    if len(tests) == 1:
        return tests[0]
    return lambda path: any(test(path) for test in tests)


def literal(name: str) -> str:
    """A pattern for the one file called ``name``.

    What means something in a pattern is written as ``?``: QMD has two readers of patterns, and they
    do not agree on how such a character is written otherwise.
    """
    return _PLAIN.sub("?", name)


def _parts(pattern: str) -> Iterator[str]:
    depth = start = 0
    for at, character in enumerate(pattern):
        if character in "{[":
            depth += 1
        elif character in "}]" and depth:
            depth -= 1
        elif character == "," and not depth:
            yield from _part(pattern[start:at])
            start = at + 1
    yield from _part(pattern[start:])


def _part(text: str) -> Iterator[str]:
    if text.strip():
        yield text.strip()
