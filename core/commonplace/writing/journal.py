"""The journal of changes: an append-only file of JSON lines in the state folder.

A change is recorded before it is made (its receipt, with the digests of the file before and after)
and marked as done after it. A mark that is missing after a kill is decided by the next writer from
the files themselves, see :mod:`commonplace.writing.changing`. A half line at the end, which a kill
or a full disk can leave, was never acted upon and is skipped; the next record marks it as such. Any
other line that cannot be read is damage: a change that is not known.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from commonplace.dirs import make_private_folder
from commonplace.model.receipts import ORIGINS, Lines, Receipt, lowest
from commonplace.model.tuples import NamedTuple
from commonplace.resilience import begin_in_children
from commonplace.writing.notefile import comparable, readable, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from commonplace.model.receipts import Origin

VERSION = 1
_BLOCK = 1 << 16
_TAIL = 1 << 12
_SHARED = 4
"""Journals whose changes are kept in memory: most processes have one workspace."""
_CUT_SHORT = b" (cut short)"


class JournalEntry(NamedTuple):
    """A receipt as it is recorded.

    ``was`` and ``becomes`` are the SHA-256 of the file before and after, as hex, ``""`` for no
    file. ``around`` are the lines next to the changed ones, ``""`` at either end of the file.
    ``folders`` is how many of the folders above the file were made for it, from the innermost.
    """

    receipt: Receipt
    was: str
    becomes: str
    around: tuple[str, str] = ("", "")
    folders: int = 0

    def noting(self, more: Iterable[str]) -> JournalEntry:
        """The same with ``more`` notes of the receipt."""
        return self._replace(receipt=self.receipt.replace(notes=(*self.receipt.notes, *more)))

    @property
    def readable_receipt(self) -> Receipt:
        """The receipt as readers see it: bytes that are no UTF-8 stand in it as letters."""
        before, after = self.receipt.before, self.receipt.after
        return self.receipt.replace(
            before=before.replace(text=readable(before.text)),
            after=after.replace(text=readable(after.text)),
        )


class History(list[JournalEntry]):
    """The changes that were made, oldest first.

    ``lines`` are the numbers of their lines by their ids, ``damaged`` those of lines that cannot be
    read. A journal hands out the same history to several readers: none of them changes it.
    """

    def __init__(
        self,
        entries: Iterable[JournalEntry] = (),
        lines: Mapping[str, int] | None = None,
        damaged: Iterable[int] = (),
    ) -> None:
        super().__init__(entries)
        self.lines: dict[str, int] = dict(lines or {})
        self.damaged: list[int] = list(damaged)

    @cached_property
    def undone(self) -> frozenset[str]:
        """The ids of the changes that were undone, if their undo was not undone in turn."""
        undone: set[str] = set()
        for entry in reversed(self):  # an undo is later than what it undoes
            if entry.receipt.undoes and entry.receipt.id not in undone:
                undone.add(entry.receipt.undoes)
        return frozenset(undone)


class _Reading:
    """How far a journal was read, and what stands there; extended by what was appended since."""

    def __init__(self) -> None:
        self.history = History()
        self._pending: dict[str, JournalEntry] = {}
        self._number = 0
        self._stamp: tuple[int, int, int, int] | None = None
        self._end = 0
        self._tail = b""

    def extends_to(self, file: BinaryIO) -> bool:
        """Whether all that was read still stands in ``file``, as far as its end tells."""
        stamp = _stamp_of(file)
        if self._stamp is None or stamp[:2] != self._stamp[:2]:
            return False
        if stamp == self._stamp:
            return True
        # An editor may have written into the same file: nothing is appended where lines have moved.
        file.seek(self._end - len(self._tail))
        return stamp[2] > self._stamp[2] and file.read(len(self._tail)) == self._tail

    def read(self, file: BinaryIO) -> History:
        """Read the whole lines after those that were read."""
        stamp = _stamp_of(file)
        if stamp == self._stamp:
            return self.history
        history = History(self.history, self.history.lines, self.history.damaged)
        file.seek(self._end)
        for line in file:
            if not line.endswith(b"\n"):
                break  # the next record makes a line of it
            self._number += 1
            self._end += len(line)
            self._tail = line[-_TAIL:]
            self._take(line, history)
        self._stamp = stamp
        self.history = history
        return history

    def _take(self, line: bytes, history: History) -> None:
        if not _is_record(line[:-1]):
            return
        record = _parsed(line)
        if record is None:
            history.damaged += [self._number] if self._number > 1 else []  # the head is no change
        elif isinstance(record, JournalEntry):
            self._pending[record.receipt.id] = record
            history.lines[record.receipt.id] = self._number
        elif (made := self._pending.pop(record.get("done", ""), None)) is not None:
            history.append(made)


def _stamp_of(file: BinaryIO) -> tuple[int, int, int, int]:
    """Device, inode, size in bytes and time of the last change in ns."""
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


class JournalError(OSError):
    """The journal cannot be written, which need not be on the disk of the notes."""


class Journal:
    """The journal at ``path``. Only the holder of the lock of its workspace may append."""

    def __init__(self, path: str, workspace: str) -> None:
        self.path = path
        self._workspace = workspace
        self.begin()
        begin_in_children(self)

    def begin(self) -> None:
        """Begin with nothing read, in a forked child too: its parent may be reading just now."""
        self._lock = threading.Lock()
        self._reading = _Reading()

    def intend(self, entry: JournalEntry) -> None:
        """Record a change that is about to be made, and flush it; raises ``OSError``."""
        receipt = entry.receipt
        fields = {
            **receipt.__dict__,
            "before": receipt.before.__dict__,
            "after": receipt.after.__dict__,
        }
        fields |= {"was": entry.was, "becomes": entry.becomes, "around": entry.around}
        self._append({**fields, "folders": entry.folders}, flush=True)

    def done(self, id_: str) -> None:
        """Mark a change as made."""
        self._append({"done": id_})

    def void(self, id_: str) -> None:
        """Mark a change as not made. Raises ``OSError``."""
        self._append({"void": id_, "why": "it was not made"})

    def keep(self, id_: str, name: str, data: bytes) -> None:
        """Keep a version of a file that has no other place. Raises ``OSError``."""
        folder = f"{self.path}.kept"
        make_private_folder(folder)
        with open(os.path.join(folder, f"{id_}-{name}"), "wb") as file:
            file.write(data)

    def last(self) -> tuple[JournalEntry | None, bool]:
        """The last change, and whether it is marked as made or as not made; raises ``OSError``.

        There is none where a line after it cannot be read: the file may be that of another change.
        """
        marked: set[str] = set()
        for line in self._backwards():
            record = _parsed(line)
            if record is None:
                return None, False
            if isinstance(record, JournalEntry):
                return record, record.receipt.id in marked
            marked |= {record[mark] for mark in ("done", "void") if mark in record}
        return None, False

    def entries(self) -> History:
        """All changes that were made; one that nothing is known of is left out.

        What was read before is not read again. Raises ``OSError``.
        """
        try:
            with self._lock, open(self.path, "rb") as file:
                reading = self._reading if self._reading.extends_to(file) else _Reading()
                self._reading = _Reading()  # for a failure half way
                history = reading.read(file)
                self._reading = reading
                return history
        except FileNotFoundError:
            return History()

    def _append(self, record: dict[str, Any], *, flush: bool = False) -> None:
        try:
            self._append_line(record, flush=flush)
        except OSError as error:
            raise JournalError(error.errno, error.strerror or str(error), self.path) from error

    def _append_line(self, record: dict[str, Any], *, flush: bool) -> None:
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        make_private_folder(os.path.dirname(self.path))
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY"):
            flags |= getattr(os, name, 0)
        descriptor = os.open(self.path, flags, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if size == 0:
                head = {"journal": VERSION, "workspace": self._workspace}
                line = json.dumps(head, separators=(",", ":")).encode() + b"\n" + line
            elif _last_byte(descriptor, size) != b"\n":
                # What a killed writer left behind stays a line of its own.
                line = _CUT_SHORT + b"\n" + line
            view = memoryview(line)
            while view:
                view = view[os.write(descriptor, view) :]
            if flush:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _backwards(self) -> Iterator[bytes]:
        """The records from the last to the first, without reading more than is asked for."""
        if not os.path.exists(self.path):
            return
        with open(self.path, "rb") as file:
            at = file.seek(0, os.SEEK_END)
            rest, whole = b"", False
            while at > 0:
                step = min(at, max(_BLOCK, len(rest)))
                at -= step
                file.seek(at)
                lines = (file.read(step) + rest).split(b"\n")
                rest = lines[0]
                # What follows the last line feed is half a line, or nothing.
                yield from filter(_is_record, reversed(lines[1:] if whole else lines[1:-1]))
                whole = whole or len(lines) > 1
            if whole and _is_record(rest):
                yield rest


def journal_path(state_dir: str, workspace: str) -> str:
    """Where the journal of ``workspace`` is; all agents that share the folder share it."""
    key = sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:16]
    return os.path.join(state_dir, "memory", "journals", f"{key}.jsonl")


def shared_journal(state_dir: str, workspace: str) -> Journal:
    """The journal of ``workspace`` for all writers of this process.

    Many of them make one change each: it is not read from its beginning for each.
    """
    return _journal_at(journal_path(state_dir, workspace), workspace)


_journal_at = lru_cache(maxsize=_SHARED)(Journal)


def _last_byte(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1)


def _is_record(line: bytes) -> bool:
    return bool(line) and not line.endswith(_CUT_SHORT)


def _parsed(line: bytes) -> JournalEntry | dict[str, str] | None:
    """The change, or the mark or head of the journal, that a line holds; ``None`` for damage."""
    with suppress(ValueError, RecursionError):
        record = json.loads(line)
        if not isinstance(record, dict):
            return None
        if "journal" in record:
            return {}
        marks = {name: record[name] for name in ("done", "void") if name in record}
        if marks and all(isinstance(id_, str) for id_ in marks.values()):
            return marks
        return _entry(record)
    return None


def _entry(record: dict[str, Any]) -> JournalEntry | None:
    try:
        before, after, around = record["before"], record["after"], record["around"]
        fields = {name: record[name] for name in Receipt._fields if name in record}
        fields |= {"before": Lines(**before), "after": Lines(**after)}
        fields["notes"] = tuple(record["notes"])
        if record["origin"] not in ORIGINS:
            return None
        folders = int(record.get("folders", 0))
        beside = (around[0], around[1])
        return JournalEntry(Receipt(**fields), record["was"], record["becomes"], beside, folders)
    except (KeyError, TypeError, ValueError, IndexError):
        return None


def damage_of(state_dir: str, workspace: str) -> str:
    """Which lines of the journal of ``workspace`` cannot be read; ``""`` where all can.

    Raises ``OSError``.
    """
    path = journal_path(state_dir, workspace)
    damaged = Journal(path, workspace).entries().damaged
    if not damaged:
        return ""
    lines = ", ".join(map(str, damaged[:10])) + (", ..." if len(damaged) > 10 else "")
    return (
        f"line{'s'[: len(damaged) > 1]} {lines} of the journal {path} cannot be read: "
        "changes of notes are missing from it"
    )


def digest_of(data: bytes | None) -> str:
    """The digest of a file's bytes, ``""`` for no file."""
    return "" if data is None else sha256(data).hexdigest()


def around(lines: Sequence[str], first: int, last: int) -> tuple[str, str]:
    """The lines next to those from ``first`` (counted from 0) up to ``last``."""
    return (
        lines[first - 1] if first > 0 else "",
        lines[last] if last < len(lines) else "",
    )


def origin_of_lines(
    entries: Sequence[JournalEntry], lines: Iterable[str], *, damaged: bool
) -> Origin:
    """The least trusted origin of these lines of a note, by the entries on it.

    Where the journal is ``damaged``, anything may have been written by a change that is not known.
    """
    if damaged:
        return ORIGINS[-1]
    texts = {comparable(line).strip() for line in lines} - {""}
    found: list[Origin] = ["owner"]
    for entry in entries:
        before, after = (
            set(split_lines(comparable(run.text)))
            for run in (entry.receipt.before, entry.receipt.after)
        )
        if not texts.isdisjoint(line.strip() for line in after - before):
            found.append(entry.receipt.origin)
    return lowest(*found)
