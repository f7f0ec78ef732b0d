"""Updates of QMD's index: its configuration, when it is updated, and what is never lost."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import IndexBusyError, IndexReadOnlyError
from commonplace.model.search import KeywordQuery, Query, Where
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.resilience.lock import Lease
from commonplace_qmd.engine.values import QmdError, QmdTimeoutError
from commonplace_qmd.settings import QmdPath, QmdSettings, Update

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends.qmd.conftest import Desk

    from commonplace.model.reports import SyncReport
    from commonplace.model.search import StoredChunk
    from commonplace_qmd.manager import QmdManager

    Ask = Callable[..., list[StoredChunk]]

CRASH = QmdError("ended with status 1", reason="crash")


def freshen(manager: QmdManager, seconds: float = 60) -> SyncReport:
    """What a search does before it asks."""
    return manager.maintain(at_most=20, embed=False, deadline=Deadline.after(seconds), wait=0)


def listed(desk: Desk) -> dict[str, tuple[str, str]]:
    return desk.qmd._configured()


def test_the_list_of_collections_is_ours_and_private(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    workspace = os.path.realpath(desk.workspace)
    assert listed(desk) == {
        "memory-root-main": (workspace, "{MEMORY,memory}.md"),
        "memory-dir-main": (f"{workspace}/memory", "**/*.md"),
    }
    home = desk.home()
    for file in (home.config_file, home.state):
        assert Path(file).stat().st_mode & 0o777 == 0o600, file
    assert Path(home.root).stat().st_mode & 0o777 == 0o700
    models = Path(home.qmd.models_dir)
    assert models.resolve() == (desk.root / "home/.cache/qmd/models").resolve()


def test_two_agents_and_two_workspaces_share_no_home(desk: Desk) -> None:
    homes = {desk.home().root, desk.home("work").root}
    from commonplace_qmd.home import home_of

    homes.add(home_of(str(desk.root / "state"), "main", str(desk.root)).root)
    assert len(homes) == 3


def test_what_qmd_wrote_into_its_list_stays_until_we_have_news(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    file = Path(desk.home().config_file)
    file.write_text(file.read_text() + "models:\n  embed: hf:x\n")
    manager.maintain(deadline=NEVER)
    assert "models:" in file.read_text()
    desk.make(QmdSettings(paths=(QmdPath(path="memory/projects"),))).maintain(deadline=NEVER)
    assert "models:" not in file.read_text()


def test_pending_compares_and_writes_nothing(desk: Desk) -> None:
    manager = desk.make()
    report = manager.pending()
    assert (report.remaining, report.known) == (3, 0)
    assert not (desk.root / "state").exists()
    manager.maintain(deadline=NEVER)
    before = desk.qmd.updates
    desk.write("memory/new.md", "new")
    desk.write("MEMORY.md", "# Team\n\nNothing more.\n")
    (desk.workspace / "memory/projects/otter.md").unlink()
    report = manager.pending()
    assert (report.remaining, report.known, report.unchanged) == (3, 3, 1)
    assert desk.qmd.updates == before


def test_without_an_index_nothing_is_found_and_the_answer_says_why(desk: Desk) -> None:
    manager = desk.make()
    query = Query("walrus", KeywordQuery(should=("walrus",)))
    (arm,) = manager.search(query, where=Where(), limit=6, deadline=NEVER)
    assert arm.found == ()
    assert "commonplace index" in arm.note
    shutil.rmtree(desk.workspace)
    desk.workspace.mkdir()
    (arm,) = manager.search(query, where=Where(), limit=6, deadline=NEVER)
    assert (arm.found, arm.note) == ((), ""), "there is nothing to index"


def test_rounds_that_find_nothing_run_nothing(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    assert manager._update_if_needed().unchanged == 3
    assert desk.qmd.updates == 1


def test_an_update_that_is_asked_for_is_made_whatever_was_before(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    report = manager.maintain(deadline=NEVER)
    assert desk.qmd.updates == 2
    assert (report.added, report.updated, report.removed, report.unchanged) == (0, 0, 0, 3)
    desk.write("memory/new.md", "new")
    assert manager.maintain(deadline=NEVER).added == 1
    assert manager.pending().remaining == 0


def test_an_index_that_was_taken_away_is_made_again(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    os.unlink(desk.home().qmd.index_path)
    assert (manager.pending().remaining, manager.pending().known) == (3, 0)


def test_the_first_index_is_made_once_however_the_host_goes_about_it(desk: Desk) -> None:
    manager = desk.make()
    going_on = threading.Event()
    desk.qmd.on_update = lambda: going_on.wait(60)
    report = freshen(manager, seconds=0)
    assert (report.remaining, report.known) == (3, 0)
    going_on.set()
    assert manager.maintain(embed=False, deadline=NEVER).added == 3
    assert desk.qmd.updates == 1


def test_many_new_files_are_only_counted(desk: Desk) -> None:
    for number in range(20):
        desk.write(f"memory/many/{number}.md", "heron")
    report = freshen(desk.make())
    assert (report.remaining, report.known) == (23, 0)
    assert desk.qmd.updates == 0, "the host has it made whole"


def test_a_search_brings_in_what_has_changed(desk: Desk, ask: Ask) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    desk.clock[0] += 16
    desk.write("memory/new.md", "a heron")
    report = freshen(manager)
    assert (report.added, report.remaining) == (1, 0)
    assert ask(manager, "heron")


def test_a_search_waits_for_no_update(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    desk.clock[0] += 16
    desk.write("memory/new.md", "a heron")
    going_on = threading.Event()
    desk.qmd.on_update = lambda: going_on.wait(60)
    report = freshen(manager, seconds=0)
    assert (report.remaining, report.known) == (1, 3)
    going_on.set()
    report = freshen(manager)
    assert report.remaining == 0
    assert desk.qmd.updates == 2, "and asks for no second one while it runs"


@pytest.mark.parametrize(
    ("update", "passed", "updates"),
    [
        (Update(), 14.0, 1),
        (Update(), 16.0, 2),
        (Update(debounce_ms=0), 0.0, 2),
        (Update(interval=0), 1e6, 1),
    ],
)
def test_automatic_updates_are_debounced(
    desk: Desk, update: Update, passed: float, updates: int
) -> None:
    manager = desk.make(QmdSettings(update=update))
    manager.maintain(deadline=NEVER)
    desk.write("memory/new.md", "a heron")
    desk.clock[0] += passed
    freshen(manager)
    assert desk.qmd.updates == updates


@pytest.mark.parametrize(("on_boot", "updates"), [(True, 2), (False, 1)])
def test_the_first_search_of_a_process_updates_if_that_is_wanted(
    desk: Desk, *, on_boot: bool, updates: int
) -> None:
    desk.make().maintain(deadline=NEVER)
    desk.write("memory/new.md", "a heron")
    freshen(desk.make(QmdSettings(update=Update(on_boot=on_boot, interval=0))))
    assert desk.qmd.updates == updates


def test_the_first_search_waits_if_that_is_wanted(desk: Desk) -> None:
    desk.make().maintain(deadline=NEVER)
    desk.write("memory/new.md", "a heron")
    manager = desk.make(QmdSettings(update=Update(wait_for_boot_sync=True)))
    assert freshen(manager, seconds=0).remaining == 0


def test_many_changes_wait_for_the_interval(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    for number in range(21):
        desk.write(f"memory/many/{number}.md", "heron")
    desk.clock[0] += 60
    assert freshen(manager).remaining == 21
    desk.clock[0] += 300
    assert freshen(manager).remaining == 0


def test_a_failure_beside_a_search_is_reported_and_the_old_index_stays(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    desk.write("memory/new.md", "a heron")
    desk.clock[0] += 16
    desk.qmd.fails["update"] = [CRASH, CRASH]
    with pytest.raises(QmdError):
        freshen(manager)
    assert manager.pending().known == 3


def test_a_crash_is_tried_again_and_other_failures_are_not(desk: Desk) -> None:
    manager = desk.make()
    desk.qmd.fails["update"] = [CRASH]
    assert manager.maintain(deadline=NEVER).added == 3
    assert desk.qmd.updates == 2
    desk.qmd.fails["update"] = [QmdTimeoutError("update took longer than it was given")]
    with pytest.raises(QmdTimeoutError):
        manager.maintain(deadline=NEVER)
    assert desk.qmd.updates == 3


def test_an_index_that_qmd_cannot_use_is_set_aside_when_forced(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    index = Path(desk.home().qmd.index_path)
    index.write_bytes(b"broken")
    desk.qmd.fails["update"] = [CRASH, CRASH]
    with pytest.raises(QmdError):
        manager.maintain(deadline=NEVER)
    assert index.read_bytes() == b"broken", "it may hold vectors"
    desk.qmd.fails["update"] = [CRASH, CRASH]
    assert manager.maintain(force=True, deadline=NEVER).rebuilt
    assert Path(f"{index}.damaged").read_bytes() == b"broken"


def test_an_unmounted_disk_loses_nothing(desk: Desk, ask: Ask) -> None:
    disk = desk.root / "disk"
    disk.mkdir()
    (disk / "a.md").write_text("a heron")
    manager = desk.make(QmdSettings(paths=(QmdPath(path=str(disk), name="disk"),)))
    manager.maintain(deadline=NEVER)
    assert ask(manager, "heron")
    away = disk.rename(desk.root / "away")
    for empty in (False, True):  # gone, then an empty mount point
        if empty:
            disk.mkdir()
        report = manager.maintain(deadline=NEVER)
        assert [(failed.root, failed.source) for failed in report.failed_roots] == [
            ("qmd/disk", "memory")
        ]
        assert report.hidden == 1
        assert "disk" not in listed(desk), "QMD would forget its files"
        assert ask(manager, "heron") == [], "it cannot be opened"
    disk.rmdir()
    away.rename(disk)
    report = manager.pending()
    assert (report.remaining, report.hidden) == (0, 0)
    updates = desk.qmd.updates
    freshen(manager)
    assert "disk" in listed(desk)
    assert ask(manager, "heron")
    assert desk.qmd.updates == updates, "nothing has to be made again"


def test_an_empty_workspace_loses_nothing(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    desk.workspace.rename(desk.root / "away")
    desk.workspace.mkdir()
    report = manager.maintain(deadline=NEVER)
    assert report.hidden == 3
    assert listed(desk) == {}


def test_notes_that_were_deleted_are_forgotten(desk: Desk, ask: Ask) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    for path in sorted((desk.workspace / "memory").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (desk.workspace / "memory").rmdir()
    report = manager.maintain(deadline=NEVER)
    assert (report.removed, report.failed_roots) == (2, ())
    assert ask(manager, "walrus") == []


def test_a_folder_that_is_no_longer_configured_is_forgotten(desk: Desk) -> None:
    outside = desk.root / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("a heron")
    desk.make(extra_paths=(str(outside),)).maintain(deadline=NEVER)
    assert ("custom-1-main", "a.md") in desk.qmd.documents
    manager = desk.make()
    assert manager.pending().remaining == 1
    assert manager.maintain(deadline=NEVER).removed == 1
    assert ("custom-1-main", "a.md") not in desk.qmd.documents
    manager.maintain(deadline=NEVER)
    assert set(listed(desk)) == {"memory-root-main", "memory-dir-main"}


def test_a_path_that_never_was_there_is_reported_as_absent(desk: Desk) -> None:
    report = desk.make(extra_paths=("../nowhere",)).maintain(deadline=NEVER)
    assert report.failed_roots == ()
    assert [absent.root for absent in report.absent_roots] == ["qmd/custom-1-main"]


def test_one_updates_at_a_time(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    with Lease(desk.home().lock).held(5), pytest.raises(IndexBusyError):
        manager.maintain(deadline=NEVER, wait=0)
    assert desk.qmd.updates == 1


def test_the_child_inherits_the_lock_that_keeps_other_writers_out(desk: Desk) -> None:
    """It goes on writing when this process is killed."""
    desk.qmd.installed = {"embed"}
    desk.make(QmdSettings(search_mode="vsearch")).maintain(deadline=NEVER)
    lock = os.stat(desk.home().lock)
    assert [(found.st_dev, found.st_ino) for found in desk.qmd.held] == [
        (lock.st_dev, lock.st_ino)
    ] * 2, "update and embed"


def test_a_home_that_cannot_be_made_is_reported(desk: Desk) -> None:
    (desk.root / "state").write_text("in the way")
    with pytest.raises(IndexReadOnlyError) as caught:
        desk.make().maintain(deadline=NEVER)
    assert caught.value.hint


def test_a_state_of_nonsense_is_a_fresh_one(desk: Desk) -> None:
    manager = desk.make()
    manager.maintain(deadline=NEVER)
    home = desk.home()
    for text in ("", "[]", '{"version": 99}', '{"format":2,"files":7,"last_update":"x"}'):
        Path(home.state).write_text(text)
        assert manager.pending().known == 0
        assert manager.health().available


class TestVectors:
    """Embedding: only where the way to search needs it, when it is due, with pauses."""

    config = QmdSettings(search_mode="vsearch")

    def test_keywords_need_none(self, desk: Desk) -> None:
        desk.qmd.installed = {"embed"}
        report = desk.make().maintain(deadline=NEVER)
        assert report.embedding is None
        assert desk.qmd.embeds == 0

    def test_a_sync_embeds(self, desk: Desk) -> None:
        desk.qmd.installed = {"embed"}
        manager = desk.make(self.config)
        report = manager.maintain(deadline=NEVER)
        assert report.embedding is not None
        assert (report.embedding.provider, report.embedding.embedded) == ("qmd", 3)
        assert manager.maintain(deadline=NEVER, embed=False).embedding is None

    def test_without_the_model_nothing_is_tried(self, desk: Desk) -> None:
        manager = desk.make(self.config)
        report = manager.maintain(deadline=NEVER)
        assert report.embedding is not None
        assert (report.embedding.embedded, report.embedding.missing) == (0, 3)
        assert "qmd env" in report.embedding.reason
        assert desk.qmd.embeds == 0
        assert any("qmd env" in notice for notice in manager.health().notices)

    def test_beside_a_search_it_is_due_by_its_interval(self, desk: Desk) -> None:
        desk.qmd.installed = {"embed"}
        manager = desk.make(self.config)
        manager.maintain(deadline=NEVER)
        assert desk.qmd.embeds == 1
        for passed, embeds in ((60, 1), (3600, 2)):
            desk.clock[0] += passed
            desk.write(f"memory/{passed}.md", f"heron {passed}")
            freshen(manager)
            assert desk.qmd.embeds == embeds

    def test_failures_pause_twice_as_long_each_time(self, desk: Desk) -> None:
        desk.qmd.installed = {"embed"}
        config = QmdSettings(search_mode="vsearch", update=Update(embed_interval=1))
        manager = desk.make(config)
        for expected in (60, 120, 240, 480, 960, 1920, 3600, 3600):
            desk.qmd.fails["embed"] = [QmdError("out of memory", reason="crash")]
            report = manager.maintain(deadline=NEVER)
            assert report.embedding is not None
            assert "out of memory" in report.embedding.reason
            state: dict[str, Any] = json.loads(Path(desk.home().state).read_text())
            assert state["embed_after"] - desk.clock[0] == expected
        tried = desk.qmd.embeds
        desk.write("memory/new.md", "heron")
        desk.clock[0] += 3000
        freshen(manager)
        assert desk.qmd.embeds == tried, "not before the pause is over"
        assert any("8 times" in notice for notice in manager.health().notices)
        desk.clock[0] += 700
        desk.write("memory/newer.md", "crane")
        freshen(manager)
        assert desk.qmd.embeds == tried + 1
        assert json.loads(Path(desk.home().state).read_text())["embed_failures"] == 0
