"""Which lines are the same fact with a newer value, which are kept already, which contradict."""

from __future__ import annotations

import pytest

from commonplace.plugin import NoteLine, Recalled, facts, line_digest
from commonplace_dream.gates import propose


def test_superseded_lines_headings_and_code_are_no_facts() -> None:
    text = (
        "# The staging port is 1\n~~The staging port is 2~~ (superseded 2026-01-01)\n"
        "```\nport = 8444 here\n```\n> quoted words of someone\n- short\n- The staging port is 3.\n"
    )
    assert [line.number for line in facts("memory/2026-01-01.md", text)] == [8]


def test_what_stands_on_no_trusted_word_is_not_proposed() -> None:
    line = NoteLine("memory/2026-01-01.md", 1, "The staging port is 8444.", "2026-01-01")
    recalls = {line_digest(line.text): Recalled(9, frozenset("ab"), frozenset("cd"))}
    assert len(propose([line], [], recalls, trusted=lambda _: True)) == 1
    assert propose([line], [], recalls, trusted=lambda _: False) == []


def proposed(logs: list[str], *kept: str, recalled: int | None = None) -> list[tuple[str, str]]:
    """What is proposed, and what it replaces; each line of ``logs`` is of a later day."""
    lines = [
        NoteLine(f"memory/2026-09-{day:02}.md", 1, text, f"2026-09-{day:02}")
        for day, text in enumerate(logs, 1)
    ]
    often = lines if recalled is None else lines[recalled : recalled + 1]
    recalls = {
        line_digest(one.text): Recalled(9, frozenset("ab"), frozenset("cd")) for one in often
    }
    notes = facts("MEMORY.md", "\n".join(kept))
    steps = propose(lines, notes, recalls, trusted=lambda _: True)
    return [(step.text, step.replaces.text if step.replaces else "") for step in steps]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The staging port is 8444.", "The staging port is 8450."),
        ("staging port = 8444 for now", "staging port = 8450 for now"),
        ("The staging port: 8444 (TCP)", "The staging port: 8450 (TCP)"),
        ("Staging moved to 12 in the cellar", "Staging moved to 14 in the cellar"),
        ("The ferry leaves at 9:30 daily", "The ferry leaves at 10:30 daily"),
        ("The ports of host 7 are **8444**", "The ports of host 7 are **8450**"),
        ("Degrees in the cellar 12", "Degrees in the cellar 14"),
    ],
)
def test_a_newer_value_is_another_number_in_the_place_of_the_value(older: str, newer: str) -> None:
    assert proposed([older, newer], recalled=0) == [(newer, "")]
    assert proposed([newer], older) == [(newer, older)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Invoice 1001 was paid by Ann", "Invoice 1002 was paid by Ann"),
        ("The port of host 7 is 8444.", "The port of host 8 is 8444."),
        ("The port of host 7 is 8444.", "The port of host 8 is 8450."),
        ("The port is 8444 on the host 7.", "The port is 8444 on the host 8."),
    ],
)
def test_lines_that_differ_in_another_number_are_different_facts(one: str, other: str) -> None:
    assert proposed([one, other], recalled=0) == [(one, "")]
    assert proposed([other], one) == [(other, "")]
    assert sorted(proposed([one, other])) == sorted([(one, ""), (other, "")])


MOVED = "The staging port is 8444, moved with the new proxy."
SINCE = "The staging port is 8450 since the migration to Caddy."


def test_since_when_or_why_a_value_holds_makes_no_other_fact() -> None:
    kept = "The staging port is 8444."
    assert proposed([MOVED, SINCE], kept) == [(SINCE, kept)]
    assert proposed([MOVED, "The staging port is now 8450."], kept)[0][1] == kept
    assert proposed([MOVED], SINCE) == [(MOVED, SINCE)]
    assert proposed([MOVED], kept) == []  # it is kept already
    assert proposed([kept], MOVED) == []
    assert proposed([MOVED], f"- {SINCE} (Source: memory/2026-10-01.md#L1)") == []


FERRY = "For the market on Friday Ann takes the early ferry across the sound"


@pytest.mark.parametrize(
    ("kept", "log"),
    [
        (FERRY, FERRY.replace("early", "late")),
        ("Ann may lend the key of the garage", "Ann may not lend the key of the garage"),
        ("The cellar is heated on each cold night", "The cellar isn't heated on each cold night"),
        (f"{FERRY}, on call", f"{FERRY}, off call"),
    ],
)
def test_a_correction_by_one_word_takes_the_place_of_the_kept_line(kept: str, log: str) -> None:
    assert proposed([log], kept) == [(log, kept)]


def test_a_short_correction_is_added() -> None:
    kept = "Ann will lend the garage to her tenant"
    assert proposed([kept.replace("will", "won't")], kept) == [(kept.replace("will", "won't"), "")]


def test_what_differs_in_stop_words_alone_is_kept_already() -> None:
    assert proposed(["Staging port: 8444 of Ann"], "The staging port of Ann is 8444") == []
    assert proposed(["The staging port is 8444"], "- staging port 8444 (Source: a.md#L1)") == []


def test_an_older_line_does_not_take_the_place_of_its_correction() -> None:
    late = FERRY.replace("early", "late")
    newer = f"- {late} (Source: memory/2026-10-01.md#L1)"
    older = f"- {late} (Source: memory/2026-08-01.md#L1)"
    assert proposed([FERRY], newer) == []
    assert proposed([FERRY], older) == [(FERRY, late)]
    assert proposed([FERRY], "The port is 1", newer, late.replace("Ann", "Bob")) == []
    value = "- The staging port is 8450. (Source: memory/2026-10-01.md#L1)"
    assert proposed(["The staging port is 8444."], value) == []


def test_no_line_is_replaced_where_several_are_meant_and_none_twice() -> None:
    late, slow = FERRY.replace("early", "late"), FERRY.replace("early", "slow")
    assert proposed([slow], FERRY, late) == [(slow, "")]
    assert proposed([late, slow], FERRY) == [(slow, FERRY)]
