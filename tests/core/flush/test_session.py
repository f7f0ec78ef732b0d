"""A host with a session: turns, compactions, a model that writes, fails or hangs, and restarts."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import CallerError, FlushMark, FlushSession, Memory
from commonplace.errors import DeadlineExceededError
from commonplace.flush import session as session_module
from commonplace.flush.runner import FlushReport
from commonplace.flush.session import appended
from commonplace.resilience.bounded_call import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from commonplace.resilience.deadline import Deadline

    Message = dict[str, Any]

LOG = "memory/2026-01-31.md"
TALK = [
    {"role": "user", "content": "My bike is green."},
    {"role": "assistant", "content": "Noted."},
]


class Model:
    """Writes one line about each conversation it is shown; ``fails`` as often as it says."""

    def __init__(self, fails: int = 0) -> None:
        self.fails = fails
        self.shown: list[str] = []

    def __call__(self, messages: list[Message], tools: list[Message]) -> Mapping[str, Any]:
        assert tools
        if messages[-1]["role"] == "tool":
            return {"content": "NO_REPLY"}
        if self.fails:
            self.fails -= 1
            raise TimeoutError("no answer")
        self.shown.append(messages[-1]["content"])
        content = f'{{"path": "{LOG}", "content": "- fact {len(self.shown)}"}}'
        function = {"name": "write", "arguments": content}
        return {"content": None, "tool_calls": [{"id": "1", "function": function}]}


@pytest.fixture
def log(tmp_path: Path) -> Callable[[], str]:
    """What the log of the day holds; empty if there is none."""
    path = tmp_path / "notes" / LOG
    return lambda: path.read_text("utf-8") if path.exists() else ""


def session(memory: Memory, model: Any, **more: Any) -> FlushSession:
    return FlushSession(
        memory, model, window=200_000, clock=lambda: 1_769_860_800.0, seconds=None, **more
    )


def test_a_turn_near_the_end_of_the_window_writes_notes(
    open_memory: Callable[..., Memory], log: Callable[[], str]
) -> None:
    model = Model()
    flushes = session(open_memory(), model)
    assert not flushes.turn_starting(TALK).report
    answer = flushes.turn_starting(TALK, tokens=180_000)
    assert answer.report is not None
    assert answer.report.done
    assert answer.reason == "flushed"
    assert log() == "# 2026-01-31\n\n- fact 1\n"
    assert "User: My bike is green.\n\nAgent: Noted." in model.shown[0]
    assert flushes.compacting(TALK).compact
    assert len(model.shown) == 1
    (receipt,) = open_memory().writer(who="test").journal()
    assert (receipt.origin, receipt.who, receipt.path) == ("session", "memory flush", LOG)


def test_without_a_count_the_tokens_are_estimated(open_memory: Callable[..., Memory]) -> None:
    flushes = session(open_memory(), Model())
    long = [{"role": "tool", "content": "x" * 600_000}]
    assert flushes.turn_starting(long).report is not None


def test_every_cycle_is_flushed_once_over_restarts(
    open_memory: Callable[..., Memory], log: Callable[[], str]
) -> None:
    model = Model()
    for cycle in range(3):
        flushes = session(open_memory(), model, session_key="agent:main:main")
        assert flushes.mark == FlushMark(
            compactions=cycle, flushed=cycle - 1, flushed_at=1_769_860_800.0 if cycle else 0.0
        )
        assert flushes.compacting(TALK, cause="overflow").compact
        session(open_memory(), model, session_key="agent:main:main").compacted()
    assert log().count("- fact") == 3
    assert session(open_memory(), model, session_key="another").mark == FlushMark()


def test_what_could_not_be_flushed_is_kept_and_flushed_later(
    open_memory: Callable[..., Memory], log: Callable[[], str], tmp_path: Path
) -> None:
    model = Model(fails=2)
    flushes = session(open_memory(), model)
    answer = flushes.compacting(TALK)
    assert answer.compact
    assert answer.reason == "the flush failed: TimeoutError: no answer"
    flushes.compacted()
    (kept,) = (tmp_path / "state" / "memory" / "flush").glob("*.0.json")
    assert kept.stat().st_mode & 0o077 == 0
    again = session(open_memory(), model)  # another process
    answer = again.turn_starting([{"role": "user", "content": "Where were we?"}])
    assert answer.report is not None
    assert answer.report.done
    assert "My bike is green." in model.shown[0]
    assert "Where were we?" not in model.shown[0]
    assert not kept.exists()
    assert log() == "# 2026-01-31\n\n- fact 1\n"


def test_a_conversation_that_outgrew_its_window_is_flushed_in_parts(
    open_memory: Callable[..., Memory],
) -> None:
    model = Model()
    flushes = FlushSession(open_memory(), model, window=8_000, seconds=None)
    long = [{"role": "user", "content": f"{number} " + "word " * 1_000} for number in range(12)]
    answer = flushes.compacting(long, cause="overflow")
    assert answer.report is not None
    assert len(model.shown) > 3
    assert all(f"User: {number} word" in "".join(model.shown) for number in range(12))


@pytest.mark.parametrize(
    ("more", "config", "reason"),
    [
        ({"workspace": "ro"}, {}, "the session may not write"),
        ({"workspace": "none"}, {}, "the session may not write"),
        ({"cli_backend": True}, {}, "archive its sessions instead"),
        ({}, {"write": False}, "memory.write.enabled is false"),
        ({}, {"flush": {"memoryFlush": {"enabled": False}}}, "memoryFlush.enabled is false"),
    ],
)
def test_what_is_switched_off_is_an_answer_with_its_reason(
    open_memory: Callable[..., Memory], more: Any, config: Any, reason: str, tmp_path: Path
) -> None:
    model = Model()
    flushes = session(open_memory(**config), model, **more)
    turn = flushes.turn_starting(TALK, tokens=199_000)
    due = flushes.compacting(TALK)
    assert reason in turn.reason
    assert reason in due.reason
    assert due.compact
    flushes.compacted()
    assert model.shown == []
    assert list((tmp_path / "notes").iterdir()) == []
    assert not list((tmp_path / "state").rglob("*.0.json"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only_is_never_written(
    open_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = open_memory()
    (tmp_path / "notes").chmod(0o500)
    assert "may not write" in session(memory, Model()).compacting(TALK).reason


def test_a_heartbeat_is_never_flushed(open_memory: Callable[..., Memory]) -> None:
    model = Model()
    flushes = session(open_memory(), model)
    assert "heartbeat" in flushes.turn_starting(TALK, tokens=199_000, heartbeat=True).reason
    assert flushes.compacting(TALK, heartbeat=True).compact
    flushes.compacted(heartbeat=True)
    assert model.shown == []
    assert flushes.turn_starting(TALK).report is not None


def test_a_model_that_hangs_is_given_up_and_writes_nothing_later(
    open_memory: Callable[..., Memory], log: Callable[[], str]
) -> None:
    release, ended = threading.Event(), threading.Event()
    real = Model()

    def hangs(messages: list[Message], tools: list[Message]) -> Mapping[str, Any]:
        release.wait(30)
        if messages[-1]["role"] == "tool":
            ended.set()
        return real(messages, tools)

    flushes = FlushSession(open_memory(), hangs, window=200_000, seconds=0.05)
    answer = flushes.turn_starting(TALK, tokens=180_000)
    assert "did not answer within" in answer.reason
    release.set()
    assert ended.wait(30)
    assert log() == ""


def test_the_report_of_a_flush_that_was_given_up_has_what_was_written(
    open_memory: Callable[..., Memory], log: Callable[[], str]
) -> None:
    class Hung(BaseException):
        pass

    class Impatient(Worker):
        def run(self, work: Callable[[], Any], deadline: Deadline) -> Any:
            try:
                return work()
            except Hung:
                raise DeadlineExceededError("flush did not answer") from None

    real = Model()

    def hangs(messages: list[Message], tools: list[Message]) -> Mapping[str, Any]:
        if messages[-1]["role"] == "tool":
            raise Hung
        return real(messages, tools)

    flushes = session(open_memory(), hangs)
    flushes._worker = Impatient("flush")
    report = flushes.turn_starting(TALK, tokens=180_000).report
    assert log() == "# 2026-01-31\n\n- fact 1\n"
    assert report == FlushReport(
        done=False, path=LOG, written=("- fact 1",), calls=2, reason="flush did not answer"
    )


def test_messages_that_are_none_are_the_callers_mistake(
    open_memory: Callable[..., Memory],
) -> None:
    flushes = session(open_memory(), Model())
    with pytest.raises(CallerError, match="role and content"):
        flushes.compacting(["hello"])  # type: ignore[list-item]  # no mapping
    assert flushes.compacting(TALK).compact


def test_an_interrupted_flush_does_not_run_for_ever(open_memory: Callable[..., Memory]) -> None:
    def interrupted(*_: object) -> Mapping[str, Any]:
        raise KeyboardInterrupt

    flushes = session(open_memory(), interrupted)
    with pytest.raises(KeyboardInterrupt):
        flushes.compacting(TALK)
    flushes._model = Model()
    answer = flushes.compacting(TALK)
    assert answer.report is not None
    assert answer.report.done


def test_a_mistake_of_ours_is_a_failed_flush(
    open_memory: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    flushes = session(open_memory(), Model())
    monkeypatch.setattr(session_module, "flush_plan", lambda *_, **__: 1 // 0)
    answer = flushes.compacting(TALK)
    assert answer.compact
    assert "ZeroDivisionError" in answer.reason


def test_a_mark_that_is_damaged_counts_as_none(
    open_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    session(open_memory(), Model()).compacted()
    (file,) = (tmp_path / "state" / "memory" / "flush").glob("*.json")
    large = f'{{"compactions": 1, "flushed": 1, "flushedAt": {"9" * 400}, "owed": [], "base": 0}}'
    for text in ("", "{", "[]", '{"compactions": "x"}', "[" * 100_000, large):
        file.write_text(text)
        assert session(open_memory(), Model()).mark == FlushMark()


def test_a_mark_that_cannot_be_saved_does_not_stop_the_session(
    open_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    flushes = session(open_memory(), Model())
    (tmp_path / "state" / "memory").mkdir(parents=True, exist_ok=True)
    (tmp_path / "state" / "memory" / "flush").write_text("in the way")
    answer = flushes.compacting(TALK)
    assert answer.compact
    assert "the marker is not saved" in answer.reason


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b"# a\n\n- x\n"),
        (b"", b"# a\n\n- x\n"),
        (b"# a", b"# a\n\n- x\n"),
        (b"\xef\xbb\xbf# a\r\n\r\n- y\r\n", b"\xef\xbb\xbf# a\r\n\r\n- y\r\n\r\n- x\r\n"),
        (b"- x\n", b"- x\n"),
        (b"# a\n\n- x", b"# a\n\n- x"),
        (b"caf\xe9\n", b"caf\xe9\n\n- x\n"),
    ],
)
def test_what_stands_there_keeps_its_bytes(before: bytes | None, after: bytes) -> None:
    assert appended(before, "memory/a.md", "- x") == after


def test_a_mark_is_saved_where_old_conversations_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: str) -> list[str]:
        raise PermissionError(13, "Permission denied")

    records = session_module.FlushRecords(str(tmp_path), "main", "chat")
    mark = FlushMark(compactions=3, flushed=3)
    with monkeypatch.context() as patched:
        patched.setattr(os, "listdir", refused)
        records.save(mark)
    assert records.load() == mark
