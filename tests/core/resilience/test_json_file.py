"""Files of state that several threads and processes change: no change is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import IndexBusyError, UnavailableError
from commonplace.resilience import json_file
from commonplace.resilience.json_file import JsonLog, read_json, update_json
from commonplace.resilience.lock import Lease

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ADDING = """
import sys
from commonplace.resilience.json_file import update_json
path, name = sys.argv[1:]
for number in range(40):
    update_json(path, lambda held: {**held, f"{name}{number}": number}, wait=60)
"""
DAMAGED = [b"", b"{", b"[]", b"\xff", b"[" * 9999, b"null"]


def test_a_file_is_made_changed_and_read(tmp_path: Path) -> None:
    path = str(tmp_path / "state" / "a.json")
    assert read_json(path) == read_json(path, strict=True) == {}
    update_json(path, lambda held: {**held, "a": [1, None]})
    update_json(path, lambda held: {**held, "b": "ž"})
    assert read_json(path, strict=True) == {"a": [1, None], "b": "ž"}
    if os.name == "posix":
        assert os.stat(path).st_mode & 0o777 == 0o600


def test_where_nothing_changes_nothing_is_written(tmp_path: Path) -> None:
    path = str(tmp_path / "state" / "a.json")
    update_json(path, lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_processes_lose_no_change_of_one_another(tmp_path: Path) -> None:
    path = str(tmp_path / "a.json")
    running = [subprocess.Popen([sys.executable, "-c", ADDING, path, name]) for name in "ab"]
    assert [process.wait(120) for process in running] == [0, 0]
    assert read_json(path) == {f"{name}{number}": number for name in "ab" for number in range(40)}


def test_a_change_begins_with_what_was_written_just_before(tmp_path: Path) -> None:
    path = str(tmp_path / "a.json")
    asked = threading.Event()

    def late(held: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        return {**held, "late": sorted(held)}

    with ThreadPoolExecutor(1) as pool:
        with Lease(f"{path}.lock").held(5):
            waiting = pool.submit(update_json, path, late, wait=60)
            assert asked.wait(30)
            (tmp_path / "a.json").write_text('{"early": 1}')
        waiting.result(60)
    assert read_json(path) == {"early": 1, "late": ["early"]}


def test_what_is_being_changed_elsewhere_is_busy_and_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "a.json")
    update_json(path, lambda _: {"a": 1})
    with (
        Lease(f"{path}.lock").held(5),
        pytest.raises(IndexBusyError, match=r"writing .*a\.json"),
    ):
        update_json(path, lambda _: {"b": 2}, wait=0)
    assert read_json(path) == {"a": 1}


@pytest.mark.parametrize("raw", DAMAGED)
def test_a_damaged_file_is_empty_unless_that_would_lose_what_counts(
    tmp_path: Path, raw: bytes
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(raw)
    assert read_json(str(path)) == {}
    for call in (
        lambda: read_json(str(path), strict=True),
        lambda: update_json(str(path), lambda held: {**held, "a": 1}, strict=True),
    ):
        with pytest.raises(UnavailableError, match=r"a\.json cannot be read: it holds no JSON"):
            call()
    assert path.read_bytes() == raw
    update_json(str(path), lambda held: {**held, "a": 1})
    assert json.loads(path.read_bytes()) == {"a": 1}


def test_a_file_that_cannot_be_read_or_written_is_unavailable(tmp_path: Path) -> None:
    folder = tmp_path / "a.json"
    folder.mkdir()
    with pytest.raises(UnavailableError, match="cannot be read"):
        read_json(str(folder), strict=True)
    with pytest.raises(UnavailableError, match="cannot be written"):
        update_json(str(folder), lambda _: {"a": 1})
    (tmp_path / "file").write_text("")
    below = str(tmp_path / "file" / "a.json")
    assert read_json(below, strict=True) == {}
    with pytest.raises(UnavailableError, match="cannot be written"):
        update_json(below, lambda _: {"a": 1})


# --- logs that are appended to


OLD = [{"old": number} for number in range(10)]


class Appending:
    """Another process, which appends to ``log`` at one moment."""

    def __init__(self, log: JsonLog) -> None:
        self.log = log
        self.done = False

    def run(self, at: int, number: int) -> None:
        if number == at:
            self.done = True
            self.log.append({"new": "other"})


def full_log(path: Path) -> tuple[JsonLog, Appending]:
    """A rotating log that has no room for another line, but once it is rotated for several."""
    path.write_text("".join(json.dumps(record) + "\n" for record in OLD))
    size = path.stat().st_size
    log, other = (JsonLog(str(path), most_bytes=size, rotating=True) for _ in range(2))
    return log, Appending(other)


def before_calls(monkeypatch: pytest.MonkeyPatch, before: Callable[[int], None]) -> None:
    """Let ``before`` run ahead of each call of the system on files, with the call's number."""
    numbers = count()

    def instrument(where: object, name: str, real: Any) -> None:
        def call(*args: Any, **options: Any) -> Any:
            before(next(numbers))
            return real(*args, **options)

        monkeypatch.setattr(where, name, call, raising=False)

    for name in ("open", "stat", "fstat", "write", "replace", "close", "unlink"):
        instrument(os, name, getattr(os, name))
    instrument(json_file, "open", open)


@pytest.mark.parametrize("own_call", ["append", "records"])
def test_no_line_is_lost_wherever_another_process_appends_meanwhile(
    tmp_path: Path, own_call: str
) -> None:
    """Ahead of every call of the system that this one makes, another appends from begin to end."""
    for at in count():
        log, appending = full_log(tmp_path / f"{at}.jsonl")
        with pytest.MonkeyPatch.context() as patched:
            before_calls(patched, partial(appending.run, at))
            if own_call == "append":
                log.append({"new": "own"})
            else:
                assert [record for record in log.records() if "old" in record] == OLD, at
        if not appending.done:
            break
        records = list(log.records())
        assert [record for record in records if "old" in record] == OLD, at
        new = sorted(record["new"] for record in records if "new" in record)
        assert new == ["other", "own"][: 1 + (own_call == "append")], at
    assert at > 1, "there were calls of the system to come before"


def test_a_log_that_another_process_rotates_just_now_takes_the_line(tmp_path: Path) -> None:
    log, _ = full_log(tmp_path / "a.jsonl")
    with Lease(f"{log.path}.lock").held(0), ThreadPoolExecutor(1) as pool:
        pool.submit(log.append, {"new": 1}).result(60)
    assert list(log.records()) == [*OLD, {"new": 1}]
    assert not os.path.exists(f"{log.path}.1")
    log.append({"new": 2})
    assert list(log.records()) == [*OLD, {"new": 1}, {"new": 2}]
    assert (tmp_path / "a.jsonl").read_text() == '{"new":2}\n'


def test_a_log_that_does_not_rotate_is_full(tmp_path: Path) -> None:
    log = JsonLog(str(tmp_path / "logs" / "a.jsonl"), most_bytes=20)
    assert list(log.records()) == []
    for number in range(9):
        log.append({"number": number})
    assert list(log.records()) == [{"number": 0}, {"number": 1}]
    assert log.is_full
    assert not JsonLog(log.path, most_bytes=40).is_full
    assert os.listdir(tmp_path / "logs") == ["a.jsonl"]
    if os.name == "posix":
        assert os.stat(log.path).st_mode & 0o777 == 0o600
        assert os.stat(tmp_path / "logs").st_mode & 0o777 == 0o700


def test_damaged_lines_of_a_log_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n\xff\n' + b"[" * 9999 + b'\n[2]\n{"b"')
    assert list(JsonLog(str(path), most_bytes=50_000).records()) == [{"a": 1}, [2]]


def test_a_record_behind_half_a_line_is_kept(tmp_path: Path) -> None:
    """A disk that was full leaves one."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a": ', encoding="utf-8")
    JsonLog(str(path), most_bytes=50_000).append({"a": 3})
    assert list(JsonLog(str(path), most_bytes=50_000).records()) == [{"a": 1}, {"a": 3}]


@pytest.mark.parametrize("rotating", [False, True])
def test_a_log_that_cannot_be_written_is_left_alone(tmp_path: Path, rotating: bool) -> None:
    (tmp_path / "file").write_text("")
    JsonLog(str(tmp_path / "file" / "a"), most_bytes=9, rotating=rotating).append({"a": 1})
    folder = tmp_path / "folder"
    folder.mkdir()
    log = JsonLog(str(folder), most_bytes=1 << 20, rotating=rotating)
    log.append({"a": 1})
    with pytest.raises(UnavailableError, match="directory"):
        list(log.records())
    (tmp_path / "b.lock").mkdir()  # where the lock should be
    (tmp_path / "b").write_text("x" * 9)
    JsonLog(str(tmp_path / "b"), most_bytes=9, rotating=rotating).append({"a": 1})
    assert (tmp_path / "b").read_text() == "x" * 9
    target = tmp_path / "elsewhere"
    (tmp_path / "link").symlink_to(target)
    JsonLog(str(tmp_path / "link"), most_bytes=9, rotating=rotating).append({"a": 1})
    assert not target.exists()
