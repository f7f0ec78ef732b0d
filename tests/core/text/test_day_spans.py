"""What stands about a time narrows or widens it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from tests.core.text.times import named_days

from commonplace.text.days import times_of
from commonplace.text.time_hints import may_name_days

if TYPE_CHECKING:
    from commonplace.text.day_spans import Days

TODAY = date(2026, 11, 27)  # a Friday


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("between 3 and 9 August", ("-08-03", "-08-09")),
        ("from the 3rd to the 9th of August 2026", ("2026-08-03", "2026-08-09")),
        ("3-9 August 2026", ("2026-08-03", "2026-08-09")),
        ("vom 3. bis 9. November", ("-11-03", "-11-09")),
        ("Nov 3 to 9", ("-11-03", "-11-09")),
        ("mid-October", ("-10-11", "-10-20")),
        ("mid-may", ("-05-11", "-05-20")),
        ("mi-mai", ("-05-11", "-05-20")),
        ("at the beginning of november", ("-11-01", "-11-10")),
        ("late February 2026", ("2026-02-21", "2026-02-28")),
        ("Anfang November", ("-11-01", "-11-10")),
        ("a finales de abril", ("-04-21", "-04-30")),
        ("in the first week of November", ("-11-01", "-11-07")),
        ("in the last week of October", ("-10-25", "-10-31")),
        ("last week Tuesday", ("2026-11-17", "2026-11-17")),
        ("Dienstag letzter Woche", ("2026-11-17", "2026-11-17")),
        ("which keys did we rotate last week on Friday", ("2026-11-20", "2026-11-20")),
        ("last March", ("2026-03-01", "2026-03-31")),
        ("last November", ("2025-11-01", "2025-11-30")),
        ("next March", ("2027-03-01", "2027-03-31")),
        ("March last year", ("2025-03-01", "2025-03-31")),
        ("what did we plan in early 2024", ("2024-01-01", "2024-04-30")),
        ("mid-2024", ("2024-05-01", "2024-08-31")),
        ("Ende 2025", ("2025-09-01", "2025-12-31")),
        ("from Monday to Thursday", ("2026-11-23", "2026-11-26")),
        ("von Montag bis Mittwoch", ("2026-11-23", "2026-11-25")),
        ("last Tuesday until Sunday", ("2026-11-24", "2026-11-29")),
        ("du lundi au jeudi", ("2026-11-23", "2026-11-26")),
        ("de lunes a viernes", ("2026-11-23", "2026-11-27")),
        ("from Monday to Friday last week", ("2026-11-16", "2026-11-20")),
        ("(late 2024)", ("2024-09-01", "2024-12-31")),
        ("early in 2024", ("2024-01-01", "2024-04-30")),
        ("in\n2024", ("2024-01-01", "2024-12-31")),
        ("on Tuesday, 3 March", ("-03-03", "-03-03")),
        ("am Dienstag, den 3. März 2026", ("2026-03-03", "2026-03-03")),
        ("3月3日 火曜日", ("-03-03", "-03-03")),
        ("da lunedì a venerdì", ("2026-11-23", "2026-11-27")),
        ("2週間前の火曜日", ("2026-11-10", "2026-11-10")),
        ("today in three weeks", ("2026-12-18", "2026-12-18")),
        ("am Dienstag in zwei Wochen", ("2026-12-15", "2026-12-15")),
        ("last quarter of 2025", ("2025-10-01", "2025-12-31")),
        ("2024年初始化", ("2024-01-01", "2024-12-31")),
        ("2006年底特律", ("2006-01-01", "2006-12-31")),
    ],
)
def test_a_time_is_as_long_as_what_stands_about_it_says(text: str, days: Days) -> None:
    assert may_name_days(text)
    assert named_days(text, lambda: TODAY) == (days,)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("between 9 and 3 August", ("-08-03", "-08-03")),
        ("tickets june 28 to 31", ("-06-28", "-06-28")),
        ("february 25 to 30", ("-02-25", "-02-25")),
        ("0 to 5 may", ("-05-05", "-05-05")),
        ("version 3 to 2026-08-09", ("2026-08-09", "2026-08-09")),
        ("the week of 3 August", ("-08-03", "-08-03")),
        ("the end of the sprint in October", ("-10-01", "-10-31")),
        ("Dec 2 at 14:00", ("-12-02", "-12-02")),
        ("in 2025", ("2025-01-01", "2025-12-31")),
        ("from Monday to the end", ("2026-11-23", "2026-11-23")),
        ("meet on Sunday a friday deploy", ("2026-11-22", "2026-11-22")),
        ("Nov 3 - 10:30", ("-11-03", "-11-03")),
    ],
)
def test_other_words_about_it_change_nothing(text: str, days: Days) -> None:
    assert named_days(text, lambda: TODAY) == (days,)


@pytest.mark.parametrize(
    "text",
    [
        "on the 3rd attempt",
        "error on the 2nd in the list",
        "on the 1st, 2nd and 3rd floor",
        "late 2000s models",
        "in the 1990s",
        "I am fine 2024",
    ],
)
def test_numbers_of_other_things_are_no_time(text: str) -> None:
    assert times_of(text, lambda: TODAY, asked=True) == []
