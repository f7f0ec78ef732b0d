"""Keyword queries of the SQLite store at scale, against a bare FTS5 query of the same table.

Run it with ``python benchmarks/keyword_scale.py [--chunks 100000] [--times 1]``. It fills a store
with seeded Zipf words, then asks both, in turns, about rare, middling and common words, and prints
CPU milliseconds and their ratio. Bare means ``SELECT rowid ... ORDER BY rank LIMIT k`` over the
same OR: no filters, no order among equals, no documents. *Reading* is the same with the texts of
the rows, by the same connection. With ``--times 3`` each is asked so often, in turns, and the
fastest counts, which is the one that found its pages in memory.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import tempfile
import time
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import apsw

from commonplace.model.chunks import AnalysedChunk, Chunk, PutDocument, Terms
from commonplace.model.search import KeywordQuery, Where
from commonplace.resilience.deadline import NEVER
from commonplace_sqlite.schema import of_build
from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = 7
VOCABULARY = 60_000
CHUNKS_PER_DOCUMENT = 5
BATCH_DOCUMENTS = 100
LIMIT = 24
HEADS = ("bare p50", "p95", "ours p50", "p95", "ratio p50", "p95", "reading")
READING = """
SELECT d.path, c.start_line, t.text, t.body FROM (<found>) AS found
JOIN chunk_<n> AS c ON c.id = found.rowid JOIN document_<n> AS d ON d.id = c.document
JOIN text_<n> AS t ON t.id = <text_id>
"""
LETTERS = "etaoinshrdlucmfwypvbgkqjxz"

# The words of each kind of query, by how many chunks of a hundred thousand hold them.
UNKNOWN, RARE, MIDDLING = (-1, 0), (10, 200), (500, 3_000)
COMMON, VERY_COMMON = (5_000, 50_000), (50_000, 100_000)
KINDS: dict[str, tuple[tuple[tuple[int, int], int], ...]] = {
    "rare": ((RARE, 5),),
    "middling": ((MIDDLING, 5),),
    "common": ((COMMON, 5),),
    "very common": ((VERY_COMMON, 3),),
    "rare + common": ((RARE, 4), (COMMON, 2)),
    "middling + common": ((MIDDLING, 5), (COMMON, 3)),
    "rare + very common": ((RARE, 4), (VERY_COMMON, 2)),
    "middling + very common": ((MIDDLING, 4), (VERY_COMMON, 3)),
    "unknown + common": ((UNKNOWN, 1), (COMMON, 1), (VERY_COMMON, 2)),
}


def spelled(number: int) -> str:
    letters = ""
    number += 1
    while number:
        letters += LETTERS[number % 26]
        number //= 26
    return letters


def documents(chunks: int) -> Iterator[PutDocument]:
    rng = random.Random(SEED)
    words = [spelled(number) for number in range(VOCABULARY)]
    weights = list(itertools.accumulate(1 / (rank + 2.7) ** 1.07 for rank in range(VOCABULARY)))

    def some(count: int) -> list[str]:
        return rng.choices(words, cum_weights=weights, k=count)

    for number in range(chunks // CHUNKS_PER_DOCUMENT):
        topic = int(rng.paretovariate(0.6)) % 3_000
        made = []
        for place in range(CHUNKS_PER_DOCUMENT):
            body = some(rng.randint(60, 160))
            for word in range(20):
                body.insert(rng.randint(0, len(body)), f"t{topic}x{rng.randint(0, 2 * word)}")
            text = " ".join(body)
            terms = Terms(text, " ".join(some(4)), " ".join(some(6)))
            digest = sha256(text.encode()).hexdigest()
            made.append(AnalysedChunk(Chunk(place * 9 + 1, place * 9 + 9, text), terms, digest))
        yield PutDocument(
            source="memory" if number % 4 else "sessions",
            path=f"memory/{number % 97}/{number}.md",
            digest=sha256(str(number).encode()).hexdigest(),
            stamp=f"1 1 1 {number}",
            fingerprint="benchmark",
            day=None,
            trust="memory",
            chunks=tuple(made),
        )


def fill(store: SqliteStore, chunks: int) -> float:
    """CPU seconds that storing took, without making up the documents."""
    seconds = 0.0
    made = documents(chunks)
    with store.writer(wait=0):
        build = store.open_build("benchmark")
        store.activate(build)
        while batch := list(itertools.islice(made, BATCH_DOCUMENTS)):
            before = time.process_time()
            store.put_documents(build, batch)
            seconds += time.process_time() - before
        before = time.process_time()
    return seconds + time.process_time() - before


def cpu_ms(action: Callable[[], object]) -> float:
    before = time.process_time()
    action()
    return (time.process_time() - before) * 1_000


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def compare(store: SqliteStore, path: str, chunks: int, rounds: int, times: int) -> None:
    bare = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    bare.pragma("cache_size", -16_384)
    build: int = bare.execute("SELECT id FROM build WHERE state = 'live'").get
    bare.execute(f"CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', fts_{build}, row)")
    rows: Any = bare.execute("SELECT term, doc FROM temp.vocabulary").fetchall()
    counts: dict[str, int] = {"unheardof": 0, **dict(rows)}
    bare_sql = f"SELECT rowid FROM fts_{build} WHERE fts_{build} MATCH ? ORDER BY rank LIMIT ?"

    reading_sql = of_build(READING.replace("<found>", bare_sql), build)

    def ask_bare(tokens: list[str], sql: str) -> None:
        expression = " OR ".join(f'"{token}"' for token in tokens)
        bare.execute(sql, (expression, LIMIT)).fetchall()

    def ask_ours(tokens: list[str], where: Where) -> None:
        query = KeywordQuery(should=tuple(tokens))
        store.keyword(query, where=where, limit=LIMIT, deadline=NEVER)

    # What comes once in a process is no part of a query.
    ask_ours(list(itertools.islice(counts, 3)), Where())
    rng = random.Random(SEED)
    filters = {"": Where(), " | one source": Where(sources=frozenset({"sessions"}))}
    print("\n" + "".join((f"{'words':34}", *(f"{head:>11}" for head in HEADS))))
    for (kind, parts), (name, where) in itertools.product(KINDS.items(), filters.items()):
        bare_ms, our_ms, reading_ms = list[float](), list[float](), list[float]()
        for _ in range(rounds):
            tokens: list[str] = []
            for (least, most), number in parts:
                share = chunks / 100_000
                pool = [t for t, n in counts.items() if least * share < n <= most * share]
                tokens += rng.sample(pool, number)
            ways = [
                partial(ask_bare, tokens, bare_sql),
                partial(ask_bare, tokens, reading_sql),
                partial(ask_ours, tokens, where),
            ]
            taken = [[cpu_ms(way) for way in ways] for _ in range(times)]
            for at, found in enumerate((bare_ms, reading_ms, our_ms)):
                found.append(min(row[at] for row in taken))
        figures = [quantile(ms, share) for ms in (bare_ms, our_ms) for share in (0.5, 0.95)]
        figures += [figures[2] / figures[0], figures[3] / figures[1], quantile(reading_ms, 0.5)]
        print("".join((f"{kind + name:34}", *(f"{figure:11.2f}" for figure in figures))))
    bare.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--keep", default="", help="a folder to keep the index in")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(given.keep or folder, "index.sqlite")
        store = SqliteStore(path)
        if not os.path.exists(path):
            seconds = fill(store, given.chunks)
            megabytes = os.path.getsize(path) / 1e6
            print(
                f"{given.chunks} chunks stored in {seconds:.2f} CPU s "
                f"({given.chunks / seconds:.0f} chunks/s), {megabytes:.0f} MB"
            )
        compare(store, path, given.chunks, given.rounds, given.times)
        store.close()


if __name__ == "__main__":
    main()
