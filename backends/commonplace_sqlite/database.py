"""The index file of a store: its reader, its writer, and what happens when SQLite fails."""

from __future__ import annotations

import os
import time
from _thread import TIMEOUT_MAX, RLock, allocate_lock  # threading takes a millisecond to import
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import apsw

from commonplace.plugin import (
    DeadlineExceededError,
    IndexCorruptError,
    IndexNewerError,
    IndexReadOnlyError,
    IndexUnavailableError,
    begin_in_children,
)
from commonplace_sqlite import failures, schema
from commonplace_sqlite.connection import (
    UnfitError,
    abandon,
    adopt,
    beyond_repair,
    log_size,
    mark_as_ours,
    open_for_reading,
    open_for_writing,
    refuse_foreign,
    transaction,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.plugin import Deadline, Lease
    from commonplace_sqlite.connection import Access


_REPAIR_WAIT_SECONDS = 30.0

_STEPS_PER_CHECK = 4_000  # SQLite instructions between two checks of a deadline: some 0.4 ms

_OF_THE_CONNECTION = (*failures.DAMAGE, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError)


class _Handle:
    """A connection, opened when first needed and for each new file; ``access`` is how it was."""

    def __init__(
        self, path: str, open_: Callable[[], tuple[apsw.Connection, Access] | None]
    ) -> None:
        self._path = path
        self._open = open_
        self._connection: apsw.Connection | None = None
        self._stamp: tuple[int, ...] | None = None
        self.file: tuple[int, ...] | None = None  # that which was opened last
        self.access: Access = "write"
        begin_in_children(self)

    def get(self) -> apsw.Connection | None:
        """A connection to the file at the path; ``None`` if a reader finds none.

        Raises what the function that opens it raises.
        """
        if self._connection is not None:
            if stamp_of(self._path, frozen=self.access == "frozen") == self._stamp:
                return self._connection
            self.abandon()
        before = stamp_of(self._path)
        opened = self._open()
        if opened is not None:
            self._connection, self.access = opened
            adopt(self._connection)
            after = stamp_of(self._path, frozen=self.access == "frozen")
            self.file = before or stamp_of(self._path)
            # Replaced meanwhile it is opened again by the next call.
            self._stamp = after if stamp_of(self._path) == self.file else None
        return self._connection

    def abandon(self) -> None:
        """Close the connection without writing the log back."""
        abandon(self._connection)
        self._connection = None

    def begin(self) -> None:
        """Begin without a connection in a forked child, where its parent's locks nothing."""
        with suppress(apsw.Error):
            if self._connection is not None and not self._connection.in_transaction:
                self.abandon()  # else it is kept: to close it would undo what the parent writes
        self._connection = None

    def close(self) -> None:
        """Close the connection; the last connection to a file writes its log back."""
        if self._connection is not None:
            self._connection.close(True)
            self._connection = None


class Database:
    """One connection for reading and one for writing.

    Readers see the last commit, also while the writer is at work. A file that is damaged, or of an
    older version, is first repaired or migrated, under the writer lease. If nothing can be written
    and there is no index to read, a database in memory replaces the file until the process ends.
    """

    def __init__(self, path: str, *, vfs: str = "", busy_ms: int = 5_000) -> None:
        # Of a link the log and the lock lie beside its target, as SQLite has it.
        path = self.path = os.path.realpath(path) if os.path.exists(path) else os.path.abspath(path)
        self._made_lease: Lease | None = None
        self._reader = _Handle(path, lambda: open_for_reading(path, vfs=vfs, busy_ms=busy_ms))
        self._writer = _Handle(path, lambda: open_for_writing(path, vfs=vfs, busy_ms=busy_ms))
        self.begin()
        begin_in_children(self)
        self._busy_seconds = busy_ms / 1000
        self._memory: apsw.Connection | None = None
        self._closed, self._damage, self._unwritable = False, "", ""
        self._damaged_file: tuple[int, ...] | None = None
        self._repairs: list[str] = []

    def begin(self) -> None:
        """Begin with no lock held, in a forked child too."""
        self._lease_lock = allocate_lock()
        self.undivided = self._writing, self._lock = RLock(), allocate_lock()

    def _damage_now(self) -> str:
        """What is wrong with the file at the path, as far as is known; ``""`` for nothing.

        Damage is that of one file: it is forgotten where another process has replaced that one.
        """
        if self._damage and self._damaged_file != stamp_of(self.path):
            self._damage = ""
        return self._damage

    @property
    def lease(self) -> Lease:
        """The writer lease, made at its first use: a search that writes nothing needs none."""
        with self._lease_lock:
            if self._made_lease is None:
                from commonplace.plugin import Lease

                self._made_lease = Lease(f"{self.path}.lock")
            return self._made_lease

    @property
    def in_memory(self) -> bool:
        """Whether the index is kept in memory alone."""
        return self._memory is not None

    @property
    def writable(self) -> bool:
        """Whether documents can be put into the index, as far as is known."""
        return self.in_memory or not (self._unwritable or self._reader.access != "write")

    @property
    def notices(self) -> tuple[str, ...]:
        """Problems and repairs, one line each."""
        if self.in_memory:
            return (*self._repairs, f"the index is lost when this process ends: {self._unwritable}")
        if self.writable and os.path.exists(self.path):
            return tuple(self._repairs)
        return (*self._repairs, *failures.notices(self.path, self.writable, self._unwritable))

    def set_aside(self) -> str:
        """Rename the file as if it were damaged, and create an empty one; returns a message.

        Raises what :meth:`session` raises.
        """
        with self.session(_REPAIR_WAIT_SECONDS):
            self._note_damage(self._damage_now() or "found damaged by a check", stamp_of(self.path))
            self._writable()
        return self._repairs[-1]

    @contextmanager
    def reading(self, deadline: Deadline | None = None) -> Iterator[apsw.Connection | None]:
        """A connection in a transaction that reads one state of the index; ``None`` without one.

        Raises :class:`~commonplace.errors.UnavailableError` in place of SQLite's errors.
        """
        with ExitStack() as stack:
            stack.enter_context(self._locked(deadline))
            try:
                connection = self._readable()
            except UnfitError:
                stack.close()
                with self.session(self._busy_seconds):
                    pass  # repairs the file
                stack.enter_context(self._locked(deadline))
                with beyond_repair(self.path):
                    connection = self._readable()
            if connection is None:
                yield None
                return
            limited = deadline is not None and deadline.remaining() != float("inf")
            with self._failures(self._reader):
                if limited and deadline is not None:
                    connection.set_progress_handler(lambda: deadline.expired, _STEPS_PER_CHECK)
                try:
                    connection.execute("BEGIN")
                    yield connection
                finally:
                    if limited:
                        connection.set_progress_handler(None)
                    # Rolled back, a table in temp would be made for each look-up.
                    for end in ("COMMIT", "ROLLBACK"):
                        with suppress(apsw.Error):
                            if connection.in_transaction:
                                connection.execute(end)

    @contextmanager
    def session(self, wait: float) -> Iterator[bool]:
        """Hold the writer lease, with a file that can be written; yields whether it is outermost.

        Waits up to ``wait`` seconds, then raises :class:`~commonplace.errors.IndexBusyError`; other
        :class:`~commonplace.errors.IndexUnavailableError` if the file cannot be written, and
        :class:`~commonplace.errors.CallerError` if it is not ours.
        """
        give_up = time.monotonic() + wait
        self._check_open()
        with self.lease.threads(wait) as outermost, ExitStack() as stack:
            self._check_open()
            if not self.in_memory:
                if outermost:
                    refuse_foreign(self.path)
                try:
                    if outermost:
                        if not os.path.isdir(folder := os.path.dirname(self.path)):
                            from commonplace.plugin import make_private_folder

                            make_private_folder(folder)
                        stack.enter_context(self.lease.processes(give_up - time.monotonic()))
                        mark_as_ours(self.lease.descriptor)
                    self._writable()
                    self._forget_read_only()
                except (OSError, apsw.Error) as error:
                    stack.close()
                    self._fall_back_to_memory(error)
            yield outermost

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """A connection in a transaction, which is committed at the end unless there is an error.

        Raises :class:`~commonplace.errors.CallerError` outside of :meth:`session`, and
        :class:`~commonplace.errors.UnavailableError` in place of SQLite's errors.
        """
        self._check_open()
        self.lease.check()
        with ExitStack() as stack:
            stack.enter_context(self._locked() if self.in_memory else self._writing)
            try:
                connection = self._memory or self._writable()
            except (OSError, apsw.Error) as error:
                raise failures.translate(error, self.path) from error
            stack.enter_context(self._failures(self._writer))
            stack.enter_context(transaction(connection))
            yield connection

    def tidy(self, written: int, seconds: float) -> None:
        """Run the maintenance due after a session of ``seconds`` that put ``written`` chunks."""
        from commonplace_sqlite.maintenance import tidy

        if not self.in_memory and not self._closed:
            with suppress(IndexUnavailableError, OSError, apsw.Error), self._writing:
                tidy(self._writable(), written, seconds)

    def close(self) -> None:
        """Close all connections; the last one to close the file writes its log back."""
        with self._locked():
            self._closed = True
            for connection in (self._reader, self._writer, self._memory):
                # Nothing is lost if this fails: the log stays, and the next connection reads it.
                with suppress(apsw.Error):
                    if connection is not None:
                        connection.close()
            self._memory = None

    @contextmanager
    def _locked(self, deadline: Deadline | None = None) -> Iterator[None]:
        """Keep other threads away from the reader, and from the database in memory.

        Raises :class:`~commonplace.errors.DeadlineExceededError` if that takes too long.
        """
        timeout = -1.0
        if deadline is not None:
            deadline.check("the search of the index")
            timeout = min(deadline.remaining(), TIMEOUT_MAX)
        if not self._lock.acquire(timeout=timeout):
            raise DeadlineExceededError("the index was busy with other searches for too long")
        try:
            yield
        finally:
            self._lock.release()

    def _readable(self) -> apsw.Connection | None:
        self._check_open()
        if self._memory is not None:
            return self._memory
        if self._damage_now():
            raise UnfitError(self._damage)
        with self._failures(self._reader):
            try:
                return self._reader.get()
            except apsw.Error as error:
                if failures.is_forbidden(error, self.path):
                    raise UnfitError("not accessible to this process") from error
                raise

    def _writable(self) -> apsw.Connection:
        """The writer's connection; a file that cannot be used is set aside."""
        if self._damage_now():
            self._set_aside(self._damage)
        try:
            connection = self._writer.get()
        except UnfitError as unfit:
            self._set_aside(str(unfit))
            with beyond_repair(self.path):
                connection = self._writer.get()
        assert connection is not None, "a writer creates the file"
        return connection

    def _forget_read_only(self) -> None:
        """Forget that the file could not be written, now that it can be."""
        if self._unwritable or self._reader.access != "write":
            with self._locked():
                self._reader.abandon()
                self._reader.access = "write"
                self._unwritable = ""

    def _set_aside(self, reason: str) -> None:
        from commonplace_sqlite.checking import damaged_indexes

        with self._locked():
            self._reader.abandon()
            self._writer.abandon()
            target = damaged_indexes(self.path).set_aside()
            self._damage = ""
            self._repairs.append(f"the index was {reason}: it was set aside as {target}")

    @contextmanager
    def _failures(self, handle: _Handle) -> Iterator[None]:
        """Translate SQLite's errors, and close a connection that they make useless."""
        try:
            yield
        except IndexCorruptError:
            self._note_damage("damaged (its parts do not fit together)", handle.file)
            raise
        except (apsw.Error, *failures.UNREADABLE) as error:
            if not self.in_memory:
                if isinstance(error, (*failures.DAMAGE, *failures.UNREADABLE)):
                    self._note_damage(f"damaged ({error})", handle.file)
                if isinstance(error, apsw.ReadOnlyError):
                    self._unwritable = str(error)
                if isinstance(error, _OF_THE_CONNECTION):
                    # The next connection may be able to use the file; this one never will.
                    handle.abandon()
            raise failures.translate(error, self.path) from error

    def _note_damage(self, reason: str, file: tuple[int, ...] | None) -> None:
        self._damage, self._damaged_file = reason, file

    def _fall_back_to_memory(self, error: OSError | apsw.Error) -> None:
        """Keep the index in memory if nothing can be written or read; else raise what fits."""
        if not failures.is_forbidden(error, self.path):
            raise failures.translate(error, self.path) from error
        with self._locked():
            try:
                readable = self._readable() is not None
            except IndexNewerError:
                raise
            except (UnfitError, IndexUnavailableError):
                readable = False
            self._unwritable = f"{self.path} cannot be written ({failures.reason_of(error)})"
            if readable:
                raise IndexReadOnlyError(
                    f"the index {self._unwritable}", hint="make the file and its folder writable"
                ) from error
            self._reader.abandon()
            self._memory = apsw.Connection(":memory:")
            schema.create(self._memory)

    def _check_open(self) -> None:
        if self._closed:
            raise failures.translate(apsw.ConnectionClosedError(), self.path)


def stamp_of(path: str, *, frozen: bool = False) -> tuple[int, ...] | None:
    """A value that changes when another file replaces this one; ``None`` if there is no file.

    With ``frozen`` it changes with any change of the file, which SQLite then does not notice.
    """
    try:
        stat = os.stat(path)
    except OSError:
        return None
    content = (stat.st_size, stat.st_mtime_ns, log_size(path)) if frozen else ()
    return stat.st_dev, stat.st_ino, *content
