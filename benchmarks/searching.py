"""A warm search of one hit, and of ten, in four languages, against a bare FTS5 query and fetch.

    python benchmarks/searching.py [--notes 1000 10000] [--languages en zh ja th] [--queries 40]

Notes are halves of lines of the documentation sets in ``COMMONPLACE_EVAL_DIR``; queries are those
of the sets. Bare means ``SELECT text ... ORDER BY rank LIMIT 10`` over the same words in the same
table: no filters, no second step, no snippets. All are asked in turns, and of each query the
fastest of its rounds counts, so that what else the machine does is left out. The look at the files
before a search (``sync.onSearch``) is measured apart, in a process that does not watch them and in
one that does.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import apsw

from commonplace import Memory
from commonplace.graphemes import floor_boundary
from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Callable

SETS = Path(os.environ.get("COMMONPLACE_EVAL_DIR", "../shared/eval")) / "dev"
LANGUAGES = ("en", "zh", "ja", "th")
LINES_A_NOTE = 12
HITS = 10
HEADS = ("bare ms", "1 hit", "10 hits", "of bare", "µs a hit", "with files", "watched")
SETTLED = 3.0
"""Seconds after which a watcher has begun, and a look at all files holds."""
BARE = """
SELECT t.text FROM (SELECT rowid FROM fts_<n> WHERE fts_<n> MATCH ? ORDER BY rank LIMIT ?) AS found
JOIN chunk_<n> AS c ON c.id = found.rowid JOIN text_<n> AS t ON t.id = <text_id>
"""


def lines_of(language: str) -> list[str]:
    """The lines of a set that say something, in the order of their files."""
    folder = SETS / f"openclaw-docs-{language}" / "workspace"
    texts = (path.read_text("utf-8") for path in sorted(folder.rglob("*.md")))
    lines = (line.strip() for text in texts for line in text.splitlines())
    return [line for line in lines if len(line) >= 12 and not line.startswith(("#", "|", "```"))]


def queries_of(language: str, count: int) -> list[str]:
    rows = (SETS / f"openclaw-docs-{language}" / "queries.jsonl").read_text("utf-8").splitlines()
    return random.Random(3).sample([json.loads(row)["query"] for row in rows], count)


def write_notes(folder: Path, count: int, lines: list[str]) -> None:
    chance = random.Random(1)  # the same notes in every run
    for number in range(count):
        day = f"{2000 + number // 360}-{number // 30 % 12 + 1:02}-{number % 28 + 1:02}"
        name = f"{day}-{number}.md" if number % 2 else f"projects/note-{number}.md"
        path = folder / "memory" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        said = "\n".join(f"- {new_line(chance, lines)}" for _ in range(LINES_A_NOTE))
        path.write_text(f"# Note {number}\n\n{said}\n", "utf-8")


def new_line(chance: random.Random, lines: list[str]) -> str:
    """Half of one line and half of another, so that hardly two notes say the same."""
    first, second = chance.choices(lines, k=2)
    return first[: half_of(first)] + second[half_of(second) :]


def half_of(line: str) -> int:
    """Where a line may be cut in half: no sign of Thai is parted from its letter."""
    return floor_boundary(line, len(line) // 2)


def cpu_ms(action: Callable[[], object]) -> float:
    before = time.process_time()
    action()
    return (time.process_time() - before) * 1_000


def bare_of(state: Path, query: str, connections: dict[Path, apsw.Connection]) -> Callable[[], Any]:
    """What asks FTS5 alone for the words of ``query``."""
    file = next(state.rglob("*.sqlite"))
    if file not in connections:
        connections[file] = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
        connections[file].pragma("cache_size", -16_384)
    connection = connections[file]
    build: int = connection.execute("SELECT id FROM build WHERE state = 'live'").get
    tokens = make_analyser("standard").query(parse_query(query)).terms
    match = " OR ".join('"{}"'.format(token.replace('"', '""')) for token in tokens)
    sql = of_build(BARE, build)
    return lambda: connection.execute(sql, (match, HITS)).fetchall()


def measure(home: Path, language: str, count: int, asked: int, rounds: int) -> list[float]:
    notes, state = home / "notes", home / "state"
    write_notes(notes, count, lines_of(language))
    env = {"HOME": str(home), "COMMONPLACE_STATE_DIR": str(state)}
    queries = queries_of(language, asked)

    config = {"memory": {"search": {"sync": {"onSearch": False}}}}
    alone = Memory.open(workspace=notes, env=env, config=config)
    looking = Memory.open(workspace=notes, env=env)
    watching = Memory.open(workspace=notes, env=env, watch=True)
    with alone, looking, watching:
        alone.sync()
        while watching.sync_state is None or watching.sync_state.watching != "native":
            time.sleep(0.1)
        watching.search(queries[0])
        time.sleep(SETTLED)
        connections: dict[Path, apsw.Connection] = {}
        ways: list[Callable[[str], Callable[[], object]]] = [
            lambda query: bare_of(state, query, connections),
            lambda query: partial(alone.search, query, max_results=1),
            lambda query: partial(alone.search, query, max_results=HITS),
            lambda query: partial(looking.search, query, max_results=HITS),
            lambda query: partial(watching.search, query, max_results=HITS),
        ]
        best = [[float("inf")] * len(ways) for _ in queries]
        for query, fastest in zip(queries, best, strict=True):
            actions = [way(query) for way in ways]
            for _ in range(rounds):
                for at, action in enumerate(actions):
                    fastest[at] = min(fastest[at], cpu_ms(action))
        for connection in connections.values():
            connection.close()
    bare, one, ten, *looks = (fmean(row[at] for row in best) for at in range(len(ways)))
    return [bare, one, ten, ten / bare, (ten - one) / (HITS - 1) * 1_000, *looks]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if not SETS.is_dir():
        parser.exit(0, f"skipped: no documentation sets in {SETS} (COMMONPLACE_EVAL_DIR)\n")
    print("".join((f"{'notes':>8}{'':6}", *(f"{head:>12}" for head in HEADS))))
    for count in given.notes:
        for language in given.languages:
            with tempfile.TemporaryDirectory() as folder:
                figures = measure(Path(folder), language, count, given.queries, given.rounds)
            shown = "".join(f"{figure:12.2f}" for figure in figures)
            print(f"{count:8} {language:5}{shown}", flush=True)


if __name__ == "__main__":
    main()
