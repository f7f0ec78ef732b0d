"""Conditions on rows, which Lance understands and which are compared in memory, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from commonplace.plugin import matches_days
from commonplace_lancedb.head import epoch_column, literal, literals, text_in

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pyarrow as pa

    from commonplace_lancedb.head import Space


class Condition(Protocol):
    """What rows have to be."""

    @property
    def sql(self) -> str:
        """As a filter of Lance."""
        ...

    def mask(self, table: pa.Table) -> Any:
        """Which rows of ``table`` pass, as an Arrow array of booleans without nulls."""
        ...


class Among(NamedTuple):
    """Rows with one of ``values``, texts or whole numbers, in a column."""

    column: str
    values: Collection[str] | Collection[int]

    @property
    def sql(self) -> str:
        """As a filter of Lance; there has to be a value."""
        return f"{self.column} IN ({literals(self.values)})"

    def mask(self, table: pa.Table) -> Any:
        """Which rows of ``table`` pass."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = table[self.column]
        values = [text_in(one) if isinstance(one, str) else one for one in self.values]
        return pc.is_in(column, value_set=pa.array(values, column.type))


class Dated(NamedTuple):
    """Rows of one of some days, as a query names them."""

    days: Sequence[tuple[str, str]]

    @property
    def sql(self) -> str:
        """As a filter of Lance, which knows no part of a text: days of any year are all days."""
        from commonplace.plugin import is_yearly  # few queries name days

        return " OR ".join(
            "day IS NOT NULL"
            if is_yearly(first)
            else f"day BETWEEN {literal(first)} AND {literal(last)}"
            for first, last in self.days
        )

    def mask(self, table: pa.Table) -> Any:
        """Which rows of ``table`` pass."""
        import pyarrow as pa

        passes = map(matches_days(self.days), table["day"].to_pylist())
        return pa.chunked_array([pa.array(passes, pa.bool_())])


class Marked(NamedTuple):
    """Rows whose vector in ``space`` counts, or, without ``counts``, all others."""

    space: Space
    counts: bool = True

    @property
    def sql(self) -> str:
        """As a filter of Lance."""
        column = epoch_column(self.space.column)
        if self.counts:
            return f"{column} = {self.space.epoch}"
        return f"{column} IS NULL OR {column} <> {self.space.epoch}"

    def mask(self, table: pa.Table) -> Any:
        """Which rows of ``table`` pass."""
        import pyarrow.compute as pc

        counts = pc.equal(table[epoch_column(self.space.column)], self.space.epoch)
        counts = counts.fill_null(fill_value=False)
        return counts if self.counts else pc.invert(counts)
