"""A watcher where the operating system does not help, or something else goes wrong."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import how_to_install
from commonplace.model.documents import WatchedPath
from commonplace.sync.native import native_events
from commonplace.sync.watcher import WatchDeps

watchfiles = pytest.importorskip("watchfiles")

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator
    from pathlib import Path

    from commonplace.sync.native import Events

# These wait for processes, disks and watchers: over a minute in all, for CI.
pytestmark = pytest.mark.slow


class Later:
    """A clock that can be put forward, and waits that end when it is."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._moved = threading.Condition()

    def __call__(self) -> float:
        return time.monotonic() + self._ahead

    def forward(self, seconds: float) -> None:
        with self._moved:
            self._ahead += seconds
            self._moved.notify_all()

    def wait(self, stop: threading.Event, seconds: float) -> None:
        until = self() + seconds
        with self._moved:
            while not stop.is_set() and self() < until:
                self._moved.wait(0.01)


@pytest.fixture
def later() -> Later:
    return Later()


LIMIT = (
    'OS file watch limit reached. about ["/ws/memory"] (Error { kind: MaxFilesWatch, paths: [] })'
)
OPEN = "Error creating recommended watcher: Too many open files (os error 24)"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            OSError(LIMIT),
            "the system watches no more folders for this user (raise fs.inotify.max_user_watches)",
        ),
        (
            RuntimeError(OPEN),
            (
                "the system gives this user no more watchers or open files"
                " (raise fs.inotify.max_user_instances, or the limit of open files)"
            ),
        ),
        (OSError("of another kind"), "the system does not watch: of another kind"),
    ],
)
def test_without_the_system_it_polls_says_why_and_tries_again(
    tmp_path: Path,
    watch: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    later: Later,
    error: Exception,
    reason: str,
) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(watchfiles, "watch", refuse)
        recorder = watch(WatchedPath(str(tmp_path)), deps=WatchDeps(clock=later, wait=later.wait))
        state = recorder.state()
        assert state.mode == "polling"
        assert state.reason.startswith(f"{reason}; files are compared every ")
        file = tmp_path / "a.md"
        file.write_text("the ant")
        recorder.hears(lambda: later.forward(60), str(file))
    recorder.hears(lambda: later.forward(1000), str(tmp_path))
    recorder.wait_for(lambda: recorder.state().mode == "native")
    assert recorder.state().reason == ""
    assert recorder.state().since >= state.since
    recorder.hears(lambda: file.write_text("the bee"), str(file))


def test_without_the_library_it_polls_and_says_what_to_install(
    tmp_path: Path, watch: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    state = watch(WatchedPath(str(tmp_path))).state()
    assert state.mode == "polling"
    assert "watchfiles cannot be loaded" in state.reason
    assert f"({how_to_install('commonplace[watch]')})" in state.reason


def test_a_name_that_the_library_cannot_tell_does_not_end_watching(
    tmp_path: Path, watch: Callable[..., Any], later: Later
) -> None:
    recorder = watch(WatchedPath(str(tmp_path)), deps=WatchDeps(clock=later, wait=later.wait))
    odd = os.fsencode(tmp_path) + b"/\xe9.md"

    def write() -> None:
        try:
            with open(odd, "w") as file:
                file.write("the ant")
        except OSError:
            pytest.skip("the file system does not take such a name")

    recorder.hears(write, str(tmp_path))
    recorder.wait_for(lambda: recorder.state().mode == "polling")
    assert "Unable to decode path" in recorder.state().reason
    recorder.hears(lambda: later.forward(1000), str(tmp_path))
    recorder.wait_for(lambda: recorder.state().mode == "native")
    # What has worked for long is begun again at once.
    later.forward(100)
    recorder.hears(write, str(tmp_path))
    file = tmp_path / "a.md"
    recorder.hears(lambda: file.write_text("the bee"), str(file))
    assert recorder.state().mode == "native"


def test_folders_that_go_while_they_are_handed_over_are_no_trouble(
    tmp_path: Path, watch: Callable[..., Any]
) -> None:
    faults: list[type[OSError]] = [FileNotFoundError, PermissionError]

    def events(folders: Collection[str], stop: threading.Event) -> Generator[Events, None, None]:
        if faults:
            raise faults.pop()
        yield from native_events(folders, stop)

    recorder = watch(WatchedPath(str(tmp_path)), deps=WatchDeps(events=events))
    assert (recorder.state().mode, faults) == ("native", [])


def test_folders_that_come_while_they_are_handed_over_are_watched(
    tmp_path: Path, watch: Callable[..., Any]
) -> None:
    wanted = ["a/b/c", "a/b", "a"]

    def events(folders: Collection[str], stop: threading.Event) -> Generator[Events, None, None]:
        if wanted:
            (tmp_path / wanted.pop()).mkdir()
        yield from native_events(folders, stop)

    recorder = watch(WatchedPath(str(tmp_path)), deps=WatchDeps(events=events))
    file = tmp_path / "a" / "b" / "c" / "a.md"
    recorder.hears(lambda: file.write_text("the ant"), str(file))


def test_folders_that_never_rest_are_polled(tmp_path: Path, watch: Callable[..., Any]) -> None:
    def events(folders: Collection[str], stop: threading.Event) -> Generator[Events, None, None]:
        for group in native_events(folders, stop):
            (tmp_path / str(len(folders))).mkdir(exist_ok=True)
            yield group

    recorder = watch(WatchedPath(str(tmp_path)), deps=WatchDeps(events=events))
    assert recorder.state().mode == "polling"
    assert "folders come and go faster" in recorder.state().reason


def test_silent_file_systems_are_polled_at_once(tmp_path: Path, watch: Callable[..., Any]) -> None:
    recorder = watch(WatchedPath(str(tmp_path)), deps=WatchDeps(remote=lambda _: "nfs"))
    state = recorder.state()
    assert state.mode == "polling"
    assert state.reason.startswith(f"{tmp_path} is on nfs, which reports no changes; files are")


def test_a_silent_place_is_polled_beside_the_others(
    tmp_path: Path, watch: Callable[..., Any], later: Later
) -> None:
    far, near = tmp_path / "far", tmp_path / "near"
    far.mkdir()
    near.mkdir()
    recorder = watch(
        WatchedPath(str(far)),
        WatchedPath(str(near)),
        deps=WatchDeps(
            remote=lambda path: "nfs" if path == str(far) else "", clock=later, wait=later.wait
        ),
    )
    state = recorder.state()
    assert state.mode == "native"
    assert state.reason == f"{far} is on nfs, which reports no changes"
    assert state.folders == 2
    recorder.hears(lambda: (near / "a.md").write_text("the ant"), str(near / "a.md"))
    (far / "a.md").write_text("the ant")
    recorder.hears(lambda: later.forward(100), str(far / "a.md"))


def test_what_goes_wrong_is_said_and_tried_again(
    tmp_path: Path, watch: Callable[..., Any], later: Later
) -> None:
    recorder = watch(begin=False, deps=WatchDeps(clock=later, wait=later.wait))
    answers: list[object] = [ValueError("no such source"), [WatchedPath(str(tmp_path))]]

    def watched() -> Any:
        answer = answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    recorder.watcher._watched = watched
    recorder.watcher.start()
    failed = "watching failed: ValueError: no such source"
    soon(lambda: recorder.state().reason == failed)
    assert recorder.state().mode == "off"
    del answers[0]
    recorder.hears(lambda: later.forward(1000), str(tmp_path))
    assert recorder.state().mode == "native"


def test_a_listener_that_fails_is_said_and_asked_again(
    tmp_path: Path, watch: Callable[..., Any], later: Later
) -> None:
    recorder = watch(WatchedPath(str(tmp_path)), deps=WatchDeps(clock=later, wait=later.wait))
    hear = recorder.watcher._changed

    def fail(paths: frozenset[str]) -> None:
        recorder.watcher._running[0]._changed = hear
        raise KeyError(len(paths))

    recorder.watcher._running[0]._changed = fail
    (tmp_path / "a.md").write_text("the ant")
    soon(lambda: recorder.state().reason == "watching failed: KeyError: 1")
    recorder.hears(lambda: later.forward(1000), str(tmp_path))
    assert recorder.state().mode == "native"


def test_other_places_are_watched_once_they_are_named(
    tmp_path: Path, watch: Callable[..., Any], later: Later
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    places = [WatchedPath(str(tmp_path / "one"))]
    recorder = watch(begin=False, deps=WatchDeps(clock=later, wait=later.wait))
    recorder.watcher._watched = lambda: tuple(places)
    recorder.begin()
    places[:] = [WatchedPath(str(tmp_path / "two"))]
    recorder.hears(lambda: later.forward(10), str(tmp_path / "two"))
    recorder.hears(
        lambda: (tmp_path / "two" / "a.md").write_text("x"), str(tmp_path / "two" / "a.md")
    )


def test_a_folder_around_everything_that_is_replaced_is_noticed(
    tmp_path: Path, watch: Callable[..., Any], later: Later
) -> None:
    """No event says that a folder far above was moved, or another disk mounted over it."""
    memory = tmp_path / "home" / "ws" / "memory"
    memory.mkdir(parents=True)
    recorder = watch(WatchedPath(str(memory)), deps=WatchDeps(clock=later, wait=later.wait))
    (tmp_path / "home").rename(tmp_path / "old")
    memory.mkdir(parents=True)
    recorder.hears(lambda: later.forward(10), str(memory))
    recorder.hears(lambda: (memory / "a.md").write_text("the ant"), str(memory / "a.md"))


def test_folders_that_came_while_the_system_was_overrun_are_found(
    tmp_path: Path, watch: Callable[..., Any], later: Later
) -> None:
    """Of what is too much at once, the system forgets some, and the library does not tell."""

    def forgetful(folders: Collection[str], stop: threading.Event) -> Generator[Events, None, None]:
        for group in native_events(folders, stop):
            yield {event for event in group if "lost" not in event[1]}

    recorder = watch(
        WatchedPath(str(tmp_path)),
        deps=WatchDeps(events=forgetful, clock=later, wait=later.wait),
    )
    lost, file = tmp_path / "lost", tmp_path / "a.md"
    lost.mkdir()
    recorder.hears(lambda: file.write_text("the ant"), str(file))
    assert recorder.state().folders == 1
    recorder.hears(lambda: later.forward(10), str(lost), str(tmp_path))
    assert recorder.state().folders == 2


def soon(wanted: Callable[[], bool]) -> None:
    """Wait until ``wanted``, which is not reported."""
    tick = threading.Event()
    until = time.monotonic() + 30
    while not wanted():
        assert time.monotonic() < until
        tick.wait(0.01)
