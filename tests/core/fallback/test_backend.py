"""Work that was ended from outside says nothing against who did it."""

from __future__ import annotations

import signal
from functools import partial
from math import inf
from typing import TYPE_CHECKING, NoReturn

import pytest

from commonplace.errors import DeadlineExceededError, UnavailableError
from commonplace.fallback.backend import Backend
from commonplace.resilience.bounded_call import Worker
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from commonplace.protocols.managers import MemoryManager


class Idle:
    """An engine that is never asked for anything."""


def make() -> MemoryManager:
    return Idle()  # type: ignore[return-value]  # what is asked of it is the test's own


@pytest.mark.parametrize(
    ("error", "cancelled", "blamed"),
    [
        (DeadlineExceededError("too long"), True, False),
        (DeadlineExceededError("too long"), False, True),
        (UnavailableError("broken"), True, True),
    ],
)
def test_who_is_to_blame(error: UnavailableError, cancelled: bool, blamed: bool) -> None:
    backend = Backend("engine", make)
    ended: list[bool] = []

    def ask(_: MemoryManager) -> NoReturn:
        ended.append(cancelled)
        raise error

    deadline = Deadline(inf, cancelled=lambda: ended == [True])
    for _ in range(5):
        ended.clear()
        with pytest.raises(UnavailableError):
            backend.call("sync", ask, deadline)
    assert (backend.guard.failure("sync") is not None) == blamed


@pytest.mark.parametrize(
    ("error", "worker"),
    [
        (SystemExit(3), None),
        (SystemExit(3), Worker("engine")),
        (KeyboardInterrupt(), Worker("engine")),
    ],
    ids=["exit", "exit on a thread", "interrupt on a thread"],
)
def test_an_engine_that_ends_the_program_has_failed(
    error: BaseException, worker: Worker | None
) -> None:
    backend = Backend("engine", make, worker=worker)

    def ask(_: MemoryManager) -> NoReturn:
        raise error

    for call in (partial(backend.call, "search"), backend.probe):
        with pytest.raises(UnavailableError, match=f"engine failed: .*{type(error).__name__}"):
            call(ask, Deadline.after(60))
    assert backend.guard.failure("search") is not None


def test_the_users_interrupt_passes() -> None:
    def ask(_: MemoryManager) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Backend("engine", make).call("search", ask, Deadline.after(60))


def test_an_interrupt_that_an_engine_raises_is_its_failure() -> None:
    def ask(_: MemoryManager) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(UnavailableError, match="engine failed: KeyboardInterrupt"):
        Backend("engine", make).call("search", ask, Deadline.after(60))
