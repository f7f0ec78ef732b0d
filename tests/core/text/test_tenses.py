"""Which queries ask for what is next or for a habit, and which days ahead a text names."""

from __future__ import annotations

from datetime import date

import pytest

from commonplace.text.tenses import asks_for_habit, dates_ahead, is_habit_of_a_weekday, next_asked
from commonplace.text.time_hints import may_name_days

TODAY = date(2026, 12, 2)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("when is the next dentist appointment?", "next"),
        ("Next choir rehearsal?", "Next"),
        ("what time is the next train", "next"),
        ("when is my next review scheduled", "next"),
        ("Wann ist der nächste Elternabend", "nächste"),
        ("quand est le prochain rendez-vous", "prochain"),
        ("¿cuándo es la próxima cita?", "próxima"),
        ("cuando es la proxima cita", "proxima"),
        ("quando è la prossima visita", "prossima"),
        ("quando é a próxima reunião", "próxima"),
        ("когда следующий визит", "следующий"),
        ("下次会议是什么时候", "下次"),
        ("次の会議はいつ", "次の"),
        ("다음 회의는 언제", "다음"),
        ("นัดหมอครั้งต่อไปเมื่อไหร่", "ครั้งต่อไป"),
        ("ประชุมคราวหน้าวันไหน", "คราวหน้า"),
    ],
)
def test_queries_that_ask_when_something_is_next(query: str, word: str) -> None:
    assert may_name_days(query)
    assert (span := next_asked(query)) is not None
    assert query[slice(*span)] == word


@pytest.mark.parametrize(
    "query",
    [
        "what is the next step",
        "who is next in line",
        "when did we plan the next release",
        "when was the next meeting announced",
        "how does next work when offline",
        "next.js config when building",
        "when do I use next-auth",
        "when is the meeting",
        "wer ist als nächstes dran",
        "下一步是什么",
        "次のステップは何",
        "minutes: when is the next one",
    ],
)
def test_queries_that_do_not(query: str) -> None:
    assert next_asked(query) is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Dentist: 14 January, 8:15", date(2027, 1, 14)),
        ("Dentist on January 14th", date(2027, 1, 14)),
        ("on Friday 4 December at 8", date(2026, 12, 4)),
        ("2027-01-14 dentist", date(2027, 1, 14)),
        ("Friseur am 11.12. um 17 Uhr", date(2026, 12, 11)),
        ("Umzug: 01.04.2027", date(2027, 4, 1)),
        ("le 15 décembre à 9h30", date(2026, 12, 15)),
        ("17 de diciembre", date(2026, 12, 17)),
        ("22 декабря", date(2026, 12, 22)),
        ("12月9日", date(2026, 12, 9)),
        ("2027年1月8日", date(2027, 1, 8)),
        ("12월 16일", date(2026, 12, 16)),
        ("rent 2 December", TODAY),
        ("หมอฟัน 14 มกราคม เก้าโมง", date(2027, 1, 14)),
        ("หมอฟัน 14 มกราคม 2570", date(2027, 1, 14)),
        ("หมอฟัน 14 มกราคม พ.ศ. 2570 เวลา 9 โมง", date(2027, 1, 14)),
        ("ประชุม 9 ธ.ค. 69", date(2026, 12, 9)),
        ("ประชุม 9 ธ.ค. 10:30 น.", date(2026, 12, 9)),
        ("จ่าย ๕ ธ.ค. ๒๕๖๙", date(2026, 12, 5)),
        ("สัมมนา 3 มี.ค. 2027", date(2027, 3, 3)),
        ("หมอ 14/01/2570", date(2027, 1, 14)),
        ("Dentist: 14/01/2027, 8:15", date(2027, 1, 14)),
        ("Dentist: 1/14/2027 at 8", date(2027, 1, 14)),
        ("rent 05/12/2026", date(2026, 12, 5)),
        ("gas man 14/1/27", date(2027, 1, 14)),
        ("Chor 18/12 um sechs", date(2026, 12, 18)),
        ("choir (12/18) at six", date(2026, 12, 18)),
        ("choir on 1/18.", date(2027, 1, 18)),
        ("rent 05/12", date(2026, 12, 5)),
    ],
)
def test_dates_ahead_in_any_form(text: str, named: date) -> None:
    assert list(dates_ahead(text, None, TODAY)) == [named]


@pytest.mark.parametrize(
    "text",
    [
        "Dentist for Greta was on 12 October",
        "1 December",
        "14 January 2026",
        "2026-11-30",
        "12.11.",
        "30 February 2027",
        "version 3.12.4",
        "room 3, 12 people, at 8:15",
        "11月30日",
        "99 December",
        "14 มกราคม 2569",
        "14 ม.ค. 68",
        "9 พฤศจิกายน",
        "14/01/2026",
        "12/05/2026",
        "14/01/25",
        "18/11",
        "5/12",
        "done: 3/18",
        "12/18 of the tests pass",
        "12/18 %",
        "24/7",
        "31/02/2027",
        "notes/12/18.md",
    ],
)
def test_days_gone_by_and_other_numbers_are_none(text: str) -> None:
    assert not list(dates_ahead(text, None, TODAY))


def test_a_date_without_a_year_is_that_nearest_to_the_day_of_its_text() -> None:
    assert not list(dates_ahead("Dentist on 14 January", "2025-12-20", TODAY))
    assert list(dates_ahead("Dentist on 14 January", "2026-11-20", TODAY)) == [date(2027, 1, 14)]


@pytest.mark.parametrize(
    "query",
    [
        "what do I usually do on Monday",
        "what do we do on Mondays?",
        "what is on every Wednesday",
        "was machen wir immer am Freitag",
        "was bestellen wir freitags",
        "qu'est-ce que je fais d'habitude le mercredi",
        "¿qué hago los domingos?",
        "cosa facciamo di solito la domenica",
        "что мы обычно делаем в субботу",
        "周六通常做什么",
        "毎週火曜日は何をする",
        "금요일에는 보통 뭐 해",
    ],
)
def test_queries_for_a_habit(query: str) -> None:
    assert may_name_days(query)
    assert asks_for_habit(query)
    assert is_habit_of_a_weekday(query)


@pytest.mark.parametrize(
    "query",
    [
        "what are we doing on Monday",
        "what did every team report on Monday",
        "what did we do on Mondays",
        "was machen wir am Freitag",
        "周六有什么安排",
    ],
)
def test_queries_for_no_habit(query: str) -> None:
    assert not asks_for_habit(query)
