"""Snippets show the match, keep within their limit, and break nothing."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.search import (
    ArmKind,
    ArmScore,
    Candidate,
    Explanation,
    Hit,
    KeywordQuery,
    StoredChunk,
)
from commonplace.search.snippets import (
    LIMIT,
    Folding,
    above,
    above_as_original,
    hits_of,
    make_snippet,
    markdown_snippet,
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


def dated(number: int, text: str, day: str | None, score: float = 0.5, body: str = "") -> Candidate:
    path = f"memory/{number}.md"
    chunk = StoredChunk(number, "memory", path, 1, 1, text, (), day, body=body)
    return Candidate(chunk, score, Explanation())


def tokens(text: str) -> str:
    return ANALYSER.chunk(text).body


def folded(query: str, *candidates: Candidate, limit: int = 6) -> list[tuple[int, list[int]]]:
    folding = Folding(ANALYSER.query(parse_query(query)))
    folding.add(candidates, limit=limit)
    return [
        (int(one.chunk.id), [int(other.id) for other in one.similar]) for one in folding.folded()
    ]


def test_dated_hits_that_differ_in_numbers_alone_fold_into_the_newest() -> None:
    hits = [
        dated(1, "# Oct 1\n- lunch\n- the staging port is now 8401", "2026-10-01", 0.9),
        dated(2, "- The staging port is now 8403.\n- rain", "2026-10-03"),
        dated(3, "- the staging port is now 8402", "2026-10-02"),
        dated(4, "- the staging port is closed", "2026-10-04"),
    ]
    assert folded("staging port", *hits) == [(2, [3, 1]), (4, [])]
    folding = Folding(ANALYSER.query(parse_query("staging port")))
    folding.add(hits, limit=6)
    first = folding.folded()[0]
    assert first.score == 0.9
    assert first.earlier == ("8402 (2026-10-02)", "8401 (2026-10-01)")
    note = "2 more like this, before: 8402 (2026-10-02), 8401 (2026-10-01)"
    assert first.explain.steps[-1].note == note


def test_what_is_newer_is_looked_for_by_the_words_and_days_of_dated_hits_that_fold() -> None:
    folding = Folding(ANALYSER.query(parse_query("which staging port or gate")))
    assert (folding.since(), folding.shared(["stage", "port"])) == (None, ())
    gate = "the gate of staging"
    said = [
        (gate, None),
        (gate, None),
        ("staging port: 80", "2026-10-01"),
        ("- staging port: 81, gate", "2026-10-02"),
        ("the staging port: 82", "2026-10-03"),
        ("staging port: 83", "2026-10-04"),
    ]
    folding.add((dated(at, *one, body=tokens(one[0])) for at, one in enumerate(said)), limit=6)
    assert [len(one.similar) for one in folding.folded()] == [1, 1, 0, 0]
    assert folding.since() == "2026-10-04"
    assert folding.shared(["gate", "stage", "port", "ship"]) == (("stage",), ("port",))


@pytest.mark.parametrize(
    ("query", "older", "newer", "value"),
    [
        (
            "wifi password",
            "Office wifi password: bluewhale",
            "Office WiFi password: redfox",
            "bluewhale",
        ),
        (
            "database staging",
            "- the staging database is `Postgres`",
            "* The staging database is now MariaDB.",
            "Postgres",
        ),
        (
            "staging port",
            "09:30 the staging port is 8401",
            "- 17:05 the staging port is 8402",
            "8401",
        ),
        ("server port", "Server 3: port 80", "Server 3: port 90", "80"),
        (
            "pris serveur",
            "le prix du serveur est 12 euros",
            "le prix du serveur est 15 euros",
            "12",
        ),
        ("端口", "测试服务器的端口是8401。", "测试服务器的端口是8402。", "8401"),
    ],
)
def test_lines_that_differ_in_a_value_alone_fold_with_what_it_was(
    query: str, older: str, newer: str, value: str
) -> None:
    folding = Folding(ANALYSER.query(parse_query(query)))
    folding.add([dated(1, older, "2026-10-01"), dated(2, newer, "2026-10-02")], limit=6)
    (shown,) = folding.folded()
    assert shown.chunk.id == 2
    assert shown.earlier == (f"{value} (2026-10-01)",)


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("server port", "Server 3: port 80", "Server 4: port 90"),
        ("server 4 port", "Server 40: port 80", "Server 4: port 80"),
        ("lunch", "Lunch: ramen with Mia", "Lunch: pizza with Tom"),
        ("office", "The office is cold.", "The office is closed."),
        ("redfox password", "Office wifi password: bluewhale", "Office wifi password: redfox"),
        ("question", "Is the question Paris or Rome?", "Is the question Oslo or Bonn?"),
    ],
)
def test_lines_that_say_different_things_do_not_fold(query: str, one: str, other: str) -> None:
    hits = dated(1, one, "2026-10-01"), dated(2, other, "2026-10-02")
    assert folded(query, *hits) == [(1, []), (2, [])]


def test_a_value_that_stays_the_same_is_named_once() -> None:
    said = {1: "8403", 2: "8402", 3: "8402", 4: "8401", 5: "8402"}
    folding = Folding(ANALYSER.query(parse_query("staging port")))
    for ago, port in said.items():
        folding.add([dated(ago, f"staging port: {port}", f"2026-10-0{9 - ago}")], limit=6)
    (shown,) = folding.folded()
    earlier = "8402 (2026-10-07)", "8401 (2026-10-05)", "8402 (2026-10-04)"
    assert shown.earlier == earlier


def test_what_else_matches_is_no_copy() -> None:
    one = dated(1, "- the staging port is 8401", "2026-10-01")
    named = dated(2, "- the staging port is 8402\n- asked Mia", "2026-10-02")
    assert folded("staging port Mia", named, one) == [(2, []), (1, [])]
    assert folded("staging port 8401", one, named) == [(1, []), (2, [])]


def test_headings_say_nothing_alone() -> None:
    one = dated(1, "## Staging\n- restarted it", "2026-10-01")
    two = dated(2, "## Staging\n- broken", "2026-10-02")
    assert folded("staging", one, two) == [(1, []), (2, [])]
    one = dated(1, "Staging:\n- restarted it", "2026-10-01")
    two = dated(2, "Staging:\n- broken", "2026-10-02")
    assert folded("staging", one, two) == [(1, []), (2, [])]


def test_undated_notes_fold_only_word_for_word() -> None:
    hits = [
        dated(1, "Invoice 17", None),
        dated(2, "Invoice  17", None),
        dated(3, "Invoice 18", None),
    ]
    assert folded("invoice", *hits, dated(4, "Invoice 18", "2026-10-01")) == [
        (1, [2]),
        (3, []),
        (4, []),
    ]


def candidate(score: float, *kinds: ArmKind, raw: float | None = None) -> Candidate:
    raw = score if raw is None else raw
    arms = tuple(ArmScore(arm=kind, kind=kind, raw=raw, rank=1) for kind in kinds)
    chunk = StoredChunk(1, "memory", "memory/a.md", 2, 3, "The walrus sings.", ("Sea",), None)
    return Candidate(chunk, score, Explanation(arms=arms))


def test_without_a_threshold_only_what_vectors_alone_found_needs_a_cosine() -> None:
    weak = candidate(0.1, "bm25")
    assert above([weak], configured=None, asked=None) == [weak]
    far, near = candidate(0.5, "cosine", raw=0.34), candidate(0.1, "cosine", raw=0.35)
    assert above([far, near], configured=None, asked=None) == [near]
    both = candidate(0.1, "cosine", "bm25")
    assert above([both], configured=None, asked=None) == [both]


@pytest.mark.parametrize(
    "given", [{"configured": 0.5, "asked": None}, {"configured": 0.0, "asked": 0.5}]
)
def test_a_threshold_holds_for_all_in_the_file_and_on_the_call(
    given: dict[str, float | None],
) -> None:
    strong = candidate(0.5, "bm25")
    weak = [candidate(0.3, "bm25"), candidate(0.4, "cosine")]
    assert above([strong, *weak], **given) == [strong]


def test_compat_relaxes_as_the_original_does() -> None:
    strong, keyword, vector = (
        candidate(0.6, "cosine"),
        candidate(0.3, "bm25"),
        candidate(0.2, "cosine"),
    )

    def passing(*hits: Candidate, kinds: set[ArmKind], asked: float | None = None) -> list[float]:
        passed = above_as_original(hits, kinds, configured=0.35, asked=asked, weights=(1.4, 0.6))
        return [hit.score for hit in passed]

    assert passing(strong, keyword, kinds={"bm25", "cosine"}) == [0.6]
    assert passing(keyword, vector, kinds={"bm25", "cosine"}) == [0.3]
    assert passing(candidate(0.29, "bm25"), kinds={"bm25", "cosine"}) == []
    assert passing(keyword, kinds={"bm25"}) == [0.3]
    assert passing(vector, kinds={"cosine"}) == []
    # An engine's own ranking passes whole, apart from what the call asks for.
    engine = candidate(0.1, "opaque")
    assert passing(engine, kinds={"opaque"}) == [0.1]
    assert passing(engine, kinds={"opaque"}, asked=0.2) == []


def test_compat_takes_0_with_a_negative_cosine_for_less() -> None:
    zero, below = candidate(0.0, "cosine", raw=0.0), candidate(0.0, "cosine", raw=-0.5)
    passed = above_as_original(
        [zero, below], {"cosine"}, configured=0.0, asked=None, weights=(0.7, 0.3)
    )
    assert passed == [zero]


def test_a_hit_is_cited_by_its_lines() -> None:
    query = KeywordQuery(should=("walrus",))
    (hit,) = hits_of([candidate(0.5, "bm25")], query, ANALYSER, limit=3)
    assert hit.citation == "memory/a.md#L2-L3"
    assert hit.heading == ("Sea",)
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["walrus"]
    assert (
        Hit(path="a.md", start_line=4, end_line=4, score=0.1, snippet="", source="memory").citation
        == "a.md#L4"
    )
