"""How much a transcript has to grow before it is read again unasked."""

from __future__ import annotations

import os

from commonplace.plugin import NamedTuple

__all__ = ["Growth", "grew_by_messages"]

_PIECE = 1 << 16


class Growth(NamedTuple):
    """Either is enough: so many bytes, or so many messages. With 0, any growth is."""

    size: int = 0
    messages: int = 0

    def is_reached_by(self, grown: int) -> bool:
        """Whether ``grown`` bytes are enough, whatever messages they are."""
        return grown >= self.size or self.messages <= 0


def grew_by_messages(opened: int, since: int, wanted: int) -> bool:
    """Whether the open file has ``wanted`` ends of lines after its first ``since`` bytes."""
    os.lseek(opened, since, os.SEEK_SET)
    found = 0
    while found < wanted and (piece := os.read(opened, _PIECE)):
        found += piece.count(b"\n")
    return found >= wanted
