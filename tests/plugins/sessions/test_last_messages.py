"""The last messages of a transcript are read from its end, and are those of the whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace_sessions.finding import last_messages, messages_in
from commonplace_sessions.transcript import records

if TYPE_CHECKING:
    from pathlib import Path


def claude_code(role: str, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"type": role, "message": {"role": role, "content": content}}


def codex(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"type": "response_item", "payload": item}


def openclaw(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": text}}


FORMATS = {"claude-code": claude_code, "codex": codex, "sessions": openclaw}
said = st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=60))


@settings(max_examples=60, deadline=None)
@given(
    program=st.sampled_from([*FORMATS]),
    known=st.booleans(),
    talk=st.lists(said, max_size=40),
    tail=st.integers(1, 3_000),
    most=st.integers(1, 8),
)
def test_they_are_those_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory,
    program: str,
    known: bool,
    talk: list[tuple[str, str]],
    tail: int,
    most: int,
) -> None:
    path = str(tmp_path_factory.mktemp("talk") / "s.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for role, text in talk:
            record = FORMATS[program](role, text)
            file.write(f"{json.dumps(record, ensure_ascii=False)}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("commonplace_sessions.finding._TAIL", tail)
        found = last_messages(path, program if known else "", most)
    whole = [(one.role, one.text) for one in messages_in(path, program)[0]]
    assert [(one.role, one.text) for one in found][-most:] == whole[-most:]


def test_a_long_session_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.jsonl"
    line = json.dumps(claude_code("user", "x" * 1_000)) + "\n"
    path.write_text(line * 2_000)
    read = 0

    def counted(lines: Any) -> Any:
        nonlocal read
        for record in records(lines):
            read += 1
            yield record

    monkeypatch.setattr("commonplace_sessions.finding.records", counted)
    assert len(last_messages(str(path), "", 60)) >= 60
    assert read < 200
