"""Which folders are watched for which places."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.files.roots import is_ignored
from commonplace.model.documents import WatchedPath
from commonplace.sync.folders import FolderTimes, Relevance, folders_of, state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

NAMES = st.sampled_from(["a", "b", "memory", ".git", "node_modules", "venv"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PLACES = st.lists(st.tuples(PATHS, st.booleans()), min_size=1, max_size=4)


def make_tree(base: Path, folders: Sequence[str], files: Sequence[str]) -> None:
    """Folders and files, as far as names are not taken by the others."""
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    for folder in folders:
        (base / folder).mkdir(parents=True, exist_ok=True)
    for file in files:
        if (base / file).parent.is_dir() and not (base / file).exists():
            (base / file).touch()


@given(folders=st.lists(PATHS, max_size=8), files=st.lists(PATHS, max_size=4), places=PLACES)
def test_nothing_that_counts_can_change_unwatched_and_nothing_else_is_watched(
    tmp_path_factory: pytest.TempPathFactory,
    folders: list[str],
    files: list[str],
    places: list[tuple[str, bool]],
) -> None:
    base = tmp_path_factory.getbasetemp() / "tree"
    make_tree(base, folders, files)
    watched = [WatchedPath(str(base / path), recursive=deep) for path, deep in places]
    found = folders_of(watched)
    relevance = Relevance(watched)
    assert all(os.path.isdir(folder) for folder in found)
    # Whatever is made or changed in a folder that there is, next to what is there: if it counts,
    # the folder is watched.
    for folder, inner, names in os.walk(base):
        for name in [*inner, *names, "new"]:
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                counts = relevance.is_folder(path)
            else:
                counts = relevance.is_document(path)
            if counts:
                assert folder in found, path
    # Where a place is not there, something watches for it.
    for place in watched:
        if not os.path.isdir(place.location):
            assert state_of(place.location).anchor in found
    # And no folder is watched that is neither a place, nor around a missing one, nor below one.
    for folder in found:
        assert relevance.leads(folder) or relevance.is_folder(folder), folder


@given(place=PATHS, path=PATHS, deep=st.booleans(), suffix=st.sampled_from(["", "a", "y"]))
def test_what_counts_is_said_by_the_names(place: str, path: str, deep: bool, suffix: str) -> None:
    relevance = Relevance([WatchedPath(f"/{place}", recursive=deep, suffix=suffix)])
    below = path.removeprefix(f"{place}/").split("/") if path.startswith(f"{place}/") else []
    inside = bool(below) and not any(map(is_ignored, below[:-1])) and (deep or len(below) == 1)
    assert relevance.is_document(f"/{path}") == (
        (inside or path == place) and path.endswith(suffix)
    )
    assert relevance.is_folder(f"/{path}") == (inside and deep and not is_ignored(below[-1]))
    assert relevance.leads(f"/{path}") == (path == place or place.startswith(f"{path}/"))


def test_names_are_not_mixed_up_with_those_they_begin_with() -> None:
    relevance = Relevance([WatchedPath("/ws/memory")])
    assert not relevance.is_document("/ws/memory.md")
    assert not relevance.is_folder("/ws/memory-old/a")
    assert not relevance.leads("/w")


def test_a_place_that_is_the_root_of_the_disk() -> None:
    relevance = Relevance([WatchedPath("/", suffix=".md")])
    assert relevance.is_document("/a/b.md")
    assert relevance.is_folder("/a/b")
    assert not relevance.is_document("/a/.b/c.md")
    assert state_of("/").anchor == "/"


def test_links_are_followed_to_a_place_and_not_below(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "real" / "away").symlink_to(tmp_path / "far")
    (tmp_path / "place").symlink_to(tmp_path / "real")
    place = str(tmp_path / "place")
    assert folders_of([WatchedPath(place)]) == {str(tmp_path), place, f"{place}/inner"}


def test_a_link_that_leads_elsewhere_is_another_standing(tmp_path: Path) -> None:
    place = tmp_path / "place"
    for target in ("one", "two"):
        (tmp_path / target).mkdir()
    place.symlink_to(tmp_path / "one")
    before = state_of(str(place))
    assert state_of(str(place)) == before
    place.unlink()
    assert state_of(str(place)) != before
    place.symlink_to(tmp_path / "two")
    assert state_of(str(place)) != before


def test_a_file_that_is_replaced_stands_as_before(tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    before = state_of(str(file))
    for _ in range(2):
        (tmp_path / "new").write_text("the ant")
        (tmp_path / "new").replace(file)
        assert state_of(str(file)) == before


def test_a_name_that_no_index_can_hold_is_not_watched(tmp_path: Path) -> None:
    try:
        os.mkdir(os.fsencode(tmp_path) + b"/\xe9")
    except OSError:
        pytest.skip("the file system does not take such a name")
    assert folders_of([WatchedPath(str(tmp_path))]) == {str(tmp_path)}


def test_a_folder_that_cannot_be_listed_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "closed" / "inner").mkdir(parents=True)
    (tmp_path / "open").mkdir()

    def scandir(folder: str) -> Any:
        if folder.endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", folder)
        return os.scandir(folder)

    found = folders_of([WatchedPath(str(tmp_path))], scandir=scandir)
    assert found == {str(tmp_path), str(tmp_path / "open")}


def test_too_many_open_files_are_not_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    def scandir(folder: str) -> Any:
        raise OSError(errno.EMFILE, "Too many open files", folder)

    with pytest.raises(OSError, match="Too many"):
        folders_of([WatchedPath(str(tmp_path))], scandir=scandir)


def test_what_has_a_nul_in_it_is_nowhere(tmp_path: Path) -> None:
    assert folders_of([WatchedPath(str(tmp_path / "a\0b"))]) == {str(tmp_path)}


def test_folders_are_as_they_were_until_a_name_comes_goes_or_is_replaced(tmp_path: Path) -> None:
    folders = frozenset(map(str, (tmp_path, tmp_path / "inner")))
    (tmp_path / "inner").mkdir()
    now = 0.0
    times = FolderTimes(600.0, clock=lambda: now)

    def unchanged() -> bool:
        """Whether they hold, and whether they do once all has been looked at."""
        nonlocal now
        held = times.hold(folders)
        assert held or not times.hold(folders), "a look may be under way"
        now += 2.0
        assert times.hold(folders)
        return held

    def change(act: Callable[[], object]) -> None:
        """Do it, a while after the last change."""
        for folder in folders:
            os.utime(folder, ns=(0, 10**18 + int(now)))
        unchanged()
        act()

    assert not unchanged(), "nothing is known at first"
    assert unchanged()
    note = tmp_path / "inner" / "a.md"
    change(lambda: note.write_text("the ant"))
    assert not unchanged()
    change(lambda: note.with_name("b.md").write_text("the bee"))
    assert not unchanged()
    change(lambda: note.with_name("b.md").replace(note))
    assert not unchanged()
    change(note.unlink)
    assert not unchanged()
    change(note.parent.rmdir)
    for _ in range(3):
        now += 2.0
        assert not times.hold(folders), "one of them cannot be looked at"


def test_other_folders_none_and_a_look_long_ago_are_not_known(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    now = 0.0
    times = FolderTimes(600.0, clock=lambda: now)
    for folders in ({str(tmp_path)}, {str(tmp_path), str(tmp_path / "inner")}):
        assert not times.hold(folders)
        now += 2.0
        assert times.hold(folders)
    now += 600.0
    assert not times.hold(folders)
    now -= 10_000.0
    assert not times.hold(folders), "the clock was set back"
    for _ in range(2):
        now += 2.0
        assert not times.hold(())
