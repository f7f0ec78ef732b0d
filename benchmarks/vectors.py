"""Vector search of the SQLite store, against sqlite-vec and LanceDB, in one run.

Run it with ``python benchmarks/vectors.py [--chunks 10000] [--dims 768]``. It fills a store and its
rivals with the same seeded vectors, asks all of them in turns, and prints CPU milliseconds (median
and 95 %), how many times faster the first line is than each of the others, and recall at 10 against
the true answer. Then the size of the file, what 1,000 replaced files make of it, and what a search
for vectors adds to a process that starts, searches and ends.

The vectors are clustered as embeddings are: a shared offset, a spectrum that falls by a power law,
topics, subtopics and near-duplicates; half of the queries are noisy copies of what is stored.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from array import array
from functools import partial
from hashlib import sha256
from importlib import import_module
from math import fsum
from operator import mul
from statistics import median
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from commonplace.deadline import NEVER
from commonplace.model.chunks import AnalysedChunk, Chunk, PutDocument, Terms
from commonplace.model.search import Where
from commonplace_sqlite.store import SqliteStore
from commonplace_sqlite.vectors.extension import Extension
from commonplace_sqlite.vectors.kernels import Kernels
from commonplace_sqlite.vectors.searching import VectorSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[bytes], list[int]]

SEED = 7
SPACE = "benchmark"
PER_DOCUMENT = 20
LIMIT = 10
PART_OF_ALL = Where(paths=("notes/1*.md",))


def clustered(chunks: int, dims: int, queries: int) -> tuple[Any, Any]:
    """Unit vectors, chunk by chunk, and queries for them."""
    dice = np.random.default_rng(SEED)
    spread = np.arange(1, dims + 1) ** -0.6
    turn = np.linalg.qr(dice.normal(size=(dims, dims)))[0].astype(np.float32)
    topics = max(4, chunks // 800)
    shares = 1 / np.arange(1, topics + 1)
    topic = dice.normal(size=(topics, dims)) * spread
    offset = dice.normal(size=dims) * spread * 0.8

    def draw(count: int) -> Any:
        rows = np.empty((count, dims), np.float32)
        for begin in range(0, count, 40):
            one = topic[dice.choice(topics, p=shares / shares.sum())]
            subtopic = one + dice.normal(size=dims) * spread * 0.7
            size = min(40, count - begin)
            rows[begin : begin + size] = (
                offset + subtopic + dice.normal(size=(size, dims)) * spread * 0.6
            )
        return rows

    stored = draw(chunks)
    again = dice.choice(chunks, chunks // 10)
    stored[again] = stored[again - 1] + dice.normal(size=(len(again), dims)) * spread * 0.05
    noisy = stored[dice.choice(chunks, queries // 2)]
    noisy = noisy + dice.normal(size=noisy.shape) * spread * 0.4
    asked = np.concatenate([draw(40 * (queries - len(noisy)))[::40], noisy])
    return tuple(_unit(rows @ turn) for rows in (stored, asked))


def _unit(rows: Any) -> Any:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")


def document(number: int, revision: int = 0) -> PutDocument:
    """A document of some twenty lines of text."""
    chunks = []
    for place in range(PER_DOCUMENT):
        text = f"note {number} part {place} revision {revision} " + "lorem ipsum dolor " * 40
        digest = sha256(text.encode()).hexdigest()
        terms = Terms(text)
        chunks.append(AnalysedChunk(Chunk(place + 1, place + 1, text), terms, digest))
    return PutDocument(
        source="memory",
        path=f"notes/{number}.md",
        digest=sha256(str((number, revision)).encode()).hexdigest(),
        stamp=(1, 1, 1, 1),
        recipe="benchmark",
        day=None,
        trust="memory",
        chunks=tuple(chunks),
    )


def fill(path: str, vectors: Any) -> None:
    """A store of these vectors, document by document."""
    store = SqliteStore(path)
    step = 2_000 // PER_DOCUMENT
    with store.writer(wait=10):
        build = store.open_build("benchmark")
        store.activate(build)
        for begin in range(0, len(vectors) // PER_DOCUMENT, step):
            numbers = range(begin, min(begin + step, len(vectors) // PER_DOCUMENT))
            documents = [document(number) for number in numbers]
            store.put_documents(build, documents)
            digests = [chunk.digest for one in documents for chunk in one.chunks]
            rows = vectors[begin * PER_DOCUMENT :][: len(digests)]
            store.put_vectors(
                build,
                SPACE,
                vectors.shape[1],
                {digest: row.tobytes() for digest, row in zip(digests, rows, strict=True)},
            )
    store.close()


def rivals(folder: str, vectors: Any) -> dict[str, Ask]:
    """What others offer for the same vectors; chunk ``n`` is the ``n``-th, from 1 on."""
    path = os.path.join(folder, "rival.sqlite")
    extension = Extension()
    made = apsw.Connection(path)
    if not extension.load(made):
        print("sqlite-vec is not installed: no rivals")
        return {}
    made.pragma("journal_mode", "WAL")
    made.execute(
        "CREATE TABLE chunks (id TEXT PRIMARY KEY, path TEXT, source TEXT, start_line INTEGER,"
        " end_line INTEGER, model TEXT, text TEXT);"
        f"CREATE VIRTUAL TABLE vec USING vec0 (id TEXT PRIMARY KEY, e FLOAT[{vectors.shape[1]}])"
    )
    text = document(1).chunks[0].chunk.text
    with made:
        for number, row in enumerate(vectors, start=1):
            values = (str(number), "notes/1.md", "memory", 1, 9, "model", text)
            made.execute("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            made.execute("INSERT INTO vec VALUES (?, ?)", (str(number), row.tobytes()))
    made.close()

    def connection(mapped: int) -> apsw.Connection:
        one = apsw.Connection(path)
        Extension().load(one)
        one.pragma("cache_size", -65_536)
        one.pragma("mmap_size", mapped)
        return one

    join = (
        "SELECT c.id, c.path, c.start_line, c.end_line, c.text, c.source,"
        " vec_distance_cosine(v.e, ?) AS far FROM vec AS v JOIN chunks AS c ON c.id = v.id"
        " WHERE c.model = 'model' ORDER BY far LIMIT ?"
    )
    match = "SELECT id FROM vec WHERE e MATCH ? AND k = ?"

    def ask(one: apsw.Connection, sql: str, vector: bytes) -> list[int]:
        rows: Any = one.execute(sql, (vector, LIMIT))
        return [int(row[0]) for row in rows]

    found: dict[str, Ask] = {
        "vec_distance_cosine join, 64 MB cache": partial(ask, connection(0), join),
        "vec0 MATCH float32": partial(ask, connection(0), match),
        "vec0 MATCH float32, mmap": partial(ask, connection(2**40), match),
    }
    lance = _lancedb(folder, vectors)
    return found | ({"LanceDB flat": lance} if lance else {})


def _lancedb(folder: str, vectors: Any) -> Ask | None:
    try:
        lancedb = import_module("lancedb")
    except ImportError:
        return None
    base: Any = lancedb.connect(os.path.join(folder, "lance"))
    rows = [{"id": number, "vector": row} for number, row in enumerate(vectors, start=1)]
    table = base.create_table("vectors", rows)

    def ask(vector: bytes) -> list[int]:
        query = table.search(np.frombuffer(vector, "<f4")).metric("cosine").limit(LIMIT)
        return [row["id"] for row in query.select(["id"]).to_list()]

    return ask


class _Have(Kernels):
    """What a machine has that lacks some of this one's libraries."""

    def __init__(self, *, numpy: bool, simsimd: bool) -> None:
        super().__init__()
        self._numpy = None if numpy else False
        self._simsimd = None if simsimd else False


class Ours:
    """The store with some libraries, warm: it has been asked before."""

    def __init__(self, path: str, *, numpy: bool, simsimd: bool, extension: bool) -> None:
        self._store = SqliteStore(path)
        kernels = _Have(numpy=numpy, simsimd=simsimd)
        self._store._search = VectorSearch(extension=extension, kernels=kernels)  # noqa: SLF001  to leave out what is installed
        self.where = Where()
        self.plan = ""

    def __call__(self, vector: bytes) -> list[int]:  # noqa: D102  it is an `Ask`
        found = self._store.nearest(SPACE, vector, where=self.where, limit=LIMIT, deadline=NEVER)
        self.plan = f"{found.plan}{' (exact)' if found.exact else ''}"
        return [int(id_) for id_, _ in found.found]


def ours(path: str) -> dict[str, Ours]:
    """The store with all, some and none of what the extra ``vectors`` installs."""
    return {
        "ours, simsimd and numpy": Ours(path, numpy=True, simsimd=True, extension=True),
        "ours, numpy alone": Ours(path, numpy=True, simsimd=False, extension=False),
        "ours, simsimd alone": Ours(path, numpy=False, simsimd=True, extension=False),
        "ours, sqlite-vec alone": Ours(path, numpy=False, simsimd=False, extension=True),
        "ours, none of them": Ours(path, numpy=False, simsimd=False, extension=False),
    }


def timed(asked: dict[str, Ask], queries: list[bytes], rounds: dict[str, int]) -> dict[str, Any]:
    """CPU milliseconds and answers, all asked in turns."""
    taken: dict[str, list[float]] = {name: [] for name in asked}
    answers: dict[str, list[list[int]]] = {name: [] for name in asked}
    for name, ask in asked.items():
        for _ in range(2):
            ask(queries[0])
            print(f"warmed up: {name}", file=sys.stderr)
    for number, query in enumerate(queries):
        for name, ask in asked.items():
            if number < rounds.get(name, len(queries)):
                begin = time.process_time()
                answers[name].append(ask(query))
                taken[name].append((time.process_time() - begin) * 1_000)
    return {name: (taken[name], answers[name]) for name in asked}


def true_answers(vectors: Any, queries: list[bytes]) -> list[list[int]]:
    """The nearest by scores without rounding, of those that are near by float64."""
    answers = []
    for query in queries:
        about = vectors @ np.frombuffer(query, "<f4")
        near = np.argsort(-about)[: LIMIT * 20]
        exact = [(-fsum(map(mul, array("f", query), vectors[row].tolist())), row) for row in near]
        answers.append([int(row) + 1 for _, row in sorted(exact)[:LIMIT]])
    return answers


def table(results: dict[str, Any], truth: list[list[int]], asked: dict[str, Ask]) -> None:
    first = median(next(iter(results.values()))[0])
    print(f"{'':36}{'p50 ms':>10}{'p95':>10}{'ratio':>9}{'recall':>9}  plan")
    for name, (taken, answers) in results.items():
        high = sorted(taken)[int(len(taken) * 0.95)]
        hits = sum(len(set(a) & set(t)) for a, t in zip(answers, truth, strict=False))
        recall = hits / sum(map(len, truth[: len(answers)]))
        plan = getattr(asked[name], "plan", "")
        middle = median(taken)
        print(f"{name:36}{middle:>10.2f}{high:>10.2f}{middle / first:>8.1f}x{recall:>9.4f}  {plan}")


_PROCESS = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
from commonplace.deadline import NEVER
from commonplace.model.search import KeywordQuery, Where
from commonplace_sqlite.store import SqliteStore
store = SqliteStore({path!r}, vectors={extension!r})
found = store.keyword(
    KeywordQuery(should=("17", "18")), where=Where(), limit=24, deadline=NEVER
)
if {vectors!r}:
    vector = open({query!r}, "rb").read()
    store.spaces()
    found = store.nearest({space!r}, vector, where=Where(), limit=24, deadline=NEVER).found
store.fetch([id_ for id_, _ in found])
"""


def cold(path: str, query: bytes, runs: int) -> None:
    """What a search for vectors adds to a process of its own."""
    query_path = f"{path}.query"
    with open(query_path, "wb") as file:
        file.write(query)
    kinds: dict[str, dict[str, Any]] = {
        "keywords alone": {"vectors": False, "missing": [], "extension": True},
        "and vectors": {"vectors": True, "missing": [], "extension": True},
        "and vectors, no simsimd": {"vectors": True, "missing": ["simsimd"], "extension": True},
        "and vectors, sqlite-vec alone": {
            "vectors": True,
            "missing": ["simsimd", "numpy"],
            "extension": True,
        },
        "and vectors, nothing installed": {
            "vectors": True,
            "missing": ["simsimd", "numpy"],
            "extension": False,
        },
    }
    taken: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(runs):
        for name, kind in kinds.items():
            code = _PROCESS.format(path=path, query=query_path, space=SPACE, **kind)
            before = _children()
            subprocess.run([sys.executable, "-c", code], check=True)
            taken[name].append(_children() - before)
    base = median(taken["keywords alone"])
    print("\na process of its own, CPU ms")
    for name, values in taken.items():
        print(f"{name:36}{median(values):>10.1f}{median(values) - base:>+10.1f}")


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1_000


def sizes(path: str, vectors: Any, replacements: int) -> None:
    """The file beside what it holds, and after files were replaced."""
    documents = len(vectors) // PER_DOCUMENT
    text = sum(len(chunk.chunk.text) for chunk in document(1).chunks) * documents
    payload = vectors.nbytes + text
    before = os.path.getsize(path)
    print(f"\nfloat32 and text {payload / 1e6:.1f} MB, file {before / 1e6:.1f} MB", end="")
    print(f" ({before / payload:.2f} times; {_table_bytes(path)})")
    store = SqliteStore(path)
    dice = np.random.default_rng(SEED)
    begin = time.process_time()
    for revision in range(1, replacements + 1):
        number = int(dice.integers(documents))
        one = document(number, revision)
        rows = vectors[number * PER_DOCUMENT :][:PER_DOCUMENT]
        new = {c.digest: row.tobytes() for c, row in zip(one.chunks, rows, strict=True)}
        with store.writer(wait=10):
            (build,) = store.builds()
            store.put_documents(build, [one])
            store.put_vectors(build, SPACE, vectors.shape[1], new)
    taken = (time.process_time() - begin) * 1_000 / max(1, replacements)
    problems = store.health(deep=True).problems
    store.close()
    after = os.path.getsize(path)
    print(f"after {replacements} replaced files {after / 1e6:.1f} MB", end="")
    print(f" ({after / before - 1:+.1%}), {taken:.1f} CPU ms each; problems: {problems or 'none'}")


def _table_bytes(path: str) -> str:
    connection = apsw.Connection(path)
    rows: Any = connection.execute(
        "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 8"
    )
    told = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in rows)
    connection.close()
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--dims", type=int, default=768)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--slow-queries", type=int, default=3, help="of what takes seconds")
    parser.add_argument("--replacements", type=int, default=1_000)
    parser.add_argument("--cold-runs", type=int, default=5)
    parser.add_argument("--folder", help="keep what is made here, and use it again")
    given = parser.parse_args()
    chunks = given.chunks // PER_DOCUMENT * PER_DOCUMENT
    vectors, asked = clustered(chunks, given.dims, given.queries)
    queries = [row.tobytes() for row in asked]
    print(f"{chunks} chunks x {given.dims}, {len(queries)} queries, k = {LIMIT}")
    with tempfile.TemporaryDirectory() as passing:
        folder = given.folder or passing
        path = os.path.join(folder, f"ours-{chunks}-{given.dims}.sqlite")
        if not os.path.exists(path):
            begin = time.process_time()
            fill(path, vectors)
            print(f"filled in {time.process_time() - begin:.1f} s CPU")
        parts = ours(path)
        methods: dict[str, Ask] = {**parts, **rivals(passing, vectors)}
        rounds = {name: given.slow_queries for name in methods if "join" in name}
        truth = true_answers(vectors, queries)
        table(timed(methods, queries, rounds), truth, methods)
        print(f"\nonly {PART_OF_ALL.paths[0]}")
        for one in parts.values():
            one.where = PART_OF_ALL
        results = timed(dict(parts), queries, {})
        numbers = range(len(vectors) // PER_DOCUMENT)
        passing_rows = [
            row
            for number in numbers
            if str(number).startswith("1")
            for row in range(number * PER_DOCUMENT, (number + 1) * PER_DOCUMENT)
        ]
        some = true_answers(vectors[passing_rows], queries)
        filtered = [[passing_rows[row - 1] + 1 for row in answer] for answer in some]
        table(results, filtered, dict(parts))
        cold(path, queries[0], given.cold_runs)
        if not given.folder:
            sizes(path, vectors, given.replacements)


if __name__ == "__main__":
    main()
