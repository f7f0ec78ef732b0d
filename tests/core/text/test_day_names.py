"""How texts name given days."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.text.times import named_days

from commonplace.text.day_names import DayNames, spelled_out

if TYPE_CHECKING:
    from commonplace.text.day_spans import Days

SATURDAY = ("2026-11-28", "2026-11-28")
NEXT_WEEK = ("2026-11-30", "2026-12-06")
DECEMBER = ("2026-12-01", "2026-12-31")


@pytest.mark.parametrize(
    "text",
    [
        "The plumber comes on Saturday, 28 November, between 8 and 10.",
        "paper on 2026-11-28",
        "November 28 at nine",
        "am 28. November um 8",
        "am 28.11. um 8",
        "bis 28.11.2026",
        "tax: 28.11. at nine",
        "28.11. market",
        "tax 28.11.26",
        "tax 28. 11. 2026",
        "tax 28.\xa011.\xa02026",
        "am 28.\u202f11. um 8",
        "tax 2026/11/28",
        "tax 28/11/2026",
        "сдать 28 ноя",
        "十一月二十八日 体检",
        "11月28日 体检",
        "11월 28일",
        "28 de noviembre",
        "Nov. 28th",
    ],
)
def test_a_day_is_named_by_its_date(text: str) -> None:
    assert DayNames((SATURDAY,))(text, None)
    assert DayNames((("-11-28", "-11-28"),))(text, None)


@pytest.mark.parametrize(
    "text",
    [
        "28 November 2025",
        "November 28, 2025",
        "2025-11-28",
        "28.11.2025",
        "28 of 30 tests, November",
        "on 28 October",
        "2026-11-280",
        "128 November",
        "port 11.28",
        "11/28 of the tests",
        "tax 28.11.25",
        "二十一月二十八日",
        "十一月二十日",
        "Upgraded to 28.11. All tests pass.",
        "November 28:30",
    ],
)
def test_other_days_and_numbers_are_not_that_day(text: str) -> None:
    assert not DayNames((SATURDAY,))(text, None)


def test_words_seen_from_the_day_of_a_text_name_days() -> None:
    named = DayNames((SATURDAY,), coming=True)
    for day, text in {
        "2026-11-27": "Tomorrow Brandt at nine",
        "2026-11-26": "übermorgen kommt Brandt",
        "2026-11-29": "market yesterday",
        "2026-11-24": "Saturday: market",
        "2026-11-23": "周六 体检",
    }.items():
        assert named(text, day), text
        assert not named(text, "2026-11-02"), text
        assert not named(text, None), text
    # Its own weekday heads a log.
    assert not named("# Saturday", "2026-11-21")
    assert not DayNames((SATURDAY,))("too many meetings on Saturday", "2026-11-24")


def test_a_date_without_a_year_is_the_nearest_to_the_day_of_its_text() -> None:
    november = DayNames((("2026-11-01", "2026-11-30"),))
    assert not november("Cy is on call from November", "2025-09-01")
    assert november("Cy is on call from November", "2026-09-01")
    assert november("the move is in November 2026", "2025-09-01")
    assert november("Cy is on call in November", None)
    assert not DayNames((SATURDAY,))("party on 28 November", "2025-11-20")
    assert DayNames((SATURDAY,))("party on 28 November 2026", "2025-11-20")


def test_a_week_is_named_by_its_days_and_a_month_by_its_name() -> None:
    week = DayNames((NEXT_WEEK,), coming=True)
    assert week("the demo is next Thursday", "2026-11-26")
    assert week("off next week", "2026-11-26")
    assert week("1. Dezember, 19:30", None)
    assert not week("7 December", None)
    assert not week("in December", None)
    month = DayNames((DECEMBER,), coming=True)
    assert month("v41 is planned for 10 December", None)
    assert month("freeze 2026-12-18", None)
    assert not month("December 2025 was cold", None)
    for text in (
        "bis 18.12.2026",
        "am 18.12. um 8",
        "tax 18/12/2026",
        "2026/12/18",
        "十二月十八日",
    ):
        assert month(text, None), text
    assert not month("bis 18.11.2026", None)
    may = DayNames((("2027-05-01", "2027-05-31"),), coming=True)
    assert may("Release 5 on May 12.", None)
    assert may("off in May", None)
    assert not may("The release may break the parser.", None)
    assert not DayNames((("2026-01-01", "2026-12-31"),))("in 2026, in December", None)


@given(st.dates(date(2000, 1, 1), date(2090, 12, 25)), st.integers(0, 6), st.integers(0, 6))
def test_dates_that_are_understood_in_a_query_are_found_in_texts(
    first: date, length: int, at: int
) -> None:
    days: Days = (first.isoformat(), (first + timedelta(length)).isoformat())
    named = DayNames((days,))
    inside = first + timedelta(min(at, length))
    for text in (
        inside.isoformat(),
        f"{inside.day} {inside:%B} {inside.year}",
        f"{inside:%B} {inside.day}, {inside.year}",
        f"{inside.day}.{inside.month}.{inside.year}",
        f"{inside.year}年{inside.month}月{inside.day}日",
    ):
        ((start, end),) = named_days(text, lambda: first)
        assert start == end == inside.isoformat()
        assert named(text, None), text
    outside = (first + timedelta(length + 1)).isoformat()
    assert not named(outside, None)
    assert inside.isoformat() in spelled_out((days,)).split()


SUNDAY = ("2026-12-06", "2026-12-06")
MONDAY_BEFORE = "2026-11-30"


@pytest.mark.parametrize(
    "text",
    [
        "On Sunday we lost the blue glove at the lake.",
        "Standup at ten. On Sunday the pond was frozen; slept badly.",
        "Am Sonntag war Opa da.",
        "Am Sonntag hat Opa Kuchen gebracht.",
        "Le dimanche était calme.",
        "El domingo trabajamos en el huerto.",
        "Domenica siamo andati al lago.",
        "В воскресенье мы были у озера.",
        "周日我们去了湖边。明天开会",
        "日曜日は家で映画を見た。",
        "일요일에 호수에 갔다.",
    ],
)
def test_what_was_on_a_weekday_just_gone_by_is_none_of_the_coming_one(text: str) -> None:
    assert not DayNames((SUNDAY,), coming=True)(text, MONDAY_BEFORE)


@pytest.mark.parametrize(
    "text",
    [
        "On Sunday Tom has a recital.",
        "Sunday: market",
        "Am Sonntag kommt Oma. Gestern war es kalt.",
        "Booked the hall for Sunday.",
        "Moved the walk to the Sunday after",
        "Wir haben das Treffen auf Sonntag verlegt.",
        "日曜日に映画の予定。昨日は寒かった。",
        "On Sunday we lost the glove. Sunday: market",
    ],
)
def test_what_a_monday_says_of_the_coming_sunday_names_it(text: str) -> None:
    assert DayNames((SUNDAY,), coming=True)(text, MONDAY_BEFORE)


def test_a_verb_of_the_past_tells_nothing_of_a_weekday_longer_gone_by() -> None:
    named = DayNames((SUNDAY,), coming=True)
    assert named("We met to plan Sunday", "2026-12-03")
    assert not named("We met on Sunday", "2026-12-02")


def named_on(day: str, text: str) -> bool:
    in_year, in_any = DayNames(((day, day),))(text, None), DayNames(((day[4:],) * 2,))(text, None)
    week = (date.fromisoformat(day) - timedelta(3)).isoformat(), day
    month = day[:-2] + "01", day
    assert in_any or not in_year
    assert DayNames((week,))(text, None) == in_year
    assert DayNames((month,))(text, None) == in_year
    return in_year


@pytest.mark.parametrize(
    ("day", "text"),
    [
        ("2026-12-18", "Holiday party: 12/18 at 6 pm."),
        ("2026-12-18", "budget freeze 12/18/2026"),
        ("2026-12-31", "pay by 31/12."),
        ("2026-12-20", "entry closes 20/12"),
        ("2026-04-28", "renewal: 28/04."),
        ("2026-04-28", "invoice run 28/4"),
        ("2026-04-28", "(04/28) taxes"),
        ("2026-04-28", "taxes due 4/28"),
        ("2026-04-28", "taxes 4/28/2026"),
        ("2026-12-10", "หมอฟัน: วันที่ 10 ธันวาคม 2569 เวลา 14.00 น."),
        ("2026-12-10", "วันที่ 10 ธันวาคม พ.ศ. 2569"),
        ("2026-12-10", "วันที่ ๑๐ ธันวาคม ๒๕๖๙"),
        ("2026-12-10", "10 ธันวาคม 2026"),
        ("2026-12-10", "ประชุมทีม10 ธันวาคม"),
        ("2026-12-05", "จ่ายค่าเช่า 5 ธ.ค. 69"),
        ("2026-12-05", "5 ธ.ค. ประชุม"),
    ],
)
def test_days_by_a_slash_and_in_thai(day: str, text: str) -> None:
    assert named_on(day, text)


@pytest.mark.parametrize(
    ("day", "text"),
    [
        ("2026-12-10", "12/10"),  # or 12 October
        ("2026-10-12", "party on 12/10"),
        ("2026-07-24", "the 24/7 phone is with Bo"),
        ("2026-11-28", "11/28 of the tests pass"),
        ("2026-03-20", "done: 3/20"),
        ("2026-01-16", 'a 1/16" pipe'),
        ("2026-12-18", "see src/12/18"),
        ("2026-12-18", "2/12/18"),
        ("2026-12-18", "112/18"),
        ("2026-12-18", "12/180"),
        ("2026-12-18", "12/18/2025"),
        ("2026-04-28", "4/28/2025"),
        ("2026-12-10", "วันที่ 10 ธันวาคม 2568"),
        ("2026-12-10", "10 ธันวาคม พ.ศ. ๒๕๖๘"),
        ("2026-12-10", "110 ธันวาคม"),
        ("2026-12-10", "10 พฤศจิกายน"),
    ],
)
def test_other_numbers_beside_a_slash_and_other_days_in_thai_are_none(day: str, text: str) -> None:
    assert not DayNames(((day, day),))(text, None)


def test_a_thai_year_is_seen_in_a_log_of_another_one() -> None:
    named = DayNames((("2026-12-10",) * 2,))
    assert named("10 ธันวาคม 2569", "2025-01-03")
    assert not named("10 ธันวาคม", "2025-01-03")
