"""Which candidates are shown: those above a threshold, and one of those that say the same."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.search import ArmKind, ArmScore, Candidate, Explanation, StoredChunk
from commonplace.search.choosing import Folding
from commonplace.search.ranking import Threshold, above, above_as_original
from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query

ANALYSER = make_analyser("standard")


def scored(score: float, *kinds: ArmKind, raw: float | None = None) -> Candidate:
    raw = score if raw is None else raw
    arms = tuple(ArmScore(arm=kind, kind=kind, raw=raw, rank=1) for kind in kinds)
    chunk = StoredChunk(1, "memory", "memory/a.md", 2, 3, "The walrus sings.", ("Sea",), None)
    return Candidate(chunk, score, Explanation(arms=arms))


def test_without_a_threshold_only_what_vectors_alone_found_needs_a_cosine() -> None:
    weak = scored(0.1, "bm25")
    assert above([weak], None) == [weak]
    far, near = scored(0.5, "cosine", raw=0.34), scored(0.1, "cosine", raw=0.35)
    assert above([far, near], None) == [near]
    both = scored(0.1, "cosine", "bm25")
    assert above([both], None) == [both]


@pytest.mark.parametrize(
    "threshold",
    [Threshold(requested=None, configured=0.5), Threshold(requested=0.5, configured=0.0)],
)
def test_a_threshold_holds_for_all_in_the_file_and_on_the_call(
    threshold: Threshold,
) -> None:
    strong = scored(0.5, "bm25")
    weak = [scored(0.3, "bm25"), scored(0.4, "cosine")]
    assert above([strong, *weak], threshold.least) == [strong]


def test_compat_relaxes_as_the_original_does() -> None:
    strong, keyword, vector = (
        scored(0.6, "cosine"),
        scored(0.3, "bm25"),
        scored(0.2, "cosine"),
    )

    def passing(
        *hits: Candidate, kinds: set[ArmKind], requested: float | None = None
    ) -> list[float]:
        threshold = Threshold(requested, configured=0.35)
        passed = above_as_original(hits, kinds, threshold, weights=(1.4, 0.6))
        return [hit.score for hit in passed]

    assert passing(strong, keyword, kinds={"bm25", "cosine"}) == [0.6]
    assert passing(keyword, vector, kinds={"bm25", "cosine"}) == [0.3]
    assert passing(scored(0.29, "bm25"), kinds={"bm25", "cosine"}) == []
    assert passing(keyword, kinds={"bm25"}) == [0.3]
    assert passing(vector, kinds={"cosine"}) == []
    # An engine's own ranking passes whole, apart from what the call asks for.
    engine = scored(0.1, "opaque")
    assert passing(engine, kinds={"opaque"}) == [0.1]
    assert passing(engine, kinds={"opaque"}, requested=0.2) == []


def test_compat_takes_0_with_a_negative_cosine_for_less() -> None:
    zero, below = scored(0.0, "cosine", raw=0.0), scored(0.0, "cosine", raw=-0.5)
    threshold = Threshold(requested=None, configured=0.0)
    passed = above_as_original([zero, below], {"cosine"}, threshold, weights=(0.7, 0.3))
    assert passed == [zero]


def dated(number: int, text: str, day: str | None, score: float = 0.5, body: str = "") -> Candidate:
    path = f"memory/{number}.md"
    chunk = StoredChunk(number, "memory", path, 1, 1, text, (), day, body=body)
    return Candidate(chunk, score, Explanation())


def tokens(text: str) -> str:
    return ANALYSER.chunk(text).body


def folded(query: str, *candidates: Candidate, limit: int = 6) -> list[tuple[int, list[int]]]:
    folding = Folding(ANALYSER.query(parse_query(query)), query)
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


@pytest.mark.parametrize(
    ("query", "apart"),
    [
        ("paid Kiefer", False),
        ("how much did we pay Kiefer in total", True),
        ("the first payment to Kiefer", True),
        ("how often did we pay Kiefer?", True),
        ("Kiefer insgesamt", True),
        ("给 Kiefer 一共付了多少", True),
    ],
)
def test_earlier_values_stay_apart_where_several_or_an_extreme_are_asked_for(
    query: str, apart: bool
) -> None:
    hits = [
        dated(1, "- Paid Kiefer: 95 EUR", "2026-09-04", 0.9),
        dated(2, "- Paid Kiefer: 740 EUR", "2026-06-04"),
        dated(3, "- Paid Kiefer: 740 EUR", "2026-03-04"),
    ]
    expected = [(1, []), (2, [3])] if apart else [(1, [2, 3])]
    assert folded(query, *hits) == expected


def test_values_named_as_earlier_are_those_of_lines_with_a_word_of_the_query() -> None:
    hits = [
        dated(1, "## On call\n- On call: Jonas\n- Pages: 3", "2026-11-02", 0.9),
        dated(2, "## On call\n- On call: Jonas\n- Pages: 1", "2026-03-09"),
    ]
    folding = Folding(ANALYSER.query(parse_query("who is on call")))
    folding.add(hits, limit=6)
    (one,) = folding.folded()
    assert len(one.similar) == 1
    assert one.earlier == ()


def test_the_day_of_a_log_is_no_value_that_has_changed() -> None:
    folding = Folding(ANALYSER.query(parse_query("what happened in 2026?")))
    days = [f"2026-10-0{number}" for number in (3, 2, 1)]
    texts = [f"# {day}\n\n- Went running.\n- Again {at}." for at, day in enumerate(days)]
    folding.add((dated(at, texts[at], day) for at, day in enumerate(days)), limit=6)
    assert folding.folded()[0].earlier == ("1 (2026-10-02)", "2 (2026-10-01)")


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


def test_neighbouring_chunks_of_one_document_are_no_reason_to_look_for_newer_ones() -> None:
    one, other = dated(1, "staging port: 80", "2026-10-01"), dated(2, "staging port: 80", None)
    overlapping = other.chunk._replace(path=one.chunk.path, day=one.chunk.day)
    folding = Folding(ANALYSER.query(parse_query("staging port")))
    folding.add([one, other._replace(chunk=overlapping)], limit=6)
    assert [len(hit.similar) for hit in folding.folded()] == [1]
    assert folding.since() is None


def test_lines_are_found_by_irregular_forms_too() -> None:
    hits = [
        dated(1, "- bought 3 tyres\n- rain", "2026-10-01", 0.9),
        dated(2, "- bought 4 tyres\n- sun", "2026-10-02"),
    ]
    assert folded("what did I buy", *hits) == [(2, [1])]


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


def test_an_older_hit_that_has_more_of_the_query_keeps_its_place_behind_the_newest() -> None:
    one = dated(1, "- the staging port is 8401\n- a walrus met Mia", "2026-10-01", 0.9)
    named = dated(2, "- the staging port is 8402\n- asked Mia", "2026-10-02", 0.7)
    other = dated(3, "- the staging gate", "2026-10-03", 0.8)
    assert folded("staging port Mia", named, one) == [(2, [1])]
    query = "staging port walrus"
    assert folded(query, one, other, named) == [(2, []), (1, []), (3, [])]
    assert folded(query, named, other, one) == [(2, []), (3, []), (1, [])]
    folding = Folding(ANALYSER.query(parse_query(query)))
    folding.add([one, other, named], limit=6)
    newest = folding.folded()[0]
    assert newest.score == 0.9
    note = "the newest of what says this, before: 8401 (2026-10-01)"
    assert newest.explain.steps[-1].note == note


def test_words_that_stand_anywhere_do_not_tell_lines_apart() -> None:
    one = dated(1, "- the staging port is 8401\n- we use the list #12 now", "2026-10-01", 0.9)
    two = dated(2, "- the staging port is 8402", "2026-10-02", 0.7)
    assert folded("which port does staging use now", one, two) == [(2, [1])]


def test_a_value_of_the_query_tells_hits_apart() -> None:
    one = dated(1, "- the staging port is 8401", "2026-10-01")
    two = dated(2, "- the staging port is 8402\n- asked Mia", "2026-10-02")
    assert folded("staging port 8401", one, two) == [(1, []), (2, [])]


def test_where_the_query_names_days_one_of_these_is_shown_for_the_newest() -> None:
    hits = [dated(n, f"- standup: {n} open", f"2026-{n:02}-10") for n in (3, 5, 11)]
    for days, shown in (
        ((("2026-03-01", "2026-03-31"),), (3, [11, 5])),
        ((("-05-01", "-05-31"),), (5, [11, 3])),
        ((("2025-05-01", "2025-05-31"),), (11, [5, 3])),
    ):
        query = ANALYSER.query(parse_query("standup"))._replace(days=days)
        folding = Folding(query)
        folding.add(hits, limit=6)
        assert folding.since() is None
        found = [(one.chunk.id, [o.id for o in one.similar]) for one in folding.folded()]
        assert found == [shown]


def test_words_are_found_with_or_without_their_accents() -> None:
    hits = [dated(n, f"- la réunion dure {n} minutes\n- rien", f"2026-10-0{n}") for n in (1, 2)]
    hits[0] = dated(1, "- la réunion dure 1 minutes\n- autre chose", "2026-10-01")
    assert folded("réunion durée", *hits) == folded("reunion duree", *hits) == [(2, [1])]


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


WORDS = ("port", "ports", "İ", "staging_port", "8402", "端口", "report", ":", "#", " ", "\n", "Σ")


@given(st.lists(st.sampled_from(WORDS), max_size=30).map("".join), st.sampled_from(WORDS))
def test_the_lines_with_words_are_those_in_which_a_word_of_the_query_begins(
    text: str, query: str
) -> None:
    folding = Folding(ANALYSER.query(parse_query(f"port 端口 {query}")))
    lines = text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    alone = [folding._words_by_line(line).get(0) for line in lines]
    expected = {start: words for start, words in zip(starts, alone, strict=False) if words}
    assert folding._words_by_line(text) == expected
