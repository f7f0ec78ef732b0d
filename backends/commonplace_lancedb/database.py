"""The connection, and the snapshots of the table that reads are made of."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    DeadlineExceededError,
    IndexCorruptError,
    IndexUnavailableError,
    UnavailableError,
    Worker,
    current_deadline,
)
from commonplace_lancedb.errors import (
    UnknownError,
    closed,
    is_missing_table,
    translated,
    unreachable,
)
from commonplace_lancedb.head import EVERY, schema
from commonplace_lancedb.loading import RowLoader
from commonplace_lancedb.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.plugin import Deadline
    from commonplace_lancedb.head import Head
    from commonplace_lancedb.row_cache import RowCache
    from commonplace_lancedb.settings import Location


_WHILE_WRITING = 1.0
"""Age, in seconds, up to which a writer uses what it knows of the table."""

_FAR_AWAY = 0.2
"""The same for reads from a bucket or a service: one search asks several times for one answer."""

_ANSWERS_WITHIN = 30.0
"""Seconds in which a bucket or a service opens the table; LanceDB itself tries for minutes."""

_LOADED_BY: dict[str, int] = {}
"""The process that imported a module."""

_FAIR = 1.0
"""What was given fewer seconds has not shown that it cannot be reached."""


class Database:
    """Opens the table when it is first needed, and makes it when it is first written.

    A snapshot is one version of the table and never changes. One serves all reads for
    ``consistency_seconds``, and a moment where each look is a request to a server; then it is
    looked whether there is a newer version. ``held_bytes`` is how large the rows of the namespace
    may be to be held in memory; 0 holds none. They come from ``row_cache``, where it has them.
    """

    def __init__(
        self,
        location: Location,
        *,
        consistency_seconds: float = 0.0,
        held_bytes: int = 0,
        row_cache: RowCache | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.location = location
        least = _FAR_AWAY if location.folder is None else 0.0
        self._consistency = max(consistency_seconds, least)
        self._clock = clock
        self._loader = RowLoader(location, held_bytes, row_cache) if held_bytes else None
        self._opener = Worker(f"opening {location.shown}", patient=False)
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
                self._snapshot = Snapshot(table, self.location, known, self._loader)
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
            if self.location.folder is not None:
                return self._opened()
            return self._opened_from_afar(deadline or current_deadline())

    def _opened_from_afar(self, deadline: Deadline) -> Any:
        """As :meth:`_opened`, given up by a thread of ours: LanceDB may wait without limit.

        While an attempt that was given up is still waiting no other begins: the first to be
        answered is that one.
        """
        if self._connection is None:
            self.location.arguments()  # raises here what is wrong with them
        bound = deadline.sooner(_ANSWERS_WITHIN)
        seconds = bound.remaining()
        try:
            return self._opener.run(self._opened, bound)
        except DeadlineExceededError as error:
            if seconds < _FAIR or deadline.cancelled:
                raise
            raise unreachable(self.location, f"no answer within {seconds:.3g} s") from error
        except UnavailableError as error:
            raise unreachable(self.location, "it has not answered yet") from error

    def _opened(self) -> Any:
        try:
            return self._connected().open_table(self.location.table)
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
    """The module, which writes a log to standard error by default.

    Raises :class:`~commonplace.errors.IndexUnavailableError` in a child that was forked after it
    had been imported: its threads do not run there, and the child would be killed by a signal.
    """
    if _LOADED_BY.setdefault("lancedb", os.getpid()) != os.getpid():
        raise IndexUnavailableError(
            "LanceDB was loaded before this process was forked, and does not work in it",
            hint="open the memory after the fork, or start processes by `spawn`",
        )
    os.environ.setdefault("LANCEDB_LOG", "off")
    if "lancedb" not in sys.modules:
        with _checks_made_at_first_use():
            import lancedb
    import lancedb

    return lancedb


@contextmanager
def _checks_made_at_first_use() -> Iterator[None]:
    """Let pydantic make the checks of a function's arguments when it is first called.

    LanceDB imports a client of a service with hundreds of functions, which are hardly ever called:
    to make their checks takes a third of the import.
    """
    try:
        pydantic: Any = import_module("pydantic")
        made_at_once = pydantic.validate_call
    except (ImportError, AttributeError):  # then LanceDB does without it
        yield
        return

    def validate_call(*function: Any, config: Any = None, **options: Any) -> Any:
        late = {**(config or {}), "defer_build": True}
        return made_at_once(*function, config=late, **options)

    pydantic.validate_call = validate_call
    try:
        yield
    finally:
        pydantic.validate_call = made_at_once


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
