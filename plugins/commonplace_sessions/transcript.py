"""One transcript as redacted text with the lines it came from, piece by piece."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.plugin import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace_sessions.readers import Message, Reader, Record


PIECE = 1 << 14
"""Characters of text after which a piece ends, with the message that reaches them.

Small, since the last piece is indexed again whenever the transcript grows; not too small, since the
chunks of two pieces do not overlap.
"""


class Cut(NamedTuple):
    """The end of a piece, in bytes and lines of the file.

    ``began`` is the first timestamp, ``digest`` the SHA-256 of all bytes before, as hex.
    """

    end: int = 0
    lines: int = 0
    began: float = 0.0
    digest: str = ""

    @property
    def text(self) -> str:
        """The fields as one line."""
        return f"{self.end} {self.lines} {self.began!r} {self.digest}"

    @classmethod
    def of(cls, text: str) -> Cut | None:
        """The inverse of :attr:`text`; ``None`` if ``text`` is invalid."""
        try:
            end, lines, began, digest = text.split(" ")
            return cls(int(end), int(lines), float(began), digest)
        except ValueError:
            return None


class Transcript(NamedTuple):
    """Text with one line number of the file for each of its lines; ``began`` as in :class:`Cut`.

    ``digest`` is the SHA-256 of all bytes up to here, as hex. ``cut`` is the end of a piece; the
    last one, which may still grow, has none.
    """

    text: str
    line_map: tuple[int, ...]
    began: float
    digest: str
    cut: Cut | None = None


def read_transcript(pieces: Iterable[bytes], reader: Reader) -> Transcript:
    """Read a file that comes in ``pieces``; only texts are kept in memory."""
    texts: list[str] = []
    line_map: list[int] = []
    for piece in pieces_of_transcript(Lines(pieces), reader):
        texts += [piece.text] if piece.text else []
        line_map += piece.line_map
    return Transcript("\n".join(texts), tuple(line_map), piece.began, piece.digest)


def pieces_of_transcript(lines: Lines, reader: Reader, began: float = 0.0) -> Iterator[Transcript]:
    """Read ``lines`` in pieces of :data:`PIECE` characters or a little more.

    A piece ends with a whole line and a message that is a border: so all pieces but the last are
    the same whatever is added to the file, also when reading starts at a cut.
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


LONGEST_LINE = 1 << 25
"""Bytes: longer lines are skipped, as no message has 32 MiB."""

_PIECE = 1 << 20
_BLANK = (
    b" \t\r\0\xef\xbb\xbf"  # a crash can leave NULs in place of a line; a byte order mark may begin
)


def pieces_of(opened: int, most: int | None = None) -> Iterator[bytes]:
    """The bytes of an open file from its position to its end, or ``most`` of them, in pieces."""
    left = _PIECE if most is None else most
    while left and (piece := os.read(opened, min(left, _PIECE))):
        left -= len(piece) if most is not None else 0
        yield piece


class Lines:
    r"""The lines of a file that comes in ``pieces``, without ``\n``; long ones come empty.

    Of the line that came last, ``number`` is its 1-based number, ``end`` the byte after its
    ``\n``, and ``is_whole`` whether it has one. ``longest`` is in bytes.
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
        """Start after ``pieces``, in which ``number`` lines end."""
        for piece in pieces:
            self._pass(piece)
        self.number = number

    def __iter__(self) -> Iterator[bytes]:
        """Continue after the line that came last."""
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
    """Every line that is a JSON object, with its number; other lines are skipped.

    A last line that is still being written is no JSON yet. Invalid UTF-8 becomes U+FFFD.
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
    except (ValueError, RecursionError):  # no JSON, a number out of range, or nested too deep
        return None


WIDTH = 800
"""Maximal characters of a line, without the speaker's name."""

_SPEAKERS = {"user": "User", "assistant": "Assistant"}


def render(message: Message) -> Iterator[str]:
    """The lines of ``message``, each with the speaker's name; none for a blank one.

    Secrets are masked before lines are cut, so that none is split.
    """
    text = masked(" ".join(message.text.split()))
    speaker = _SPEAKERS[message.role]
    return (f"{speaker}: {piece}" for piece in _wrapped(text))


def masked(text: str) -> str:
    """``text`` with secrets masked, without lone surrogates, which no file can hold."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return redact(text)


def _wrapped(text: str) -> Iterator[str]:
    at = 0
    while len(text) - at > WIDTH:
        space = text.rfind(" ", at + 1, at + WIDTH + 1)
        end = space if space > 0 else at + WIDTH
        yield text[at:end]
        at = end + (space > 0)
    if at < len(text):
        yield text[at:]
