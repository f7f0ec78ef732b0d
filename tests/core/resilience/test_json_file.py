"""Files of state that several threads and processes change: no change is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import IndexBusyError, UnavailableError
from commonplace.resilience.json_file import read_json, update_json
from commonplace.resilience.lock import Lease

if TYPE_CHECKING:
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
