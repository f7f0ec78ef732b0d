"""How values that Arrow or a filter cannot hold as they are go in, and come back unchanged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.plugin import Stamp

__all__ = [
    "heading_in",
    "heading_out",
    "last_column",
    "literal",
    "literals",
    "stamp_in",
    "stamp_out",
    "terms_in",
    "terms_out",
    "text_in",
    "text_out",
]

_ESCAPE = "\ufdd0"
"""A code point that is no character, so that it stands in no text on purpose."""

_STRANGE = re.compile(f"[\0{_ESCAPE}\ud800-\udfff]")
_ESCAPED = re.compile(f"{_ESCAPE}(.)", re.DOTALL)
_COLUMNS = " \0 "


def text_in(text: str) -> str:
    """``text`` without NUL and lone surrogates, which have no place in UTF-8 or in a filter."""
    return _STRANGE.sub(_escaped, text) if _STRANGE.search(text) else text


def text_out(text: str) -> str:
    """The inverse of :func:`text_in`."""
    return _ESCAPED.sub(_unescaped, text) if _ESCAPE in text else text


def _escaped(match: re.Match[str]) -> str:
    # Surrogates, NUL and the mark itself become private characters behind the mark.
    code = ord(match[0])
    shifted = {0: 0xE800, 0xFDD0: 0xE801}.get(code, code - 0xD800 + 0xE000)
    return _ESCAPE + chr(shifted)


def _unescaped(match: re.Match[str]) -> str:
    code = ord(match[1])
    return chr({0xE800: 0, 0xE801: 0xFDD0}.get(code, code - 0xE000 + 0xD800))


def terms_in(body: str, head: str, extra: str) -> str:
    """The three columns of terms as one text, which a phrase cannot cross.

    NUL stands between them as a token of its own; none of theirs can be one.
    """
    return _COLUMNS.join((text_in(body), text_in(head), text_in(extra)))


def terms_out(terms: str) -> tuple[str, str, str]:
    """Body, head and extra as tokens of the index: see :func:`text_out` for their own text."""
    body, head, extra = terms.split(_COLUMNS)
    return body, head, extra


def heading_in(heading: tuple[str, ...]) -> list[str]:
    """Headings as a list that Arrow can hold."""
    return [text_in(part) for part in heading]


def heading_out(parts: Iterable[str] | None) -> tuple[str, ...]:
    """The inverse of :func:`heading_in`."""
    return tuple(text_out(part) for part in parts or ())


def last_column(terms: str) -> str:
    """The column extra, as tokens of the index."""
    return terms.rpartition(_COLUMNS)[2]


def stamp_in(stamp: Stamp) -> str:
    """Four numbers of which some need more than 64 bits with a sign, as text."""
    return ",".join(map(str, stamp))


def stamp_out(text: str) -> Stamp:
    """The inverse of :func:`stamp_in`."""
    size, mtime, ctime, inode = map(int, text.split(","))
    return size, mtime, ctime, inode


def literal(text: str) -> str:
    """``text`` as a string of a filter."""
    return "'" + text_in(text).replace("'", "''") + "'"


def literals(values: Iterable[str | int]) -> str:
    """Values for ``IN (...)``."""
    return ", ".join(str(v) if isinstance(v, int) else literal(v) for v in values)
