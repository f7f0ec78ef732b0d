"""Exports transcripts as Markdown files, for QMD to index as a collection."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, cast

from commonplace_qmd.home import make_private_folder, read_json, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commonplace.plugin import DocumentRef, GrowingSource, Source

__all__ = ["Exported", "Exporter", "Pending"]

_RECORD = ".commonplace.json"
_DAY = 86_400


class Exported(NamedTuple):
    """What an export did, in transcripts; ``unreadable`` are (path, reason)."""

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    unreadable: tuple[tuple[str, str], ...] = ()


class Pending(NamedTuple):
    """How many transcripts are to be exported or removed, and how many are left to grow more."""

    due: int
    deferred: int = 0


class _Entry(NamedTuple):
    """An export of ours: the source's version and stamp it was made by, and its own checksum.

    The checksum is ``""`` where the transcript could not be read.
    """

    made_by: str
    digest: str


class Exporter:
    """Brings ``folder`` up to the transcripts of ``source``: one ``<id>.md`` each.

    Only what has changed is written, for nobody else to read. An export goes with its transcript,
    and when that was last written more than ``retention_days`` ago (``None`` keeps it for ever).
    A file that is not ours, or was changed since we wrote it, is never touched.
    """

    def __init__(
        self,
        source: Source,
        folder: str,
        *,
        retention_days: int | None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._source = source
        self._folder = folder
        self._retention_days = retention_days
        self._clock = clock

    def pending(self) -> Pending:
        """What :meth:`export` would find to do; nothing is written."""
        scan = self._source.scan()
        record = _load(self._folder)
        wanted = self._wanted(scan.documents)
        changed = [
            (ref, record.get(name))
            for name, ref in wanted.items()
            if self._is_due(name, ref, record.get(name))
            and not self._is_foreign(name, record.get(name))
        ]
        deferred = sum(self._can_wait(ref, entry) for ref, entry in changed)
        gone = 0 if scan.failed_roots else len(record.keys() - wanted.keys())
        return Pending(len(changed) - deferred + gone, deferred)

    def export(self, *, eager: bool = True) -> Exported:
        """Write what has changed; raises ``OSError`` where the folder cannot be written.

        Unless it is ``eager``, transcripts that have grown by little are left as they are.
        """
        make_private_folder(self._folder)
        record = _load(self._folder)
        before = dict(record)
        scan = self._source.scan()
        wanted = self._wanted(scan.documents)
        written = removed = 0
        unreadable: list[tuple[str, str]] = []
        for name, ref in wanted.items():
            entry = record.get(name)
            if not self._is_due(name, ref, entry) or (not eager and self._can_wait(ref, entry)):
                continue
            if self._is_foreign(name, entry):
                reason = f"{name} in {self._folder} was not written by us, and stays"
                unreadable.append((ref.path, reason))
                continue
            try:
                document = self._source.read(ref)
            except OSError as error:
                unreadable.append((ref.path, error.strerror or str(error)))
                record[name] = _Entry(self._made_by(ref), entry.digest if entry else "")
                continue
            if document is not None:
                record[name] = self._write(name, ref, document.text)
                written += 1
        if not scan.failed_roots:  # what was not looked for is not gone
            for name in record.keys() - wanted.keys():
                removed += _remove(os.path.join(self._folder, name), record.pop(name).digest)
        if record != before:
            values = {name: list(entry) for name, entry in record.items()}
            write_whole(os.path.join(self._folder, _RECORD), json.dumps(values).encode())
        unchanged = len(wanted) - written - len(unreadable)
        return Exported(written, unchanged, removed, tuple(unreadable))

    def _wanted(self, refs: Iterable[DocumentRef]) -> dict[str, DocumentRef]:
        oldest = None
        if self._retention_days is not None:
            oldest = self._clock() - self._retention_days * _DAY
        return _named(refs, oldest)

    def _is_due(self, name: str, ref: DocumentRef, entry: _Entry | None) -> bool:
        if entry is None or entry.made_by != self._made_by(ref):
            return True
        return bool(entry.digest) and not os.path.lexists(os.path.join(self._folder, name))

    def _can_wait(self, ref: DocumentRef, entry: _Entry | None) -> bool:
        """Whether it has only grown since it was exported, and by too little."""
        if (
            "growing" not in self._source.capabilities
            or entry is None
            or not entry.digest
            or entry.made_by == self._made_by(ref)
        ):
            return False
        version, *numbers = entry.made_by.rsplit(" ", 4)
        try:
            size, modified, changed, inode = map(int, numbers)
        except ValueError:
            return False
        growing = cast("GrowingSource", self._source)
        return version == growing.version and not growing.due(ref, (size, modified, changed, inode))

    def _is_foreign(self, name: str, entry: _Entry | None) -> bool:
        path = os.path.join(self._folder, name)
        return os.path.lexists(path) and (entry is None or _digest_at(path) != entry.digest)

    def _made_by(self, ref: DocumentRef) -> str:
        return f"{self._source.version} {' '.join(map(str, ref.stamp))}"

    def _write(self, name: str, ref: DocumentRef, text: str) -> _Entry:
        data = f"# Session {name.removesuffix('.md')}\n\n{text}\n".encode("utf-8", "replace")
        write_whole(os.path.join(self._folder, name), data)
        return _Entry(self._made_by(ref), _digest(data))


def _named(refs: Iterable[DocumentRef], oldest: float | None) -> dict[str, DocumentRef]:
    """The transcripts to export by the names of their files, in a stable order."""
    named: dict[str, DocumentRef] = {}
    for ref in sorted(refs, key=lambda ref: ref.path):
        if oldest is not None and ref.stamp[1] / 1e9 < oldest:
            continue
        base = ref.path.rpartition("/")[2].replace(".jsonl", "", 1)
        plain = re.sub(r"[^\w.-]", "_", base).lstrip(".") or "session"
        name, number = f"{plain}.md", 2
        while name in named:
            name, number = f"{plain}-{number}.md", number + 1
        named[name] = ref
    return named


def _remove(path: str, digest: str) -> int:
    if _digest_at(path) != digest:
        return 0
    with suppress(OSError):
        os.unlink(path)
    return 1


def _digest_at(path: str) -> str:
    """The checksum of a file that is not led to by a link, ``""`` where there is none."""
    if os.path.islink(path):
        return ""
    with suppress(OSError), open(path, "rb") as file:
        return _digest(file.read())
    return ""


def _load(folder: str) -> dict[str, _Entry]:
    found = read_json(os.path.join(folder, _RECORD))
    return {
        name: _Entry(str(entry[0]), str(entry[1]))
        for name, entry in found.items()
        if isinstance(entry, list) and len(entry) == 2
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
