"""Reads the rows of an answer, however it was spelt and whatever was printed around it."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import TYPE_CHECKING, Any

from commonplace_qmd.engine.faults import QmdError
from commonplace_qmd.engine.types import Row
from commonplace_qmd.engine.uris import parse_uri

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_output", "read_results"]

_HEADER = re.compile(r"@@ -(\d{1,9}),(\d{1,9}) @@ \(\d{1,9} before, \d{1,9} after\)(?:\n|\Z)")
_NOTHING = re.compile(
    r"^\s*(?:(?:warn(?:ing)?|info|qmd)\s*:\s*)*no results(?: found)?\b[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ARRAY = re.compile(r"^[ \t]*\[", re.MULTILINE)
_SHOWN = 160


def read_output(output: str, words: str) -> list[Row]:
    """The rows on the standard output of a command that succeeded.

    ``words`` is what it wrote to standard error. Raises
    :class:`~commonplace_qmd.engine.faults.QmdError` for whatever is no list of rows.
    """
    found = list(_arrays(output))
    if found:
        # An empty list may be of somebody else's; one of rows is ours.
        return read_results(next(filter(None, found), []))
    # Older forms of "nothing found". Any other silence is a failure that was not reported.
    if _NOTHING.search(output) or (not output.strip() and _NOTHING.search(words)):
        return []
    raise _bad(f"no list of results but {_shown(output)}", words)


def read_results(value: object, *, numbered: bool = False) -> list[Row]:
    """The rows of a list of results; ``numbered`` if their snippets are, as those of MCP."""
    if not isinstance(value, list):
        raise _bad(f"no list of results but {_shown(value)}")
    return [_row(item, numbered=numbered) for item in value]


def _arrays(output: str) -> Iterator[list[Any]]:
    """The lists of objects in ``output``, in which libraries print what they like."""
    decoder = json.JSONDecoder()
    end = 0
    for match in _ARRAY.finditer(output):
        if match.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(output, match.end() - 1)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            yield value


def _row(item: object, *, numbered: bool) -> Row:
    if not isinstance(item, dict):
        raise _bad(f"a result that is no object: {_shown(item)}")
    file, score = item.get("file"), item.get("score")
    if not isinstance(file, str):
        raise _bad(f"a result without a file: {_shown(item)}")
    if isinstance(score, bool) or not isinstance(score, int | float) or not _is_finite(score):
        raise _bad(f"a result without a score: {_shown(item)}")
    try:
        collection, path = parse_uri(file)
    except ValueError as error:
        raise _bad(f"a result that {error}") from None
    line = _line(item.get("line"))
    snippet = _text(item.get("snippet"))
    if numbered and line is not None:
        snippet = _unnumbered(snippet, line)
    start = lines = None
    if header := _HEADER.match(snippet):
        start, lines = int(header[1]), int(header[2])
        snippet = snippet[header.end() :]
    return Row(
        collection=collection,
        path=path,
        score=float(score),
        line=line,
        start=start,
        lines=lines,
        title=_text(item.get("title")),
        docid=_text(item.get("docid")),
        snippet=snippet,
    )


def _is_finite(score: float) -> bool:
    try:
        return isfinite(score)
    except OverflowError:
        return False


def _line(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        return None
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        return ""
    # JavaScript cuts between the halves of a character, and writes the half.
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unnumbered(snippet: str, first: int) -> str:
    """``snippet`` without the numbers: they start at the best line, yet count the header too."""
    lines = snippet.split("\n")
    prefixes = [f"{first + place}: " for place in range(len(lines))]
    if not all(line.startswith(prefix) for line, prefix in zip(lines, prefixes, strict=True)):
        return snippet
    pairs = zip(lines, prefixes, strict=True)
    return "\n".join(line[len(prefix) :] for line, prefix in pairs)


def _shown(value: object) -> str:
    text = " ".join((value if isinstance(value, str) else repr(value)).split())
    return repr(text[:_SHOWN]) if text else "nothing"


def _bad(message: str, words: str = "") -> QmdError:
    return QmdError(f"answered {message}", reason="bad_json", output=words)
