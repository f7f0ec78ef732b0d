from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.chunks import Terms
from commonplace.model.search import KeywordQuery
from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query

_ANALYSER = make_analyser("unicode61")


def test_a_chunk_is_its_raw_text() -> None:
    text = "Raw  text,\nas it stands"
    assert _ANALYSER.chunk(text, heading=["Heading"], title="title") == Terms(text)


def test_all_runs_are_asked_for() -> None:
    query = _ANALYSER.query(parse_query("Foo_bar, the naïve API方案! Foo_bar"))
    assert query.must == (("foo_bar",), ("the",), ("naïve",), ("api方案",))
    assert query.should == ("foo_bar", "the", "naïve", "api方案")
    assert query.neighbours == ()


def test_marks_do_not_split_a_run() -> None:
    assert _ANALYSER.query(parse_query("สวัสดี हिन्दी cafe\u0301")).should == (
        "สวัสดี",
        "हिन्दी",
        "cafe\u0301",
    )


def test_phrases_and_exclusions_are_asked_for() -> None:
    query = _ANALYSER.query(parse_query('deploy "to the server" -staging "..."'))
    assert query.must == (("deploy",), ("to", "the", "server"))
    assert query.must_not == (("staging",),)


def test_no_words_are_no_query() -> None:
    assert _ANALYSER.query(parse_query("?!")) == KeywordQuery()


def test_a_long_query_is_bounded() -> None:
    text = " ".join(f"w{number}" for number in range(5000))
    assert len(_ANALYSER.query(parse_query(text)).must) == 256


@pytest.mark.parametrize("name", ["unicode61", "trigram"])
def test_its_queries_find_their_texts_in_fts5(name: str) -> None:
    analyser = make_analyser(name)
    table = apsw.Connection(":memory:")
    table.execute(f"CREATE VIRTUAL TABLE t USING fts5(body, tokenize='{name}')")
    text = "The naïve memory_search of İstanbul, in Ελλάδα"
    table.execute("INSERT INTO t VALUES (?)", (analyser.chunk(text).body,))
    runs = [run for run in analyser.query(parse_query(text)).should if len(run) > 2]
    for run in runs:
        found = list(table.execute("SELECT count(*) FROM t WHERE t MATCH ?", (f'"{run}"',)))
        assert found == [(1,)], run


@given(st.text())
def test_spans_are_the_runs(text: str) -> None:
    end = 0
    for start, stop, terms in _ANALYSER.spans(text):
        assert end <= start < stop
        assert [term.lower() for term in terms] == [text[start:stop].lower()]
        end = stop
