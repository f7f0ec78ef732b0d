"""The index file of a store: who may read and write it, and what happens when that fails."""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import apsw

from commonplace.plugin import (
    DeadlineExceededError,
    IndexCorruptError,
    IndexNewerError,
    IndexReadOnlyError,
    IndexUnavailableError,
    Lease,
    make_private_folder,
)
from commonplace_sqlite import schema
from commonplace_sqlite.connection import Handle, UnfitError, limit_time, roll_back, transaction
from commonplace_sqlite.errors import DAMAGE, closed, is_forbidden, reason_of, translate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.plugin import Deadline, Holder

__all__ = ["Database"]

_PATIENCE_SECONDS = 30.0

_OF_THE_CONNECTION = (*DAMAGE, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError)


class Database:
    """One connection for reading and one for writing.

    Readers see what was last committed, also while the writer is at work. A file that is damaged,
    or of an older version, is seen to under the writer lease before anything else happens. Where
    nothing can be written and nothing is there to be read, a database in memory takes the place of
    the file for the rest of the process.
    """

    def __init__(self, path: str, *, vfs: str = "", busy_ms: int = 5_000) -> None:
        self.path = os.path.abspath(path)
        self._lease = Lease(f"{self.path}.lock")
        self._lock = threading.Lock()
        self._reader = Handle(self.path, vfs=vfs, busy_ms=busy_ms)
        self._writer = Handle(self.path, vfs=vfs, busy_ms=busy_ms)
        self._busy_seconds = busy_ms / 1000
        self._memory: apsw.Connection | None = None
        self._closed = False
        self._damage = ""
        self._unwritable = ""
        self._mended: list[str] = []

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
        """What is not as it should be, or was mended, in lines for people."""
        notices = list(self._mended)
        if self.in_memory:
            notices.append(f"the index is lost with this process: {self._unwritable}")
        elif not self.writable:
            reason = self._unwritable or f"{self.path} is read-only"
            notices.append(f"the index cannot be kept up to date: {reason}")
        elif not os.path.exists(self.path) and (barred := _barred_folder(self.path)):
            notices.append(f"the index cannot be made: {barred} cannot be written")
        return tuple(notices)

    def holder(self) -> Holder | None:
        """Who writes the file just now; ``None`` where nobody does, or nobody says so."""
        return self._lease.holder()

    def set_aside(self) -> str:
        """Begin with an empty file in place of this one, as if it were damaged; says where it is.

        Raises what :meth:`session` does.
        """
        with self.session(_PATIENCE_SECONDS):
            self._damage = self._damage or "found damaged by a check"
            self._writable()
        return self._mended[-1]

    def writing_elsewhere(self) -> tuple[str, ...]:
        """A line on who else writes the file just now, if somebody does."""
        return self._lease.notices()

    @contextmanager
    def reading(self, deadline: Deadline | None = None) -> Iterator[apsw.Connection | None]:
        """A connection that shows one unchanging state of the index; ``None`` if there is none.

        Raises :class:`~commonplace.errors.UnavailableError` in place of SQLite's errors.
        """
        with ExitStack() as stack:
            stack.enter_context(self._locked(deadline))
            try:
                connection = self._readable()
            except UnfitError:
                stack.close()
                with self.session(self._busy_seconds):
                    pass
                stack.enter_context(self._locked(deadline))
                connection = self._readable_again()
            if connection is None:
                yield None
                return
            with self._failures(self._reader):
                limit_time(connection, deadline)
                try:
                    connection.execute("BEGIN")
                    yield connection
                finally:
                    limit_time(connection, None)
                    roll_back(connection)

    @contextmanager
    def session(self, wait: float) -> Iterator[bool]:
        """Hold the writer lease, with a file that can be written; tells whether it is outermost.

        Waits up to ``wait`` seconds, then raises :class:`~commonplace.errors.IndexBusyError`; other
        :class:`~commonplace.errors.IndexUnavailableError` where the file cannot be written.
        """
        give_up = time.monotonic() + wait
        self._check_open()
        with self._lease.threads(wait) as outermost, ExitStack() as stack:
            self._check_open()
            if not self.in_memory:
                try:
                    if outermost:
                        make_private_folder(os.path.dirname(self.path))
                        stack.enter_context(self._lease.processes(give_up - time.monotonic()))
                    self._writable()
                    self._well_again()
                except (OSError, apsw.Error) as error:
                    stack.close()
                    self._give_way(error)
            yield outermost

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """A connection in a transaction, which is committed at the end unless there is an error.

        Raises :class:`~commonplace.errors.CallerError` outside of :meth:`session`, and
        :class:`~commonplace.errors.UnavailableError` in place of SQLite's errors.
        """
        self._check_open()
        self._lease.check()
        with ExitStack() as stack:
            if self.in_memory:
                stack.enter_context(self._locked())
            try:
                connection = self._memory or self._writable()
            except (OSError, apsw.Error) as error:
                raise translate(error, self.path) from error
            stack.enter_context(self._failures(self._writer))
            stack.enter_context(transaction(connection))
            yield connection

    def tidy(self, written: int, seconds: float) -> None:
        """Look after the file after a session of ``seconds`` that put ``written`` chunks."""
        from commonplace_sqlite.maintenance import tidy

        if not self.in_memory and not self._closed:
            with suppress(IndexUnavailableError, OSError, apsw.Error):
                tidy(self._writable(), written, seconds)

    def close(self) -> None:
        """Close all connections; the last one to close the file writes its log back."""
        with self._locked():
            self._closed = True
            for connection in (self._reader, self._writer, self._memory):
                # Nothing is lost where this fails: the log stays, and is read by the next one.
                with suppress(apsw.Error):
                    if connection is not None:
                        connection.close()
            self._memory = None

    @contextmanager
    def _locked(self, deadline: Deadline | None = None) -> Iterator[None]:
        """Keep other threads away from the reader, and from the database in memory.

        Raises :class:`~commonplace.errors.DeadlineExceededError` where that takes too long.
        """
        timeout = -1.0
        if deadline is not None:
            deadline.check("the search of the index")
            timeout = min(deadline.remaining(), threading.TIMEOUT_MAX)
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
        if self._damage:
            raise UnfitError(self._damage)
        with self._failures(self._reader):
            try:
                return self._reader.reading()
            except apsw.Error as error:
                if is_forbidden(error, self.path):
                    raise UnfitError("out of reach for this process") from error
                raise

    def _readable_again(self) -> apsw.Connection | None:
        try:
            return self._readable()
        except UnfitError as unfit:
            raise self._hopeless(unfit) from unfit

    def _writable(self) -> apsw.Connection:
        """The writer's connection; what stands in its way is set aside."""
        if self._damage:
            self._set_aside(self._damage)
        try:
            return self._writer.writing()
        except UnfitError as unfit:
            self._set_aside(str(unfit))
        try:
            return self._writer.writing()
        except UnfitError as unfit:
            raise self._hopeless(unfit) from unfit

    def _well_again(self) -> None:
        """Forget that the file could not be written, now that it can be."""
        if self._unwritable or self._reader.access != "write":
            with self._locked():
                self._reader.abandon()
                self._reader.access = "write"
                self._unwritable = ""

    def _set_aside(self, unfit: str) -> None:
        from commonplace_sqlite.checking import set_aside

        with self._locked():
            self._reader.abandon()
            self._writer.abandon()
            target = set_aside(self.path)
            self._damage = ""
            self._mended.append(f"the index was {unfit}: it was set aside as {target}")

    @contextmanager
    def _failures(self, part: Handle) -> Iterator[None]:
        """Translate SQLite's errors, and give up a connection that they make useless."""
        try:
            yield
        except apsw.Error as error:
            if not self.in_memory:
                if isinstance(error, DAMAGE):
                    self._damage = f"damaged ({error})"
                if isinstance(error, apsw.ReadOnlyError):
                    self._unwritable = str(error)
                if isinstance(error, _OF_THE_CONNECTION):
                    # The file may be well again for the next connection, never for this one.
                    part.abandon()
            raise translate(error, self.path) from error

    def _give_way(self, error: OSError | apsw.Error) -> None:
        """Go on in memory where nothing may be written nor can be read; else raise what fits."""
        if not is_forbidden(error, self.path):
            raise translate(error, self.path) from error
        with self._locked():
            try:
                there = self._readable() is not None
            except IndexNewerError:
                raise
            except (UnfitError, IndexUnavailableError):
                there = False
            self._unwritable = f"{self.path} cannot be written ({reason_of(error)})"
            if there:
                raise IndexReadOnlyError(
                    f"the index {self._unwritable}", hint="make the file and its folder writable"
                ) from error
            self._reader.abandon()
            self._memory = apsw.Connection(":memory:")
            schema.create(self._memory)

    def _hopeless(self, unfit: UnfitError) -> IndexCorruptError:
        return IndexCorruptError(
            f"the index {self.path} is {unfit}, and so is the one made in its place",
            hint="check the disk, and that nothing else writes to this file",
        )

    def _check_open(self) -> None:
        if self._closed:
            raise closed(self.path)


def _barred_folder(path: str) -> str:
    """What forbids this process to make ``path``: a folder above, or ``""`` where nothing does."""
    above = os.path.dirname(path)
    while not os.path.lexists(above) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    return "" if os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK) else above
