"""Puts a query into words that QMD takes for no more than a query."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace_qmd.engine.types import Line, LineKind

__all__ = ["as_document", "cleaned", "has_words", "is_findable", "plain"]

_TYPED = re.compile(r"\A(lex|vec|hyde|intent|expand):", re.IGNORECASE)
_TERM = re.compile(r"""(-?)(?:"([^"]*)"?|([^\s"]+))""")
_WORD = re.compile(r"\w")
# Written without blanks, and not taken apart: a word is found only where a run of them starts.
_UNPARTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff]")
_NEGATION = re.compile(r"(^|\s)-+(?=[\w\"])")


def plain(query: str) -> str:
    """A query on one line that is not taken for a typed document."""
    return _TYPED.sub(r"\1 :", " ".join(_printable(query).split()))


def cleaned(line: Line) -> Line:
    """A line that QMD does not refuse: quotes in pairs, no exclusions from meanings."""
    return line._replace(text=" ".join(_text(line.kind, _printable(line.text)).split()))


def as_document(lines: Sequence[Line]) -> str:
    """The typed document of cleaned lines."""
    return "\n".join(f"{line.kind}: {line.text}" for line in lines)


def has_words(text: str) -> bool:
    """Whether a ``lex`` line asks for a word; one of signs and exclusions finds nothing, ever."""
    return any(
        _WORD.search(phrase or term)
        for excluded, phrase, term in _TERM.findall(text)
        if not excluded
    )


def is_findable(text: str) -> bool:
    """Whether QMD finds the words of ``text`` wherever they stand.

    It leaves out marks that do not melt into a letter, as the vowels of many scripts are, and does
    not part Thai, Lao, Khmer and Burmese into words.
    """
    whole = unicodedata.normalize("NFC", text)
    return not _UNPARTED.search(whole) and not any(map(_is_mark, whole))


def _is_mark(char: str) -> bool:
    return char > "\u02ff" and unicodedata.category(char) in ("Mn", "Mc")


def _text(kind: LineKind, text: str) -> str:
    if kind != "lex":
        return _NEGATION.sub(r"\1", text)
    if text.count('"') % 2:
        before, _, after = text.rpartition('"')
        return f"{before} {after}"
    return text


def _printable(text: str) -> str:
    # An argument cannot hold a zero, and half a character is none.
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
