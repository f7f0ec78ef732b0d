"""What is done at the end of a writer session so that reading stays fast and the file small."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import apsw

from commonplace_sqlite.builds import live_build
from commonplace_sqlite.common import survey
from commonplace_sqlite.connection import roll_back
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["tidy"]

_MUCH = 400
"""Chunks; fewer are merged into the keyword index by FTS5 itself as time goes by."""

_MERGE_PAGES = 1_000
_MERGE_STEPS = 20
_MERGE = "INSERT INTO fts_<n> (fts_<n>, rank) VALUES ('merge', ?)"

_FREE_SHARE = 4
"""Pages are given back once a quarter of the file is free; the next writer would use a few."""


def tidy(connection: apsw.Connection, written: int) -> None:
    """Refresh what is derived, merge what is scattered, write the log back.

    Nothing of this is needed for a right answer, so that what cannot be done now (the disk is
    full, a reader is in the way) is left for the next time.
    """
    _try(connection, _survey_and_merge if written >= _MUCH else _survey)
    _try(connection, _give_back)
    if written >= _MUCH:
        with suppress(apsw.Error):
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def _try(connection: apsw.Connection, work: Callable[[apsw.Connection], None]) -> None:
    try:
        connection.execute("BEGIN IMMEDIATE")
        work(connection)
        connection.execute("COMMIT")
    except apsw.Error:
        roll_back(connection)


def _survey(connection: apsw.Connection) -> None:
    live = live_build(connection)
    if live is not None:
        survey(connection, live.id)


def _survey_and_merge(connection: apsw.Connection) -> None:
    live = live_build(connection)
    if live is None:
        return
    survey(connection, live.id)
    merge = of_build(_MERGE, live.id)
    # The first step, with a negative number, asks for all segments to become one.
    pages = -_MERGE_PAGES
    for _ in range(_MERGE_STEPS):
        before = connection.total_changes()
        connection.execute(merge, (pages,))
        if connection.total_changes() - before < 2:  # FTS5's way to say that nothing is left to do
            break
        pages = _MERGE_PAGES


def _give_back(connection: apsw.Connection) -> None:
    free = connection.pragma("freelist_count")
    if free * _FREE_SHARE > connection.pragma("page_count"):
        connection.pragma("incremental_vacuum", free)
