"""Indexing from nothing, again with nothing changed, and at growing numbers of notes.

Run it with ``python benchmarks/indexing.py [--full]``; ``--full`` adds 50,000 notes. Every first
index is made by ``commonplace index`` as a process, whose CPU time and peak memory the system
reports. What nothing having changed costs is measured in this process, in turns with a bare walk
that takes the ``stat`` of every note. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 13
NOTES = 1_000
SIZES = (1_000, 10_000)
FULL_SIZES = (*SIZES, 50_000)
PER_FOLDER = 500
MOST_SECONDS = 3.0
MOST_MEGABYTES = 120
MOST_WALKS = 3.0
MOST_GROWTH = 1.25
"""How much more a note may cost in the largest workspace than in the smallest."""
DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)


class Cost(NamedTuple):
    """CPU seconds and peak memory in megabytes of one process."""

    cpu: float
    megabytes: float


def write_notes(workspace: str, count: int) -> None:
    """Notes of about 3 kB: a title, six sections with a list in two of them, Zipf words."""
    rng = random.Random(SEED)
    words = [f"word{number}" for number in range(20_000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    pool = rng.choices(words, weights, k=400_000)
    for number in range(count):
        parts = [f"# Note {number} on {rng.choice(words)}"]
        for section in range(6):
            start = rng.randrange(len(pool) - 80)
            said = pool[start : start + 72]
            if section % 3:
                body = " ".join(said) + "."
            else:
                body = "\n".join(f"- {' '.join(said[at : at + 9])}" for at in range(0, 72, 9))
            parts.append(f"## Section {section}: {said[0]}\n\n{body}")
        folder = os.path.join(workspace, "memory", f"part{number // PER_FOLDER:03}")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"note{number:05}.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n\n".join(parts) + "\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))


def child_env(home: str) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if "COMMONPLACE" not in name}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # a program that is installed is compiled once
    folders = {"COMMONPLACE_STATE_DIR": "state", "COMMONPLACE_CACHE_DIR": "cache", "HOME": "home"}
    return env | {name: os.path.join(home, folder) for name, folder in folders.items()}


def index(workspace: str, env: dict[str, str]) -> Cost:
    """Make the whole index, in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "commonplace", "index", "--workspace", workspace],
        env=env,
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


def index_first(workspace: str, rounds: int) -> Cost:
    """The medians of ``rounds`` times from nothing."""
    costs = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as home:
            costs.append(index(workspace, child_env(home)))
    return Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))


def walk(folder: str) -> int:
    """Take the ``stat`` of every note below ``folder``, and do nothing else."""
    count = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".md"):
                entry.stat(follow_symlinks=False)
                count += 1
            elif entry.is_dir(follow_symlinks=False):
                count += walk(entry.path)
    return count


def cpu_ms(action: Callable[[], object]) -> float:
    before = time.process_time_ns()
    action()
    return (time.process_time_ns() - before) / 1e6


class Unchanged(NamedTuple):
    """Milliseconds of a bare walk and of a sync, their ratio, and the notes that a sync opened."""

    walk: float
    sync: float
    ratio: float
    opened: int


def unchanged(workspace: str, rounds: int) -> Unchanged:
    """What a sync costs, in a process that has the index open, when nothing has changed."""
    from commonplace import Memory

    with tempfile.TemporaryDirectory() as home:
        env = child_env(home)
        index(workspace, env)
        with Memory.open(workspace=workspace, env=env) as memory:
            report = memory.sync()
            if report.changed or report.unchanged != walk(workspace):
                raise SystemExit(f"something has changed: {report}")
            walks, syncs = [], []
            for _ in range(rounds):
                walks.append(cpu_ms(lambda: walk(workspace)))
                syncs.append(cpu_ms(memory.sync))
            opened: list[object] = []
            listening = True

            def hook(event: str, arguments: tuple[Any, ...]) -> None:
                # A folder that is opened to be listed is no note.
                if listening and event == "open" and not arguments[2] & DIRECTORY:
                    opened.append(arguments[0])

            sys.addaudithook(hook)
            memory.sync()
            seen = sum(str(path).startswith(workspace) for path in opened)
            with open(os.devnull, "rb"):
                pass
            if opened[-1:] != [os.devnull]:
                raise SystemExit("the audit hook sees nothing")
            listening = False
    ratio = statistics.median(sync / bare for sync, bare in zip(syncs, walks, strict=True))
    return Unchanged(statistics.median(walks), statistics.median(syncs), ratio, seen)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="50,000 notes too")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(f"{'notes':>8}{'CPU s':>9}{'ms/note':>9}{'peak MB':>9}")
    made: dict[int, Cost] = {}
    for size in FULL_SIZES if given.full else SIZES:
        with tempfile.TemporaryDirectory() as workspace:
            write_notes(workspace, size)
            rounds = max(1, given.rounds * NOTES // size)
            cost = made[size] = index_first(workspace, rounds)
            print(f"{size:8}{cost.cpu:9.2f}{cost.cpu / size * 1e3:9.2f}{cost.megabytes:9.1f}")
            if size == NOTES:
                again = unchanged(workspace, given.rounds * 5)
    print(f"\nnothing changed, {NOTES} notes: {again.sync:.2f} ms; bare walk {again.walk:.2f} ms\n")
    first, largest = made[NOTES], max(made)
    growth = made[largest].cpu / largest / (first.cpu / NOTES)
    targets = (
        (first.cpu < MOST_SECONDS, f"{first.cpu:.2f} CPU s, under {MOST_SECONDS}"),
        (first.megabytes < MOST_MEGABYTES, f"{first.megabytes:.0f} MB, under {MOST_MEGABYTES}"),
        (again.ratio <= MOST_WALKS, f"{again.ratio:.2f} walks, at most {MOST_WALKS}"),
        (again.opened == 0, f"{again.opened} notes opened, none"),
        (growth <= MOST_GROWTH, f"{growth:.2f} times a note at {largest}, at most {MOST_GROWTH}"),
    )
    for met, words in targets:
        print(f"{words}: {'met' if met else 'missed'}")
    return 0 if all(met for met, _ in targets) else 1


if __name__ == "__main__":
    raise SystemExit(main())
