"""Plans that keep nothing in memory: what they need is read from the file as they go."""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.encoding import ids_in
from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.bounds import CodedQuery, Contest
from commonplace_sqlite.vectors.codes import row_bytes, rows_in_part
from commonplace_sqlite.vectors.floats import integers, numbers_in
from commonplace_sqlite.vectors.screening import near_by_numpy, near_by_simsimd
from commonplace_sqlite.vectors.spaces import covered

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import apsw

    from commonplace.plugin import Deadline
    from commonplace_sqlite.vectors.kernels import Kernels
    from commonplace_sqlite.vectors.rescoring import Pair
    from commonplace_sqlite.vectors.spaces import Space

__all__ = ["all_pairs", "by_codes", "by_extension", "count_vectors", "select_slabs"]

_GROUP = 1_024
"""Vectors whose codes are compared at once."""

_CODES = "SELECT document, part, packed FROM code_<n> WHERE space = ? <documents>"
_COUNT = "SELECT coalesce(sum(count), 0) FROM slab_<n> WHERE space = ? <documents>"
_PAIRS = "SELECT chunks, vectors FROM slab_<n> WHERE space = ? <documents>"
_ONE_SLAB = "SELECT chunks, vectors FROM slab_<n> WHERE space = ? AND document = ? AND part = ?"
_AMONG = "AND document IN (SELECT value FROM json_each(?))"
# A vector of length 0 is at no angle to any other: NULL.
_DISTANCES = """
SELECT id, 1 - coalesce(vec_distance_cosine(e, ?), 1) FROM vector
WHERE id IN (SELECT value FROM json_each(?))
"""

_EXTENSION_ROUNDING = 2.0**-21
"""Times the dimensions: sqlite-vec adds up in float32, and divides by lengths found so."""


def by_codes(
    connection: apsw.Connection,
    build: int,
    space: Space,
    documents: Collection[int] | None,
    query: Sequence[float],
    limit: int,
    kernels: Kernels,
    deadline: Deadline,
) -> list[Pair]:
    """The chunks that can be among the best ``limit``; the best are among them for certain."""
    coded = CodedQuery(query)
    contest = Contest(limit)
    width = row_bytes(space.dims)
    ends = [0]
    parts: list[tuple[int, int]] = []
    slabs = select_slabs(connection, _CODES, build, space, documents)
    while group := list(islice(slabs, max(1, _GROUP // rows_in_part(space.dims)))):
        deadline.check("the vector search")
        begin = ends[-1]
        for document, part, packed in group:
            ends.append(ends[-1] + len(packed) // width)
            parts.append((document, part))
        rows = b"".join([packed for _, _, packed in group])
        near = near_by_simsimd if kernels.simsimd is not None else near_by_numpy
        places, estimates, bounds = near(kernels, coded, rows, contest.floor)
        contest.enter(estimates, bounds, [begin + place for place in places])
    chosen: dict[int, list[int]] = {}
    for row in contest.winners():
        slab = bisect_right(ends, row) - 1
        chosen.setdefault(slab, []).append(row - ends[slab])
    one_slab = of_build(_ONE_SLAB, build)
    pairs: list[Pair] = []
    for slab, places in chosen.items():
        ((chunks, vectors),) = connection.execute(one_slab, (space.id, *parts[slab]))
        held = list(zip(integers(chunks), integers(vectors), strict=True))
        pairs += [held[place] for place in places]
    return pairs


def count_vectors(
    connection: apsw.Connection, build: int, space: Space, documents: Collection[int] | None
) -> int:
    """How many chunks of these documents have a vector."""
    if documents is None:
        return covered(connection, build, space)
    ((number,),) = select_slabs(connection, _COUNT, build, space, documents)
    return int(number)


def all_pairs(
    connection: apsw.Connection, build: int, space: Space, documents: Collection[int] | None
) -> list[Pair]:
    """All chunks with vectors, of these documents."""
    return [
        pair
        for chunks, vectors in select_slabs(connection, _PAIRS, build, space, documents)
        for pair in zip(integers(chunks), integers(vectors), strict=True)
    ]


def by_extension(
    connection: apsw.Connection, pairs: Sequence[Pair], query: Sequence[float], limit: int
) -> list[Pair]:
    """Of ``pairs`` those that can be among the best ``limit``, by sqlite-vec's own scores."""
    slack = len(query) * _EXTENSION_ROUNDING
    ids = ids_in(sorted({vector for _, vector in pairs}))
    rows: Any = connection.execute(_DISTANCES, (numbers_in(query), ids)).fetchall()
    contest = Contest(limit)
    contest.enter([score for _, score in rows], [slack] * len(rows), [id_ for id_, _ in rows])
    winners = set(contest.winners())
    return [pair for pair in pairs if pair[1] in winners]


def select_slabs(
    connection: apsw.Connection,
    sql: str,
    build: int,
    space: Space,
    documents: Collection[int] | None,
) -> Iterator[Any]:
    """The rows of ``sql``, with ``<documents>`` in it made the condition on them."""
    among = "" if documents is None else _AMONG
    values = (space.id,) if documents is None else (space.id, ids_in(documents))
    return iter(connection.execute(of_build(sql, build).replace("<documents>", among), values))
