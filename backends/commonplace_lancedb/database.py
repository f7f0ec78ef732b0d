"""The connection, and the snapshots of the table that reads are made of."""

from __future__ import annotations

import os
import threading
import time
from datetime import timedelta
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from commonplace.plugin import IndexCorruptError
from commonplace_lancedb.errors import UnknownError, closed, is_missing_table, translated
from commonplace_lancedb.head import Head, head_id, literal, schema
from commonplace_lancedb.vector_index import UNMEASURED, measured_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from commonplace.plugin import Deadline, StoredDocument
    from commonplace_lancedb.head import BuildState
    from commonplace_lancedb.settings import Location
    from commonplace_lancedb.vector_index import Measured


_WHILE_WRITING = 1.0
"""Age, in seconds, up to which a writer uses what it knows of the table."""

_FAR_AWAY = 0.2
"""The same for reads from a bucket or a service: one search asks several times for one answer."""


class Database:
    """Opens the table when it is first needed, and makes it when it is first written.

    A snapshot is one version of the table and never changes. One serves all reads for
    ``consistency_seconds``, and a moment where each look is a request to a server; then it is
    looked whether there is a newer version.
    """

    def __init__(
        self,
        location: Location,
        *,
        consistency_seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.location = location
        least = _FAR_AWAY if location.folder is None else 0.0
        self._consistency = max(consistency_seconds, least)
        self._clock = clock
        self._lock = threading.RLock()
        self._connection: Any = None
        self._snapshot: Snapshot | None = None
        self._looked = 0.0
        self._written: tuple[int, Head | None] = 0, None
        self.writing = False
        """Whether it writes: reads may be a second old, as commits compare what they saw."""
        self._closed = self._ready = False

    def warm(self) -> None:
        """Import LanceDB where it will be needed.

        It takes a second, which is not to be counted against the time that a search has.
        """
        if self._may_exist():
            _lancedb()

    def check_open(self) -> None:
        """Raise :class:`~commonplace.errors.IndexUnavailableError` once closed."""
        if self._closed:
            raise closed(self.location)

    def snapshot(self, deadline: Deadline | None = None) -> Snapshot | None:
        """The table as it is now, or was within the interval; ``None`` where there is none."""
        with self._lock:
            self.check_open()
            now = self._clock()
            age = max(self._consistency, _WHILE_WRITING) if self.writing else self._consistency
            if self._snapshot is not None and now - self._looked < age:
                return self._snapshot
            table = self._open(deadline)
            self._looked = now
            if table is None:
                self._snapshot = None
            elif self._snapshot is None or not self._snapshot.is_of(table):
                version, head = self._written
                known = head if version == table.version else None
                self._snapshot = Snapshot(table, self.location, known)
            return self._snapshot

    def latest(self) -> Snapshot | None:
        """The table as it is now, whatever the interval."""
        with self._lock:
            self._looked = float("-inf")
            return self.snapshot()

    def table(self) -> Any:
        """A handle of the table to write through; the table is made if need be."""
        with self._lock:
            self.check_open()
            table = self._open(None)
            with translated(self.location):
                if table is None:
                    name, columns = self.location.table, schema()
                    table = self._connected().create_table(name, schema=columns, exist_ok=True)
                    self._index(table)
                elif not self._ready:
                    if self._add_columns(table):
                        table = self._connected().open_table(self.location.table)
                    if all(i.columns != ["terms"] for i in table.list_indices()):
                        self._index(table)  # the process that created the table did not finish
            self._ready = True
            return table

    def is_latest(self) -> bool:
        """Whether what was last read is the table as it is now, or cannot even be opened.

        Of an older version files may be gone, without any damage.
        """
        with self._lock:
            try:
                table = self._open(None)
            except (IndexCorruptError, UnknownError):
                return True
            return table is not None and (self._snapshot is None or self._snapshot.is_of(table))

    def is_unreadable(self) -> bool:
        """Whether the table in its folder cannot be read, although its files can.

        Reads all rows, and asks the keyword index, by a connection that remembers nothing.
        """
        folder, name = self.location.folder, self.location.table
        if self._closed or folder is None or not _can_open(f"{folder}/{name}.lance"):
            return False
        try:
            table = _lancedb().connect(self.location.uri).open_table(name)
            for _ in table.search().limit(EVERY).to_batches():
                pass
            table.search("commonplace", query_type="fts").limit(1).to_arrow()
        except Exception:  # noqa: BLE001 - LanceDB raises whatever class comes to hand
            return True
        return False

    def changed(self, version: int = 0, head: Head | None = None) -> None:
        """Forget how the table was: this process has just written ``version``, with ``head``."""
        with self._lock:
            self._looked = float("-inf")
            self._written = version, head

    def close(self) -> None:
        """Close the table; does not wait for a thread that is connecting, which may take long."""
        self._closed = True
        if self._lock.acquire(blocking=False):
            try:
                self._snapshot = self._connection = None
            finally:
                self._lock.release()

    def _open(self, deadline: Deadline | None) -> Any:
        if not self._may_exist():
            return None
        with translated(self.location, deadline):
            connection = self._connected()
            try:
                return connection.open_table(self.location.table)
            except ValueError as error:
                if is_missing_table(error, self.location.table):
                    return None
                raise

    def _may_exist(self) -> bool:
        """False where it is certain, without LanceDB, that there is no table."""
        folder = self.location.folder
        return folder is None or os.path.isdir(f"{folder}/{self.location.table}.lance")

    def _connected(self) -> Any:
        if self._connection is None:
            lancedb = _lancedb()
            # No interval: a handle stays at its version, which is what makes it a snapshot.
            self._connection = lancedb.connect(self.location.uri, **self.location.arguments())
        return self._connection

    def _add_columns(self, table: Any) -> bool:
        """Add the columns that a table of an earlier version lacks; whether there were any."""
        known = set(table.schema.names)
        if missing := [field for field in schema() if field.name not in known]:
            table.add_columns(missing)
        return bool(missing)

    def _index(self, table: Any) -> None:
        """Make the keyword index: Lance searches no words without one."""
        from lancedb.index import FTS

        config = FTS(
            # The terms are analysed: their tokens are kept as they are.
            base_tokenizer="whitespace",
            with_position=True,
            max_token_length=None,
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
        )
        table.create_index("terms", config=config)


def _lancedb() -> Any:
    """The module, which writes a log to standard error by default."""
    os.environ.setdefault("LANCEDB_LOG", "off")
    import lancedb

    return lancedb


def _can_open(folder: str) -> bool:
    """Whether each file below ``folder`` can be opened: no lack of rights, handles or a disk."""
    try:
        for parent, _, names in os.walk(folder, onerror=_raise):
            for name in names:
                os.close(os.open(os.path.join(parent, name), os.O_RDONLY))
    except OSError:
        return False
    return True


def _raise(error: OSError) -> None:
    raise error


EVERY = 2**31 - 1
"""A limit that cuts nothing off."""


class Snapshot:
    """Every query of it names the namespace: rows of others are never looked at.

    ``counted`` remembers how many chunks hold a token, by build and token; ``documents`` what a
    build holds, by its id. ``head`` need not be read where it is given.
    """

    def __init__(self, table: Any, location: Location, head: Head | None = None) -> None:
        self._table = table
        self._location = location
        self._version: int = table.version
        self.counted: dict[tuple[int, str], float] = {}
        self.documents: dict[int, list[StoredDocument]] = {}
        self._head = head

    def is_of(self, table: Any) -> bool:
        """Whether ``table`` is at this version."""
        return bool(table.version == self._version)

    @cached_property
    def head(self) -> Head:
        """What is valid of the namespace; empty where nothing was ever written."""
        if self._head is not None:
            return self._head
        rows = self._all(f"id = {head_id(self._location.namespace)}", ("revision", "state"))
        if not rows.num_rows:
            return Head()
        return Head.loaded(rows["revision"][0].as_py(), rows["state"][0].as_py())

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return tuple(self.schema().names)

    def schema(self) -> pa.Schema:
        """The table's columns."""
        with translated(self._location):
            return self._table.schema

    def scope(self, build: BuildState, kind: str) -> str:
        """The condition of all that is asked of a build."""
        namespace = literal(self._location.namespace)
        return f"namespace = {namespace} AND build = {build.id} AND kind = '{kind}'"

    def rows(self, build: BuildState, kind: str, columns: Sequence[str], also: str = "") -> Any:
        """Rows of ``kind`` in ``build`` that pass the condition ``also``, as an Arrow table."""
        scope = self.scope(build, kind)
        return self._all(f"{scope} AND ({also})" if also else scope, columns)

    def matching(
        self, query: Any, condition: str, columns: Sequence[str], limit: int, deadline: Deadline
    ) -> Any:
        """The best ``limit`` rows by Lance's own BM25, which pass ``condition`` beforehand."""
        with translated(self._location, deadline):
            search = self._table.search(query, query_type="fts").where(condition, prefilter=True)
            # Lance warns where its score is not asked for.
            search = search.limit(limit).select([*columns, "_score"])
            return search.to_arrow(timeout=_seconds(deadline))

    def nearest(
        self,
        vector: Any,
        column: str,
        condition: str,
        columns: Sequence[str],
        limit: int,
        deadline: Deadline,
        *,
        index: Measured | None = None,
    ) -> Any:
        """The ``limit`` rows with the largest inner product, passing ``condition`` beforehand.

        Every vector is compared, unless ``index`` says how far to look into that of the column.
        """
        with translated(self._location, deadline):
            search = self._table.search(vector, vector_column_name=column)
            search = search.distance_type("dot").where(condition, prefilter=True)
            if index is None:
                search = search.bypass_vector_index()
            else:
                search = search.nprobes(index.probes).refine_factor(index.refined)
            search = search.limit(limit).select([*columns, "_distance"])
            return search.to_arrow(timeout=_seconds(deadline))

    def orphans(self) -> list[int]:
        """Builds of the namespace that have rows, and are not in the head.

        Rows come with a head that knows their build: these have been dropped, and stayed when
        their rows should have gone.
        """
        namespace = literal(self._location.namespace)
        rows = self._all(f"namespace = {namespace} AND kind <> 'head'", ("build",))
        known = {build.id for build in self.head.builds}
        return sorted(set(rows["build"].unique().to_pylist()) - known)

    def count(self, condition: str | None = None) -> int:
        """Rows of the whole table that pass ``condition``, whosever they are."""
        with translated(self._location):
            number: int = self._table.count_rows(condition)
        return number

    def indexes(self) -> dict[str, Any]:
        """The indexes by the column they are of."""
        with translated(self._location):
            return {index.columns[0]: index for index in self._table.list_indices()}

    def vector_index(self, column: str) -> Measured | None:
        """What is known of the approximate index of a column; ``None`` if there is none to use."""
        if column not in self.indexes():
            return None
        return UNMEASURED if self._location.is_service else measured_of(self.schema().field(column))

    def stats(self) -> Any:
        """Bytes, rows and fragments of the whole table; ``None`` where a service keeps it."""
        if self._location.is_service:
            return None
        with translated(self._location):
            return self._table.stats()

    def _all(self, condition: str, columns: Sequence[str]) -> Any:
        with translated(self._location):
            search = self._table.search().where(condition).limit(EVERY)
            return search.select(list(columns)).to_arrow()


def _seconds(deadline: Deadline) -> timedelta | None:
    remaining = deadline.remaining()
    return None if remaining == inf else timedelta(seconds=min(remaining, 86_400.0))
