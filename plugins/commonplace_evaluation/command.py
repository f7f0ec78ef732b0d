"""The command ``eval``: index each set, run its queries, measure the results."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from commonplace.plugin import Progress, count, positive_int
from commonplace_evaluation.measures import DEPTH, Outcome, Span, recall_in_budget, score_query

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from commonplace import Hit, Memory
    from commonplace.plugin import Context, ProgressCallback
    from commonplace_evaluation.sets import EvalSet


class EvalCommand:
    """Measures each set with an index of its own."""

    name = "eval"
    summary = "Measure retrieval on queries with known answers: recall, MRR, nDCG"
    examples = (
        "commonplace eval sets/ --out results.jsonl",
        "commonplace eval sets/manual/queries.jsonl --budget 4000 --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "path",
            metavar="TREE_OR_QUERIES",
            help="a queries.jsonl with a workspace/ beside it, or a folder with such folders below "
            "it; each gets an index of its own in a temporary folder",
        )
        parser.add_argument(
            "--out", metavar="RESULTS.jsonl", help="also write the results of each query to a file"
        )
        parser.add_argument(
            "--budget",
            metavar="N",
            type=positive_int,
            help="also measure recall after reading N characters of the results",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Measure all sets, one after the other."""
        from commonplace_evaluation.sets import find_sets
        from commonplace_evaluation.table import as_json, as_lines

        sets = find_sets(args.path)
        if args.out is None:
            outcomes = _run_all(sets, args, context, None)
        else:
            with open(args.out, "w", encoding="utf-8") as out:
                outcomes = _run_all(sets, args, context, out)
        if context.json:
            context.emit(as_json(outcomes))
        else:
            for line in as_lines(outcomes):
                context.line(line)
        return 0


def _run_all(
    sets: list[EvalSet], args: Namespace, context: Context, out: TextIO | None
) -> list[Outcome]:
    from tempfile import TemporaryDirectory

    outcomes = []
    for number, evalset in enumerate(sets, 1):
        with (
            TemporaryDirectory(prefix="commonplace-eval-") as state,
            context.open_memory(workspace=evalset.workspace, state_dir=state) as memory,
            context.progress() as progress,
        ):
            outcome = _run_set(evalset, memory, budget=args.budget, out=out, progress=progress)
        outcomes.append(outcome)
        seconds = outcome.index_seconds + outcome.search_seconds
        context.err.write(
            f"[{number}/{len(sets)}] {evalset.title}: {count(outcome.notes, 'note')}, "
            f"{len(evalset.queries)} queries, {seconds:.1f} s\n"
        )
        if not outcome.notes:
            context.note(f"no notes were indexed in {evalset.workspace}")
    return outcomes


def _run_set(
    evalset: EvalSet,
    memory: Memory,
    *,
    budget: int | None,
    out: TextIO | None,
    progress: ProgressCallback,
) -> Outcome:
    """Index the set, run every query, and write the results to ``out``, one line for each."""
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
        progress(
            Progress(
                label=f"Searching {evalset.title}", completed=number, total=len(evalset.queries)
            )
        )
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
