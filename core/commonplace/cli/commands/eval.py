"""``commonplace eval``: measure retrieval on queries with known answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.parser import positive_int
from commonplace.cli.words import count

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO

    from commonplace.cli.context import Context
    from commonplace.cli.evalrun import Outcome
    from commonplace.cli.evalsets import EvalSet

__all__ = ["create"]


class EvalCommand:
    """Indexes each set for itself, asks its queries, and measures the answers."""

    name = "eval"
    summary = "Measure retrieval on queries with known answers: recall, MRR, nDCG"
    examples = (
        "commonplace eval sets/ --out results.jsonl",
        "commonplace eval sets/manual/queries.jsonl --budget 4000 --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add what it takes."""
        parser.add_argument(
            "path",
            metavar="TREE_OR_QUERIES",
            help="a queries.jsonl with a workspace/ beside it, or a folder with such folders below "
            "it; each is an index of its own, made in a temporary place",
        )
        parser.add_argument(
            "--out", metavar="RESULTS.jsonl", help="also write each query's results there"
        )
        parser.add_argument(
            "--budget",
            metavar="N",
            type=positive_int,
            help="also measure recall after reading N characters of the results",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Run all sets, one after the other."""
        from commonplace.cli.evalsets import find_sets

        sets = find_sets(args.path)
        if args.out is None:
            outcomes = _run_all(sets, args, context, None)
        else:
            with open(args.out, "w", encoding="utf-8") as out:
                outcomes = _run_all(sets, args, context, out)
        from commonplace.cli.evaltable import as_json, as_lines

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

    from commonplace.cli.evalrun import run_set

    outcomes = []
    for number, evalset in enumerate(sets, 1):
        with (
            TemporaryDirectory(prefix="commonplace-eval-") as state,
            context.open_memory(workspace=evalset.workspace, state_dir=state) as memory,
            context.progress() as progress,
        ):
            outcome = run_set(evalset, memory, budget=args.budget, out=out, progress=progress)
        outcomes.append(outcome)
        seconds = outcome.index_seconds + outcome.search_seconds
        context.err.write(
            f"[{number}/{len(sets)}] {evalset.title}: {count(outcome.notes, 'note')}, "
            f"{len(evalset.queries)} queries, {seconds:.1f} s\n"
        )
        if not outcome.notes:
            context.note(f"nothing was indexed in {evalset.workspace}")
    return outcomes


create = EvalCommand
