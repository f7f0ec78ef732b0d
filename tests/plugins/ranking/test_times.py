"""Words of time: when, now, after the move; in several languages, soft, and each explained."""

from __future__ import annotations

import pytest

from commonplace.model.search import Candidate, Explanation, KeywordQuery, Query, StoredChunk
from commonplace.plugin import RankContext
from commonplace_ranking.times import TimeWords, anchor_of, series


def hit(id_: int, score: float, text: str, day: str | None = None) -> Candidate:
    body = text.lower().replace(".", "")
    chunk = StoredChunk(id_, "memory", f"memory/{id_}.md", 1, 1, text, day=day, body=body)
    return Candidate(chunk, score, Explanation())


def asked(text: str, *terms: str) -> RankContext:
    return RankContext(Query(text, KeywordQuery(terms), text), now=0.0, limit=6)


def notes(hits: list[Candidate]) -> list[str]:
    return [one.explain.steps[-1].note for one in hits]


MOVES = [
    hit(0, 0.5, "Mia likes the flat."),
    hit(1, 0.5, "Mia moved in last week.", "2026-05-02"),
    hit(2, 0.5, "Mia likes the balcony.", "2026-06-01"),
]


@pytest.mark.parametrize(
    "query",
    [
        "when did Mia move in",
        "Wann ist Mia eingezogen?",
        "¿Cuándo se mudó Mia?",
        "Quand Mia a-t-elle emménagé ?",
        "quando si è trasferita Mia",
        "Mia 什么时候搬家的",
        "ミアはいつ引っ越した",
        "미아는 언제 이사했어",
    ],
)
def test_when_prefers_what_names_a_time(query: str) -> None:
    ranked = TimeWords(0.2).rank(MOVES, asked(query))
    assert [one.score for one in ranked] == pytest.approx([0.5, 0.6, 0.55])
    assert notes(ranked) == [
        "does not fit the words of time",
        "x 1.200, names a time",
        "x 1.100, of a dated note",
    ]


@pytest.mark.parametrize(
    "query",
    [
        "where did Mia move",
        "what Mia likes",
        "whenever Mia likes",
        "wannabe",
        "Mia knows the currents",
        "what does Mia know",
        "hereafter",
        "いつもの店",
    ],
)
def test_a_question_without_words_of_time_is_left_alone(query: str) -> None:
    ranked = TimeWords().rank(MOVES, asked(query, "mia"))
    assert [one.score for one in ranked] == [0.5] * 3
    assert set(notes(ranked)) == {"no words of time"}


PORTS = [
    hit(0, 0.60, "The staging port is 8001.", "2026-01-05"),
    hit(1, 0.55, "The staging port is 8002.", "2026-03-05"),
    hit(2, 0.50, "The staging port is 8003.", "2026-09-05"),
    hit(3, 0.40, "The staging crew had lunch.", "2026-10-05"),
    hit(4, 0.30, "Staging port: see the wiki."),
]


@pytest.mark.parametrize(
    "query",
    [
        "what is the staging port now",
        "current staging port",
        "aktueller staging port",
        "port de staging actuel",
        "staging port actualmente",
        "staging port 现在是多少",
        "今の staging port",
        "현재 staging port",
    ],
)
def test_now_prefers_the_newest_of_a_series(query: str) -> None:
    ranked = TimeWords(0.2).rank(PORTS, asked(query, "staging", "port", "now"))
    assert [one.score for one in ranked] == pytest.approx(
        [0.6 * 1.05, 0.55 * 1.1, 0.5 * 1.2, 0.4, 0.3]
    )
    assert notes(ranked)[2] == "x 1.200, number 1 of its series, by day"
    by_score = sorted(TimeWords(0.5).rank(PORTS, asked(query, "staging", "port")), key=_falling)
    assert by_score[0].chunk.id == 2


def _falling(one: Candidate) -> float:
    return -one.score


def test_neither_words_of_time_nor_of_other_lines_decide_a_series() -> None:
    logs = [
        hit(0, 0.8, "- port stage 8410\n- Mailer retries now use backoff", "2026-10-08"),
        hit(1, 0.6, "- port stage 8443\n- A talk about queues", "2026-11-12"),
    ]
    query = asked("which port does staging use now", "port", "stage", "use", "now", "which")
    assert series(logs, query) == {0: 1, 1: 0}
    assert notes(TimeWords(0.2).rank(logs, query))[1] == "x 1.200, number 1 of its series, by day"


def test_the_day_in_a_heading_dates_the_note_and_a_day_in_the_text_is_a_time() -> None:
    hits = [
        hit(0, 0.5, "# 2026-11-20\n\n- Mia likes the flat.", "2026-11-20"),
        hit(1, 0.5, "Mia moves on 9 May."),
        hit(2, 0.5, "Mia has 3 marbles."),
    ]
    assert notes(TimeWords(0.2).rank(hits, asked("when does Mia move"))) == [
        "x 1.100, of a dated note",
        "x 1.200, names a time",
        "does not fit the words of time",
    ]


def test_a_series_holds_the_same_words_of_the_query() -> None:
    assert series(PORTS, asked("x", "staging", "port")) == {0: 2, 1: 1, 2: 0}
    assert series(PORTS, asked("x", "lunch")) == {}
    assert series(PORTS[4:], asked("x", "staging")) == {}


MOVED = [
    hit(0, 0.9, "We moved to Berlin.", "2026-05-02"),
    hit(1, 0.5, "The doctor is Dr. Ito.", "2026-03-01"),
    hit(2, 0.5, "The doctor is Dr. Abe.", "2026-06-01"),
    hit(3, 0.4, "The doctor is nice."),
]


@pytest.mark.parametrize(
    ("query", "raised"),
    [
        ("who is the doctor after the move", [2]),
        ("who was the doctor before we moved to Berlin?", [1]),
        ("since the move, which doctor", [2]),
        ("the doctor after the wedding", []),
        ("doctor after", []),
    ],
)
def test_after_an_event_that_a_dated_line_names(query: str, raised: list[int]) -> None:
    ranked = TimeWords(0.2).rank(MOVED, asked(query, "doctor"))
    assert [one.chunk.id for one in ranked if one.score > MOVED[int(str(one.chunk.id))].score] == (
        raised
    )


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("who is the doctor after the move to Berlin?", "after move to Berlin (2026-05-02)"),
        ("who was the doctor before we moved", "before moved (2026-05-02)"),
    ],
)
def test_an_event_is_shown_as_it_was_typed(query: str, note: str) -> None:
    ranked = TimeWords(0.2).rank(MOVED, asked(query, "doctor"))
    assert [one for one in notes(ranked) if "2026-05-02" in one] == [f"x 1.200, {note}"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Umzug nach Berlin.", "Arzt nach dem Umzug"),
        ("Notre déménagement à Lyon.", "médecin après le déménagement"),
        ("搬家到柏林。", "搬家之后的医生"),
        ("引っ越しをした。", "引っ越しの後の医者"),
        ("베를린으로 이사했다.", "이사 이후 의사"),
    ],
)
def test_events_in_other_languages(text: str, query: str) -> None:
    anchor = anchor_of(query, [hit(0, 0.5, text, "2026-05-02")])
    assert anchor is not None
    assert (anchor.day, anchor.after) == ("2026-05-02", True)


def test_a_date_in_the_line_is_the_line_s() -> None:
    item = hit(0, 0.5, "Dates:\n- 2026-04-30: moved to Berlin\n- 2026-07-01: wedding")
    anchor = anchor_of("which doctor after the move", [item])
    assert anchor is not None
    assert anchor.day == "2026-04-30"


def test_a_score_that_is_capped_is_said_to_be() -> None:
    moves = hit(0, 0.95, "Mia moves on 9 May.")
    (ranked,) = TimeWords(0.2).rank([moves], asked("when does Mia move"))
    assert ranked.score == 1.0
    assert notes([ranked]) == ["x 1.200, capped at 1, names a time"]


def test_nothing_comes_of_nothing() -> None:
    assert TimeWords().rank([], asked("when did the current server move, after the party")) == []


def test_each_part_can_be_switched_off() -> None:
    question = asked("when is the staging port now, before lunch", "staging", "port")
    for given in ({"when": False}, {"now": False}, {"after": False}):
        assert TimeWords(0.2, **given).rank(PORTS, question) != TimeWords(0.2).rank(PORTS, question)
    off = TimeWords(0.2, when=False, now=False, after=False).rank(PORTS, question)
    assert set(notes(off)) == {"no words of time"}
