"""Calls of a part that may hang, given up at their deadline; and what such a part raises."""

from __future__ import annotations

import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, Generic, TypeVar

from commonplace.errors import DeadlineExceededError, UnavailableError
from commonplace.resilience.deadline import INFINITY, POLL_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.reports import Progress, ProgressCallback
    from commonplace.resilience.deadline import Deadline


T = TypeVar("T")

_AT_MOST = 64


def _wait(event: threading.Event, seconds: float) -> bool:
    try:
        return event.wait(min(seconds, threading.TIMEOUT_MAX))
    except RuntimeError as error:
        _raise_signal_beneath(error)
        raise


def start_failure(thread: threading.Thread) -> str:
    """Start ``thread``, and say why that failed: "" if it did not.

    It fails where there can be no more threads, or the interpreter is about to end.
    """
    try:
        thread.start()
    except RuntimeError as error:
        _raise_signal_beneath(error)
        return f"no thread could be started: {error}"
    return ""


def _raise_signal_beneath(error: RuntimeError) -> None:
    """Raise what a signal raised, such as Ctrl-C, where ``threading`` failed over it.

    A signal that comes while ``threading.Event`` takes its lock again leaves it without, and
    Python raises "release unlocked lock" instead.
    """
    beneath = error.__context__
    if beneath is not None and not isinstance(beneath, Exception):
        raise beneath


class Worker:
    """Runs the calls of one part, each on a daemon thread of its own.

    A thread cannot be stopped from outside: one that does not come back keeps its place among
    ``at_most``, and what it may still answer is dropped. With no place left, calls are refused.
    Unless ``patient``, they are also refused while one that was given up has not come back.
    """

    def __init__(
        self,
        name: str,
        *,
        at_most: int = _AT_MOST,
        patient: bool = True,
        wait: Callable[[threading.Event, float], bool] = _wait,
    ) -> None:
        self.name = name
        self._patient = patient
        self._given_up: set[threading.Event] = set()
        self._places = threading.BoundedSemaphore(at_most)
        self._at_most = at_most
        self._wait = wait

    def run(self, work: Callable[[], T], deadline: Deadline) -> T:
        """What ``work`` returns or raises, if it does so before ``deadline``.

        Raises :class:`~commonplace.errors.DeadlineExceededError` if it does not, soon after one
        that was cancelled, and
        :class:`~commonplace.errors.UnavailableError` where too many earlier calls are still out.
        A deadline that never comes needs no thread: the work is done in the caller's own.
        """
        seconds = deadline.remaining()
        if seconds == INFINITY:
            return work()
        if self._any_out() and not self._patient:
            raise UnavailableError(f"{self.name}: an earlier call has not come back")
        if not self._places.acquire(blocking=False):
            raise UnavailableError(f"{self.name}: {self._at_most} calls have not come back")
        call = _Call(work, self._places)
        thread = threading.Thread(target=call.make, name=f"commonplace-{self.name}", daemon=True)
        if reason := start_failure(thread):
            self._places.release()
            raise UnavailableError(f"{self.name}: {reason}")
        left, until = seconds, deadline.at
        while not self._wait(call.done, min(left, POLL_SECONDS) if deadline.cancellable else left):
            left -= POLL_SECONDS
            if not deadline.cancelled and deadline.at > until:
                left, until = deadline.remaining(), deadline.at
            elif not deadline.cancellable or deadline.cancelled or left <= 0:
                self._given_up.add(call.done)
                raise DeadlineExceededError(f"{self.name} did not answer within {seconds:.3g} s")
        return call.outcome()

    def _any_out(self) -> bool:
        """Whether any call that was given up has not come back."""
        # Threads add to the set meanwhile: no step here is more than one of its own.
        back = {done for done in self._given_up.copy() if done.is_set()}
        self._given_up -= back
        return bool(self._given_up)


class ProgressGate:
    """Passes progress on to ``progress`` until it is closed: a call that was given up may go on."""

    def __init__(self, progress: ProgressCallback | None) -> None:
        self._progress = progress
        self._closed = False
        self._deadline: Deadline | None = None
        self._seconds = 0.0

    def __call__(self, progress: Progress) -> None:
        """Pass ``progress`` on, and renew the deadline that :meth:`renew` was given."""
        if self._closed:
            return
        if self._deadline is not None:
            self._deadline.renew(self._seconds)
        if self._progress is not None:
            self._progress(progress)

    def renew(self, deadline: Deadline) -> None:
        """From now on each progress gives ``deadline`` as many seconds as it has left now."""
        self._deadline, self._seconds = deadline, deadline.remaining()

    def close(self) -> None:
        """Pass no more on."""
        self._closed = True


def failure_of(error: BaseException) -> str:
    """What a plugin's code raised, in one line: the type, and the message if there is one.

    Raises ``error`` again where a signal raised it, such as Ctrl-C: the command ends by it.
    """
    if from_signal(error):
        raise error
    try:
        words = str(error).strip().partition("\n")[0]
    except Exception:  # noqa: BLE001 - a plugin's error may have a method of its own that fails
        words = ""
    name = type(error).__name__
    return f"{name}: {words}" if words else name


def from_signal(error: BaseException) -> bool:
    """Whether a signal raised ``error``, such as Ctrl-C, and not the code that was called.

    Python handles signals on its main thread, between two instructions of whatever runs there. So
    the error comes out of a handler written in Python, or out of no ``raise`` statement at all.
    """
    if isinstance(error, Exception) or threading.current_thread() is not threading.main_thread():
        return False
    import signal  # only for what is no usual error
    from opcode import opmap

    found = [signal.getsignal(number) for number in signal.valid_signals()]
    # That of asyncio is a partial function.
    handlers = {getattr(getattr(one, "func", one), "__code__", None) for one in found}
    trace, raised = error.__traceback__, False
    while trace is not None:
        code = trace.tb_frame.f_code
        if code in handlers:
            return True
        raised = trace.tb_next is None and code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]
        trace = trace.tb_next
    return isinstance(error, KeyboardInterrupt) and not raised


class _Call(Generic[T]):
    """One call and what came of it."""

    def __init__(self, work: Callable[[], T], places: threading.BoundedSemaphore) -> None:
        self._work = work
        self._context = copy_context()  # the caller's deadline is in there
        self._places = places
        self.done = threading.Event()
        self._answers: list[T] = []
        self._error: BaseException | None = None

    def make(self) -> None:
        """Do the work, on the thread made for it."""
        try:
            self._answers.append(self._context.run(self._work))
        except KeyboardInterrupt as error:  # not the user's: signals reach the main thread alone
            self._error = RuntimeError("KeyboardInterrupt")
            self._error.__cause__ = error
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._error = error
        finally:
            self._places.release()
            self.done.set()

    def outcome(self) -> T:
        """The answer, or the error raised here; once ``done``."""
        if self._error is not None:
            raise self._error
        return self._answers[0]
