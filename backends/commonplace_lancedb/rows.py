"""Rows read from the table together with their addresses, as Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace_lancedb.head import EVERY, is_vector_column, literal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import timedelta

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Addresses = NDArray[np.uint64]
    Positions = NDArray[np.int64]
    Mask = NDArray[np.bool_]

TEXTS = ("text", "heading", "terms")
"""What makes a row large, besides vectors; all other columns are always in memory."""

_RUNS = 5_000
"""So many runs of rows are put one after the other, which is quicker than to gather rows."""


class Part:
    """Rows that became known together, by ascending address; columns are added to it."""

    def __init__(self, addresses: Addresses, table: pa.Table) -> None:
        self.addresses = addresses
        self.table = table.combine_chunks()

    def has(self, names: Collection[str]) -> bool:
        """Whether it has all columns ``names``."""
        return set(names) <= set(self.table.column_names)

    def add(self, rows: pa.Table) -> None:
        """Add those columns of ``rows``, one row for each of its own, that it does not have."""
        table = self.table
        for field in rows.schema:
            if field.name not in table.column_names:
                table = table.append_column(field, rows[field.name].combine_chunks())
        self.table = table

    def put(self, rows: pa.Table) -> None:
        """Let the columns of ``rows`` be in the place of its own, if it has them."""
        table = self.table
        kept = [name for name in table.column_names if name not in rows.column_names]
        table = table.select(kept)
        for field in rows.schema:
            table = table.append_column(field, rows[field.name].combine_chunks())
        self.table = table  # at once: a search may be reading

    def only(self, kept: Mask) -> Part:
        """The rows where the mask ``kept`` is true."""
        import pyarrow as pa

        return Part(self.addresses[kept], self.table.filter(pa.array(kept)))

    def widened(self, schema: pa.Schema, names: Sequence[str]) -> Part:
        """With the columns ``names``, also those that were added to the table since: all null."""
        import pyarrow as pa

        missing = [name for name in names if not self.has((name,))]
        if not missing:
            return self
        table = self.table
        for name in missing:
            field = schema.field(name)
            table = table.append_column(field, pa.nulls(len(self.addresses), field.type))
        return Part(self.addresses, table)


def small_columns(names: Sequence[str]) -> list[str]:
    """Of the columns ``names`` those that are always in memory."""
    return [name for name in names if name not in TEXTS and not is_vector_column(name)]


def own(table: Any, namespace: str) -> Any:
    """The search for all rows of ``namespace``."""
    return table.search().where(f"namespace = {literal(namespace)}").limit(EVERY)


def part_of(addresses: Any, rows: pa.Table, namespace: str) -> Part:
    """What of these rows is of the namespace, but for what has been replaced."""
    import pyarrow.compute as pc

    mine = pc.and_(pc.equal(rows["namespace"], namespace), pc.not_equal(rows["kind"], "dead"))
    mine = mine.fill_null(fill_value=False)
    if pc.all(mine).as_py():
        return Part(addresses, rows)
    return Part(addresses[mine.to_numpy()], rows.filter(mine))


def read(search: Any, columns: Sequence[str], timeout: timedelta | None) -> tuple[Any, pa.Table]:
    """Addresses, ascending, and rows in that order."""
    import numpy as np

    rows = search.select(["_rowid", *columns]).to_arrow(timeout=timeout)
    addresses = rows["_rowid"].to_numpy()
    rows = rows.select(list(columns))
    if len(addresses) > 1 and not (addresses[:-1] < addresses[1:]).all():
        order = np.argsort(addresses)
        addresses, rows = addresses[order], rows.take(order)
    return addresses, rows


def read_at(table: Any, addresses: Any, columns: Sequence[str], timeout: timedelta | None) -> Any:
    """The rows at ``addresses``, in that order, read from the table."""
    import pyarrow as pa

    if not len(addresses):
        fields = [table.schema.field(name) for name in columns]
        return pa.schema(fields).empty_table()
    search = table.take_row_ids([int(address) for address in addresses])
    known, rows = read(search, columns, timeout)
    return rows.take(pa.array(positions_in(known, addresses)))


def rows_at(addresses: Any, table: pa.Table, wanted: Any) -> pa.Table:
    """Of ``table``, whose rows are at ``addresses``, those at ``wanted``; null where none is."""
    return gather(table, positions_in(addresses, wanted))


def gather(table: pa.Table, at: Any) -> pa.Table:
    """The rows of ``table`` at the positions ``at``, in that order; null where it is -1."""
    import numpy as np
    import pyarrow as pa

    if not len(at):
        return table.slice(0, 0)
    starts = np.flatnonzero(np.diff(at, prepend=-2) != 1)
    if len(starts) > _RUNS or (at < 0).any():
        # What has been deleted since is not there any more.
        return table.take(pa.array(at, mask=at < 0))
    ends = [*starts[1:], len(at)]
    runs = [table.slice(at[i], j - i) for i, j in zip(starts, ends, strict=True)]
    return pa.concat_tables(runs)


def addresses_of(table: Any, timeout: timedelta | None) -> Addresses:
    """Those of all rows, ascending: Lance knows them without reading a file of rows."""
    import numpy as np

    rows = table.search().select(["_rowid"]).limit(EVERY).to_arrow(timeout=timeout)
    return np.sort(rows["_rowid"].to_numpy())


def file_of(address: Any) -> Any:
    """The file of the table that a row, or an array of rows, lies in; later ones have higher."""
    import numpy as np

    return address >> np.uint64(32)


def positions_in(ascending: NDArray[Any], wanted: NDArray[Any]) -> Positions:
    """Where each of ``wanted`` stands in ``ascending``; -1 where it does not."""
    import numpy as np

    if not len(ascending):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(ascending[at] == wanted, at, -1)


def is_in(wanted: NDArray[Any], ascending: NDArray[Any]) -> Mask:
    """Which of ``wanted`` stand in ``ascending``; an array of booleans."""
    return positions_in(ascending, wanted) >= 0
