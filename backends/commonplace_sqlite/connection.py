"""A connection to an index file: recognising the file and its log, opening it, transactions."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager, suppress
from stat import S_ISREG
from typing import TYPE_CHECKING, Literal

import apsw

from commonplace.plugin import (
    CallerError,
    IndexCorruptError,
    IndexUnavailableError,
)
from commonplace_sqlite import schema
from commonplace_sqlite.failures import DAMAGE, refuse_newer
from commonplace_sqlite.schema import RESERVED, checked_vfs, reserve

if TYPE_CHECKING:
    from collections.abc import Iterator


Access = Literal["write", "read", "frozen"]
"""How a file is opened: to write, to read, or as one that no process changes."""

Condition = Literal["empty", "current", "older", "newer", "foreign", "incomplete"]
"""What a file is; all but ``current`` are recognised without write access."""

_READER_CACHE_KIB = 16_384
_WRITER_CACHE_KIB = 16_384
_LOG_KEPT_BYTES = 16 * 1024 * 1024

_MARK = b" commonplace index\n"
"""Stands in the lock file of an index. Of the first byte Windows lets only its locker read."""

_FORMAT = b"SQLite format 3\0"
_OURS = schema.APPLICATION_ID.to_bytes(4, "big")

_CONDITIONS: dict[str, str] = {
    "foreign": "not written by commonplace",
    "incomplete": "without some of its tables",
    "older": "of an older version",
}
_HINDRANCES = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError)


class UnfitError(Exception):
    """A file cannot be used; ``str()`` completes the sentence "the index was ..."."""

    def __init__(self, what: Condition | str) -> None:
        super().__init__(_CONDITIONS.get(what, what))


def open_file(path: str, access: Access, *, vfs: str, busy_ms: int) -> apsw.Connection:
    """Open a file that is there. Closing it leaves it as it is, until :func:`adopt` is called.

    Raises :class:`UnfitError` for what is no SQLite database, else ``apsw.Error``.
    """
    flags = apsw.SQLITE_OPEN_READWRITE if access == "write" else apsw.SQLITE_OPEN_READONLY
    name = os.path.realpath(path)  # of a link SQLite's answer is taken for an error by apsw
    if access == "frozen":
        flags |= apsw.SQLITE_OPEN_URI
        name = frozen_uri(name)
    connection = apsw.Connection(name, flags=flags, vfs=checked_vfs(vfs))
    try:
        connection.set_busy_timeout(busy_ms)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        # No mmap: keyword queries measured the same with it (warm 3.2 ms against 3.0, a process
        # 24 ms against 21), and a disk that fails would then end the process instead of one call.
        connection.pragma("cache_size", -_READER_CACHE_KIB)
        connection.pragma("synchronous", "NORMAL")
    except DAMAGE as error:
        connection.close(True)
        raise UnfitError(_without_checksums(path) or f"damaged ({error})") from error
    except BaseException:
        connection.close(True)
        raise
    return connection


def open_readable(
    path: str, *, vfs: str, busy_ms: int
) -> tuple[apsw.Connection, Access, Condition]:
    """Open a file in the first way in which it can be read.

    Raises what :func:`open_file` and :func:`condition_of` do.
    Where neither the file nor its folder can be written, a file with nothing in its log can still
    be read as one that no process changes.
    """
    failure: apsw.Error | None = None
    ways: tuple[Access, ...] = ("write", "read", "frozen")
    for access in ways[: 2 if log_size(path) else 3]:
        connection = None
        try:
            connection = open_file(path, access, vfs=vfs, busy_ms=busy_ms)
            condition = condition_of(connection, path)
        except _HINDRANCES as error:
            abandon(connection)
            failure = failure or error
        except BaseException:
            abandon(connection)
            raise
        else:
            fallen_back = access == "write" and connection.readonly("main")
            return connection, "read" if fallen_back else access, condition
    assert failure is not None, "a loop that ends without an answer ends with a failure"
    raise failure


def tune_for_writing(connection: apsw.Connection, *, new: bool) -> None:
    """Set how ``connection`` writes; ``new`` where the file is still empty."""
    if new:
        reserve(connection)
        # Pages that a dropped build leaves can be given back without copying the whole file.
        connection.pragma("auto_vacuum", "INCREMENTAL")
    connection.pragma("journal_mode", "WAL")
    connection.pragma("journal_size_limit", _LOG_KEPT_BYTES)
    connection.pragma("cache_size", -_WRITER_CACHE_KIB)
    connection.pragma("temp_store", "MEMORY")


def condition_of(connection: apsw.Connection, path: str) -> Condition:
    """What kind of file this is, by its header, schema and size alone.

    Raises :class:`UnfitError` if they cannot be read, else ``apsw.Error``.
    """
    try:
        # In one state: between two, another process may begin a build.
        connection.execute("BEGIN")
        try:
            condition = _look(connection)
        finally:
            roll_back(connection)
        if condition == "current" and log_size(path) and log_is_behind(connection, path):
            raise UnfitError("damaged (its log lacks what was written back from it)")
    except DAMAGE as error:
        raise UnfitError(_without_checksums(path) or f"damaged ({error})") from error
    # SQLite notices missing pages, but not half a one. While there is a log it may be in there.
    if not log_size(path) and size_of(path) % connection.pragma("page_size"):
        raise UnfitError("damaged (cut short)")
    return condition


def _without_checksums(path: str) -> Condition | None:
    """Why a file has no checksums of ours: another program made it, or an older version."""
    with suppress(OSError):
        header = _header_of(path)
        if header.startswith(_FORMAT) and header[20] != RESERVED:
            return "older" if header[68:72] == _OURS else "foreign"
    return None


def _header_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(100)


def refuse_foreign(path: str) -> None:
    """Raise :class:`~commonplace.errors.CallerError` for a file that never was an index of ours.

    Setting it aside would take it from the user. Ours is what is marked in its header or, where
    that is damaged, in the lock file beside it: that is marked where there is an index or nothing.
    """
    if not os.path.isfile(path) or not size_of(path):
        return
    try:
        header = _header_of(path)
    except OSError:  # what may not be read is not moved either
        return
    if header.startswith(_FORMAT) and header[68:72] == _OURS:
        return
    if os.path.isfile(f"{path}.lock"):
        with suppress(OSError), open(f"{path}.lock", "rb", buffering=0) as lock:
            lock.seek(1)
            if lock.read(len(_MARK)) == _MARK[1:]:
                return
    raise CallerError(
        f"{path} is not an index of commonplace: it is left as it is",
        hint="set store.path (memory.search.store.path) to a path where no file is yet; "
        "if this is a damaged index, delete it",
    )


def mark_as_ours(lock: int | None) -> None:
    """Mark the lock file that is open as ``lock``: the file beside it is, or will be, ours."""
    with suppress(OSError):  # on a full disk the header alone tells
        if lock is not None and not os.fstat(lock).st_size:
            os.write(lock, _MARK)


def _look(connection: apsw.Connection) -> Condition:
    application = connection.pragma("application_id")
    version = connection.pragma("user_version")
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    if application != schema.APPLICATION_ID:
        return "foreign" if application or version or names else "empty"
    if version != schema.VERSION:
        return "newer" if version > schema.VERSION else "older"
    if not names.issuperset(schema.FILE_TABLES):
        return "incomplete"
    expected = {
        schema.of_build(table, int(str(build)))
        for (build,) in connection.execute("SELECT id FROM build")
        for table in schema.BUILD_TABLES
    }
    return "current" if expected <= names else "incomplete"


def adopt(connection: apsw.Connection) -> None:
    """Accept the file as an index: the last connection to close it writes its log back."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def abandon(connection: apsw.Connection | None) -> None:
    """Close ``connection`` and leave its file as it is, whatever state it is in."""
    if connection is not None:
        with suppress(apsw.Error):
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        with suppress(apsw.Error):
            connection.close(True)


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Commit what is written inside, all of it or, after an error, nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute(schema.COUNT_COMMIT)
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def roll_back(connection: apsw.Connection) -> None:
    """End the transaction, if SQLite has not ended it by itself."""
    with suppress(apsw.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def frozen_uri(path: str) -> str:
    """The URI by which SQLite reads ``path`` alone, as a file that no process changes."""
    quoted = path.replace("\\", "/").replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{'' if quoted.startswith('/') else '/'}{quoted}?immutable=1"


def log_is_behind(connection: apsw.Connection, path: str) -> bool:
    """Whether the log of the file at ``path`` lacks what was written back from it.

    SQLite takes a log that is cut or damaged for one that ends there. Pages that were written back
    from what followed are then newer than those in the log: together they are no state of the
    index. Each transaction is counted, so the file alone must not be further than with its log.
    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        file = apsw.Connection(frozen_uri(path), flags=flags, vfs=connection.open_vfs)
        with closing(file) as alone:
            written_back: int = alone.execute(schema.COMMITS).get or 0
    except apsw.Error:
        return False  # it was only just begun, or another process is writing it back
    together: int = connection.execute(schema.COMMITS).get or 0
    return written_back > together


def make_file(path: str) -> None:
    """Create an empty file for its owner alone, unless it exists. Raises ``OSError``.

    A file that is there is not opened: closed again, this process would lose its locks on it.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    try:
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)  # as above
    finally:
        os.close(descriptor)


def log_size(path: str) -> int:
    """Bytes in the write-ahead log of ``path``; 0 where there is none."""
    return size_of(f"{path}-wal")


def size_of(path: str) -> int:
    """Bytes in ``path``; 0 where there is no such file."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _is_there(path: str) -> bool:
    """Whether there is a file; raises for a link to nowhere, and for what is none, as a pipe."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        if os.path.islink(path) and not os.path.lexists(target := os.path.realpath(path)):
            raise IndexUnavailableError(
                f"the index {path} is a link to {target}, which is not there",
                hint="mount the disk that it is on, or delete the link",
            ) from None
        return False
    if not S_ISREG(mode):
        raise IndexUnavailableError(
            f"the index {path} is not a regular file",
            hint="delete what is there, or set store.path to another path",
        )
    return True


def open_for_reading(path: str, *, vfs: str, busy_ms: int) -> tuple[apsw.Connection, Access] | None:
    """Open a file of the current schema; ``None`` if there is no file, or an empty one.

    Raises :class:`UnfitError` for a file that must be repaired or migrated first,
    :class:`~commonplace.errors.IndexUnavailableError` for what cannot be one, and ``apsw.Error``.
    """
    if not _is_there(path):
        return None
    connection, access, condition = open_readable(path, vfs=vfs, busy_ms=busy_ms)
    if condition == "current":
        return connection, access
    abandon(connection)
    refuse_newer(condition, path)
    if condition == "empty":
        return None
    raise UnfitError(condition)


def open_for_writing(path: str, *, vfs: str, busy_ms: int) -> tuple[apsw.Connection, Access]:
    """Open a file of the current schema, which is created or migrated if need be.

    For holders of the writer lease. Raises :class:`UnfitError` for a file that must be set aside
    first, :class:`~commonplace.errors.IndexUnavailableError`, ``OSError`` and ``apsw.Error``.
    """
    _is_there(path)  # raises
    make_file(path)
    connection = open_file(path, "write", vfs=vfs, busy_ms=busy_ms)
    try:
        _make_current(connection, path)
    except BaseException:
        abandon(connection)
        raise
    return connection, "write"


def _make_current(connection: apsw.Connection, path: str) -> None:
    condition = condition_of(connection, path)
    refuse_newer(condition, path)
    too_old = condition == "older" and connection.pragma("user_version") < schema.FIRST_VERSION
    if too_old or condition in {"foreign", "incomplete"}:
        raise UnfitError(condition)
    if connection.readonly("main"):
        raise apsw.ReadOnlyError("the file is read-only")
    tune_for_writing(connection, new=condition == "empty")
    if condition == "current":
        return
    try:
        with transaction(connection):
            if condition == "older":
                schema.migrate(connection)
            else:
                schema.create(connection)
    except (apsw.SQLError, apsw.ConstraintError) as error:
        raise UnfitError(f"of a version that cannot be migrated ({error})") from error


@contextmanager
def beyond_repair(path: str) -> Iterator[None]:
    """Report a new file that cannot be used either."""
    try:
        yield
    except UnfitError as unfit:
        raise IndexCorruptError(
            f"the index {path} is {unfit}, and so is the one created in its place",
            hint="check the disk, and that nothing else writes to this file",
        ) from unfit
