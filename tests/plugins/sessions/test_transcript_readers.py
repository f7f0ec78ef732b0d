from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace_sessions.claude_code import read_claude_code
from commonplace_sessions.codex import read_codex
from commonplace_sessions.jsonl import Lines, records
from commonplace_sessions.openclaw import read_openclaw

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
