"""Puts a query into words that QMD takes for no more than a query."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace_qmd.engine.types import Line, LineKind

__all__ = ["as_document", "cleaned", "plain"]

_TYPED = re.compile(r"\A(lex|vec|hyde|intent|expand):", re.IGNORECASE)
_NEGATION = re.compile(r"(^|\s)-+(?=[\w\"])")


def plain(query: str) -> str:
    """A query on one line that is not taken for a typed document."""
    return _TYPED.sub(r"\1 :", " ".join(_printable(query).split()))


def cleaned(line: Line) -> Line:
    """A line that QMD does not refuse: quotes in pairs, no exclusions from meanings."""
    return line._replace(text=_text(line.kind, " ".join(_printable(line.text).split())))


def as_document(lines: Sequence[Line]) -> str:
    """The typed document of cleaned lines."""
    return "\n".join(f"{line.kind}: {line.text}" for line in lines)


def _text(kind: LineKind, text: str) -> str:
    if kind != "lex":
        return _NEGATION.sub(r"\1", text)
    if text.count('"') % 2:
        before, _, after = text.rpartition('"')
        return f"{before} {after}".strip()
    return text


def _printable(text: str) -> str:
    # An argument cannot hold a zero, and half a character is none.
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
