from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_sessions.messages import Message, Role, text_of, timestamp_of
from commonplace_sessions.names import day_of, is_claude_code, is_codex, is_openclaw
from commonplace_sessions.rendering import WIDTH, render


def rendered(text: str, role: Role = "user") -> list[str]:
    return list(render(Message(role, text, 0, 1)))


NOON = datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("candidates", "milliseconds"),
    [
        ((), 0),
        ((NOON,), NOON * 1000),
        ((NOON * 1000,), NOON * 1000),
        (("2026-01-31T12:00:00Z",), NOON * 1000),
        (("2026-01-31T13:00:00.000+01:00",), NOON * 1000),
        ((" 2026-01-31T12:00:00 ",), NOON * 1000),
        ((None, "soon", NOON), NOON * 1000),
        ((0, -5, True, float("nan"), float("inf"), 10**400, 1e17, [], "9999999"), 0),
        (("0001-01-01T00:00:00+23:59", "2026-13-01"), 0),
        ((NOON, 1.0), NOON * 1000),
    ],
)
def test_timestamps(candidates: tuple[Any, ...], milliseconds: float) -> None:
    assert timestamp_of(*candidates) == milliseconds


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("as it is ", "as it is "),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "image", "data": "x"}, {"type": "text", "text": "a"}], "a"),
        ([{"type": "thinking", "text": "no"}, "no", None, {"type": "text"}], ""),
        ([{"type": "text", "text": 5}], ""),
        (None, ""),
        (5, ""),
        ({"type": "text", "text": "a"}, ""),
        ([], ""),
    ],
)
def test_text_of_a_message(content: object, text: str) -> None:
    assert text_of(content) == text


def test_a_message_is_one_line_with_its_speaker() -> None:
    assert rendered(" one\n\n  two\tthree\r\n ") == ["User: one two three"]
    assert rendered("yes", "assistant") == ["Assistant: yes"]
    assert rendered(" \n ") == []


def test_halves_of_characters_are_mended() -> None:
    assert rendered("a\ud83d b") == ["User: a\ufffd b"]
    assert rendered("\ud83d\ude00") == ["User: 😀"]


def test_a_long_message_has_a_line_for_each_800_characters() -> None:
    exact = "x" * WIDTH
    assert rendered(exact) == [f"User: {exact}"]
    assert rendered(f"{exact}y") == [f"User: {exact}", "User: y"]
    assert rendered(f"{exact} y") == [f"User: {exact}", "User: y"]
    words = "word " * 400
    lines = rendered(words)
    assert all(line.startswith("User: word ") and line.endswith("word") for line in lines)
    assert len(lines) == 3


def test_a_secret_cannot_hide_in_two_lines() -> None:
    lines = rendered("x" * (WIDTH - 10) + " password: abcdefghijklmnopqrstuvwx and on")
    assert lines[1:] == ["User: abcdef…uvwx and on"]


@given(st.text("ab \n中", max_size=3000))
def test_no_word_is_lost(text: str) -> None:
    lines = rendered(text)
    pieces = [line.removeprefix("User: ") for line in lines]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(0 < len(piece) <= WIDTH and piece == piece.strip() for piece in pieces)


ARCHIVE = "reset.2026-02-03T04-05-06.789Z"


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("a.jsonl", True),
        ("agent-1-topic-5.jsonl", True),
        (f"a.jsonl.{ARCHIVE}", True),
        ("a.jsonl.deleted.2026-02-03T04-05-06Z", True),
        ("a.jsonl.reset.yesterday", False),
        ("a.jsonl.bak.2026-02-03T04-05-06Z", False),
        (f"a.bak.1.jsonl.{ARCHIVE}", False),
        ("sessions.json", False),
        ("a.JSONL", False),
        ("a.jsonl.lock", False),
        ("a.checkpoint.01234567-89ab-4cde-8f01-23456789abcd.jsonl", False),
        ("a.checkpoint.jsonl", True),
        ("a.trajectory.jsonl", False),
        ("below/a.jsonl", False),
        (".jsonl", True),
    ],
)
def test_transcripts_of_openclaw_by_name(name: str, taken: bool) -> None:
    assert is_openclaw(name) is taken


def test_transcripts_of_others_by_name() -> None:
    assert is_claude_code("-home-ann-project/0123.jsonl")
    for name in ("0123.jsonl", "p/agent-1.jsonl", "p/0123/subagents/agent-1.jsonl", "p/a.json"):
        assert not is_claude_code(name)
    assert is_codex("2026/01/31/rollout-2026-01-31T10-00-00-0123.jsonl")
    assert is_codex("rollout-a.jsonl")
    assert not is_codex("2026/01/31/history.jsonl")
    assert not is_codex("rollout-x/history.jsonl")


@pytest.mark.parametrize(
    ("name", "began", "day"),
    [
        ("2026-01-31-walk.jsonl", 0, date(2026, 1, 31)),
        ("rollout-2026-01-31T10-00-00-0123.jsonl", NOON * 1000 + 9e9, date(2026, 1, 31)),
        ("a.jsonl", NOON * 1000, date(2026, 1, 31)),
        (f"a.jsonl.{ARCHIVE}", NOON * 1000, date(2026, 1, 31)),
        (f"a.jsonl.{ARCHIVE}", 0, date(2026, 2, 3)),
        ("2026-13-41.jsonl", NOON * 1000, date(2026, 1, 31)),
        ("2026-01-311.jsonl", 0, None),
        ("a.jsonl", 0, None),
    ],
)
def test_the_day_of_a_session(name: str, began: float, day: date | None) -> None:
    assert day_of(name, began) == day


def test_a_time_beyond_the_calendar_is_no_day() -> None:
    assert day_of("a.jsonl", timestamp_of(8.6e15)) is None
    assert day_of("a.jsonl", timestamp_of(253_402_300_799_000)) == date.max
