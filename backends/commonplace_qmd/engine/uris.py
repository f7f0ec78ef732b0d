"""The three spellings in which QMD names a file."""

from __future__ import annotations

import re
from urllib.parse import unquote

__all__ = ["parse_uri"]

_SCHEME = "qmd://"
_HALF = re.compile("[\ud800-\udfff]")
_INDEX = re.compile(r"\?index=[^/?#.]+\Z")


def parse_uri(text: str, *, encoded: bool = False) -> tuple[str, str]:
    """The collection of ``text``, and the path relative to its root.

    The command line writes ``qmd://notes/a b.md`` verbatim, and ``?index=name`` behind it for an
    index that has a name; HTTP ``encoded``: ``qmd://notes/a%20b.md``; MCP verbatim and without
    the scheme. Raises ``ValueError`` for what names no file.
    """
    rest = text
    if text.startswith(_SCHEME):
        rest = _INDEX.sub("", text[len(_SCHEME) :])
        # Not always there: a path in an answer is as it is on disk, and may hold a percent sign.
        if encoded:
            rest = unquote(rest, errors="strict")
    collection, _, path = rest.partition("/")
    if not collection or not path or "\0" in rest or _HALF.search(rest):
        raise ValueError(f"names no file: {text[:200]!r}")
    return collection, path
