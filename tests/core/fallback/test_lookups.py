"""Look-ups that an answer hands out are calls of its backend: in time, checked and counted."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest

from commonplace.errors import (
    DeadlineExceededError,
    DeclinedError,
    MemoryClosedError,
    UnavailableError,
)
from commonplace.fallback.backend import Backend
from commonplace.model.search import Arm, KeywordQuery, Query, Where
from commonplace.resilience.bounded_call import Worker
from commonplace.resilience.deadline import Deadline, current_deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.fallback.backend import BackendSearch
    from commonplace.protocols.managers import MemoryManager

QUERY = Query("tea", KeywordQuery(("tea",)))
LOOK_UPS = {"holders": ({"tea"},), "tokens_beginning": ("te", 3), "vectors": ([1],)}


class Engine:
    """An engine whose look-ups are all ``look_up``."""

    capabilities: frozenset[str] = frozenset()

    def __init__(self, look_up: Callable[..., Any]) -> None:
        given: Any = dict.fromkeys(LOOK_UPS, look_up)
        self.arm = Arm("keyword", "bm25", (), **given)

    def search(self, *_: object, **__: object) -> tuple[Arm, ...]:
        return (self.arm,)

    def close(self) -> None: ...


def backend_of(look_up: Callable[..., Any], **options: Any) -> Backend:
    return Backend("e", lambda: cast("MemoryManager", Engine(look_up)), **options)


def answer_of(search: BackendSearch, *, again: bool = False) -> Arm:
    ask = search.ask_again if again else search.ask
    (arm,) = ask(QUERY, where=Where(), limit=5)
    return arm


def looked_up(arm: Arm, name: str) -> Mapping[Any, Any]:
    found: Mapping[Any, Any] = getattr(arm, name)(*LOOK_UPS[name])
    return found


@pytest.mark.parametrize("name", LOOK_UPS)
@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_a_look_up_is_given_what_is_asked_for_and_the_search_s_deadline(
    name: str, again: bool
) -> None:
    def look_up(*given: object) -> dict[object, object]:
        assert given == LOOK_UPS[name]
        deadlines.append(current_deadline())
        return {1: b"a vector"} if name == "vectors" else {"tea": 2}

    deadlines: list[Deadline] = []
    deadline = Deadline.after(9, lambda: 0.0)
    arm = answer_of(backend_of(look_up).search_of(QUERY, deadline), again=again)
    assert looked_up(arm, name)
    assert deadlines == [deadline]


@pytest.mark.parametrize("name", LOOK_UPS)
@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RuntimeError("no socket"), "the engine failed: RuntimeError: no socket"),
        (UnavailableError("busy"), "busy"),
        (SystemExit(3), "the engine failed: SystemExit: 3"),
    ],
)
def test_what_a_look_up_raises_is_a_failure_of_the_backend_and_counted(
    name: str, raised: BaseException, expected: str
) -> None:
    def look_up(*_: object) -> NoReturn:
        raise raised

    backend = backend_of(look_up, label="the engine")
    arm = answer_of(backend.search_of(QUERY, Deadline.after(9)))
    assert backend.guard.failure("search") is None
    with pytest.raises(UnavailableError, match=expected):
        looked_up(arm, name)
    failure = backend.guard.failure("search")
    assert failure is not None
    assert failure.reason.startswith(expected)


def test_a_look_up_that_is_declined_counts_nothing() -> None:
    def look_up(*_: object) -> NoReturn:
        raise DeclinedError("not that word")

    backend = backend_of(look_up)
    arm = answer_of(backend.search_of(QUERY, Deadline.after(9)))
    with pytest.raises(DeclinedError):
        looked_up(arm, "holders")
    assert backend.guard.failure("search") is None


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("holders", None),
        ("holders", ["tea"]),
        ("holders", {"tea": "2"}),
        ("holders", {None: 2}),
        ("tokens_beginning", {"tea": 2.0}),
        ("tokens_beginning", 3),
        ("vectors", {1: [0.5]}),
        ("vectors", {None: b""}),
        ("vectors", b"1"),
    ],
)
def test_what_no_look_up_may_give_is_a_failure_of_the_backend(name: str, given: object) -> None:
    arm = answer_of(backend_of(lambda *_: given, label="x").search_of(QUERY, Deadline.after(9)))
    with pytest.raises(UnavailableError, match="x answered with"):
        looked_up(arm, name)


def test_a_look_up_that_hangs_is_given_up_at_the_deadline_of_the_search() -> None:
    release, now = threading.Event(), [0.0]

    def hangs(*_: object) -> NoReturn:
        release.wait(20)
        raise UnavailableError("too late")

    def wait(event: threading.Event, seconds: float) -> bool:
        if hanging:  # time passes, and the call does not come back
            now[0] += seconds
            return False
        return event.wait(60)

    hanging: list[bool] = []
    backend = backend_of(hangs, worker=Worker("e", wait=wait))
    try:
        arm = answer_of(backend.search_of(QUERY, Deadline.after(9, lambda: now[0])))
        hanging.append(True)
        now[0] = 4.0
        with pytest.raises(DeadlineExceededError):
            looked_up(arm, "holders")
        assert now == [9.0]
        with pytest.raises(DeadlineExceededError):  # at once: no time is left
            looked_up(arm, "vectors")
        assert now == [9.0]
    finally:
        release.set()


def test_no_look_up_is_made_of_what_is_closed() -> None:
    backend = backend_of(lambda *_: {})
    arm = answer_of(backend.search_of(QUERY, Deadline.after(9)))
    backend.close()
    with pytest.raises(MemoryClosedError):
        looked_up(arm, "holders")


def test_what_an_answer_cannot_look_up_is_not_handed_out() -> None:
    engine: Any = Engine(lambda *_: {})
    engine.arm = Arm("keyword", "bm25", ())
    arm = answer_of(Backend("e", lambda: engine).search_of(QUERY, Deadline.after(9)))
    assert [getattr(arm, name) for name in LOOK_UPS] == [None, None, None]
