"""The nearest chunks: found by Lance in float32, scored and ordered here in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import Nearest
from commonplace_lancedb.encoding import text_out
from commonplace_lancedb.filters import condition_of
from commonplace_lancedb.reading import found
from commonplace_lancedb.schema import epoch_column, vector_column

if TYPE_CHECKING:
    from commonplace.plugin import Deadline, Where
    from commonplace_lancedb.head import BuildState
    from commonplace_lancedb.snapshot import Snapshot

__all__ = ["nearest"]

_BEYOND = 64
"""Candidates beyond twice the limit, so that most often one look is enough."""

_GROWTH = 4
_PROBES = 40

_ROUNDING = 2.0**-23
"""Times the dimensions: how far an inner product in float32 can be from the true one."""


def nearest(
    snapshot: Snapshot,
    build: BuildState,
    name: str,
    vector: bytes,
    *,
    where: Where,
    limit: int,
    deadline: Deadline,
    index_from: int,
) -> Nearest:
    """The best ``limit`` chunks by cosine in the space ``name``, which the head knows.

    From ``index_from`` vectors on an index is used, if there is one, and the answer says that it
    may miss some; else every vector is compared.
    """
    import numpy as np

    deadline.check("the vector search")
    space, covered = snapshot.head.spaces[name], build.covered.get(name, 0)
    condition = condition_of(snapshot, build, where)
    if condition is None or limit < 1 or not covered:
        return Nearest((), exact=True)
    scope = snapshot.scope(build, "chunk")
    mark = f"{epoch_column(space.column)} = {space.epoch}"
    scope = " AND ".join(part for part in (scope, mark, condition) if part)
    query = np.frombuffer(vector, "<f4").astype(np.float32)
    column = vector_column(space.column)
    wanted = min(covered, 2 * limit + _BEYOND)
    if covered >= index_from and column in snapshot.indexes():
        best = _scored(snapshot, query, column, scope, wanted, deadline, probes=_PROBES)[0]
        if len(best) >= limit:
            chunks = found(snapshot, build, best[:limit])
            return Nearest(chunks, exact=False, plan="IVF index, scored again")
    slack = len(query) * _ROUNDING
    while True:
        best, least = _scored(snapshot, query, column, scope, wanted, deadline)
        if len(best) < wanted or wanted >= covered:
            break
        if best[limit - 1][1] > least + slack:
            break  # whatever was left out is farther away for certain
        wanted = min(covered, wanted * _GROWTH)
    return Nearest(found(snapshot, build, best[:limit]), exact=True, plan="every vector")


def _scored(
    snapshot: Snapshot,
    query: Any,
    column: str,
    scope: str,
    wanted: int,
    deadline: Deadline,
    *,
    probes: int | None = None,
) -> tuple[list[tuple[int, float]], float]:
    """Candidates by cosine, ties in order; and the least score that Lance gave one of them."""
    import numpy as np

    columns = ("id", "source", "path", "place", column)
    rows = snapshot.nearest(query, column, scope, columns, wanted, deadline, probes=probes)
    if not rows.num_rows:
        return [], -1.0
    deadline.check("the vector search")
    flat = rows[column].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    vectors = flat.astype(np.float64).reshape(rows.num_rows, -1)
    asked = query.astype(np.float64)
    # Row by row in one order, not as a matrix product: equal vectors have to score the same.
    products = (vectors * asked).sum(axis=1)
    lengths = np.sqrt((vectors * vectors).sum(axis=1)) * np.sqrt((asked * asked).sum())
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    keys = zip(
        (-np.clip(cosines, -1.0, 1.0)).tolist(),
        map(text_out, rows["source"].to_pylist()),
        map(text_out, rows["path"].to_pylist()),
        rows["place"].to_pylist(),
        rows["id"].to_pylist(),
        strict=True,
    )
    least = 1.0 - max(rows["_distance"].to_pylist())
    return [(id_, -negative) for negative, _, _, _, id_ in sorted(keys)], least
