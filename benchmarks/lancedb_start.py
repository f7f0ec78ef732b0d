"""The first search of a process on LanceDB, against the same Python that only imports LanceDB.

Run it with ``python benchmarks/lancedb_start.py [--rounds 5] [--at-once 8]``. Both are started in
turns, alone and several at once, on a thousand seeded notes that are indexed. CPU time is what the
system reports of each child. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

from startup import QUERIES, child_env, write_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_RATIO = 1.35
"""CPU time of a search, as a multiple of the import's."""


class Cost(NamedTuple):
    """CPU seconds a process, and wall seconds until the last of them ended."""

    cpu: float
    wall: float


def cost_of(arguments: Sequence[str], env: dict[str, str], count: int) -> Cost:
    """Start ``count`` processes at once and wait for all."""
    started = time.perf_counter()
    processes = [
        subprocess.Popen(
            arguments, env=env, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        for _ in range(count)
    ]
    seconds = 0.0
    for process in processes:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
        seconds += usage.ru_utime + usage.ru_stime
    return Cost(seconds / count, time.perf_counter() - started)


def median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=8)
    options = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as home:
        workspace, config = os.path.join(home, "notes"), os.path.join(home, "config.json5")
        write_notes(workspace)
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"memory": {"backend": ["lancedb"]}}, file)
        env = child_env(home)
        shared = ("--workspace", workspace, "--config", config)
        index = (sys.executable, "-m", "commonplace", "index", *shared)
        search = (sys.executable, "-m", "commonplace", "search", QUERIES[0], *shared)
        bare = (sys.executable, "-c", "import lancedb")
        cost_of(index, env, 1)
        for command in (bare, search):  # compiled once
            cost_of(command, env, 1)
        for count in (1, options.at_once):
            rounds = [
                (cost_of(bare, env, count), cost_of(search, env, count))
                for _ in range(options.rounds)
            ]
            least, whole = (median(column) for column in zip(*rounds, strict=True))
            ratio = whole.cpu / least.cpu
            missed = missed or ratio > MOST_RATIO
            print(
                f"{count} at once: import {least.cpu:.2f} s of CPU each, {least.wall:.2f} s until "
                f"the last; search {whole.cpu:.2f} s, {whole.wall:.2f} s; ratio {ratio:.2f} "
                f"(at most {MOST_RATIO})",
                flush=True,
            )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
