"""One version of the table, and the ways to ask it for the rows of one namespace."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from commonplace_lancedb.encoding import literal
from commonplace_lancedb.head import Head, head_id
from commonplace_lancedb.translation import translated

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from commonplace.plugin import Deadline
    from commonplace_lancedb.head import BuildState
    from commonplace_lancedb.place import Place

__all__ = ["EVERY", "Snapshot"]

EVERY = 2**31 - 1
"""A limit that cuts nothing off."""


class Snapshot:
    """Every query of it names the namespace: rows of others are never looked at.

    ``counted`` remembers how many chunks hold a token, by build and token.
    """

    def __init__(self, table: Any, place: Place) -> None:
        self._table = table
        self._place = place
        self._version: int = table.version
        self.counted: dict[tuple[int, str], float] = {}

    def is_of(self, table: Any) -> bool:
        """Whether ``table`` is at this version."""
        same: bool = table.version == self._version
        return same

    @cached_property
    def head(self) -> Head:
        """What is valid of the namespace; empty where nothing was ever written."""
        rows = self._all(f"id = {head_id(self._place.namespace)}", ("revision", "state"))
        if not rows.num_rows:
            return Head()
        return Head.loaded(rows["revision"][0].as_py(), rows["state"][0].as_py())

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        with translated(self._place):
            return tuple(self._table.schema.names)

    def schema(self) -> pa.Schema:
        """The table's columns."""
        with translated(self._place):
            return self._table.schema

    def scope(self, build: BuildState, kind: str) -> str:
        """The condition of all that is asked of a build."""
        namespace = literal(self._place.namespace)
        return f"namespace = {namespace} AND build = {build.id} AND kind = '{kind}'"

    def rows(self, build: BuildState, kind: str, columns: Sequence[str], also: str = "") -> Any:
        """Rows of ``kind`` in ``build`` that pass the condition ``also``, as an Arrow table."""
        scope = self.scope(build, kind)
        return self._all(f"{scope} AND ({also})" if also else scope, columns)

    def matching(
        self, query: Any, condition: str, columns: Sequence[str], limit: int, deadline: Deadline
    ) -> Any:
        """The best ``limit`` rows by Lance's own BM25, which pass ``condition`` beforehand."""
        with translated(self._place, deadline):
            search = self._table.search(query, query_type="fts").where(condition, prefilter=True)
            # Lance warns where its score is not asked for.
            search = search.limit(limit).select([*columns, "_score"])
            return search.to_arrow(timeout=_seconds(deadline))

    def nearest(
        self,
        vector: Any,
        column: str,
        condition: str,
        columns: Sequence[str],
        limit: int,
        deadline: Deadline,
        *,
        probes: int | None = None,
    ) -> Any:
        """The ``limit`` rows with the largest inner product, passing ``condition`` beforehand.

        Every vector is compared, unless ``probes`` says how many parts of the index to look into.
        """
        with translated(self._place, deadline):
            search = self._table.search(vector, vector_column_name=column)
            search = search.distance_type("dot").where(condition, prefilter=True)
            if probes is None:
                search = search.bypass_vector_index()
            else:
                search = search.nprobes(probes).refine_factor(4)
            search = search.limit(limit).select([*columns, "_distance"])
            return search.to_arrow(timeout=_seconds(deadline))

    def orphans(self) -> list[int]:
        """Builds of the namespace that have rows, and are not in the head.

        Rows come with a head that knows their build: these have been dropped, and stayed when
        their rows should have gone.
        """
        namespace = literal(self._place.namespace)
        rows = self._all(f"namespace = {namespace} AND kind <> 'head'", ("build",))
        known = {build.id for build in self.head.builds}
        return sorted(set(rows["build"].unique().to_pylist()) - known)

    def count(self, condition: str | None = None) -> int:
        """Rows of the whole table that pass ``condition``, whosever they are."""
        with translated(self._place):
            number: int = self._table.count_rows(condition)
        return number

    def indexes(self) -> dict[str, Any]:
        """The indexes by the column they are of."""
        with translated(self._place):
            return {index.columns[0]: index for index in self._table.list_indices()}

    def stats(self) -> Any:
        """Bytes, rows and fragments of the whole table; ``None`` where a service keeps it."""
        if self._place.is_service:
            return None
        with translated(self._place):
            return self._table.stats()

    def _all(self, condition: str, columns: Sequence[str]) -> Any:
        with translated(self._place):
            search = self._table.search().where(condition).limit(EVERY)
            return search.select(list(columns)).to_arrow()


def _seconds(deadline: Deadline) -> timedelta | None:
    remaining = deadline.remaining()
    return None if remaining == inf else timedelta(seconds=min(remaining, 86_400.0))
