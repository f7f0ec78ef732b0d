from __future__ import annotations

from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace.text.days import named_days
from commonplace.text.query import may_name_days

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
    "am 3. Mai 2024": ("2024-05-03", "2024-05-03"),
    "le 14 juillet": ("-07-14", "-07-14"),
    "3 de mayo de 2023": ("2023-05-03", "2023-05-03"),
    "2023\u5e745\u67083\u65e5": ("2023-05-03", "2023-05-03"),
    "5\u67083\u65e5\u306e\u4f1a\u8b70": ("-05-03", "-05-03"),
    "2023\ub144 5\uc6d4 3\uc77c": ("2023-05-03", "2023-05-03"),
    "last week's meeting": ("2026-11-16", "2026-11-22"),
    "what did I do yesterday": ("2026-11-22", "2026-11-22"),
    "who called 3 days ago": ("2026-11-20", "2026-11-20"),
    "last Tuesday": ("2026-11-17", "2026-11-17"),
    "\u4e0a\u5468\u505a\u4e86\u4ec0\u4e48": ("2026-11-16", "2026-11-22"),
    "\u5148\u9031\u306e\u4f1a\u8b70": ("2026-11-16", "2026-11-22"),
    "\uc9c0\ub09c\uc8fc \ud68c\uc758": ("2026-11-16", "2026-11-22"),
}


@pytest.mark.parametrize("text", NAMED)
def test_a_time_is_read_out_of_a_question(text: str) -> None:
    assert may_name_days(text)
    assert named_days(text, lambda: TODAY) == (NAMED[text],)


@pytest.mark.parametrize(
    "text",
    ["may I go", "march on", "version 3.14.2", "32 May 2023", "2023-13-01", "port 8080", "a week"],
)
def test_what_names_no_time_is_left_alone(text: str) -> None:
    assert named_days(text, lambda: TODAY) == ()


@given(st.text() | st.text("0123456789-may \u5e74\u6708\u65e5\u5468"))
@settings(max_examples=100)
@example("30 feb 2023")
def test_any_text_is_read_without_an_error(text: str) -> None:
    for first, last in named_days(text, lambda: TODAY):
        assert first <= last
        assert may_name_days(text)
