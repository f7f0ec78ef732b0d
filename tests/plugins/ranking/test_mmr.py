"""Diversity: what is compared with what, and what must hold for any hits."""

from __future__ import annotations

import struct
import sys
from math import sqrt
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.search import Candidate, ChunkId, Explanation, KeywordQuery, Query
from commonplace.model.search import StoredChunk as Chunk
from commonplace.plugin import RankContext
from commonplace_ranking.mmr import Mmr, jaccard, likeness_of, original_tokens

if TYPE_CHECKING:
    from collections.abc import Collection

    from commonplace.protocols.contexts import Profile

LIMIT = 6


def hit(id_: int, score: float, text: str = "text", body: str | None = None) -> Candidate:
    chunk = Chunk(id_, "memory", f"{id_}.md", 1, 1, text, body=text if body is None else body)
    return Candidate(chunk, score, Explanation())


def vector(*numbers: float) -> bytes:
    length = sqrt(sum(number * number for number in numbers))
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def context(
    vectors: dict[ChunkId, bytes] | None = None, profile: Profile = "default", limit: int = LIMIT
) -> RankContext:
    return RankContext(
        query=Query("q", KeywordQuery()),
        now=0.0,
        limit=limit,
        profile=profile,
        vectors=None if vectors is None else lambda _: vectors,
        kinds=frozenset({"bm25", "cosine"}),
    )


def order(ranked: list[Candidate]) -> list[ChunkId]:
    return [one.chunk.id for one in ranked]


SAME, OTHER = vector(1, 0), vector(0, 1)
THREE = [hit(1, 0.9, "a b"), hit(2, 0.85, "c d"), hit(3, 0.8, "a b")]


def test_a_repetition_comes_behind_something_new() -> None:
    hits = [
        hit(1, 0.9, "the red fox jumps"),
        hit(2, 0.85, "the red fox jumps"),
        hit(3, 0.8, "a blue whale sings"),
        hit(4, 0.1, "nothing of the kind"),
    ]
    ranked = Mmr(0.5).rank(hits, context())
    assert order(ranked).index(3) < order(ranked).index(2)
    assert order(ranked)[0] == 1
    assert ranked[0].explain.steps[-1].note == "place kept, by words"


def test_vectors_are_compared_where_all_have_one() -> None:
    ranked = Mmr(0.5).rank(THREE, context({1: SAME, 2: SAME, 3: OTHER}))
    assert order(ranked) == [1, 3, 2]
    assert [one.explain.steps[-1].note for one in ranked] == [
        "place kept, by vectors",
        "number 2 of 3 candidates (3 before), by vectors",
        "number 3 of 3 candidates (2 before), by vectors",
    ]


def test_words_are_compared_where_one_has_none() -> None:
    ranked = Mmr(0.5).rank(THREE, context({1: SAME, 2: SAME}))
    assert order(ranked) == [1, 2, 3]
    assert all(one.explain.steps[-1].note.endswith("by words") for one in ranked)


def test_only_the_hits_that_are_compared_need_one() -> None:
    asked: list[Collection[ChunkId]] = []

    def vectors(ids: Collection[ChunkId]) -> dict[ChunkId, bytes]:
        asked.append(ids)
        return {1: SAME, 2: SAME, 3: OTHER}

    hits = [*THREE, hit(4, 0.1)]
    ranked = Mmr(0.5).rank(hits, context(limit=1)._replace(vectors=vectors))
    assert order(ranked) == [1, 3, 2, 4]
    assert asked == [[1, 2, 3]]


def test_no_vectors_are_requested_where_there_is_nothing_to_choose() -> None:
    def vectors(ids: Collection[ChunkId]) -> dict[ChunkId, bytes]:
        raise AssertionError(ids)

    asked = context()._replace(vectors=vectors)
    assert [one.chunk for one in Mmr(0.5).rank(THREE[:1], asked)] == [THREE[0].chunk]
    assert order(Mmr(1).rank(THREE, asked)) == order(THREE)


def test_compat_compares_the_words_of_the_original_whatever_vectors_say() -> None:
    ranked = Mmr(0.5).rank(THREE, context({1: SAME, 2: SAME, 3: OTHER}, profile="compat"))
    assert order(ranked) == [1, 2, 3]


def test_compat_reorders_only_what_keywords_and_vectors_found() -> None:
    hits = [hit(1, 0.9, "a"), hit(2, 0.8, "a"), hit(3, 0.6, "z")]
    for kinds in (("bm25",), ("cosine",), ("opaque",)):
        asked = context(profile="compat")._replace(kinds=frozenset(kinds))
        assert order(Mmr(0.5).rank(hits, asked)) == [1, 2, 3]


def test_compat_reorders_all() -> None:
    hits = [hit(1, 0.9, "a"), hit(2, 0.8, "a"), hit(3, 0.7, "a"), hit(4, 0.6, "z")]
    assert order(Mmr(0.5).rank(hits, context(limit=1))) == [1, 2, 3, 4]
    assert order(Mmr(0.5).rank(hits, context(profile="compat", limit=1))) == [1, 4, 2, 3]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The API_v2, twice: api_v2", {"the", "api_v2", "twice"}),
        ("API方案", {"api", "方", "案", "方案"}),
        ("方 案", {"方", "案"}),
        ("собака", set()),
        ("", set()),
    ],
)
def test_tokens_of_the_original(text: str, tokens: set[str]) -> None:
    assert original_tokens(text) == tokens


def test_the_original_takes_texts_without_tokens_for_equal() -> None:
    hits = [hit(1, 1.0, "собака"), hit(2, 0.5, "кошка"), hit(3, 0.4, "word")]
    alike = likeness_of(hits, context(profile="compat")).of
    assert (alike(0, 1), alike(0, 2)) == (1.0, 0.0)
    assert likeness_of(hits, context()).of(0, 1) == 0.0


@pytest.mark.parametrize("text", ["собака лает", "สวัสดี", "äöü"])
def test_words_of_any_script_are_compared(text: str) -> None:
    one, other = frozenset(text.split()), frozenset({"x"})
    assert jaccard(one, one) == 1.0
    assert jaccard(one, other) == 0.0
    assert jaccard(frozenset(), frozenset()) == 0.0


DRAWN = st.lists(
    st.tuples(st.floats(0, 1), st.text("abc ", max_size=6)), max_size=30, unique_by=lambda t: t
)
NUMBERS = st.tuples(*[st.integers(-3, 3)] * 3).filter(any)


@given(
    DRAWN,
    st.floats(0, 1),
    st.none() | st.lists(NUMBERS, min_size=30, max_size=30),
    st.sampled_from(["default", "compat"]),
)
def test_nothing_is_lost_invented_or_rescored(
    drawn: list[tuple[float, str]],
    lambda_: float,
    numbers: list[tuple[int, int, int]] | None,
    profile: Profile,
) -> None:
    # As they come to it: best first.
    drawn = sorted(drawn, key=lambda one: -one[0])
    hits = [hit(i, score, text) for i, (score, text) in enumerate(drawn)]
    vectors: dict[ChunkId, bytes] | None = None
    if numbers is not None:
        vectors = {one.chunk.id: vector(*numbers[i]) for i, one in enumerate(hits)}
    ranked = Mmr(lambda_).rank(hits, context(vectors, profile))
    assert sorted((str(one.chunk.id), one.score) for one in ranked) == sorted(
        (str(one.chunk.id), one.score) for one in hits
    )
    if ranked and lambda_ == 1:
        assert [one.chunk for one in ranked] == [one.chunk for one in hits]
    if len(ranked) > 1:
        assert ranked[0].score == max(one.score for one in hits) or lambda_ in {0, 1}


def test_numpy_decides_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    random = Random(1)
    rows = [[random.gauss(0, 1) for _ in range(8)] for _ in range(10)]
    rows[1] = rows[0]  # the second repeats the first
    hits = [hit(at, 1 - at / 20) for at in range(len(rows))]
    asked = context({at: vector(*row) for at, row in enumerate(rows)})
    ranked = Mmr(0.3).rank(hits, asked)
    monkeypatch.delitem(sys.modules, "numpy")
    assert Mmr(0.3).rank(hits, asked) == ranked
    assert order(ranked) != order(hits)


@given(st.lists(NUMBERS, min_size=2, max_size=6))
def test_likeness_by_vectors_is_their_cosine(numbers: list[tuple[int, int, int]]) -> None:
    hits = [hit(i, 0.5) for i in range(len(numbers))]
    asked = context({i: vector(*of) for i, of in enumerate(numbers)})
    by, alike = likeness_of(hits, asked)
    assert by == "vectors"
    for i, one in enumerate(numbers):
        for j, other in enumerate(numbers):
            dot = sum(a * b for a, b in zip(one, other, strict=True))
            length = sqrt(sum(a * a for a in one) * sum(b * b for b in other))
            assert alike(i, j) == pytest.approx(max(0.0, dot / length), abs=1e-6)
