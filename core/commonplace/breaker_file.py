"""A small file in which a breaker's record waits for the next process."""

from __future__ import annotations

import contextlib
import os
from math import isfinite

from commonplace.breaker import BreakerRecord

__all__ = ["BreakerFile", "recorded"]

_HEAD = "commonplace breaker 1"
_LONGEST = 4096
_WORDS = 500


class BreakerFile:
    """A :class:`~commonplace.breaker.BreakerKeeper` on ``path``, which only its owner may read.

    A record counts only where ``mark`` is the one it was written with: settings that have changed
    since may be what mends the part. ``patient`` is False for work that somebody asked for and
    waits for: its reason and since are known, and yet the first call of a process goes through.

    A file that is missing, damaged or not ours is no record; one that cannot be written is not.
    """

    def __init__(self, path: str, *, mark: str = "", patient: bool = True) -> None:
        self.path = path
        self._mark = mark
        self._patient = patient

    def load(self) -> BreakerRecord | None:
        """What was saved last under this mark."""
        mark, record = _read(self.path)
        if record is None or mark != self._mark:
            return None
        if not self._patient and record.retry_at:
            return record._replace(retry_at=min(record.at, record.retry_at))
        return record

    def save(self, record: BreakerRecord | None) -> None:
        """Keep it, whole or not at all; ``None`` removes the file."""
        with contextlib.suppress(OSError):
            if record is None:
                os.unlink(self.path)
                return
            from commonplace.whole_file import write_whole  # a search that fails nowhere needs none

            times = f"{record.since!r} {record.retry_at!r} {record.at!r}"
            reason = " ".join(record.reason.split())[:_WORDS]
            text = f"{_HEAD}\n{self._mark}\n{times} {record.failures} {record.trips}\n{reason}\n"
            write_whole(self.path, text)


def recorded(path: str) -> BreakerRecord | None:
    """What was saved last in the file at ``path``, under whatever mark."""
    return _read(path)[1]


def _read(path: str) -> tuple[str, BreakerRecord | None]:
    try:
        # Plain lines, since reading JSON would cost each search the import of a parser.
        with open(path, encoding="utf-8", newline="\n") as file:
            head, mark, numbers, reason = file.read(_LONGEST).split("\n")[:4]
        since, retry_at, at, failures, trips = numbers.split(" ")
        record = BreakerRecord(
            reason, float(since), int(failures), int(trips), float(retry_at), float(at)
        )
    except (OSError, ValueError):
        return "", None
    sound = (
        head == _HEAD
        and all(map(isfinite, (record.since, record.retry_at, record.at)))
        and min(record.failures, record.trips + 1) > 0
    )
    return mark, record if sound else None
