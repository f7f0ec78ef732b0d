from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import ConfigError
from commonplace.text.dates import days_of, today_at

TODAY = date(2026, 11, 22)  # a Sunday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026", "2026-01-01", "2026-12-31"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2026-1-3", "2026-01-03", "2026-01-03"),
        ("2026/01/31", "2026-01-31", "2026-01-31"),
        ("9999-12", "9999-12-01", "9999-12-31"),
        ("2026-Q3", "2026-07-01", "2026-09-30"),
        ("q4-2025", "2025-10-01", "2025-12-31"),
        ("Q4", "2026-10-01", "2026-12-31"),
        ("2026-W01", "2025-12-29", "2026-01-04"),
        ("7d", "2026-11-15", "2026-11-15"),
        ("2 weeks ago", "2026-11-08", "2026-11-08"),
        ("3m", "2026-08-22", "2026-08-22"),
        ("1y", "2025-11-22", "2025-11-22"),
        ("today", "2026-11-22", "2026-11-22"),
        ("Yesterday", "2026-11-21", "2026-11-21"),
        ("this week", "2026-11-16", "2026-11-22"),
        ("last_week", "2026-11-09", "2026-11-15"),
        ("last-month", "2026-10-01", "2026-10-31"),
        ("last-year", "2025-01-01", "2025-12-31"),
        ("friday", "2026-11-20", "2026-11-20"),
        ("sunday", "2026-11-22", "2026-11-22"),
        ("last-sunday", "2026-11-15", "2026-11-15"),
        ("november", "2026-11-01", "2026-11-30"),
        ("Dec", "2025-12-01", "2025-12-31"),
        ("sept-2024", "2024-09-01", "2024-09-30"),
        ("\u4e0a\u5468", "2026-11-09", "2026-11-15"),
        ("\u4e0a\u500b\u661f\u671f", "2026-11-09", "2026-11-15"),
        ("\u5148\u9031", "2026-11-09", "2026-11-15"),
        ("\u6628\u5929", "2026-11-21", "2026-11-21"),
        ("\u6628\u65e5", "2026-11-21", "2026-11-21"),
        ("3\u4e2a\u6708\u524d", "2026-08-22", "2026-08-22"),
        ("2026\u5e743\u67085\u65e5", "2026-03-05", "2026-03-05"),
        ("12\u6708", "2025-12-01", "2025-12-31"),
        ("\u53bb\u5e74", "2025-01-01", "2025-12-31"),
        ("\uc5b4\uc81c", "2026-11-21", "2026-11-21"),
        ("\u0e40\u0e21\u0e37\u0e48\u0e2d\u0e27\u0e32\u0e19", "2026-11-21", "2026-11-21"),
    ],
)
def test_what_is_understood(text: str, first: str, last: str) -> None:
    assert days_of(text, TODAY) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    "text",
    ["soon", "", "2026-13", "2026-02-30", "0000", "2026-Q5", "2026-W60", "9999y", "the 3d", "30th"],
)
def test_what_is_not(text: str) -> None:
    assert days_of(text, TODAY) is None


@pytest.mark.parametrize(
    ("texts", "first", "last"),
    [
        ("märz mars marzo março maart марта 3월", "2026-03-01", "2026-03-31"),
        ("mai mayo maggio maio mei мая", "2026-05-01", "2026-05-31"),
        ("oktober octobre octubre ottobre outubro октябрь okt okt.", "2026-10-01", "2026-10-31"),
        ("jänner januar janvier enero januari jän.", "2026-01-01", "2026-01-31"),
        ("feber februar février fév", "2026-02-01", "2026-02-28"),
        ("dezember dez. décembre dezembro dicembre", "2025-12-01", "2025-12-31"),
        ("märz-2024 2024-märz märz_2024 marzo-de-2024", "2024-03-01", "2024-03-31"),
        ("2025년3월 2025년-3월", "2025-03-01", "2025-03-31"),
        ("1.11.2026 01.11.2026 1.-11.-2026 1.11. 01.11.", "2026-11-01", "2026-11-01"),
        ("1.-november 1-nov november-1 1-november-2026 nov-1,-2026", "2026-11-01", "2026-11-01"),
        ("1-de-noviembre 1-de-noviembre-de-2026 1er-novembre", "2026-11-01", "2026-11-01"),
        ("24.12. 24.-Dez. dec-24 24-décembre", "2025-12-24", "2025-12-24"),
        ("heuer heuriges-jahr dieses-jahr", "2026-01-01", "2026-12-31"),
        ("montag lundi lunes lunedì segunda", "2026-11-16", "2026-11-16"),
    ],
)
def test_months_weekdays_and_dates_of_other_languages(texts: str, first: str, last: str) -> None:
    for text in texts.split():
        assert days_of(text, TODAY) == (date.fromisoformat(first), date.fromisoformat(last)), text


@pytest.mark.parametrize(
    "text", ["32.1.", "1.13.2026", "31.2.2026", "0.1.", "1.2.3", "out", "3-out-2025x", "1-12"]
)
def test_what_no_calendar_has_is_no_date(text: str) -> None:
    assert days_of(text, TODAY) is None


def test_the_last_of_a_month_has_no_longer_month_to_go_to() -> None:
    assert days_of("1m", date(2026, 3, 31)) == (date(2026, 2, 28),) * 2


@given(
    st.dates(date(2, 1, 1), date(9990, 1, 1)),
    st.sampled_from(
        ["7d", "last-week", "this-month", "last-month", "q2", "may", "monday", "last-year"]
    ),
)
def test_a_time_in_words_has_begun(today: date, text: str) -> None:
    days = days_of(text, today)
    assert days is not None
    assert days[0] <= today
    assert today - days[0] <= timedelta(731)
    assert days[0] <= days[1]


@given(st.text(max_size=12), st.dates())
def test_any_text_is_understood_or_not(text: str, today: date) -> None:
    days = days_of(text, today)
    assert days is None or days[0] <= days[1]


def test_the_day_is_that_of_the_time_zone() -> None:
    noon = 1_795_348_800.0  # 2026-11-22 12:00 UTC
    assert today_at(noon, "UTC") == TODAY
    assert today_at(noon, "Pacific/Kiritimati") == TODAY + timedelta(1)
    with pytest.raises(ConfigError, match="there is no time zone 'Mars/Olympus'"):
        today_at(noon, "Mars/Olympus")
