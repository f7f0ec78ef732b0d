"""Every trigger of a sync, and that closing ends them all."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.search import SyncSettings
from commonplace.errors import (
    CallerError,
    CommonplaceError,
    DeclinedError,
    IndexBusyError,
    IndexReadOnlyError,
    UnavailableError,
)
from commonplace.model.reports import Embedding, SyncReport
from commonplace.resilience.deadline import Deadline
from commonplace.sync.queue import SyncRequest
from commonplace.sync.service import History, SyncService, undone_in_words
from commonplace.sync.watcher import WatchState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commonplace.model.reports import SyncEvent

    MakeService = Callable[..., "ServiceHarness"]

PATIENCE = 60.0
QUICK = SyncSettings(watch_debounce_ms=1)


def until(holds: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < give_up, "timed out"
        time.sleep(0.001)


class FakeWatcher:
    """A watcher whose changes the test reports."""

    def __init__(self, changed: Callable[[frozenset[str]], None]) -> None:
        self.changed = changed
        self.started = self.stopped = 0
        self.reporting = frozenset[str]()

    def start(self) -> None:
        self.started += 1

    def stop(self) -> None:
        self.stopped += 1

    def state(self) -> WatchState:
        return WatchState("polling", "there is no other way", 7.0, 3)

    def folders(self) -> frozenset[str]:
        return self.reporting


class ServiceHarness:
    """A service, what its syncs were asked for, and its events; ``answer`` is what a sync does."""

    def __init__(
        self,
        settings: SyncSettings = QUICK,
        *,
        embeds: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.requests: list[SyncRequest] = []
        self.events: list[SyncEvent] = []
        self.watchers: list[FakeWatcher] = []
        self.answer: Callable[[SyncRequest, Deadline], SyncReport] = lambda *_: SyncReport(added=1)
        self.service = SyncService(
            settings,
            self._sync,
            embeds=lambda: embeds,
            listener=self.events.append,
            clock=clock,
        )

    def _sync(self, request: SyncRequest, deadline: Deadline) -> SyncReport:
        self.requests.append(request)
        return self.answer(request, deadline)

    def watch(self, *, unwatched: bool = False) -> None:
        def make(changed: Callable[[frozenset[str]], None]) -> FakeWatcher:
            self.watchers.append(FakeWatcher(changed))
            return self.watchers[-1]

        self.service.watch(make, unwatched=unwatched)

    def at_rest(self) -> bool:
        state = self.service.state()
        return not state.running and state.due_in is None

    def reasons(self) -> list[tuple[str, ...]]:
        return [request.reasons for request in self.requests]


@pytest.fixture
def make_service() -> Iterator[MakeService]:
    harnesses: list[ServiceHarness] = []

    def make(*args: Any, **options: Any) -> ServiceHarness:
        harnesses.append(ServiceHarness(*args, **options))
        return harnesses[-1]

    yield make
    for harness in harnesses:
        harness.service.close()
    until(lambda: not any("commonplace-" in thread.name for thread in threading.enumerate()))


def test_watching_begins_with_a_sync_and_follows_what_is_seen(make_service: MakeService) -> None:
    harness = make_service()
    harness.watch()
    until(lambda: harness.events)
    harness.watch()
    assert [watcher.started for watcher in harness.watchers] == [1], "once is enough"
    harness.watchers[0].changed(frozenset({"/b", "/a"}))
    until(lambda: len(harness.events) > 1)
    assert harness.reasons() == [("start",), ("watch",)]
    assert harness.events[1].paths == ("/a", "/b")
    assert not any(request.eager for request in harness.requests), "no caller asked"
    state = harness.service.state()
    assert (state.watching, state.reason, state.since, state.folders) == (
        "polling",
        "there is no other way",
        7.0,
        3,
    )
    assert state.last is not None
    assert (state.last.reasons, state.last.added, state.last.error) == (("watch",), 1, "")
    harness.service.close()
    assert harness.watchers[0].stopped == 1


def test_what_may_have_changed_is_known_while_every_folder_reports(
    make_service: MakeService, tmp_path: Path
) -> None:
    now = 0.0
    harness = make_service(SyncSettings(watch_debounce_ms=600_000), clock=lambda: now)
    assert harness.service.changed is None, "nothing is watched"
    harness.watch()
    until(lambda: harness.events and harness.at_rest())

    def changed(*, after: float = 0.0) -> set[str] | None:
        nonlocal now
        now += after
        assert harness.service.changed is not None
        paths = harness.service.changed()
        return None if paths is None else set(paths)

    assert changed() is None, "the system does not report"
    harness.watchers[0].reporting = frozenset({str(tmp_path)})
    assert changed() is None, "all has to be looked at once"
    assert changed(after=2.0) == set()
    harness.watchers[0].changed(frozenset({"/a"}))
    assert changed() == {"/a"}
    (tmp_path / "new").touch()
    assert changed() is None
    assert changed(after=2.0) == {"/a"}
    assert changed(after=601.0) is None


@pytest.mark.parametrize(
    ("settings", "unwatched"),
    [(SyncSettings(full_scan_minutes=0), False), (SyncSettings(), True)],
)
def test_what_may_have_changed_is_unknown_where_not_all_is_watched(
    make_service: MakeService, settings: SyncSettings, unwatched: bool
) -> None:
    harness = make_service(settings)
    harness.watch(unwatched=unwatched)
    until(lambda: harness.events)
    assert harness.service.changed is None


def test_what_cannot_be_watched_is_looked_at_now_and_then(make_service: MakeService) -> None:
    harness = make_service()
    harness.watch(unwatched=True)
    until(lambda: harness.events)
    until(lambda: not harness.service.state().running)
    due_in = harness.service.state().due_in
    assert due_in is not None
    assert 0 < due_in <= 60
    often = make_service(SyncSettings(interval_minutes=600))
    often.watch(unwatched=True)
    until(lambda: often.events)
    assert (often.service.state().due_in or 0) <= 60
    seldom = make_service(SyncSettings(interval_minutes=600, watch=False))
    seldom.watch(unwatched=True)
    until(lambda: seldom.events)
    until(lambda: (seldom.service.state().due_in or 0) > 60)
    assert not seldom.watchers
    assert seldom.service.state().reason == "sync.watch is false"


def test_a_session_starts_once(make_service: MakeService) -> None:
    harness = make_service()
    for _ in range(3):
        harness.service.session_started("one")
        until(lambda: harness.events and harness.at_rest())
    harness.service.searched("one", 0)
    harness.service.searched("", 0)
    assert harness.at_rest()
    assert harness.reasons() == [("session-start",)]
    deaf = make_service(SyncSettings(on_session_start=False))
    deaf.service.session_started("one")
    deaf.service.searched("two", 0)
    assert deaf.at_rest()
    assert not deaf.requests


def test_a_search_has_nothing_embedded_unless_watching(make_service: MakeService) -> None:
    harness = make_service(embeds=True)
    harness.service.searched("one", 0)
    until(lambda: harness.events and harness.at_rest())
    harness.service.searched("one", 25)
    until(lambda: len(harness.events) == 2 and harness.at_rest())
    assert harness.reasons() == [("session-start",), ("search",)]
    assert not any(request.embed for request in harness.requests)
    watched = make_service(embeds=True)
    watched.watch()
    until(lambda: len(watched.requests) == 2 and watched.at_rest())
    watched.service.searched("one", 25)
    until(lambda: sum(request.embed for request in watched.requests) == 2)


def test_changes_do_not_wait_for_texts_that_are_being_embedded(make_service: MakeService) -> None:
    harness = make_service(embeds=True)
    embedding, release = threading.Event(), threading.Event()

    def answer(request: SyncRequest, _deadline: Deadline) -> SyncReport:
        if request.embed:
            embedding.set()
            assert release.wait(PATIENCE)
        return SyncReport(embedding=Embedding(provider="x", embedded=1) if request.embed else None)

    harness.answer = answer
    harness.watch()
    assert embedding.wait(PATIENCE)
    assert harness.service.state().running == ("start",)
    harness.watchers[0].changed(frozenset({"/a"}))
    until(lambda: [event.reasons for event in harness.events] == [("start",), ("watch",)])
    release.set()
    until(
        lambda: (
            sum(
                event.report is not None and bool(event.report.embedding)
                for event in harness.events
            )
            == 2
        )
    )


def test_a_sync_that_was_taken_and_has_not_begun_is_shown_as_running(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = make_service()
    queue, shown = harness.service._queue, list[tuple[str, ...]]()
    run = queue.run

    def about_to(request: SyncRequest) -> SyncReport:
        shown.append(harness.service.state().running)
        return run(request)

    monkeypatch.setattr(queue, "run", about_to)
    harness.watch()
    until(lambda: harness.events and harness.at_rest())
    assert shown == [("start",)]


def test_texts_that_could_not_be_embedded_stay_said_until_they_are(
    make_service: MakeService,
) -> None:
    harness = make_service(embeds=True)
    missing = [3]
    harness.answer = lambda request, _: SyncReport(
        embedding=Embedding(provider="x", missing=missing[0], reason="it sleeps")
        if request.embed
        else None
    )
    harness.service.session_started("one")
    until(lambda: len(harness.events) == 2)
    harness.service.searched("", 21)
    until(lambda: len(harness.events) == 3)
    last = harness.service.state().last
    assert last is not None
    assert last.error == "3 texts are not embedded yet: it sleeps"
    assert last.failing_since is not None


def test_after_a_compaction_everything_is_indexed(make_service: MakeService) -> None:
    harness = make_service()
    assert harness.service.compacted("/s.jsonl", "off") is None
    assert harness.service.compacted("/s.jsonl", "await") == SyncReport(added=1)
    assert harness.service.compacted(None, "async") is None
    until(lambda: len(harness.events) == 2)
    assert all(request.eager for request in harness.requests)
    lazy = make_service(SyncSettings(post_compaction_force=False))
    lazy.service.compacted(None, "await")
    assert not lazy.requests[0].eager


def test_an_index_that_is_busy_is_tried_again_and_is_news_only_if_it_lasts(
    make_service: MakeService,
) -> None:
    harness = make_service()

    def busy(*_: object) -> SyncReport:
        raise IndexBusyError("another process writes")

    harness.answer = busy
    harness.service.session_started("one")
    until(lambda: harness.requests)
    until(lambda: (harness.service.state().due_in or 0) > 0)
    assert harness.events == []
    assert harness.service.state().last is None
    now = [1000.0]
    history = History(lambda: now[0])
    request, error = SyncRequest(("watch",)), IndexBusyError("another process writes")
    assert history.ended(request, error) is None
    now[0] += 29
    assert history.ended(request, error) is None
    now[0] += 2
    event = history.ended(request, error)
    assert event is not None
    assert event.error is error
    assert history.last is not None
    assert (history.last.error, history.last.failing_since) == ("another process writes", 1000.0)
    assert history.ended(request, SyncReport()) is not None
    assert history.last.failing_since is None
    assert history.ended(request, error) is None, "it has to last again"


@pytest.mark.slow
def test_other_failures_are_reported_at_once_also_mistakes(make_service: MakeService) -> None:
    harness = make_service()

    def fail(request: SyncRequest, _deadline: Deadline) -> SyncReport:
        if len(harness.requests) == 1:
            raise IndexReadOnlyError("it cannot be written", hint="chmod")
        raise ZeroDivisionError

    harness.answer = fail
    harness.service.session_started("one")
    until(lambda: len(harness.events) == 2)
    assert isinstance(harness.events[0].error, IndexReadOnlyError)
    assert "internal error: ZeroDivisionError" in str(harness.events[1].error)
    last = harness.service.state().last
    assert last is not None
    assert last.failing_since is not None


@pytest.mark.parametrize("error", [UnavailableError("no index"), DeclinedError("not this one")])
def test_a_sync_before_a_search_that_fails_is_a_note_of_the_search(
    make_service: MakeService, error: CommonplaceError
) -> None:
    def fail(*_: object) -> SyncReport:
        raise error

    harness = make_service()
    harness.answer = fail
    left = harness.service.before_search(None, None)
    assert left == f"the notes could not be embedded first: {error}"


def test_a_sync_before_a_search_waits_for_others_in_half_of_its_time(
    make_service: MakeService,
) -> None:
    harness = make_service()
    assert harness.service.before_search(None, None) == ""
    assert harness.service.before_search(Deadline.after(10), None) == ""
    usual, hasty = (request.wait for request in harness.requests)
    assert usual == 30
    assert 4 < hasty <= 5
    begun, release = threading.Event(), threading.Event()

    def slow(*_: object) -> SyncReport:
        begun.set()
        assert release.wait(PATIENCE)
        return SyncReport()

    harness.answer = slow
    other = threading.Thread(target=lambda: harness.service.sync(SyncRequest(("demand",))))
    other.start()
    assert begun.wait(PATIENCE)
    left = harness.service.before_search(Deadline.after(0.2), None)
    release.set()
    other.join(PATIENCE)
    assert left.endswith("embedded first: another sync took longer than was waited for")


def test_a_listener_that_fails_does_no_harm(make_service: MakeService) -> None:
    harness = make_service()
    recorder: list[SyncEvent] = []

    def listen(event: SyncEvent) -> None:
        recorder.append(event)
        raise ValueError

    harness.service._listener = listen
    assert harness.service.sync(SyncRequest(("demand",))) == SyncReport(added=1)
    assert len(recorder) == 1


def test_closing_ends_a_sync_at_its_next_batch_and_is_no_failure(
    make_service: MakeService, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    harness = make_service()
    begun = threading.Event()

    def batches(_request: SyncRequest, deadline: Deadline) -> SyncReport:
        begun.set()
        until(lambda: deadline.expired)
        return SyncReport(remaining=5)

    harness.answer = batches
    harness.service.session_started("one")
    assert begun.wait(PATIENCE)
    harness.service.compacted("/s.jsonl", "async")
    harness.service.close()
    (ended,) = harness.events
    assert ended.report == SyncReport(remaining=5)
    (left,) = [line for line in caplog.messages if line.startswith("closed before")]
    assert "session-start" in left
    assert "post-compaction" in left
    harness.service.close()
    assert len(harness.events) == 1
    asks: list[Callable[[], object]] = [
        lambda: harness.service.sync(SyncRequest(("demand",))),
        lambda: harness.service.session_started("two"),
        lambda: harness.service.compacted(None, "async"),
        harness.watch,
    ]
    for ask in asks:
        with pytest.raises(CallerError, match="this memory is closed"):
            ask()
    harness.service.searched("three", 5)  # its answer is there all the same


def test_closing_ends_a_sync_that_another_thread_waits_for(make_service: MakeService) -> None:
    harness = make_service()
    begun = threading.Event()
    reports: list[SyncReport] = []

    def batches(_request: SyncRequest, deadline: Deadline) -> SyncReport:
        begun.set()
        until(lambda: deadline.expired)
        return SyncReport(remaining=5)

    harness.answer = batches
    ask = threading.Thread(
        target=lambda: reports.append(harness.service.sync(SyncRequest(("demand",))))
    )
    ask.start()
    assert begun.wait(PATIENCE)
    harness.service.close()
    ask.join(PATIENCE)
    assert reports == [SyncReport(remaining=5)]


def test_a_listener_may_close_the_memory(make_service: MakeService) -> None:
    harness = make_service()
    closed = threading.Event()

    def close(_event: SyncEvent) -> None:
        harness.service.close()
        closed.set()

    harness.service._listener = close
    harness.service.session_started("one")
    assert closed.wait(PATIENCE)


def test_what_was_left_is_put_in_words() -> None:
    assert undone_in_words(SyncReport(deferred=3, unreadable=(("a.md", "no"),))) == ""
    assert undone_in_words(SyncReport(remaining=1)) == "1 note is not indexed yet"
    report = SyncReport(
        remaining=2, embedding=Embedding(provider="x", missing=1, batch_note="it queues")
    )
    assert (
        undone_in_words(report)
        == "2 notes are not indexed yet; 1 text is not embedded yet: it queues"
    )
