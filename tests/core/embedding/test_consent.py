"""Nothing leaves this machine unsaid: who is asked, when, and how long an answer counts."""

from __future__ import annotations

import contextlib
import json
import logging
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.embedding.consent import UploadGate, announcement, record_path
from commonplace.errors import UnavailableError
from commonplace.model.reports import Upload

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOST = "https://api.vendor.test"


class Listener:
    """Gives one answer, and remembers what it was asked."""

    def __init__(self, answer: bool | None) -> None:
        self.answer = answer
        self.asked: list[Upload] = []

    def __call__(self, upload: Upload) -> bool | None:
        self.asked.append(upload)
        return self.answer


@pytest.fixture
def gate(tmp_path: Path) -> Callable[..., UploadGate]:
    """Makes gates of one state folder, each as in a process of its own."""

    def make(answer: bool | str | None = "silent", **given: Any) -> UploadGate:
        listener = None if isinstance(answer, str) else Listener(answer)
        asked = {"provider": "vendor", "host": HOST, "key": "VENDOR_KEY", **given}
        return UploadGate(record_path(str(tmp_path)), listener=listener, clock=lambda: 5.0, **asked)

    return make


def asked(gate: UploadGate) -> list[Upload]:
    assert isinstance(gate.listener, Listener)
    return gate.listener.asked


def test_this_machine_needs_no_consent(gate: Callable[..., UploadGate], tmp_path: Path) -> None:
    here = gate(False, host="")
    assert here.is_open()
    assert here.check(5) == ""
    assert asked(here) == []
    assert list(tmp_path.iterdir()) == []


def test_the_listener_is_asked_once_and_the_answer_kept_for_every_process(
    gate: Callable[..., UploadGate],
) -> None:
    first = gate(True)
    assert not first.is_open()
    assert first.check(300) == ""
    assert first.check(300) == ""
    wanted = Upload(provider="vendor", host=HOST, texts=300, key="VENDOR_KEY")
    assert asked(first) == [wanted]
    later = gate(False)
    assert later.is_open()
    later.check(5)
    assert asked(later) == []


@pytest.mark.parametrize("other", [{"host": "https://other.test"}, {"provider": "another"}])
def test_another_server_or_provider_is_another_question(
    gate: Callable[..., UploadGate], other: dict[str, str]
) -> None:
    gate(True).check(1)
    assert not gate(True, **other).is_open()


def test_a_no_is_kept_and_explains_itself_until_it_becomes_a_yes(
    gate: Callable[..., UploadGate],
) -> None:
    with pytest.raises(UnavailableError, match="you said no") as caught:
        gate(False).check(3)
    assert "--yes" in caught.value.hint
    silent = gate(None)
    assert silent.refusal == f"nothing is sent to {HOST}: you said no"
    with pytest.raises(UnavailableError, match="you said no"):
        silent.check(3)
    assert [upload.declined for upload in asked(silent)] == [True]
    with pytest.raises(UnavailableError, match="you said no"):
        gate().check(3)
    assert gate(True).check(3) == ""
    assert gate(None).refusal == ""


def test_no_answer_is_not_kept(gate: Callable[..., UploadGate], tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="before you agree") as caught:
        gate(None).check(3)
    assert "commonplace index" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_without_a_listener_a_warning_is_logged_and_given_once(
    gate: Callable[..., UploadGate], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    words = gate().check(300)
    for part in (
        "300 texts",
        "vendor",
        HOST,
        "VENDOR_KEY",
        'provider to "none"',
        'consent to "no"',
    ):
        assert part in words
    assert [record.getMessage() for record in caplog.records] == [words]
    assert gate().check(300) == ""
    assert len(caplog.records) == 1


def test_the_setting_no_sends_nothing_whatever_was_answered(
    gate: Callable[..., UploadGate],
) -> None:
    gate(True).check(1)
    never = gate(True, policy="no")
    assert "remote.consent" in never.refusal
    with pytest.raises(UnavailableError, match=r"remote\.consent"):
        never.check(1)
    assert asked(never) == []
    assert gate(True, policy="no", host="").check(1) == ""


def test_the_setting_yes_says_it_as_what_was_asked_for(gate: Callable[..., UploadGate]) -> None:
    with pytest.raises(UnavailableError):
        gate(False).check(1)
    always = gate(True, policy="yes")
    always.check(1)
    (upload,) = asked(always)
    assert upload.named
    assert not upload.declined


def test_a_query_does_not_wait_for_an_answer_to_another_question(
    gate: Callable[..., UploadGate],
) -> None:
    searching = gate(True)

    def answer(_: Upload) -> bool:
        with pytest.raises(UnavailableError, match="before you agree"):
            searching.check(1, query=True)
        return False

    indexing = gate("silent")
    with pytest.raises(UnavailableError, match="you said no"):
        type(indexing)(indexing.path, "vendor", HOST, listener=answer).check(300)
    assert asked(searching) == []


@pytest.mark.parametrize(
    "held",
    [
        *("", "[]", "{", "[" * 9999),
        *('{"vendor https://api.vendor.test": 5}', '{"vendor https://api.vendor.test": {}}'),
        '{"vendor https://api.vendor.test": {"answer": "perhaps", "at": 5}}',
    ],
)
def test_a_record_that_cannot_be_read_may_hold_a_no(
    gate: Callable[..., UploadGate], tmp_path: Path, held: str
) -> None:
    path = tmp_path / "memory" / "uploads.json"
    path.parent.mkdir()
    path.write_text(held)
    asks = gate(True)
    for closed in (asks, gate("silent")):
        assert not closed.is_open()
        assert "uploads.json cannot be read" in closed.refusal
        with pytest.raises(UnavailableError, match="cannot be read") as caught:
            closed.check(1)
        assert caught.value.hint == f"correct {path}, or delete it to be asked again"
    assert asked(asks) == []
    assert path.read_text() == held
    assert gate(True, policy="yes").check(1) == ""
    path.unlink()
    assert gate(True).check(1) == ""


def test_the_answers_of_processes_that_ask_at_once_are_all_kept(
    gate: Callable[..., UploadGate], tmp_path: Path
) -> None:
    begin = threading.Barrier(6, timeout=30)

    def answer(number: int) -> None:
        begin.wait()
        asking = gate(number % 2 == 0, host=f"https://{number}.test")
        with contextlib.suppress(UnavailableError):
            # Not check: within one process, questions are asked one by one.
            asking._ask(1, query=False)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(answer, range(6)))
    held = json.loads((tmp_path / "memory" / "uploads.json").read_text())
    answers = {name: entry["answer"] for name, entry in held.items()}
    assert answers == {
        f"vendor https://{number}.test": "no" if number % 2 else "yes" for number in range(6)
    }


def test_a_no_that_cannot_be_kept_says_so(gate: Callable[..., UploadGate], tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("no folder")
    with pytest.raises(UnavailableError, match=r"you said no .which is not kept: .*written"):
        gate(False).check(1)


def test_the_record_holds_no_key_and_is_for_its_owner_alone(
    gate: Callable[..., UploadGate], tmp_path: Path
) -> None:
    gate(True, key="VENDOR_KEY in /home/me/.env:3").check(1)
    path = tmp_path / "memory" / "uploads.json"
    assert json.loads(path.read_text()) == {f"vendor {HOST}": {"answer": "yes", "at": 5}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_that_is_not_sent_is_not_announced() -> None:
    upload = Upload(provider="p", host=HOST, texts=1, key="no key was sent: that of X is for Y")
    assert "1 text of your notes to p" in announcement(upload)
    assert "no key" not in announcement(upload)
