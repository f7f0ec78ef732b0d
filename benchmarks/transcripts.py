"""What it costs that a transcript has grown, against what it costs to index it as a whole.

Run it with ``python benchmarks/transcripts.py [--full]``; ``--full`` adds one of 200 MB. Each is
indexed from nothing by ``commonplace index`` as a process, whose CPU time and peak memory the
system reports. Then, in this process, 10 kB are added again and again, each time followed by a
sync, in turns with a sync that finds a new transcript of 10 kB. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace import Memory

SEED = 29
SIZES = (1, 10, 50)
FULL_SIZES = (*SIZES, 200)
MEGABYTE = 1_000_000
ADDED = 10_000
SETTLED = 0.05
"""Seconds after which a file counts as no longer being written."""

MOST_SHARE = 0.01
"""Of the time of the whole, that adding 10 kB to a transcript of 50 MB may take."""

MOST_TIMES = 15.0
"""How many times as long as 10 kB alone it may take at 50 MB, most of it for comparing the rest."""

MOST_GROWTH = 1.3
"""How many times as much memory a transcript of 50 MB may need as one of 10 MB."""

CONFIG = {
    "memory": {
        "search": {
            "provider": "none",
            "sources": ["memory", "sessions"],
            "experimental": {"sessionMemory": True},
        }
    }
}


class Cost(NamedTuple):
    """CPU seconds and peak memory in megabytes of a process."""

    cpu: float
    megabytes: float


class Added(NamedTuple):
    """CPU milliseconds of a sync after 10 kB were added, and of one that finds 10 kB alone."""

    grown: float
    alone: float


def records(size: int, seed: int) -> Iterator[bytes]:
    """Messages of some 600 bytes, ``size`` bytes in all or a little more."""
    rng = random.Random(seed)
    words = [f"word{number}" for number in range(20_000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    pool = rng.choices(words, weights, k=100_000)
    written = number = 0
    while written < size:
        start = rng.randrange(len(pool) - 60)
        message = {
            "role": "assistant" if number % 2 else "user",
            "content": [
                {"type": "text", "text": f"{number} {' '.join(pool[start : start + 60])}."}
            ],
        }
        record = {"type": "message", "id": f"{number:08x}", "message": message}
        line = json.dumps(record).encode() + b"\n"
        yield line
        written += len(line)
        number += 1


def child_env(home: str) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if "COMMONPLACE" not in name}
    folders = {"COMMONPLACE_STATE_DIR": "state", "COMMONPLACE_CACHE_DIR": "cache", "HOME": "home"}
    return env | {name: os.path.join(home, folder) for name, folder in folders.items()}


def index(workspace: str, home: str) -> Cost:
    """Make the whole index, in a process of its own."""
    config = os.path.join(home, "config.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump(CONFIG, file)
    command = ["-m", "commonplace", "index", "--workspace", workspace, "--config", config]
    process = subprocess.Popen(
        [sys.executable, *command],
        env=child_env(home),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"indexing ended with {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)


def sync_ms(memory: Memory) -> float:
    """CPU milliseconds of a sync that finds one document to index."""
    time.sleep(SETTLED)
    before = time.process_time_ns()
    report = memory.sync()
    spent = (time.process_time_ns() - before) / 1e6
    if report.added + report.updated != 1:
        raise SystemExit(f"not one document was indexed: {report}")
    return spent


def add(workspace: str, home: str, rounds: int) -> Added:
    """Let the transcript grow ``rounds`` times, in turns with new ones."""
    from commonplace import Memory

    folder = os.path.join(workspace, "sessions")
    grown, alone = [], []
    env = child_env(home)
    with Memory.open(workspace=workspace, env=env, config=CONFIG, one_shot=True) as memory:
        memory.sync()
        for number in range(rounds):
            added = b"".join(records(ADDED, SEED + 1 + number))
            with open(os.path.join(folder, "long.jsonl"), "ab") as file:
                file.write(added)
            grown.append(sync_ms(memory))
            with open(os.path.join(folder, f"alone{number}.jsonl"), "wb") as file:
                file.write(added)
            alone.append(sync_ms(memory))
    return Added(statistics.median(grown), statistics.median(alone))


def measure(size: int, rounds: int) -> tuple[Cost, Added]:
    """A transcript of ``size`` megabytes: as a whole, then growing."""
    with tempfile.TemporaryDirectory() as workspace, tempfile.TemporaryDirectory() as home:
        os.mkdir(os.path.join(workspace, "sessions"))
        with open(os.path.join(workspace, "sessions", "long.jsonl"), "wb") as file:
            file.writelines(records(size * MEGABYTE, SEED))
        return index(workspace, home), add(workspace, home, rounds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="200 MB too")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    print(f"{'MB':>6}{'whole, CPU s':>14}{'peak MB':>9}{'+10 kB, ms':>12}{'alone, ms':>11}", end="")
    print(f"{'of whole':>10}{'of alone':>10}")
    made: dict[int, tuple[Cost, Added]] = {}
    for size in FULL_SIZES if given.full else SIZES:
        whole, added = made[size] = measure(size, given.rounds)
        share = added.grown / whole.cpu / 1e3
        print(f"{size:6}{whole.cpu:14.2f}{whole.megabytes:9.0f}{added.grown:12.1f}", end="")
        print(f"{added.alone:11.1f}{share:10.2%}{added.grown / added.alone:10.2f}", flush=True)
    whole, added = made[50]
    share, times = added.grown / whole.cpu / 1e3, added.grown / added.alone
    growth = whole.megabytes / made[10][0].megabytes
    targets = (
        (share <= MOST_SHARE, f"{share:.2%} of the whole, at most {MOST_SHARE:.0%}"),
        (times <= MOST_TIMES, f"{times:.2f} times 10 kB alone, at most {MOST_TIMES}"),
        (growth <= MOST_GROWTH, f"{growth:.2f} times the memory of 10 MB, at most {MOST_GROWTH}"),
    )
    for met, words in targets:
        print(f"{words}: {'met' if met else 'missed'}")
    return 0 if all(met for met, _ in targets) else 1


if __name__ == "__main__":
    raise SystemExit(main())
