"""One version of the table, and what is asked of it: by queries of Lance, or of rows in memory."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from commonplace_lancedb.errors import translated
from commonplace_lancedb.head import EVERY, Head, head_id, literal
from commonplace_lancedb.vector_index import UNMEASURED, measured_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from commonplace.plugin import Deadline, StoredDocument
    from commonplace_lancedb.conditions import Condition
    from commonplace_lancedb.head import BuildState
    from commonplace_lancedb.loaded_rows import LoadedRows
    from commonplace_lancedb.loading import RowLoader
    from commonplace_lancedb.scoring import Candidate
    from commonplace_lancedb.settings import Location
    from commonplace_lancedb.vector_index import Measured


class Snapshot:
    """Every query of it names the namespace: rows of others are never looked at.

    ``counted`` remembers how many chunks hold a token, by build and token; ``documents`` what a
    build holds, by its id; ``loose`` its chunks that no index knows; ``terms`` those of all its
    chunks as one text. ``head`` need not be read where it is given. With a ``loader`` rows are
    looked up in memory, where they fit.
    """

    def __init__(
        self,
        table: Any,
        location: Location,
        head: Head | None = None,
        loader: RowLoader | None = None,
    ) -> None:
        self._table = table
        self._location = location
        self._version: int = table.version
        self.counted: dict[tuple[int, str], float] = {}
        self.documents: dict[int, list[StoredDocument]] = {}
        self.loose: dict[int, list[tuple[Candidate, list[str] | None]] | None] = {}
        self.terms: dict[int, bytes] = {}
        self._head = head
        self._loader = loader
        self.gave_up = False
        """Whether a search could not wait for the rows: it does not wait for them again later."""

    def is_of(self, table: Any) -> bool:
        """Whether ``table`` is at this version."""
        return bool(table.version == self._version)

    @property
    def is_on_disk(self) -> bool:
        """Whether the table is in a folder of this machine."""
        return self._location.folder is not None

    @cached_property
    def head(self) -> Head:
        """What is valid of the namespace; empty where nothing was ever written."""
        if self._head is not None:
            return self._head
        columns = "revision", "state"
        loaded = self.loaded_rows() if self._loader is not None and self._loader.started else None
        if loaded is not None:
            rows = loaded.take(loaded.positions(None, "head"), columns)
        else:
            rows = self._all(f"id = {head_id(self._location.namespace)}", columns)
        if not rows.num_rows:
            return Head()
        return Head.loaded(rows["revision"][0].as_py(), rows["state"][0].as_py())

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return tuple(self.schema().names)

    def schema(self) -> pa.Schema:
        """The table's columns."""
        with translated(self._location):
            return self._table.schema

    def scope(self, build: BuildState, kind: str) -> str:
        """The condition of all that is asked of a build."""
        namespace = literal(self._location.namespace)
        return f"namespace = {namespace} AND build = {build.id} AND kind = '{kind}'"

    def loaded_rows(
        self, columns: Sequence[str] = (), deadline: Deadline | None = None
    ) -> LoadedRows | None:
        """The rows of the namespace in memory, with ``columns`` besides the small ones.

        ``None`` where they are not loaded, or not yet.
        """
        if self._loader is None or (self.gave_up and deadline is None):
            return None
        with translated(self._location, deadline):
            loaded = self._loader.rows_of(self._table, self._fits, columns, deadline)
        self.gave_up = loaded is None
        return loaded

    def _fits(self) -> bool:
        """Whether the rows of the namespace are few enough for memory."""
        live, stats = self.head.live, self.stats()
        if self._loader is None or stats is None or live is None:
            return False
        chunks = sum(build.total.chunks for build in self.head.builds)
        size = int(stats["total_bytes"]) * chunks // max(1, int(stats["num_rows"]))
        return size <= self._loader.most_bytes

    def rows(
        self, build: BuildState, kind: str, columns: Sequence[str], *conditions: Condition
    ) -> Any:
        """Rows of ``kind`` in ``build`` that pass all ``conditions``, as an Arrow table."""
        loaded = self.loaded_rows()
        if loaded is not None:
            with translated(self._location):
                return loaded.take(loaded.positions(build.id, kind, *conditions), columns)
        parts = [self.scope(build, kind), *(f"({one.sql})" for one in conditions)]
        return self._all(" AND ".join(parts), columns)

    def matching(
        self,
        query: Any,
        condition: str,
        columns: Sequence[str],
        limit: int,
        deadline: Deadline,
        *,
        indexed: bool = False,
    ) -> Any:
        """The best ``limit`` rows by Lance's own BM25, which pass ``condition`` beforehand.

        With ``indexed`` of those alone that are in the index.
        """
        with translated(self._location, deadline):
            search = self._table.search(query, query_type="fts").where(condition, prefilter=True)
            # Lance warns where its score is not asked for.
            search = search.limit(limit).select([*columns, "_score"])
            search = search.fast_search() if indexed else search
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
        index: Measured | None = None,
    ) -> Any:
        """The ``limit`` rows with the largest inner product, passing ``condition`` beforehand.

        Every vector is compared, unless ``index`` says how far to look into that of the column.
        """
        with translated(self._location, deadline):
            search = self._table.search(vector, vector_column_name=column)
            search = search.distance_type("dot").where(condition, prefilter=True)
            if index is None:
                search = search.bypass_vector_index()
            else:
                search = search.nprobes(index.probes).refine_factor(index.refined)
            search = search.limit(limit).select([*columns, "_distance"])
            return search.to_arrow(timeout=_seconds(deadline))

    def orphans(self) -> list[int]:
        """Builds of the namespace that have rows, and are not in the head.

        Rows come with a head that knows their build: these have been dropped, and stayed when
        their rows should have gone.
        """
        known = {build.id for build in self.head.builds}
        loaded = self.loaded_rows()
        if loaded is not None:
            there = loaded.mask(None, "doc") | loaded.mask(None, "chunk")
            return sorted(set(loaded.int_column("build")[there].tolist()) - known)
        namespace = literal(self._location.namespace)
        rows = self._all(f"namespace = {namespace} AND kind <> 'head'", ("build",))
        return sorted(set(rows["build"].unique().to_pylist()) - known)

    def count(self, condition: str | None = None) -> int:
        """Rows of the whole table that pass ``condition``, whosever they are."""
        with translated(self._location):
            number: int = self._table.count_rows(condition)
        return number

    def unindexed(self) -> int | None:
        """How many rows of the whole table the keyword index lacks; ``None`` without an index."""
        index = self.indexes().get("terms")
        return None if index is None else int(index.num_unindexed_rows or 0)

    def indexes(self) -> dict[str, Any]:
        """The indexes by the column they are of."""
        with translated(self._location):
            return {index.columns[0]: index for index in self._table.list_indices()}

    def vector_index(self, column: str) -> Measured | None:
        """What is known of the approximate index of a column; ``None`` if there is none to use."""
        if column not in self.indexes():
            return None
        return UNMEASURED if self._location.is_service else measured_of(self.schema().field(column))

    def stats(self) -> Any:
        """Bytes, rows and fragments of the whole table; ``None`` where a service keeps it."""
        if self._location.is_service:
            return None
        with translated(self._location):
            return self._table.stats()

    def _all(self, condition: str, columns: Sequence[str]) -> Any:
        with translated(self._location):
            search = self._table.search().where(condition).limit(EVERY)
            return search.select(list(columns)).to_arrow()


def _seconds(deadline: Deadline) -> timedelta | None:
    remaining = deadline.remaining()
    return None if remaining == inf else timedelta(seconds=min(remaining, 86_400.0))
