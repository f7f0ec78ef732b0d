"""How soon a saved file is found, and what watching costs while nothing happens.

Run it with ``python benchmarks/watching.py [--full] [--seconds 60] [--cycles 1000]``; ``--full``
adds 50,000 notes. Freshness is the time from the moment a file is closed until a sync that holds it
has ended; that a search finds it is looked at once afterwards, with a search that does not look at
the files itself. What watching costs is the CPU time of a process that does nothing else. Exits
with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from indexing import child_env, write_notes

from commonplace import Memory

if TYPE_CHECKING:
    from commonplace.model.reports import SyncEvent

SIZES = (1_000,)
FULL_SIZES = (*SIZES, 50_000)
DEBOUNCE = 1.5
MOST_IDLE = 0.2
MOST_POLLING = 1.2
"""In percent of a core: what a poller allows itself, and its waiting."""
PATIENCE = 120.0

WATCH = """
import os, resource, sys, threading, time
from commonplace import Memory
memory = Memory.open(workspace=sys.argv[1])
memory.watch(poll=sys.argv[2] == "poll")
def spent():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
time.sleep(20)
before, began = spent(), time.monotonic()
time.sleep(float(sys.argv[3]))
print((spent() - before) / (time.monotonic() - began) * 100)
os._exit(0)
"""


class Freshness(NamedTuple):
    """Seconds from saving a file until it can be found."""

    median: float
    late: float


class Watched:
    """A memory that is watched, and what its syncs say."""

    def __init__(self, workspace: str, env: dict[str, str], *, debounce: float) -> None:
        sync = {"watchDebounceMs": round(debounce * 1000), "onSearch": False}
        config = {"agents": {"defaults": {"memorySearch": {"provider": "none", "sync": sync}}}}
        self._news = threading.Condition()
        self._ends: list[float] = []
        self.memory = Memory.open(
            workspace=workspace, env=env, config=config, on_sync=self._hear, watch=False
        )
        self.memory.sync()
        began = len(self._ends)
        self.memory.watch()
        # The first sync is made when watching has begun; a change shows that it has.
        self.until(began)

    def _hear(self, event: SyncEvent) -> None:
        if event.report is not None:
            with self._news:
                self._ends.append(time.perf_counter())
                self._news.notify_all()

    def until(self, seen: int) -> float:
        """When the sync after ``seen`` ones ended."""
        with self._news:
            if not self._news.wait_for(lambda: len(self._ends) > seen, PATIENCE):
                raise SystemExit("the change was not noticed")
            return self._ends[seen]

    def seen(self) -> int:
        """How many syncs there were."""
        with self._news:
            return len(self._ends)


def save(path: str, text: str) -> None:
    """As editors do: beside it, then renamed."""
    with open(f"{path}.tmp", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.tmp", path)


def freshness(watched: Watched, workspace: str, rounds: int) -> Freshness:
    """Save ``rounds`` notes, one after the other has been found, at moments of chance."""
    rng = random.Random(29)
    watched.until(settle(watched) - 1)
    taken = []
    for number in range(rounds):
        time.sleep(rng.uniform(0, 0.2))
        path = os.path.join(workspace, "memory", "part000", f"note{rng.randrange(400):05}.md")
        seen = watched.seen()
        save(path, f"# Changed\n\nThe zyzzogeton number{number} was seen.\n")
        saved = time.perf_counter()
        taken.append(watched.until(seen) - saved)
        found = watched.memory.search(f"zyzzogeton number{number}").hits
        if not any(f"number{number} was" in hit.snippet for hit in found):
            raise SystemExit(f"round {number} is not found")
    taken.sort()
    return Freshness(statistics.median(taken), taken[int(len(taken) * 0.95)])


def settle(watched: Watched) -> int:
    """Wait until no sync has ended for a while; how many there were."""
    while True:
        seen = watched.seen()
        time.sleep(2 * DEBOUNCE)
        if watched.seen() == seen:
            return seen


def descriptors() -> int:
    """How many files this process has open; 0 where the system does not say."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def idle(workspace: str, env: dict[str, str], how: str, seconds: float) -> float:
    """Percent of a core that a process takes that only watches."""
    answer = subprocess.run(
        [sys.executable, "-c", WATCH, workspace, how, str(seconds)],
        env=env,
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    return float(answer.stdout)


def growth_by_changes(workspace: str, env: dict[str, str], cycles: int) -> int:
    """How many more files are open after so many changes than after the first ones."""
    watched = Watched(workspace, env, debounce=0.01)
    path = os.path.join(workspace, "memory", "part000", "note00000.md")
    folder = os.path.join(workspace, "memory", "part000", "new")
    try:
        settle(watched)
        before = 0
        for number in range(cycles + 10):
            if number == 10:
                before = descriptors()
            seen = watched.seen()
            save(path, f"# Changed\n\nNumber {number}.\n")
            if number % 10 == 0:
                (os.rmdir if os.path.isdir(folder) else os.mkdir)(folder)
            watched.until(seen)
        settle(watched)
        return descriptors() - before
    finally:
        watched.memory.close()


def growth_by_lives(workspace: str, env: dict[str, str], cycles: int) -> int:
    """How many more files are open after so many memories were opened, watched and closed."""
    before = 0
    for number in range(cycles + 10):
        if number == 10:
            before = settled_descriptors()
        with Memory.open(workspace=workspace, env=env, watch=True):
            pass
    return settled_descriptors() - before


def settled_descriptors() -> int:
    """The same, once what threads of libraries still hold is let go of."""
    time.sleep(1.0)
    return descriptors()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="50,000 notes too")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cycles", type=int, default=1000)
    given = parser.parse_args()
    targets: list[tuple[bool, str]] = []
    for size in FULL_SIZES if given.full else SIZES:
        with tempfile.TemporaryDirectory() as workspace, tempfile.TemporaryDirectory() as home:
            write_notes(workspace, size)
            targets += measure(size, workspace, child_env(home), given)
    for met, words in targets:
        print(f"{words}: {'met' if met else 'missed'}")
    return 0 if all(met for met, _ in targets) else 1


def measure(size: int, workspace: str, env: dict[str, str], given: Any) -> list[tuple[bool, str]]:
    """Print what is measured at one size; which targets were met."""
    watched = Watched(workspace, env, debounce=DEBOUNCE)
    fresh = freshness(watched, workspace, given.rounds)
    watched.memory.close()
    print(
        f"{size} notes, {given.rounds} saved: median {fresh.median:.2f} s, p95 {fresh.late:.2f} s"
    )
    print(
        f"  less the debounce: median {fresh.median - DEBOUNCE:.2f} s,"
        f" p95 {fresh.late - DEBOUNCE:.2f} s"
    )
    native = idle(workspace, env, "native", given.seconds)
    polling = idle(workspace, env, "poll", given.seconds)
    print(f"  idle: {native:.3f} % of a core, polling {polling:.3f} %")
    targets = [
        (native <= MOST_IDLE, f"{size}: {native:.3f} % of a core idle, at most {MOST_IDLE}"),
        (polling <= MOST_POLLING, f"{size}: {polling:.3f} % polling, at most {MOST_POLLING}"),
    ]
    if size == SIZES[0]:
        changes = growth_by_changes(workspace, env, given.cycles)
        lives = growth_by_lives(workspace, env, given.cycles)
        targets += [
            (changes <= 0, f"{changes} more open files after {given.cycles} changes, none"),
            (lives <= 0, f"{lives} more open files after {given.cycles} lives, none"),
        ]
    return targets


if __name__ == "__main__":
    raise SystemExit(main())
