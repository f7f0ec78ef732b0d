"""Vectors in the rows of chunks: attaching them, and keeping them with their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from commonplace_lancedb.encoding import literals
from commonplace_lancedb.head import Space
from commonplace_lancedb.schema import column_of, epoch_column, vector_column, vector_fields
from commonplace_lancedb.translation import ConflictError, translated

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pyarrow as pa

    from commonplace_lancedb.database import Database
    from commonplace_lancedb.head import BuildState, Head
    from commonplace_lancedb.snapshot import Snapshot

__all__ = ["attached", "carried", "check", "space_for", "with_columns", "with_vectors"]


def check(vector: bytes, dims: int) -> None:
    """Raise ``ValueError`` unless ``vector`` is ``dims`` finite numbers."""
    import numpy as np

    if dims < 1 or len(vector) != 4 * dims:
        raise ValueError(f"a vector of {len(vector)} bytes where {dims} dimensions are expected")
    if not np.isfinite(np.frombuffer(vector, "<f4")).all():
        raise ValueError("a vector with a number that is not finite")


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
    with translated(database.place):
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
    import pyarrow as pa

    space = space_for(head, name, dims)
    condition = f"digest IN ({literals(sorted(new))})"
    known = set(snapshot.rows(build, "chunk", ("digest",), condition)["digest"].to_pylist())
    if not known:
        return None
    epochs = epoch_column(space.column)
    condition = f"digest IN ({literals(sorted(known))})"
    found = []
    after = evolve(head, spaces={**head.spaces, name: space})
    for one in head.builds:
        rows = snapshot.rows(one, "chunk", snapshot.columns, condition)
        covered = sum(epoch == space.epoch for epoch in rows[epochs].to_pylist())
        grown = next(state for state in after.builds if state.id == one.id)
        after = after.with_build(grown.covering(name, rows.num_rows - covered))
        found.append(rows)
    table = pa.concat_tables(found)
    vectors = [new[digest] for digest in table["digest"].to_pylist()]
    table = _replaced(table, vector_column(space.column), _column(vectors, dims))
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
    condition = f"digest IN ({literals(sorted(digests))})"
    return pa.concat_tables(
        [snapshot.rows(build, "chunk", columns, condition) for build in head.builds]
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
        places = {
            digest: place
            for place, (digest, mark) in enumerate(zip(known, marks, strict=True))
            if mark == space.epoch
        }
        taken = [places.get(digest) if digest is not None else None for digest in digests]
        taken += [None] * (table.num_rows - len(taken))
        added[name] = sum(place is not None for place in taken)
        indices = pa.array(taken, pa.int64())
        for column in (vector_column(space.column), epoch_column(space.column)):
            table = _replaced(table, column, kept[column].combine_chunks().take(indices))
    return table, added


def _column(vectors: Sequence[bytes], dims: int) -> Any:
    import numpy as np
    import pyarrow as pa

    numbers = np.frombuffer(b"".join(vectors), "<f4").astype(np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(numbers), dims)


def _replaced(table: pa.Table, name: str, values: Any) -> pa.Table:
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(place), values)
