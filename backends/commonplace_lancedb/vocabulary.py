"""Tokens by how they begin: looked for in the terms of all chunks, as one text in memory.

Lance's index has its tokens in a file of its own, which no query reads. To read the terms takes a
few milliseconds for each version of the table; to find a token in them takes less than one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from commonplace_lancedb.head import text_in, text_out
from commonplace_lancedb.rows import TEXTS

if TYPE_CHECKING:
    from commonplace.plugin import Deadline
    from commonplace_lancedb.head import BuildState
    from commonplace_lancedb.snapshot import Snapshot


_MOST_TOKENS = 4_000_000
"""Of a build that has more, counted in all chunks, none is found: their text is held in memory,
some seven bytes for each token, and is read again after each change."""

_ROW = b" \n "
"""Stands before, between and after the rows: each token has a space on both sides."""


def tokens_beginning(
    snapshot: Snapshot, build: BuildState, text: str, limit: int, deadline: Deadline
) -> dict[str, int]:
    """The ``limit`` tokens that begin with ``text`` and that most chunks hold, and how many do.

    None are found in large builds, and in a bucket whose rows are not in memory.
    """
    if limit < 1 or not text or " " in text:
        return {}
    deadline.check("the look-up of words")
    terms = _terms(snapshot, build, deadline)
    counts: Counter[bytes] = Counter()
    of_row: set[bytes] = set()
    beginning, row_end = f" {text_in(text)}".encode(), -1
    at = terms.find(beginning)
    while at >= 0:
        if at > row_end:
            deadline.check("the look-up of words")
            counts.update(of_row)
            of_row.clear()
            row_end = terms.find(_ROW, at)
        end = terms.find(b" ", at + 1)
        of_row.add(terms[at + 1 : end])
        at = terms.find(beginning, end)
    counts.update(of_row)
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return {text_out(token.decode()): count for token, count in best}


def _terms(snapshot: Snapshot, build: BuildState, deadline: Deadline) -> bytes:
    """The terms of all chunks of a build, as UTF-8; of one snapshot they are read once.

    Nothing where they are not to be read.
    """
    if build.id in snapshot.terms:
        return snapshot.terms[build.id]
    if not 0 < build.total.tokens <= _MOST_TOKENS or not _at_hand(snapshot, deadline):
        return b""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = snapshot.rows(build, "chunk", ("terms",))["terms"].combine_chunks()
    every = pa.ListArray.from_arrays(pa.array([0, len(rows)], pa.int32()), rows)
    joined = pc.binary_join(every, _ROW.decode())[0].as_buffer().to_pybytes()
    snapshot.terms[build.id] = _ROW + joined + _ROW
    return snapshot.terms[build.id]


def _at_hand(snapshot: Snapshot, deadline: Deadline) -> bool:
    """Whether no bucket is asked for the terms of each chunk."""
    if snapshot.is_on_disk:
        return True
    return snapshot.loaded_rows(TEXTS, None if snapshot.gave_up else deadline) is not None
