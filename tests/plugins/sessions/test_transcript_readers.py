from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_sessions.folder import day_of, is_claude_code, is_codex, is_openclaw
from commonplace_sessions.readers import (
    Message,
    Role,
    read_claude_code,
    read_codex,
    read_openclaw,
    text_of,
    timestamp_of,
)
from commonplace_sessions.transcript import WIDTH, Lines, records, render

if TYPE_CHECKING:
    from collections.abc import Callable

    Said = Callable[..., list[tuple[str, str]]]
    Make = Callable[..., dict[str, Any]]


HEARTBEAT = "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly."


def test_openclaw_messages_with_time_and_line(
    lines_of: Callable[..., bytes], message: Make
) -> None:
    data = lines_of(
        {"type": "session", "id": "s", "timestamp": "2026-01-31T10:00:00Z"},
        message("user", "one", timestamp="2026-01-31T10:00:00Z"),
        b"not json",
        message("assistant", [{"type": "text", "text": "two"}], timestamp=1),
    )
    found = list(read_openclaw(records(Lines([data]))))
    assert [(each.role, each.text, each.timestamp, each.line) for each in found] == [
        ("user", "one", 1769853600000, 2),
        ("assistant", "two", 1000, 4),
    ]


def test_the_time_of_a_message_is_its_own_first(message: Make) -> None:
    record = message("user", "a", timestamp=5)
    record["message"]["timestamp"] = 7
    (found,) = read_openclaw([(1, record)])
    assert found.timestamp == 7000


def test_openclaw_records_of_other_kinds_are_left_out(said: Said, message: Make) -> None:
    assert said(
        read_openclaw,
        message("toolResult", "x"),
        message("system", "x"),
        message("", "x"),
        {"type": "message"},
        {"type": "message", "message": "x"},
        {"type": "message", "message": {"role": ["user"], "content": "x"}},
        {"type": "compaction", "message": {"role": "user", "content": "x"}},
        {"message": {"role": "user", "content": "x"}},
        message("assistant", [{"type": "toolCall", "name": "x"}, {"type": "thinking", "text": 1}]),
    ) == [("assistant", "")]


def test_what_the_program_says_in_the_users_name_is_left_out(said: Said, message: Make) -> None:
    inter = message("user", "from there")
    inter["message"]["provenance"] = {"kind": "inter_session", "sourceSessionKey": "k"}
    mine = message("user", "from here")
    mine["message"]["provenance"] = {"kind": "external_user"}
    assert said(
        read_openclaw,
        inter,
        mine,
        message("user", f"{HEARTBEAT} Current time: 10:00"),
        message("assistant", "**HEARTBEAT_OK**"),
        message("user", HEARTBEAT),
        message("assistant", "Nothing new today. HEARTBEAT_OK"),
        message("user", "[OpenClaw heartbeat poll]"),
        message("assistant", "The boiler is broken!"),
        message("user", "[cron:1234 morning] Write the report"),
        message("assistant", "Here is the report."),
        message("assistant", "NO_REPLY"),
        message("user", "What does HEARTBEAT_OK mean?"),
        message("assistant", "HEARTBEAT_OK is a sign of life."),
        message("user", "Tell me of NO_REPLY"),
    ) == [
        ("user", "from here"),
        ("assistant", "The boiler is broken!"),
        ("assistant", "Here is the report."),
        ("user", "What does HEARTBEAT_OK mean?"),
        ("assistant", "HEARTBEAT_OK is a sign of life."),
        ("user", "Tell me of NO_REPLY"),
    ]


ENVELOPE = """Conversation info (untrusted metadata):
```json
{"message_id": "42", "note": "(untrusted metadata):"}
```

Sender (untrusted metadata):
```json
{"name": "Ann"}
```

[Sat 2026-01-31 10:00 UTC] Buy oats"""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (ENVELOPE, "Buy oats"),
        (
            "Buy oats\nThread starter (untrusted, for context):\n```json\n{}\n```\nand rye",
            "Buy oats\nand rye",
        ),
        ("[Sat 2026-01-31 10:00 GMT+1] Buy oats", "Buy oats"),
        ("System: [2026-01-31 10:00:00] Gateway connected.\nSystem: more\n\nBuy oats", "Buy oats"),
        ("System (untrusted): [10:00] Exec finished", ""),
        ("<relevant-memories>\n1. oats\n</relevant-memories>\nBuy oats", "Buy oats"),
        (
            "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nx\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\nOats",
            "Oats",
        ),
        ("What is <relevant-memories> for?", "What is <relevant-memories> for?"),
        ("System: a word of mine", "System: a word of mine"),
        ("[2026] Buy oats", "[2026] Buy oats"),
        ("It is (untrusted metadata): so what", "It is (untrusted metadata): so what"),
        ("a (untrusted metadata):\nmine", "mine"),
    ],
)
def test_what_stands_around_the_users_words_is_taken_out(
    text: str, left: str, said: Said, message: Make
) -> None:
    assert said(read_openclaw, message("user", text)) == [("user", left)]
    assert said(read_openclaw, message("assistant", text)) == [("assistant", text)]


@pytest.mark.parametrize(
    "place", [{"data": {"runId": "dreaming-narrative-1"}}, {"runId": "dreaming-narrative-1"}]
)
def test_dreams_are_left_out(place: dict[str, Any], said: Said, message: Make) -> None:
    start = {"type": "custom", "customType": "openclaw:bootstrap-context:full"}
    assert said(read_openclaw, start | place, message("user", "sheep")) == []
    assert said(read_openclaw, start | {"data": {"runId": 5}}, message("user", "awake"))


def test_claude_code(said: Said) -> None:
    def entry(type_: str, content: object, **more: object) -> dict[str, object]:
        return {"type": type_, "message": {"role": type_, "content": content}, **more}

    def block(text: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": text}]

    assert said(
        read_claude_code,
        {"type": "summary", "summary": "x", "leafUuid": "1"},
        entry("user", "Fix the build", timestamp="2026-01-31T10:00:00Z"),
        entry("assistant", [{"type": "thinking", "thinking": "x"}, *block("On it.")]),
        entry("assistant", [{"type": "tool_use", "name": "Bash", "input": {}}]),
        entry("user", [{"type": "tool_result", "content": "x"}]),
        entry("user", "Caveat: x", isMeta=True),
        entry("user", "subtask", isSidechain=True),
        entry("user", "summary of before", isCompactSummary=True),
        entry("assistant", block("API Error"), isApiErrorMessage=True),
        entry("user", "<command-name>/clear</command-name>"),
        entry("user", "<local-command-stdout>x</local-command-stdout>"),
        entry("user", block("[Request interrupted by user]")),
        entry("user", block("<system-reminder>\nx\n</system-reminder>\nAnd test it")),
        entry("system", "x"),
        {"type": "user", "message": {"role": "tool", "content": "x"}},
        {"type": "progress"},
    ) == [
        ("user", "Fix the build"),
        ("assistant", "On it."),
        ("assistant", ""),
        ("user", ""),
        ("user", "And test it"),
    ]


def test_codex(said: Said) -> None:
    def item(role: str, text: str, kind: str = "input_text") -> dict[str, object]:
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"type": "response_item", "payload": payload, "timestamp": "2026-01-31T10:00:00Z"}

    old = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]}
    assert said(
        read_codex,
        {"type": "session_meta", "payload": {"id": "1", "cwd": "/x"}},
        item("developer", "x"),
        item("user", "# AGENTS.md instructions for /x"),
        item("user", "<environment_context>x</environment_context>"),
        item("user", "Fix the build"),
        item("assistant", "Done.", "output_text"),
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Fix the build"}},
        {"type": "response_item", "payload": {"type": "reasoning", "summary": []}},
        {"type": "response_item", "payload": {"type": "function_call", "name": "shell"}},
        {"type": "response_item", "payload": None},
        {"type": "turn_context", "payload": {"model": "x"}},
        old,
    ) == [("user", "Fix the build"), ("assistant", "Done."), ("user", "old")]


@pytest.mark.parametrize("reader", [read_openclaw, read_claude_code, read_codex])
def test_records_of_any_shape_are_no_trouble(reader: Any) -> None:
    strange: list[Any] = [
        None,
        5,
        "x",
        [],
        {},
        [[]],
        {"role": "user"},
        {"role": "user", "content": 5},
    ]
    types: list[Any] = ["message", "user", "assistant", "response_item", None, 5, []]
    for type_ in types:
        for value in strange:
            for key in ("message", "payload", "content", "data", "runId", "timestamp"):
                record = {"type": type_, key: value, "role": "user"}
                assert all(found.text in ("", "x") for found in reader([(1, record)]))


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


def test_lone_surrogates_are_replaced() -> None:
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
    assert lines[1:] == ["User: abcd… and on"]


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
    assert is_claude_code("0123.jsonl")
    for name in ("agent-1.jsonl", "p/agent-1.jsonl", "p/0123/subagents/agent-1.jsonl", "p/a.json"):
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
