"""The analysis under `compat`, beside what FTS5 itself makes of the same texts."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.index.bm25 import matches_terms, term_counts, with_phrases
from commonplace.model.chunks import Terms
from commonplace.model.search import KeywordQuery
from commonplace.text.analyse import make_analyser
from commonplace.text.original import keywords_of
from commonplace.text.query import parse_query

WORDS, PIECES = make_analyser("unicode61"), make_analyser("trigram")
BOTH = pytest.mark.parametrize("name", ["unicode61", "trigram"])


def test_a_chunk_is_its_words_or_its_trigrams() -> None:
    text = "Raw_text,\nas Naïve"
    assert WORDS.chunk(text, heading=["Heading"], title="title") == Terms("raw text as naive")
    assert PIECES.chunk("a b\n天气").body == "a␣b ␣b␣ b␣天 ␣天气"
    assert PIECES.chunk("a b\n天气").extra == "␣天 天 天气 气"
    assert PIECES.chunk("ab") == Terms("")


def test_all_words_are_asked_for_and_those_of_several_parts_as_phrases() -> None:
    query = WORDS.query(parse_query("Foo_bar, the naïve API方案! Foo_bar"))
    assert query.must == (("foo", "bar"), ("the",), ("naive",), ("api方案",))
    assert query.should == ("foo", "bar", "the", "naive", "api方案", "foo", "bar")
    assert query.terms == ("foo bar", "the", "naive", "api方案", "foo bar")
    assert query.neighbours == ()


def test_marks_do_not_split_a_word() -> None:
    query = WORDS.query(parse_query("สวัสดี हिन्दी cafe\u0301"))
    assert query.should == ("สวัสดี", "हिन्दी", "cafe")


def test_pieces_of_fewer_than_three_characters_select_and_do_not_score() -> None:
    mixed, alone = PIECES.query(parse_query("staging 天气")), PIECES.query(parse_query("天气 气"))
    assert mixed.should == ("sta", "tag", "agi", "gin", "ing")
    assert (mixed.weighed, mixed.alike) == (("sta tag agi gin ing",), False)
    assert mixed.must == (("sta", "tag", "agi", "gin", "ing"), ("天气",))
    assert (alone.should, alone.alike) == (("天气", "气"), True)


def test_phrases_and_exclusions_are_asked_for() -> None:
    query = WORDS.query(parse_query('deploy "to the server" -staging "..."'))
    assert query.must == (("deploy",), ("to",), ("the",), ("server",), ("to", "the", "server"))
    assert query.must_not == (("staging",),)
    assert all(one.must_not == query.must_not for _, one in query.singly)
    assert PIECES.query(parse_query('"to a"')).must[-1] == ("to␣", "o␣a")


@BOTH
def test_no_words_are_no_query(name: str) -> None:
    assert make_analyser(name).query(parse_query("?!")) == KeywordQuery()


@BOTH
def test_a_long_query_is_bounded(name: str) -> None:
    query = make_analyser(name).query(parse_query(" ".join(f"word{i}" for i in range(5000))))
    assert (len(query.must), len(query.singly)) == (256, 64)
    (phrase,) = make_analyser(name).query(parse_query("x" * 9999)).must
    assert len(phrase) <= 256


_LETTERS = st.text(st.sampled_from("aAbéÉ_天气ßİ0か"), min_size=3, max_size=6)


@BOTH
@settings(max_examples=60, deadline=None)
@given(
    before=st.text(st.sampled_from("aé_ -.\n天"), max_size=12),
    word=_LETTERS,
    inside=st.booleans(),
    query=_LETTERS,
)
def test_it_finds_what_fts5_finds_and_is_as_long(
    name: str, before: str, word: str, inside: bool, query: str
) -> None:
    """Of words of three characters, which both tokenizers of FTS5 see."""
    text = f"{before}{query if inside else word}a {word}"
    if not query.strip("_"):
        return
    table = apsw.Connection(":memory:")
    table.execute(f"CREATE VIRTUAL TABLE t USING fts5(body, tokenize='{name}')")
    table.execute("CREATE VIRTUAL TABLE v USING fts5vocab('t', 'instance')")
    table.execute("INSERT INTO t VALUES (?)", (text,))
    found = bool(list(table.execute("SELECT 1 FROM t WHERE t MATCH ?", (f'"{query}"',))))
    length = table.execute("SELECT count(*) FROM v").get
    keyword = make_analyser(name).query(parse_query(query))
    terms = make_analyser(name).chunk(text)
    assert matches_terms(terms, keyword) == found
    assert len(terms.body.split()) == length
    counted = with_phrases(term_counts(terms), terms, keyword.terms)
    assert (counted.counts.get(keyword.terms[0], 0) > 0) == found


@BOTH
@given(text=st.text(max_size=60))
@settings(max_examples=60)
def test_spans_are_in_order_and_terms_have_no_white_space(name: str, text: str) -> None:
    analyser = make_analyser(name)
    spans = list(analyser.spans(text))
    assert [start for start, _, _ in spans] == sorted(start for start, _, _ in spans)
    assert all(0 <= start < end <= len(text) for start, end, _ in spans)
    for column in analyser.chunk(text):
        assert "" not in column.split(" ") or column == ""
        assert not any(token.strip() != token for token in column.split(" "))


def test_a_phrase_is_counted_also_where_it_overlaps_itself() -> None:
    terms = Terms("aaa aaa aaa bbb", "", "aaa aaa")
    counted = with_phrases(term_counts(terms), terms, ["aaa aaa", "aaa bbb", "bbb aaa", "bbb"])
    assert counted.counts["aaa aaa"] == pytest.approx(2.4)
    assert counted.counts["aaa bbb"] == counted.counts["bbb"] == 1.0
    assert "bbb aaa" not in counted.counts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What was the decision about the API?", ["decision", "api"]),
        ("ayer hablamos de la migración", ["hablamos", "migración"]),
        ("the thing we discussed on 2026-01-31 at 5", ["discussed"]),
        ("go to CI", []),
        ("v2 of k8s", ["v2", "k8s"]),
        ("서버에서 배포를 했다", ["서버에서", "서버", "배포를", "배포", "했다"]),
        ("API를 바꿨다", ["api를", "api", "바꿨다"]),
        ("어제 나는 회의에", ["회의에", "회의"]),
        ("昨天的讨论", ["昨", "天", "讨", "论", "昨天的"[1:], "的讨", "讨论"]),
        ("API方案", ["方", "案", "方案"]),
        ("昨日デプロイした設定ファイル", ["デプロイ", "設定", "ファイル"]),
        ("walrus walrus Walrus", ["walrus"]),
        ("?!", []),
    ],
)
def test_keywords(text: str, expected: list[str]) -> None:
    assert keywords_of(text) == expected


def test_runs_of_chinese_stay_whole_for_an_index_of_trigrams() -> None:
    assert keywords_of("API方案 昨天的讨论", whole_runs=True) == ["方案", "昨天的讨论"]
    assert keywords_of("設定ファイルの変更", whole_runs=True) == ["設定", "ファイル", "変更"]


@settings(max_examples=60)
@given(st.text(max_size=80))
def test_keywords_differ_and_say_something(text: str) -> None:
    found = keywords_of(text)
    assert len(found) == len(set(found)) <= 64
    assert all(any(character.isalpha() for character in word) for word in found)
