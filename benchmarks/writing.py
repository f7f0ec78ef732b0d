"""How soon what was written is found, on a thousand seeded notes.

Run it with ``python benchmarks/writing.py [--rounds 100]``. Each round remembers a fact, and
searches for it in the same process with the default backend. Times are wall milliseconds, and CPU
milliseconds, which another load of the machine does not change. Exits with 1 if finding takes more
than 100 CPU ms for 5 of 100 facts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time

from startup import write_notes

from commonplace import Memory

MOST_MS = 100


def now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def since(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    return (end[0] - start[0]) * 1e3, (end[1] - start[1]) * 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=100)
    rounds = parser.parse_args().rounds
    writing: list[tuple[float, float]] = []
    finding: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        notes = os.path.join(folder, "notes")
        write_notes(notes)
        env = {
            "HOME": folder,
            "COMMONPLACE_STATE_DIR": os.path.join(folder, "state"),
            "COMMONPLACE_CACHE_DIR": os.path.join(folder, "cache"),
        }
        with Memory.open(workspace=notes, env=env) as memory:
            memory.sync()
            writer = memory.writer(who="benchmark")
            for number in range(rounds):
                word = f"zebrafish{number}"
                start = now()
                receipt = writer.remember(f"The {word} swims in tank {number}")
                written = now()
                paths = {hit.path for hit in memory.search(word).hits}
                writing.append(since(start, written))
                finding.append(since(written, now()))
                if receipt.path not in paths:
                    raise SystemExit(f"{word} was not found")
    for name, times in (("written in", writing), ("found within", finding)):
        for kind, values in zip(("wall", "CPU"), zip(*times, strict=True), strict=True):
            p95 = statistics.quantiles(values, n=20)[-1]
            print(f"{name}: p50 {statistics.median(values):.1f}, p95 {p95:.1f} {kind} ms")
    return int(statistics.quantiles([cpu for _, cpu in finding], n=20)[-1] > MOST_MS)


if __name__ == "__main__":
    sys.exit(main())
