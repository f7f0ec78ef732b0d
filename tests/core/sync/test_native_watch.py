"""How events of the system are judged, with events that the test makes."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import UnavailableError
from commonplace.model.documents import WatchedPath
from commonplace.sync.native import MODIFIED, NativeWatch, native_events
from commonplace.sync.watcher import WatchDeps

watchfiles = pytest.importorskip("watchfiles")

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator
    from pathlib import Path

    from commonplace.sync.native import Events

ADDED, DELETED = 1, 3


class System:
    """A system that reports what the test says, group by group, and then nothing."""

    def __init__(self, takes: float = 0.0) -> None:
        self.now = 0.0
        self.takes = takes  # seconds that opening takes
        self.opened: list[Collection[str]] = []
        self.closed = 0
        self.groups: list[Events] = []

    def events(
        self, folders: Collection[str], _stop: threading.Event
    ) -> Generator[Events, None, None]:
        self.opened.append(folders)
        self.now += self.takes
        try:
            yield set()
            while True:
                yield self.groups.pop(0) if self.groups else set()
        finally:
            self.closed += 1

    def watch(self, path: Path) -> NativeWatch:
        paths = [WatchedPath(str(path), suffix=".md")]
        return NativeWatch(paths, threading.Event(), clock=lambda: self.now, events=self.events)


@pytest.mark.parametrize("kind", [ADDED, DELETED])
def test_a_path_that_was_replaced_is_watched_again_though_it_has_the_same_inode(
    tmp_path: Path, kind: int
) -> None:
    system = System()
    with closing(system.watch(tmp_path).changes()) as changes:
        assert next(changes) == {str(tmp_path)}
        assert next(changes) == set()
        system.groups = [{(kind, str(tmp_path))}]
        assert next(changes) == set()
        assert next(changes) == {str(tmp_path)}
    assert (len(system.opened), system.closed) == (2, 2)


def test_a_path_whose_permissions_were_changed_is_the_same(tmp_path: Path) -> None:
    system = System()
    with closing(system.watch(tmp_path).changes()) as changes:
        next(changes)
        system.groups = [{(MODIFIED, str(tmp_path))}]
        assert [next(changes) for _ in range(4)] == [set()] * 4
    assert len(system.opened) == 1


def test_a_new_folder_is_reported_and_watched(tmp_path: Path) -> None:
    system = System()
    watch = system.watch(tmp_path)
    with closing(watch.changes()) as changes:
        next(changes)
        next(changes)
        new, note = tmp_path / "new", tmp_path / "a.md"
        new.mkdir()
        (new / "inner").mkdir()
        system.groups = [
            {(ADDED, str(new)), (MODIFIED, str(note)), (MODIFIED, str(tmp_path / "a.txt"))}
        ]
        assert next(changes) == {str(new), str(note)}
        assert next(changes) == {str(new), str(new / "inner")}
        assert watch.folders == {str(tmp_path), str(new), str(new / "inner")}
    assert system.opened[1] == watch.folders
    assert system.closed == 2


def test_a_folder_that_the_system_did_not_report_among_much_else_is_found(tmp_path: Path) -> None:
    system = System()
    note, new = tmp_path / "a.md", tmp_path / "new"
    with closing(system.watch(tmp_path).changes()) as changes:
        assert next(changes) == {str(tmp_path)}
        assert next(changes) == set()
        new.mkdir()
        system.groups = [{(MODIFIED, str(note))}]
        assert next(changes) == {str(note)}
        assert next(changes) == set()
        system.now = 6.0  # some seconds in which all is quiet
        assert next(changes) == set()
        assert next(changes) == {str(tmp_path), str(new)}
    assert system.opened[-1] == {str(tmp_path), str(new)}


def test_a_folder_that_is_called_like_a_note_is_reported_with_the_one_around_it(
    tmp_path: Path,
) -> None:
    system = System()
    folder = tmp_path / "n.md"
    folder.mkdir()
    with closing(system.watch(tmp_path).changes()) as changes:
        next(changes)
        next(changes)
        folder.rename(tmp_path.parent / "elsewhere")
        system.groups = [{(DELETED, str(folder))}]
        assert next(changes) == {str(folder), str(tmp_path)}


def test_watching_is_not_restarted_all_the_time(tmp_path: Path) -> None:
    system = System(takes=1.1)
    with closing(system.watch(tmp_path).changes()) as changes:
        next(changes)
        next(changes)
        for name in "abc":
            (tmp_path / name).mkdir()
            system.groups = [{(ADDED, str(tmp_path / name))}]
            assert next(changes) == {str(tmp_path / name)}
        assert len(system.opened) == 1
        system.now += 20.0
        assert next(changes) == {str(tmp_path / name) for name in "abc"}
        assert len(system.opened) == 2


def test_all_is_closed_in_the_end(tmp_path: Path, watch: Callable[..., Any]) -> None:
    opened: list[object] = []
    closed: list[object] = []

    def counted(folders: Collection[str], stop: threading.Event) -> Generator[Events, None, None]:
        opened.append(folders)
        try:
            yield from native_events(folders, stop)
        finally:
            closed.append(folders)

    recorder = watch(WatchedPath(str(tmp_path)), deps=WatchDeps(events=counted))
    recorder.hears((tmp_path / "new").mkdir, str(tmp_path / "new"))
    recorder.wait_for(lambda: recorder.state().folders == 2)
    recorder.watcher.stop()
    assert len(opened) > 1
    assert closed == opened


def test_the_library_is_not_to_ignore_what_it_cannot_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would ignore folders beyond the system's limit together with those that are closed."""
    given: dict[str, object] = {}

    def refuse(*_: object, **others: object) -> object:
        given.update(others)
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr(watchfiles, "watch", refuse)
    with pytest.raises(UnavailableError, match="no more folders"):
        next(native_events([str(tmp_path)], threading.Event()))
    assert given["ignore_permission_denied"] is False
    assert given["force_polling"] is False
    assert given["recursive"] in (True, False)
