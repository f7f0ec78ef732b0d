"""How long the long-term store takes, by the number of an agent's memories.

``python benchmarks/longterm_recall.py 1000 10000`` prints, for each count, the median milliseconds
of a recall by vectors and words, of one by words alone, and of storing one memory, with 768
dimensions. Another agent in the same folder has as many memories.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
import uuid
from array import array
from typing import TYPE_CHECKING

from commonplace_longterm.database import Database
from commonplace_longterm.entries import Entry
from commonplace_longterm.store import LongTermStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DIMS = 768
WORDS = [f"word{number}" for number in range(5_000)]


class Vectors:
    """Random unit vectors, the same for the same text."""

    id = "random"
    model = "random"

    def fingerprint(self) -> str:
        """Of all vectors here."""
        return "random"

    def query(self, text: str, *, deadline: object) -> bytes:
        """One vector."""
        return self.documents([text], deadline=deadline)[0]

    def documents(self, texts: Sequence[str], *, deadline: object) -> list[bytes]:
        """A vector for each text."""
        del deadline
        found = []
        for text in texts:
            chance = random.Random(text)
            numbers = [chance.gauss(0, 1) for _ in range(DIMS)]
            length = sum(number * number for number in numbers) ** 0.5
            found.append(array("f", [number / length for number in numbers]).tobytes())
        return found


def sentence(chance: random.Random) -> str:
    """Twelve words, the first of the list more often."""
    return " ".join(WORDS[int(len(WORDS) * chance.random() ** 2)] for _ in range(12))


def median_ms(work: Callable[[int], object], times: int) -> float:
    """The median of ``times`` runs, after one that does not count."""
    taken = []
    for number in range(times + 1):
        begin = time.perf_counter()
        work(number)
        taken.append((time.perf_counter() - begin) * 1000)
    return statistics.median(taken[1:])


def measure(count: int) -> str:
    """One line of figures."""
    with tempfile.TemporaryDirectory() as folder:
        chance = random.Random(count)
        vectors = Vectors()
        stores = {
            agent: LongTermStore(Database(folder, agent, {}), lambda: vectors)  # type: ignore[arg-type,return-value]
            for agent in ("main", "other")
        }
        for store in stores.values():
            store.take(
                [Entry(str(uuid.UUID(int=n)), f"{sentence(chance)} {n}") for n in range(count)]
            )
        main = stores["main"]
        words = LongTermStore(main.database, lambda: None)
        both = median_ms(lambda n: main.recall(f"{sentence(chance)} {n}", limit=5, min_score=0), 15)
        alone = median_ms(
            lambda n: words.recall(f"{sentence(chance)} {n}", limit=5, min_score=0), 15
        )
        stored = median_ms(lambda n: main.store(f"{sentence(chance)} new {n}"), 15)
    return f"{count:>8} {both:10.1f} {alone:10.1f} {stored:10.1f}"


if __name__ == "__main__":
    print("memories  recall ms   words ms   store ms")
    for given in sys.argv[1:] or ["1000", "10000"]:
        print(measure(int(given)))
