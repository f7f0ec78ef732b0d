"""A memory that keeps itself up to its files, on a real folder."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.aio import AsyncMemory
from commonplace.memory import Memory
from commonplace.resilience.deadline import NEVER
from commonplace_notes.source import NotesSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commonplace.model.documents import ScanReport
    from commonplace.model.reports import SyncEvent

    Opener = Callable[..., "Watched"]

pytestmark = pytest.mark.slow

PATIENCE = 20.0


def until(holds: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < give_up, "it never came to be"
        time.sleep(0.01)


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if "commonplace" in thread.name}


def descriptors() -> Counter[str]:
    """What this process has open."""
    found: Counter[str] = Counter()
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the one that listed them
            found[os.readlink(f"/proc/self/fd/{number}")] += 1
    return found


class Watched:
    """A memory and its events."""

    def __init__(
        self, workspace: Path, env: dict[str, str], sync: dict[str, Any], **more: Any
    ) -> None:
        self.events: list[SyncEvent] = []
        config = {"memory": {"search": {"sync": {"watchDebounceMs": 30, **sync}}}}
        options = {"watch": True, "config": config, **more}
        self.memory = Memory.open(
            workspace=workspace, env=env, on_sync=self.events.append, **options
        )

    def finds(self, word: str, *paths: str) -> bool:
        """Whether exactly ``paths`` are in the index under ``word``: no file is looked at."""
        query = f'"{word}"'
        steps = self.memory._steps()
        request = steps.request(query, limit=20)
        search = self.memory._backends().search_of(request.query, NEVER)
        answer = steps.ask(search, request)
        ranked = steps.rank(answer, request, now=0.0)
        return {hit.chunk.path for hit in ranked.candidates} == set(paths)

    def settled(self) -> bool:
        """Whether it has synced for what the watcher reports first, and has nothing to do."""
        state = self.state()
        watches = any("watch" in event.reasons for event in self.events)
        return watches and not state.running and state.due_in is None

    def state(self) -> Any:
        state = self.memory.status().sync_state
        assert state is not None
        return state


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "memory" / "projects").mkdir(parents=True)
    (root / "MEMORY.md").write_text("# Team\n\nThe staging server listens on port 8443.\n")
    (root / "memory" / "2026-10-03.md").write_text("# Friday\n\nMia saw a walrus.\n")
    (root / "memory" / "projects" / "otter.md").write_text("# Otter\n\nIt starts in May.\n")
    return root


@pytest.fixture
def opener(tmp_path: Path, workspace: Path) -> Iterator[Opener]:
    opened: list[Watched] = []
    env = {
        "HOME": str(tmp_path / "home"),
        "COMMONPLACE_STATE_DIR": str(tmp_path / "state"),
        "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache"),
    }

    def open_(sync: dict[str, Any] | None = None, **more: Any) -> Watched:
        watched = Watched(workspace, env, sync or {}, **more)
        opened.append(watched)
        return watched

    yield open_
    for watched in opened:
        watched.memory.close()


def test_what_is_there_is_indexed_without_being_asked_for(opener: Opener) -> None:
    watched = opener()
    until(lambda: watched.finds("walrus", "memory/2026-10-03.md"))
    until(lambda: watched.events)
    assert "start" in watched.events[0].reasons
    report = watched.events[0].report
    assert report is not None
    assert report.added == 3


def test_a_saved_note_is_found(opener: Opener, workspace: Path) -> None:
    watched = opener()
    until(watched.settled)
    note = workspace / "memory" / "new.md"
    note.write_text("The narwhal is called Humboldt.\n")
    until(lambda: watched.finds("narwhal", "memory/new.md"))
    until(lambda: any(str(note) in event.paths for event in watched.events))
    note.write_text("The dolphin is called Humboldt.\n")
    until(lambda: watched.finds("dolphin", "memory/new.md"))
    assert watched.finds("narwhal")
    until(lambda: 0 < (watched.state().full_scan_in or 0) <= 600)


def test_a_deleted_and_a_renamed_note_are_followed(opener: Opener, workspace: Path) -> None:
    watched = opener()
    until(watched.settled)
    (workspace / "memory" / "2026-10-03.md").unlink()
    until(lambda: watched.finds("walrus"))
    (workspace / "memory" / "projects" / "otter.md").rename(workspace / "memory" / "seal.md")
    until(lambda: watched.finds("otter", "memory/seal.md"))


def test_a_folder_that_is_moved_is_followed(opener: Opener, workspace: Path) -> None:
    watched = opener()
    until(watched.settled)
    (workspace / "memory" / "projects").rename(workspace / "memory" / "done")
    until(lambda: watched.finds("otter", "memory/done/otter.md"))
    (workspace / "memory" / "done" / "seal.md").write_text("A seal.\n")
    until(lambda: watched.finds("seal", "memory/done/seal.md"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_closing_leaves_no_thread_and_no_descriptor(opener: Opener, workspace: Path) -> None:
    opener().memory.close()  # whatever is opened once for a process
    before = threads(), descriptors()
    watched = opener()
    until(watched.settled)
    assert {"commonplace-sync", "commonplace-watcher"} <= threads()
    (workspace / "memory" / "new.md").write_text("A narwhal.\n")
    until(lambda: watched.finds("narwhal", "memory/new.md"))
    watched.memory.close()
    assert threads() == before[0]
    until(lambda: not descriptors() - before[1])  # the system's own thread takes a moment
    watched.memory.close()


def test_the_configuration_may_forbid_watching_and_the_interval_still_works(
    opener: Opener, workspace: Path
) -> None:
    watched = opener({"watch": False})
    until(lambda: watched.finds("walrus", "memory/2026-10-03.md"))
    until(lambda: not watched.state().running)
    state = watched.state()
    assert (state.watching, state.reason) == ("off", "sync.watch is false")
    assert "commonplace-watcher" not in threads()
    assert state.due_in is None
    hourly = opener({"watch": False, "intervalMinutes": 60}).state
    until(lambda: hourly().due_in)
    assert 0 < hourly().due_in <= 3600


def test_polling_does_the_same(opener: Opener, workspace: Path) -> None:
    watched = opener(watch=False)
    assert watched.memory.status().sync_state is None
    watched.memory.watch(poll=True)
    until(watched.settled)
    assert watched.state().watching == "polling"
    (workspace / "memory" / "new.md").write_text("A narwhal.\n")
    until(lambda: watched.finds("narwhal", "memory/new.md"))


def test_without_watching_nothing_runs_until_something_asks(
    opener: Opener, workspace: Path
) -> None:
    watched = opener(watch=False)
    memory = watched.memory
    memory.sync()
    assert memory.search("walrus").hits
    assert not threads()
    (workspace / "memory" / "new.md").write_text("A narwhal.\n")
    memory.session_started("agent:main:one")
    until(lambda: watched.finds("narwhal", "memory/new.md"))
    until(lambda: watched.events[-1].reasons == ("session-start",))
    until(lambda: not watched.state().running)
    reported = len(watched.events)
    memory.session_started("agent:main:one")
    memory.search("walrus", session_key="agent:main:one")
    assert watched.state().due_in is None
    memory.search("walrus", session_key="agent:main:two")
    until(lambda: len(watched.events) > reported)


def test_a_search_that_meets_many_changes_answers_at_once_and_has_them_indexed(
    opener: Opener, workspace: Path
) -> None:
    watched = opener(watch=False)
    watched.memory.sync()
    for number in range(30):
        (workspace / "memory" / f"n{number}.md").write_text("A narwhal again.\n")
    result = watched.memory.search("narwhal")
    assert (result.hits, result.stale) == ((), 30)
    words = "30 of 33 notes are not indexed yet: they are being indexed"
    assert words in result.notes
    until(lambda: watched.memory.search("narwhal").stale == 0)
    assert watched.memory.search("narwhal").hits
    until(lambda: any(event.reasons == ("search",) for event in watched.events))
    event = next(event for event in watched.events if event.reasons == ("search",))
    assert event.report is not None
    assert event.report.added == 30


def test_a_one_shot_memory_leaves_nothing_to_the_background(
    opener: Opener, workspace: Path
) -> None:
    watched = opener(watch=False, one_shot=True)
    watched.memory.sync()
    for number in range(30):
        (workspace / "memory" / f"n{number}.md").write_text("A narwhal again.\n")
    assert watched.memory.search("narwhal", session_key="agent:main:one").stale == 30
    assert not threads()


@pytest.mark.parametrize("mode", ["off", "async", "await"])
def test_after_a_compaction(opener: Opener, workspace: Path, mode: str) -> None:
    config = {"agents": {"defaults": {"compaction": {"postIndexSync": mode}}}}
    watched = opener(watch=False, config=config)
    report = watched.memory.compacted("/sessions/one.jsonl")
    if mode == "off":
        assert report is None
        assert watched.memory.search("walrus").stale == 0
        assert not watched.events
    else:
        assert (report is not None) == (mode == "await")
        until(lambda: watched.events)
        assert watched.events[0].reasons == ("post-compaction",)
        assert watched.events[0].paths == ("/sessions/one.jsonl",)
        assert watched.finds("walrus", "memory/2026-10-03.md")


def test_while_another_writes_nothing_is_lost_or_reported(opener: Opener, workspace: Path) -> None:
    watched, other = opener(), opener(watch=False)
    until(watched.settled)
    reported = len(watched.events)
    backend: Any = other.memory._backends()
    manager = backend.manager()
    with manager._store.writer(wait=10):
        (workspace / "memory" / "new.md").write_text("A narwhal.\n")
        until(lambda: watched.state().due_in)
        assert len(watched.events) == reported
    until(lambda: watched.finds("narwhal", "memory/new.md"))


def test_closing_in_the_midst_leaves_what_the_next_one_goes_on_with(
    opener: Opener, workspace: Path
) -> None:
    for number in range(600):
        (workspace / "memory" / f"n{number}.md").write_text(f"A narwhal called {number}.\n")
    first = opener()
    until(lambda: first.memory.status().files)  # a batch of it
    first.memory.close()
    assert not threads()
    second = opener()
    until(lambda: second.finds("599", "memory/n599.md"))
    until(second.settled)
    status = second.memory.status(deep=True)
    assert (status.files, status.stale, status.problems) == (603, 0, ())


def test_a_search_looks_at_no_file_while_the_system_reports_changes(
    opener: Opener, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("watchfiles")
    scans = 0
    scan = NotesSource.scan

    def counted(self: NotesSource) -> ScanReport:
        nonlocal scans
        scans += 1
        return scan(self)

    monkeypatch.setattr(NotesSource, "scan", counted)
    now = 1.7e9
    watched = opener(watch=False, clock=lambda: now)
    watched.memory.watch()
    # The first report of a watcher names everything.
    until(lambda: any("watch" in event.reasons for event in watched.events) and watched.settled())
    service = watched.memory._sync_service
    assert service is not None
    service._worker._schedule._debounce = 600.0

    def looks(word: str, *paths: str) -> bool:
        """Whether all files are looked at before ``word`` is found in ``paths``."""
        nonlocal now
        before = scans
        assert {hit.path for hit in watched.memory.search(word).hits} == set(paths)
        now += 2.0
        return scans > before

    looks("walrus", "memory/2026-10-03.md")
    assert not looks("walrus", "memory/2026-10-03.md")
    (workspace / "memory" / "new.md").write_text("A narwhal.\n")
    assert looks("narwhal", "memory/new.md"), "its folder has changed"
    assert not looks("narwhal", "memory/new.md")
    changed = workspace / "memory" / "2026-10-03.md"
    with open(changed, "a") as log:
        log.write("Lea saw an axolotl.\n")
    until(lambda: str(changed) in (service._worker.noticed() or ()))
    assert not looks("axolotl", "memory/2026-10-03.md"), "the one that was reported"
    now += 601.0
    assert looks("axolotl", "memory/2026-10-03.md"), "a report can be lost"


def test_threads_that_ask_at_once_share_a_sync(opener: Opener) -> None:
    watched = opener(watch=False)
    callers = [threading.Thread(target=watched.memory.sync) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(PATIENCE)
    assert 1 <= len(watched.events) <= 8
    assert watched.finds("walrus", "memory/2026-10-03.md")


def test_the_same_for_asyncio(tmp_path: Path, workspace: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COMMONPLACE_CACHE_DIR", str(tmp_path / "cache"))
    events: list[SyncEvent] = []
    started = threading.Event()

    def note(event: SyncEvent) -> None:
        events.append(event)
        if "session-start" in event.reasons:
            started.set()

    async def use() -> None:
        config = {
            "memory": {"search": {"sync": {"watchDebounceMs": 30}}},
            "agents": {"defaults": {"compaction": {"postIndexSync": "await"}}},
        }
        async with await AsyncMemory.open(
            workspace=workspace, config=config, watch=True, on_sync=note
        ) as memory:
            await memory.watch()
            await memory.session_started("agent:main:one")
            assert await asyncio.to_thread(started.wait, PATIENCE)
            report = await memory.compacted()
            assert report is not None
            assert not report.remaining
            assert (await memory.search("walrus")).hits

    asyncio.run(use())
    reasons = {reason for event in events for reason in event.reasons}
    assert {"start", "session-start", "post-compaction"} <= reasons
    for thread in threading.enumerate():
        if thread.name.startswith("commonplace-asyncio"):  # it has no work, and is about to end
            thread.join(PATIENCE)
    assert not threads()
