"""The journal of changes: an append-only file of JSON lines in the state folder.

A change is recorded before it is made (its receipt, with the digests of the file before and after)
and marked as done after it. A mark that is missing after a kill is decided by the next writer from
the files themselves, see :mod:`commonplace.writing.changing`. A half line at the end, which a kill
or a full disk can leave, was never acted upon and is skipped.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from commonplace.dirs import make_private_folder
from commonplace.model.receipts import Lines, Receipt, lowest
from commonplace.model.tuples import NamedTuple
from commonplace.writing.notefile import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commonplace.model.receipts import Origin

VERSION = 1
_BLOCK = 1 << 16


class Entry(NamedTuple):
    """A receipt as it is recorded.

    ``was`` and ``becomes`` are the SHA-256 of the file before and after, as hex, ``""`` for no
    file. ``around`` are the lines next to the changed ones, ``""`` at either end of the file.
    """

    receipt: Receipt
    was: str
    becomes: str
    around: tuple[str, str] = ("", "")


class Journal:
    """The journal at ``path``. Only the holder of the lock of its workspace may append."""

    def __init__(self, path: str, workspace: str) -> None:
        self.path = path
        self._workspace = workspace

    def intend(self, entry: Entry) -> None:
        """Record a change that is about to be made, and flush it; raises ``OSError``."""
        receipt = entry.receipt
        fields = {
            **receipt.__dict__,
            "before": receipt.before.__dict__,
            "after": receipt.after.__dict__,
        }
        self._append(
            {**fields, "was": entry.was, "becomes": entry.becomes, "around": entry.around},
            flush=True,
        )

    def done(self, id_: str) -> None:
        """Mark a change as made."""
        self._append({"done": id_})

    def void(self, id_: str, why: str) -> None:
        """Mark a change as not made. Raises ``OSError``."""
        self._append({"void": id_, "why": why})

    def keep(self, id_: str, name: str, data: bytes) -> None:
        """Keep a version of a file that has no other place. Raises ``OSError``."""
        folder = f"{self.path}.kept"
        make_private_folder(folder)
        with open(os.path.join(folder, f"{id_}-{name}"), "wb") as file:
            file.write(data)

    def last(self) -> tuple[Entry | None, bool]:
        """The last change, and whether it is marked as made or as not made; raises ``OSError``."""
        marked: set[str] = set()
        for line in self._backwards():
            record = _parsed(line)
            if record is None:
                continue
            if (entry := _entry(record)) is not None:
                return entry, entry.receipt.id in marked
            marked |= {record[mark] for mark in ("done", "void") if mark in record}
        return None, False

    def entries(self) -> list[Entry]:
        """All changes that were made, oldest first; one that nothing is known of is left out.

        Raises ``OSError``.
        """
        found: dict[str, Entry] = {}
        made: dict[str, Entry] = {}
        try:
            with open(self.path, "rb") as file:
                for line in file:
                    record = _parsed(line)
                    if record is None:
                        continue
                    if (entry := _entry(record)) is not None:
                        found[entry.receipt.id] = entry
                    elif (id_ := record.get("done")) in found:
                        made[id_] = found[id_]
        except FileNotFoundError:
            return []
        return list(made.values())

    def _append(self, record: dict[str, Any], *, flush: bool = False) -> None:
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
                line = b"\n" + line  # what a killed writer left behind stays a line of its own
            view = memoryview(line)
            while view:
                view = view[os.write(descriptor, view) :]
            if flush:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _backwards(self) -> Iterator[bytes]:
        """The lines from the last to the first, without reading more than is asked for."""
        if not os.path.exists(self.path):
            return
        with open(self.path, "rb") as file:
            at = file.seek(0, os.SEEK_END)
            rest = b""
            while at > 0:
                step = min(at, max(_BLOCK, len(rest)))
                at -= step
                file.seek(at)
                lines = (file.read(step) + rest).split(b"\n")
                rest = lines[0]
                yield from (line for line in reversed(lines[1:]) if line)
            if rest:
                yield rest


def journal_path(state_dir: str, workspace: str) -> str:
    """Where the journal of ``workspace`` is; all agents that share the folder share it."""
    key = sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:16]
    return os.path.join(state_dir, "memory", "journals", f"{key}.jsonl")


def _last_byte(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1)


def _parsed(line: bytes) -> dict[str, Any] | None:
    with suppress(ValueError):
        record = json.loads(line)
        if isinstance(record, dict):
            return record
    return None


def _entry(record: dict[str, Any]) -> Entry | None:
    try:
        before, after, around = record["before"], record["after"], record["around"]
        fields = {name: record[name] for name in Receipt._fields if name in record}
        fields |= {"before": Lines(**before), "after": Lines(**after)}
        fields["notes"] = tuple(record["notes"])
        return Entry(Receipt(**fields), record["was"], record["becomes"], (around[0], around[1]))
    except (KeyError, TypeError, IndexError):
        return None


def digest_of(data: bytes | None) -> str:
    """The digest of a file's bytes, ``""`` for no file."""
    return "" if data is None else sha256(data).hexdigest()


def around(lines: Sequence[str], first: int, last: int) -> tuple[str, str]:
    """The lines next to those from ``first`` (counted from 0) up to ``last``."""
    return (
        lines[first - 1] if first > 0 else "",
        lines[last] if last < len(lines) else "",
    )


def origin_of_lines(entries: Sequence[Entry], lines: Iterable[str]) -> Origin:
    """The least trusted origin of these lines of a note, by the entries on it."""
    texts = {line.strip() for line in lines} - {""}
    found: list[Origin] = ["owner"]
    for entry in entries:
        before, after = (
            set(split_lines(run.text)) for run in (entry.receipt.before, entry.receipt.after)
        )
        if not texts.isdisjoint(line.strip() for line in after - before):
            found.append(entry.receipt.origin)
    return lowest(*found)
