"""Link reference definitions: the lines that look like a paragraph's start and are not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["definition_length"]

_LABEL = re.compile(r"\[(?:[^\[\]\\]|\\.)*+", re.DOTALL)
_LABEL_LIMIT = 1000
_DESTINATION = re.compile(r"<(?:[^<>\\]|\\.)*+>|[^\x00-\x20\x7f<][^\x00-\x20\x7f]*+")
_ESCAPED = re.compile(r"\\.")
_TITLE_ENDS = {
    '"': re.compile(r'(?:[^"\\]|\\.)*+'),
    "'": re.compile(r"(?:[^'\\]|\\.)*+"),
    "(": re.compile(r"(?:[^()\\]|\\.)*+"),
}
_CLOSING = {'"': '"', "'": "'", "(": ")"}


def definition_length(first: str, more: Callable[[], str | None]) -> int:
    """How many lines the definition takes that begins with the line ``first``; 0 if it is none.

    ``more`` gives, one by one and without their indentation, the lines that would go on with a
    paragraph here, and ``None`` at its end.
    """
    label = _label(first, more)
    if label is None:
        return 0
    lines, rest = label
    if not rest:
        following = more()
        if following is None:
            return 0
        lines, rest = lines + 1, following
    destination = _DESTINATION.match(rest)
    if destination is None or not _balanced(destination[0]):
        return 0
    after = rest[destination.end() :]
    title = after.lstrip(" \t")
    if title:
        taken = 0 if title == after else _title(title, more)
        return lines - 1 + taken if taken else 0
    following = more()
    return lines if following is None else lines + _title(following, more)


def _label(first: str, more: Callable[[], str | None]) -> tuple[int, str] | None:
    """Lines taken, and what follows the colon on the last of them."""
    text, lines = first, 1
    while len(text) <= _LABEL_LIMIT or lines == 1:
        match = _LABEL.match(text)
        end = match.end() if match else 0
        if end < len(text) and text[end] != "\\":
            if text[end : end + 2] != "]:" or end > _LABEL_LIMIT or not text[1:end].strip():
                return None
            return lines, text[end + 2 :].lstrip(" \t")
        following = more()
        if following is None:
            return None
        text, lines = f"{text}\n{following}", lines + 1
    return None


def _balanced(destination: str) -> bool:
    if destination[0] == "<":
        return True
    depth = 0
    for mark in _ESCAPED.sub("", destination):
        depth += (mark == "(") - (mark == ")")
        if depth < 0:
            return False
    return depth == 0


def _title(first: str, more: Callable[[], str | None]) -> int:
    """How many lines the title takes that begins with ``first``; 0 if none does."""
    closing = _CLOSING.get(first[0])
    if closing is None:
        return 0
    inside, line, start, lines = _TITLE_ENDS[first[0]], first, 1, 1
    while True:
        match = inside.match(line, start)
        end = match.end() if match else start
        if end < len(line) and not (line[end] == "\\" and end == len(line) - 1):
            closed = line[end] == closing and not line[end + 1 :].strip(" \t")
            return lines if closed else 0
        following = more()
        if following is None:
            return 0
        line, start, lines = following, 0, lines + 1
