"""Bringing one build of a store up to a plan, batch by batch."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from commonplace.index.changes import TICK_NS, is_unsettled, settled_stamp
from commonplace.index.documents import analyse_document
from commonplace.model.chunks import DeleteDocument, PutDocument, TouchDocument
from commonplace.model.reports import Progress, SyncReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.deadline import Deadline
    from commonplace.index.changes import Plan, SourceScan
    from commonplace.model.chunks import Change
    from commonplace.model.documents import DocumentRef
    from commonplace.model.reports import ProgressCallback
    from commonplace.model.store import Build, StoredDocument
    from commonplace.spec import Chunker, Source, Store
    from commonplace.text.analyse import Analyser

__all__ = ["Indexer"]

_BATCH_CHUNKS = 500
_BATCH_DOCUMENTS = 200


class Indexer:
    """Reads, cuts and analyses documents, then hands them to the store in batches.

    Each batch is one transaction, so that a kill loses at most a batch of work and never leaves a
    document half replaced.
    """

    def __init__(
        self,
        *,
        store: Store,
        sources: Mapping[str, Source],
        chunker: Chunker,
        analyser: Analyser,
        clock_ns: Callable[[], int] = time.time_ns,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self._sources = sources
        self._chunker = chunker
        self._analyser = analyser
        self._clock_ns = clock_ns
        self._sleep = sleep
        self._racy: list[tuple[DocumentRef, str]] = []

    def apply(
        self,
        build: Build,
        plan: Plan,
        scans: Sequence[SourceScan],
        *,
        deadline: Deadline,
        progress: ProgressCallback | None,
        before: int = 0,
    ) -> SyncReport:
        """Carry out ``plan`` in ``build`` until it is done or ``deadline`` comes.

        ``before`` is how much of the same work was done by those who were interrupted at it.
        Documents that cannot be read keep their old entries and are named in the report.
        """
        recipes = {scan.source: scan.recipe for scan in scans}
        counts = _Counts()
        batch: list[Change] = [DeleteDocument(doc.source, doc.path) for doc in plan.gone]
        counts.removed = len(batch)
        weight = 0
        done = 0
        total = before + len(plan.read) + len(plan.left)
        if progress is not None and before and plan.read:
            progress(Progress("Indexing notes", before, total))
        for ref, old in plan.read:
            if deadline.expired:
                break
            change = self._change(ref, old, recipes[ref.source], counts)
            done += 1
            if change is not None:
                batch.append(change)
                weight += len(change.chunks) if isinstance(change, PutDocument) else 0
            if weight >= _BATCH_CHUNKS or len(batch) >= _BATCH_DOCUMENTS:
                self._store.put_documents(build, batch)
                batch, weight = [], 0
                if progress is not None:
                    progress(Progress("Indexing notes", before + done, total))
        if batch:
            self._store.put_documents(build, batch)
        if progress is not None and plan.read:
            progress(Progress("Indexing notes", before + done, total))
        remaining = len(plan.read) - done + len(plan.left)
        report = counts.report(unchanged=plan.unchanged, remaining=remaining)
        return report._replace(hidden=plan.hidden, known=plan.known, deferred=len(plan.deferred))

    def settle(self, build: Build) -> None:
        """Read once more what was written in the very moment in which it was read.

        Waits one tick of the file system's clock; whatever has the same text then is settled, the
        rest is left to the next sync.
        """
        if not self._racy:
            return
        self._sleep(TICK_NS / 1e9)
        touches: list[Change] = []
        for ref, digest in self._racy:
            now_ns = self._clock_ns()
            try:
                document = self._sources[ref.source].read(ref)
            except OSError:
                continue
            if document is None or document.digest != digest:
                continue
            stamp = settled_stamp(document.ref.stamp, now_ns)
            if not is_unsettled(stamp):
                touches.append(TouchDocument(ref.source, ref.path, stamp))
        self._racy.clear()
        if touches:
            self._store.put_documents(build, touches)

    def _change(
        self, ref: DocumentRef, old: StoredDocument | None, recipe: str, counts: _Counts
    ) -> Change | None:
        now_ns = self._clock_ns()
        try:
            document = self._sources[ref.source].read(ref)
        except OSError as error:
            counts.unreadable.append((ref.path, error.strerror or str(error)))
            return None
        if document is None:
            # Gone since the scan: the next scan will not find it, and forgets it then.
            counts.unchanged += 1
            return None
        counts.opened += 1
        stamp = settled_stamp(document.ref.stamp, now_ns)
        if is_unsettled(stamp):
            self._racy.append((ref, document.digest))
        if old is not None and old.digest == document.digest and old.recipe == recipe:
            counts.unchanged += 1
            return TouchDocument(ref.source, ref.path, stamp) if stamp != old.stamp else None
        put = analyse_document(
            document,
            chunker=self._chunker,
            analyser=self._analyser,
            recipe=recipe,
            stamp=stamp,
        )
        counts.chunks += len(put.chunks)
        if old is None:
            counts.added += 1
        else:
            counts.updated += 1
        return put


class _Counts:
    """What was done so far."""

    def __init__(self) -> None:
        self.added = self.updated = self.removed = self.unchanged = self.chunks = self.opened = 0
        self.unreadable: list[tuple[str, str]] = []

    def report(self, *, unchanged: int, remaining: int) -> SyncReport:
        return SyncReport(
            added=self.added,
            updated=self.updated,
            removed=self.removed,
            unchanged=unchanged + self.unchanged,
            chunks_written=self.chunks,
            opened=self.opened,
            remaining=remaining,
            unreadable=tuple(self.unreadable),
        )
