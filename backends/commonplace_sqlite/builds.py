"""The builds of a file: which there are, making them, and letting one take another's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import Build, IndexUnavailableError
from commonplace_sqlite.schema import create_build, drop_build

if TYPE_CHECKING:
    import apsw

__all__ = ["LiveBuild", "activate", "all_builds", "drop", "live_build", "need", "open_build"]


class LiveBuild:
    """What reading needs to know of a build; see the table ``build`` in ``schema.py``."""

    __slots__ = ("chunks", "id", "removed", "surveyed", "tokenizer")

    def __init__(
        self, id_: int, tokenizer: str | None, chunks: int, surveyed: int, removed: int
    ) -> None:
        self.id = id_
        self.tokenizer = tokenizer
        self.chunks = chunks
        self.surveyed = surveyed
        self.removed = removed


def live_build(connection: apsw.Connection | None) -> LiveBuild | None:
    """The build that is searched, if there is one."""
    if connection is None:
        return None
    sql = "SELECT id, tokenizer, chunks, surveyed, removed FROM build WHERE state = 'live'"
    row: Any = connection.execute(sql).fetchone()
    return row and LiveBuild(*row)


def all_builds(connection: apsw.Connection | None) -> tuple[Build, ...]:
    """All builds, the oldest first."""
    if connection is None:
        return ()
    rows: Any = connection.execute("SELECT id, identity, state FROM build ORDER BY id")
    return tuple(Build(*row) for row in rows)


def need(connection: apsw.Connection | None, build: Build) -> None:
    """Raise :class:`~commonplace.errors.IndexUnavailableError` unless ``build`` is there."""
    sql = "SELECT 1 FROM build WHERE id = ? AND identity = ?"
    if connection is None or not connection.execute(sql, (build.id, build.identity)).fetchone():
        raise IndexUnavailableError(
            f"there is no build {build.id} ({build.identity})", hint="open a build again"
        )


def open_build(connection: apsw.Connection, identity: str, tokenizer: str | None) -> Build:
    """The unfinished build of ``identity``, or a new one; one of another identity goes."""
    for build in all_builds(connection):
        if build.state == "filling":
            if build.identity == identity:
                return build
            drop(connection, build)
    sql = "INSERT INTO build (identity, state, tokenizer) VALUES (?, 'filling', ?)"
    connection.execute(sql, (identity, tokenizer))
    build = Build(connection.last_insert_rowid(), identity, "filling")
    create_build(connection, build.id, tokenizer)
    return build


def activate(connection: apsw.Connection, build: Build) -> None:
    """Make ``build`` the live one and the only one of its kind."""
    need(connection, build)
    for other in all_builds(connection):
        if other.state == "live" and other.id != build.id:
            drop(connection, other)
    connection.execute("UPDATE build SET state = 'live' WHERE id = ?", (build.id,))


def drop(connection: apsw.Connection, build: Build) -> None:
    """Delete a build, and the vectors that no other has; one that is gone stays gone."""
    from commonplace_sqlite.vectors.attaching import forget_unused

    connection.execute("DELETE FROM build WHERE id = ?", (build.id,))
    drop_build(connection, build.id)
    forget_unused(connection)
