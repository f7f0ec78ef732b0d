"""Vectors in the rows of chunks: attaching them, and keeping them with their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from commonplace.plugin import Found, Nearest, newest_first
from commonplace_lancedb.conditions import Among, Marked
from commonplace_lancedb.errors import ConflictError, translated
from commonplace_lancedb.head import (
    Space,
    column_of,
    epoch_column,
    text_out,
    vector_column,
    vector_fields,
)
from commonplace_lancedb.reading import CHUNK, condition_of, is_open, passing, stored
from commonplace_lancedb.rows import TEXTS
from commonplace_lancedb.vector_index import CANDIDATES, LEAST_RECALL

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import pyarrow as pa

    from commonplace.plugin import Deadline, Where
    from commonplace_lancedb.database import Database
    from commonplace_lancedb.head import BuildState, Head
    from commonplace_lancedb.loaded_rows import LoadedRows
    from commonplace_lancedb.snapshot import Snapshot


def space_for(head: Head, name: str, dims: int) -> Space:
    """Where vectors of a space are, or will be once there are any.

    Raises ``ValueError`` where the space has other dimensions.
    """
    space = head.spaces.get(name)
    if space is None:
        return Space(column_of(name, dims), dims, head.revision)
    if space.dims != dims:
        raise ValueError(f"the space {name!r} has {space.dims} dimensions, not {dims}")
    return space


def with_columns(database: Database, snapshot: Snapshot, column: str, dims: int) -> Snapshot:
    """A snapshot that has the columns of a space; they are added if need be."""
    if vector_column(column) in snapshot.columns:
        return snapshot
    with translated(database.location):
        database.table().add_columns(vector_fields(column, dims))
    newer = database.latest()
    if newer is None or newer.head != snapshot.head:
        raise ConflictError
    return newer


def attached(
    snapshot: Snapshot, head: Head, build: BuildState, name: str, dims: int, new: dict[str, bytes]
) -> tuple[Head, pa.Table] | None:
    """The commit that attaches ``new``; ``None`` where none of its digests is in ``build``.

    Wherever else the text stands, in another build, it gets the vector too.
    """
    import numpy as np
    import pyarrow as pa

    space = space_for(head, name, dims)
    with_digest = Among("digest", sorted(new))
    known = set(snapshot.rows(build, "chunk", ("digest",), with_digest)["digest"].to_pylist())
    if not known:
        return None
    epochs = epoch_column(space.column)
    with_digest = Among("digest", sorted(known))
    found = []
    after = evolve(head, spaces={**head.spaces, name: space})
    for one in head.builds:
        rows = snapshot.rows(one, "chunk", snapshot.columns, with_digest)
        covered = sum(epoch == space.epoch for epoch in rows[epochs].to_pylist())
        grown = next(state for state in after.builds if state.id == one.id)
        after = after.with_build(grown.covering(name, rows.num_rows - covered))
        found.append(rows)
    table = pa.concat_tables(found)
    vectors = b"".join(new[digest] for digest in table["digest"].to_pylist())
    numbers = pa.array(np.frombuffer(vectors, "<f4").astype(np.float32))
    values = pa.FixedSizeListArray.from_arrays(numbers, dims)
    table = _replaced(table, vector_column(space.column), values)
    marks = pa.array([space.epoch] * table.num_rows, pa.int64())
    return after, _replaced(table, epochs, marks)


def carried(snapshot: Snapshot, head: Head, digests: Collection[str]) -> Any:
    """Rows of the namespace that have one of ``digests``, with all their vectors; or ``None``."""
    import pyarrow as pa

    if not (head.spaces and digests):
        return None
    columns = ["digest"]
    for space in head.spaces.values():
        columns += [vector_column(space.column), epoch_column(space.column)]
    with_digest = Among("digest", sorted(digests))
    return pa.concat_tables(
        [snapshot.rows(build, "chunk", columns, with_digest) for build in head.builds]
    )


def with_vectors(
    table: pa.Table, head: Head, kept: Any, digests: Sequence[str | None]
) -> tuple[pa.Table, dict[str, int]]:
    """``table`` with the vectors that ``kept`` has, and how many rows got one, by space.

    ``digests`` are those of the first rows of ``table``, ``None`` for what is no chunk.
    """
    import pyarrow as pa

    added: dict[str, int] = {}
    if kept is None:
        return table, added
    known = kept["digest"].to_pylist()
    for name, space in head.spaces.items():
        marks = kept[epoch_column(space.column)].to_pylist()
        positions = {
            digest: position
            for position, (digest, mark) in enumerate(zip(known, marks, strict=True))
            if mark == space.epoch
        }
        taken = [positions.get(digest) if digest is not None else None for digest in digests]
        taken += [None] * (table.num_rows - len(taken))
        added[name] = sum(position is not None for position in taken)
        indices = pa.array(taken, pa.int64())
        for column in (vector_column(space.column), epoch_column(space.column)):
            table = _replaced(table, column, kept[column].combine_chunks().take(indices))
    return table, added


def _replaced(table: pa.Table, name: str, values: Any) -> pa.Table:
    position = table.schema.get_field_index(name)
    return table.set_column(position, table.schema.field(position), values)


_BEYOND = 64
"""Candidates beyond twice the limit, so that most often one look is enough."""

_SPARE = 16
"""Candidates beyond the limit where an index answers: it compares more whole vectors than that."""

_GROWTH = 4

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

    From ``index_from`` vectors on an index is used, if there is one that was measured to find 99 of
    100, and the answer says how many it does; else every vector is compared.
    """
    import numpy as np

    deadline.check("the vector search")
    space, covered = snapshot.head.spaces[name], build.covered.get(name, 0)
    if limit < 1 or not covered:
        return Nearest((), exact=True)
    query = np.frombuffer(vector, "<f4").astype(np.float32)
    column = vector_column(space.column)
    loaded = snapshot.loaded_rows((*TEXTS, column), deadline)
    if loaded is not None:
        rows = _in_memory(loaded, build, space, query, where)
        return _every(rows, query, column, limit, covered, deadline)
    condition = condition_of(snapshot, build, where)
    if condition is None:
        return Nearest((), exact=True)
    scope = " AND ".join(
        filter(None, (snapshot.scope(build, "chunk"), Marked(space).sql, condition))
    )
    columns = (*CHUNK, "position", column)
    wanted = min(covered, 2 * limit + _BEYOND)
    # An index finds some of the vectors; a copy asks for all.
    index = snapshot.vector_index(column) if covered >= index_from and wanted < covered else None
    if index is not None and index.recall >= LEAST_RECALL:
        index = index.of_part(covered)
        fewer = min(wanted, max(CANDIDATES, limit + _SPARE))
        found = snapshot.nearest(query, column, scope, columns, fewer, deadline, index=index)
        best = _scored(found, query, column, deadline)[0]
        if len(best) >= limit:
            plan = index.plan(filtered=bool(condition))
            return Nearest(tuple(best[:limit]), exact=False, plan=plan)
    return _every(
        lambda number: snapshot.nearest(
            query, column, scope, columns, number, deadline, index=None
        ),
        query,
        column,
        limit,
        covered,
        deadline,
    )


def _every(
    rows: Callable[[int], pa.Table],
    query: Any,
    column: str,
    limit: int,
    covered: int,
    deadline: Deadline,
) -> Nearest:
    """The best of all vectors; ``rows`` gives as many of the nearest as it is asked for."""
    slack = len(query) * _ROUNDING
    wanted = min(covered, 2 * limit + _BEYOND)
    while True:
        best, least = _scored(rows(wanted), query, column, deadline)
        if len(best) < wanted or wanted >= covered:
            break
        if best[limit - 1].score > least + slack:
            break  # whatever was left out is farther away for certain
        wanted = min(covered, wanted * _GROWTH)
    return Nearest(tuple(best[:limit]), exact=True, plan="every vector")


def _in_memory(
    loaded: LoadedRows, build: BuildState, space: Space, query: Any, where: Where
) -> Callable[[int], pa.Table]:
    """Gives as many of the nearest rows as it is asked for, by the vectors in memory."""
    import numpy as np
    import pyarrow as pa

    column = vector_column(space.column)
    positions = loaded.positions(build.id, "chunk", Marked(space))
    if not is_open(where):
        documents = loaded.positions(build.id, "doc")
        names = [n for n in ("source", "path", "day", "tags") if loaded.has((n,))]
        values = loaded.take(documents, names).to_pydict()
        kept = list(map(passing(where), *(values[name] for name in names)))
        ids = loaded.int_column("id")[documents[np.asarray(kept, bool)]]
        positions = positions[np.isin(loaded.int_column("doc")[positions], ids)]
    products = loaded.products(column, query)[positions]

    def rows(wanted: int) -> pa.Table:
        best = np.arange(len(products))
        if wanted < len(products):
            best = np.argpartition(-products, wanted - 1)[:wanted]
        table = loaded.take(positions[best], (*CHUNK, "position", column))
        return table.append_column("_distance", pa.array(1.0 - products[best], pa.float32()))

    return rows


def _scored(
    rows: pa.Table, query: Any, column: str, deadline: Deadline
) -> tuple[list[Found], float]:
    """Candidates by cosine, ties in order; and the least score that one of them was named for.

    Their texts came with them: another query would be as many more requests to a bucket.
    """
    import numpy as np

    if not rows.num_rows:
        return [], -1.0
    deadline.check("the vector search")
    flat = rows[column].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    vectors = flat.astype(np.float64).reshape(rows.num_rows, -1)
    wanted = query.astype(np.float64)
    # Row by row in one order, not as a matrix product: equal vectors have to score the same.
    products = (vectors * wanted).sum(axis=1)
    lengths = np.sqrt((vectors * vectors).sum(axis=1)) * np.sqrt((wanted * wanted).sum())
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    keys = zip(
        (-np.clip(cosines, -1.0, 1.0)).tolist(),
        map(newest_first, rows["day"].to_pylist()),
        map(text_out, rows["source"].to_pylist()),
        map(text_out, rows["path"].to_pylist()),
        rows["position"].to_pylist(),
        range(rows.num_rows),
        strict=True,
    )
    least = 1.0 - max(rows["_distance"].to_pylist())
    chunks = rows.select(CHUNK).to_pylist()
    return [Found(stored(chunks[key[-1]]), -key[0]) for key in sorted(keys)], least
