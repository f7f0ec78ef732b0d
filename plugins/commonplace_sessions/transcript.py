"""One transcript as text with the lines it came from, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from commonplace_sessions.jsonl import Lines, records
from commonplace_sessions.rendering import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace_sessions.messages import Reader

__all__ = ["PIECE", "Cut", "Transcript", "pieces_of_transcript", "read_transcript"]

PIECE = 1 << 14
"""Characters of text after which a piece ends, with the message that reaches them.

Few, as the last piece is made anew whenever something is added; not too few, as the chunks of two
pieces do not overlap.
"""


class Cut(NamedTuple):
    """Where a piece ends: after so many bytes and lines of the file.

    ``began`` is as a timestamp is, ``digest`` the SHA-256 of all bytes before, as hex.
    """

    end: int = 0
    lines: int = 0
    began: float = 0.0
    digest: str = ""

    @property
    def text(self) -> str:
        """All of it in a line."""
        return f"{self.end} {self.lines} {self.began!r} {self.digest}"

    @classmethod
    def of(cls, text: str) -> Cut | None:
        """The inverse of :attr:`text`; ``None`` for what is none."""
        try:
            end, lines, began, digest = text.split(" ")
            return cls(int(end), int(lines), float(began), digest)
        except ValueError:
            return None


class Transcript(NamedTuple):
    """``line_map`` has one number for each line of ``text``; ``began`` is as a timestamp is.

    ``digest`` is the SHA-256 of all bytes up to here, as hex. Of a piece, ``cut`` says where it
    ends; more may be added to one without.
    """

    text: str
    line_map: tuple[int, ...]
    began: float
    digest: str
    cut: Cut | None = None


def read_transcript(pieces: Iterable[bytes], reader: Reader) -> Transcript:
    """What ``reader`` makes of a file that comes in ``pieces``; only texts are kept in memory."""
    texts: list[str] = []
    line_map: list[int] = []
    for piece in pieces_of_transcript(Lines(pieces), reader):
        texts += [piece.text] if piece.text else []
        line_map += piece.line_map
    return Transcript("\n".join(texts), tuple(line_map), piece.began, piece.digest)


def pieces_of_transcript(lines: Lines, reader: Reader, began: float = 0.0) -> Iterator[Transcript]:
    """What ``reader`` makes of ``lines``, in pieces of :data:`PIECE` characters or a little more.

    A piece ends with a whole line and a message after which nothing depends on what was before:
    so the same pieces come however much is added, and from each cut on, only the last apart.
    """
    texts: list[str] = []
    line_map: list[int] = []
    length = 0
    for message in reader(records(lines)):
        began = began or message.timestamp
        for line in render(message):
            texts.append(line)
            line_map.append(message.line)
            length += len(line) + 1
        if (
            length >= PIECE
            and message.is_border
            and lines.is_whole
            and lines.number == message.line
        ):
            digest = lines.digest
            cut = Cut(lines.end, lines.number, began, digest)
            yield Transcript("\n".join(texts), tuple(line_map), began, digest, cut)
            texts, line_map, length = [], [], 0
    for _ in lines:  # a reader may have stopped before the end
        pass
    yield Transcript("\n".join(texts), tuple(line_map), began, lines.digest)
