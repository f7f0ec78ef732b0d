"""What each ranker costs for 200 candidates, beside the least that any ranker can cost.

    python benchmarks/ranking.py

The least is a ranker that changes nothing and says so: one step a hit. Both run in turn, so that
the ratio does not depend on the load of the machine. Exits 1 if a ranker takes more than 2 ms in
the fastest of its runs.
"""

from __future__ import annotations

import sys
from array import array
from random import Random
from time import process_time
from typing import TYPE_CHECKING, Literal

import numpy as np  # noqa: F401 - vectors are compared by it where it is loaded, as for a search by them

from commonplace.plugin import (
    Arm,
    Candidate,
    Found,
    KeywordQuery,
    PluginHost,
    Query,
    RankContext,
    Ranker,
    RankerContext,
    StoredChunk,
    run_rankers,
    unit,
    with_step,
)
from commonplace_ranking import optional, plugin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.plugin import ChunkId

CANDIDATES = 200
RUNS = 60
LIMIT_MS = 2.0
DIMS = 768
WORDS = (
    "the",
    "staging",
    "server",
    "port",
    "moved",
    "backup",
    "runs",
    "night",
    "ferry",
    "invoice",
    "paid",
    "router",
    "spare",
    "key",
)


class Nothing:
    """Changes no score."""

    id = "nothing"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset()

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:  # noqa: ARG002
        """A step a hit."""
        return [with_step(hit, self.id, hit.score, "no change") for hit in hits]


def arms() -> tuple[Arm, ...]:
    """Half of the candidates by keyword, half by vector, a few by both."""
    random = Random(1)
    chunks = []
    for at in range(CANDIDATES):
        text = " ".join(random.choices(WORDS, k=80))
        if at % 7 == 0:
            text += f" <!-- importance: 0.{at % 10} -->"
        day = f"2026-{at % 12 + 1:02}-{at % 28 + 1:02}" if at % 2 else None
        source = "sessions" if at % 3 else "memory"
        path = f"memory/{at // 4}.md"
        chunks.append(
            StoredChunk(at, source, path, at % 4 * 9 + 1, at % 4 * 9 + 8, text, day=day, body=text)
        )
    words = [Found(chunk, 20 - at / 20, 0.9 - at / 400) for at, chunk in enumerate(chunks[:110])]
    meaning = [Found(chunk, 0.9 - at / 400) for at, chunk in enumerate(chunks[90:])]
    return (Arm("keyword", "bm25", tuple(words)), Arm("vector", "cosine", tuple(meaning)))


def main() -> int:
    """Print the table."""
    lists = arms()
    random = Random(2)
    vectors: dict[ChunkId, bytes] = {
        at: array("f", unit([random.gauss(0, 1) for _ in range(DIMS)])).tobytes()
        for at in range(CANDIDATES)
    }
    text = "when did the staging server move, memory/12.md"
    context = RankContext(
        query=Query(text, KeywordQuery(("staging", "server")), text),
        now=1_793_491_200.0,
        limit=10,
        arms=("keyword", "vector"),
        vectors=lambda ids: {id_: vectors[id_] for id_ in ids},
        kinds=frozenset({"bm25", "cosine"}),
    )
    host = PluginHost(entry_points=[])
    host.register(plugin, name="ranking")
    host.register(optional, name="optional")
    from commonplace.search.ranking import candidates_of

    united = candidates_of(lists)
    scored = run_rankers(united, [host.ranker("weighted").factory(RankerContext())], context)
    print(f"{CANDIDATES} candidates, {DIMS} dimensions, CPU time of the fastest of {RUNS} runs")
    print(f"{'ranker':16} {'ms':>7} {'x nothing':>10}")
    slow = []
    for id_ in host.ids("ranker"):
        if id_ == "rerank":  # which waits for a server
            continue
        ranker = host.ranker(id_).factory(RankerContext())
        hits = united if ranker.stage == "fuse" else scored
        mine, least = fastest(ranker, hits, context)
        print(f"{id_:16} {mine:7.2f} {mine / least:10.1f}")
        if mine > LIMIT_MS:
            slow.append(id_)
    if slow:
        print(f"more than {LIMIT_MS:g} ms: {', '.join(slow)}")
    return 1 if slow else 0


def fastest(ranker: Ranker, hits: Sequence[Candidate], context: RankContext) -> tuple[float, float]:
    """Milliseconds of the ranker, and of the one that changes nothing, run in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(RUNS):
        for one, taken in zip((ranker, Nothing()), times, strict=True):
            began = process_time()
            one.rank(hits, context)
            taken.append((process_time() - began) * 1000)
    return min(times[0]), min(times[1])


if __name__ == "__main__":
    sys.exit(main())
