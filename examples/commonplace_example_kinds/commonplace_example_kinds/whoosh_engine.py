"""A whole engine: notes as documents of a Whoosh index, which ranks them by its own BM25F."""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from whoosh.analysis import SpaceSeparatedTokenizer
from whoosh.fields import ID, STORED, TEXT, Schema
from whoosh.index import LockError, create_in, open_dir
from whoosh.query import Or, Term
from whoosh.writing import CLEAR

from commonplace.plugin import (
    Arm,
    Found,
    IndexBusyError,
    IndexUnavailableError,
    Lease,
    ManagerHealth,
    Progress,
    SourceScan,
    StoredChunk,
    StoredDocument,
    SyncReport,
    Terms,
    hit_order,
    make_analyser,
    make_private_folder,
    matches_terms,
    plan_changes,
    where_filter,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.plugin import (
        Deadline,
        Document,
        ManagerContext,
        Plan,
        ProgressCallback,
        Query,
        RootFailure,
        Where,
    )

_SCHEMA = Schema(
    key=ID(unique=True, stored=True),
    # Words come analysed, joined by spaces: Whoosh splits them and does nothing else to them.
    words=TEXT(analyzer=SpaceSeparatedTokenizer(), phrase=False),
    note=STORED,
)
_CHECK_EVERY = 64
"""Hits between two checks of the deadline."""
_TRIES = 20
_WAIT = 30.0
"""Seconds to wait for another process that makes the index."""


class WhooshEngine:
    """Searches the documents of all sources; each is one chunk.

    Another process that maintains the same index is waited for. A search reads what was committed
    last.
    """

    capabilities: frozenset[str] = frozenset()

    def __init__(self, context: ManagerContext) -> None:
        self._folder = os.path.join(context.state_dir, "whoosh")
        self._sources = {source.id: source for source in context.sources}
        self._analyser = make_analyser()
        self._lease = Lease(os.path.join(context.state_dir, "whoosh.lock"))
        self._closed = False

    def pending(self) -> SyncReport:
        """What :meth:`maintain` would do."""
        with self._searcher() as searcher:
            return _report(*self._plan(searcher))

    def maintain(
        self,
        *,
        force: bool = False,
        at_most: int | None = None,
        embed: bool = True,
        eager: bool = True,
        deadline: Deadline,
        progress: ProgressCallback | None = None,
        wait: float = 30.0,
    ) -> SyncReport:
        """Update the index in one commit; what the deadline leaves remains for the next time."""
        del embed, eager
        with self._usable(), self._lease.held(wait):
            with self._searcher() as searcher:
                plan, failed = self._plan(searcher, force=force)
            if (at_most is not None and plan.size > at_most) or not (plan.size or force):
                return _report(plan, failed)
            added = updated = done = 0
            unreadable: list[tuple[str, str]] = []
            writer = open_dir(self._folder).writer()
            try:
                for old in plan.gone:
                    writer.delete_by_term("key", _key(old.source, old.path))
                for ref, known in plan.read:
                    if deadline.expired and not force:
                        break
                    deadline.check("rebuilding the index")
                    done += 1
                    try:
                        document = self._sources[ref.source].read(ref)
                    except OSError as error:
                        unreadable.append((ref.path, error.strerror or str(error)))
                        continue
                    if document is not None:
                        self._add(writer, document)
                        added, updated = added + (known is None), updated + (known is not None)
                    if progress is not None:
                        step = Progress(label="indexing", completed=done, total=len(plan.read))
                        progress(step)
                writer.commit(mergetype=CLEAR) if force else writer.commit()
            except BaseException:
                writer.cancel()
                raise
            finally:
                gc.collect()  # a writer leaves the segments that it has read open, in a cycle
            return _report(plan, failed).replace(
                remaining=len(plan.read) - done,
                added=added,
                updated=updated,
                removed=len(plan.gone),
                unreadable=tuple(unreadable),
                rebuilt=force,
            )

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """One arm: what Whoosh finds of the words, then phrases and filters, in order."""
        deadline.check("the search")
        asked, passes = query.keyword, where_filter(where)
        hits = []
        with self._searcher() as searcher:
            words = Or([Term("words", token) for token in asked.should])
            for number, hit in enumerate(searcher.search(words, limit=None)):
                if number % _CHECK_EVERY == 0:
                    deadline.check("the search")
                source, path, day, tags, terms, _, lines, text, trust = hit["note"]
                if passes(source, path, day, tags) and matches_terms(Terms(*terms), asked):
                    chunk = StoredChunk(
                        hit["key"], source, path, 1, lines, text, (), day, trust, terms[0]
                    )
                    order = hit_order(hit.score, day, source, path, 0)
                    hits.append((order, Found(chunk, hit.score)))
        hits.sort(key=lambda one: one[0])
        return (Arm("whoosh", "bm25", tuple(found for _, found in hits[:limit])),)

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """Whether the index can be opened."""
        del deep
        try:
            with self._searcher():
                return ManagerHealth(available=True)
        except IndexUnavailableError as error:
            return ManagerHealth(available=False, reason=str(error))

    def close(self) -> None:
        """Refuse everything from now on; no file is open between two calls."""
        self._closed = True

    @contextmanager
    def _searcher(self) -> Iterator[Any]:
        """The index as it was committed last."""
        with self._usable():
            for left in reversed(range(_TRIES)):
                try:
                    searcher = open_dir(self._folder).searcher()
                    break
                except FileNotFoundError:
                    # Between two files that were opened a commit deleted what it had replaced.
                    if not left:
                        raise
            with searcher:
                yield searcher

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Inside it there is an index; what makes it unusable is said in words of the host."""
        if self._closed:
            raise IndexUnavailableError("the engine is closed", hint="open it again")
        try:
            make_private_folder(self._folder)
            if not self._exists():
                with self._lease.held(_WAIT):
                    if not self._exists():
                        create_in(self._folder, _SCHEMA)
            yield
        except LockError as error:
            raise IndexBusyError("another program writes to the index", hint="wait") from error
        except OSError as error:
            raise IndexUnavailableError(
                f"the index in {self._folder} cannot be used: {error.strerror or error}",
                hint="delete the folder, and run `commonplace index`",
            ) from error

    def _exists(self) -> bool:
        # Whoosh's own test opens what a commit may delete just then.
        return any(name.endswith(".toc") for name in os.listdir(self._folder))

    def _plan(self, searcher: Any, *, force: bool = False) -> tuple[Plan, tuple[RootFailure, ...]]:
        """What has changed (if a rebuild is forced, all), and what could not be looked at."""
        stored = []
        for fields in searcher.reader().all_stored_fields():
            source, path, _, _, _, (stamp, version), *_ = fields["note"]
            version = "" if force else version
            stored.append(StoredDocument(source, path, "", stamp, version))
        scans = [SourceScan(one.id, one.scan(), one.version) for one in self._sources.values()]
        failed = [root for scan in scans for root in scan.report.failed_roots]
        return plan_changes(stored, scans, configured=self._sources), tuple(failed)

    def _add(self, writer: Any, document: Document) -> None:
        ref, day = document.ref, document.day
        terms = tuple(self._analyser.chunk(document.text, title=document.title))
        lines = max(1, document.text.count("\n") + (not document.text.endswith("\n")))
        version = self._sources[ref.source].version
        about = ref.source, ref.path, day.isoformat() if day else None, document.tags
        note = (*about, terms, (ref.stamp, version), lines, document.text, document.trust)
        writer.update_document(key=_key(ref.source, ref.path), words=" ".join(terms), note=note)


def _key(source: str, path: str) -> str:
    return f"{source}\n{path}"


def _report(plan: Plan, failed: tuple[RootFailure, ...]) -> SyncReport:
    """The counts of ``plan``, of which nothing is done yet."""
    return SyncReport(
        remaining=plan.size,
        known=plan.known,
        unchanged=plan.unchanged,
        failed_roots=failed,
    )
