"""Exports transcripts as Markdown files, which QMD indexes as a collection."""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, cast

from commonplace.plugin import (
    ScanReport,
    SourceScan,
    StoredDocument,
    file_stamp,
    make_private_folder,
    plan_changes,
    read_json,
    write_whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from commonplace.plugin import DocumentRef, GrowingSource, Plan, Source, Stamp


_RECORD = ".commonplace.json"
_DAY = 86_400


class Exported(NamedTuple):
    """What an export did, in transcripts; ``unreadable`` are (path, reason)."""

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    unreadable: tuple[tuple[str, str], ...] = ()


class _Entry(NamedTuple):
    """The record of one export: the source's version, the transcript's stamp, a checksum.

    The checksum is ``""`` if the transcript could not be read.
    """

    version: str
    stamp: Stamp
    digest: str


class Exporter:
    """Keeps one ``<id>.md`` in ``folder`` for each transcript of ``source``, for this user alone.

    Only what has changed is written. An export is removed with its transcript, or when that was
    last written more than ``retention_days`` ago (``None``: never). A file that this class did not
    write, or that was changed since, is never touched.
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

    def pending(self) -> tuple[int, int]:
        """How many exports are out of date, and how many transcripts have grown by too little."""
        record = self._load()
        _, plan = self._plan(record, eager=False)
        due, deferred = (
            sum(not self._is_foreign(ref.path, record.get(ref.path)) for ref, _ in pairs)
            for pairs in (plan.read, plan.deferred)
        )
        return due + len(plan.gone), deferred

    def export(self, *, eager: bool = True) -> Exported:
        """Write what has changed; raises ``OSError`` if the folder cannot be written.

        Unless ``eager``, transcripts that have grown by little are not exported again.
        """
        make_private_folder(self._folder)
        with suppress(OSError):  # another user's folder, or a disk without permissions
            os.chmod(self._folder, 0o700)
        record = self._load()
        before = dict(record)
        transcripts, plan = self._plan(record, eager=eager)
        written = 0
        unreadable: list[tuple[str, str]] = []
        for name in [ref.path for ref, _ in plan.read]:
            ref, entry = transcripts[name], record.get(name)
            if self._is_foreign(name, entry):
                reason = f"{name} in {self._folder} was not written by commonplace, and is kept"
                unreadable.append((ref.path, reason))
                continue
            try:
                document = self._source.read(ref)
            except OSError as error:
                unreadable.append((ref.path, error.strerror or str(error)))
                digest = entry.digest if entry else ""
                record[name] = _Entry(self._source.version, ref.stamp, digest)
                continue
            if document is not None:
                text = f"# Session {name.removesuffix('.md')}\n\n{document.text}\n"
                write_whole(os.path.join(self._folder, name), text)
                digest = _digest(text.encode("utf-8", "replace"))
                record[name] = _Entry(self._source.version, ref.stamp, digest)
                written += 1
        removed = sum(self._remove(gone.path, record.pop(gone.path)) for gone in plan.gone)
        if record != before:
            self._save(record)
        unchanged = len(transcripts) - written - len(unreadable)
        return Exported(written, unchanged, removed, tuple(unreadable))

    def _plan(
        self, record: Mapping[str, _Entry], *, eager: bool
    ) -> tuple[dict[str, DocumentRef], Plan]:
        """The transcripts to export by the names of their files, and what changed by these names.

        An export that is missing is planned as a new one.
        """
        scan = self._source.scan()
        oldest = None
        if self._retention_days is not None:
            oldest = self._clock() - self._retention_days * _DAY
        transcripts = _named(scan.documents, oldest)

        def due(ref: DocumentRef, stamp: Stamp) -> bool:
            growing = cast("GrowingSource", self._source)
            return not record[ref.path].digest or growing.due(transcripts[ref.path], stamp)

        report = ScanReport(
            tuple(ref._replace(path=name) for name, ref in transcripts.items()),
            () if scan.failed_roots else ("",),  # what was not scanned is not gone
        )
        stored = [
            StoredDocument(self._source.id, name, "", entry.stamp, entry.version)
            for name, entry in record.items()
            if not entry.digest
            or name not in transcripts
            or os.path.lexists(os.path.join(self._folder, name))
        ]
        waits = not eager and "growing" in self._source.capabilities
        found = SourceScan(self._source.id, report, self._source.version, due if waits else None)
        return transcripts, plan_changes(stored, [found])

    def _is_foreign(self, name: str, entry: _Entry | None) -> bool:
        path = os.path.join(self._folder, name)
        return os.path.lexists(path) and (entry is None or _digest_at(path) != entry.digest)

    def _remove(self, name: str, entry: _Entry) -> int:
        path = os.path.join(self._folder, name)
        if _digest_at(path) != entry.digest:
            return 0
        with suppress(OSError):
            os.unlink(path)
        return 1

    def _load(self) -> dict[str, _Entry]:
        found: dict[str, _Entry] = {}
        for name, entry in read_json(os.path.join(self._folder, _RECORD)).items():
            if isinstance(entry, list) and len(entry) == 3:
                found[name] = _Entry(*map(str, entry))
        return found

    def _save(self, record: Mapping[str, _Entry]) -> None:
        write_whole(os.path.join(self._folder, _RECORD), json.dumps(record))


def _named(refs: Iterable[DocumentRef], oldest: float | None) -> dict[str, DocumentRef]:
    """Transcripts not older than ``oldest`` by the names of their exports, in a stable order."""
    named: dict[str, DocumentRef] = {}
    for ref in sorted(refs, key=lambda ref: ref.path):
        file = file_stamp(ref.stamp)
        if oldest is not None and file is not None and file.mtime_ns / 1e9 < oldest:
            continue
        base = ref.path.rpartition("/")[2].replace(".jsonl", "", 1)
        plain = re.sub(r"[^\w.-]", "_", base).lstrip(".") or "session"
        name, number = f"{plain}.md", 2
        while name in named:
            name, number = f"{plain}-{number}.md", number + 1
        named[name] = ref
    return named


def _digest_at(path: str) -> str:
    """The checksum of a regular file, ``""`` if there is none or a link leads to it."""
    if os.path.islink(path):
        return ""
    with suppress(OSError), open(path, "rb") as file:
        return _digest(file.read())
    return ""


def _digest(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()
