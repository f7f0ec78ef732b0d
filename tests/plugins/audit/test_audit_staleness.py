"""Open tasks and deadlines that have passed, and words for days, in several languages."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest import mock

import pytest

from commonplace.plugin import times_of
from commonplace_audit import staleness

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_audit.auditing import Audit

PASSED = [
    "- [ ] Pay tax 2026-09-30",
    "- [ ] Pay tax by 30.09.2026",
    "- [ ] Pay tax 2026/09/30",
    "- [ ] Pay tax by September 30, 2026",
    "- [ ] Pay tax 📅 2026-09-30 ➕ 2026-10-01",
    "- [ ] Steuer bis 2026-09-30 abgeben",
    "- [ ] Steuer bis zum 30. September 2026 abgeben",
    "- [ ] Payer avant le 30 septembre 2026",
    "- [ ] Pagar antes del 30 de septiembre de 2026",
    "- [ ] Налоги до 30 сентября 2026",
    "- [ ] 申报税务 截止 2026-09-30",
    "- [ ] 2026年9月30日までに申告する",
    "- [ ] 세금 신고 2026년 9월 30일까지",
    "1. [ ] since 2026-08-01: pay by 2026-09-30",
    "TODO pay tax by 2026-09-30",
    "Submit the tax return by 2026-09-30.",
    "Tom has to be paid by 30 September 2026.",
    "The report must be submitted before 2026-09-30.",
    "The lease runs until September 2026.",
    "The lease was signed in May and runs until 2026-09-30.",
    "The lease was signed in May, valid until 2026-09-30.",
    "The lease was extended until 2026-09-30.",
    "Tom was sure that the shop is open until 2026-09-30.",
    "We have until 2026-09-30 to decide.",
    "The room is reserved until 2026-09-30.",
]
NOT_PASSED = [
    "- [x] Steuer bis 2026-09-30 abgeben",
    "- [ ] ~~Steuer bis 2026-09-30~~",
    "- [ ] Steuer bis 2026-10-30 abgeben",
    "- [ ] Pay tax 2026-10-01",
    "- [ ] Pay tax from 2026-09-01 to 2026-10-15",
    "- [ ] Fix the leak (open since 2026-08-01)",
    "- [ ] Fix the leak ➕ 2026-08-01",
    "- [ ] Antwort auf den Brief vom 30.09.2026",
    "- [ ] Read [the log](memory/2026-09-01.md) and [[2026-09-02]]",
    "- [ ] Read logs/2026-09-01/a.txt (Source: memory/2026-09-01.md#L3)",
    "- [ ] Rename `report-of 2026-09-01`",
    "- [ ] Pay tax on 30 September",
    "- [ ] Write the report of Q2 2026",
    "The house was built by 2020-05-01.",
    "All forms had been filed by 2026-09-01, and we left.",
    "Mia moved here on 2026-09-01.",
    "The shop was open until 2024-01-01, then we moved.",
    "The offer was valid until 2024-01-01.",
    "Mia lived in Bern till 2024-01-01.",
    "Das Treffen am 2026-09-01 war gut, bis 2026-09-02.",
]


def stale(audited: Callable[..., Audit], line: str, path: str = "memory/tax.md") -> list[str]:
    found = audited({path: f"# Note\n\n{line}\n"}, "stale").findings
    return [one.text for one in found]


@pytest.mark.parametrize("line", PASSED)
def test_what_was_due_on_a_day_that_has_passed_is_stale(
    audited: Callable[..., Audit], line: str
) -> None:
    (text,) = stale(audited, line)
    assert " of 2026-09-30, which has passed: " in text


@pytest.mark.parametrize("line", NOT_PASSED)
def test_what_is_done_to_come_or_only_mentioned_is_not_stale(
    audited: Callable[..., Audit], line: str
) -> None:
    assert stale(audited, line) == []


@pytest.mark.parametrize(
    ("line", "end"),
    [
        ("- [ ] Call Tom tomorrow", "2026-09-02"),
        ("- [ ] morgen Klempner anrufen", "2026-09-02"),
        ("- [ ] 明天打电话", "2026-09-02"),
        ("- [ ] call the plumber next week", "2026-09-13"),
        ("- [ ] Answer the letter, 2026-09-01", "2026-09-01"),
        ("- [ ] Answer the letter of yesterday", ""),
        ("- [ ] Answer what came on 2026-08-20", ""),
        ("- [ ] Read today's paper", ""),
        ("- Call Tom tomorrow", ""),
        ("Submit the form by 2026-09-05.", ""),
    ],
)
def test_in_a_log_open_tasks_are_due_after_its_day(
    audited: Callable[..., Audit], line: str, end: str
) -> None:
    found = stale(audited, line, "memory/2026-09-01.md")
    assert [f"of {end}," in text for text in found] == ([True] if end else [])


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("Nächste Woche kommt der Klempner.", "Nächste Woche"),
        ("Morgen kommt der Klempner.", "Morgen"),
        ("Le plombier vient demain.", "demain"),
        ("Il est venu hier.", "hier"),
        ("El fontanero viene la próxima semana.", "la próxima semana"),
        ("下周来水管工。", "下周"),
        ("昨日、配管工が来た。", "昨日"),
        ("다음 주에 배관공이 온다.", "다음 주"),
        ("Сантехник придёт завтра.", "завтра"),
        ("The plumber comes next week.", "next week"),
        ("Jeden Morgen trinkt Mia Kaffee, und der Morgen beginnt um 6.", ""),
        ("Hier Schlüssel abgeben.", ""),
        ("Tokens expire in 30 days.", ""),
        ("Upcoming: a new logo.", ""),
        ("Wir heizen heute mit Gas.", ""),
        ("Logs of the last 30 days are kept, and die letzten 7 Tage.", ""),
        ("Am Montag ist Training.", ""),
        ("Diesen Sommer 2026 fahren wir ans Meer.", ""),
    ],
)
def test_words_for_days_mean_nothing_in_a_note_without_a_day(
    audited: Callable[..., Audit], line: str, word: str
) -> None:
    found = stale(audited, line)
    assert [text.split(" means")[0] for text in found] == ([f"“{word}”"] if word else [])


@pytest.mark.parametrize(
    "line",
    [
        "- Deploy freeze: no deploys from Thursday 15:00 until Monday 9:00, and none in 2026-11.",
        "Support answers until Friday.",
        "The night job runs until Sunday morning.",
        "The shop is closed until the 3rd.",
        "The heating is off until October.",
        "Die Sperre gilt, valid until Montag.",
        "- [ ] hand in the form by Monday",
        "- [ ] Formular bis Montag abgeben",
    ],
)
def test_a_day_without_a_week_has_no_end_in_a_note_without_a_day(
    audited: Callable[..., Audit], line: str
) -> None:
    assert stale(audited, line) == []


@pytest.mark.parametrize(
    "text",
    [
        "## History\n- until 2026-04: Mollie alone\n",
        "## Earlier states of the shop\n\n### Payment\n\nIt is open until 2026-04-01.\n",
        "## Geschichte\n\n- valid until 2026-04-01\n",
        "Changelog\n---------\n\n- valid until 2026-04-01\n",
        "## States\n- until 2026-04: Mollie alone\n- 2026-04 to 2026-06: both\n",
        "## States\n* since 2026-04-02: Stripe\n* until 2026-04-01: Mollie\n",
        "The planner: canvas until 2026-04, SVG after that.\n",
        "The planner: canvas until 2026-04, since then SVG.\n",
    ],
)
def test_lists_of_past_states_are_not_stale(audited: Callable[..., Audit], text: str) -> None:
    assert audited({"a.md": f"# Pay\n\n{text}"}, "stale").findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "## History\n\nText.\n\n## Rules\n\n- valid until 2026-04-01\n",
        "## History lessons\n\n- [ ] hand in the essay by 2026-04-01\n",
        "## Rules\n- until 2026-04-01: ask Mia\n- else ask Tom\n",
        "The lease runs until 2026-04-01, then we move.\n",
    ],
)
def test_what_stands_beside_past_states_may_be_stale(
    audited: Callable[..., Audit], text: str
) -> None:
    (finding,) = audited({"a.md": f"# Pay\n\n{text}"}, "stale").findings
    assert " of 2026-04-01, which has passed: " in finding.text
    assert finding.hint.startswith(("if it holds no more: ", "if it is done: "))


@pytest.mark.parametrize(
    "line",
    [
        "When she says later it means this week.",
        "Backups of the last week are always kept.",
        "Every Monday the plan for next week is written.",
        "Jede Woche schreiben wir den Plan für nächste Woche.",
    ],
)
def test_a_rule_may_say_this_week(audited: Callable[..., Audit], line: str) -> None:
    assert stale(audited, line) == []


def test_a_line_without_a_year_is_not_read_for_its_times(
    audited: Callable[..., Audit], monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = mock.Mock(side_effect=times_of)
    monkeypatch.setattr(staleness, "times_of", reads)
    lines = ["Room 12 was painted by the owner.", "The pass is valid until 2020-05-01."]
    found = audited({"MEMORY.md": "# A\n\n" + "\n\n".join(lines) + "\n"}, "stale").findings
    assert [finding.citation for finding in found] == ["MEMORY.md#L5"]
    assert {call.args[0] for call in reads.call_args_list} == {lines[1]}
