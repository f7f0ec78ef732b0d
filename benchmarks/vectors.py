"""Vector search of the SQLite store, against sqlite-vec and LanceDB, in one run.

Run it with ``python benchmarks/vectors.py [--chunks 10000] [--dims 768]``. It fills a store and its
rivals with the same seeded vectors, asks all of them in turns, several times, and prints CPU and
wall milliseconds, how many times faster the first line is than each of the others, and recall at 10
against the true answer. Then the same among a part of the documents, and for a search of words and
vectors at once; and what vectors cost: starting up, memory, disk, replacing 1,000 files.

With ``--folder`` what is made is kept there, and used by the next run; ``--make-only`` ends before
anything is measured. ``--markdown`` writes a page of all runs of that folder.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import tempfile
import time
from statistics import median
from typing import TYPE_CHECKING, Any

from vector_costs import cold, disk, memory, replace_ours, replace_rival
from vector_data import LIMIT, SPACE, fill, make_data, true_answers
from vector_report import page, tables
from vector_rivals import (
    INDEXES,
    JOIN,
    hybrid_ways,
    lancedb_ways,
    make_lancedb,
    make_sqlite,
    sizes_of,
    sqlite_ways,
)

from commonplace.model.search import KeywordQuery, Where
from commonplace.resilience.deadline import NEVER
from commonplace_sqlite.store import SqliteStore
from commonplace_sqlite.vectors.codes import Kernels
from commonplace_sqlite.vectors.searching import VectorSearch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vector_data import Data
    from vector_rivals import Ask

_QUICK = 20.0
"""Milliseconds; what takes longer is not much changed by what stands in the caches."""

_WARM = 30
_WARM_SECONDS = 1.0
"""So often, or so long, each way is asked before: what it keeps for the next time is all there."""

WORDS = ("w17", "embedding", "folders")
PART_OF_ALL = "notes/1*.md"


class _Have(Kernels):
    """What a machine has that lacks some of this one's libraries."""

    def __init__(self, *, numpy: bool, simsimd: bool) -> None:
        super().__init__()
        if not numpy:
            self.numpy = None
        if not simsimd:
            self.simsimd = None


class Ours:
    """The store with some libraries, warm: it has been asked before."""

    def __init__(self, path: str, *, numpy: bool, simsimd: bool, extension: bool) -> None:
        kernels = _Have(numpy=numpy, simsimd=simsimd)
        search = VectorSearch(extension=extension, kernels=kernels)
        self._store = SqliteStore(path, search=search)
        self.where = Where()
        self.plan = ""

    def __call__(self, vector: bytes) -> list[int]:
        """The chunks that are nearest."""
        found = self._store.nearest(SPACE, vector, where=self.where, limit=LIMIT, deadline=NEVER)
        self.plan = f"{found.plan}{', exact' if found.exact else ''}"
        return [int(hit.chunk.id) for hit in found.found]

    def hybrid(self, vector: bytes) -> list[int]:
        """Those, and the best for some words, with their texts."""
        query = KeywordQuery(should=WORDS)
        words = self._store.keyword(query, where=self.where, limit=LIMIT, deadline=NEVER)
        return [int(hit.chunk.id) for hit in words.found] + self(vector)


def ours(path: str) -> dict[str, Ours]:
    """The store with all, some and none of what the extra ``vectors`` installs."""
    return {
        "ours, simsimd and numpy": Ours(path, numpy=True, simsimd=True, extension=True),
        "ours, simsimd alone": Ours(path, numpy=False, simsimd=True, extension=False),
        "ours, numpy alone": Ours(path, numpy=True, simsimd=False, extension=False),
        "ours, sqlite-vec alone": Ours(path, numpy=False, simsimd=False, extension=True),
        "ours, none of them": Ours(path, numpy=False, simsimd=False, extension=False),
    }


def timed(
    ways: Mapping[str, Ask], queries: list[bytes], repeats: int, fewer: Mapping[str, int]
) -> dict[str, Any]:
    """CPU and wall milliseconds and answers, all ways in turns; ``fewer``: queries of a repeat."""
    taken: dict[str, Any] = {name: {"cpu": [], "wall": [], "answers": {}} for name in ways}
    wall_of = dict.fromkeys(ways, 0.0)
    for ask in ways.values():
        started = time.process_time()
        for number in range(_WARM):
            if number < 2 or time.process_time() - started < _WARM_SECONDS:
                ask(queries[0])
    for repeat in range(repeats):
        for number, query in enumerate(queries):
            for name, ask in ways.items():
                if (number - repeat) % len(queries) >= fewer.get(name, len(queries)):
                    continue
                if wall_of[name] < _QUICK:
                    ask(queries[number - 1])  # so that none pays for what the one before did
                wall, cpu = time.perf_counter(), time.process_time()
                answer = ask(query)
                taken[name]["cpu"].append((time.process_time() - cpu) * 1_000)
                taken[name]["wall"].append((time.perf_counter() - wall) * 1_000)
                taken[name]["answers"][number] = answer
                wall_of[name] = taken[name]["wall"][-1]
    return taken


def summary(
    taken: dict[str, Any], truth: list[list[int]], ways: Mapping[str, object]
) -> dict[str, Any]:
    """Medians, 95 % and recall of what was timed."""
    figures = {}
    for name, one in taken.items():
        hits = sum(len(set(a) & set(truth[number])) for number, a in one["answers"].items())
        figures[name] = {
            "cpu": median(one["cpu"]),
            "cpu95": sorted(one["cpu"])[int(len(one["cpu"]) * 0.95)],
            "wall": median(one["wall"]),
            "wall95": sorted(one["wall"])[int(len(one["wall"]) * 0.95)],
            "recall": hits / sum(len(truth[number]) for number in one["answers"]),
            "plan": getattr(ways[name], "plan", ""),
        }
    return figures


def measure(folder: str, path: str, data: Data, given: argparse.Namespace) -> dict[str, Any]:
    """All figures of one size."""
    indexes = tuple(filter(None, given.indexes.split(",")))
    truth = true_answers(data)
    parts = ours(path)
    fewer = {JOIN: given.slow_queries}
    rivals = {**sqlite_ways(folder), **lancedb_ways(folder, data, truth, indexes)}
    ways: dict[str, Ask] = {**parts, **rivals}
    found: dict[str, Any] = {"chunks": len(data.vectors), "dims": data.dims}
    found["vector"] = summary(timed(ways, data.queries, given.repeats, fewer), truth, ways)
    both: dict[str, Ask] = {name: one.hybrid for name, one in parts.items()}
    both |= hybrid_ways(folder, " OR ".join(WORDS))
    found["hybrid"] = summary(timed(both, data.queries, given.repeats, fewer), truth, both)
    for one in parts.values():
        one.where = Where(paths=(PART_OF_ALL,))
    some = data.rows_of([n for n in range(len(data.spans)) if str(n).startswith("1")])
    taken = timed(parts, data.queries, given.repeats, {})
    found["filtered"] = summary(taken, true_answers(data, some), parts)
    found["passing"] = len(some) / len(data.vectors)
    found["cold"] = cold(path, data.queries[0], given.cold_runs)
    found["memory"] = memory(path, data.queries[0])
    found["disk"] = disk(path, data)
    found["load"] = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    found["rivals' disk"] = dict(sizes_of(folder))
    return found


def replaced(folder: str, path: str, data: Data, replacements: int) -> dict[str, Any]:
    """What it costs to replace files, here and there."""
    found = replace_ours(path, data, replacements)
    return {**found, "rival": replace_rival(folder, data, min(replacements, 100))}


def make(folder: str, path: str, data: Data, given: argparse.Namespace) -> None:
    """The store and its rivals; what that took is kept beside them."""
    indexes = tuple(filter(None, given.indexes.split(",")))
    note = os.path.join(folder, "made.json")
    taken: dict[str, Any] = {}
    if os.path.exists(note):
        with open(note, encoding="utf-8") as file:
            taken = json.load(file)
    if not os.path.exists(path):
        taken["ours, documents"], taken["ours, vectors"] = fill(path, data)
    if seconds := make_sqlite(folder, data):
        taken["sqlite-vec, with FTS5"] = seconds
    for name, seconds in make_lancedb(folder, data, indexes).items():
        taken[f"LanceDB {name}"] = seconds
    with open(note, "w", encoding="utf-8") as file:
        json.dump(taken, file)


def main() -> None:
    """Make, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--dims", type=int, default=768)
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5, help="how often all queries are asked")
    parser.add_argument("--slow-queries", type=int, default=2, help="of what takes seconds")
    parser.add_argument("--indexes", default="", help=f"of LanceDB: {','.join(INDEXES)}")
    parser.add_argument("--replacements", type=int, default=1_000)
    parser.add_argument("--cold-runs", type=int, default=5)
    parser.add_argument("--folder", help="keep what is made here, and use it again")
    parser.add_argument("--make-only", action="store_true", help="measure nothing")
    parser.add_argument("--markdown", help="a file for a page of all runs in the folder")
    given = parser.parse_args()
    data = make_data(given.chunks, given.dims, given.queries)
    with tempfile.TemporaryDirectory() as passing:
        base = given.folder or passing
        folder = os.path.join(base, f"{given.chunks}-{given.dims}")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "ours.sqlite")
        make(folder, path, data, given)
        result = os.path.join(folder, "result.json")
        if not given.make_only:
            found = measure(folder, path, data, given)
            if given.replacements:
                found["replaced"] = replaced(folder, path, data, given.replacements)
            with open(os.path.join(folder, "made.json"), encoding="utf-8") as file:
                found["made"] = json.load(file)
            with open(result, "w", encoding="utf-8") as file:
                json.dump(found, file)
            print(tables(found))
        if given.markdown:
            rest = by_hand(given.markdown)
            with open(given.markdown, "w", encoding="utf-8") as file:
                file.write(page(base) + rest)


def by_hand(path: str) -> str:
    """What of a page is not made here: it stands behind a comment that says so."""
    mark = "\n<!-- what follows is written by hand -->\n"
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        _, found, rest = file.read().partition(mark)
        return f"{found}{rest}"
    return ""


if __name__ == "__main__":
    main()
