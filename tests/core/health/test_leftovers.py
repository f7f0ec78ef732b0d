"""Which temporary files are swept away, and which are left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commonplace.health.state_files import delete_files, leftovers

NOW = 1_800_000_000.0
HOUR = 3_600
DEAD, ALIVE = 4711, 4712

OURS = [
    "state/memory/.commonplace-4711-0123abcd.tmp",
    "state/memory/.commonplace-4711-9876fedc.tmp",
    "state/memory/breakers/.commonplace-4711-0123abcd.tmp",
    "state/memory/batches/.commonplace-4711-0123abcd.tmp",
    "cache/.commonplace-4711-0123abcd.tmp",
]
NOT_OURS = [
    "state/memory/spaces.json",
    "state/memory/main-2ea33199.sqlite",
    "state/memory/embeddings.sqlite-wal",
    "state/memory/notes.4711",
    "state/memory/spaces.json.bak",
    "state/memory/spaces.json.20260801",
    "state/memory/spaces.json.lock",
    "state/memory/.commonplace-4711-0123abcd.tmp.md",
    "state/memory/breakers/main.builtin.search",
    "state/memory/batches/b-1.json",
    "cache/entry-points-012.txt",
    "cache/something.4711",
    "state/.commonplace-4711-0123abcd.tmp",
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in (*OURS, *NOT_OURS):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half of it")
        os.utime(path, (NOW - 2 * HOUR, NOW - 2 * HOUR))
    return tmp_path


def found(place: Path, *, now: float = NOW, alive: int = ALIVE) -> set[str]:
    files = leftovers(
        str(place / "state"), str(place / "cache"), now=now, lives=lambda pid: pid == alive
    )
    return {Path(file).relative_to(place).as_posix() for file in files}


def test_an_old_file_of_ours_without_its_process_is_found(place: Path) -> None:
    assert found(place) == set(OURS)


def test_what_a_living_process_writes_is_left(place: Path) -> None:
    assert found(place, alive=DEAD) == set()


def test_what_is_young_is_left_and_so_is_all_after_the_clock_was_set_back(place: Path) -> None:
    assert found(place, now=NOW - 1.5 * HOUR) == set()
    assert found(place, now=NOW - 1_000 * HOUR) == set()


def test_links_and_folders_are_not_ours(place: Path) -> None:
    memory = place / "state/memory"
    target = memory / "notes.4711"
    (memory / ".commonplace-4713-00000000.tmp").mkdir()
    (memory / ".commonplace-4714-00000000.tmp").symlink_to(target)
    assert found(place) == set(OURS)


def test_a_sweep_takes_what_it_can(place: Path) -> None:
    files = [str(place / name) for name in OURS]
    assert delete_files([*files, str(place / "gone")]) == len(OURS)
    assert found(place) == set()
    assert all((place / name).exists() for name in NOT_OURS)


def test_folders_that_are_not_there_hold_nothing(tmp_path: Path) -> None:
    assert found(tmp_path) == set()


def test_a_process_that_is_asked_for_by_its_number(place: Path) -> None:
    mine = place / f"state/memory/.commonplace-{os.getpid()}-00000000.tmp"
    mine.write_text("half of it")
    os.utime(mine, (NOW - 2 * HOUR, NOW - 2 * HOUR))
    files = set(leftovers(str(place / "state"), str(place / "cache"), now=NOW))
    assert str(mine) not in files or os.name != "posix"
