"""Applying a plan to one build of a store, batch by batch."""

from __future__ import annotations

import time
from collections import Counter
from math import inf
from typing import TYPE_CHECKING

from attrs import Factory, define, frozen

from commonplace.index.planning import TICK_NS, is_same_file, size_of
from commonplace.model.chunks import AppendDocument, DeleteDocument, PutDocument
from commonplace.model.reports import Progress, SyncReport
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.index.documents import DocumentProcessor, Result
    from commonplace.index.planning import Pair, Plan, SourceScan
    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build
    from commonplace.model.reports import ProgressCallback
    from commonplace.protocols.parts import Store


_BATCH_CHUNKS = 500
_BATCH_DOCUMENTS = 200
_MANY = 100  # so many new documents are the rest of a first index, whose progress is shown
_MOST_TRIED, _MOST_TRIED_BYTES = 1_000, 1 << 23  # some 50 ms: a search waits for it
_MOST_SECONDS = 0.2  # where reading is slow; counted apart from the scan, which may take as long


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
        at_most: int | None = None,
        largest: int | None = None,
    ) -> SyncReport:
        """Apply ``plan`` to ``build`` until it is done or ``deadline`` comes.

        ``at_most`` documents are processed, not counting those that cannot be read.

        ``before`` counts documents that an interrupted run of the same work has done. Documents
        that cannot be read keep their old entries and are named in the report. One that seemed to
        have grown, and was replaced, is left for later if it has more than ``largest`` bytes;
        with ``largest``, one document is done in any case.
        """
        fingerprints = {scan.source: scan.fingerprint for scan in scans}
        results: Counter[Result] = Counter()
        unreadable: list[tuple[str, str]] = []
        done, most = 0, inf if at_most is None else at_most
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
            if done - len(unreadable) >= most:
                break
            # The first of a quick part that can be read is always done: that helps on slow
            # machines, too, and where files that are no text come first in each search. So many
            # of these are tried in any case, and more while there is time.
            some = done > len(unreadable) or done >= most
            if deadline.expired and (some or largest is None or deadline.cancelled):
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
            unreadable=(*plan.named_unreadable, *unreadable),
            hidden=plan.hidden,
            deferred=len(plan.deferred),
        )

    def readable(self, plan: Plan, at_most: int, largest: int) -> Plan:
        """``plan`` without the documents that a search leaves though they can never be indexed.

        Where more than ``at_most`` have changed, it tries these until so many could be read, and
        new ones of more than ``largest`` bytes in any case. Else each search would leave all
        that has changed for the files that no sync can read.
        """
        left = plan.without_large(largest)
        large = {id(pair) for pair in left.left if pair[1] is None}
        many = plan.quick(at_most, largest) is None
        lost: dict[int, tuple[Pair, str]] = {}
        tried = weight = found = 0
        deadline = Deadline.after(_MOST_SECONDS)
        for pair in plan.read:
            if id(pair) not in large and (not many or found > at_most or is_same_file(*pair)):
                continue
            tried, weight = tried + 1, weight + size_of(pair[0].stamp)
            if tried > _MOST_TRIED or weight > _MOST_TRIED_BYTES or deadline.expired:
                break
            if reason := self._processor.failure(pair[0]):
                lost[id(pair)] = pair, reason
            elif id(pair) not in large:
                found += 1
        read = tuple(pair for pair in plan.read if id(pair) not in lost)
        return plan._replace(read=read, unreadable=(*plan.unreadable, *lost.values()))

    @staticmethod
    def is_whole(plan: Plan, *, beside: bool) -> bool:
        """Whether ``plan`` is (the rest of) building a whole index, as far as is known."""
        if beside or plan.rebuilding is not None:
            return True
        return len(plan.read) > _MANY and all(old is None for _, old in plan.read)

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
