"""The command ``eval``: index each set, run its queries, measure and compare the results."""

from __future__ import annotations

import os
from io import StringIO
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    CallerError,
    CommonplaceError,
    UsageError,
    counted,
    positive_int,
    write_output,
)

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from commonplace.plugin import Context
    from commonplace_evaluation.running import Outcome
    from commonplace_evaluation.sets import EvalSet


CURRENT = "current"
"""The name of the configuration in force, where it is compared with others."""


class EvalCommand:
    """Measures each set with an index of its own."""

    name = "eval"
    summary = "Measure retrieval on queries with known answers: recall, MRR, nDCG"
    examples = (
        "commonplace eval sets/ --out results.jsonl",
        "commonplace eval sets/manual/queries.jsonl --budget 4000 --json",
        "commonplace eval --make 50 queries.jsonl",
        "commonplace eval queries.jsonl --compare plain.json5 new.json5 --html report.html",
        "commonplace eval --history",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "path",
            metavar="TREE_OR_QUERIES",
            nargs="?",
            help="a queries.jsonl with a workspace/ beside it, or a folder with such folders below "
            "it; each gets an index of its own in a temporary folder. A file without a workspace/ "
            "beside it is about your own notes",
        )
        parser.add_argument(
            "--make",
            metavar="N",
            type=positive_int,
            help="draft N queries from your own notes, without a model, and write them to "
            "TREE_OR_QUERIES, a new file: a smoke test, until you rewrite them",
        )
        parser.add_argument(
            "--history",
            action="store_true",
            help="measure nothing: show the last evaluations of the notes, and how the figures "
            "changed",
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
        parser.add_argument(
            "--compare",
            metavar="CONFIG",
            nargs="+",
            help="measure with each of these configuration files, and compare the others with the "
            "first; a single one is compared with the configuration in force",
        )
        parser.add_argument(
            "--tune",
            action="store_true",
            help="measure how far the fusion should trust the vectors, and name the best "
            "query.hybrid.trust; 40 queries are a fair number, fewer than 20 change nothing",
        )
        parser.add_argument(
            "--worst",
            metavar="N",
            type=positive_int,
            help="--compare, --html: how many of the queries that lost most, or scored lowest, are "
            f"explained (default: {_WORST})",
        )
        parser.add_argument(
            "--html",
            metavar="REPORT.html",
            help="also write a report with tables and charts, one file that opens from disk",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Measure all sets, one after the other."""
        _check_options(args)
        if args.history:
            _history(args, context)
            return 0
        _check_paths(args.path, args.out, args.html)
        if args.make:
            _make(args.path, args.make, context)
            return 0
        from commonplace_evaluation.running import run_sets
        from commonplace_evaluation.sets import find_sets
        from commonplace_evaluation.table import as_json, as_lines

        _check_outputs(args)
        sets = find_sets(args.path, lambda: _own_workspace(args.path, context))
        if args.tune:
            _tune(sets, context)
            return 0
        if args.compare:
            _compare(sets, args, context)
            return 0
        out = StringIO() if args.out else None
        outcomes = run_sets(sets, context, budget=args.budget, out=out, explain=bool(args.html))
        if out is not None:
            write_output(args.out, out.getvalue())
        _keep(sets, outcomes, context)
        _print(context, as_json(outcomes), as_lines(outcomes))
        if args.html:
            from commonplace_evaluation.report import measured_sections, write_report

            sections = measured_sections(outcomes, args.worst or _WORST)
            write_report(args.html, f"Retrieval on {os.path.basename(args.path)}", sections)
            context.note(f"report: {args.html}")
        return 0


def _print(context: Context, facts: dict[str, Any], lines: Iterable[str]) -> None:
    """The result: ``facts`` as JSON, or ``lines``."""
    if context.json:
        context.emit(facts)
    else:
        context.lines(lines)


def _keep(sets: list[EvalSet], outcomes: list[Outcome], context: Context) -> None:
    """Keep what was measured beside the indexes, by the workspace that it is about."""
    from commonplace_evaluation.history import History

    for evalset, outcome in zip(sets, outcomes, strict=True):
        if not outcome.notes:  # a wrong folder: its zeros are no figures to compare with
            continue
        try:
            History(context.env, evalset.workspace).keep(outcome)
        except CommonplaceError as error:
            context.note(f"{evalset.title}: not kept for eval --history: {error}")


def _history(args: Namespace, context: Context) -> None:
    from commonplace_evaluation.history import History, history_json, history_lines

    if args.path is not None:
        raise UsageError("--history measures nothing", hint=f"leave out {args.path}")
    with context.open_memory() as memory:
        workspace = memory.settings.workspace
    found = history_json(workspace, History(context.env, workspace))
    _print(context, found, history_lines(found))


_WORST = 5
_OPTIONS = "history", "make", "tune", "compare", "html", "out", "budget"
"""Those of which each of the first three stands alone."""


def _check_options(args: Namespace) -> None:
    for name in _OPTIONS[:3]:
        if getattr(args, name) and (others := [one for one in _OPTIONS if getattr(args, one)])[1:]:
            without = " and ".join(f"--{one}" for one in others if one != name)
            raise UsageError(f"--{name} goes without {without}", hint=f"leave out {without}")
    if args.worst and not (args.compare or args.html):
        raise UsageError(
            "--worst is for the queries that --compare and --html explain",
            hint="add --html REPORT.html, or leave out --worst",
        )


def _check_paths(queries: str | None, *others: str | None) -> None:
    if queries is None:
        raise UsageError(
            "eval: the following arguments are required: TREE_OR_QUERIES",
            hint="commonplace eval --make 50 mine.jsonl drafts queries from your notes",
        )
    for path in (queries, *others):
        if path and "\0" in path:
            raise CallerError(f"{path!r}: no path has a NUL in it", hint="name a file")


def _check_outputs(args: Namespace) -> None:
    if args.out and args.html and os.path.realpath(args.out) == os.path.realpath(args.html):
        raise UsageError("--out and --html name one file", hint="name a file for each")
    if args.compare and args.out:
        raise CallerError(
            "--out takes the results of one configuration",
            hint="leave out --compare, and choose the configuration with --config",
        )
    if args.out:
        from commonplace_evaluation.outputs import check_beside
        from commonplace_evaluation.running import is_result_line

        check_beside(args.out, "results", is_result_line)
    if args.html:
        from commonplace_evaluation.report import check_report

        check_report(args.html)


_SMOKE_TEST = (
    "drafts repeat the notes' own words: a smoke test of settings, no measure of how well "
    "questions are answered. Rewrite each query as you would ask it, and delete those with other "
    "right answers"
)


def _make(path: str, most: int, context: Context) -> None:
    """Write drafts of queries to ``path``."""
    from commonplace_evaluation.drafting import as_jsonl, draft_queries

    if os.path.exists(path):
        raise CallerError(f"{path}: is there already", hint="name a new file, or delete this one")
    texts = {}
    with context.open_memory() as memory:
        for ref in memory.notes():
            try:
                texts[ref.path] = memory.get(ref.path).text
            except CommonplaceError as error:
                context.note(f"{ref.path}: left out: {error}")
    drafts = draft_queries(texts, most)
    if not drafts:
        raise CallerError(
            f"no queries can be drafted from {counted(len(texts), 'note')}",
            hint="--workspace names the folder of your notes; lines need five words and more",
        )
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        context.note(f"made the folder {folder}")
    write_output(os.path.abspath(path), as_jsonl(drafts))
    context.note(_SMOKE_TEST)
    facts = {"path": path, "queries": len(drafts), "notes": len(texts)}
    drafted = counted(len(drafts), "query", "queries")
    _print(context, facts, [f"{drafted} from {counted(len(texts), 'note')}: {path}"])


def _tune(sets: list[EvalSet], context: Context) -> None:
    from commonplace_evaluation.tuning import tune, tuned_json, tuned_lines

    tuned = tune(sets, context)
    _print(context, tuned_json(tuned), tuned_lines(tuned))


def _own_workspace(path: str, context: Context) -> str:
    with context.open_memory() as memory:
        workspace = memory.settings.workspace
    context.note(f"there is no workspace/ beside {path}: measured on {workspace}")
    return workspace


def _compare(sets: list[EvalSet], args: Namespace, context: Context) -> None:
    from commonplace_evaluation.running import run_sets
    from commonplace_evaluation.table import comparison_json, comparison_lines

    configs, most = _named(args.compare), args.worst or _WORST
    for config in configs.values():  # all of them, before the first takes its time
        context.open_memory(workspace=sets[0].workspace, config=config).close()
    runs: dict[str, list[Outcome]] = {
        name: run_sets(sets, context, config=config, budget=args.budget, explain=True, label=name)
        for name, config in configs.items()
    }
    if context.json:
        context.emit(comparison_json(runs, most))
    else:
        context.lines(comparison_lines(runs, most))
    if args.html:
        from commonplace_evaluation.report import comparison_sections, write_report

        write_report(args.html, " and ".join(runs), comparison_sections(runs, most))
        context.note(f"report: {args.html}")


def _named(paths: list[str]) -> dict[str, str | None]:
    """The configuration files by a short name, the one to compare with first."""
    paths = [os.path.join(".", path) if path == CURRENT else path for path in paths]
    short = [path if (name := os.path.basename(path)) == CURRENT else name for path in paths]
    names = short if len(set(short)) == len(short) else paths
    configs: dict[str, str | None] = dict(zip(names, paths, strict=True))
    if len(configs) < len(paths):
        raise CallerError("--compare names a configuration twice", hint="name each file once")
    return configs if len(configs) > 1 else {CURRENT: None, **configs}
