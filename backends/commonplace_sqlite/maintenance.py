"""Maintenance after a writer session, which keeps searches fast and the file small."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import apsw

from commonplace_sqlite.connection import transaction
from commonplace_sqlite.schema import VOCABULARY, live_build, of_build

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_sqlite.schema import LiveBuild


_LEAST_SECONDS = 0.1
_SHARE_OF_TIME = 2
"""Maintenance takes at most half as long as the session did, or this long."""

_MUCH = 400
"""Chunks; FTS5 merges fewer into its index by itself as time goes by."""

_LARGE_SHARE = 4
"""The index is merged into one piece where a quarter of it is new: syncs stay cheap as it grows."""

_MERGE_PAGES = 500
_MERGE = "INSERT INTO fts_<n> (fts_<n>, rank) VALUES ('merge', ?)"

_ROOM_SHARE = 48
"""A file has room for this share more than it holds. Documents that are replaced leave pages a
little less full than they were; with free ones to take, the file neither grows for that nor is cut
and lengthened again by every sync."""

_SHRUNK_SHARE = 8
"""The room is measured again once the file holds this share less than it has room for."""

_FREED_AT_ONCE = 256

_LEAST_CHUNKS = 500
"""In a smaller index it takes no time to count those of a term."""
_COMMON_SHARE = 0.05
_DRIFT = 0.1
_MOST_DRIFT = 0.5
_SECONDS_PER_CHUNK = 3e-6
_FILL = "INSERT INTO common_<n> SELECT term, doc FROM temp.vocabulary_<n> WHERE doc > ?"

_ROOM = "SELECT next FROM counter WHERE name = 'room'"
_NOTE_ROOM = """
INSERT INTO counter (name, next) VALUES ('room', ?)
ON CONFLICT (name) DO UPDATE SET next = excluded.next
"""
_TAKE_ROOM = """
CREATE TABLE room (pages BLOB);
INSERT INTO room VALUES (zeroblob(?));
DROP TABLE room;
"""


def tidy(
    connection: apsw.Connection,
    written: int,
    seconds: float = 0.0,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Refresh what is derived, merge what is scattered, give back what is free.

    ``written`` is how many chunks were put since the last time, ``seconds`` how long that took. No
    answer depends on any of this, so what cannot be done now (there is no time, the disk is full, a
    reader is in the way) is left for the next time.
    """
    until = clock() + max(_LEAST_SECONDS, seconds / _SHARE_OF_TIME)

    def left() -> float:
        return until - clock()

    much_is_new = False
    with suppress(apsw.Error):
        live = live_build(connection)
        if live is not None:
            with transaction(connection):
                refresh_common_terms(connection, live, seconds=left())
            if written >= max(_MUCH, live.chunks / _LARGE_SHARE):
                _merge(connection, live.id, written, left)
                much_is_new = True
        _fit(connection, left, lengthen=much_is_new)
        if written >= _MUCH:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def _merge(
    connection: apsw.Connection, build: int, written: int, left: Callable[[], float]
) -> None:
    merge = of_build(_MERGE, build)
    # The first step, with a negative number, asks for all segments to become one.
    pages = -_MERGE_PAGES
    for _ in range(2 + written // _MERGE_PAGES):
        before = connection.total_changes()
        with transaction(connection):
            connection.execute(merge, (pages,))
        done = connection.total_changes() - before < 2  # FTS5's sign that nothing is left to merge
        if done or left() <= 0:
            break
        pages = _MERGE_PAGES


def _fit(connection: apsw.Connection, left: Callable[[], float], *, lengthen: bool) -> None:
    """Give back the free pages that the file has no room for, or ``lengthen`` it to its room."""
    size = connection.pragma("page_count")
    used = size - connection.pragma("freelist_count")
    room: int = connection.execute(_ROOM).get or 0
    if not used <= room <= used + used // _SHRUNK_SHARE:
        room = used + used // _ROOM_SHARE
        with transaction(connection):
            connection.execute(_NOTE_ROOM, (room,))
    if lengthen and size < room and left() > 0:
        with transaction(connection):
            length = (room - size) * connection.pragma("page_size")
            connection.execute(_TAKE_ROOM, (length,))
    while size > room:
        with transaction(connection):
            connection.pragma("incremental_vacuum", min(size - room, _FREED_AT_ONCE))
        before, size = size, connection.pragma("page_count")
        if size == before or left() <= 0:
            break


def refresh_common_terms(connection: apsw.Connection, live: LiveBuild, *, seconds: float) -> None:
    """Store the terms that many chunks contain, if the build has changed much since the last time.

    Takes some 3 s for a million chunks, and is due after 10 % of growth; after up to 50 % if it
    would take more than ``seconds``.
    """
    drift = max(abs(live.chunks - live.counted), live.removed)
    if live.chunks < _LEAST_CHUNKS or drift <= live.counted * _DRIFT:
        return
    if live.chunks * _SECONDS_PER_CHUNK > seconds and drift <= live.counted * _MOST_DRIFT:
        return
    connection.execute(of_build("DELETE FROM common_<n>", live.id))
    connection.execute(of_build(VOCABULARY, live.id))
    connection.execute(of_build(_FILL, live.id), (live.chunks * _COMMON_SHARE,))
    connection.execute(of_build("DROP TABLE temp.vocabulary_<n>", live.id))
    sql = "UPDATE build SET counted = chunks, removed = 0 WHERE id = ?"
    connection.execute(sql, (live.id,))
