"""One transcript as text with the lines it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from commonplace_sessions.jsonl import records
from commonplace_sessions.rendering import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace_sessions.messages import Reader

__all__ = ["Transcript", "read_transcript"]


class Transcript(NamedTuple):
    """``line_map`` has one number for each line of ``text``; ``began`` is as a timestamp is.

    ``digest`` is the SHA-256 of all bytes, as hex.
    """

    text: str
    line_map: tuple[int, ...]
    began: float
    digest: str


def read_transcript(pieces: Iterable[bytes], reader: Reader) -> Transcript:
    """What ``reader`` makes of a file that comes in ``pieces``; only texts are kept in memory."""
    from hashlib import sha256

    hashed = sha256()

    def passing() -> Iterator[bytes]:
        for piece in pieces:
            hashed.update(piece)
            yield piece

    lines: list[str] = []
    line_map: list[int] = []
    began = 0.0
    passed = passing()
    for message in reader(records(passed)):
        began = began or message.timestamp
        for line in render(message):
            lines.append(line)
            line_map.append(message.line)
    for _ in passed:  # a reader may have stopped before the end
        pass
    return Transcript("\n".join(lines), tuple(line_map), began, hashed.hexdigest())
