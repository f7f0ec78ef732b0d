"""A watcher on real folders, with the operating system telling."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.model.documents import WatchedPath

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow  # it waits for the events of a real disk

pytest.importorskip("watchfiles")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    return folder


@pytest.fixture
def recorder(workspace: Path, watch: Callable[..., Any]) -> Any:
    return watch(
        WatchedPath(str(workspace / "MEMORY.md"), recursive=False, suffix=".md"),
        WatchedPath(str(workspace / "memory"), suffix=".md"),
    )


def test_the_beginning_tells_every_place_and_the_state_says_who_watches(
    recorder: Any, workspace: Path
) -> None:
    assert recorder.calls[0] == {str(workspace / "MEMORY.md"), str(workspace / "memory")}
    state = recorder.state()
    assert (state.mode, state.reason, state.folders) == ("native", "", 2)
    assert state.since > 0
    assert recorder.watcher.folders() == {str(workspace), str(workspace / "memory")}
    recorder.watcher.stop()
    assert not recorder.watcher.folders()


def test_a_file_is_reported_when_it_is_made_written_and_deleted(
    recorder: Any, workspace: Path
) -> None:
    for file in (workspace / "MEMORY.md", workspace / "memory" / "a.md"):
        recorder.hears(lambda file=file: file.write_text("the ant"), str(file))
        recorder.hears(lambda file=file: file.write_text("the bee"), str(file))
        recorder.hears(file.unlink, str(file))


def test_saving_by_rename_is_reported(recorder: Any, workspace: Path) -> None:
    for file in (workspace / "MEMORY.md", workspace / "memory" / "a.md"):
        for text in ("the ant", "the bee"):
            beside = file.with_name(f".{file.name}.swp")
            beside.write_text(text)
            recorder.hears(lambda beside=beside, file=file: beside.replace(file), str(file))


def test_a_file_in_a_new_folder_is_reported(recorder: Any, workspace: Path) -> None:
    folder = workspace / "memory" / "new" / "inner"
    recorder.hears(lambda: folder.mkdir(parents=True), str(folder.parent))
    recorder.wait_for(lambda: recorder.state().folders == 4)
    recorder.hears(lambda: (folder / "a.md").write_text("the ant"), str(folder / "a.md"))


def test_folders_moved_in_out_and_within_are_reported_and_followed(
    recorder: Any, workspace: Path, tmp_path: Path
) -> None:
    outside, inside, renamed = tmp_path / "out", workspace / "memory/in", workspace / "memory/other"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "a.md").write_text("the ant")
    recorder.hears(lambda: outside.rename(inside), str(inside))
    recorder.wait_for(lambda: recorder.state().folders == 4)
    file = inside / "deep" / "a.md"
    recorder.hears(lambda: file.write_text("the bee"), str(file))
    recorder.hears(lambda: inside.rename(renamed), str(inside), str(renamed))
    file = renamed / "deep" / "a.md"
    recorder.hears_in_the_end(lambda: file.write_text("the cat"), str(file))
    recorder.hears(lambda: renamed.rename(outside), str(renamed))
    recorder.wait_for(lambda: recorder.state().folders == 2)


def test_what_is_none_of_the_documents_is_not_reported(recorder: Any, workspace: Path) -> None:
    for folder in (".git", "node_modules", "venv"):
        (workspace / "memory" / folder / "deep").mkdir(parents=True)
        (workspace / "memory" / folder / "deep" / "a.md").write_text("the ant")
    (workspace / "memory" / "a.txt").write_text("the ant")
    (workspace / "b.md").write_text("the ant")
    last = workspace / "memory" / "last.md"
    recorder.hears(lambda: last.write_text("the end"), str(last))
    assert set().union(*recorder.calls[1:]) == {str(last)}
    assert recorder.state().folders == 2


def test_roots_that_go_and_come_again_are_followed(recorder: Any, workspace: Path) -> None:
    memory, file = workspace / "memory", workspace / "memory" / "a.md"
    for _ in range(3):
        recorder.hears(lambda: shutil.rmtree(memory), str(memory))
        recorder.hears(memory.mkdir, str(memory))
        recorder.hears_in_the_end(lambda: file.write_text("the ant"), str(file))

    def again() -> None:
        shutil.rmtree(memory)
        memory.mkdir()

    recorder.hears(again, str(memory))
    recorder.hears_in_the_end(lambda: file.write_text("the ant"), str(file))
    recorder.hears(lambda: shutil.rmtree(workspace), str(memory), str(workspace / "MEMORY.md"))
    recorder.hears(lambda: os.makedirs(memory), str(memory))
    recorder.hears_in_the_end(lambda: file.write_text("the ant"), str(file))


def test_an_extra_path_may_come_later_be_one_file_and_go_again(
    tmp_path: Path, watch: Callable[..., Any]
) -> None:
    file, folder = tmp_path / "later" / "one.md", tmp_path / "later" / "too" / "folder"
    recorder = watch(
        WatchedPath(str(file), recursive=False, suffix=".md"),
        WatchedPath(str(folder), suffix=".md"),
    )
    assert recorder.state().folders == 1
    for _ in range(2):
        recorder.hears(file.parent.mkdir, str(file), str(folder))
        recorder.hears_in_the_end(lambda: file.write_text("the ant"), str(file))
        (tmp_path / "later" / "other.md").write_text("the ant")
        recorder.hears(lambda: os.makedirs(folder / "deep"), str(folder))
        note = folder / "deep" / "a.md"
        recorder.hears_in_the_end(lambda note=note: note.write_text("the ant"), str(note))
        recorder.hears(lambda: shutil.rmtree(file.parent), str(file), str(folder))
    assert not any(str(tmp_path / "later" / "other.md") in call for call in recorder.calls)


def test_a_workspace_that_is_a_link_is_watched_and_so_is_what_it_leads_to_next(
    tmp_path: Path, watch: Callable[..., Any]
) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "memory").mkdir(parents=True)
    workspace = tmp_path / "workspace"
    workspace.symlink_to(tmp_path / "one")
    memory = workspace / "memory"
    recorder = watch(WatchedPath(str(workspace), suffix=".md"))
    recorder.hears(lambda: (memory / "a.md").write_text("the ant"), str(memory / "a.md"))

    def lead_elsewhere() -> None:
        (tmp_path / "new").symlink_to(tmp_path / "two")
        (tmp_path / "new").replace(workspace)

    recorder.hears(lead_elsewhere, str(workspace))
    recorder.hears_in_the_end(lambda: (memory / "b.md").write_text("the bee"), str(memory / "b.md"))
    assert (tmp_path / "two" / "memory" / "b.md").exists()


def test_many_changes_at_once_are_reported_together(recorder: Any, workspace: Path) -> None:
    files = [workspace / "memory" / f"{number}.md" for number in range(300)]

    def write() -> None:
        for file in files:
            file.write_text("the ant")

    recorder.hears(write, *map(str, files))
    assert len(recorder.calls) < 100


def test_a_tree_unpacked_in_one_go_is_watched_to_its_bottom(recorder: Any, workspace: Path) -> None:
    top = workspace / "memory" / "tree"
    deepest = top.joinpath(*"abcdefgh")

    def unpack() -> None:
        deepest.mkdir(parents=True)
        for folder in (deepest, *deepest.parents[:8]):
            (folder / "a.md").write_text("the ant")

    recorder.hears(unpack, str(top))
    recorder.wait_for(lambda: recorder.state().folders == 11)
    recorder.hears(lambda: (deepest / "b.md").write_text("the bee"), str(deepest / "b.md"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may do anything")
def test_a_closed_folder_is_left_out_until_it_is_opened(recorder: Any, workspace: Path) -> None:
    closed = workspace / "memory" / "closed"
    recorder.hears(lambda: closed.mkdir(mode=0), str(closed))
    assert (recorder.state().mode, recorder.state().folders) == ("native", 2)
    recorder.hears(lambda: closed.chmod(0o700), str(closed))
    recorder.wait_for(lambda: recorder.state().folders == 3)
    recorder.hears(lambda: (closed / "a.md").write_text("the ant"), str(closed / "a.md"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may do anything")
def test_a_place_that_is_closed_is_watched_once_it_is_opened(
    tmp_path: Path, watch: Callable[..., Any]
) -> None:
    place = tmp_path / "place"
    place.mkdir(mode=0)
    recorder = watch(WatchedPath(str(place)))
    recorder.hears(lambda: place.chmod(0o700), str(place))
    recorder.hears_in_the_end(lambda: (place / "a.md").write_text("the ant"), str(place / "a.md"))
