"""The JSON objects of a file, line by line, in bounded memory."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace_sessions.messages import Record

__all__ = ["LONGEST_LINE", "Lines", "pieces_of", "records"]

LONGEST_LINE = 1 << 25
"""Bytes of a line above which it is passed over: nobody says 32 MiB at once."""

_PIECE = 1 << 20
_BLANK = b" \t\r\0\xef\xbb\xbf"  # a crash can leave NULs where a line was to be; a mark may begin


def pieces_of(opened: int, most: int | None = None) -> Iterator[bytes]:
    """The bytes of an open file from where it stands to its end, or ``most`` of them, in pieces."""
    left = _PIECE if most is None else most
    while left and (piece := os.read(opened, min(left, _PIECE))):
        left -= len(piece) if most is not None else 0
        yield piece


class Lines:
    r"""The lines of a file that comes in ``pieces``, each without its end.

    Lines end at ``\n``, the last one perhaps not; those above ``longest`` bytes come as empty ones.
    Of the line that came last, ``number`` is its 1-based number, ``end`` the byte after it with its
    end, and ``is_whole`` says whether it has one.
    """

    def __init__(self, pieces: Iterable[bytes], longest: int = LONGEST_LINE) -> None:
        self._pieces = pieces
        self._longest = longest
        self._hashed = sha256()
        self._split = self._lines()
        self.number = 0
        self.end = 0
        self.is_whole = True

    @property
    def digest(self) -> str:
        """The SHA-256 of all bytes up to ``end``, as hex."""
        return self._hashed.hexdigest()

    def pass_over(self, pieces: Iterable[bytes], number: int) -> None:
        """Begin after ``pieces``, in which ``number`` lines end."""
        for piece in pieces:
            self._pass(piece)
        self.number = number

    def __iter__(self) -> Iterator[bytes]:
        """Whoever iterates goes on after the line that came last."""
        return self._split

    def _lines(self) -> Iterator[bytes]:
        begun: list[bytes] = []
        size = 0
        for piece in self._pieces:
            at = 0
            while (newline := piece.find(b"\n", at)) >= 0:
                self._pass(piece[at : newline + 1])
                size += newline - at
                whole = b"".join((*begun, piece[at:newline])) if begun else piece[at:newline]
                line = whole if size <= self._longest else b""
                begun, size, at = [], 0, newline + 1
                self.number += 1
                yield line
            rest = piece[at:]
            self._pass(rest)
            size += len(rest)
            begun = [*begun, rest] if size <= self._longest else []
        if size:
            self.number += 1
            self.is_whole = False
            yield b"".join(begun)

    def _pass(self, data: bytes) -> None:
        self._hashed.update(data)
        self.end += len(data)


def records(lines: Lines) -> Iterator[Record]:
    """Every line that is a JSON object, with its number; other lines are passed over.

    The last line may have no end: where it is still being written, it is no JSON yet. Bytes that
    are no UTF-8 become U+FFFD.
    """
    for line in lines:
        record = _parsed(line)
        if isinstance(record, dict):
            yield lines.number, record


def _parsed(line: bytes) -> Any:
    text = line.strip(_BLANK)
    if not text.startswith(b"{"):
        return None
    try:
        return json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):  # no JSON, a number beyond all bounds, or nested too deep
        return None
