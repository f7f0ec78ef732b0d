"""Changes found by looking again, and how often that is done."""

from __future__ import annotations

import errno
import os
import threading
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.model.documents import WatchedPath
from commonplace.sync.folders import Poller, stamps_of
from commonplace.sync.watcher import WatchDeps

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def poller_of(*places: WatchedPath) -> Poller:
    return Poller(places, least=2.0, cpu=lambda: 0.0, wall=lambda: 0.0)


def test_files_that_come_change_and_go_are_found_once(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "a.md"
    poller = poller_of(WatchedPath(str(tmp_path), suffix=".md"))
    assert poller.changes() == frozenset()
    file.parent.mkdir()
    file.write_text("the ant")
    assert poller.changes() == {str(file)}
    file.write_text("the bees")
    assert poller.changes() == {str(file)}
    (tmp_path / "a.txt").write_text("the ant")
    assert poller.changes() == frozenset()
    file.rename(tmp_path / "b.md")
    assert poller.changes() == {str(file), str(tmp_path / "b.md")}
    (tmp_path / "b.md").unlink()
    assert poller.changes() == {str(tmp_path / "b.md")}


def test_a_file_of_the_same_size_and_time_differs_from_the_one_before(tmp_path: Path) -> None:
    file, other = tmp_path / "a.md", tmp_path / "new"
    file.write_text("the ant")
    poller = poller_of(WatchedPath(str(file)))
    other.write_text("the bee")
    found = file.stat()
    os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
    other.replace(file)
    assert poller.changes() == {str(file)}


def test_what_does_not_count_is_not_looked_at(tmp_path: Path) -> None:
    for folder in (".git", "node_modules", "a"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text("the ant")
    (tmp_path / "link.md").symlink_to(tmp_path / "a" / "a.md")
    (tmp_path / "linked").symlink_to(tmp_path / "a")
    (tmp_path / "folder.md").mkdir()
    found, folders = stamps_of([WatchedPath(str(tmp_path), suffix=".md")])
    assert set(found) == {str(tmp_path / "a" / "a.md")}
    assert folders == 3
    assert stamps_of([WatchedPath(str(tmp_path), recursive=False, suffix=".md")]) == ({}, 1)
    assert stamps_of([WatchedPath(str(tmp_path / "link.md"), suffix=".md")]) == ({}, 0)
    assert stamps_of([WatchedPath(str(tmp_path / "a\0b"))]) == ({}, 0)


def test_a_folder_that_cannot_be_listed_holds_nothing_and_the_others_are_looked_at(
    tmp_path: Path,
) -> None:
    for folder in ("a", "closed"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text("the ant")

    def scandir(folder: str) -> Any:
        if folder.endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", folder)
        return os.scandir(folder)

    found, _ = stamps_of([WatchedPath(str(tmp_path))], scandir=scandir)
    assert set(found) == {str(tmp_path / "a" / "a.md")}


@pytest.mark.parametrize(
    ("cpu", "wall", "pause"), [(0.001, 0.001, 2.0), (0.24, 0.3, 30.0), (0.01, 8.0, 40.0)]
)
def test_looking_takes_a_hundredth_of_a_core_and_a_fifth_of_the_time_at_most(
    tmp_path: Path, cpu: float, wall: float, pause: float
) -> None:
    cpus, walls = count(step=1), count(step=1)
    poller = Poller(
        [WatchedPath(str(tmp_path))],
        least=2.0,
        cpu=lambda: next(cpus) * cpu,
        wall=lambda: next(walls) * wall,
    )
    assert poller.pause == pytest.approx(pause)
    poller.changes()
    assert poller.pause == pytest.approx(pause)


@pytest.fixture
def steps() -> tuple[WatchDeps, Callable[[], None], list[float]]:
    """WatchDeps whose waiting ends when the test says so; how; and what was waited for."""
    waited: list[float] = []
    go = threading.Semaphore(0)

    def wait(stop: threading.Event, seconds: float) -> None:
        waited.append(seconds)
        while not stop.is_set() and not go.acquire(timeout=0.01):
            pass

    return WatchDeps(wait=wait, cpu=lambda: 0.0), go.release, waited


def test_a_watcher_that_is_to_poll_polls_and_says_so(
    tmp_path: Path,
    watch: Callable[..., Any],
    steps: tuple[WatchDeps, Callable[[], None], list[float]],
) -> None:
    deps, step, waited = steps
    recorder = watch(
        WatchedPath(str(tmp_path), suffix=".md"), deps=deps, force_polling=True, poll_seconds=7.0
    )
    assert recorder.calls == [{str(tmp_path)}]
    file = tmp_path / "deep" / "a.md"
    file.parent.mkdir()
    file.write_text("the ant")
    recorder.hears(step, str(file))
    file.unlink()
    recorder.hears(step, str(file))
    assert waited[0] == 7.0
    state = recorder.state()
    assert (state.mode, state.folders) == ("polling", 2)
    assert state.reason == "polling was asked for; files are compared every 7 s"
    assert recorder.calls == [{str(tmp_path)}, {str(file)}, {str(file)}]
