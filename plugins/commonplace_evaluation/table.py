"""Measurements of retrieval, and comparisons of them, as tables or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import cited, columns
from commonplace_evaluation.comparing import (
    CONFIDENCE,
    RANKED_BY,
    differences,
    groupings,
    pairs_of,
    rounded,
    worst,
)
from commonplace_evaluation.measures import DEPTH, average

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from commonplace_evaluation.comparing import Difference, Pair
    from commonplace_evaluation.measures import Span
    from commonplace_evaluation.running import Outcome, Scored


Scores = list[dict[str, float]]


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Means for each set and its categories, and over everything, to four decimals."""
    sets = {
        name: {
            "all": _row(_scores(parts)),
            "categories": {kind: _row(rows) for kind, rows in _by_category(parts)},
            "engine": engines_of(parts),
            **_times(parts),
        }
        for name, parts in _by_set(outcomes).items()
    }
    return {
        "all": _row(_scores(outcomes)),
        "sets": sets,
        "engine": engines_of(outcomes),
        **_times(outcomes),
    }


def as_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """A table with a row for each set, and below it one for each of its categories."""
    table = measures_table(outcomes)
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    lines = columns(
        [
            [row[0], *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
            for row in table
        ]
    )
    return [*lines, "", f"indexing took {_times(outcomes)['indexSeconds']:.2f} s"]


def measures_table(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """A header, a row for each set and, indented, for each of its categories, and one for all."""
    table = [["set", "queries", *average(_scores(outcomes)), "seconds"]]
    for name, parts in _by_set(outcomes).items():
        times = _times(parts)
        table.append([name, *_cells(_scores(parts)), f"{times['searchSeconds']:.2f}"])
        categories = _by_category(parts)
        if len(categories) > 1:
            table += [[f"  {kind}", *_cells(rows), ""] for kind, rows in categories]
    seconds = _times(outcomes)["searchSeconds"]
    return [*table, ["all", *_cells(_scores(outcomes)), f"{seconds:.2f}"]]


def _scores(outcomes: Iterable[Outcome]) -> Scores:
    return [scored.measures for outcome in outcomes for scored in outcome.scores]


def _by_set(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    sets: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        sets.setdefault(outcome.name, []).append(outcome)
    return sets


def _by_category(outcomes: Iterable[Outcome]) -> list[tuple[str, Scores]]:
    kinds: dict[str, Scores] = {}
    for outcome in outcomes:
        for scored in outcome.scores:
            kinds.setdefault(scored.query.category, []).append(scored.measures)
    return sorted(kinds.items())


def engines_of(outcomes: Iterable[Outcome]) -> str:
    """What gave the results of all: each backend, with its provider and model, once."""
    named = [one for outcome in outcomes for one in outcome.engine.split(", ")]
    return ", ".join(dict.fromkeys(named))


def _times(outcomes: Sequence[Outcome]) -> dict[str, float]:
    return {
        "indexSeconds": round(sum(outcome.index_seconds for outcome in outcomes), 3),
        "searchSeconds": round(sum(outcome.search_seconds for outcome in outcomes), 3),
    }


def _cells(rows: Scores) -> list[str]:
    return [str(len(rows)), *(f"{value:.3f}" for value in average(rows).values())]


def _row(rows: Scores) -> dict[str, float]:
    return {"n": len(rows)} | {name: round(value, 4) for name, value in average(rows).items()}


def comparison_json(runs: Mapping[str, Sequence[Outcome]], most: int) -> dict[str, Any]:
    """The measures of each configuration, and how each one differs from the first."""
    (first, before), *others = runs.items()
    return {
        "baseline": first,
        "confidence": CONFIDENCE,
        "configurations": {name: as_json(outcomes) for name, outcomes in runs.items()},
        "comparisons": [
            {"configuration": name, **_comparison(pairs_of(before, after), most)}
            for name, after in others
        ],
    }


def _comparison(pairs: list[Pair], most: int) -> dict[str, Any]:
    return {
        "all": _differences(pairs),
        **{
            group: {name: _differences(members) for name, members in members_of.items()}
            for group, members_of in groupings(pairs).items()
        },
        "worst": [_pair(pair) for pair in worst(pairs, most)],
    }


def _differences(pairs: list[Pair]) -> dict[str, Any]:
    return {name: rounded(found) for name, found in differences(pairs).items()}


def _pair(pair: Pair) -> dict[str, Any]:
    query = pair.before.query
    return {
        "set": pair.set,
        "id": query.id,
        "query": query.text,
        "category": query.category,
        "lang": query.lang,
        "relevant": [_span(span) for span in query.relevant],
        "before": _scored(pair.before),
        "after": _scored(pair.after),
    }


def _scored(scored: Scored) -> dict[str, Any]:
    return {
        "measures": {name: round(value, 4) for name, value in scored.measures.items()},
        "results": [
            {
                "rank": result.rank,
                **_span(result.span),
                "score": round(result.score, 4),
                "relevant": result.relevant,
                "why": list(result.why),
            }
            for result in scored.results
        ],
    }


def _span(span: Span) -> dict[str, Any]:
    return {"path": span.path, "startLine": span.start_line, "endLine": span.end_line}


COMPARED = ("recall@5", "ndcg@10", "budget")
"""The measures of the table of a comparison; JSON has all."""


def comparison_lines(runs: Mapping[str, Sequence[Outcome]], most: int) -> list[str]:
    """For each configuration a table of differences from the first, and its worst queries."""
    (first, before), *others = runs.items()
    lines: list[str] = []
    for name, after in others:
        pairs = pairs_of(before, after)
        lines += [
            f"{name} against {first}: difference of the means [{CONFIDENCE:.0%} interval]",
            "",
            *columns(difference_table(pairs)),
            "",
            *_worst_lines(pairs, most, first, name),
        ]
    return [*lines, "* the interval leaves out 0; of many rows one in twenty does so by chance"]


def comparison_rows(pairs: list[Pair]) -> list[tuple[str, dict[str, Difference]]]:
    """The differences over all, and over each set, category and language where there are more."""
    rows = [("all", pairs)]
    for group, members in groupings(pairs).items():
        label = {"sets": "set", "categories": "category", "languages": "language"}[group]
        if len(members) > 1:
            rows += [(f"{label} {name}", found) for name, found in members.items()]
    return [(label, differences(found)) for label, found in rows]


def difference_table(pairs: list[Pair]) -> list[list[str]]:
    """A header, and :func:`comparison_rows` as text."""
    measures = [name for name in COMPARED if name in pairs[0].before.measures]
    table = [["", "queries", *measures, "better", "worse"]]
    for label, found in comparison_rows(pairs):
        ranked = found[RANKED_BY]
        cells = [_cell(found[name]) for name in measures]
        table.append([label, str(ranked.n), *cells, str(ranked.better), str(ranked.worse)])
    return table


def _cell(found: Difference) -> str:
    if found.low is None or found.high is None:
        return f"{found.difference:+.3f}"
    clear = "*" if found.is_clear else ""
    return f"{found.difference:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{clear}"


def _worst_lines(pairs: list[Pair], most: int, first: str, name: str) -> Iterator[str]:
    found = worst(pairs, most)
    yield f"queries that lost most in {RANKED_BY}:" if found else f"no query lost in {RANKED_BY}"
    yield ""
    for pair in found:
        query = pair.before.query
        change = f"{pair.before.measures[RANKED_BY]:.3f} -> {pair.after.measures[RANKED_BY]:.3f}"
        label = f"{pair.set} {query.id} ({query.category}, {query.lang})"
        yield f"{change}  {label}: {_plain(query.text)}"
        yield "  relevant: " + ", ".join(position(span) for span in query.relevant)
        for label, scored in ((first, pair.before), (name, pair.after)):
            yield from (f"  {line}" for line in result_lines(label, scored))
        yield ""


def result_lines(label: str, scored: Scored) -> Iterator[str]:
    """The first result, and the first relevant one, with their explanations."""
    relevant = next((result for result in scored.results if result.relevant), None)
    rank = f"relevant at rank {relevant.rank}" if relevant else f"none relevant in {DEPTH}"
    yield f"{label}: {rank}"
    shown = [result for result in scored.results[:1] if result is not relevant]
    for result in [*shown, *([relevant] if relevant else [])]:
        yield f"  {result.rank}. {position(result.span)}  {result.score:.3f}"
        for line in result.why:
            yield f"     {line}"


def position(span: Span) -> str:
    """``path#L3-L9``."""
    return _plain(cited(span.path, span.start_line, span.end_line))


def _plain(text: str) -> str:
    """``text`` in one line, without anything that could steer a terminal."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
