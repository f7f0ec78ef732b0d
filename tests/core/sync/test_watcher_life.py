"""A watcher begins, ends, and leaves nothing behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.model.documents import WatchedPath
from commonplace.sync.watcher import Watcher, WatchState

pytest.importorskip("watchfiles")

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# These wait for processes, disks and watchers: over a minute in all, for CI.
pytestmark = pytest.mark.slow

CYCLES = 20


def names_of(folder: str) -> set[str]:
    return set(os.listdir(folder)) if os.path.isdir(folder) else set()


def settled(folder: str, most: int) -> int:
    """How many things are in a folder of ``/proc``, once they are ``most`` or time has passed.

    The library's own thread goes a moment later.
    """
    tick = threading.Event()
    until = time.monotonic() + 30
    while len(names_of(folder)) > most and time.monotonic() < until:
        tick.wait(0.01)
    return len(names_of(folder))


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts by /proc")
@pytest.mark.parametrize("force_polling", [False, True])
def test_no_thread_and_no_descriptor_is_left(tmp_path: Path, force_polling: bool) -> None:
    def cycle() -> None:
        begun = threading.Event()
        watcher = Watcher(
            lambda: [WatchedPath(str(tmp_path))],
            lambda _: begun.set(),
            force_polling=force_polling,
        )
        watcher.start()
        assert begun.wait(30)
        watcher.stop()

    cycle()
    gc.collect()
    threads, files = threading.active_count(), len(names_of("/proc/self/fd"))
    tasks = len(names_of("/proc/self/task"))
    for _ in range(CYCLES):
        cycle()
    assert threading.active_count() == threads
    assert settled("/proc/self/task", tasks) <= tasks
    assert settled("/proc/self/fd", files) <= files


def test_what_was_not_begun_is_off_and_may_be_ended(tmp_path: Path) -> None:
    watcher = Watcher(lambda: [WatchedPath(str(tmp_path))], lambda _: None)
    assert watcher.state() == WatchState("off", "", None, 0)
    watcher.stop()
    watcher.stop()
    assert watcher.state() == WatchState("off", "", None, 0)


def test_it_begins_once_however_often_it_is_started(
    tmp_path: Path, watch: Callable[..., Any]
) -> None:
    recorder = watch(WatchedPath(str(tmp_path)))
    before = threading.active_count()
    recorder.watcher.start()
    assert threading.active_count() == before
    recorder.watcher.stop()
    assert recorder.state() == WatchState("off", "", None, 0)
    calls = len(recorder.calls)
    (tmp_path / "a.md").write_text("the ant")
    recorder.watcher.start()
    recorder.wait_for(lambda: len(recorder.calls) > calls)
    assert recorder.calls[calls] == {str(tmp_path)}
    recorder.hears(lambda: (tmp_path / "a.md").write_text("the bee"), str(tmp_path / "a.md"))


def test_nothing_is_reported_after_the_end(tmp_path: Path, watch: Callable[..., Any]) -> None:
    recorder = watch(WatchedPath(str(tmp_path)))
    (tmp_path / "a.md").write_text("the ant")
    recorder.watcher.stop()
    calls = list(recorder.calls)
    (tmp_path / "b.md").write_text("the ant")
    assert recorder.calls == calls


def test_it_may_be_ended_by_whom_it_tells(tmp_path: Path) -> None:
    ended = threading.Event()

    def end(_: frozenset[str]) -> None:
        watcher.stop()
        ended.set()

    watcher = Watcher(lambda: [WatchedPath(str(tmp_path))], end)
    watcher.start()
    assert ended.wait(30)
    assert watcher.state().mode == "off"
    watcher.stop()


def test_many_may_end_it_at_once(tmp_path: Path, watch: Callable[..., Any]) -> None:
    recorder = watch(WatchedPath(str(tmp_path)))
    threads = [threading.Thread(target=recorder.watcher.stop) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert recorder.state().mode == "off"


def test_a_thread_that_died_is_not_said_to_watch(tmp_path: Path, watch: Callable[..., Any]) -> None:
    recorder = watch(WatchedPath(str(tmp_path)), begin=False)

    loop = type("Loop", (), {"state": WatchState("polling", "for a reason", 1.0, 3)})
    recorder.watcher._running = loop, threading.Thread()  # as another process sees it after a fork
    assert recorder.state() == WatchState("off", "the watcher's thread has ended", 1.0, 0)
    recorder.watcher._running = None


@pytest.mark.parametrize("more", ["", ", force_polling=True, poll_seconds=3600"])
def test_a_program_ends_though_its_watcher_was_not_ended(tmp_path: Path, more: str) -> None:
    program = f"""
import threading
from commonplace.model.documents import WatchedPath
from commonplace.sync.watcher import Watcher
begun = threading.Event()
Watcher(lambda: [WatchedPath({str(tmp_path)!r})], lambda paths: begun.set(){more}).start()
assert begun.wait(30)
"""
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")
