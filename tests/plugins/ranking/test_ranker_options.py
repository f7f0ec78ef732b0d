"""Each option of each ranker changes a result: a row an option, and no option without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.model.search import (
    ArmScore,
    Candidate,
    Explanation,
    KeywordQuery,
    Query,
    StoredChunk,
)
from commonplace.plugin import PluginHost, RankContext, RankerContext
from commonplace_ranking import optional, plugin

if TYPE_CHECKING:
    from commonplace.plugin import ChunkId

NOW = 1_793_491_200.0  # 2026-11-01T00:00:00Z


def hit(
    id_: int,
    score: float,
    *,
    source: str = "memory",
    path: str = "",
    line: int = 1,
    text: str = "ant",
    day: str | None = None,
) -> Candidate:
    arms = (ArmScore(arm="keyword", kind="bm25", raw=8.0, rank=id_ + 1),)
    path = path or f"memory/{id_}.md"
    chunk = StoredChunk(id_, source, path, line, line + 2, text, day=day, body=text)
    return Candidate(chunk, score, Explanation(arms=arms))


SOURCES = [hit(at, 1 - at / 20, source="sessions" if at < 5 else "memory") for at in range(8)]
NAMED = [hit(0, 0.9), hit(1, 0.5, path="memory/port-22.md")]
MARKED = [hit(0, 0.5), hit(1, 0.45, text="ant <!-- importance: 1 -->")]
DOCUMENTS = [hit(0, 0.9, path="a.md"), hit(1, 0.8, path="a.md", line=4), hit(2, 0.6, path="b.md")]
DATED = [hit(0, 0.5, day="2026-08-01"), hit(1, 0.49, day="2026-10-31")]
ARCHIVE = [hit(0, 0.5, day="2024-08-01"), hit(1, 0.445, day="2026-10-31")]
STRUCK = [hit(0, 0.5, text="~~ant~~"), hit(1, 0.45)]
TIMES = [
    hit(0, 0.5),
    hit(1, 0.49, text="ant move", day="2026-08-01"),
    hit(2, 0.48, text="ant hill, last week", day="2026-10-31"),
]
RULES = [
    hit(0, 0.9, text="Always feed the ant."),
    hit(1, 0.8, text="Never wake an ant."),
    hit(2, 0.7),
]
ALIKE = [hit(0, 0.9, text="ant bee"), hit(1, 0.8, text="ant bee"), hit(2, 0.6, text="cow")]

# ranker: option -> (one value, another, hits, query)
ROWS: dict[str, dict[str, tuple[Any, Any, list[Candidate], str]]] = {
    "source_balance": {
        "share": (0.25, 1.0, SOURCES, "ant"),
        "least": (0.0, 1.0, SOURCES, "ant"),
    },
    "exact_path": {
        "stems": (True, False, NAMED, "port-22"),
        "anywhere": (True, False, NAMED, "what is in port-22"),
    },
    "importance": {"weight": (0.0, 1.0, MARKED, "ant")},
    "spread": {
        "another": (1.0, 0.5, DOCUMENTS, "ant"),
        "next_to": (1.0, 0.5, DOCUMENTS, "ant"),
    },
    "recency": {
        "weight": (0.0, 0.5, DATED, "ant"),
        "half_life_days": (1, 36_500, DATED, "ant"),
        "now": (0.0, 0.5, ARCHIVE, "where is the ant now"),
    },
    "validity": {"weight": (0.0, 1.0, STRUCK, "ant")},
    "temporal_decay": {"half_life_days": (30, 36_500, DATED, "ant")},
    "time_words": {
        "weight": (0.0, 1.0, TIMES, "when did the ant move"),
        "when": (False, True, TIMES, "when did the ant move"),
        "now": (False, True, DATED, "where is the ant now"),
        "after": (False, True, TIMES, "the ant after the move"),
    },
    "standing": {"every": (1, 6, RULES, "please paint the door")},
    "mmr": {"lambda_": (1.0, 0.3, ALIKE, "ant")},
}
SWITCHES = {("mmr", "enabled"), ("temporal_decay", "enabled")}
"""Options that put a ranker into the chain: tests/core/config and tests/end_to_end try these."""

FUSING = {"evidence"}
"""Rankers whose options weigh the arms against one another: their own tests try these."""

OVER_HTTP = {("rerank", option) for option in optional.RerankSettings.fields()}
"""Options of the one that asks a server: test_reranking.py tries each."""


@pytest.fixture(scope="module")
def host() -> PluginHost:
    made = PluginHost(entry_points=[])
    for name, module in (("ranking", plugin), ("optional", optional)):
        made.register(module, name=name)
    return made


def order(host: PluginHost, ranker: str, hits: list[Candidate], query: str, **options: Any) -> Any:
    """The order of ``hits`` by the ranker's scores, with these of its options."""
    registration = host.ranker(ranker)
    assert registration.config is not None
    config = registration.config(**options)
    made = registration.factory(RankerContext(config=config))
    context = RankContext(
        query=Query(query, KeywordQuery(("ant",)), query),
        now=NOW,
        limit=4,
        arms=("keyword",),
        kinds=frozenset({"bm25"}),
    )
    ranked = list(made.rank(hits, context))
    if made.stage == "adjust":
        ranked.sort(key=lambda one: -one.score)
    found: list[ChunkId] = [one.chunk.id for one in ranked]
    return found


@pytest.mark.parametrize(
    ("ranker", "option"), [(ranker, option) for ranker, rows in ROWS.items() for option in rows]
)
def test_an_option_changes_the_order(host: PluginHost, ranker: str, option: str) -> None:
    one, other, hits, query = ROWS[ranker][option]
    orders = [order(host, ranker, hits, query, **{option: value}) for value in (one, other)]
    assert orders[0] != orders[1]


def test_every_option_of_every_ranker_has_a_row(host: PluginHost) -> None:
    options = {
        (registration.id, option)
        for registration in map(host.ranker, host.ids("ranker"))
        if registration.config is not None and registration.id not in FUSING
        for option in registration.config.fields()
    }
    rows = {(ranker, option) for ranker, options in ROWS.items() for option in options}
    assert options == rows | SWITCHES | OVER_HTTP
