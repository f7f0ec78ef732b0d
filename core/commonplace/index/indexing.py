"""Applying a plan to one build of a store, batch by batch."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from attrs import Factory, define, frozen

from commonplace.index.planning import TICK_NS
from commonplace.model.chunks import AppendDocument, DeleteDocument, PutDocument
from commonplace.model.reports import Progress, SyncReport

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.index.documents import DocumentProcessor, Result
    from commonplace.index.planning import Plan, SourceScan
    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build
    from commonplace.model.reports import ProgressCallback
    from commonplace.protocols.parts import Store
    from commonplace.resilience.deadline import Deadline


_BATCH_CHUNKS = 500
_BATCH_DOCUMENTS = 200


@frozen
class Indexer:
    """Processes documents and writes them to the store in batches.

    Each batch is one transaction: a kill loses at most one batch of work and leaves no document
    half replaced. Only a long growing document may be left shorter than it is.
    """

    _store: Store
    _processor: DocumentProcessor
    _sleep: Callable[[float], None] = time.sleep

    def apply(
        self,
        build: Build,
        plan: Plan,
        scans: Sequence[SourceScan],
        *,
        deadline: Deadline,
        progress: ProgressCallback | None,
        before: int = 0,
        largest: int | None = None,
    ) -> SyncReport:
        """Apply ``plan`` to ``build`` until it is done or ``deadline`` comes.

        ``before`` counts documents that an interrupted run of the same work has done. Documents
        that cannot be read keep their old entries and are named in the report. One that seemed to
        have grown, and was replaced, is left for later if it has more than ``largest`` bytes;
        with ``largest``, one document is done in any case.
        """
        fingerprints = {scan.source: scan.fingerprint for scan in scans}
        results: Counter[Result] = Counter()
        unreadable: list[tuple[str, str]] = []
        done = 0
        total = before + len(plan.read) + len(plan.left)

        def show_progress() -> None:
            if progress is not None:
                progress(Progress(label="Indexing notes", completed=before + done, total=total))

        if before and plan.read:
            show_progress()
        batch = _Batch(self._store, build, show_progress)
        # New documents come first and deletions last, so that a text that only moved finds the
        # vectors of its old path still there.
        for ref, old in sorted(plan.read, key=lambda pair: pair[1] is not None):
            # The first of a quick part is always done: that helps on slow machines, too.
            if deadline.expired and (done or largest is None or deadline.cancelled):
                break
            outcome = self._processor.process(
                ref, old, fingerprints[ref.source], batch.put, deadline=deadline, largest=largest
            )
            results[outcome.result] += 1
            if outcome.result == "unreadable":
                unreadable.append((ref.path, outcome.reason))
            done += 1
        for gone in plan.gone:
            batch.put(DeleteDocument(gone.source, gone.path))
        batch.write()
        if plan.read:
            show_progress()
        return SyncReport(
            added=results["added"],
            updated=results["updated"],
            removed=len(plan.gone),
            # What vanished since the scan is removed after the next scan, which will not find it.
            unchanged=plan.unchanged + results["unchanged"] + results["vanished"],
            chunks_written=batch.chunks,
            opened=done - results["vanished"] - results["unreadable"],
            remaining=len(plan.read) - done + results["unfinished"] + len(plan.left),
            known=plan.known,
            unreadable=tuple(unreadable),
            hidden=plan.hidden,
            deferred=len(plan.deferred),
        )

    def settle(self, build: Build) -> None:
        """Read again the documents that were written in the moment in which they were read.

        Waits one tick of the file system's clock. Documents with the same text are settled; the
        rest is left to the next sync.
        """
        if not self._processor.is_racy:
            return
        self._sleep(TICK_NS / 1e9)
        if touches := self._processor.settle():
            self._store.put_documents(build, touches)


@define
class _Batch:
    """Changes to write to a build; ``on_written`` is called after each transaction."""

    _store: Store
    _build: Build
    _on_written: Callable[[], None]
    _changes: list[Change] = Factory(list)
    _weight: int = 0
    chunks: int = 0

    def put(self, change: Change) -> None:
        """Add ``change``, and write all of them if they are enough for a transaction."""
        self._changes.append(change)
        if isinstance(change, PutDocument | AppendDocument):
            self._weight += len(change.chunks)
            self.chunks += len(change.chunks)
        if self._weight >= _BATCH_CHUNKS or len(self._changes) >= _BATCH_DOCUMENTS:
            self.write()
            self._on_written()

    def write(self) -> None:
        """Write the changes that are not written yet."""
        if self._changes:
            self._store.put_documents(self._build, self._changes)
        self._changes, self._weight = [], 0
