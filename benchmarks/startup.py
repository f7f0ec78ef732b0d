"""A search as a whole process, against the same Python that only imports what ours stands on.

Run it with ``python benchmarks/startup.py [--rounds 61]``. Both are started in turns, on a thousand
seeded notes that are indexed and unchanged; CPU time and peak memory are those that the system
reports of each child. Exits with 1 if a target is missed.
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
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SEED = 11
NOTES = 1_000
BARE = ("-c", "import apsw, pluggy, attrs")
QUERIES = ("word17 word230 word1999", "which word31 is word5?", '"word2 word3"')
MOST_RATIO = 1.4
MOST_MEGABYTES = 60


class Cost(NamedTuple):
    """CPU and wall seconds and peak memory in megabytes of one process."""

    cpu: float
    wall: float
    megabytes: float


def write_notes(folder: str) -> None:
    rng = random.Random(SEED)
    words = [f"word{number}" for number in range(5_000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    os.makedirs(os.path.join(folder, "memory"))
    for number in range(NOTES):
        parts = [f"# Note {number}"]
        for section in range(6):
            body = " ".join(rng.choices(words, weights, k=75))
            parts.append(f"## Section {section}\n\n{body}.")
        path = os.path.join(folder, "memory", f"note{number:05}.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n\n".join(parts) + "\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))


def child_env(home: str) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if "COMMONPLACE" not in name}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # a program that is installed is compiled once
    folders = {"COMMONPLACE_STATE_DIR": "state", "COMMONPLACE_CACHE_DIR": "cache", "HOME": "home"}
    return env | {name: os.path.join(home, folder) for name, folder in folders.items()}


def cost_of(arguments: Sequence[str], env: dict[str, str]) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(
        arguments, env=env, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"{arguments} ended with {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * unit / 1e6)


def program() -> list[str]:
    """The command as it is installed; the module where it is not."""
    script = os.path.join(os.path.dirname(sys.executable), "commonplace")
    return [script] if os.access(script, os.X_OK) else [sys.executable, "-m", "commonplace"]


def medians(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=61)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as home:
        workspace, env = os.path.join(home, "workspace"), child_env(home)
        write_notes(workspace)
        cost_of([*program(), "index", "--workspace", workspace], env)
        bare = (sys.executable, *BARE)
        searches = [(*program(), "search", query, "--workspace", workspace) for query in QUERIES]
        for arguments in (bare, *searches):  # what is compiled or remembered at the first time
            cost_of(arguments, env)
        bare_costs, our_costs = [], []
        for number in range(rounds):
            bare_costs.append(cost_of(bare, env))
            our_costs.append(cost_of(searches[number % len(searches)], env))
    theirs, ours = medians(bare_costs), medians(our_costs)
    ratio = ours.cpu / theirs.cpu
    print(f"{'process':40}{'CPU ms':>9}{'wall ms':>9}{'peak MB':>9}")
    for name, cost in ((" ".join(BARE[1:]), theirs), (f"search {NOTES} notes", ours)):
        print(f"{name:40}{cost.cpu * 1e3:9.1f}{cost.wall * 1e3:9.1f}{cost.megabytes:9.1f}")
    good = [ratio <= MOST_RATIO, ours.megabytes < MOST_MEGABYTES]
    words = ["missed", "met"]
    print(f"\nCPU ratio {ratio:.2f}, at most {MOST_RATIO}: {words[good[0]]}")
    print(f"peak {ours.megabytes:.1f} MB, under {MOST_MEGABYTES}: {words[good[1]]}")
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
