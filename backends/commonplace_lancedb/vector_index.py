"""The approximate index of a column of vectors: built, measured against exact search, rebuilt.

How many of the true neighbours an index finds depends on the vectors, on how many of its parts are
looked into, and on how many candidates are then compared by their whole vectors, each of which is a
request to a bucket. So it is asked for some neighbours, and the fewest parts and vectors that find
99 of 100 are kept in the metadata of the column, where every process that searches reads them. An
index that does not get there is not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import NamedTuple
from commonplace_lancedb.head import epoch_column, is_vector_column

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST_RECALL = 0.99
"""Of the ten nearest, the share that an index has to find to be used."""

_PROBES = (40, 80, 160, 320)
_REFINED = (1, 2, 4, 6)
_QUERIES = 16
_NEAREST = 10
CANDIDATES = 56
"""As many as a search takes at least, of which the best are then scored exactly."""

_GROWTH = 2
"""An index is built again when there are so many times the vectors that it was made of."""

_KEY = b"commonplace:index"
_TIE = 1e-6


class Measured(NamedTuple):
    """What an index was measured to find.

    ``recall`` (0..1) is the mean share of the ten nearest vectors that it found where ``probes`` of
    its parts were looked into, and ``refined`` times as many whole vectors compared as were asked
    for, when it had ``rows`` vectors.
    """

    probes: int
    recall: float
    rows: int
    refined: int

    def of_part(self, rows: int) -> Measured:
        """With as many more parts as a namespace of ``rows`` vectors is smaller than the table.

        Its nearest vectors lie that much farther away than those of the table.
        """
        return self._replace(probes=self.probes * -(-self.rows // max(1, rows)) or self.probes)

    def plan(self, *, filtered: bool) -> str:
        """As answers say it."""
        found = f"finds {self.recall:.3f} of the ten nearest" if self.rows else "not measured"
        without = " without a filter" if filtered and self.rows else ""
        return f"IVF index, {self.probes} probes, scored again: {found}{without}"

    @property
    def text(self) -> str:
        """As it stands in the metadata of the column."""
        return f"{self.probes} {self.recall:.4f} {self.rows} {self.refined}"


def measured_of(field: Any) -> Measured | None:
    """What is known of the index of a column; ``None`` if it was never measured."""
    metadata: Mapping[bytes, bytes] = field.metadata or {}
    try:
        probes, recall, rows, *more = metadata[_KEY].decode().split()
        refined = int(more[0]) if more else _REFINED[-1]  # tables of before have not measured it
        return Measured(int(probes), float(recall), int(rows), refined)
    except (KeyError, ValueError):
        return None


UNMEASURED = Measured(_PROBES[0], LEAST_RECALL, 0, _REFINED[-1])
"""Of an index that a service keeps, which cannot be asked."""


def index_vectors(table: Any, indexes: Mapping[str, Any], least: int, *, measures: bool) -> None:
    """An index for each column of ``table`` that has ``least`` vectors; again when it has grown.

    ``measures`` says that the table can keep what is measured. Where it cannot, an index is built
    once.
    """
    for field in table.schema:
        if not is_vector_column(field.name):
            continue
        known, there = measured_of(field), field.name in indexes
        if there and not measures:
            continue
        condition = f"{epoch_column(field.name.removeprefix('v_'))} IS NOT NULL"
        rows = table.count_rows(condition)
        if rows < least or (there and known is not None and rows < _GROWTH * known.rows):
            continue
        # RaBitQ's codes are small, of whole bytes, and coarse: where they do not do, whole vectors.
        coarse = ["IvfRq"] if field.type.list_size % 8 == 0 else []
        for kind in (*coarse, "IvfFlat"):
            _build(table, field.name, kind)
            if not measures:
                break
            known = _measure(table, field.name, condition, rows)
            table.update_field_metadata(
                {"path": field.name, "metadata": {_KEY.decode(): known.text}}
            )
            if known.recall >= LEAST_RECALL:
                break


def _build(table: Any, column: str, kind: str) -> None:
    from lancedb import index

    table.create_index(column, config=getattr(index, kind)(distance_type="dot"), replace=True)


def _measure(table: Any, column: str, condition: str, rows: int) -> Measured:
    """The fewest parts that find enough, and the fewest whole vectors; or the most that are tried.

    The most come first: where they do not find enough, as few queries as possible were asked, each
    of which may be hundreds of requests to a bucket.
    """
    queries = _queries(table, column, condition, rows)
    enough = _least_scores(table, column, condition, queries, rows)

    def measured(probes: int, refined: int) -> Measured:
        recall = _recall(table, column, condition, queries, enough, probes, refined)
        return Measured(probes, recall, rows, refined)

    best = measured(_PROBES[-1], _REFINED[-1])
    if best.recall < LEAST_RECALL:
        return best
    fewer_probes = (measured(probes, best.refined) for probes in _PROBES[:-1])
    best = next((one for one in fewer_probes if one.recall >= LEAST_RECALL), best)
    fewer_vectors = (measured(best.probes, refined) for refined in _REFINED[:-1])
    return next((one for one in fewer_vectors if one.recall >= LEAST_RECALL), best)


def _recall(
    table: Any, column: str, condition: str, queries: Any, enough: Any, probes: int, refined: int
) -> float:
    import numpy as np

    found = 0
    for query, least in zip(queries, enough, strict=True):
        search = table.search(query, vector_column_name=column).distance_type("dot")
        search = search.where(condition, prefilter=True).nprobes(probes).refine_factor(refined)
        got = search.limit(CANDIDATES).select([column, "_distance"]).to_arrow()
        scores = _matrix(got[column].combine_chunks(), len(query)) @ query
        found += min(_NEAREST, int(np.count_nonzero(scores >= least - _TIE)))
    return found / (_NEAREST * len(queries))


def _queries(table: Any, column: str, condition: str, rows: int) -> Any:
    """Unit vectors between two of the table: a question is like some notes, and equal to none."""
    import numpy as np

    step, at = max(1, rows // (2 * _QUERIES)), 0
    vectors = []
    for batch in _batches(table, column, condition, rows):
        here = _matrix(batch[column], batch[column].type.list_size)
        vectors += [here[n] for n in range(-at % step, len(here), step)]
        at += len(here)
    half = len(vectors) // 2
    between = np.asarray(vectors[:half]) + np.asarray(vectors[half : 2 * half])
    lengths = np.linalg.norm(between, axis=1, keepdims=True)
    return between[lengths[:, 0] > 0] / lengths[lengths[:, 0] > 0]


def _batches(table: Any, column: str, condition: str, rows: int) -> Any:
    """All vectors, some thousand at a time."""
    return table.search().where(condition).select([column]).limit(rows).to_batches()


def _least_scores(table: Any, column: str, condition: str, queries: Any, rows: int) -> Any:
    """The inner product of the tenth nearest vector with each query, from one pass over all."""
    import numpy as np

    best = np.full((len(queries), 0), -np.inf)
    for batch in _batches(table, column, condition, rows):
        products = queries @ _matrix(batch[column], queries.shape[1]).T
        best = np.concatenate([best, products], axis=1)
        if best.shape[1] > _NEAREST:
            best = -np.partition(-best, _NEAREST - 1, axis=1)[:, :_NEAREST]
    return best.min(axis=1)


def _matrix(column: Any, dims: int) -> Any:
    """The vectors of an Arrow column as the rows of a matrix."""
    import numpy as np

    return column.flatten().to_numpy(zero_copy_only=False).astype(np.float32).reshape(-1, dims)
