from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, cast

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.index.bm25 import bm25, term_counts
from commonplace.model.chunks import Terms
from commonplace.model.search import KeywordQuery, TermCounts, Where
from commonplace.resilience.deadline import NEVER
from commonplace.testing import make_chunk, make_put, publish, search
from commonplace.testing.base import words
from commonplace.testing.strategies import chunks, phrases
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from commonplace.model.chunks import AnalysedChunk
    from commonplace.model.search import Phrase


def weight(total: int, holders: int) -> float:
    """The weight of a token that ``holders`` of ``total`` chunks have, by the score of one."""
    chunks = {number: TermCounts({"ant": 1.0}, 1) for number in range(holders)}
    (score,) = set(bm25(("ant",), chunks, total=total, average=1.0).values())
    return score * (1 + 1.2) / 2.2


def test_a_token_in_one_chunk_of_three_weighs_the_log_of_five_thirds() -> None:
    assert weight(3, 1) == pytest.approx(log(2.5 / 1.5))


@pytest.mark.parametrize(("rows", "hits"), [(2, 1), (1, 1), (10, 10), (3, 2)])
def test_a_token_in_half_of_all_chunks_or_more_weighs_next_to_nothing(rows: int, hits: int) -> None:
    assert weight(rows, hits) == pytest.approx(1e-6)


def test_a_score_worked_by_hand() -> None:
    # 2 occurrences in 10 tokens where the average is 5: 2*2.2 / (2 + 1.2*(0.25 + 0.75*2)) * weight.
    chunks = {"a.md": TermCounts({"ant": 2.0}, 10)}
    score = bm25(("ant",), chunks, total=3, average=5.0)["a.md"]
    assert score == pytest.approx(log(2.5 / 1.5) * 4.4 / 4.1)


def test_an_occurrence_in_extra_counts_two_fifths() -> None:
    counted = term_counts(Terms("ant bee ant", "ant", "bee"))
    assert counted.counts == pytest.approx({"ant": 3.0, "bee": 1.4})
    assert counted.length == 5


def test_a_search_worked_by_hand() -> None:
    store = InMemoryStore()
    other = [make_put(f"{number}.md", "cat dog") for number in range(3)]
    publish(store, make_put("a.md", make_chunk("ant ant bee", head="ant")), *other)
    (score,) = [hit.score for hit in search(store, words("ant"))]
    weight = log(3.5 / 1.5)
    average = (4 + 3 * 2) / 4
    assert score == pytest.approx(weight * 3 * 2.2 / (3 + 1.2 * (0.25 + 0.75 * 4 / average)))


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(chunks(), min_size=1, max_size=9),
    should=st.lists(st.sampled_from(("ant", "bee", "cat", "dog", "eel")), min_size=1, max_size=4),
    must=st.lists(phrases(), max_size=1),
    must_not=st.lists(phrases(), max_size=1),
)
def test_scores_are_those_of_fts5(
    rows: list[AnalysedChunk], should: list[str], must: list[Phrase], must_not: list[Phrase]
) -> None:
    store = InMemoryStore()
    publish(store, *(make_put(f"{number}.md", row) for number, row in enumerate(rows)))
    query = KeywordQuery(tuple(should), tuple(must), tuple(must_not))
    found = store.keyword(query, where=Where(), limit=99, deadline=NEVER).found
    ours = {int(hit.chunk.path.removesuffix(".md")): hit.score for hit in found}
    assert ours == pytest.approx(_fts5(rows, query), rel=1e-9)


def _fts5(rows: list[AnalysedChunk], query: KeywordQuery) -> dict[int, float]:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(body, head, extra)")
    for number, row in enumerate(rows):
        columns = row.terms.body, row.terms.head, row.terms.extra
        connection.execute(
            "INSERT INTO t(rowid, body, head, extra) VALUES (?,?,?,?)", (number, *columns)
        )

    def scores(expression: str) -> dict[int, float]:
        found = connection.execute(
            "SELECT rowid, -bm25(t, 1.0, 1.0, 0.4) FROM t WHERE t MATCH ?", (expression,)
        )
        return dict(cast("list[tuple[int, float]]", found.fetchall()))

    matching = scores(" OR ".join(_quoted((token,)) for token in query.should))
    kept = set(matching)
    for phrase in query.must:
        kept &= set(scores(_quoted(phrase)))
    for phrase in query.must_not:
        kept -= set(scores(_quoted(phrase)))
    connection.close()
    return {number: matching[number] for number in kept}


def _quoted(phrase: Phrase) -> str:
    return '"' + " ".join(phrase) + '"'
