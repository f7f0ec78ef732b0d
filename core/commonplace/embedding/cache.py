"""The embedding cache: vectors by the exact text they were made of, in a file of its own."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from commonplace.dirs import make_private_folder
from commonplace.resilience import begin_in_children

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS embedding (
    fingerprint TEXT NOT NULL,
    digest BLOB NOT NULL,
    vector BLOB NOT NULL,
    used_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, digest, bytes)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS embedding_by_use ON embedding (used_at);
"""
_GROUP = 400
_VERSION = 2
_MOST_FAULTS = 5


class _OlderError(Exception):
    """The file is of an older version, whose vectors are not taken over: it is begun again."""


class _NewerError(Exception):
    """The file is of a newer version, which may use it at the same time: it is left alone."""


_DAMAGE = (apsw.NotADBError, apsw.CorruptError, _OlderError)


def text_digest(text: str) -> bytes:
    """The SHA-256 of exactly the text that is sent, prompt prefix included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def cache_key(fingerprint: str, purpose: str) -> str:
    """The cache's key of a fingerprint: models embed queries and documents differently."""
    return f"{fingerprint}|{purpose}"


class EmbeddingCache:
    """Vectors keyed by (fingerprint, :func:`text_digest`); shared by backends, agents, processes.

    It keeps one of each length: a gateway may change between two models at one address.
    Only an accelerator: if its file fails, or is of a newer version, no vector is known or kept,
    and :attr:`trouble` has the reason. ``max_entries`` bounds it (``None``: no bound); the least
    recently used entries go first, reading counts as use.
    """

    def __init__(
        self, path: str, *, max_entries: int | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = path
        self.trouble = ""
        self._max_entries = max_entries
        self._clock = clock
        self._connection: apsw.Connection | None = None
        self._file: tuple[int, int] | None = None  # that was opened
        self._closed = False
        self.begin()
        begin_in_children(self)

    def begin(self) -> None:
        """Begin without a connection in a forked child, where that of its parent locks nothing."""
        with contextlib.suppress(apsw.Error):
            if self._connection is not None and not self._connection.in_transaction:
                self._connection.close()
        self._connection = None
        self._lock = threading.Lock()
        self.undivided = (self._lock,)

    def get(
        self, fingerprint: str, digests: Collection[bytes], *, dims: int | None = None
    ) -> dict[bytes, bytes]:
        """The vectors that are known, by digest; without ``dims`` those that were kept last."""
        wanted = list(dict.fromkeys(digests))

        def read(connection: apsw.Connection) -> dict[bytes, bytes]:
            vectors: dict[bytes, bytes] = {}
            for begin in range(0, len(wanted), _GROUP):
                group = wanted[begin : begin + _GROUP]
                marks = ",".join("?" * len(group))
                sql = f"SELECT digest, vector FROM embedding WHERE fingerprint = ?1 AND (?2 IS NULL OR bytes = ?2) AND digest IN ({marks}) ORDER BY used_at"  # noqa: S608, E501 - only marks
                size = None if dims is None else 4 * dims
                rows: Any = connection.execute(sql, (fingerprint, size, *group))
                vectors |= dict(rows)
            if vectors and self._max_entries is not None:
                self._touch(connection, fingerprint, vectors)
            return vectors

        return self._guarded(read, {})

    def put(self, fingerprint: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep ``vectors`` by digest, and drop the least recently used beyond the bound."""

        def write(connection: apsw.Connection) -> None:
            with connection:
                now = self._now(connection)
                connection.executemany(
                    "INSERT OR REPLACE INTO embedding VALUES (?, ?, ?, ?, ?)",
                    [(fingerprint, text, of, now, len(of)) for text, of in vectors.items()],
                )
                self._evict(connection)

        if vectors:
            self._guarded(write, None)

    def count(self) -> int:
        """How many vectors it holds; 0 too where its file cannot be read."""
        return self._guarded(
            lambda connection: int(connection.execute("SELECT count(*) FROM embedding").get), 0
        )

    def state(self) -> tuple[int, int]:
        """:meth:`count`, and when one was last used, in milliseconds: others when any were put.

        The number alone stays the same in a cache that is full.
        """
        sql = "SELECT count(*), ifnull(max(used_at), 0) FROM embedding"
        return self._guarded(lambda connection: connection.execute(sql).get, (0, 0))

    def faults(self) -> tuple[str, ...]:
        """What SQLite's own check finds wrong with its file; reads all of it.

        Nothing is found where the file is so damaged that it was thrown away: see :attr:`trouble`.
        """

        def check(connection: apsw.Connection) -> tuple[str, ...]:
            rows: Any = connection.execute(f"PRAGMA integrity_check({_MOST_FAULTS})").fetchall()
            return tuple(str(line) for (line,) in rows if line != "ok")

        return self._guarded(check, ())

    def discard(self) -> None:
        """Delete the file; it is filled again as texts are embedded."""
        with self._lock:
            self._discard()

    def close(self) -> None:
        """Let go of the file; closing twice is fine."""
        with self._lock:
            self._closed = True
            self._let_go()

    def _touch(
        self, connection: apsw.Connection, fingerprint: str, vectors: Mapping[bytes, bytes]
    ) -> None:
        # A file that cannot be written, as on a full disk, still answers, and its order of use
        # stays as it was.
        try:
            with connection:
                now = self._now(connection)
                connection.executemany(
                    "UPDATE embedding SET used_at = ?"
                    " WHERE fingerprint = ? AND digest = ? AND bytes = ?",
                    [(now, fingerprint, text, len(of)) for text, of in vectors.items()],
                )
        except _DAMAGE:
            raise
        except apsw.Error:
            pass

    def _evict(self, connection: apsw.Connection) -> None:
        if self._max_entries is None:
            return
        surplus = connection.execute("SELECT count(*) FROM embedding").get - self._max_entries
        if surplus > 0:
            connection.execute(
                "DELETE FROM embedding WHERE (fingerprint, digest, bytes) IN (SELECT"
                " fingerprint, digest, bytes FROM embedding ORDER BY used_at, digest LIMIT ?)",
                (surplus,),
            )

    def _now(self, connection: apsw.Connection) -> int:
        """The time in milliseconds; after the last use also where the clock was set back.

        What is put then would be the first to go, and be paid for again and again.
        """
        last = connection.execute("SELECT ifnull(max(used_at), 0) FROM embedding").get
        now = int(self._clock() * 1000)
        return now if now >= last else int(last) + 1

    def _guarded(self, work: Callable[[apsw.Connection], T], otherwise: T) -> T:
        """What ``work`` gives; a failure of the file becomes :attr:`trouble`."""
        with self._lock:
            try:
                connection = self._connected()
                result = otherwise if connection is None else work(connection)
            except _DAMAGE as error:
                # A cache that is damaged, or of an older version, is deleted, and filled again.
                self._say(error)
                if _file_id(self.path) == self._file:
                    self._discard()
                else:  # another process has done so, and that file may hold vectors again
                    self._let_go()
                return otherwise
            except (apsw.Error, OSError, _NewerError, UnicodeEncodeError) as error:
                # The last is of a path that SQLite, which wants UTF-8, cannot be given.
                self._say(error)
                return otherwise
            self.trouble = ""
            return result

    def _connected(self) -> apsw.Connection | None:
        if self._closed:
            return None
        if self._file is not None and _file_id(self.path) != self._file:
            self._let_go()  # deleted or replaced: what was put there would be lost
        if self._connection is None:
            if self.path != ":memory:":
                make_private_folder(os.path.dirname(self.path))
                with contextlib.suppress(OSError):  # so that no other user may ever read it
                    os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
                self._file = _file_id(self.path)
            self._connection = _open(self.path)
        return self._connection

    def _say(self, error: Exception) -> None:
        busy = isinstance(error, apsw.BusyError | apsw.LockedError)
        reason = "another process is writing it" if busy else str(error)
        self.trouble = f"the embedding cache {self.path} is not used: {reason}"

    def _let_go(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(apsw.Error):
                self._connection.close()
            self._connection = None

    def _discard(self) -> None:
        self._let_go()
        # The log first: left behind, it would be taken for that of the next file.
        for suffix in ("-wal", "-shm", ""):
            with contextlib.suppress(OSError):
                os.unlink(self.path + suffix)


def _open(path: str) -> apsw.Connection:
    try:
        connection = apsw.Connection(path)
    except apsw.CantOpenError:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.set_busy_timeout(2000)
        # A power cut may take the last vectors, which are embedded again, and damages nothing.
        connection.execute("PRAGMA synchronous = NORMAL")
        if not _is_current(connection) and not connection.readonly("main"):
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute("BEGIN IMMEDIATE")
            # Once more: another process may have made the table, and filled it, meanwhile.
            if not _is_current(connection):
                connection.execute("DROP TABLE IF EXISTS embedding")
                connection.execute(f"{_SCHEMA}; PRAGMA user_version = {_VERSION}")
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_current(connection: apsw.Connection) -> bool:
    """Whether its table is made. Raises :class:`_OlderError` and :class:`_NewerError`."""
    version = connection.execute("PRAGMA user_version").get
    if 0 < version < _VERSION:
        raise _OlderError("it was of an older version of commonplace, and is filled again")
    if version > _VERSION:
        raise _NewerError("it belongs to a newer version of commonplace")
    return bool(version == _VERSION)


def _file_id(path: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
