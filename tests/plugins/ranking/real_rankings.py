"""Measures fusions on the real rankings of embedding models; the tests and a benchmark use it.

A set with a ``rankings.json`` beside its queries holds for each query the lines that real models
found, best first. These stand for the list by vectors; the keyword list and the fusion are the
product's. No ranking by age, no folding: it is about the fusion alone.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from commonplace import Memory
from commonplace.model.search import Arm, Found, KeywordQuery, Query, StoredChunk
from commonplace.plugin import RankContext
from commonplace.search.ranking import candidates_of, run_rankers
from commonplace_evaluation.measures import Span, average, score_query
from commonplace_evaluation.sets import EvalQuery, EvalSet, find_sets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace import Hit
    from commonplace.plugin import Ranker

DEPTH = 40


class Lists(NamedTuple):
    """What keywords and what one model found for a query."""

    query: EvalQuery
    keyword: Arm
    vector: Arm


def pairs_of(folder: Path) -> dict[str, list[Lists]]:
    """Both lists of each query, by set and model, for the sets below ``folder`` with rankings."""
    pairs: dict[str, list[Lists]] = {}
    for evalset in find_sets(str(folder)):
        rankings = Path(evalset.workspace).parent / "rankings.json"
        if rankings.is_file():
            keyword = dict(_searched(evalset))
            for model, found in json.loads(rankings.read_text(encoding="utf-8")).items():
                pairs[f"{evalset.title} {model}"] = [
                    Lists(query, keyword[query.id], _arm_of(found.get(query.id, [])))
                    for query in evalset.queries
                ]
    return pairs


def gain(lists: Sequence[Lists], ranker: Ranker) -> float:
    """nDCG@10 of a fusion beyond that of the better of both lists."""
    measured = [
        average([score_query(one.query.relevant, _spans(one, arms, ranker)) for one in lists])
        for arms in (("keyword",), ("vector",), ("keyword", "vector"))
    ]
    keyword, vector, both = (row["ndcg@10"] for row in measured)
    return both - max(keyword, vector)


def _spans(lists: Lists, names: tuple[str, ...], ranker: Ranker) -> list[Span]:
    arms = [arm for arm in (lists.keyword, lists.vector) if arm.name in names]
    context = RankContext(
        Query(lists.query.text, KeywordQuery()),
        now=0.0,
        limit=10,
        arms=names,
        kinds=frozenset(arm.kind for arm in arms),
    )
    hits = run_rankers(candidates_of(arms), [ranker] if len(arms) > 1 else [], context)
    if len(arms) == 1:
        return [_span(found.chunk) for found in arms[0].found[:10]]
    return [_span(hit.chunk) for hit in hits[:10]]


def _span(chunk: StoredChunk) -> Span:
    return Span(chunk.path, chunk.start_line, chunk.end_line)


def _arm_of(found: Sequence[dict[str, object]]) -> Arm:
    # Cosines are not published: any that fall with the rank do, for a fusion that looks at ranks.
    lines = ((str(one["path"]), int(str(one["startLine"]))) for one in found)
    return Arm(
        "vector",
        "cosine",
        tuple(Found(_chunk(*line), 0.8 - place / 100) for place, line in enumerate(lines)),
    )


def _chunk(path: str, line: int) -> StoredChunk:
    return StoredChunk(f"{path}#{line}", "memory", path, line, line, "")


def _searched(evalset: EvalSet) -> Iterator[tuple[str, Arm]]:
    query = {"fold": False, "hybrid": {"candidateMultiplier": 1}}
    search = {"provider": "none", "query": query, "ranking": {"chain": ["single"]}}
    with tempfile.TemporaryDirectory() as scratch:
        env = {"HOME": scratch, "COMMONPLACE_STATE_DIR": scratch, "COMMONPLACE_CACHE_DIR": scratch}
        with Memory.open(
            workspace=evalset.workspace, config={"memory": {"search": search}}, env=env
        ) as memory:
            memory.sync()
            for asked in evalset.queries:
                hits = memory.search(asked.text, max_results=DEPTH).hits
                events = dict.fromkeys(event for hit in hits for event in _events(evalset, hit))
                found = {item.chunk.id: item for item in reversed(events)}
                yield asked.id, Arm("keyword", "bm25", tuple(reversed(found.values())))


def _events(evalset: EvalSet, hit: Hit) -> Iterator[Found]:
    """A keyword hit stands for each event that it covers, not for the relevant one alone."""
    (said,) = hit.explain.arms
    lines = Path(evalset.workspace, hit.path).read_text(encoding="utf-8").splitlines()
    for line in range(hit.start_line, hit.end_line + 1):
        if lines[line - 1].startswith("- "):
            chunk = _chunk(hit.path, line)
            yield Found(chunk, said.raw, said.evidence, said.note, said.coverage)
