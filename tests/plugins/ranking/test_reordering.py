"""Rankers by source, path, importance and document: values by hand, and what each explains."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.search import (
    ArmScore,
    Candidate,
    Explanation,
    KeywordQuery,
    Query,
    StoredChunk,
    Where,
)
from commonplace.plugin import FurtherHits, RankContext
from commonplace_ranking.adjustments import Importance, Spread, importance_of
from commonplace_ranking.reordering import ExactPath, SourceBalance

if TYPE_CHECKING:
    from collections.abc import Sequence


def hit(
    id_: int,
    score: float = 0.5,
    *,
    source: str = "memory",
    path: str = "",
    line: int = 1,
    text: str = "text",
) -> Candidate:
    chunk = StoredChunk(id_, source, path or f"memory/{id_}.md", line, line + 2, text)
    return Candidate(chunk, score, Explanation())


def asked(text: str = "q", limit: int = 4) -> RankContext:
    return RankContext(Query(text, KeywordQuery(), text), now=0.0, limit=limit)


def ids(hits: list[Candidate]) -> list[object]:
    return [one.chunk.id for one in hits]


def notes(hits: list[Candidate]) -> list[str]:
    return [one.explain.steps[-1].note for one in hits]


CROWDED = [hit(at, 1 - at / 10, source="sessions" if at < 5 else "memory") for at in range(8)]


def test_a_source_leaves_room_for_others() -> None:
    ranked = SourceBalance(0.5, 0.55).rank(CROWDED, asked())
    assert ids(ranked) == [0, 1, 5, 2, 3, 4, 6, 7]  # 6 scores half of what 2 does
    assert notes(ranked)[2:4] == [
        "number 3 of 8 candidates (6 before)",
        "number 4 of 8 candidates (3 before)",
    ]
    assert ids(SourceBalance(0.5, 0.0).rank(CROWDED, asked()))[:4] == [0, 1, 5, 6]


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_a_share_below_an_even_one_is_an_even_one(share: float) -> None:
    talks = [hit(at, 0.974, source="sessions") for at in range(1, 7)]
    found = [hit(0, 0.995), *talks, hit(7, 0.648)]
    assert ids(SourceBalance(share, 0.0).rank(found, asked()))[:4] == [0, 1, 2, 7]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abc")), max_size=24),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(1, 12),
)
def test_a_smaller_share_never_gives_one_source_more(
    scored: list[tuple[float, str]], one: float, other: float, least: float, limit: int
) -> None:
    scored.sort(reverse=True)
    hits = [hit(at, score, source=source) for at, (score, source) in enumerate(scored)]

    def most(share: float) -> int:
        ranked = SourceBalance(share, least).rank(hits, asked(limit=limit))
        assert sorted(map(str, ids(ranked))) == sorted(map(str, range(len(hits))))
        counts = Counter(found.chunk.source for found in ranked[:limit])
        return max(counts.values(), default=0)

    assert most(min(one, other)) <= most(max(one, other))


def test_one_source_alone_is_left_alone() -> None:
    ranked = SourceBalance(0.0, 0.0).rank(CROWDED[:5], asked())
    assert (ids(ranked), set(notes(ranked))) == ([0, 1, 2, 3, 4], {"one source"})


def test_notes_are_asked_for_where_conversations_fill_the_list() -> None:
    def by_words(one: Candidate, raw: float) -> Candidate:
        # As where words were asked for singly: one hit of two arms.
        arms = tuple(
            ArmScore(arm=f"keyword:{word}", kind="bm25", raw=score, rank=1)
            for word, score in (("tea", raw), ("milk", 0.1))
        )
        return one._replace(explain=Explanation(arms=arms))

    talks = [hit(at, 1 - at / 10, source="sessions") for at in range(5)]
    talks = [one._replace(chunk=one.chunk._replace(trust="session")) for one in talks]
    found = [by_words(one, 9 - one.chunk.start_line) for one in talks]
    others = [by_words(hit(7, 0.0), 2.0), by_words(hit(8, 0.0), 6.0), by_words(hit(9, 0.0), 8.0)]

    def ask(query: Query, *, where: Where) -> tuple[bool, ...]:
        assert query.keyword.plain
        return ("sessions" in where.not_sources,)

    def united(arms: Sequence[Any]) -> list[Candidate]:
        return others if arms[0] else [*found, *others]

    further = FurtherHits(asked().query, Where(), cast("Any", ask), united, [])
    context = asked()._replace(further=further)
    ranked = SourceBalance(0.5, 0.5).rank(talks, context)
    assert ids(ranked)[:4] == [0, 1, 9, 8]
    # The weakest conversation has 0.6 and BM25 8.
    assert [one.score for one in ranked[2:4]] == pytest.approx([0.6, 0.6 * 6 / 8])
    assert ranked[2].explain.steps[0].note == "asked for, as conversations filled the list"
    assert ids(SourceBalance(0.5, 0.5).rank(talks[:3], context)) == [0, 1, 2]  # there is room
    notes_alone = [hit(at, 1 - at / 10) for at in range(5)]
    assert ids(SourceBalance(0.5, 0.5).rank(notes_alone, context)) == [0, 1, 2, 3, 4]


FIRST = "number 1 of 3 candidates ({} before)"


@pytest.mark.parametrize(
    ("query", "first", "note"),
    [
        ("memory/projects/Staging.md", 3, "named whole, " + FIRST.format(3)),
        (
            "what is in projects/staging.md?",
            3,
            "named by its end, " + FIRST.format(3),
        ),
        ("`staging.md`", 3, "named by its end, " + FIRST.format(3)),
        ("staging", 3, "named without its ending, " + FIRST.format(3)),
        ("what of 2026-10-07?", 2, "named without its ending, " + FIRST.format(2)),
        ("which port has staging", 1, "place kept"),
        ("!?", 1, "the query names no file"),
    ],
)
def test_the_file_that_is_named_comes_first(query: str, first: int, note: str) -> None:
    paths = ("MEMORY.md", "memory/2026-10-07.md", "memory/projects/staging.md")
    hits = [hit(at, 1 - at / 10, path=path) for at, path in enumerate(paths, 1)]
    ranked = ExactPath().rank(hits, asked(query))
    assert (ranked[0].chunk.id, notes(ranked)[0]) == (first, note)
    assert [one.score for one in ranked] == [hits[int(str(i)) - 1].score for i in ids(ranked)]


def test_a_whole_path_comes_before_the_same_name_elsewhere() -> None:
    hits = [hit(1, path="memory/a/x.md"), hit(2, path="x.md"), hit(3, path="memory/x.txt")]
    assert ids(ExactPath().rank(hits, asked("x.md"))) == [2, 1, 3]


@pytest.mark.parametrize(
    ("text", "importance"),
    [
        ("- a fact <!-- importance: 0.8 -->", 0.8),
        ("- a <!-- importance: 0.2 -->\n- b <!-- importance: 1 -->", 1.0),
        ("- a fact <!-- project: x importance: 7 -->", 0.7),
        ("- a fact <!-- ltm id=1 importance=0.3 created=x -->", 0.3),
        ("- a fact <!-- importance: 99 -->", 1.0),
        ("the importance: 0.8 of this", None),
        ("<!-- importance: high -->", None),
        ("", None),
    ],
)
def test_importance_stands_in_a_comment(text: str, importance: float | None) -> None:
    assert importance_of(text) == importance


def test_importance_by_hand() -> None:
    texts = ("<!-- importance: 10 -->", "<!-- importance: 0.1 -->", "plain")
    ranked = Importance(0.5).rank(
        [hit(at, 0.6, text=text) for at, text in enumerate(texts)], asked()
    )
    assert [one.score for one in ranked] == pytest.approx([0.75, 0.48, 0.6])
    assert notes(ranked) == ["x 1.250, importance 1", "x 0.800, importance 0.1", "no importance"]
    (most,) = Importance(1.0).rank([hit(1, 0.9, text=texts[0])], asked())
    assert most.score == 1.0
    assert notes([most]) == ["x 1.500, capped at 1, importance 1"]


def test_spread_by_hand() -> None:
    hits = [
        hit(1, 0.9, path="a.md", line=1),
        hit(2, 0.8, path="a.md", line=4),
        hit(3, 0.7, path="a.md", line=90),
        hit(4, 0.6, path="b.md"),
    ]
    ranked = Spread(0.9, 0.8).rank(hits, asked())
    assert [one.score for one in ranked] == pytest.approx(
        [0.9, 0.8 * 0.9 * 0.8, 0.7 * 0.9 * 0.9, 0.6]
    )
    assert notes(ranked)[1:] == [
        "x 0.720, 1 of its document before it, next to one",
        "x 0.810, 2 of its document before it",
        "first of its document",
    ]
