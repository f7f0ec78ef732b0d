"""Keeping the table quick: fewer and fuller files, complete indexes, old versions deleted."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from commonplace.plugin import IndexUnavailableError
from commonplace_lancedb.encoding import literal, literals
from commonplace_lancedb.schema import SCALAR_INDEXES, is_vector_column
from commonplace_lancedb.translation import ConflictError, translated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace_lancedb.database import Database
    from commonplace_lancedb.snapshot import Snapshot

__all__ = ["forget_builds", "tidy"]

_MOST_FRAGMENTS = 32
"""Each commit leaves one; a query opens them all."""

_LOOSE_ROWS = 2_000
_LOOSE_SHARE = 20
"""Rows that are in no index yet are read one by one: at most one in so many, or so few."""

_SCALAR_FROM = 5_000
"""Rows from which the indexes of plain columns are worth their files."""

_KEPT = timedelta(minutes=15)
"""Old versions: longer than any read takes."""


def forget_builds(database: Database, builds: Sequence[int]) -> None:
    """Delete the rows of builds that no head has any more.

    What cannot be deleted now, because others write, :func:`tidy` finds later.
    """
    if not builds:
        return
    namespace = literal(database.place.namespace)
    with suppress(ConflictError), translated(database.place):
        database.table().delete(f"namespace = {namespace} AND build IN ({literals(builds)})")
    database.changed()


def tidy(database: Database, *, index_vectors_from: int) -> str:
    """Do what is due; gives back what hindered it, in a line for people.

    What was written stays written, and is found, whatever happens here. Where somebody else is at
    it, they will have done it.
    """
    try:
        snapshot = database.latest()
        if snapshot is not None:
            _tidy(database, snapshot, index_vectors_from)
    except ConflictError:
        return ""
    except IndexUnavailableError as error:
        return f"the table could not be tidied: {error}"
    finally:
        database.changed()
    return ""


def _tidy(database: Database, snapshot: Snapshot, index_vectors_from: int) -> None:
    indexes = snapshot.indexes()
    rows = snapshot.count()
    if database.place.is_service:
        # It sees to its files, versions and rows without an index by itself.
        due = snapshot.count("kind = 'dead'") > max(_LOOSE_ROWS, rows // _LOOSE_SHARE)
    else:
        loose = indexes["terms"].num_unindexed_rows if "terms" in indexes else 0
        due = loose > max(_LOOSE_ROWS, rows // _LOOSE_SHARE)
        due = due or snapshot.stats()["fragment_stats"]["num_fragments"] > _MOST_FRAGMENTS
    if not due:
        return
    table = database.table()
    with translated(database.place):
        table.delete("kind = 'dead'")
        forget_builds(database, snapshot.orphans())
        if rows >= _SCALAR_FROM:
            _index_columns(table, indexes)
        _index_vectors(table, indexes, index_vectors_from)
        if not database.place.is_service:
            table.optimize(cleanup_older_than=_KEPT)


def _index_columns(table: Any, indexes: dict[str, Any]) -> None:
    from lancedb.index import Bitmap, BTree

    for column, kind in SCALAR_INDEXES.items():
        if column not in indexes:
            table.create_index(column, config=Bitmap() if kind == "bitmap" else BTree())


def _index_vectors(table: Any, indexes: dict[str, Any], least: int) -> None:
    """An index for each column of vectors that has enough of them."""
    from lancedb.index import IvfFlat, IvfRq

    for field in table.schema:
        if not is_vector_column(field.name) or field.name in indexes:
            continue
        epochs = f"e_{field.name.removeprefix('v_')}"
        if table.count_rows(f"{epochs} IS NOT NULL") >= least:
            # RaBitQ's codes are of whole bytes.
            config = IvfRq if field.type.list_size % 8 == 0 else IvfFlat
            table.create_index(field.name, config=config(distance_type="dot"))
