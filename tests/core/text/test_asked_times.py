"""What a query asks of the times that it names."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from commonplace.text.analyse import make_analyser
from commonplace.text.asked_times import read_times
from commonplace.text.query import parse_query
from commonplace.text.time_hints import may_name_days

if TYPE_CHECKING:
    from commonplace.model.search import KeywordQuery

TODAY = date(2026, 11, 23)


def _keyword(text: str, today: date = TODAY) -> tuple[KeywordQuery, tuple[str, ...]]:
    analyser, parsed = make_analyser(), parse_query(text)
    return read_times(parsed, analyser, lambda: today)


def _read(text: str) -> tuple[set[str], bool, tuple[str, ...]]:
    """The terms that are searched for, whether all of the days is asked for, and the rest."""
    keyword, rest = _keyword(text)
    return set(keyword.should), keyword.listed, tuple(" ".join(text.split()) for text in rest)


@pytest.mark.parametrize(
    "text",
    [
        "what happened yesterday?",
        "what did I do last week",
        "notes from today",
        "上周做了什么",
        "昨日何をした",
        "지난주에 뭐 했어?",
        "was habe ich gestern gemacht",
        "qu'est-ce qui s'est passé hier",
        "¿qué hice ayer?",
    ],
)
def test_a_question_for_a_time_alone_asks_for_all_of_its_days(text: str) -> None:
    assert _read(text) == (set(), True, ())


def test_days_that_notes_quote_are_searched_for_as_well() -> None:
    assert _read("what happened in October") == ({"octob"}, True, ())
    assert _read("what happened on Monday") == ({"monday"}, True, ())
    terms, listed, rest = _read("the invoice of March 5")
    assert terms >= {"invoic", "march", "5"}
    assert (listed, rest) == (False, ("the invoice of",))


def test_words_seen_from_today_are_not_searched_for_beside_others() -> None:
    assert _read("login loop yesterday") == ({"login", "loop", "loginlop"}, False, ("login loop",))
    terms, listed, _ = _read("what did I do last week with `last_week`")
    assert {"last", "week"} <= terms
    assert not listed
    assert {"last", "week"} <= _read('"last week" standup')[0]
    assert {"last", "year"} <= _read("the trip last year")[0]


def test_nothing_is_missing_where_no_note_has_the_words_of_a_time() -> None:
    keyword, _ = _keyword("the invoice of March 5")
    assert keyword.beside >= {"march", "5"}
    assert "invoic" not in keyword.beside


def test_coming_days_are_looked_for_by_their_dates() -> None:
    keyword, _ = _keyword("who comes tomorrow")
    assert keyword.days == (("2026-11-24", "2026-11-24"),)
    assert {"24", "2026-11-24", "novemb"} <= {*keyword.coming}
    assert _keyword("who came yesterday")[0].coming == ()
    assert "decemb" in _keyword("appointments next month")[0].coming
    assert _keyword("what is on tomorrow")[0].coming == keyword.coming
    assert _keyword("in May, who came")[0].coming == ()
    assert _keyword("the plan for next year")[0].coming == ()
    assert {"novemb", "decemb"} <= {*_keyword("upcoming visits")[0].coming}


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("what is due in the next 5 days", "2026-11-28"),
        ("the next two weeks", "2026-12-07"),
        ("was steht in den nächsten drei Tagen an", "2026-11-26"),
        ("qué hay en los próximos 5 días", "2026-11-28"),
        ("未来三天有什么安排", "2026-11-26"),
        ("今後の3日間の予定", "2026-11-26"),
    ],
)
def test_the_next_days_begin_today(text: str, last: str) -> None:
    assert may_name_days(text)
    keyword, _ = _keyword(text)
    assert keyword.days == (("2026-11-23", last),)
    assert last[-2:].lstrip("0") in keyword.coming


def test_how_long_something_took_is_no_time() -> None:
    assert _keyword("how was it fixed in two days")[0].days == ()
    assert _keyword("do refresh tokens expire in 30 days")[0].days == ()
    assert _keyword("what is due in two days")[0].days == (("2026-11-25", "2026-11-25"),)
    weeks = (("2026-12-04", "2026-12-10"),)
    assert _keyword("was steht in zwei Wochen an")[0].days == weeks


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("who takes the pager on Wednesday", ["2026-11-18", "2026-11-25"]),
        ("was ist am Mittwoch geplant", ["2026-11-18", "2026-11-25"]),
        ("the meeting on Wednesday is scheduled where", ["2026-11-18", "2026-11-25"]),
        ("who took the pager when it was on Wednesday", ["2026-11-18"]),
        ("what was deployed on Wednesday", ["2026-11-18"]),
        ("wer hat am Mittwoch angerufen, wer war das", ["2026-11-18"]),
        ("who takes the pager next Wednesday", ["2026-11-25"]),
        ("anything new since Wednesday", ["2026-11-18"]),
        ("who takes the pager last Wednesday", ["2026-11-18"]),
        ("who takes the pager on the 23rd?", ["2026-11-23", "2026-12-23"]),
        ("was steht an am 30.?", ["2026-10-30", "2026-11-30"]),
        ("who comes on the 31st", ["2026-10-31", "2026-12-31"]),
        ("who called on the 23rd?", ["2026-11-23"]),
        ("who takes the pager from Monday to Friday", ["2026-11-23", "2026-11-30"]),
        ("who takes the pager from Monday to Friday next week", ["2026-11-30"]),
        ("pager on Tuesday last week", ["2026-11-17"]),
    ],
)
def test_a_weekday_is_the_last_one_and_the_next_one_unless_one_asks_for_what_was(
    text: str, days: list[str]
) -> None:
    assert may_name_days(text)
    assert [first for first, _ in _keyword(text)[0].days] == days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Zahnarzt 03.12.", ["-12-03", "2026-12-03"]),
        ("3.12. Zahnarzt", ["-12-03", "2026-12-03"]),
        ("am 24.10. beim Zahnarzt", ["-10-24"]),
        ("Zahnarzt 3. Dez.", ["-12-03", "2026-12-03"]),
        ("Zahnarzt im Okt. 2026", ["2026-10-01"]),
        ("Zahnarzt im Feber", ["-02-01"]),
        ("tandarts in maart", ["-03-01"]),
        ("dentiste en févr. 2026", ["2026-02-01"]),
        ("heuer im Herbst beim Zahnarzt", ["2026-09-01"]),
        ("Heuer beim Zahnarzt", ["2026-01-01"]),
        ("Python 3.12. release", []),
        ("TAG Heuer watch", []),
        ("3 out of 5", []),
        ("version 10.12.", []),
        ("release 10.11.", []),
        ("5.6. kernel", []),
        ("macOS 10.11.", []),
        ("frau heuer", []),
        ("Frau Heuer", []),
    ],
)
def test_dates_as_they_are_written_in_german(text: str, days: list[str]) -> None:
    assert [first for first, _ in _keyword(text)[0].days if may_name_days(text)] == days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("in zwei Wochen", ["2026-12-04"]),
        ("in two weeks", ["2026-12-04"]),
        ("in 14 Tagen", ["2026-12-07"]),
        ("Konzert in zwei Wochen", ["2026-12-04"]),
        ("in 14 Tagen Konzert", ["2026-12-07"]),
        ("concert in two weeks", ["2026-12-04"]),
        ("concert dans deux semaines", ["2026-12-04"]),
        ("concierto en dos semanas", ["2026-12-04"]),
        ("what is on in two weeks", ["2026-12-04"]),
        ("was steht in den nächsten Tagen an", ["2026-11-23"]),
        ("Konzerte in den kommenden Wochen", ["2026-11-23"]),
        ("concerts in the coming weeks", ["2026-11-23"]),
        ("concerts dans les prochains jours", ["2026-11-23"]),
        ("conciertos en los próximos días", ["2026-11-23"]),
        ("concerti nei prossimi giorni", ["2026-11-23"]),
        ("was war in den letzten Tagen", ["2026-11-18"]),
        # How long something takes or lasts is no time.
        ("how was it fixed in two weeks", []),
        ("tokens expire in two weeks", []),
        ("do refresh tokens expire in 30 days", []),
        ("the last days of Pompeii", []),
        ("how to learn the violin in two months of practice", []),
    ],
)
def test_days_ahead_need_no_question(text: str, days: list[str]) -> None:
    assert [first for first, _ in _keyword(text)[0].days if may_name_days(text)] == days


def test_what_the_days_ahead_are_called_is_kept_beside_other_words() -> None:
    assert {"zwei", "woch"} <= {*_keyword("Konzert in zwei Wochen")[0].should}
    assert _keyword("in zwei Wochen")[0].should == ()
    assert _keyword("was steht nächste Woche an")[0].listed


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Zahnarzt im Dezember", ["-12-01", "2026-12-01"]),
        ("dentist in December", ["-12-01", "2026-12-01"]),
        ("納期 12月", ["-12-01", "2026-12-01"]),
        ("dentista em dezembro", ["-12-01", "2026-12-01"]),
        ("who came in December", ["-12-01"]),
        ("Zahnarzt im Jänner", ["-01-01"]),
        ("Zahnarzt im November", ["-11-01"]),
        ("Zahnarzt im Dezember 2025", ["2025-12-01"]),
    ],
)
def test_a_month_that_begins_soon_is_the_coming_one_too(text: str, days: list[str]) -> None:
    assert [first for first, _ in _keyword(text)[0].days] == days
