"""Applying a plan to one build of a store, batch by batch."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, get_args

from commonplace.index.documents import Fate, Maker
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

__all__ = ["Indexer"]

_BATCH_CHUNKS = 500
_BATCH_DOCUMENTS = 200


class Indexer:
    """Reads, cuts and analyses documents, then hands them to the store in batches.

    Each batch is one transaction, so that a kill loses at most a batch of work and leaves no
    document half replaced: only a long one that grows may be left shorter than it is.
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
        self._maker = Maker(
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
        """Carry out ``plan`` in ``build`` until it is done or ``deadline`` comes.

        ``before`` is how much of the same work was done by those who were interrupted at it.
        Documents that cannot be read keep their old entries and are named in the report. One that
        was thought to have grown, and has not, is left for later if it has more than ``largest``
        bytes.
        """
        recipes = {scan.source: scan.recipe for scan in scans}
        counts = _Counts()
        done = 0
        total = before + len(plan.read) + len(plan.left)

        def tell() -> None:
            if progress is not None:
                progress(Progress("Indexing notes", before + done, total))

        if before and plan.read:
            tell()
        batch = _Batch(self._store, build, tell)
        # What is new comes first and what is gone goes last, so that a text that only moved finds
        # the vectors of its old place still there.
        for ref, old in sorted(plan.read, key=lambda pair: pair[1] is not None):
            if deadline.expired:
                break
            outcome = self._maker.make(
                ref, old, recipes[ref.source], batch.put, deadline=deadline, largest=largest
            )
            counts.count(ref, outcome)
            done += 1
        for gone in plan.gone:
            batch.put(DeleteDocument(gone.source, gone.path))
        batch.write()
        if plan.read:
            tell()
        return SyncReport(
            added=counts.fates["added"],
            updated=counts.fates["updated"],
            removed=len(plan.gone),
            # What is gone since the scan is forgotten after the next one, which will not find it.
            unchanged=plan.unchanged + counts.fates["unchanged"] + counts.fates["vanished"],
            chunks_written=batch.chunks,
            opened=counts.opened,
            remaining=len(plan.read) - done + counts.fates["unfinished"] + len(plan.left),
            known=plan.known,
            unreadable=tuple(counts.unreadable),
            hidden=plan.hidden,
            deferred=len(plan.deferred),
        )

    def settle(self, build: Build) -> None:
        """Read once more what was written in the very moment in which it was read.

        Waits one tick of the file system's clock; whatever has the same text then is settled, the
        rest is left to the next sync.
        """
        if not self._maker.is_racy:
            return
        self._sleep(TICK_NS / 1e9)
        if touches := self._maker.settle():
            self._store.put_documents(build, touches)


class _Batch:
    """Changes on their way to a build; ``written`` is called whenever some have got there."""

    def __init__(self, store: Store, build: Build, written: Callable[[], None]) -> None:
        self._store = store
        self._build = build
        self._written = written
        self._changes: list[Change] = []
        self._weight = 0
        self.chunks = 0

    def put(self, change: Change) -> None:
        """Add ``change``, and write all there is if that is enough for a transaction."""
        self._changes.append(change)
        if isinstance(change, PutDocument | AppendDocument):
            self._weight += len(change.chunks)
            self.chunks += len(change.chunks)
        if self._weight >= _BATCH_CHUNKS or len(self._changes) >= _BATCH_DOCUMENTS:
            self.write()
            self._written()

    def write(self) -> None:
        """Write what there is."""
        if self._changes:
            self._store.put_documents(self._build, self._changes)
        self._changes, self._weight = [], 0


class _Counts:
    """What was done so far."""

    def __init__(self) -> None:
        self.fates: dict[str, int] = dict.fromkeys(get_args(Fate), 0)
        self.opened = 0
        self.unreadable: list[tuple[str, str]] = []

    def count(self, ref: DocumentRef, outcome: Outcome) -> None:
        """Add what became of a document."""
        self.fates[outcome.fate] += 1
        self.opened += outcome.fate not in ("vanished", "unreadable")
        if outcome.fate == "unreadable":
            self.unreadable.append((ref.path, outcome.reason))
