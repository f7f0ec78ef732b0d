"""What outlives a process of a session's flushes: its mark, and conversations that are owed."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from hashlib import sha256
from operator import index
from typing import TYPE_CHECKING, Any

from commonplace.dirs import write_whole
from commonplace.flush.machine import FlushMark

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = os.path.join("memory", "flush")
"""Below the state folder."""


class FlushRecords:
    """The files of one session, in a private folder below ``state_dir``.

    A mark is one record and replaced whole, so that it is never half saved. What is missing,
    damaged or of another form counts as a session that was never compacted.
    """

    def __init__(self, state_dir: str, agent: str, session_key: str) -> None:
        name = f"{agent}-{sha256(session_key.encode()).hexdigest()[:16]}"
        self._path = os.path.join(state_dir, FOLDER, name)

    def load(self) -> FlushMark:
        """The mark that was saved last."""
        found = _read(f"{self._path}.json")
        try:
            return FlushMark(
                compactions=index(found["compactions"]),
                flushed=index(found["flushed"]),
                flushed_at=float(found["flushedAt"]),
                owed=tuple(map(index, found["owed"])),
                base=index(found["base"]),
            )
        except (KeyError, TypeError, ValueError):
            return FlushMark()

    def save(self, mark: FlushMark) -> None:
        """Save ``mark``, and delete conversations that are owed no more. Raises ``OSError``."""
        record = {
            "compactions": mark.compactions,
            "flushed": mark.flushed,
            "flushedAt": mark.flushed_at,
            "owed": list(mark.owed),
            "base": mark.base,
        }
        write_whole(f"{self._path}.json", json.dumps(record) + "\n")
        for cycle in self._kept_cycles():
            if cycle < mark.compactions and cycle not in mark.owed:
                with suppress(OSError):
                    os.unlink(f"{self._path}.{cycle}.json")

    def keep(self, cycle: int, texts: Sequence[str]) -> None:
        """Keep the conversation of ``cycle``. Raises ``OSError``."""
        write_whole(f"{self._path}.{cycle}.json", json.dumps(list(texts)) + "\n")

    def kept(self, cycle: int) -> list[str]:
        """The conversation of ``cycle``; empty if it is not kept."""
        found = _read(f"{self._path}.{cycle}.json")
        return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []

    def _kept_cycles(self) -> list[int]:
        folder, own = os.path.split(self._path)
        found = map(re.compile(rf"{re.escape(own)}\.(\d+)\.json").fullmatch, os.listdir(folder))
        return [int(match[1]) for match in found if match]


def _read(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
