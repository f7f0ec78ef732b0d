"""What is done at the end of a writer session so that reading stays fast and the file small."""

from __future__ import annotations

from contextlib import suppress

import apsw

from commonplace_sqlite.builds import live_build
from commonplace_sqlite.common import survey
from commonplace_sqlite.connection import transaction
from commonplace_sqlite.repacking import repack
from commonplace_sqlite.schema import of_build

__all__ = ["tidy"]

_MUCH = 400
"""Chunks; FTS5 merges fewer into its index by itself as time goes by."""

_LARGE_SHARE = 4
"""The index is merged into one piece where a quarter of it is new: syncs stay cheap as it grows."""

_MERGE_PAGES = 500
_MERGE = "INSERT INTO fts_<n> (fts_<n>, rank) VALUES ('merge', ?)"

_FREE_SHARE = 512
_FREE_PAGES = 16
"""Pages are given back once so many are free, and so large a share; fewer are for the next."""


def tidy(connection: apsw.Connection, written: int) -> None:
    """Refresh what is derived, merge what is scattered, give back what is free.

    ``written`` is how many chunks were put since the last time. No answer depends on any of this,
    so what cannot be done now (the disk is full, a reader is in the way) is left for the next time.
    """
    much_is_new = False
    with suppress(apsw.Error):
        live = live_build(connection)
        if live is not None:
            with transaction(connection):
                survey(connection, live)
            if written >= max(_MUCH, live.chunks / _LARGE_SHARE):
                _merge(connection, live.id, written)
                much_is_new = True
            repack(connection, live)
        _give_back(connection, all_of_it=much_is_new)
        if written >= _MUCH:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def _merge(connection: apsw.Connection, build: int, written: int) -> None:
    merge = of_build(_MERGE, build)
    # The first step, with a negative number, asks for all segments to become one.
    pages = -_MERGE_PAGES
    for _ in range(2 + written // _MERGE_PAGES):
        before = connection.total_changes()
        with transaction(connection):
            connection.execute(merge, (pages,))
        if connection.total_changes() - before < 2:  # FTS5's sign that nothing is left to merge
            break
        pages = _MERGE_PAGES


def _give_back(connection: apsw.Connection, *, all_of_it: bool) -> None:
    free = connection.pragma("freelist_count")
    few = max(_FREE_PAGES, connection.pragma("page_count") / _FREE_SHARE)
    if all_of_it or free > few:
        connection.pragma("incremental_vacuum", free)
