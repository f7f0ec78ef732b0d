"""The search page: hits for people, facets of what was found, and why each hit stands there."""

from __future__ import annotations

import re
from collections import Counter
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from commonplace.plugin import NamedTuple
from commonplace_browse.markdown import render_snippet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markupsafe import Markup

    from commonplace import ArmFacts, ArmScore, Hit, Memory, SearchResult
    from commonplace_browse.library import Library

SHOWN = 10
MOST = 100
_CONSIDERED = 30
"""Hits that facets count, where no more are shown."""

_FACETS = 12
"""Values of a facet that are shown."""

_FILTER = re.compile(r'(?<!\S)(-?)(source|path|tag|after|before):("[^"\n]*"|[^\s"]\S*)')
_DATES = re.compile(r'(?<!\S)-?(?:after|before):(?:"[^"\n]*"|[^\s"]\S*)')
_ARMS = {
    "keyword": "Words",
    "vector": "Meaning",
    "bm25": "BM25",
    "cosine": "cosine",
    "rank": "rank",
    "opaque": "score",
}


class Bar(NamedTuple):
    """One row of a hit's explanation: ``share`` (0..1) is the length of its bar."""

    name: str
    value: str
    share: float
    note: str = ""
    kind: str = "more"


class Why(NamedTuple):
    """Why a hit stands where it stands: what makes up its score, and what its lists found."""

    bars: tuple[Bar, ...]
    filters: tuple[str, ...]
    lists: tuple[ArmFacts, ...]


class Shown(NamedTuple):
    """A hit as the page shows it."""

    hit: Hit
    html: Markup
    url: str
    tags: tuple[str, ...]
    why: Why


class Value(NamedTuple):
    """A value of a facet: ``url`` searches for it too, or not any more where it is ``chosen``."""

    text: str
    number: int
    url: str
    chosen: bool = False


class Facet(NamedTuple):
    """One way to narrow what was found."""

    name: str
    values: tuple[Value, ...]


class Chip(NamedTuple):
    """A filter of the query; ``url`` searches without it."""

    text: str
    url: str


class Answer(NamedTuple):
    """What the page of a query shows; ``milliseconds`` is how long it took to find and render."""

    result: SearchResult
    hits: tuple[Shown, ...]
    found: int
    facets: tuple[Facet, ...]
    chips: tuple[Chip, ...]
    messages: tuple[str, ...]
    more: str
    milliseconds: float


def search(
    memory: Memory, library: Library, query: str, most: int, *, narrowing: bool = True
) -> Answer:
    """Search, and prepare ``most`` hits (at most :data:`MOST`) for the page.

    Without ``narrowing`` there are no facets, for which more hits are needed than are shown.
    Raises as ``Memory.search`` does.
    """
    began = perf_counter()
    most = max(1, min(most, MOST))
    considered = max(most, _CONSIDERED) if narrowing else most
    result = memory.search(query, max_results=considered)
    hits = result.hits[:most]
    tags = library.tags(list(dict.fromkeys(hit.path for hit in result.hits[:_CONSIDERED])))
    shown = tuple(
        Shown(
            hit,
            render_snippet(hit.snippet, hit.highlights, hit.path),
            note_url(hit.path, hit.start_line, hit.end_line),
            tags.get(hit.path, ()),
            _why(hit, result),
        )
        for hit in hits
    )
    found = len(result.hits)
    more = found > most or (found == considered == most < MOST)
    return Answer(
        result,
        shown,
        found,
        tuple(_facets(query, result.hits, tags)) if narrowing else (),
        tuple(Chip(one[0], search_url(_without(query, one))) for one in _FILTER.finditer(query)),
        tuple(_messages(result)),
        search_url(query, most=min(MOST, most * 3)) if more else "",
        (perf_counter() - began) * 1000,
    )


def why(memory: Memory, query: str, citation: str) -> Why | None:
    """Why ``citation`` is among the hits for ``query``; ``None`` where it no longer is.

    Raises as ``Memory.search`` does.
    """
    result = memory.search(query, max_results=_CONSIDERED)
    return next((_why(hit, result) for hit in result.hits if hit.citation == citation), None)


def search_url(query: str, **more: object) -> str:
    """The address of the search page for ``query``."""
    return "/?" + urlencode({"q": query, **more})


def note_url(path: str, start: int | None = None, end: int | None = None, **more: object) -> str:
    """The address of a note's page, at the lines from ``start`` to ``end``."""
    lines = {} if start is None else {"lines": f"{start}-{end or start}"}
    anchor = "" if start is None else f"#L{start}"
    return "/note?" + urlencode({"path": path, **lines, **more}) + anchor


def _messages(result: SearchResult) -> Iterable[str]:
    yield from result.notes
    yield from (arm.note for arm in result.arms if arm.note)
    fallback = result.fallback
    if fallback is not None and not any(fallback.reason in note for note in result.notes):
        by = fallback.by or result.backend
        way = f" with {result.model}" if by == fallback.part else f", not from {fallback.part}"
        yield f"Results come from {by}{way}: {fallback.reason}"
    if result.stale:
        yield f"{result.stale} changed files are not indexed yet"


def _why(hit: Hit, result: SearchResult) -> Why:
    return Why(tuple(_bars(hit)), hit.explain.filters, result.arms)


def _bars(hit: Hit) -> Iterable[Bar]:
    """What each list and ranker gave to the score, which is their sum, or took from it."""
    lists = {arm.arm: arm for arm in hit.explain.arms}
    steps = {step.ranker: step for step in hit.explain.steps}
    parts = hit.explain.parts
    longest = max((abs(amount) for _, amount in parts), default=0.0) or 1.0
    for name, amount in parts:
        kind = "more" if amount > 0 else "less"
        yield Bar(
            _ARMS.get(name, name.replace("_", " ")),
            f"{amount:+.2f}".replace("-", "−"),
            abs(amount) / longest,
            _place(lists[name]) if name in lists else steps[name].note,
            kind,
        )
    given = {name for name, _ in parts}
    for arm in lists.values():
        if arm.arm not in given:
            yield Bar(_ARMS.get(arm.arm, arm.arm), "0", 0.0, _place(arm), "none")
    for step in steps.values():
        if step.note and not step.parts and step.ranker not in given:
            yield Bar(step.ranker.replace("_", " "), "0", 0.0, step.note, "none")
    yield Bar("Score", f"{hit.score:.2f}", 0.0, "", "sum")


def _place(arm: ArmScore) -> str:
    return f"number {arm.rank} there, {_ARMS.get(arm.kind, arm.kind)} {arm.raw:.2f}"


def _facets(query: str, hits: Sequence[Hit], tags: dict[str, tuple[str, ...]]) -> Iterable[Facet]:
    chosen = {(found[2], found[3].strip('"')) for found in _FILTER.finditer(query) if not found[1]}
    groups: dict[str, tuple[str, Counter[str]]] = {
        "Source": ("source", Counter(hit.source for hit in hits)),
        "Folder": ("path", Counter(_folder(hit.path) for hit in hits if "/" in hit.path)),
        "Tag": ("tag", Counter(tag for hit in hits for tag in tags.get(hit.path, ()))),
    }
    for name, (key, counts) in groups.items():
        values = [
            Value(text, number, search_url(_toggled(query, key, text)), (key, text) in chosen)
            for text, number in counts.most_common(_FACETS)
        ]
        if any(value.chosen or value.number < len(hits) for value in values):
            yield Facet(name, tuple(values))
    months = Counter(hit.day[:7] for hit in hits if hit.day)
    if months:
        kept = " ".join(_DATES.sub("", query).split())
        yield Facet(
            "Time",
            tuple(
                Value(
                    month,
                    number,
                    search_url(f"{kept} after:{month}-01 before:{_last_day(month)}"),
                    ("after", f"{month}-01") in chosen,
                )
                for month, number in sorted(months.items(), reverse=True)[:_FACETS]
            ),
        )


def _last_day(month: str) -> str:
    import calendar

    year, number = map(int, month.split("-"))
    return f"{month}-{calendar.monthrange(year, number)[1]:02}"


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _toggled(query: str, key: str, value: str) -> str:
    for found in _FILTER.finditer(query):
        if (found[1], found[2], found[3].strip('"')) == ("", key, value):
            return _without(query, found)
    quoted = f'"{value}"' if re.search(r"\s", value) else value
    return f"{query.strip()} {key}:{quoted}".strip()


def _without(query: str, found: re.Match[str]) -> str:
    return " ".join((query[: found.start()] + query[found.end() :]).split())
