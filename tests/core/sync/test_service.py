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

    Making = Callable[..., "House"]

PATIENCE = 60.0
QUICK = SyncSettings(watch_debounce_ms=1)


def until(holds: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < give_up, "it never came to be"
        time.sleep(0.001)


class Eyes:
    """A watcher that sees what the test says."""

    def __init__(self, changed: Callable[[frozenset[str]], None]) -> None:
        self.changed = changed
        self.begun = self.ended = 0
        self.reporting = frozenset[str]()

    def start(self) -> None:
        self.begun += 1

    def stop(self) -> None:
        self.ended += 1

    def state(self) -> WatchState:
        return WatchState("polling", "there is no other way", 7.0, 3)

    def folders(self) -> frozenset[str]:
        return self.reporting


class House:
    """A service whose syncs do as the test says."""

    def __init__(
        self,
        settings: SyncSettings = QUICK,
        *,
        embeds: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.requests: list[SyncRequest] = []
        self.events: list[SyncEvent] = []
        self.eyes: list[Eyes] = []
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
        def make(changed: Callable[[frozenset[str]], None]) -> Eyes:
            self.eyes.append(Eyes(changed))
            return self.eyes[-1]

        self.service.watch(make, unwatched=unwatched)

    def at_rest(self) -> bool:
        state = self.service.state()
        return not state.running and state.due_in is None

    def reasons(self) -> list[tuple[str, ...]]:
        return [request.reasons for request in self.requests]


@pytest.fixture
def making() -> Iterator[Making]:
    made: list[House] = []

    def make(*args: Any, **options: Any) -> House:
        made.append(House(*args, **options))
        return made[-1]

    yield make
    for house in made:
        house.service.close()
    until(lambda: not any("commonplace-" in thread.name for thread in threading.enumerate()))


def test_watching_begins_with_a_sync_and_follows_what_is_seen(making: Making) -> None:
    house = making()
    house.watch()
    until(lambda: house.events)
    house.watch()
    assert [eyes.begun for eyes in house.eyes] == [1], "once is enough"
    house.eyes[0].changed(frozenset({"/b", "/a"}))
    until(lambda: len(house.events) > 1)
    assert house.reasons() == [("start",), ("watch",)]
    assert house.events[1].paths == ("/a", "/b")
    assert not any(request.eager for request in house.requests), "no caller asked"
    state = house.service.state()
    assert (state.watching, state.reason, state.since, state.folders) == (
        "polling",
        "there is no other way",
        7.0,
        3,
    )
    assert state.last is not None
    assert (state.last.reasons, state.last.added, state.last.error) == (("watch",), 1, "")
    house.service.close()
    assert house.eyes[0].ended == 1


def test_what_may_have_changed_is_known_while_every_folder_reports(
    making: Making, tmp_path: Path
) -> None:
    now = 0.0
    house = making(SyncSettings(watch_debounce_ms=600_000), clock=lambda: now)
    assert house.service.changed is None, "nothing is watched"
    house.watch()
    until(lambda: house.events and house.at_rest())

    def changed(*, after: float = 0.0) -> set[str] | None:
        nonlocal now
        now += after
        assert house.service.changed is not None
        paths = house.service.changed()
        return None if paths is None else set(paths)

    assert changed() is None, "the system does not report"
    house.eyes[0].reporting = frozenset({str(tmp_path)})
    assert changed() is None, "all has to be looked at once"
    assert changed(after=2.0) == set()
    house.eyes[0].changed(frozenset({"/a"}))
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
    making: Making, settings: SyncSettings, unwatched: bool
) -> None:
    house = making(settings)
    house.watch(unwatched=unwatched)
    until(lambda: house.events)
    assert house.service.changed is None


def test_what_cannot_be_watched_is_looked_at_now_and_then(making: Making) -> None:
    house = making()
    house.watch(unwatched=True)
    until(lambda: house.events)
    until(lambda: not house.service.state().running)
    due_in = house.service.state().due_in
    assert due_in is not None
    assert 0 < due_in <= 60
    often = making(SyncSettings(interval_minutes=600))
    often.watch(unwatched=True)
    until(lambda: often.events)
    assert (often.service.state().due_in or 0) <= 60
    seldom = making(SyncSettings(interval_minutes=600, watch=False))
    seldom.watch(unwatched=True)
    until(lambda: seldom.events)
    until(lambda: (seldom.service.state().due_in or 0) > 60)
    assert not seldom.eyes
    assert seldom.service.state().reason == "sync.watch is false"


def test_a_session_starts_once(making: Making) -> None:
    house = making()
    for _ in range(3):
        house.service.session_started("one")
        until(lambda: house.events and house.at_rest())
    house.service.searched("one", 0)
    house.service.searched("", 0)
    assert house.at_rest()
    assert house.reasons() == [("session-start",)]
    deaf = making(SyncSettings(on_session_start=False))
    deaf.service.session_started("one")
    deaf.service.searched("two", 0)
    assert deaf.at_rest()
    assert not deaf.requests


def test_a_search_has_nothing_embedded_unless_watching(making: Making) -> None:
    house = making(embeds=True)
    house.service.searched("one", 0)
    until(lambda: house.events and house.at_rest())
    house.service.searched("one", 25)
    until(lambda: len(house.events) == 2 and house.at_rest())
    assert house.reasons() == [("session-start",), ("search",)]
    assert not any(request.embed for request in house.requests)
    watched = making(embeds=True)
    watched.watch()
    until(lambda: len(watched.requests) == 2 and watched.at_rest())
    watched.service.searched("one", 25)
    until(lambda: sum(request.embed for request in watched.requests) == 2)


def test_changes_do_not_wait_for_texts_that_are_being_embedded(making: Making) -> None:
    house = making(embeds=True)
    embedding, release = threading.Event(), threading.Event()

    def answer(request: SyncRequest, _deadline: Deadline) -> SyncReport:
        if request.embed:
            embedding.set()
            assert release.wait(PATIENCE)
        return SyncReport(embedding=Embedding(provider="x", embedded=1) if request.embed else None)

    house.answer = answer
    house.watch()
    assert embedding.wait(PATIENCE)
    assert house.service.state().running == ("start",)
    house.eyes[0].changed(frozenset({"/a"}))
    until(lambda: [event.reasons for event in house.events] == [("start",), ("watch",)])
    release.set()
    until(
        lambda: (
            sum(event.report is not None and bool(event.report.embedding) for event in house.events)
            == 2
        )
    )


def test_a_sync_that_was_taken_and_has_not_begun_is_shown_as_running(
    making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = making()
    queue, shown = house.service._queue, list[tuple[str, ...]]()
    run = queue.run

    def about_to(request: SyncRequest) -> SyncReport:
        shown.append(house.service.state().running)
        return run(request)

    monkeypatch.setattr(queue, "run", about_to)
    house.watch()
    until(lambda: house.events and house.at_rest())
    assert shown == [("start",)]


def test_texts_that_could_not_be_embedded_stay_said_until_they_are(making: Making) -> None:
    house = making(embeds=True)
    missing = [3]
    house.answer = lambda request, _: SyncReport(
        embedding=Embedding(provider="x", missing=missing[0], reason="it sleeps")
        if request.embed
        else None
    )
    house.service.session_started("one")
    until(lambda: len(house.events) == 2)
    house.service.searched("", 21)
    until(lambda: len(house.events) == 3)
    last = house.service.state().last
    assert last is not None
    assert last.error == "3 texts are not embedded yet: it sleeps"
    assert last.failing_since is not None


def test_after_a_compaction_everything_is_indexed(making: Making) -> None:
    house = making()
    assert house.service.compacted("/s.jsonl", "off") is None
    assert house.service.compacted("/s.jsonl", "await") == SyncReport(added=1)
    assert house.service.compacted(None, "async") is None
    until(lambda: len(house.events) == 2)
    assert all(request.eager for request in house.requests)
    lazy = making(SyncSettings(post_compaction_force=False))
    lazy.service.compacted(None, "await")
    assert not lazy.requests[0].eager


def test_an_index_that_is_busy_is_tried_again_and_is_news_only_if_it_lasts(making: Making) -> None:
    house = making()

    def busy(*_: object) -> SyncReport:
        raise IndexBusyError("another process writes")

    house.answer = busy
    house.service.session_started("one")
    until(lambda: house.requests)
    until(lambda: (house.service.state().due_in or 0) > 0)
    assert house.events == []
    assert house.service.state().last is None
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
def test_other_failures_are_reported_at_once_also_mistakes(making: Making) -> None:
    house = making()

    def fail(request: SyncRequest, _deadline: Deadline) -> SyncReport:
        if len(house.requests) == 1:
            raise IndexReadOnlyError("it cannot be written", hint="chmod")
        raise ZeroDivisionError

    house.answer = fail
    house.service.session_started("one")
    until(lambda: len(house.events) == 2)
    assert isinstance(house.events[0].error, IndexReadOnlyError)
    assert "internal error: ZeroDivisionError" in str(house.events[1].error)
    last = house.service.state().last
    assert last is not None
    assert last.failing_since is not None


@pytest.mark.parametrize("error", [UnavailableError("no index"), DeclinedError("not this one")])
def test_a_sync_before_a_search_that_fails_is_a_note_of_the_search(
    making: Making, error: CommonplaceError
) -> None:
    def fail(*_: object) -> SyncReport:
        raise error

    house = making()
    house.answer = fail
    left = house.service.before_search(None, None)
    assert left == f"the notes could not be embedded first: {error}"


def test_a_sync_before_a_search_waits_for_others_in_half_of_its_time(making: Making) -> None:
    house = making()
    assert house.service.before_search(None, None) == ""
    assert house.service.before_search(Deadline.after(10), None) == ""
    usual, hasty = (request.wait for request in house.requests)
    assert usual == 30
    assert 4 < hasty <= 5
    begun, release = threading.Event(), threading.Event()

    def slow(*_: object) -> SyncReport:
        begun.set()
        assert release.wait(PATIENCE)
        return SyncReport()

    house.answer = slow
    other = threading.Thread(target=lambda: house.service.sync(SyncRequest(("demand",))))
    other.start()
    assert begun.wait(PATIENCE)
    left = house.service.before_search(Deadline.after(0.2), None)
    release.set()
    other.join(PATIENCE)
    assert left.endswith("embedded first: another sync took longer than was waited for")


def test_a_listener_that_fails_does_no_harm(making: Making) -> None:
    house = making()
    recorder: list[SyncEvent] = []

    def listen(event: SyncEvent) -> None:
        recorder.append(event)
        raise ValueError

    house.service._listener = listen
    assert house.service.sync(SyncRequest(("demand",))) == SyncReport(added=1)
    assert len(recorder) == 1


def test_closing_ends_a_sync_at_its_next_batch_and_is_no_failure(
    making: Making, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    house = making()
    begun = threading.Event()

    def batches(_request: SyncRequest, deadline: Deadline) -> SyncReport:
        begun.set()
        until(lambda: deadline.expired)
        return SyncReport(remaining=5)

    house.answer = batches
    house.service.session_started("one")
    assert begun.wait(PATIENCE)
    house.service.compacted("/s.jsonl", "async")
    house.service.close()
    (ended,) = house.events
    assert ended.report == SyncReport(remaining=5)
    (left,) = [line for line in caplog.messages if line.startswith("closed before")]
    assert "session-start" in left
    assert "post-compaction" in left
    house.service.close()
    assert len(house.events) == 1
    asks: list[Callable[[], object]] = [
        lambda: house.service.sync(SyncRequest(("demand",))),
        lambda: house.service.session_started("two"),
        lambda: house.service.compacted(None, "async"),
        house.watch,
    ]
    for ask in asks:
        with pytest.raises(CallerError, match="this memory is closed"):
            ask()
    house.service.searched("three", 5)  # its answer is there all the same


def test_closing_ends_a_sync_that_another_thread_waits_for(making: Making) -> None:
    house = making()
    begun = threading.Event()
    reports: list[SyncReport] = []

    def batches(_request: SyncRequest, deadline: Deadline) -> SyncReport:
        begun.set()
        until(lambda: deadline.expired)
        return SyncReport(remaining=5)

    house.answer = batches
    ask = threading.Thread(
        target=lambda: reports.append(house.service.sync(SyncRequest(("demand",))))
    )
    ask.start()
    assert begun.wait(PATIENCE)
    house.service.close()
    ask.join(PATIENCE)
    assert reports == [SyncReport(remaining=5)]


def test_a_listener_may_close_the_memory(making: Making) -> None:
    house = making()
    closed = threading.Event()

    def close(_event: SyncEvent) -> None:
        house.service.close()
        closed.set()

    house.service._listener = close
    house.service.session_started("one")
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
