"""The command ``bench``: retrieval on public benchmarks, beside plain FTS5 and grep."""

from __future__ import annotations

import os
import time
from itertools import islice
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    CallerError,
    NamedTuple,
    Progress,
    UsageError,
    columns,
    counted,
    positive_int,
)
from commonplace_evaluation.comparing import CONFIDENCE, Difference, paired, rounded
from commonplace_evaluation.measures import average
from commonplace_evaluation.public import BENCHMARKS, digest_of, read_benchmark
from commonplace_evaluation.rivals import Fts5, Grep
from commonplace_evaluation.running import Searches

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from commonplace import Memory
    from commonplace.plugin import Context
    from commonplace_evaluation.public import Benchmark, Corpus

OURS = "commonplace"
PASSAGES = 2
"""How many passages are asked for, for each document that counts; on LoCoMo 20 passages have the
same first ten documents as 200."""


MOST = 1000 // PASSAGES
"""The largest k, as a search gives 1,000 passages at most."""


class Answer(NamedTuple):
    """What each system measured for a question of ``category``."""

    category: str
    measures: dict[str, dict[str, float]]


class Tally(NamedTuple):
    """What was read and measured."""

    corpora: int
    documents: int
    left_out: int
    answers: tuple[Answer, ...]
    index_seconds: float
    searches: Searches


class BenchCommand:
    """Measures retrieval on a benchmark's own files."""

    name = "bench"
    summary = "Measure retrieval on public benchmarks of memory, beside FTS5 and grep"
    examples = (
        "commonplace bench locomo locomo10.json",
        "commonplace bench longmemeval longmemeval_s_cleaned.json --limit 50 --k 1 5 10",
        "commonplace bench beam chats/100K --html report.html",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument("benchmark", choices=tuple(BENCHMARKS), help="which benchmark it is")
        parser.add_argument(
            "path", metavar="PATH", help="its file or folder, as its authors publish it"
        )
        parser.add_argument(
            "--k",
            metavar="K",
            nargs="+",
            type=positive_int,
            default=[1, 5, 10],
            help=f"how many documents count, up to {MOST} (default: 1 5 10)",
        )
        parser.add_argument(
            "--limit", metavar="N", type=positive_int, help="only the first N corpora"
        )
        parser.add_argument(
            "--dates",
            action="store_true",
            help="give documents the day that the file has for them; without it their bare text "
            "is indexed",
        )
        parser.add_argument(
            "--html",
            metavar="REPORT.html",
            help="also write a report with tables and charts, one file that opens from disk",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Measure all corpora."""
        benchmark = BENCHMARKS[args.benchmark]
        if args.html:
            from commonplace_evaluation.report import check_report

            check_report(args.html)
        ks = sorted(set(args.k))
        if ks[-1] > MOST:
            raise UsageError(
                f"--k {ks[-1]}: at most {MOST}",
                hint=f"commonplace bench {benchmark.name} {quote(args.path)} --k {MOST}",
            )
        corpora = islice(read_benchmark(benchmark, args.path), args.limit)
        tally = _measure_all(benchmark, corpora, ks, context, dates=args.dates)
        if not tally.answers and not tally.left_out:
            raise CallerError(
                f"{args.path}: there are no questions in it",
                hint=f"what is read: {benchmark.files}",
            )
        for message in tally.searches.messages("question"):
            context.note(f"{benchmark.name}: {message}")
        digest = digest_of(args.path)
        facts = _facts(benchmark, tally, digest, dates=args.dates)
        if context.json:
            context.emit(facts)
        else:
            for line in _lines(benchmark, tally, args.path, facts):
                context.line(line)
        if args.html and not tally.answers:
            context.note("no report: there are no questions")
        elif args.html:
            _write_report(args.html, benchmark, tally, facts)
            context.note(f"report: {args.html}")
        return 0


def _measure_all(
    benchmark: Benchmark,
    corpora: Any,
    ks: Sequence[int],
    context: Context,
    *,
    dates: bool,
) -> Tally:
    answers: list[Answer] = []
    number = documents = left_out = 0
    indexing = 0.0
    searches = Searches()
    with context.progress() as progress:
        for number, corpus in enumerate(corpora, 1):
            documents += len(corpus.documents)
            left_out += corpus.left_out
            progress(
                Progress(
                    label=f"Measuring {benchmark.name}: {corpus.name}", completed=number, total=0
                )
            )
            with TemporaryDirectory(prefix="commonplace-bench-") as folder:
                paths = _write_notes(corpus, folder, dates=dates)
                started = time.perf_counter()
                with context.open_memory(
                    workspace=os.path.join(folder, "workspace"),
                    state_dir=os.path.join(folder, "state"),
                    alone=True,
                ) as memory:
                    memory.sync()
                    indexed = time.perf_counter()
                    answers += _answers(corpus, memory, searches, paths, ks)
                indexing += indexed - started
    return Tally(number, documents, left_out, tuple(answers), indexing, searches)


def _write_notes(corpus: Corpus, folder: str, *, dates: bool) -> dict[str, str]:
    """Each document as a note; their ids by path. Names say nothing of what they hold."""
    notes = os.path.join(folder, "workspace", "memory")
    os.makedirs(notes)
    paths = {}
    for at, document in enumerate(corpus.documents, 1):
        name = f"{document.day}-{at}.md" if dates and document.day else f"{at}.md"
        with open(os.path.join(notes, name), "w", encoding="utf-8") as note:
            note.write(document.text + "\n")
        paths[f"memory/{name}"] = document.id
    return paths


def _answers(
    corpus: Corpus,
    memory: Memory,
    searches: Searches,
    paths: dict[str, str],
    ks: Sequence[int],
) -> list[Answer]:
    """The measures of each question."""
    fts5, grep = Fts5(corpus.documents), Grep(corpus.documents)
    most = max(ks)
    answers = []
    for question in corpus.questions:
        hits = searches.ask(memory, question.text, PASSAGES * most)
        ranked = {
            OURS: list(dict.fromkeys(paths[hit.path] for hit in hits)),
            "fts5": fts5.ranked(question.text, most),
            "grep": grep.ranked(question.text, most),
        }
        measures = {name: measured(question.evidence, ids, ks) for name, ids in ranked.items()}
        answers.append(Answer(question.category, measures))
    return answers


def measured(
    evidence: frozenset[str], ranked: Sequence[str], ks: Sequence[int]
) -> dict[str, float]:
    """``share@k``, ``any@k`` and ``all@k`` of ``evidence`` (not empty) for each k.

    The share of the evidence among the first k documents; 1 if any of it is there; 1 if all is.
    """
    found = [len(evidence.intersection(ranked[:k])) for k in ks]
    return {
        **{f"share@{k}": n / len(evidence) for k, n in zip(ks, found, strict=True)},
        **{f"any@{k}": float(n > 0) for k, n in zip(ks, found, strict=True)},
        **{f"all@{k}": float(n == len(evidence)) for k, n in zip(ks, found, strict=True)},
    }


def _means(answers: Sequence[Answer], system: str) -> dict[str, float]:
    means = average([answer.measures[system] for answer in answers])
    return {"n": len(answers)} | {name: round(value, 4) for name, value in means.items()}


def _facts(benchmark: Benchmark, tally: Tally, digest: str, *, dates: bool) -> dict[str, Any]:
    answers = tally.answers
    systems = tuple(answers[0].measures) if answers else ()
    kinds = sorted({answer.category for answer in answers})
    return {
        "benchmark": benchmark.name,
        "sha256": digest,
        "file": benchmark.known.get(digest, ""),
        "document": benchmark.document,
        "dates": dates,
        "corpora": tally.corpora,
        "documents": tally.documents,
        "questions": len(answers),
        "leftOut": tally.left_out,
        "systems": {
            system: {
                "all": _means(answers, system),
                "categories": {
                    kind: _means([one for one in answers if one.category == kind], system)
                    for kind in kinds
                },
            }
            for system in systems
        },
        "differences": {
            system: {name: rounded(found) for name, found in _less(answers, system).items()}
            for system in systems
            if system != OURS
        },
        "engine": tally.searches.engine,
        "indexSeconds": round(tally.index_seconds, 3),
        "searchSeconds": round(tally.searches.seconds, 3),
    }


def _less(answers: Sequence[Answer], system: str) -> dict[str, Difference]:
    """By how much we are better than ``system``, by measure."""
    return {
        name: paired(
            [answer.measures[system][name] for answer in answers],
            [answer.measures[OURS][name] for answer in answers],
        )
        for name in answers[0].measures[OURS]
    }


def _table(facts: dict[str, Any]) -> list[list[str]]:
    """A row for each system, and below ours one for each category."""
    names = [name for name in facts["systems"][OURS]["all"] if name != "n"]
    table = [["", "questions", *names]]
    for system, of_system in facts["systems"].items():
        rows = {system: of_system["all"]}
        if system == OURS and len(of_system["categories"]) > 1:
            rows |= {f"  {kind}": row for kind, row in of_system["categories"].items()}
        for label, row in rows.items():
            table.append([label, str(row["n"]), *(f"{row[name]:.3f}" for name in names)])
    return table


def _about(benchmark: Benchmark, facts: dict[str, Any]) -> str:
    dated = "with its day" if facts["dates"] else "bare text, without dates"
    return (
        f"Retrieval only, no model reads or answers. A document is {benchmark.document}, {dated}; "
        f"a corpus is searched alone; the passages found count as their documents, in order. "
        f"share@k: share of a question's evidence in the first k documents; any@k, all@k: "
        f"questions with any, all of it there. {_left_out(facts['leftOut'])}"
    )


def _left_out(number: int) -> str:
    left = counted(number, "question is left out", "questions are left out")
    return f"{left}: without evidence, or with some that the file does not have."


def _lines(benchmark: Benchmark, tally: Tally, path: str, facts: dict[str, Any]) -> list[str]:
    name = f" ({facts['file']})" if facts["file"] else ""
    counts = f"{counted(tally.documents, 'document')}, {counted(len(tally.answers), 'question')}"
    head = [
        f"{benchmark.name}: {counted(tally.corpora, 'corpus', 'corpora')}, {counts}",
        f"{path}: sha256 {facts['sha256']}{name}",
        "",
        _about(benchmark, facts),
        "",
    ]
    if not tally.answers:
        return [*head, "no questions"]
    differences = [
        f"{OURS} less {system}, {measure}: {found['difference']:+.3f} "
        f"[{found['low']:+.3f}, {found['high']:+.3f}] ({CONFIDENCE:.0%} interval)"
        for system, by_measure in facts["differences"].items()
        for measure, found in by_measure.items()
        if measure.startswith("share@") and found["low"] is not None
    ]
    times = f"indexing took {tally.index_seconds:.1f} s, searching {tally.searches.seconds:.1f} s"
    return [*head, *columns(_table(facts)), "", *differences, "", times]


def _write_report(path: str, benchmark: Benchmark, tally: Tally, facts: dict[str, Any]) -> None:
    from commonplace_evaluation.charts import bars
    from commonplace_evaluation.report import Section, write_report

    names = [name for name in facts["systems"][OURS]["all"] if name.startswith("share@")]
    chart = bars(
        f"{benchmark.name}: share of the evidence in the first k documents",
        names,
        [
            (system, [of_system["all"][name] for name in names])
            for system, of_system in facts["systems"].items()
        ],
    )
    title = f"{benchmark.name}: {counted(len(tally.answers), 'question')}"
    text = f"{_about(benchmark, facts)} sha256 {facts['sha256']}."
    write_report(path, title, [Section("Systems", _table(facts), chart, text)])
