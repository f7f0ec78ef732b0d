"""The command line as a process that kills itself at a moment it is given.

``python killable.py COUNTED AT FILE ARGUMENTS...``: ``COUNTED`` is ``write`` (half a write of
SQLite's is done then), ``sync`` (nothing of it is), or ``file`` (a file is about to be opened for
writing, renamed or removed); ``AT`` is the number of the fatal one, from 1. At the end, how many
there were of each goes into ``FILE`` as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import apsw

_USUAL = apsw.vfs_names()[0]
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Counter:
    """Counts what changes files."""

    def __init__(self, counted: str, at: int) -> None:
        self.counts = {"write": 0, "sync": 0, "file": 0}
        self._counted, self._at = counted, at

    def is_fatal(self, what: str) -> bool:
        """Count one more; whether it is the last."""
        self.counts[what] += 1
        return what == self._counted and self.counts[what] == self._at

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING
        if (writes or event in {"os.rename", "os.remove", "os.truncate"}) and self.is_fatal("file"):
            kill()


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Disk(apsw.VFS):
    """The usual one, with a count of what is written."""

    def __init__(self, counter: Counter) -> None:
        super().__init__("counted", _USUAL, makedefault=True)
        self.counter = counter

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return _File(self.counter, name, flags)


class _File(apsw.VFSFile):
    def __init__(
        self, counter: Counter, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        super().__init__(_USUAL, name, flags)
        self._counter = counter

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        if self._counter.is_fatal("write"):
            super().xWrite(bytes(data)[: len(bytes(data)) // 2], offset)
            kill()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        if self._counter.is_fatal("sync"):
            kill()
        super().xSync(flags)


def main(counted: str, at: str, file: str, *arguments: str) -> int:
    from commonplace.cli import main as commonplace

    counter = Counter(counted, int(at))
    disk = Disk(counter)
    sys.addaudithook(counter.hear)
    code = commonplace(arguments)
    counts = dict(counter.counts)
    disk.unregister()
    Path(file).write_text(json.dumps(counts), encoding="utf-8")
    return code


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
