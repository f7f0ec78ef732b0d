"""Calling something that may block for longer than it was told to."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from commonplace.resilience.deadline import LOOK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TookTooLongError", "waited"]

T = TypeVar("T")
_GRACE = 0.05  # seconds, for the call's own time-outs, which tidy up


class TookTooLongError(Exception):
    """The call was left behind; whatever it still does is nobody's."""


def waited(
    call: Callable[[], T], seconds: float, *, given_up: Callable[[], bool] | None = None
) -> T:
    """The result of ``call``, made in a thread of its own, or :class:`TookTooLongError`.

    That is raised after ``seconds``, or once ``given_up`` says that nobody wants it any more.
    Looking up a name has no time-out at all, and a read's starts anew with each byte of a head:
    only somebody who waits outside can keep a deadline.
    """
    running: _Running[T] = _Running(call)
    running.start()
    left = seconds + _GRACE
    while not running.ended.wait(left if given_up is None else min(left, LOOK_SECONDS)):
        left -= LOOK_SECONDS
        if given_up is None or given_up() or left <= 0:
            raise TookTooLongError
    if running.failure is not None:
        raise running.failure
    return running.results[0]


class _Running(threading.Thread, Generic[T]):
    def __init__(self, call: Callable[[], T]) -> None:
        super().__init__(name="request", daemon=True)
        self.ended = threading.Event()
        self.results: list[T] = []
        self.failure: BaseException | None = None
        self._call = call

    def run(self) -> None:
        try:
            self.results.append(self._call())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self.failure = error
        finally:
            self.ended.set()
