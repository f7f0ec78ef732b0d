"""Runs sets of queries: each gets an index of its own in a temporary folder."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.plugin import (
    CommonplaceError,
    NamedTuple,
    Progress,
    counted,
    decode,
    engine_of,
    explained,
    settings_fingerprint,
)
from commonplace_evaluation.measures import DEPTH, Span, recall_in_budget, score_query

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from commonplace import Hit, Memory
    from commonplace.plugin import Context, ProgressCallback
    from commonplace_evaluation.sets import EvalQuery, EvalSet


SHOWN = 3
"""The first results of each query are kept with their explanations, and the first relevant one."""

_MOST_MESSAGES = 5
_MOST_NAMED = 3


class Result(NamedTuple):
    """A result with its 1-based rank, and why it scores what it scores."""

    rank: int
    span: Span
    score: float
    relevant: bool
    why: tuple[str, ...]


class Scored(NamedTuple):
    """A query, its measures, and those of its results that explain them."""

    query: EvalQuery
    measures: dict[str, float]
    results: tuple[Result, ...] = ()


class Outcome(NamedTuple):
    """The measures of a set, or of a part of one; ``notes`` counts the indexed notes.

    ``engine`` names backend, provider and model; ``settings`` is the same for settings that rank
    alike. ``warnings`` say what stands against the measures, each with the set that it is about.
    """

    name: str
    title: str
    scores: tuple[Scored, ...]
    notes: int
    index_seconds: float
    search_seconds: float
    engine: str = ""
    settings: str = ""
    warnings: tuple[str, ...] = ()


def run_sets(
    sets: Sequence[EvalSet],
    context: Context,
    *,
    config: str | None = None,
    budget: int | None = None,
    out: TextIO | None = None,
    explain: bool = False,
    label: str = "",
) -> list[Outcome]:
    """Measure ``sets`` one after the other, with the configuration in force or that in ``config``.

    Results of each query are also written to ``out``, one line of JSON each. ``explain`` keeps the
    first results with their explanations; ``label`` stands before each title in messages.
    """
    from tempfile import TemporaryDirectory

    outcomes = []
    for number, evalset in enumerate(sets, 1):
        title = f"{label}: {evalset.title}" if label else evalset.title
        with (
            TemporaryDirectory(prefix="commonplace-eval-") as state,
            context.open_memory(
                workspace=evalset.workspace,
                config=config,
                state_dir=state,
                alone=not evalset.is_own,
            ) as memory,
            context.progress() as progress,
        ):
            run = _Run(evalset, title, budget, out, progress, explain=explain)
            outcome = run.measure(memory)
            there = {ref.path for ref in memory.notes()}
            missing_lines = _missing_lines(evalset, memory, there)
        seconds = outcome.index_seconds + outcome.search_seconds
        context.err.write(
            f"[{number}/{len(sets)}] {title}: {counted(outcome.notes, 'note')}, "
            f"{counted(len(evalset.queries), 'query', 'queries')}, {seconds:.1f} s\n"
        )
        messages = run.searches.messages("query", "queries")
        warnings = [f"{title}: {message}" for message in messages]
        warnings += [*_missing_notes(evalset, there), *missing_lines]
        for warning in warnings:
            context.note(warning)
        outcomes.append(outcome._replace(warnings=tuple(warnings)))
    return outcomes


def _missing_notes(evalset: EvalSet, there: set[str]) -> list[str]:
    """A warning if relevant notes, or all notes, are not among those that are ``there``."""
    if not there:
        return [f"no notes were indexed in {evalset.workspace}"]
    wanted = {span.path for query in evalset.queries for span in query.relevant}
    if not (missing := sorted(wanted - there)):
        return []
    are = counted(len(missing), "relevant note is", "relevant notes are")
    some = _first_of(missing)
    return [f"{are} not in {evalset.workspace}, so no search can find what is missing: {some}"]


def _missing_lines(evalset: EvalSet, memory: Memory, there: set[str]) -> list[str]:
    """A warning if relevant lines begin after the end of their notes, with the length of these.

    Lines that only end there are found by those before.
    """
    lengths: dict[str, int] = {}
    beyond: dict[str, None] = {}
    for span in (span for query in evalset.queries for span in query.relevant):
        if span.path in there and span.path not in lengths:
            with suppress(CommonplaceError):
                lengths[span.path] = memory.get(span.path).text.rstrip("\n").count("\n") + 1
        if span.path in lengths and span.start_line > lengths[span.path]:
            has = counted(lengths[span.path], "line")
            beyond[f"{span.path}#L{span.start_line} (it has {has})"] = None
    if not beyond:
        return []
    begin = counted(len(beyond), "run of relevant lines begins", "runs of relevant lines begin")
    them = "it" if len(beyond) == 1 else "them"
    some = _first_of(sorted(beyond))
    return [f"{begin} after the end of the note, so no search can find {them}: {some}"]


def _first_of(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")


class Searches:
    """Searches that are measured: ``seconds`` is what they took together."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._engines: list[str] = []
        self._messages: Counter[str] = Counter()

    @property
    def engine(self) -> str:
        """Each backend, with its provider and model, that gave an answer."""
        return ", ".join(dict.fromkeys(self._engines))

    def ask(self, memory: Memory, text: str, most: int) -> Sequence[Hit]:
        """At most ``most`` hits for ``text``."""
        began = time.perf_counter()
        answer = memory.search(text, max_results=most)
        self.seconds += time.perf_counter() - began
        self._engines.append(engine_of(answer))
        self._messages.update(dict.fromkeys(answer.warnings, 1))
        return answer.hits

    def messages(self, thing: str, things: str = "") -> list[str]:
        """The messages on searches not done in full, or filters without effect.

        Each tells how many ``things`` were searched for so: the most frequent ones, and how many
        there are besides.
        """
        every = counted(len(self._engines), thing, things)
        most = self._messages.most_common(_MOST_MESSAGES)
        messages = [f"{number} of {every}: {message}" for message, number in most]
        if (more := len(self._messages) - _MOST_MESSAGES) > 0:
            messages.append(f"and {counted(more, 'other message')}")
        return messages


class _Run:
    """One set being measured."""

    def __init__(
        self,
        evalset: EvalSet,
        title: str,
        budget: int | None,
        out: TextIO | None,
        progress: ProgressCallback,
        *,
        explain: bool,
    ) -> None:
        self._set = evalset
        self._title = title
        self._budget = budget
        self._out = out
        self._progress = progress
        self._explain = explain
        self.searches = Searches()

    def measure(self, memory: Memory) -> Outcome:
        """Index the set, then run every query."""
        lengths = line_lengths(memory.settings.workspace)
        started = time.perf_counter()
        report = memory.sync(progress=self._progress)
        indexed = time.perf_counter()
        scores = []
        for number, query in enumerate(self._set.queries, 1):
            hits = self.searches.ask(memory, query.text, DEPTH)
            scores.append(self._score(query, hits, lengths))
            if self._out is not None:
                self._out.write(_result_line(query.id, hits))
            self._progress(
                Progress(
                    label=f"Searching {self._title}",
                    completed=number,
                    total=len(self._set.queries),
                )
            )
        return Outcome(
            name=self._set.name,
            title=self._set.title,
            scores=tuple(scores),
            notes=report.added + report.updated + report.unchanged,
            index_seconds=indexed - started,
            search_seconds=self.searches.seconds,
            engine=self.searches.engine,
            settings=settings_fingerprint(memory.settings),
        )

    def _score(
        self, query: EvalQuery, hits: Sequence[Hit], lengths: Callable[[str], Sequence[int]]
    ) -> Scored:
        spans = [Span(hit.path, hit.start_line, hit.end_line) for hit in hits]
        measures = score_query(query.relevant, spans)
        if self._budget is not None:
            measures["budget"] = recall_in_budget(query.relevant, spans, lengths, self._budget)
        return Scored(query, measures, _kept(query, hits, spans) if self._explain else ())


def _kept(query: EvalQuery, hits: Sequence[Hit], spans: Sequence[Span]) -> tuple[Result, ...]:
    results = []
    found = False
    for rank, (hit, span) in enumerate(zip(hits, spans, strict=True), 1):
        relevant = any(span.overlaps(wanted) for wanted in query.relevant)
        if rank <= SHOWN or (relevant and not found):
            why = tuple(explained(hit.explain))
            results.append(Result(rank, span, hit.score, relevant, why))
        found = found or relevant
    return tuple(results)


def is_result_line(line: bytes) -> bool:
    """Whether it is a line that :func:`run_sets` wrote to its ``out``."""
    try:
        facts = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(facts, dict) and facts.keys() == {"id", "results"}


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


def line_lengths(workspace: str) -> Callable[[str], Sequence[int]]:
    """Gives the characters of each line of a file of ``workspace``, line ends included.

    They are those of the file, in whichever encoding; CR LF counts as one character.
    """
    known: dict[str, list[int]] = {}

    def lengths(path: str) -> list[int]:
        if path not in known:
            try:
                with open(os.path.join(workspace, path), "rb") as file:
                    text = decode(file.read())
            except OSError:
                text = ""
            lines = text.replace("\r\n", "\n").split("\n")
            known[path] = [*(len(line) + 1 for line in lines[:-1]), len(lines[-1])]
        return known[path]

    return lengths
