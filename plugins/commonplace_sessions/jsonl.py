"""The JSON objects of a file, line by line, in bounded memory."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace_sessions.messages import Record

__all__ = ["LONGEST_LINE", "pieces_of", "records"]

LONGEST_LINE = 1 << 25
"""Bytes of a line above which it is passed over: nobody says 32 MiB at once."""

_PIECE = 1 << 20
_BLANK = b" \t\r\0\xef\xbb\xbf"  # a crash can leave NULs where a line was to be; a mark may begin


def pieces_of(opened: int) -> Iterator[bytes]:
    """The bytes of an open file from where it stands to its end, in pieces."""
    while piece := os.read(opened, _PIECE):
        yield piece


def records(pieces: Iterable[bytes], longest: int = LONGEST_LINE) -> Iterator[Record]:
    r"""Every line that is a JSON object, with its 1-based number; other lines are passed over.

    Lines end at ``\n``. The last one may end without: where it is still being written, it is no
    JSON yet. Bytes that are no UTF-8 become U+FFFD.
    """
    for number, line in enumerate(_lines(pieces, longest), 1):
        record = _parsed(line)
        if isinstance(record, dict):
            yield number, record


def _lines(pieces: Iterable[bytes], longest: int) -> Iterator[bytes]:
    """All lines; those above ``longest`` bytes come as empty ones."""
    begun: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        size += len(first)
        begun = [*begun, first] if size <= longest else []
        for other in others:
            yield b"".join(begun)
            size = len(other)
            begun = [other] if size <= longest else []
    yield b"".join(begun)


def _parsed(line: bytes) -> Any:
    text = line.strip(_BLANK)
    if not text.startswith(b"{"):
        return None
    try:
        return json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):  # no JSON, a number beyond all bounds, or nested too deep
        return None
