from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.core.text.times import named_days

from commonplace.text.dates import RELATIVE, days_of
from commonplace.text.days import days_of_times, is_only_a_time, times_of
from commonplace.text.time_hints import may_be_seen_from_today, may_name_days

if TYPE_CHECKING:
    from commonplace.text.day_spans import Days

TODAY = date(2026, 11, 23)

NAMED = {
    "what happened on 2023-05-03?": ("2023-05-03", "2023-05-03"),
    "the report of 2023-05": ("2023-05-01", "2023-05-31"),
    "on 3 May 2023": ("2023-05-03", "2023-05-03"),
    "the 3rd of May, 2023": ("2023-05-03", "2023-05-03"),
    "May 3, 2023": ("2023-05-03", "2023-05-03"),
    "pets, as of December 2023": ("2023-12-01", "2023-12-31"),
    "a parade in August?": ("-08-01", "-08-31"),
    "what did we do in May": ("-05-01", "-05-31"),
    "what was due on 30.09.2026?": ("2026-09-30", "2026-09-30"),
    "30. 9. 2026": ("2026-09-30", "2026-09-30"),
    "the log of 2026/09/30": ("2026-09-30", "2026-09-30"),
    "am 3. Mai 2024": ("2024-05-03", "2024-05-03"),
    "le 14 juillet": ("-07-14", "-07-14"),
    "the invoice of March 5": ("-03-05", "-03-05"),
    "3 de mayo de 2023": ("2023-05-03", "2023-05-03"),
    "2023\u5e745\u67083\u65e5": ("2023-05-03", "2023-05-03"),
    "5\u67083\u65e5\u306e\u4f1a\u8b70": ("-05-03", "-05-03"),
    "2023\ub144 5\uc6d4 3\uc77c": ("2023-05-03", "2023-05-03"),
    "5 พฤศจิกายน": ("-11-05", "-11-05"),
    "5 พฤศจิกายน 2569": ("2026-11-05", "2026-11-05"),
    "5 พฤศจิกายน พ.ศ. 2569": ("2026-11-05", "2026-11-05"),
    "5 พฤศจิกายน 2026": ("2026-11-05", "2026-11-05"),
    "5 พ.ย.": ("-11-05", "-11-05"),
    "เกิดอะไรขึ้นวันที่ 5 พ.ย. 2569": ("2026-11-05", "2026-11-05"),
    "ประชุมวันที่5พ.ย.2569": ("2026-11-05", "2026-11-05"),
    "29 ก.พ. 2567": ("2024-02-29", "2024-02-29"),
    "ก่อน5 พ.ย.": ("-11-05", "-11-05"),
    "รายงานเดือนกุมภาพันธ์ 2569": ("2026-02-01", "2026-02-28"),
    "ทำอะไรในเดือนพฤศจิกายน": ("-11-01", "-11-30"),
    "last week's meeting": ("2026-11-16", "2026-11-22"),
    "what did I do yesterday": ("2026-11-22", "2026-11-22"),
    "who called 3 days ago": ("2026-11-20", "2026-11-20"),
    "last Tuesday": ("2026-11-17", "2026-11-17"),
    "\u4e0a\u5468\u505a\u4e86\u4ec0\u4e48": ("2026-11-16", "2026-11-22"),
    "\u5148\u9031\u306e\u4f1a\u8b70": ("2026-11-16", "2026-11-22"),
    "\uc9c0\ub09c\uc8fc \ud68c\uc758": ("2026-11-16", "2026-11-22"),
}


# Days ago: the first and the last day that a phrase may stand for, whatever day it is.
SEEN_FROM_TODAY = {
    (0, 0): "today, this morning, heute, aujourd'hui, hoy, oggi, hoje, сегодня, 今天, 今朝, 오늘",
    (
        1,
        1,
    ): "yesterday, last night, gestern, d'hier, ayer, anoche, ieri, ontem, вчера, 昨晚, 昨夜, 어제",
    (2, 2): (
        "vorgestern, avant-hier, anteayer, l'altro ieri, antes de ontem, позавчера, 前天, 一昨日, "
        "이틀 전"
    ),
    (3, 3): (
        "three days ago, vor drei Tagen, il y a trois jours, hace tres días, tre giorni fa, "
        "há 3 dias, 3 дня назад, 三天前, 三日前, 3일 전"
    ),
    (12, 12): "12 days ago, 十二天前",
    (-2, -2): "the day after tomorrow, übermorgen, pasado mañana, depois de amanhã, あさって",
    (13, 1): (
        "la última semana, прошлая неделя, a semana passada, "
        "last week, letzte Woche, vorige Woche, la semaine dernière, la semana pasada, "
        "la settimana scorsa, на прошлой неделе, 上周, 先週, 지난주"
    ),
    (7, 1): "last Friday, letzten Freitag, lundi dernier, el lunes pasado, lunedì scorso",
    (6, 0): "on Monday, am Montag, el lunes, 周一, 金曜日に, 이번 주 월요일",
    (12, 3): "上周五, 先週の金曜日, 지난주 금요일",
    (8, 1): "last weekend, letztes Wochenende, le week-end dernier, 上周末, el finde pasado, "
    "в прошлые выходные",
    (17, 11): "two weeks ago, vor 2 Wochen, hace dos semanas, 两周前, 2주 전",
    (14, 0): "in the past two weeks, in den letzten zwei Wochen, 最近两周",
    (3, 0): "in the last 3 days, in den letzten 3 Tagen, los últimos 3 días, 过去三天",
    (61, 1): "last month, letzten Monat, le mois dernier, el mes pasado, 上个月, 先月",
    (30, -30): "this month, este mes, 이달",
    (0, -62): "next month, mês que vem, 내달",
    (184, 1): "last quarter, 前四半期, 지난 분기, в прошлом квартале",
    (20, 6): "vorletzte Woche, semana retrasada, на позапрошлой неделе",
    (7, 0): "за последнюю неделю",
    (6, -6): (
        "this week, diese Woche, cette semaine, esta semana, nesta semana, 本周, 今週, "
        "이번 주, 금주"
    ),
    (-1, -13): "next week, nächste Woche, la semaine prochaine, 下周, 来週, 다음 주",
}
PHRASES = [
    (phrase, window)
    for window, phrases in SEEN_FROM_TODAY.items()
    for phrase in phrases.split(", ")
]


@pytest.mark.parametrize(("phrase", "window"), PHRASES, ids=[phrase for phrase, _ in PHRASES])
@given(today=st.dates(date(1990, 1, 1), date(2100, 1, 1)))
@settings(max_examples=25)
@pytest.mark.slow
def test_a_time_seen_from_today_stands_for_no_other_days(
    phrase: str, window: tuple[int, int], today: date
) -> None:
    if phrase == "이번 주 월요일":
        window = 6, -6
    for text in (phrase, f"xyzzy {phrase} plugh", f"Xyzzy, {phrase}?"):
        assert may_name_days(text)
        assert may_be_seen_from_today(text)
        ((first, last),) = named_days(text, lambda: today)
        assert first <= last
        assert today - timedelta(window[0]) <= date.fromisoformat(first)
        assert date.fromisoformat(last) <= today - timedelta(window[1])


@pytest.mark.parametrize("pattern", [one for one in RELATIVE if re.fullmatch(r"[\w-]+", one)])
def test_every_word_of_the_tables_is_understood_in_a_sentence(pattern: str) -> None:
    phrase = pattern.replace("-", " ")
    assert may_name_days(phrase)
    assert may_be_seen_from_today(phrase)
    assert len(named_days(f"xyzzy {phrase} plugh", lambda: TODAY)) == 1
    assert days_of(phrase, TODAY) is not None


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("Wednesday, 2 September 2026", True),
        ("Wed 2026-09-02", True),
        ("Mittwoch, den 2. September 2026", True),
        ("mercredi 2 septembre 2026", True),
        ("среда, 2 сентября 2026", True),
        ("2026年9月2日（水）", True),
        ("2026년 9월 2일 수요일", True),
        ("The boat show, 2 September 2026", False),
        ("Wednesday", False),
        ("Notes of the harbour", False),
    ],
)
def test_a_text_may_be_nothing_but_a_date(text: str, only: bool) -> None:
    assert is_only_a_time(text) == only


def test_since_a_day_is_until_today() -> None:
    assert named_days("since Friday", lambda: TODAY) == (("2026-11-20", "2026-11-23"),)
    assert named_days("since last week", lambda: TODAY) == (("2026-11-16", "2026-11-23"),)


@pytest.mark.parametrize(
    "text", ["31 พ.ย. 2569", "0 พฤศจิกายน", "version 5.พ", "พ.ย.", "บริษัท ก.พ. จำกัด"]
)
def test_what_is_no_day_in_thai(text: str) -> None:
    assert named_days(text, lambda: TODAY) == ()


@pytest.mark.parametrize("text", ["im März", "en mars", "en marzo", "в марте"])
def test_months_of_other_languages_are_understood(text: str) -> None:
    assert named_days(text, lambda: TODAY) == (("-03-01", "-03-31"),)


@pytest.mark.parametrize("text", ["in Q3", "Q3 2026", "2026-Q3"])
def test_quarters_are_understood(text: str) -> None:
    year = "2026" if "2026" in text else ""
    assert named_days(text, lambda: TODAY) == ((f"{year}-07-01", f"{year}-09-30"),)


@pytest.mark.parametrize(
    "text",
    [
        "what was the port in 2024?",
        "in 2024 was it another one",
        "during 2024, and after",
        "welcher Port galt im Jahr 2024?",
        "¿qué pasó en 2024?",
        "nel 2024",
        "2024年的端口",
        "2024 년에",
    ],
)
def test_a_year_is_one_behind_a_word_for_within(text: str) -> None:
    assert may_name_days(text)
    assert named_days(text, lambda: TODAY) == (("2024-01-01", "2024-12-31"),)


@pytest.mark.parametrize(
    "text",
    ["roadmap 2024", "in 2000 steps", "in 2048 bytes", "in 2024.1", "in 1920x1080", "in 2024/x7"],
)
def test_what_is_no_year(text: str) -> None:
    assert named_days(text, lambda: TODAY) == ()


@pytest.mark.parametrize("text", NAMED)
def test_a_time_is_read_out_of_a_question(text: str) -> None:
    assert may_name_days(text)
    assert named_days(text, lambda: TODAY) == (NAMED[text],)


@pytest.mark.parametrize(
    "text",
    [
        *("may I go", "march on", "version 3.14.2", "32 May 2023", "2023-13-01", "port 8080"),
        *("a week", "August Meyer called", "sept nains", "the step 3 may fail", "5 Mars bars"),
        *("this may break", "a march for freedom", "the last may be wrong", "mayo sandwich"),
        *("last-week.md", "--last-week", "reports/today/x", "once upon a Monday", "一周一次"),
        *("was ist hier passiert", "Guten Morgen", "por la mañana", "every Monday", "每周一例会"),
        *("1.30.09.2026", "notes/2026/09/30", "30.09.2026.1", "31.02.2026", "9/30/2026"),
    ],
)
def test_what_names_no_time_is_left_alone(text: str) -> None:
    assert named_days(text, lambda: TODAY) == ()


@given(st.text() | st.text("0123456789-may \u5e74\u6708\u65e5\u5468"))
@settings(max_examples=100)
@example("30 feb 2023")
@example("1.2.2023")
def test_any_text_is_read_without_an_error(text: str) -> None:
    for first, last in named_days(text, lambda: TODAY):
        assert first <= last
        assert may_name_days(text)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("what did we deploy on Tuesday last week", ("2026-11-17", "2026-11-17")),
        ("was war letzte Woche am Dienstag", ("2026-11-17", "2026-11-17")),
        ("last year in March", ("2025-03-01", "2025-03-31")),
        ("in 2024, the trip in May", ("2024-05-01", "2024-05-31")),
    ],
)
def test_a_weekday_and_a_week_or_a_month_and_a_year_are_one_time(text: str, days: Days) -> None:
    assert named_days(text, lambda: TODAY) == (days,)


def test_other_times_stay_two() -> None:
    assert len(named_days("yesterday and last week", lambda: TODAY)) == 2
    assert len(named_days("in May and in June", lambda: TODAY)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "what beans are in spring boot",
        "no fall through in the switch",
        "which wheels run on 3.11. and 3.12.",
        "which inverter has 10 kw 48 V",
        "3天前端任务",
        "三天后端",
    ],
)
def test_other_meanings_of_such_words_are_no_times(text: str) -> None:
    assert named_days(text, lambda: TODAY) == ()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("in spring", ("2026-03-01", "2026-05-31")),
        ("in the fall", ("2026-09-01", "2026-11-30")),
        ("last autumn", ("2025-09-01", "2025-11-30")),
        ("prices in autumn 2024", ("2024-09-01", "2024-11-30")),
        ("in the summer of 2024", ("2024-06-01", "2024-08-31")),
        ("in the fall of 2024", ("2024-09-01", "2024-11-30")),
        ("in spring 2024", ("2024-03-01", "2024-05-31")),
        ("im Herbst 2024", ("2024-09-01", "2024-11-30")),
        ("between March and May 2025", ("2025-03-01", "2025-05-31")),
        ("what happened in february last year", ("2025-02-01", "2025-02-28")),
        ("January-March 2026", ("2026-01-01", "2026-03-31")),
        ("November to January 2026", ("2025-11-01", "2026-01-31")),
        ("Mai bis Juli 2025", ("2025-05-01", "2025-07-31")),
        ("spring 2019 roadmap", ("2019-03-01", "2019-05-31")),
        ("winter 2025", ("2025-12-01", "2026-02-28")),
        ("im Sommer", ("2026-06-01", "2026-08-31")),
        ("el verano pasado", ("2026-06-01", "2026-08-31")),
        ("KW 48", ("2026-11-23", "2026-11-29")),
        ("kalenderwoche 53", ("2026-12-28", "2027-01-03")),
    ],
)
def test_seasons_numbered_weeks_and_coming_times(text: str, days: Days) -> None:
    assert may_name_days(text)
    assert named_days(text, lambda: TODAY) == (days,)


@pytest.mark.parametrize("text", ["tokens expire in 30 days", "upcoming: a logo", "两周后"])
def test_what_only_questions_name_is_no_time_in_a_text(text: str) -> None:
    assert named_days(text, lambda: TODAY) == ()


def test_long_texts_are_read_in_bounded_time() -> None:
    assert len(named_days("may 3 " * 2_000, lambda: TODAY)) == 1


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("what is on 12/18?", ("-12-18", "-12-18")),
        ("what's due 18/12", ("-12-18", "-12-18")),
        ("what is on 4/15/2026", ("2026-04-15", "2026-04-15")),
        ("28/04", ("-04-28", "-04-28")),
        ("วันที่ ๓๑ มีนาคม", ("-03-31", "-03-31")),
        ("วันที่ ๓๑ มีนาคม ๒๕๖๙", ("2026-03-31", "2026-03-31")),
        ("เดือนหน้ามีอะไร", ("2026-12-01", "2026-12-31")),
        ("ปีหน้ามีอะไร", ("2027-01-01", "2027-12-31")),
        ("มะรืนนี้มีอะไร", ("2026-11-27", "2026-11-27")),
    ],
)
def test_days_by_a_slash_and_in_thai_are_read_in_queries(query: str, days: Days) -> None:
    assert may_name_days(query)
    assert days_of_times(times_of(query, lambda: date(2026, 11, 25), asked=True)) == (days,)


@pytest.mark.parametrize(
    "query",
    [
        "who has the 24/7 phone",
        "what is on 12/10",
        "src/12/18",
        "12/18/19",
        "1.12/18",
        "30/31 tests",
    ],
)
def test_other_numbers_beside_a_slash_are_no_days(query: str) -> None:
    assert not times_of(query, lambda: date(2026, 11, 25), asked=True)
