"""The LanceDB store: the parts of this package under the one face that the host knows."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attrs import evolve

from commonplace.plugin import (
    IndexUnavailableError,
    KeywordMatches,
    Lease,
    Nearest,
    SpaceInfo,
    check_numbers,
    check_units,
    current_deadline,
)
from commonplace_lancedb import keyword, maintenance, reading
from commonplace_lancedb.database import Database
from commonplace_lancedb.head import ID_BITS, BuildState, Head
from commonplace_lancedb.vectors import attached, nearest, space_for, with_columns
from commonplace_lancedb.writing import Committer, prepared, written

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from commonplace.plugin import (
        Build,
        Change,
        ChunkId,
        Deadline,
        Found,
        KeywordQuery,
        Lookup,
        StoredDocument,
        StoreHealth,
        Where,
    )
    from commonplace_lancedb.row_cache import RowCache
    from commonplace_lancedb.settings import Location
    from commonplace_lancedb.snapshot import Snapshot


class LanceStore:
    """One namespace of a LanceDB table; see :class:`~commonplace.plugin.VectorStore`.

    What is valid is said by one row, the head; every change is one commit that brings a new head
    along. A read is made of one version of the table from beginning to end. To make a store imports
    LanceDB where there is a table; else it is imported when one is made.
    """

    capabilities = frozenset(
        {"keyword", "phrases", "counts", "term_counts", "vectors", "persistent"}
        | {"lookup", "days", "vocabulary"}
    )

    def __init__(
        self,
        location: Location,
        *,
        consistency_seconds: float = 0.0,
        held_bytes: int = 0,
        row_cache: RowCache | None = None,
        index_vectors_from: int = 50_000,
        committer: Callable[[Database], Committer] = Committer,
    ) -> None:
        self._location = location
        self._database = Database(
            location,
            consistency_seconds=consistency_seconds,
            held_bytes=held_bytes,
            row_cache=row_cache,
        )
        self._database.warm()
        self._committer = committer(self._database)
        self._lease = Lease(location.lock, what=f"the LanceDB at {location.shown}")
        self._index_vectors_from = index_vectors_from
        self._patience = maintenance.Patience()
        self._written = False
        self._notices: tuple[str, ...] = ()

    @contextmanager
    def writer(self, *, wait: float) -> Iterator[None]:
        """Hold the lease, then leave the table tidy.

        In a bucket or a service it keeps only the threads of this store apart; other machines are
        kept apart by the revision of the head, which every commit compares.
        """
        self._database.check_open()
        with self._lease.held(wait) as outermost:
            self._database.writing = True
            try:
                yield
            finally:
                self._database.writing = not outermost
            if outermost and self._written:
                self._written = False
                notice = maintenance.tidy(
                    self._database,
                    index_vectors_from=self._index_vectors_from,
                    patience=self._patience,
                )
                self._notices = (notice,) if notice else ()

    def builds(self) -> tuple[Build, ...]:
        """All builds, the oldest first."""
        with self._reading() as (head, _):
            return tuple(state.build for state in head.builds)

    def open_build(self, identity: str) -> Build:
        """The unfinished build of ``identity``, or a new one."""

        def change(head: Head) -> Head:
            filling = next((one for one in head.builds if one.state == "filling"), None)
            if filling is not None and filling.identity == identity:
                return head
            kept = head if filling is None else head.without(filling.id)
            new = BuildState(secrets.randbits(ID_BITS), identity, "filling")
            return evolve(kept, builds=(*kept.builds, new))

        head = self._change_builds(change)
        return next(one.build for one in head.builds if one.state == "filling")

    def activate(self, build: Build) -> None:
        """Let ``build`` replace the live one."""

        def change(head: Head) -> Head:
            live = evolve(_need(head, build), state="live")
            others = (one for one in head.builds if one.id != build.id and one.state != "live")
            return evolve(head, builds=(live, *others))

        self._change_builds(change)

    def drop(self, build: Build) -> None:
        """Delete ``build``; one that is gone already stays gone."""
        self._change_builds(lambda head: head.without(build.id) if head.find(build) else head)

    def documents(self, build: Build | None = None) -> list[StoredDocument]:
        """What ``build`` or the live one holds."""
        with self._reading() as (head, snapshot):
            state = head.live if build is None else _need(head, build)
            return [] if snapshot is None or state is None else reading.documents(snapshot, state)

    def lookup(self, build: Build, keys: Collection[tuple[str, str]]) -> Lookup:
        """What ``build`` holds of these sources and paths, and of how many documents in all."""
        with self._reading() as (head, snapshot):
            state = _need(head, build)
            assert snapshot is not None, "it has the build"
            return reading.lookup(snapshot, state, keys)

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        """Apply all of ``changes`` or none, in one commit."""
        self._lease.check()
        outcome = prepared(self._location.namespace, build.id, changes)

        def make(snapshot: Snapshot) -> None:
            before = snapshot.head
            done = written(snapshot, before, _need(before, build), outcome)
            if done is not None:
                self._committer.commit(before, *done)

        with self._repairing():
            self._committer.change(make)
        self._written = True

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        """The best matches in the live build."""
        deadline.check("the keyword search")
        with self._reading(deadline) as (head, snapshot):
            if snapshot is None or head.live is None:
                return KeywordMatches()
            live = head.live
            ranked = keyword.keyword(snapshot, live, query, where, limit, deadline)
            total = live.total
            return KeywordMatches(
                reading.found(snapshot, live, [(one.id, score) for one, score in ranked]),
                total.chunks,
                keyword.holders_of(snapshot, live, query.terms, deadline),
                tuple(keyword.term_counts(one, query.terms) for one, _ in ranked),
                total.tokens / max(1, total.chunks),
            )

    def of_days(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Found, ...]:
        """The chunks of the query's days in the live build."""
        deadline.check("the keyword search")
        with self._reading(deadline) as (head, snapshot):
            if snapshot is None or head.live is None:
                return ()
            ids = keyword.of_days(snapshot, head.live, query, where, limit)
            return reading.found(snapshot, head.live, [(id_, 1.0) for id_ in ids])

    def holders(self, tokens: Collection[str]) -> Mapping[str, int]:
        """How many chunks of the live build hold each of ``tokens``."""
        with self._reading() as (head, snapshot):
            if snapshot is None or head.live is None:
                return dict.fromkeys(tokens, 0)
            return keyword.holders_of(snapshot, head.live, tokens, current_deadline())

    def tokens_beginning(self, text: str, limit: int) -> Mapping[str, int]:
        """Up to ``limit`` tokens of the live build that begin with ``text``, counted."""
        from commonplace_lancedb.vocabulary import tokens_beginning

        deadline = current_deadline()
        with self._reading(deadline) as (head, snapshot):
            if snapshot is None or head.live is None:
                return {}
            return tokens_beginning(snapshot, head.live, text, limit, deadline)

    def spaces(self) -> tuple[SpaceInfo, ...]:
        """The spaces of the namespace, and what they cover of the live build."""
        with self._reading() as (head, _):
            live = head.live
        if live is None:
            return ()
        chunks = live.total.chunks
        return tuple(
            SpaceInfo(name, space.dims, live.covered.get(name, 0), chunks)
            for name, space in head.spaces.items()
        )

    def missing_vectors(self, build: Build, space: str) -> list[tuple[str, str]]:
        """What of ``build`` has no vector in ``space``."""
        with self._reading() as (head, snapshot):
            state = _need(head, build)
            if snapshot is None:
                return []
            return reading.missing(snapshot, state, head.spaces.get(space))

    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        """Attach all of ``vectors`` or none, in one commit."""
        self._lease.check()
        check_units(vectors.values(), dims)
        new = {digest: bytes(vector) for digest, vector in vectors.items()}

        def make(snapshot: Snapshot) -> None:
            before = snapshot.head
            state = _need(before, build)
            column = space_for(before, space, dims).column
            snapshot = with_columns(self._database, snapshot, column, dims)
            done = attached(snapshot, before, state, space, dims, new)
            if done is not None:
                self._committer.commit(before, *done)

        if new:
            with self._repairing():
                self._committer.change(make)
            self._written = True

    def drop_space(self, space: str) -> None:
        """Forget all vectors of ``space``; their room is taken again when rows are rewritten."""
        self._change_builds(
            lambda head: head.without_space(space) if space in head.spaces else head
        )

    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        """The nearest chunks of the live build."""
        deadline.check("the vector search")
        with self._reading(deadline) as (head, snapshot):
            known = head.spaces.get(space)
            if snapshot is None or head.live is None or known is None:
                return Nearest((), exact=True)
            check_numbers(vector, known.dims)
            return nearest(
                snapshot,
                head.live,
                space,
                vector,
                where=where,
                limit=limit,
                deadline=deadline,
                index_from=self._index_vectors_from,
            )

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of ``ids`` in the live build."""
        with self._reading() as (head, snapshot):
            known = head.spaces.get(space)
            if snapshot is None or head.live is None or known is None:
                return {}
            return reading.vectors_of(snapshot, head.live, known, ids)

    def health(self, *, deep: bool = False, counts: bool = True) -> StoreHealth:
        """Counts of the live build; ``deep`` compares its rows with them."""
        del counts  # they are at hand in any case
        with self._reading() as (_, snapshot):
            found = maintenance.health(self._location, snapshot, deep=deep)
        aside = None if deep else maintenance.damaged_tables(self._location)  # else in findings
        kept = (f"a damaged index is kept at {old}" for old in (aside.kept() if aside else ()))
        writing = self._lease.notices() if deep else ()
        return found._replace(notices=(*kept, *self._notices, *writing))

    def close(self) -> None:
        """Let go of the table."""
        self._database.close()

    def _repairing(self) -> AbstractContextManager[None]:
        return maintenance.repairing(self._database, self._lease)

    @contextmanager
    def _reading(self, deadline: Deadline | None = None) -> Iterator[tuple[Head, Snapshot | None]]:
        """One version of the table, and what is valid of it; ``None`` if there is no table yet."""
        with self._repairing():
            snapshot = self._database.snapshot(deadline)
            yield (Head() if snapshot is None else snapshot.head), snapshot

    def _change_builds(self, change: Callable[[Head], Head]) -> Head:
        """Commit what ``change`` makes of the head, if it makes anything of it."""
        self._lease.check()
        self._database.check_open()

        def make(snapshot: Snapshot) -> tuple[Head, Head]:
            before = snapshot.head
            after = change(before)
            if after is not before:
                self._committer.commit(before, after)
            return before, after

        with self._repairing():
            before, after = self._committer.change(make)
        gone = {build.id for build in before.builds} - {build.id for build in after.builds}
        maintenance.forget_builds(self._database, sorted(gone))
        return after


def _need(head: Head, build: Build) -> BuildState:
    state = head.find(build)
    if state is None:
        raise IndexUnavailableError(
            f"there is no build {build.id} ({build.identity})", hint="open a build again"
        )
    return state
