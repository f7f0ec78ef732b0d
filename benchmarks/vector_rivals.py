"""What others offer for the same vectors: sqlite-vec asked in three ways, and LanceDB.

Chunk ``n`` is the ``n``-th, from 1 on. Rivals are made in a folder once, and opened from there.
"""

from __future__ import annotations

import json
import os
import time
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
from vector_data import LIMIT, text_of

from commonplace_sqlite.vectors.searching import Extension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vector_data import Data

    Ask = Callable[[bytes], list[int]]

JOIN = "vec_distance_cosine join, 64 MB cache"
MATCH = "vec0 MATCH float32"
FLAT = "LanceDB flat"

_JOIN = """
SELECT c.id, c.path, c.start_line, c.end_line, c.text, c.source, vec_distance_cosine(v.e, ?) AS far
FROM vec AS v JOIN chunks AS c ON c.id = v.id WHERE c.model = 'model' ORDER BY far LIMIT ?
"""
_MATCH = "SELECT id FROM vec WHERE e MATCH ? AND k = ?"
_KEYWORD = """
SELECT id, bm25(fts) AS rank FROM fts WHERE fts MATCH ? ORDER BY rank LIMIT ?
"""
_FETCH = "SELECT text FROM chunks WHERE id IN (SELECT value FROM json_each(?))"

INDEXES: dict[str, dict[str, Any]] = {
    "IVF_FLAT": {},
    "IVF_HNSW_SQ": {"num_partitions": 1},
    "IVF_PQ": {},
}
SETTINGS: dict[str, list[dict[str, int]]] = {
    "IVF_FLAT": [{"nprobes": n} for n in (10, 20, 40, 80, 160, 320)],
    "IVF_HNSW_SQ": [
        {"nprobes": 1, "ef": ef, "refine_factor": refine}
        for ef in (50, 100, 200, 400, 800)
        for refine in (1, 4)
    ],
    "IVF_PQ": [
        {"nprobes": probes, "refine_factor": refine}
        for probes in (20, 80, 320)
        for refine in (5, 20, 80)
    ],
}
"""What is tried to reach recall 1, cheapest first."""


def make_sqlite(folder: str, data: Data) -> float:
    """The database of sqlite-vec, as the original lays it out; returns CPU seconds."""
    path = os.path.join(folder, "rival.sqlite")
    if os.path.exists(path):
        return 0.0
    made = apsw.Connection(path)
    if not Extension().load(made):
        raise SystemExit("sqlite-vec is not installed")
    made.pragma("journal_mode", "WAL")
    made.execute(
        "CREATE TABLE chunks (id TEXT PRIMARY KEY, path TEXT, source TEXT, start_line INTEGER,"
        " end_line INTEGER, model TEXT, text TEXT);"
        "CREATE VIRTUAL TABLE fts USING fts5 (text, id UNINDEXED);"
        f"CREATE VIRTUAL TABLE vec USING vec0 (id TEXT PRIMARY KEY, e FLOAT[{data.dims}])"
    )
    texts = [text_of(row) for row in range(len(data.vectors))]
    started = time.process_time()
    with made:
        for number, (row, text) in enumerate(zip(data.vectors, texts, strict=True), start=1):
            values = (str(number), "notes/1.md", "memory", 1, 9, "model", text)
            made.execute("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            made.execute("INSERT INTO fts VALUES (?, ?)", (text, str(number)))
            made.execute("INSERT INTO vec VALUES (?, ?)", (str(number), row.tobytes()))
    made.close()
    return time.process_time() - started


def open_sqlite(folder: str, mapped: int) -> apsw.Connection:
    """A connection to it: 64 MB cache, so many bytes mapped into memory."""
    connection = apsw.Connection(os.path.join(folder, "rival.sqlite"))
    Extension().load(connection)
    connection.pragma("cache_size", -65_536)
    connection.pragma("mmap_size", mapped)
    return connection


def sqlite_ways(folder: str) -> dict[str, Ask]:
    """The original's query, and those of sqlite-vec itself."""

    def ask(connection: apsw.Connection, sql: str, vector: bytes) -> list[int]:
        rows: Any = connection.execute(sql, (vector, LIMIT))
        return [int(row[0]) for row in rows]

    return {
        JOIN: partial(ask, open_sqlite(folder, 0), _JOIN),
        MATCH: partial(ask, open_sqlite(folder, 0), _MATCH),
        f"{MATCH}, mmap": partial(ask, open_sqlite(folder, 2**40), _MATCH),
    }


def hybrid_ways(folder: str, words: str) -> dict[str, Ask]:
    """The same, with a search of FTS5 for ``words`` before, and the texts read after."""

    def ask(connection: apsw.Connection, sql: str, vector: bytes) -> list[int]:
        rows: Any = connection.execute(_KEYWORD, (words, LIMIT))
        ids = [row[0] for row in rows]
        rows = connection.execute(sql, (vector, LIMIT))
        ids += [row[0] for row in rows]
        connection.execute(_FETCH, (json.dumps(ids),)).fetchall()
        return [int(id_) for id_ in ids]

    return {
        JOIN: partial(ask, open_sqlite(folder, 0), _JOIN),
        MATCH: partial(ask, open_sqlite(folder, 0), _MATCH),
        f"{MATCH}, mmap": partial(ask, open_sqlite(folder, 2**40), _MATCH),
    }


def make_lancedb(folder: str, data: Data, indexes: tuple[str, ...]) -> dict[str, float]:
    """Tables of LanceDB, one without an index; CPU seconds of each that was made."""
    try:
        lancedb = import_module("lancedb")
    except ImportError:
        return {}
    base: Any = lancedb.connect(os.path.join(folder, "lance"))
    rows = [{"id": number, "vector": row} for number, row in enumerate(data.vectors, start=1)]
    taken = {}
    for name in ("flat", *indexes):
        if os.path.exists(os.path.join(folder, "lance", f"{name}.lance")):
            continue
        started = time.process_time()
        table = base.create_table(name, rows)
        if name != "flat":
            table.create_index(metric="cosine", index_type=name, **INDEXES[name])
        taken[name] = time.process_time() - started
    return taken


def lancedb_ways(
    folder: str, data: Data, truth: list[list[int]], indexes: tuple[str, ...]
) -> dict[str, Ask]:
    """LanceDB without an index, and each index with the first setting that misses nothing."""
    place = os.path.join(folder, "lance")
    if not os.path.isdir(place):
        return {}
    base: Any = import_module("lancedb").connect(place)
    ways: dict[str, Ask] = {FLAT: partial(_ask_lancedb, base.open_table("flat"), {})}
    for name in indexes:
        table = base.open_table(name)
        for setting in SETTINGS[name]:
            ask = partial(_ask_lancedb, table, setting)
            if all(set(ask(q)) == set(t) for q, t in zip(data.queries, truth, strict=True)):
                shown = ", ".join(f"{key} {value}" for key, value in setting.items())
                ways[f"LanceDB {name} ({shown})"] = ask
                break
        else:
            print(f"LanceDB {name}: no setting tried reaches recall 1")
    return ways


def _ask_lancedb(table: Any, setting: dict[str, int], vector: bytes) -> list[int]:
    query = table.search(np.frombuffer(vector, "<f4")).distance_type("cosine").limit(LIMIT)
    for name, value in setting.items():
        query = getattr(query, name)(value)
    return list(query.select(["id", "_distance"]).to_arrow()["id"].to_pylist())


def sizes_of(folder: str) -> Iterator[tuple[str, int]]:
    """Bytes on disk, by rival."""
    yield "sqlite-vec", os.path.getsize(os.path.join(folder, "rival.sqlite"))
    base = os.path.join(folder, "lance")
    for name in sorted(os.listdir(base)) if os.path.isdir(base) else ():
        walked = os.walk(os.path.join(base, name))
        sizes = [os.path.getsize(os.path.join(at, one)) for at, _, files in walked for one in files]
        yield f"LanceDB {name.removesuffix('.lance')}", sum(sizes)
