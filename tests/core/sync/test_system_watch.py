"""What is made of the system's words, with a system that says what the test wants."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import UnavailableError
from commonplace.model.documents import WatchedPath
from commonplace.sync.native import MODIFIED, Events, Native, SystemWatch
from commonplace.sync.watcher import Means

rust = pytest.importorskip("watchfiles._rust_notify")

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

ADDED, DELETED = 1, 3


class Said(Native):
    """Says what it is given, and then nothing."""

    def __init__(self, folders: Collection[str]) -> None:
        self.folders = folders
        self.words: list[Events] = []
        self.left: Events = set()
        self.closed = False

    def wait(self, _: object) -> Events | None:
        return self.words.pop(0) if self.words else None

    def rest(self) -> Events:
        return self.left

    def close(self) -> None:
        self.closed = True


class Never:
    def is_set(self) -> bool:
        return False


@pytest.fixture
def opened() -> list[Said]:
    return []


@pytest.fixture
def system(tmp_path: Path, opened: list[Said]) -> SystemWatch:
    def open_native(folders: Collection[str]) -> Said:
        opened.append(Said(folders))
        return opened[-1]

    places = [WatchedPath(str(tmp_path), suffix=".md")]
    return SystemWatch(places, open_native=open_native, clock=time.monotonic)


@pytest.mark.parametrize("kind", [ADDED, DELETED])
def test_a_place_that_was_made_anew_is_another_though_it_has_the_same_inode(
    tmp_path: Path, system: SystemWatch, opened: list[Said], kind: int
) -> None:
    assert system.stands()
    opened[0].words = [{(kind, str(tmp_path))}]
    assert system.changes(Never()) == frozenset()
    assert system.in_doubt
    assert not system.stands()


def test_a_place_whose_rights_were_changed_is_the_same(
    tmp_path: Path, system: SystemWatch, opened: list[Said]
) -> None:
    opened[0].words = [{(MODIFIED, str(tmp_path))}]
    system.changes(Never())
    assert system.in_doubt
    assert system.stands()
    assert not system.in_doubt


def test_what_changes_while_other_folders_are_handed_over_is_told(
    tmp_path: Path, system: SystemWatch, opened: list[Said]
) -> None:
    (tmp_path / "new").mkdir()
    opened[0].words = [{(ADDED, str(tmp_path / "new"))}]
    opened[0].left = {(MODIFIED, str(tmp_path / "a.md")), (MODIFIED, str(tmp_path / "a.txt"))}
    told = system.changes(Never())
    assert told == frozenset({str(tmp_path / "new"), str(tmp_path / "a.md")})
    assert [native.closed for native in opened] == [True, False]
    assert opened[1].folders == {str(tmp_path), str(tmp_path / "new")}
    system.close()
    assert opened[1].closed


def test_other_folders_are_not_handed_over_all_the_time(tmp_path: Path, opened: list[Said]) -> None:
    now = [0.0]

    def open_native(folders: Collection[str]) -> Said:
        now[0] += 1.0
        opened.append(Said(folders))
        return opened[-1]

    system = SystemWatch(
        [WatchedPath(str(tmp_path))], open_native=open_native, clock=lambda: now[0]
    )
    for name in "abc":
        (tmp_path / name).mkdir()
        opened[-1].words = [{(ADDED, str(tmp_path / name))}]
        assert str(tmp_path / name) in (system.changes(Never()) or ())
    assert len(opened) == 2
    assert not system.is_due()
    now[0] += 20.0
    assert system.is_due()
    assert system.renew() == {str(tmp_path / "b"), str(tmp_path / "c")}
    assert not system.is_due()


def test_all_is_closed_in_the_end(
    tmp_path: Path, watch: Callable[..., Any], opened: list[Native]
) -> None:
    closed = []

    class Counted(Native):
        def __init__(self, folders: Collection[str]) -> None:
            super().__init__(folders)
            opened.append(self)

        def close(self) -> None:
            closed.append(self)
            super().close()

    told = watch(WatchedPath(str(tmp_path)), means=Means(open_native=Counted))
    told.hears((tmp_path / "new").mkdir, str(tmp_path / "new"))
    told.watcher.stop()
    assert len(opened) > 1
    assert closed == opened


def test_the_library_is_not_to_ignore_what_it_cannot_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would ignore folders beyond the system's limit together with those that are closed."""
    given: dict[str, object] = {}

    def refuse(_: object, **others: object) -> object:
        given.update(others)
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr(rust, "RustNotify", refuse)
    with pytest.raises(UnavailableError, match="no more folders"):
        Native([str(tmp_path)])
    assert given["ignore_permission_denied"] is False
    assert given["force_polling"] is False
