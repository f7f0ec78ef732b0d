"""The plan of machines that have nothing to compute with: a first look at signs alone.

How many chunks have to be scored truly after it is measured, for it is a matter of the vectors: for
some queries, how far the best ten are from the front when sorted by signs.
"""

from __future__ import annotations

from bisect import bisect_right
from heapq import nlargest
from itertools import islice
from math import ceil
from operator import add, mul
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace_sqlite.encoding import ids_in
from commonplace_sqlite.vectors.codes import sign_bytes, sign_mask
from commonplace_sqlite.vectors.floats import integers, numbers
from commonplace_sqlite.vectors.streaming import select_slabs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import apsw

    from commonplace.plugin import Deadline
    from commonplace_sqlite.vectors.rescoring import Pair
    from commonplace_sqlite.vectors.spaces import Space

__all__ = ["Calibration", "calibrate", "calibration_of", "differences"]

_GROUP = 1_024
_SIGNS = "SELECT chunks, vectors, signs FROM slab_<n> WHERE space = ? <documents>"

_ASKED = 64
_STRIDE = 27
"""So that the first few are from everywhere."""

_FEWEST_ASKED = 16
_MOST_SECONDS = 20.0
_BEST = 10
_RECALL = 0.995
_MARGIN = 1.5
_SHARE = 100
"""Times more are looked at than were needed, and at least one in a hundred: there are few queries
among those asked here, or none, that lie as far off as some do."""

_LOOKED_AT = 4_096
"""The best ten of all are taken to be among so many by signs."""

_STEP = 64

_SAMPLE = "SELECT e FROM vector WHERE id >= ? AND +space = ? ORDER BY id LIMIT 1"
_LAST = "SELECT max(id) FROM vector"
_VECTORS = "SELECT id, e FROM vector WHERE id IN (SELECT value FROM json_each(?))"
_STORED = "SELECT size, rescored, recall FROM calibration WHERE space = ?"
_STORE = "INSERT OR REPLACE INTO calibration (space, size, rescored, recall) VALUES (?, ?, ?, ?)"


class Calibration(NamedTuple):
    """For how many vectors it was measured, how many to score truly, and the recall of that."""

    size: int
    rescored: int
    recall: float

    def fits(self, size: int) -> bool:
        """Whether it can be taken for so many vectors."""
        return self.size / 2 <= size <= self.size * 2


class Differences(NamedTuple):
    """Of all rows of some documents: by how many signs they differ, and which they are."""

    numbers: list[int]
    ends: list[int]
    held: list[tuple[bytes, bytes]]

    def nearest(self, count: int) -> list[int]:
        """The ``count`` rows, or some more, that differ least."""
        if count >= len(self.numbers):
            return list(range(len(self.numbers)))
        most = sorted(self.numbers)[count - 1]
        return [row for row, number in enumerate(self.numbers) if number <= most]

    def pair(self, row: int) -> Pair:
        """The chunk of a row, and its vector."""
        slab = bisect_right(self.ends, row) - 1
        at = slice(8 * (row - self.ends[slab]), 8 * (row - self.ends[slab] + 1))
        chunks, vectors = self.held[slab]
        return integers(chunks[at])[0], integers(vectors[at])[0]


def differences(
    connection: apsw.Connection,
    build: int,
    space: Space,
    documents: Collection[int] | None,
    query: Sequence[float],
    deadline: Deadline,
) -> Differences:
    """By how many signs each chunk differs from ``query``."""
    mask = sign_mask(query)
    width = sign_bytes(space.dims)
    found = Differences([], [0], [])
    differ = found.numbers
    from_bytes = int.from_bytes
    slabs = select_slabs(connection, _SIGNS, build, space, documents)
    while group := list(islice(slabs, _GROUP)):
        deadline.check("the vector search")
        for chunks, vectors, signs in group:
            differ += [
                (from_bytes(signs[begin : begin + width], "little") ^ mask).bit_count()
                for begin in range(0, len(signs), width)
            ]
            found.ends.append(len(differ))
            found.held.append((chunks, vectors))
    return found


def calibration_of(connection: apsw.Connection, space: Space) -> Calibration | None:
    """What was measured for a space, if anything was."""
    row: Any = connection.execute(_STORED, (space.id,)).fetchone()
    return row and Calibration(*row)


def calibrate(
    connection: apsw.Connection, build: int, space: Space, size: int, deadline: Deadline
) -> Calibration:
    """Measure, and keep what was found, in some 20 s at most; the caller holds a transaction."""
    last: int = connection.execute(_LAST).get or 1
    ranks: list[int] = []
    give_up = process_time() + _MOST_SECONDS
    for asked in range(_ASKED):
        if asked >= _FEWEST_ASKED and process_time() > give_up:
            break
        # What lies between two vectors is as far from all that is stored as queries are, or
        # further; vectors themselves would be too easy to find.
        place = asked * _STRIDE % _ASKED
        places = (last * place // _ASKED, last * (place + _ASKED // 3) // _ASKED % last)
        rows: Any = [connection.execute(_SAMPLE, (place, space.id)).fetchone() for place in places]
        if None not in rows:
            between = list(map(add, *(numbers(e) for (e,) in rows)))
            ranks += _ranks(connection, build, space, between, deadline)
    ranks.sort()
    needed = ranks[int(len(ranks) * _RECALL)] if ranks else 0
    rescored = _STEP * ceil(max(needed * _MARGIN, size / _SHARE, 1) / _STEP)
    recall = bisect_right(ranks, rescored / _MARGIN) / max(1, len(ranks))
    connection.execute(_STORE, (space.id, size, rescored, recall))
    return Calibration(size, rescored, recall)


def _ranks(
    connection: apsw.Connection,
    build: int,
    space: Space,
    query: Sequence[float],
    deadline: Deadline,
) -> list[int]:
    """How many rows have to be looked at, sorted by signs, to come to each of the best ten."""
    found = differences(connection, build, space, None, query, deadline)
    by_vector = {found.pair(row)[1]: row for row in found.nearest(_LOOKED_AT)}
    rows: Any = connection.execute(_VECTORS, (ids_in(by_vector),))
    scored = ((sum(map(mul, query, numbers(e))), by_vector[id_]) for id_, e in rows)
    in_order = sorted(found.numbers)
    return [bisect_right(in_order, found.numbers[row]) for _, row in nlargest(_BEST, scored)]
