"""Keeping the table quick: fewer and fuller files, complete indexes, old versions deleted."""

from __future__ import annotations

import os
import random
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from math import sqrt
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    DamagedIndexes,
    IndexBusyError,
    IndexCorruptError,
    IndexReadOnlyError,
    IndexUnavailableError,
    Lease,
    StoreHealth,
)
from commonplace_lancedb.conditions import Marked
from commonplace_lancedb.errors import ConflictError, UnknownError, damaged, translated
from commonplace_lancedb.head import BITMAPS, BTREES, literal, literals, text_out
from commonplace_lancedb.rows import addresses_of, file_of, read
from commonplace_lancedb.vector_index import index_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonplace_lancedb.database import Database
    from commonplace_lancedb.head import BuildState
    from commonplace_lancedb.settings import Location
    from commonplace_lancedb.snapshot import Snapshot


_MOST_FRAGMENTS = 32
"""Each commit leaves one; a query opens them all."""

_FAR_AWAY = 2
"""So many times as many in a bucket, where who searches reads each once, and to merge takes long:
all versions that are kept are looked at, and everybody reads the indexes again."""

_SMALL_TABLE = 20_000
"""Rows of a table in a bucket from which more files are left: to merge takes time by its rows, and
a commit by the files that are not merged. The sum of both is least at a number of files that grows
as the square root of the rows."""

_LONGEST = 3.0

_LOOSE_ROWS = 2_000
_LOOSE_SHARE = 20
"""Rows that are in no index yet are read one by one: at most one in so many, or so few."""

_SCALAR_FROM = 5_000
"""Rows from which the indexes of plain columns are worth their files."""

_KEPT = timedelta(minutes=15)
"""Old versions: longer than any read takes."""


class Patience:
    """How many times as many files as are due one writer waits for, in a bucket.

    Writers of several machines cannot keep each other from merging at the same time, of which all
    but one are in vain. So each waits for a while of its own, 1.0 to 1.5, drawn again each time;
    and for longer after it was hindered.
    """

    def __init__(self, uniform: Callable[[float, float], float] = random.uniform) -> None:
        self._uniform = uniform
        self.times = uniform(1.0, 1.5)

    def done(self) -> None:
        """Files were merged: draw again."""
        self.times = self._uniform(1.0, 1.5)

    def hindered(self) -> None:
        """Another commit came between: wait for a quarter more, up to three times as many."""
        self.times = min(_LONGEST, self.times * 1.25)


def forget_builds(database: Database, builds: Sequence[int]) -> None:
    """Delete the rows of builds that no head has any more.

    What cannot be deleted now, because others write, :func:`tidy` finds later.
    """
    if not builds:
        return
    namespace = literal(database.location.namespace)
    with suppress(ConflictError), translated(database.location):
        database.table().delete(f"namespace = {namespace} AND build IN ({literals(builds)})")
    database.changed()


def tidy(database: Database, *, index_vectors_from: int, patience: Patience) -> str:
    """Run the maintenance that is due; returns the failure as one line, or ``""``.

    What was written stays written and is found, whatever fails here. After a conflict nothing is
    done: the other writer runs the same maintenance.
    """
    try:
        snapshot = database.latest()
        if snapshot is not None:
            _tidy(database, snapshot, index_vectors_from, patience)
    except ConflictError:
        patience.hindered()
        return ""
    except IndexUnavailableError as error:
        return f"the table could not be tidied: {error}"
    finally:
        database.changed()
    return ""


def _tidy(
    database: Database, snapshot: Snapshot, index_vectors_from: int, patience: Patience
) -> None:
    indexes = snapshot.indexes()
    rows = snapshot.count()
    young, most = False, 0.0
    if database.location.is_service:
        # It sees to its files, versions and rows without an index by itself.
        due = snapshot.count("kind = 'dead'") > max(_LOOSE_ROWS, rows // _LOOSE_SHARE)
    else:
        terms = indexes.get("terms")
        times = patience.times if _is_far(database.location) else 0.0
        loose = terms.num_unindexed_rows if terms is not None else 0
        due = loose > (times or 1.0) * max(_LOOSE_ROWS, rows // _LOOSE_SHARE)
        if not due:
            young = bool(times) and _is_young(terms)
            most = _MOST_FRAGMENTS * times if young else most_files(rows, times)
            due = snapshot.stats()["fragment_stats"]["num_fragments"] > most
    if not due:
        return
    if young and _merge_last(database, most):
        patience.done()
        return
    from lancedb.index import Bitmap, BTree

    table = database.table()
    with translated(database.location):
        table.delete("kind = 'dead'")
        forget_builds(database, snapshot.orphans())
        for column in (*BITMAPS, *BTREES):
            if rows >= _SCALAR_FROM and column not in indexes:
                table.create_index(column, config=Bitmap() if column in BITMAPS else BTree())
        service = database.location.is_service
        index_vectors(table, indexes, index_vectors_from, measures=not service)
        if not service:
            table.optimize(cleanup_older_than=_KEPT)
    patience.done()


def _is_far(location: Location) -> bool:
    """Whether the table is in a bucket, where to index everything takes everybody's time."""
    return location.folder is None and not location.is_service


def _is_young(index: Any) -> bool:
    """Whether an index was made so recently that old versions need not be deleted yet either."""
    made = getattr(index, "created_at", None)
    return made is not None and datetime.now(made.tzinfo) - made < _KEPT


def _merge_last(database: Database, most: float) -> bool:
    """Write the rows that are in no index, which are in many small files, into one.

    That takes one commit, while to merge all reads and writes the whole table and its indexes, and
    makes everybody read them again. A row that was written again meanwhile has another revision,
    and stays as it is. Gives ``False`` where it is not certain which rows these are, and where more
    than ``most`` files are left: then all have to be merged.
    """
    table = database.table()
    with translated(database.location):
        table.delete("kind = 'dead'")
        every = addresses_of(table, None)
        found = {index.columns[0]: index for index in table.list_indices()}
        loose = int(found["terms"].num_unindexed_rows or 0) if "terms" in found else 0
        if not 0 < loose < len(every) or file_of(every[-loose - 1]) == file_of(every[-loose]):
            return False
        search = table.search().offset(len(every) - loose).limit(loose)
        addresses, rows = read(search, table.schema.names, None)
        if addresses.tolist() != every[-loose:].tolist():
            return False
        merge = table.merge_insert("id")
        merge = merge.when_matched_update_all(where="target.revision = source.revision")
        merge.execute(rows, on_bad_vectors="null")
        left: int = database.table().stats()["fragment_stats"]["num_fragments"]
    return left <= most


def most_files(rows: int, times: float = 0.0) -> float:
    """How many files a table of so many rows may have; with ``times`` (1.0 to 3.0) in a bucket."""
    if not times:
        return _MOST_FRAGMENTS
    return _MOST_FRAGMENTS * _FAR_AWAY * times * max(1.0, sqrt(rows / _SMALL_TABLE))


@contextmanager
def repairing(database: Database, lease: Lease) -> Iterator[None]:
    """Set the table aside if it turns out to be damaged, and raise that error.

    Only in a folder, while no other process writes in it, and if the latest version is damaged.
    A table in a bucket is shared with others, so it is left to the user. Words of LanceDB that mean
    damage are believed; where its words are unknown, the table is read.
    """
    try:
        yield
    except (IndexCorruptError, UnknownError) as error:
        known = isinstance(error, IndexCorruptError)
        aside = damaged_tables(database.location)
        if aside is None:
            raise
        is_damaged = database.is_latest if known else database.is_unreadable
        if not is_damaged():
            raise
        with (
            suppress(IndexBusyError, IndexReadOnlyError, OSError),
            _sole_writer(database.location, lease),
        ):
            if is_damaged():  # still: another process may have rebuilt it meanwhile
                aside.set_aside()
            database.changed()
        if known:
            raise
        raise damaged(database.location) from error


@contextmanager
def _sole_writer(location: Location, lease: Lease) -> Iterator[None]:
    """Hold ``lease`` and those of all other namespaces in the folder, which share the table.

    Raises :class:`~commonplace.errors.IndexBusyError` where one of them is held.
    """
    with ExitStack() as leases:
        leases.enter_context(lease.held(0))
        for name in sorted(os.listdir(location.folder)):
            path = os.path.join(location.folder or "", name)
            if name.endswith(".lock") and path != location.lock:
                leases.enter_context(Lease(path).held(0))
        yield


def damaged_tables(location: Location) -> DamagedIndexes | None:
    """The damaged tables that are kept in a folder."""
    if location.folder is None:
        return None
    # Not by the ending of tables: LanceDB would take it for one.
    return DamagedIndexes(os.path.join(location.folder, location.table), {".lance": ""})


def health(location: Location, snapshot: Snapshot | None, *, deep: bool) -> StoreHealth:
    """Counts of the live build; ``deep`` reads the keys of all its rows."""
    live = snapshot.head.live if snapshot is not None else None
    sources = live.sources if live is not None else {}
    aside = damaged_tables(location)
    problems: tuple[str, ...] = ()
    if deep and snapshot is not None:
        problems = tuple(
            f"the {build.state} build: {problem}"
            for build in snapshot.head.builds
            for problem in _problems(snapshot, build)
        )
    return StoreHealth(
        location=location.shown,
        documents=sum(counts.documents for counts in sources.values()),
        chunks=sum(counts.chunks for counts in sources.values()),
        size=_size(location, snapshot),
        writable=_writable(location),
        findings=(aside.finding(),) if deep and aside is not None else (),
        documents_by_source=tuple((name, sources[name].documents) for name in sorted(sources)),
        chunks_by_source=tuple((name, sources[name].chunks) for name in sorted(sources)),
        problems=problems,
    )


def _problems(snapshot: Snapshot, build: BuildState) -> Iterator[str]:
    documents = snapshot.rows(build, "doc", ("id", "source", "path", "chunks"))
    chunks = snapshot.rows(build, "chunk", ("doc",))["doc"].to_pylist()
    chunks_of = Counter(chunks)
    ids = documents["id"].to_pylist()
    if lost := len(chunks_of.keys() - set(ids)):
        yield f"chunks of {lost} documents that are not there"
    wrong = sum(
        chunks_of[id_] != number
        for id_, number in zip(ids, documents["chunks"].to_pylist(), strict=True)
    )
    if wrong:
        yield f"{wrong} documents have another number of chunks than they should"
    keys = Counter(zip(documents["source"].to_pylist(), documents["path"].to_pylist(), strict=True))
    if doubles := sum(number - 1 for number in keys.values()):
        yield f"{doubles} documents are in it more than once"
    counted = Counter(map(text_out, documents["source"].to_pylist()))
    known = {name: counts.documents for name, counts in build.sources.items()}
    if counted != known or len(chunks) != build.total.chunks:
        yield "its counts are wrong"
    for name, space in snapshot.head.spaces.items():
        number = snapshot.rows(build, "chunk", ("id",), Marked(space)).num_rows
        if number != build.covered.get(name, 0):
            yield f"the count of vectors in {name!r} is wrong"


def _size(location: Location, snapshot: Snapshot | None) -> int:
    if snapshot is None:
        return 0
    folder = location.folder
    if folder is None:
        stats = snapshot.stats()
        return int(stats["total_bytes"]) if stats is not None else 0
    total = 0
    for parent, _, names in os.walk(os.path.join(folder, f"{location.table}.lance")):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except OSError:
                continue  # an old version, deleted this moment
    return total


def _writable(location: Location) -> bool:
    folder = location.folder
    if folder is None:
        return True
    while not os.path.exists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return os.access(folder, os.W_OK)
