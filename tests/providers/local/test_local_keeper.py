"""Keeping a child: one request in flight, restarts, giving up, late answers."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, cast

import pytest

from commonplace.errors import ProviderError
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace_local.keeper import Keeper
from commonplace_local.worker import GoneError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LOADED = {"loaded": {"context": 512}}
VECTORS = {"vectors": ["AAAA"]}


class Scripted:
    """A child that answers by a script: an answer, an error to raise, or ``None`` for too late."""

    def __init__(self, *script: Mapping[str, Any] | Exception | None) -> None:
        self.script = deque(script)
        self.got: list[Mapping[str, Any]] = []
        self.stops = 0
        self.late: deque[int] = deque()

    def send(self, request: Mapping[str, Any]) -> None:
        self.got.append(request)
        self.late.append(request["id"])

    def receive(self, timeout: float) -> dict[str, Any] | None:
        reported = self.script.popleft()
        if isinstance(reported, Exception):
            raise reported
        return None if reported is None else {"id": self.late.popleft(), **reported}

    def words(self) -> str:
        return "E llama_model_load: error loading model: tensor is not within the file bounds"

    def stop(self, grace: float = 0.0) -> int:
        self.stops += 1
        return -9


def crash() -> GoneError:
    return GoneError(-6, "something before\nGGML_ASSERT(buffer) failed")


@pytest.fixture
def keep(clock: Callable[[], float]) -> Callable[..., Keeper]:
    def make(*children: Scripted) -> Keeper:
        waiting = deque(children)
        return Keeper(cast("Any", waiting.popleft), lambda: {"path": "m.gguf"}, clock=clock)

    return make


def ask(keeper: Keeper, deadline: Deadline = NEVER) -> Mapping[str, Any]:
    return keeper.ask({"embed": ["x"]}, urgent=False, deadline=deadline)


def test_the_model_is_loaded_once_and_then_asked(keep: Callable[..., Keeper]) -> None:
    child = Scripted(LOADED, VECTORS, VECTORS)
    keeper = keep(child)
    assert ask(keeper)["vectors"] == ["AAAA"]
    ask(keeper)
    assert [set(request) - {"id"} for request in child.got] == [{"load"}, {"embed"}, {"embed"}]
    assert keeper.loaded == {"context": 512}


def test_after_one_crash_the_request_is_sent_to_a_new_child(keep: Callable[..., Keeper]) -> None:
    first, second = Scripted(LOADED, crash()), Scripted(LOADED, VECTORS)
    assert ask(keep(first, second))["vectors"] == ["AAAA"]
    assert second.got[1]["embed"] == ["x"]


def test_a_second_crash_is_reported_with_a_pause_to_wait(
    keep: Callable[..., Keeper], clock: Any
) -> None:
    keeper = keep(Scripted(LOADED, crash()), Scripted(LOADED, crash()), Scripted(LOADED, VECTORS))
    with pytest.raises(ProviderError, match=r"SIGABRT \(GGML_ASSERT\(buffer\) failed\)") as caught:
        ask(keeper)
    assert (caught.value.kind, caught.value.retry_after) == ("unavailable", 1.0)
    with pytest.raises(ProviderError) as again:
        ask(keeper)
    assert again.value.retry_after == 1.0
    clock.now += 1.0
    assert ask(keeper)["vectors"] == ["AAAA"]


def test_after_three_crashes_it_is_left_alone_and_later_tried_again(
    keep: Callable[..., Keeper], clock: Any
) -> None:
    crashing = [Scripted(LOADED, crash()) for _ in range(4)]
    keeper = keep(*crashing, Scripted(LOADED, VECTORS))
    with pytest.raises(ProviderError):
        ask(keeper)
    clock.now += 1.0
    with pytest.raises(ProviderError, match="left alone") as third:
        ask(keeper)
    assert (third.value.kind, third.value.retry_after) == ("unavailable", 300.0)
    assert third.value.hint
    clock.now += 299.0
    with pytest.raises(ProviderError) as resting:
        ask(keeper)
    assert resting.value.retry_after == 1.0
    assert not crashing[3].got
    clock.now += 1.0
    with pytest.raises(ProviderError, match="left alone"):
        ask(keeper)
    clock.now += 300.0
    assert ask(keeper)["vectors"] == ["AAAA"]


def test_crashes_that_lie_far_apart_are_not_added_up(
    keep: Callable[..., Keeper], clock: Any
) -> None:
    children = [Scripted(LOADED, crash()), *(Scripted(LOADED, VECTORS, crash()) for _ in range(4))]
    keeper = keep(*children, Scripted(LOADED, VECTORS))
    for _ in range(4):
        assert ask(keeper)["vectors"] == ["AAAA"]
        clock.now += 601.0


def test_ending_after_idleness_is_no_crash(keep: Callable[..., Keeper]) -> None:
    idle = [Scripted(LOADED, VECTORS, GoneError(0, "")) for _ in range(5)]
    keeper = keep(*idle, Scripted(LOADED, VECTORS))
    for _ in range(6):
        assert ask(keeper)["vectors"] == ["AAAA"]


def test_a_child_that_always_ends_quietly_does_not_keep_us_in_a_circle(
    keep: Callable[..., Keeper],
) -> None:
    keeper = keep(*(Scripted(GoneError(0, "")) for _ in range(2)))
    with pytest.raises(ProviderError) as caught:
        ask(keeper)
    assert caught.value.kind == "unavailable"


def test_a_late_answer_is_waited_for_and_never_taken_for_another(
    keep: Callable[..., Keeper], clock: Callable[[], float]
) -> None:
    child = Scripted(LOADED, None, {"vectors": ["LATE"]}, VECTORS)
    keeper = keep(child)
    with pytest.raises(ProviderError) as caught:
        ask(keeper, Deadline.after(1, clock))
    assert caught.value.kind == "timeout"
    assert ask(keeper)["vectors"] == ["AAAA"]
    assert [request["id"] for request in child.got] == [1, 2, 3]


def test_loading_that_outlasts_a_deadline_goes_on(
    keep: Callable[..., Keeper], clock: Callable[[], float]
) -> None:
    child = Scripted(None, LOADED, VECTORS)
    keeper = keep(child)
    with pytest.raises(ProviderError, match="loading"):
        ask(keeper, Deadline.after(1, clock))
    assert ask(keeper)["vectors"] == ["AAAA"]
    assert sum("load" in request for request in child.got) == 1


def test_a_child_that_is_stuck_is_stopped_and_counts_as_a_crash(
    keep: Callable[..., Keeper], clock: Any
) -> None:
    stuck = Scripted(LOADED, None, None)
    keeper = keep(stuck, Scripted(LOADED, crash()), Scripted(LOADED, VECTORS))
    with pytest.raises(ProviderError):
        ask(keeper, Deadline.after(1, clock))
    assert stuck.stops == 0
    clock.now += 901
    with pytest.raises(ProviderError):
        ask(keeper, Deadline.after(1, clock))
    assert stuck.stops == 1
    with pytest.raises(ProviderError) as second:
        ask(keeper)
    assert second.value.retry_after == 1.0


def test_a_model_that_cannot_be_loaded_is_reported_in_the_engines_words(
    keep: Callable[..., Keeper],
) -> None:
    broken = Scripted({"error": {"kind": "not_found", "message": "Failed to init server"}})
    keeper = keep(broken, Scripted(LOADED, VECTORS))
    with pytest.raises(ProviderError, match="tensor is not within the file bounds") as caught:
        ask(keeper)
    assert caught.value.kind == "not_found"
    assert broken.stops
    # It was an answer, not a crash: a repaired file works at once.
    assert ask(keeper)["vectors"] == ["AAAA"]


def test_a_refused_text_leaves_the_child_running(keep: Callable[..., Keeper]) -> None:
    child = Scripted(LOADED, {"error": {"kind": "too_large", "message": "1202 tokens"}}, VECTORS)
    keeper = keep(child)
    with pytest.raises(ProviderError) as caught:
        ask(keeper)
    assert caught.value.kind == "too_large"
    assert ask(keeper)["vectors"] == ["AAAA"]


def test_an_answer_to_something_else_stops_the_child(keep: Callable[..., Keeper]) -> None:
    child = Scripted({"loaded": {}})
    child.late.append(77)
    with pytest.raises(ProviderError) as caught:
        ask(keep(child))
    assert caught.value.kind == "protocol"
    assert child.stops


def test_nothing_is_sent_when_no_time_is_left(
    keep: Callable[..., Keeper], clock: Callable[[], float]
) -> None:
    child = Scripted(LOADED)
    with pytest.raises(ProviderError) as caught:
        ask(keep(child), Deadline.after(0, clock))
    assert caught.value.kind == "timeout"
    assert all("embed" not in request for request in child.got)


def test_closing_stops_the_child_and_every_later_request(keep: Callable[..., Keeper]) -> None:
    child = Scripted(LOADED, VECTORS)
    keeper = keep(child)
    ask(keeper)
    keeper.close()
    keeper.close()
    assert child.stops
    with pytest.raises(ProviderError, match="closed"):
        ask(keeper)


def test_a_request_that_is_interrupted_by_closing_says_so(keep: Callable[..., Keeper]) -> None:
    class Interrupted(Scripted):
        def receive(self, timeout: float) -> dict[str, Any] | None:
            if len(self.got) == 2:
                keeper.close()
                raise GoneError(-9, "")
            return super().receive(timeout)

    keeper = keep(Interrupted(LOADED))
    with pytest.raises(ProviderError, match="closed"):
        ask(keeper)


def test_after_a_fork_the_parents_child_is_left_alone(keep: Callable[..., Keeper]) -> None:
    parents, own = Scripted(LOADED, VECTORS), Scripted(LOADED, VECTORS)
    keeper = keep(parents, own)
    ask(keeper)
    keeper._pid -= 1
    assert ask(keeper)["vectors"] == ["AAAA"]
    assert own.got
    assert parents.stops == 0


def test_a_process_that_cannot_be_started_is_reported(clock: Callable[[], float]) -> None:
    def refuse() -> Scripted:
        raise OSError(12, "Cannot allocate memory")

    keeper = Keeper(cast("Any", refuse), lambda: {"path": "m.gguf"}, clock=clock)
    with pytest.raises(ProviderError, match="Cannot allocate memory") as caught:
        ask(keeper)
    assert caught.value.kind == "unavailable"
