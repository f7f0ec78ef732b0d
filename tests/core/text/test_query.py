from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.model.search import QueryNote, Where
from commonplace.text.query import ParsedQuery, parse_query
from commonplace.text.time_hints import may_name_days


def TODAY() -> date:  # noqa: N802 - a constant to these tests
    return date(2026, 11, 22)


_SYNTAX = st.sampled_from(
    ["2026-01-31", "2026-13", "0000", "AND", "NOT", "*", "^", "NEAR(", "foo", "方案", "\ud800"]
) | st.sampled_from(
    ['"', "“", "”", "「", "」", "-", "path:", "after:", "before:", "source:", " ", "'", "\n", "("]
)


def _query(text: str, *words: str) -> ParsedQuery:
    return ParsedQuery(text, words)


@pytest.mark.parametrize(
    "text",
    [
        "which port does the staging server use?",
        "foo-bar",
        "--acknowledge-risk",
        "docker run -p 8080:80",
        "error -40",
        "- a list item",
        "don't 'quote' this",
        '5" disk',
        'say "hi"there',
        '"unbalanced',
        'an empty "" quote',
        "foo (bar baz*) NEAR ^qux",
        "either or",
        "OR",
        "Portland OR",
        "path: is empty",
        "note:that",
        "「X」とは何ですか",
        "你想了解“位于”何处",
    ],
)
def test_what_is_no_operator_is_plain(text: str) -> None:
    assert parse_query(text) == _query(text, text)


@pytest.mark.parametrize(
    ("text", "words", "phrases", "excluded"),
    [
        ('"exact phrase" more words', ("more words",), ("exact phrase",), ()),
        ('before "exact phrase" after', ("before", "after"), ("exact phrase",), ()),
        ('say "hello there", she said', ("say", ", she said"), ("hello there",), ()),
        ("“smart quotes” too", ("too",), ("smart quotes",), ()),
        ("「検索方法」", (), ("検索方法",), ()),
        ("deploy -staging", ("deploy",), (), ("staging",)),
        ("deploy -not-here -猫", ("deploy",), (), ("not-here", "猫")),
        ('deploy -"to staging"', ("deploy",), (), ("to staging",)),
        ("it's -wrong", ("it's",), (), ("wrong",)),
        ("-verbose", (), (), ("verbose",)),
        ("project OR product", ("project", "product"), (), ()),
        ('"red fox" OR "blue bird"', ("red fox", "blue bird"), (), ()),
        ('"red fox" OR bird "green cat"', ("red fox", "bird"), ("green cat",), ()),
    ],
)
def test_phrases_and_exclusions(
    text: str, words: tuple[str, ...], phrases: tuple[str, ...], excluded: tuple[str, ...]
) -> None:
    assert parse_query(text) == ParsedQuery(text, words, phrases, excluded)


@pytest.mark.parametrize(
    ("word", "path"),
    [("staging.md", "**/staging.md"), ("memory/staging.md", "memory/staging.md")],
)
def test_a_file_after_a_minus_is_words_and_a_note_says_how_it_is_left_out(
    word: str, path: str
) -> None:
    parsed = parse_query(f"cost -{word}")
    assert (parsed.excluded, parsed.where) == ((word,), Where())
    (note,) = parsed.notes
    assert f"-path:{path} " in note


@pytest.mark.parametrize(
    "text", ["java -Xmx4g settlement", "terraform plan -target=module.vpc", "ssh -oUser=ana host"]
)
def test_an_option_of_a_command_is_searched_for(text: str) -> None:
    assert parse_query(text) == ParsedQuery(text, (text,))


def test_a_note_says_what_an_option_of_a_command_leaves_out() -> None:
    parsed = parse_query("go test -race ./quota")
    assert parsed.excluded == ("race",)
    assert parsed.notes == (
        '-race excludes pieces with "race"; to search for it, quote it: "-race"',
    )
    for plain in ("coffee -decaf beans", "coffee -decaf path:memory/a*", "a -decaf -tea"):
        assert parse_query(plain).notes == ()
    assert parse_query('go test "-race" ./quota').excluded == ()
    assert parse_query("login -OAuth2").excluded == ("OAuth2",)


@pytest.mark.parametrize("text", ["PAY-1432", "java -Xmx4g", "v2.31.4", "ORA-00942", "a-b-c"])
def test_what_has_hyphens_or_dots_names_no_day(text: str) -> None:
    assert not may_name_days(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Krone NOT Zahnarzt", "NOT is a word here: -Zahnarzt leaves out what has that word"),
        ("rent NOT tag:work", "NOT is a word here: -tag:work leaves out what passes that filter"),
        ("host NOT self-hosted", "NOT is a word here: -self-hosted leaves out what has that word"),
        ("tea AND coffee", "AND is a word here"),
        ("tea AND coffee AND milk", "AND is a word here"),
        ("title:Siebert Rechnung", "title: is no filter, and was searched for as a word: the"),
        ("Rechnung nach:2026-11", "nach: is no filter, and was searched for as a word: use after:"),
        ("invoice on:2026-11-21", "on: is no filter, and was searched for as a word: use after:"),
        ("Titel:Siebert", "Titel: is no filter"),
        ("file:siebert.md", "file: is no filter, and was searched for as a word: use path:"),
    ],
)
def test_what_other_searches_know_is_said_to_be_words_here(text: str, said: str) -> None:
    (note,) = parse_query(text).notes
    assert note.startswith(said)
    assert isinstance(note, QueryNote)


def test_few_of_them_are_named_in_a_long_query() -> None:
    texts = " ".join(f"NOT word{number}" for number in range(500)), "title:x body:y " * 500
    assert [len(parse_query(text).notes) for text in texts] == [3, 2]


def test_the_words_beside_them_are_searched_for() -> None:
    text = "foo AND (bar NOT baz*) NEAR ^qux"
    parsed = parse_query(text)
    assert parsed._replace(notes=()) == _query(text, text)
    assert len(parsed.notes) == 2


@pytest.mark.parametrize(
    "text",
    [
        "do not and AND",
        "NOT",
        "a column is NOT NULL",
        "the server says NOT FOUND",
        "tea and coffee, not milk",
        "DO NOT AND DO",
        "https://a.example title: x",
        "file://x",
        "std::name::x",
        'say "NOT now"',
        "foo:bar",
        "name",
    ],
)
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert parse_query(text).notes == ()


@pytest.mark.parametrize("empty", ["after:2026-11-01 before:2026-10-01", "before:2025 after:2026"])
def test_a_span_without_a_day_is_said_to_be_one(empty: str) -> None:
    (note,) = parse_query(f"tea {empty}").notes
    assert "leave no day between them" in note
    assert parse_query("tea after:2026-10-01 before:2026-10-01").notes == ()


def test_a_number_after_a_minus_is_searched_for_and_a_note_says_so() -> None:
    parsed = parse_query("staging port -8450")
    assert (parsed.words, parsed.excluded) == (("staging port -8450",), ())
    assert parsed.notes == ('-8450 is searched for as a number: -"8450" leaves it out',)
    assert parse_query('staging port -"8450"').excluded == ("8450",)
    assert parse_query("error -4058").words == ("error -4058",)
    for plain in ("kill -9", "on -2026-10-01", "a-8450", "error -8450.5"):
        assert parse_query(plain).notes == ()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("x path:memory/**/*.md", Where(paths=("memory/**/*.md",))),
        ('x path:"my notes" path:b', Where(paths=("my notes", "b"))),
        ("x source:memory source:sessions", Where(sources=frozenset({"memory", "sessions"}))),
        ("x after:2026-01-31", Where(after="2026-01-31")),
        ("x after:2026-02", Where(after="2026-02-01")),
        ("x after:2026", Where(after="2026-01-01")),
        ("x before:2026", Where(before="2026-12-31")),
        ("x before:2024-02", Where(before="2024-02-29")),
        ("x before:1900-02", Where(before="1900-02-28")),
        ("x before:2026-04", Where(before="2026-04-30")),
        ("x before:2026-Q3", Where(before="2026-09-30")),
        ("x after:yesterday", Where(after="2026-11-21")),
        ("x after:last-week", Where(after="2026-11-09")),
        ('x before:"last week"', Where(before="2026-11-15")),
        ("x after:7d", Where(after="2026-11-15")),
        ("x after:\u4e0a\u5468", Where(after="2026-11-09")),
        ("x after\uff1a\u6628\u65e5", Where(after="2026-11-21")),
        ("x -path:drafts -path:b/*.md", Where(not_paths=("drafts", "b/*.md"))),
        ("x -source:sessions", Where(not_sources=frozenset({"sessions"}))),
        (
            "x after:2026-01 after:2026-03 before:2027 before:2026-06-01",
            Where(after="2026-03-01", before="2026-06-01"),
        ),
    ],
)
def test_filters(text: str, where: Where) -> None:
    assert parse_query(text, TODAY) == ParsedQuery(text, ("x",), where=where)


@pytest.mark.parametrize(
    "given",
    [
        "after:soon",
        "after:2026-02-30",
        "before:2026-13",
        "after:0000",
        "after:2026-13-45",
        "source:a/b",
        "-after:2026",
        "-source:a/b",
    ],
)
def test_a_filter_that_is_not_understood_is_named_and_not_searched_for(given: str) -> None:
    parsed = parse_query(f"left {given} right", TODAY)
    assert (parsed.words, parsed.where) == (("left", "right"), Where())
    (note,) = parsed.notes
    assert note.startswith(f"{given} is not understood, and was left out")


def test_words_on_both_sides_of_a_filter_do_not_stand_together() -> None:
    assert parse_query("left path:a right").words == ("left", "right")


def test_exclusions_under_a_filter_stay_exclusions() -> None:
    assert parse_query("path:a -bb").excluded == ("bb",)


@settings(max_examples=200)
@given(st.lists(_SYNTAX | st.text(max_size=4), max_size=12).map("".join))
def test_any_text_is_a_query(text: str) -> None:
    parsed = parse_query(text)
    assert parsed.text == text
    pieces = (*parsed.words, *parsed.phrases, *parsed.excluded, *parsed.where.paths)
    assert all(piece.strip() and piece in text for piece in pieces)
    for day in (parsed.where.after, parsed.where.before):
        assert day is None or len(day) == 10


@given(st.text())
def test_parsing_again_gives_the_same(text: str) -> None:
    assert parse_query(text) == parse_query(text)
