"""Plans that keep nothing in memory: what they need is read from the file as they go."""

from __future__ import annotations

from bisect import bisect_right
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.encoding import ids_in
from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.bounds import CodedQuery, Contest
from commonplace_sqlite.vectors.codes import sign_bytes, sign_mask, split
from commonplace_sqlite.vectors.floats import integers, numbers, numbers_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import apsw

    from commonplace.deadline import Deadline
    from commonplace_sqlite.vectors.kernels import Kernels
    from commonplace_sqlite.vectors.rescoring import Pair
    from commonplace_sqlite.vectors.spaces import Space

__all__ = ["all_pairs", "by_codes", "by_extension", "by_signs"]

_GROUP = 1_024
"""Vectors whose codes are compared at once."""

_CODES = "SELECT document, part, packed FROM code_<n> WHERE space = ? <documents>"
_PAIRS = "SELECT chunks, vectors FROM slab_<n> WHERE space = ? <documents>"
_SIGNS = "SELECT chunks, vectors, signs FROM slab_<n> WHERE space = ? <documents>"
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
    starts: list[int] = []
    parts: list[tuple[int, int]] = []
    total = 0
    group: list[tuple[int, memoryview, memoryview, memoryview]] = []
    begin = 0
    for document, part, packed in _select(connection, _CODES, build, space, documents):
        one = split(packed, space.dims)
        group.append(one)
        starts.append(total)
        parts.append((document, part))
        total += one[0]
        if total - begin >= _GROUP:
            deadline.check("the vector search")
            _enter(contest, group, coded, range(begin, total), kernels, space.dims)
            group, begin = [], total
    if group:
        _enter(contest, group, coded, range(begin, total), kernels, space.dims)
    chosen: dict[int, list[int]] = {}
    for row in contest.winners():
        slab = bisect_right(starts, row) - 1
        chosen.setdefault(slab, []).append(row - starts[slab])
    one_slab = of_build(_ONE_SLAB, build)
    pairs: list[Pair] = []
    for slab, places in chosen.items():
        ((chunks, vectors),) = connection.execute(one_slab, (space.id, *parts[slab]))
        held = list(zip(integers(chunks), integers(vectors), strict=True))
        pairs += [held[place] for place in places]
    return pairs


def _enter(
    contest: Contest,
    group: list[tuple[int, memoryview, memoryview, memoryview]],
    coded: CodedQuery,
    rows: range,
    kernels: Kernels,
    dims: int,
) -> None:
    scales = numbers(b"".join([scales for _, scales, _, _ in group]))
    residuals = numbers(b"".join([residuals for _, _, residuals, _ in group]))
    dots = kernels.dots(coded.code, b"".join([levels for _, _, _, levels in group]), dims)
    scale, slope, base = coded.scale, coded.slope, coded.base
    estimates = [dot * other * scale for dot, other in zip(dots, scales, strict=True)]
    bounds = [residual * slope + base for residual in residuals]
    uppers = [one + bound for one, bound in zip(estimates, bounds, strict=True)]
    lowers = [one - bound for one, bound in zip(estimates, bounds, strict=True)]
    contest.enter(uppers, lowers, rows)


def all_pairs(
    connection: apsw.Connection, build: int, space: Space, documents: Collection[int] | None
) -> list[Pair]:
    """All chunks with vectors, of these documents."""
    return [
        pair
        for chunks, vectors in _select(connection, _PAIRS, build, space, documents)
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
    uppers = [score + slack for _, score in rows]
    lowers = [score - slack for _, score in rows]
    contest.enter(uppers, lowers, [id_ for id_, _ in rows])
    winners = set(contest.winners())
    return [pair for pair in pairs if pair[1] in winners]


def by_signs(
    connection: apsw.Connection,
    build: int,
    space: Space,
    documents: Collection[int] | None,
    query: Sequence[float],
    count: int,
    deadline: Deadline,
) -> list[Pair]:
    """The ``count`` chunks whose signs differ least from the query's: most of the best."""
    mask = sign_mask(query)
    width = sign_bytes(space.dims)
    group: list[tuple[int, Pair]] = []
    from_bytes = int.from_bytes
    for chunks, vectors, signs in _select(connection, _SIGNS, build, space, documents):
        differ = [
            (from_bytes(signs[begin : begin + width], "little") ^ mask).bit_count()
            for begin in range(0, len(signs), width)
        ]
        group += zip(differ, zip(integers(chunks), integers(vectors), strict=True), strict=True)
        if len(group) >= count + 8 * _GROUP:
            deadline.check("the vector search")
            group = nsmallest(count, group)
    return [pair for _, pair in nsmallest(count, group)]


def _select(
    connection: apsw.Connection,
    sql: str,
    build: int,
    space: Space,
    documents: Collection[int] | None,
) -> Iterator[Any]:
    among = "" if documents is None else _AMONG
    values = (space.id,) if documents is None else (space.id, ids_in(documents))
    return iter(connection.execute(of_build(sql, build).replace("<documents>", among), values))
