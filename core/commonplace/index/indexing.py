"""Applying a plan to one build of a store, batch by batch."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, get_args

from commonplace.index.documents import DocumentProcessor, Result
from commonplace.index.planning import TICK_NS
from commonplace.model.chunks import AppendDocument, DeleteDocument, PutDocument
from commonplace.model.reports import Progress, SyncReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.index.documents import Outcome
    from commonplace.index.planning import Plan, SourceScan
    from commonplace.model.chunks import Change
    from commonplace.model.documents import DocumentRef
    from commonplace.model.reports import ProgressCallback
    from commonplace.model.store import Build
    from commonplace.protocols.sources import Chunker, Source
    from commonplace.protocols.stores import Store
    from commonplace.resilience.deadline import Deadline
    from commonplace.text.analyse import Analyser


_BATCH_CHUNKS = 500
_BATCH_DOCUMENTS = 200


class Indexer:
    """Processes documents and writes them to the store in batches.

    Each batch is one transaction: a kill loses at most one batch of work and leaves no document
    half replaced. Only a long growing document may be left shorter than it is.
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
        self._sleep = sleep
        self._processor = DocumentProcessor(
            sources=sources,
            chunker=chunker,
            analyser=analyser,
            clock_ns=clock_ns,
            appends="append" in store.capabilities,
        )

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
        have grown, and was replaced, is left for later if it has more than ``largest`` bytes.
        """
        fingerprints = {scan.source: scan.fingerprint for scan in scans}
        counts = _Counts()
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
            if deadline.expired:
                break
            outcome = self._processor.process(
                ref, old, fingerprints[ref.source], batch.put, deadline=deadline, largest=largest
            )
            counts.count(ref, outcome)
            done += 1
        for gone in plan.gone:
            batch.put(DeleteDocument(gone.source, gone.path))
        batch.write()
        if plan.read:
            show_progress()
        return SyncReport(
            added=counts.results["added"],
            updated=counts.results["updated"],
            removed=len(plan.gone),
            # What vanished since the scan is removed after the next scan, which will not find it.
            unchanged=plan.unchanged + counts.results["unchanged"] + counts.results["vanished"],
            chunks_written=batch.chunks,
            opened=counts.opened,
            remaining=len(plan.read) - done + counts.results["unfinished"] + len(plan.left),
            known=plan.known,
            unreadable=tuple(counts.unreadable),
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


class _Batch:
    """Changes to write to a build; ``written`` is called after each transaction."""

    def __init__(self, store: Store, build: Build, written: Callable[[], None]) -> None:
        self._store = store
        self._build = build
        self._written = written
        self._changes: list[Change] = []
        self._weight = 0
        self.chunks = 0

    def put(self, change: Change) -> None:
        """Add ``change``, and write all of them if they are enough for a transaction."""
        self._changes.append(change)
        if isinstance(change, PutDocument | AppendDocument):
            self._weight += len(change.chunks)
            self.chunks += len(change.chunks)
        if self._weight >= _BATCH_CHUNKS or len(self._changes) >= _BATCH_DOCUMENTS:
            self.write()
            self._written()

    def write(self) -> None:
        """Write the changes held."""
        if self._changes:
            self._store.put_documents(self._build, self._changes)
        self._changes, self._weight = [], 0


class _Counts:
    """Counts of the results so far."""

    def __init__(self) -> None:
        self.results: dict[str, int] = dict.fromkeys(get_args(Result), 0)
        self.opened = 0
        self.unreadable: list[tuple[str, str]] = []

    def count(self, ref: DocumentRef, outcome: Outcome) -> None:
        """Add the outcome of a document."""
        self.results[outcome.result] += 1
        self.opened += outcome.result not in ("vanished", "unreadable")
        if outcome.result == "unreadable":
            self.unreadable.append((ref.path, outcome.reason))
