"""What vectors cost beside the time of a query: starting up, memory, disk, replacing files."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any

import apsw
from vector_data import SEED, SPACE, document, text_of
from vector_rivals import open_sqlite

from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from vector_data import Data

LIBRARIES: dict[str, tuple[list[str], bool]] = {
    "simsimd and numpy": ([], True),
    "simsimd alone": (["numpy"], False),
    "numpy alone": (["simsimd"], False),
    "sqlite-vec alone": (["simsimd", "numpy"], True),
    "none of them": (["simsimd", "numpy"], False),
}
"""What a process must not find, and whether it may use sqlite-vec."""

_BEGIN = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
from commonplace.resilience.deadline import NEVER
from commonplace.model.search import KeywordQuery, Where
from commonplace_sqlite.store import SqliteStore
store = SqliteStore({path!r}, vectors={extension!r})
"""
_COLD = """
found = store.keyword(
    KeywordQuery(should=("w17", "embedding")), where=Where(), limit=24, deadline=NEVER
).found
if {vectors!r}:
    vector = open({query!r}, "rb").read()
    store.spaces()
    found = store.nearest({space!r}, vector, where=Where(), limit=24, deadline=NEVER).found
"""
_WARM = """
vector = open({query!r}, "rb").read()
for _ in range(4 if {vectors!r} else 0):
    store.nearest({space!r}, vector, where=Where(), limit=10, deadline=NEVER)
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def cold(path: str, query: bytes, runs: int) -> dict[str, float]:
    """CPU milliseconds that a search for vectors adds to a process of its own; without: ``""``."""
    kinds = {"": ([], True), **LIBRARIES}
    taken: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(runs):
        for name in kinds:
            before = _children()
            _run(_BEGIN + _COLD, path, query, name)
            taken[name].append(_children() - before)
    base = median(taken[""])
    return {name: median(values) - (base if name else 0) for name, values in taken.items()}


def memory(path: str, query: bytes) -> dict[str, float]:
    """MB that repeated searches for vectors add to the largest size of a process (on Linux)."""
    if not os.path.exists("/proc/self/status"):
        return {}
    peaks = {
        name: float(_run(_BEGIN + _WARM, path, query, name)) / 1024 for name in ("", *LIBRARIES)
    }
    return {name: peak - (peaks[""] if name else 0) for name, peak in peaks.items()}


def _run(code: str, path: str, query: bytes, name: str) -> str:
    query_path = f"{path}.query"
    with open(query_path, "wb") as file:
        file.write(query)
    missing, extension = LIBRARIES.get(name, ([], True))
    filled = code.format(
        path=path,
        query=query_path,
        space=SPACE,
        missing=missing,
        extension=extension,
        vectors=bool(name),
    )
    done = subprocess.run([sys.executable, "-c", filled], check=True, capture_output=True)
    return done.stdout.decode()


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1_000


def replace_ours(path: str, data: Data, replacements: int) -> dict[str, Any]:
    """Replace files of a copy of the store one by one, each in a session of its own."""
    copy = f"{path}.replaced"
    shutil.copy(path, copy)
    store = SqliteStore(copy)
    dice = Random(SEED)
    taken = []
    for revision in range(1, replacements + 1):
        number = dice.randrange(len(data.spans))
        one = document(data, number, revision)
        rows = [data.vectors[row].tobytes() for row in data.spans[number]]
        new = dict(zip([chunk.digest for chunk in one.chunks], rows, strict=True))
        started = time.process_time()
        with store.writer(wait=10):
            (build,) = store.builds()
            store.put_documents(build, [one])
            store.put_vectors(build, SPACE, data.dims, new)
        taken.append((time.process_time() - started) * 1_000)
    problems = store.health(deep=True).problems
    store.close()
    after = os.path.getsize(copy)
    os.unlink(copy)
    growth = after / os.path.getsize(path) - 1
    return {"ms": sum(taken) / len(taken), "growth": growth, "problems": list(problems)}


def replace_rival(folder: str, data: Data, replacements: int) -> float:
    """The same with sqlite-vec; CPU milliseconds a file."""
    copy = os.path.join(folder, "copy")
    os.makedirs(copy, exist_ok=True)
    shutil.copy(os.path.join(folder, "rival.sqlite"), copy)
    connection = open_sqlite(copy, 0)
    dice = Random(SEED)
    taken = 0.0
    for revision in range(1, replacements + 1):
        rows = data.spans[dice.randrange(len(data.spans))]
        texts = [text_of(row, revision) for row in rows]
        started = time.process_time()
        with connection:
            for row, text in zip(rows, texts, strict=True):
                id_ = str(row + 1)
                connection.execute("DELETE FROM vec WHERE id = ?", (id_,))
                connection.execute("DELETE FROM fts WHERE rowid = ?", (row + 1,))
                connection.execute("UPDATE chunks SET text = ? WHERE id = ?", (text, id_))
                values = (row + 1, text, id_)
                connection.execute("INSERT INTO fts (rowid, text, id) VALUES (?, ?, ?)", values)
                vector = data.vectors[row].tobytes()
                connection.execute("INSERT INTO vec VALUES (?, ?)", (id_, vector))
        taken += time.process_time() - started
    connection.close()
    shutil.rmtree(copy)
    return taken * 1_000 / replacements


def disk(path: str, data: Data) -> dict[str, Any]:
    """The file beside what it holds, and its largest tables in MB."""
    connection = apsw.Connection(path)
    # As they are stored, for what texts are made of changes from one version to the next.
    text: Any = connection.execute("SELECT sum(length(CAST(text AS BLOB))) FROM text_1").get
    rows: Any = connection.execute(
        "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 6"
    ).fetchall()
    connection.close()
    size = os.path.getsize(path)
    return {
        "bytes": size,
        "share": size / (data.vectors.nbytes + text),
        "tables": json.dumps({name: round(part / 1e6, 1) for name, part in rows}),
    }
