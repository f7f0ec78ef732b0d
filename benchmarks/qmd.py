"""A search through QMD: a process each, by its launcher or directly, and a server that stays.

Run it with ``COMMONPLACE_QMD_COMMAND=$(.ci/qmd) python benchmarks/qmd.py [--rounds 20]``. All are
asked the same keywords in turns, on a thousand seeded notes. Exits with 1 if a target is missed, or
if the server does not find what a process finds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING

from commonplace.resilience.deadline import NEVER
from commonplace_qmd.engine.client import Qmd
from commonplace_qmd.engine.commands import Runs, run
from commonplace_qmd.engine.installation import environment, locate
from commonplace_qmd.engine.values import QmdHome, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SEED = 17
NOTES = 1_000
WORDS = 5_000
LIMIT = 6
LEAST_RATIO = 10.0
"""How many times faster the server has to be than a process."""


def write_notes(folder: str) -> None:
    """Notes of about 1.6 kB of Zipf words."""
    rng = random.Random(SEED)
    words = [f"word{number}" for number in range(WORDS)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    for number in range(NOTES):
        body = "\n\n".join(" ".join(rng.choices(words, weights, k=75)) for _ in range(3))
        with open(os.path.join(folder, f"note{number:05}.md"), "w", encoding="utf-8") as file:
            file.write(f"# Note {number}\n\n{body}\n")


def make_home(root: str) -> QmdHome:
    for name in ("notes", "config", "cache", "cwd"):
        os.mkdir(os.path.join(root, name))
    write_notes(os.path.join(root, "notes"))
    collections = {"notes": {"path": os.path.join(root, "notes"), "pattern": "**/*.md"}}
    with open(os.path.join(root, "config", "index.yml"), "w", encoding="utf-8") as file:
        json.dump({"collections": collections}, file)
    return QmdHome(
        config_dir=os.path.join(root, "config"),
        index_path=os.path.join(root, "index.sqlite"),
        cache_home=os.path.join(root, "cache"),
        cwd=os.path.join(root, "cwd"),
    )


def queries(count: int) -> list[str]:
    rng = random.Random(SEED + 1)
    return [f"word{rng.randrange(60)} word{rng.randrange(60)}" for _ in range(count)]


def launching(command: str, home: QmdHome) -> Callable[[str], None]:
    """Asks through what npm installs as the command."""
    env = environment(home, os.environ, endpoint="http://127.0.0.1:9/")
    # The launcher takes the first Node in the PATH.
    node = os.path.dirname(locate(command, os.environ).argv[0])
    env["PATH"] = f"{node}{os.pathsep}{env['PATH']}"
    start = [command, "search", "--json", "-n", str(LIMIT), "-c", "notes", "--"]

    def ask(query: str) -> None:
        ended = run(
            [*start, query], env=env, cwd=home.cwd, deadline=NEVER, runs=Runs(), cap=1 << 20
        )
        if ended.code:
            raise SystemExit(ended.stderr)

    return ask


def seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def asking(qmd: Qmd, query: str) -> list[Row]:
    return qmd.search("search", query, collections=["notes"], limit=LIMIT, deadline=NEVER)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    command = os.environ.get("COMMONPLACE_QMD_COMMAND", "")
    if not command:
        print("COMMONPLACE_QMD_COMMAND is not set: .ci/qmd installs QMD and prints it")
        return 1
    with tempfile.TemporaryDirectory() as root:
        home = make_home(root)
        cold = Qmd(command, home, env=os.environ, resident=False)
        warm = Qmd(command, home, env=os.environ)
        launch = launching(command, home)
        try:
            updating = seconds(partial(cold.update, deadline=NEVER))
            print(f"first update of {NOTES} notes: {updating:.2f} s")
            asking(warm, "word1")  # the first is a process's
            launch("word1")
            starting = seconds(partial(warm.warm, deadline=NEVER))
            print(f"start of the server: {starting:.2f} s\n")
            return measure(launch, cold, warm, queries(rounds))
        finally:
            cold.close()
            warm.close()


def measure(launch: Callable[[str], None], cold: Qmd, warm: Qmd, asked: Sequence[str]) -> int:
    times: dict[str, list[float]] = {"launcher": [], "process": [], "server": []}
    different = 0
    for query in asked:
        times["launcher"].append(seconds(partial(launch, query)))
        times["process"].append(seconds(partial(asking, cold, query)))
        times["server"].append(seconds(partial(asking, warm, query)))
        cold_rows, warm_rows = asking(cold, query), asking(warm, query)
        different += [row[:2] for row in cold_rows] != [row[:2] for row in warm_rows]
    middle = {name: statistics.median(taken) for name, taken in times.items()}
    print(f"{'a search through':20}{'median ms':>10}{'best ms':>10}")
    for name, taken in times.items():
        print(f"{name:20}{middle[name] * 1e3:10.1f}{min(taken) * 1e3:10.1f}")
    ratio = middle["process"] / middle["server"]
    met = "met" if ratio >= LEAST_RATIO else "missed"
    print(f"\nlauncher/process {middle['launcher'] / middle['process']:.2f}")
    print(f"process/server {ratio:.1f}, at least {LEAST_RATIO:.0f}: {met}")
    print(f"different rows: {different} of {len(asked)}")
    return 0 if ratio >= LEAST_RATIO and not different else 1


if __name__ == "__main__":
    raise SystemExit(main())
