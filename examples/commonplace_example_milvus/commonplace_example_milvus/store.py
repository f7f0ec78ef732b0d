"""The store: what it is asked, said in terms of the journal, the chunks and the spaces."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from attrs import evolve

from commonplace.plugin import (
    NEVER,
    Contents,
    IndexBusyError,
    IndexUnavailableError,
    SimpleStore,
    SpaceInfo,
    StoredBuild,
    check_units,
)
from commonplace_example_milvus import searching
from commonplace_example_milvus.catalogue import Space
from commonplace_example_milvus.changing import planned
from commonplace_example_milvus.journal import Journal
from commonplace_example_milvus.rows import CHUNK, CHUNKS, visible
from commonplace_example_milvus.spaces import Spaces, digest_filters, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from commonplace.plugin import (
        Build,
        Change,
        ChunkId,
        Deadline,
        KeywordMatches,
        KeywordQuery,
        Lease,
        Nearest,
        StoreHealth,
        Where,
    )
    from commonplace_example_milvus.catalogue import Catalogue, Commit, Entry
    from commonplace_example_milvus.database import Database


T = TypeVar("T")

_TRIES = 100


class MilvusStore(SimpleStore):
    """Keeps chunks and vectors in Milvus; see :class:`~commonplace.plugin.VectorStore`.

    A read takes the last commit, looks, and looks at the last commit again: where that is another
    one now, what was read may be of neither, and is read again.
    """

    capabilities = frozenset({"keyword", "phrases", "vectors", "persistent"})

    def __init__(self, database: Database, lease: Lease, *, location: str) -> None:
        super().__init__(lease=lease, location=location)
        self._database = database
        self._journal = Journal(database)
        self._spaces = Spaces(database)
        self._unswept = True
        database.create(CHUNKS, CHUNK)

    def writer(self, *, wait: float) -> AbstractContextManager[None]:
        """Hold the lease, which keeps apart who writes from this machine.

        Milvus has no locks, so several machines that write to the same collections have to be kept
        apart by the one who sets them up.
        """
        self._check_open()
        return self._writing(wait)

    def load(self) -> Mapping[int, StoredBuild]:
        """The builds of the last commit, with the entries of their documents."""
        catalogue = self._journal.read()
        return {
            build.id: StoredBuild(build, Contents(catalogue.documents(build)))
            for build in catalogue.commit.builds
        }

    def save(self, builds: Mapping[int, StoredBuild]) -> None:
        """Commit ``builds``, whose documents are those of the last commit."""
        self._commit(self._prepared(), builds=tuple(held.build for held in builds.values()))

    def new_id(self) -> int:
        """The number of the next commit, for a build that it begins."""
        return self._journal.latest().seq + 1

    def release(self) -> None:
        """Close the client."""
        self._database.close()

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        """Apply all of ``changes`` or none."""
        catalogue = self._prepared()
        _check_there(catalogue, build)
        entries, rows = planned(catalogue.documents(build), changes, build.id, catalogue.commit.seq)
        if not entries:
            return
        self._unswept = True
        self._database.insert(CHUNKS, rows)
        self._spaces.carry(catalogue, rows)
        self._commit(catalogue, entries)

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        """The best matches in the live build, looked for by Milvus and ranked here."""
        return self._read(
            lambda catalogue: searching.keyword(
                self._database, catalogue, query, where=where, limit=limit, deadline=deadline
            ),
            deadline,
        )

    def spaces(self) -> tuple[SpaceInfo, ...]:
        """What each space covers of the live build."""
        return self._read(self._infos)

    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        """What of ``build`` has no vector in ``space``."""

        def read(catalogue: Catalogue) -> list[tuple[str, str]]:
            _check_there(catalogue, build)
            there = catalogue.commit.spaces.get(space)
            return searching.missing(self._database, self._spaces, catalogue, there, build)

        return self._read(read)

    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        """Attach all of ``vectors`` or none, in one request."""
        catalogue = self._prepared()
        _check_there(catalogue, build)
        check_units(vectors.values(), dims)
        unpacked = {digest: numbers(vector, dims) for digest, vector in vectors.items()}
        there = catalogue.commit.spaces.get(space)
        if there is not None and there.dims != dims:
            if any(self._spaces.covered(catalogue, there, one) for one in catalogue.builds):
                raise ValueError(f"the space {space!r} has {there.dims} dimensions, not {dims}")
            there = None
        chunks = [
            row
            for where in digest_filters(unpacked)
            for row in self._database.rows(
                CHUNKS,
                f"{visible(catalogue, build.id)} and {where}",
                ["id", "build", "version", "digest"],
            )
        ]
        if not chunks:
            return
        if there is None:
            self._unswept = True
            there = Space(catalogue.commit.seq + 1, dims)
            self._spaces.create(there)
        self._spaces.put(there, chunks, unpacked)
        # A commit where the space is an old one, too: what was counted of it counts no more.
        self._commit(catalogue, spaces={**catalogue.commit.spaces, space: there})

    def drop_space(self, space: str) -> None:
        """Forget ``space``; one that is not there stays gone."""
        catalogue = self._prepared()
        spaces = dict(catalogue.commit.spaces)
        if spaces.pop(space, None) is not None:
            self._commit(catalogue, spaces=spaces)

    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        """The nearest of the live build, found by Milvus among those that pass."""
        return self._read(
            lambda catalogue: searching.nearest(
                self._database,
                self._spaces,
                catalogue,
                catalogue.commit.spaces.get(space),
                vector,
                where=where,
                limit=limit,
                deadline=deadline,
            ),
            deadline,
        )

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of these chunks of the live build."""

        def read(catalogue: Catalogue) -> Mapping[ChunkId, bytes]:
            there, live = catalogue.commit.spaces.get(space), catalogue.live
            wanted = {id_ for id_ in ids if isinstance(id_, int)}
            if there is None or live is None or not wanted:
                return {}
            return self._spaces.vectors(catalogue, there, live.id, wanted)

        return self._read(read)

    def health(self, *, deep: bool = False, counts: bool = True) -> StoreHealth:
        """Counts; ``deep`` has Milvus count what should be there."""
        problems = self._read(self._problems) if deep else ()
        health = super().health(deep=deep, counts=counts)
        return health._replace(size=self._database.size(), problems=problems)

    def _problems(self, catalogue: Catalogue) -> tuple[str, ...]:
        if catalogue.live is None:
            return ()
        found = self._database.count(CHUNKS, visible(catalogue, catalogue.live.id))
        expected = sum(entry.chunks for entry in catalogue.documents(catalogue.live).values())
        return (f"{found} chunks are stored, not {expected}",) if found != expected else ()

    def _infos(self, catalogue: Catalogue) -> tuple[SpaceInfo, ...]:
        live = catalogue.live
        chunks = sum(entry.chunks for entry in catalogue.documents(live).values())
        return tuple(
            SpaceInfo(
                name,
                space.dims,
                (live and self._spaces.covered(catalogue, space, live.id)) or 0,
                chunks,
            )
            for name, space in catalogue.commit.spaces.items()
        )

    def _read(self, read: Callable[[Catalogue], T], deadline: Deadline = NEVER) -> T:
        for _ in range(_TRIES):
            self._check_open()
            deadline.check("the search in Milvus")
            catalogue = self._journal.read()
            try:
                answer = read(catalogue)
            except IndexUnavailableError:
                # A space may have been dropped while it was looked at.
                if self._journal.latest().seq == catalogue.commit.seq:
                    raise
            else:
                if self._journal.latest().seq == catalogue.commit.seq:
                    return answer
        raise IndexBusyError("the index changes faster than it can be read", hint="try again")

    @contextmanager
    def _writing(self, wait: float) -> Iterator[None]:
        with self._lease.held(wait) as outermost:
            # Another process may have ended halfway.
            self._unswept = self._unswept or outermost
            yield

    def _prepared(self) -> Catalogue:
        """The catalogue to write on, without anything left of a write that came to nothing."""
        self._check_open()
        self._lease.check()
        catalogue = self._journal.read()
        return self._swept(catalogue) if self._unswept else catalogue

    def _commit(
        self,
        catalogue: Catalogue,
        entries: Sequence[Entry] = (),
        *,
        builds: tuple[Build, ...] | None = None,
        spaces: Mapping[str, Space] | None = None,
    ) -> None:
        old = catalogue.commit
        # Entries may leave numbers out; none may be given twice.
        seq = max((old.seq, *(entry.seq for entry in entries))) + 1
        commit: Commit = evolve(
            old,
            seq=seq,
            builds=old.builds if builds is None else builds,
            spaces=old.spaces if spaces is None else spaces,
        )
        self._unswept = True
        after = self._journal.write(commit, entries)
        lost = set(catalogue.builds) - set(after.builds)
        if lost or after.waste or set(old.spaces.values()) - set(commit.spaces.values()):
            self._swept(after)
        else:
            self._journal.forget(old)
            self._unswept = False

    def _swept(self, catalogue: Catalogue) -> Catalogue:
        commit = catalogue.commit
        kept = {e.version for documents in catalogue.builds.values() for e in documents.values()}
        waste = sorted({entry.version for entry in catalogue.waste} - kept)
        unwanted = (
            f"version > {commit.seq} or version in {waste}"
            f" or build not in {[build.id for build in commit.builds]}"
        )
        self._database.delete(CHUNKS, unwanted)
        self._spaces.prune(catalogue, unwanted)
        self._journal.sweep(catalogue)
        self._unswept = False
        return catalogue.swept()


def _check_there(catalogue: Catalogue, build: Build) -> None:
    if all(build.id != one.id for one in catalogue.commit.builds):
        raise IndexUnavailableError(
            f"there is no build {build.id} ({build.identity})", hint="open a build again"
        )
