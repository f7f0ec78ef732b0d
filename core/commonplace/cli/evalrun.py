"""Asks the queries of a set and measures what comes back."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, TextIO

from attrs import frozen

from commonplace.evaluation import DEPTH, Span, recall_in_budget, score_query
from commonplace.model.reports import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.cli.evalsets import EvalSet
    from commonplace.memory import Memory
    from commonplace.model.reports import ProgressCallback
    from commonplace.model.search import Hit

__all__ = ["Outcome", "run_set"]


@frozen
class Outcome:
    """What a set (or a part of one) came to.

    ``scores`` holds category and measures of each query. ``notes`` counts what was indexed.
    """

    name: str
    title: str
    scores: tuple[tuple[str, dict[str, float]], ...]
    notes: int
    index_seconds: float
    search_seconds: float


def run_set(
    evalset: EvalSet,
    memory: Memory,
    *,
    budget: int | None,
    out: TextIO | None,
    progress: ProgressCallback,
) -> Outcome:
    """Index the set, ask every query, and write the results to ``out``, one line a query."""
    started = time.perf_counter()
    report = memory.sync(progress=progress)
    indexed = time.perf_counter()
    searching = 0.0
    lengths = _line_lengths(evalset.workspace)
    scores = []
    for number, query in enumerate(evalset.queries, 1):
        asked = time.perf_counter()
        hits = memory.search(query.text, max_results=DEPTH).hits
        searching += time.perf_counter() - asked
        results = [Span(hit.path, hit.start_line, hit.end_line) for hit in hits]
        measures = score_query(query.relevant, results)
        if budget is not None:
            measures["budget"] = recall_in_budget(query.relevant, results, lengths, budget)
        scores.append((query.category, measures))
        if out is not None:
            out.write(_result_line(query.id, hits))
        progress(Progress(f"Asking {evalset.title}", number, len(evalset.queries)))
    return Outcome(
        name=evalset.name,
        title=evalset.title,
        scores=tuple(scores),
        notes=report.added + report.updated + report.unchanged,
        index_seconds=indexed - started,
        search_seconds=searching,
    )


def _result_line(query_id: str, hits: Sequence[Hit]) -> str:
    results = [
        {
            "path": hit.path,
            "startLine": hit.start_line,
            "endLine": hit.end_line,
            "score": hit.score,
        }
        for hit in hits
    ]
    return json.dumps({"id": query_id, "results": results}, ensure_ascii=False) + "\n"


def _line_lengths(workspace: str) -> Callable[[str], Sequence[int]]:
    known: dict[str, list[int]] = {}

    def lengths(path: str) -> list[int]:
        if path not in known:
            try:
                with open(os.path.join(workspace, path), encoding="utf-8") as lines:
                    known[path] = [len(line) for line in lines]
            except OSError:
                known[path] = []
        return known[path]

    return lengths
