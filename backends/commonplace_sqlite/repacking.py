"""Closing the gaps that replaced documents leave among the texts of others.

Texts lie in the order in which they came. Where those of a document go, the pages that it shared
with its neighbours stay half empty for good. So whenever some have gone, a few times as many of
those that have lain longest are written again behind all others: no session takes long, and there
are never many gaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace_sqlite.connection import transaction
from commonplace_sqlite.places import BITS, TURN
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    import apsw

    from commonplace_sqlite.builds import LiveBuild

__all__ = ["note_gaps", "repack"]

_FACTOR = 16
"""Texts that are written again for each that has gone: a 32th of all are gaps, by and large."""

_LEAST = 100
"""Texts that have to have gone before it is worth a transaction."""

_AT_ONCE = 2_000
"""Texts in one transaction: some 10 ms of work."""

_ADD = """
INSERT INTO counter (name, next) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET next = next + excluded.next
"""
_NOTED = "SELECT next FROM counter WHERE name = 'gaps'"
_CLOSED = "DELETE FROM counter WHERE name = 'gaps'"
_OLDEST = "SELECT id, text, body FROM text_<n> WHERE id < ? ORDER BY id LIMIT ?"
_TAKE = "DELETE FROM text_<n> WHERE id <= ?"
_PUT = "INSERT INTO text_<n> (id, text, body) VALUES (?, ?, ?)"
_LEFT = "SELECT EXISTS (SELECT 1 FROM text_<n> WHERE id < ?)"


def note_gaps(connection: apsw.Connection, gone: int) -> None:
    """Remember that so many texts have gone; the caller holds a transaction."""
    if gone:
        connection.execute(_ADD, ("gaps", gone))


def repack(connection: apsw.Connection, live: LiveBuild) -> None:
    """Write some texts of the live build again if enough others have gone."""
    gone: int = connection.execute(_NOTED).get or 0
    if gone < _LEAST:
        return
    left = min(gone * _FACTOR, live.chunks)
    while left > 0:
        with transaction(connection):
            written = _rewrite(connection, live.id, min(left, _AT_ONCE))
        left = left - written if written else 0
    with transaction(connection):
        connection.execute(_CLOSED)


def _rewrite(connection: apsw.Connection, build: int, count: int) -> int:
    """Write up to ``count`` texts again; returns their number, 0 at the end of a turn."""
    turn: int = connection.execute(f"SELECT {TURN}").get
    end = turn + 1 << BITS
    rows: Any = connection.execute(of_build(_OLDEST, build), (end, count)).fetchall()
    if rows:
        connection.execute(of_build(_TAKE, build), (rows[-1][0],))
        moved = [(id_ + (1 << BITS), text, body) for id_, text, body in rows]
        connection.executemany(of_build(_PUT, build), moved)
        return len(rows)
    # One that is being filled takes no part in the turn, so that it cannot end before that is live.
    builds: Any = connection.execute("SELECT id FROM build").fetchall()
    if not any(connection.execute(of_build(_LEFT, one), (end,)).get for (one,) in builds):
        connection.execute(_ADD, ("turn", 1))
    return 0
