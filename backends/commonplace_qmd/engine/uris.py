"""The spellings in which QMD names a file."""

from __future__ import annotations

import re

__all__ = ["parse_uri"]

_SCHEME = "qmd://"
_HALF = re.compile("[\ud800-\udfff]")
_INDEX = re.compile(r"\?index=[^/?#.]+\Z")


def parse_uri(text: str) -> tuple[str, str]:
    """The collection of ``text``, and the path relative to its root, as it is on disk.

    The command line writes ``qmd://notes/a b.md``, with ``?index=name`` behind it for an index that
    has a name, and MCP ``notes/a b.md``; neither encodes anything. Raises ``ValueError`` for what
    names no file.
    """
    rest = text
    if text.startswith(_SCHEME):
        rest = _INDEX.sub("", text[len(_SCHEME) :])
    collection, _, path = rest.partition("/")
    if not collection or not path or "\0" in rest or _HALF.search(rest):
        raise ValueError(f"names no file: {text[:200]!r}")
    return collection, path
