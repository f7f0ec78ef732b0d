"""Rows that match a query: those that Lance's index names, and those that it does not know yet.

Where rows are in memory Lance is asked for addresses alone, and only of rows in its index: the
others, which it would read from the bucket for each search, are searched here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace_lancedb.rows import TEXTS
from commonplace_lancedb.scoring import Candidate, has, padded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from commonplace.plugin import Deadline
    from commonplace_lancedb.head import BuildState
    from commonplace_lancedb.loaded_rows import LoadedRows
    from commonplace_lancedb.scoring import Padded
    from commonplace_lancedb.snapshot import Snapshot


_COLUMNS = ("id", "source", "path", "position", "day", "terms", "tokens")


class Wanted(NamedTuple):
    """A query in Lance's form, and the same for a row in memory.

    ``condition`` is the filter for Lance; ``passes`` is the same filter, of an id, source, path,
    day and tags.
    """

    query: Any
    holds: Callable[[Padded], bool]
    condition: str
    passes: Callable[[int, str, str, str | None, Any], bool]


class Fetched(NamedTuple):
    """The best ``limit`` of the index, and what matches of the rows that are not in it."""

    best: list[Candidate]
    loose: list[Candidate]
    limit: int

    @property
    def complete(self) -> bool:
        """Whether these are all that match."""
        return len(self.best) < self.limit


def fetched(
    snapshot: Snapshot, build: BuildState, wanted: Wanted, limit: int, deadline: Deadline
) -> Fetched:
    """The best ``limit`` rows by Lance's own scores, with their terms."""
    loaded = snapshot.loaded_rows(TEXTS, deadline)
    if loaded is None:
        query, condition = wanted.query, wanted.condition
        rows = snapshot.matching(query, condition, _COLUMNS, limit, deadline)
        return Fetched(list(_candidates(rows)), [], limit)
    addresses, loose = _named(snapshot, loaded, build, wanted, limit, deadline)
    rows = loaded.take(loaded.positions_at(addresses), _COLUMNS)
    return Fetched(list(_candidates(rows)), loose, limit)


def counted(
    snapshot: Snapshot, build: BuildState, wanted: Wanted, limit: int, deadline: Deadline
) -> int:
    """How many rows match; no more than ``limit`` are counted of those in the index."""
    loaded = snapshot.loaded_rows(TEXTS, deadline)
    if loaded is None:
        rows = snapshot.matching(wanted.query, wanted.condition, ("id",), limit, deadline)
        return int(rows.num_rows)
    addresses, loose = _named(snapshot, loaded, build, wanted, limit, deadline)
    return len(addresses) + len(loose)


def _named(
    snapshot: Snapshot,
    loaded: LoadedRows,
    build: BuildState,
    wanted: Wanted,
    limit: int,
    deadline: Deadline,
) -> tuple[Any, list[Candidate]]:
    """The addresses of the best rows, and those beside them that the index does not know."""
    loose = _loose(snapshot, loaded, build)
    rows = snapshot.matching(
        wanted.query,
        wanted.condition,
        ("_rowid",),
        limit,
        deadline,
        indexed=loose is not None,
    )
    deadline.check("the keyword search")
    matching = [
        row
        for row, tags in loose or ()
        if wanted.holds(row.columns) and wanted.passes(row.id, row.source, row.path, row.day, tags)
    ]
    return rows["_rowid"].to_numpy(), matching


def _loose(
    snapshot: Snapshot, loaded: LoadedRows, build: BuildState
) -> list[tuple[Candidate, list[str] | None]] | None:
    """The chunks that the index does not know yet, with their tags.

    These are in the last files of the table. ``None`` where it is not certain which they are.
    """
    if build.id not in snapshot.loose:
        number = snapshot.unindexed()
        positions = None if number is None else loaded.chunks_among_last(number)
        if positions is None:
            snapshot.loose[build.id] = None
        else:
            of_build = loaded.mask(build.id, "chunk")
            tagged = [name for name in ("tags",) if name in snapshot.columns]
            rows = loaded.take(positions[of_build[positions]], (*_COLUMNS, *tagged))
            tags = rows["tags"].to_pylist() if tagged else [None] * rows.num_rows
            snapshot.loose[build.id] = list(zip(_candidates(rows), tags, strict=True))
    return snapshot.loose[build.id]


def _candidates(rows: pa.Table) -> Iterator[Candidate]:
    values = [rows[name].to_pylist() for name in _COLUMNS]
    for id_, source, path, position, day, terms, length in zip(*values, strict=True):
        yield Candidate(id_, source, path, position, day, padded(terms), length)


def holds_any(tokens: Sequence[str]) -> Callable[[Padded], bool]:
    """Whether a row holds one of the words that ``tokens`` consist of."""
    needles = [f" {word} " for word in dict.fromkeys(" ".join(tokens).split(" "))]
    return lambda columns: any(needle in columns[0] for needle in needles)


def holds_all(phrases: Sequence[Sequence[str]]) -> Callable[[Padded], bool]:
    """Whether a row holds each of ``phrases``."""
    return lambda columns: all(has(columns, phrase) for phrase in phrases)
