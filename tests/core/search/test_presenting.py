"""Snippets show the match, keep within their limit, and break nothing."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.search import Candidate, Explanation, Hit, StoredChunk, UnknownWord
from commonplace.search.presenting import (
    LIMIT,
    hits_of,
    make_snippet,
    markdown_snippet,
    unknown_notes,
)
from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query

ANALYSER = make_analyser("standard")


def snippet_for(text: str, query: str, limit: int = LIMIT) -> tuple[str, list[str]]:
    terms = ANALYSER.query(parse_query(query)).should
    snippet, marks = make_snippet(text, terms, ANALYSER, limit=limit)
    return snippet, [snippet[start:end] for start, end in marks]


def test_a_short_text_is_shown_whole_with_its_matches() -> None:
    assert snippet_for("The red fox jumped.", "jumping foxes") == (
        "The red fox jumped.",
        ["fox", "jumped"],
    )


@pytest.mark.parametrize("before", [0, 50, 400, 699, 700, 701, 5000])
def test_the_match_is_shown_wherever_it_stands(before: int) -> None:
    filler = "lorem ipsum dolor " * 400
    text = filler[:before] + " the walrus sings " + filler
    snippet, marks = snippet_for(text, "walrus")
    assert marks == ["walrus"]
    assert len(snippet) <= LIMIT


def test_of_several_places_the_one_with_most_words_is_shown() -> None:
    text = "walrus " + "x " * 800 + "walrus sings loudly " + "y " * 800
    snippet, _ = snippet_for(text, "walrus sings loudly")
    assert "walrus sings loudly" in snippet


def test_a_chinese_match_far_behind_is_shown() -> None:
    snippet, marks = snippet_for(
        "天气很好。" * 300 + "会议改到周三下午" + "然后回家。" * 300, "会议周三"
    )
    assert "会议改到周三下午" in snippet
    assert any("会议" in mark for mark in marks)


def test_it_begins_at_a_word_and_ends_at_one() -> None:
    words = [f"word{number}" for number in range(600)]
    snippet, _ = snippet_for(" ".join(words), "word300")
    assert snippet.split()[0] in words
    assert snippet.split()[-1] in words


@pytest.mark.parametrize("behind", range(30))
def test_it_begins_with_no_part_of_a_number(behind: int) -> None:
    text = "in all 1.250.000 or 3:45 " * 60 + "y" * behind + " the walrus sings" + " z" * 400
    snippet, _ = snippet_for(text, "walrus")
    assert snippet.split()[0] in {"in", "all", "1.250.000", "or", "3:45"}


@pytest.mark.parametrize(
    ("best", "shown"),
    [
        ((1, 5), (1, 17)),  # what follows has the room that is left
        ((12, 14), (5, 21)),
        ((20, 25), (9, 25)),
        ((1, 25), (1, 17)),  # as of any longer text: the lines with most words
    ],
)
def test_of_a_joined_passage_the_best_piece_is_shown(
    best: tuple[int, int], shown: tuple[int, int]
) -> None:
    lines = [f"{at:02}: {'lorem ipsum ' * 3}" for at in range(1, 26)]
    lines[5] = "06: the walrus sings loudly in the harbour"
    passage = StoredChunk(1, "memory", "a.md", 1, 25, "\n".join(lines))
    candidate = Candidate(passage, 0.5, Explanation(), best=best)
    query = ANALYSER.query(parse_query("the walrus sings"))
    (hit,) = hits_of([candidate], query, ANALYSER, limit=1)
    numbers = [int(line[:2]) for line in hit.snippet.split("\n")]
    assert (numbers[0], numbers[-1]) == shown
    assert len(hit.snippet) <= LIMIT
    assert numbers[0] <= best[0] or best == (1, 25)


def test_a_joined_passage_never_starts_in_the_middle_of_a_line() -> None:
    for length in range(20, 400, 7):
        lines = [f"- {'lorem ipsum ' * (length // 12)}.", "- the walrus sings " + "loudly " * 60]
        passage = StoredChunk(1, "memory", "a.md", 1, 4, "\n".join([*lines, *lines]))
        candidate = Candidate(passage, 0.5, Explanation(), best=(2, 2))
        query = ANALYSER.query(parse_query("the walrus sings"))
        (hit,) = hits_of([candidate], query, ANALYSER, limit=1)
        assert hit.snippet.startswith("- "), length
        assert lines[1].rstrip() in hit.snippet


def test_words_that_only_relate_others_are_not_named_as_unknown() -> None:
    words = [UnknownWord(word=word) for word in ("Since", "happened", "thing", "often", "walrus")]
    assert list(unknown_notes(words, "no note")) == ["no note has 'walrus'"]
    assert list(unknown_notes(words[:4], "no note")) == []


texts = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(["walrus", "👩‍👩‍👧", "é", "เก้าอี้", "会议", "\n", "a b"]), max_size=120
    ).map(" ".join),
)


@given(texts, st.sampled_from(["walrus", "会议", "เก้าอี้ é", "zzz"]), st.integers(40, 200))
def test_any_text_gives_a_piece_of_itself_cut_between_graphemes(
    text: str, query: str, limit: int
) -> None:
    terms = ANALYSER.query(parse_query(query)).should
    snippet, marks = make_snippet(text, terms, ANALYSER, limit=limit)
    assert snippet in text
    assert len(snippet) <= limit
    assert snippet == snippet.strip()
    assert all(0 <= start < end <= len(snippet) for start, end in marks)
    assert list(marks) == sorted(marks)
    longest = max((len(cluster) for cluster in regex.findall(r"\X", text)), default=0)
    if longest < 30:
        borders = {0}
        for cluster in regex.findall(r"\X", text):
            borders.add(max(borders) + len(cluster))
        places = [i for i in range(len(text)) if text.startswith(snippet, i)] or [0]
        assert any({place, place + len(snippet)} <= borders for place in places)


CODE = "\n".join(f"line_{number} = compute(walrus_{number})" for number in range(60))
ROWS = "\n".join(
    f"| animal {number} | sings at the harbour number {number} |" for number in range(60)
)


def shown(text: str, query: str, limit: int = LIMIT) -> str:
    terms = ANALYSER.query(parse_query(query)).should
    snippet, marks = markdown_snippet(text, terms, ANALYSER, limit=limit)
    assert len(snippet) <= limit
    assert all(snippet[start:end].strip() for start, end in marks)
    return snippet


@pytest.mark.parametrize("number", [0, 30, 59])
def test_a_fence_that_is_cut_is_opened_and_closed(number: int) -> None:
    text = f"Before it.\n\n```python\n{CODE}\n```\n\nAfter it.\n"
    lines = shown(text, f"walrus_{number}").split("\n")
    assert f"line_{number} = compute(walrus_{number})" in lines
    fences = [line for line in lines if line.startswith("```")]
    assert fences == ["```python", "```"]


def test_a_chunk_that_is_the_end_of_a_fence_begins_with_one() -> None:
    assert shown("x = walrus()\ny = 2\n```\n\nAnd so on.", "walrus").startswith("```\nx = walrus()")
    assert shown("Run this:\n```\nmake walrus", "walrus") == "Run this:\n```\nmake walrus\n```"
    assert shown("~~~sh\nmake walrus", "walrus") == "~~~sh\nmake walrus\n~~~"


def test_a_closed_fence_stays_as_it_is() -> None:
    text = "See:\n\n```sh\nmake walrus\n```"
    assert shown(text, "walrus") == text


@pytest.mark.parametrize("number", [0, 30, 59])
def test_rows_of_a_table_stand_below_its_header(number: int) -> None:
    text = f"All of them:\n\n| animal | what it does |\n|---|---|\n{ROWS}\n\nAnd so on."
    lines = shown(text, f"number {number}").split("\n")
    at = lines.index("| animal | what it does |")
    assert lines[at + 1] == "|---|---|"
    assert f"| animal {number} | sings at the harbour number {number} |" in lines[at + 2 :]


@given(
    st.lists(
        st.sampled_from(["```", "```py", "~~~", "| a | b |", "|---|---|", "walrus", "", "x" * 30]),
        max_size=40,
    ),
    st.integers(60, 200),
)
def test_any_markdown_gives_an_even_number_of_fences(lines: list[str], limit: int) -> None:
    snippet = shown("\n".join(lines), "walrus", limit)
    mark = ""
    for line in snippet.split("\n"):
        if not mark and line.startswith(("```", "~~~")):
            mark = line[:3]
        elif mark and line == mark:
            mark = ""
    assert not mark


@pytest.mark.parametrize("length", range(600, 900, 25))
def test_a_row_that_is_longer_than_a_snippet_is_cut(length: int) -> None:
    row = f"| alpha | {'filler ' * (length // 7)} the walrus sings | end |"
    text = f"| a | b | c |\n|---|---|---|\n{row}\n| x | y | z |\n"
    snippet, marks = markdown_snippet(text, {"walru"}, ANALYSER)
    assert len(snippet) <= LIMIT
    assert [snippet[start:end] for start, end in marks] == ["walrus"]


def test_a_hit_is_cited_by_its_lines() -> None:
    query = ANALYSER.query(parse_query("walrus"))
    chunk = StoredChunk(1, "memory", "memory/a.md", 2, 3, "The walrus sings.", ("Sea",), None)
    (hit,) = hits_of([Candidate(chunk, 0.5, Explanation())], query, ANALYSER, limit=3)
    assert hit.citation == "memory/a.md#L2-L3"
    assert hit.heading == ("Sea",)
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["walrus"]
    assert (
        Hit(path="a.md", start_line=4, end_line=4, score=0.1, snippet="", source="memory").citation
        == "a.md#L4"
    )
