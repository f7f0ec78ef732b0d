"""Closing the gaps that replaced documents leave among the texts of others.

Texts lie in the order in which they came. Where those of a document go, the pages that it shared
with its neighbours stay half empty for good; to write a run of texts again fills them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace_sqlite.connection import transaction
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    import apsw

    from commonplace_sqlite.builds import LiveBuild

__all__ = ["note_gaps", "repack"]

_LEAST = 400
_SHARE = 8
"""Texts are written again once an eighth of their number has gone since the last time."""

_AT_ONCE = 2_000
"""Texts in one transaction: some 10 ms of work."""

_NOTE = """
INSERT INTO counter (name, next) VALUES ('gaps', ?)
ON CONFLICT (name) DO UPDATE SET next = next + excluded.next
"""
_NOTED = "SELECT next FROM counter WHERE name = 'gaps'"
_CLOSED = "DELETE FROM counter WHERE name = 'gaps'"
_SOME = "SELECT id, text, body FROM text_<n> WHERE id > ? ORDER BY id LIMIT ?"
_TAKE = "DELETE FROM text_<n> WHERE id BETWEEN ? AND ?"
_PUT = "INSERT INTO text_<n> (id, text, body) VALUES (?, ?, ?)"


def note_gaps(connection: apsw.Connection, gone: int) -> None:
    """Remember that so many texts have gone; the caller holds a transaction."""
    if gone:
        connection.execute(_NOTE, (gone,))


def repack(connection: apsw.Connection, live: LiveBuild) -> bool:
    """Write the texts of the live build again if enough others have gone; tells whether it did."""
    gone: int = connection.execute(_NOTED).get or 0
    if gone < max(_LEAST, live.chunks / _SHARE):
        return False
    last: int | None = 0
    while last is not None:
        with transaction(connection):
            last = _rewrite(connection, live.id, last)
    with transaction(connection):
        connection.execute(_CLOSED)
    return True


def _rewrite(connection: apsw.Connection, build: int, after: int) -> int | None:
    """Write some texts again; returns the last one's id, ``None`` where there was none."""
    rows: Any = connection.execute(of_build(_SOME, build), (after, _AT_ONCE)).fetchall()
    if not rows:
        return None
    last: int = rows[-1][0]
    connection.execute(of_build(_TAKE, build), (rows[0][0], last))
    connection.executemany(of_build(_PUT, build), rows)
    return last
