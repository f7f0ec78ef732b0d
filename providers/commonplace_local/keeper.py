"""Keeps one child process running: restarted after a crash, given up after three."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from commonplace_local.errors import local_error
from commonplace_local.worker import GoneError, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.plugin import Deadline, ProviderError

_CRASHES = 3
_WITHIN = 600.0  # seconds: crashes further apart are not counted together
_REST = 300.0
_FIRST_PAUSE = 1.0
_STUCK = 900.0
_FAREWELL = 2.0

_KINDS: Mapping[str, Any] = {
    kind: kind for kind in ("too_large", "bad_request", "not_found", "protocol")
}


class Keeper:
    """Asks a child, one request in flight; safe to share between threads.

    ``start`` makes a child and ``load`` is the request it gets first. After the first crash a
    request is sent once more; after the next, ``unavailable`` is raised with a time to wait; three
    within ten minutes, and the engine is left alone for five.
    """

    def __init__(
        self,
        start: Callable[[], Worker],
        load: Callable[[], Mapping[str, Any]],
        *,
        clock: Callable[[], float],
    ) -> None:
        self.loaded: Mapping[str, Any] = {}
        self._start = start
        self._load = load
        self._clock = clock
        self._turns = Turns()
        self._child: Worker | None = None
        self._pid = os.getpid()
        self._id = 0
        self._owed: tuple[int, float] | None = None
        self._crashes: list[float] = []
        self._not_before = 0.0
        self._why = ""
        self._path = ""
        self._closed = False

    def ask(
        self, request: Mapping[str, Any], *, urgent: bool, deadline: Deadline
    ) -> Mapping[str, Any]:
        """The child's answer. Raises :class:`~commonplace.errors.ProviderError`."""
        if not self._turns.take(urgent=urgent, timeout=deadline.remaining()):
            raise local_error("timeout", "the model was busy with other texts all the time")
        try:
            return self._asked(request, deadline)
        finally:
            self._turns.give_back()

    def close(self) -> None:
        """Stop the child, even in the middle of a request; closing twice is fine."""
        self._closed = True
        child, self._child = self._child, None
        if child is not None and self._pid == os.getpid():
            child.stop()

    def _asked(self, request: Mapping[str, Any], deadline: Deadline) -> Mapping[str, Any]:
        again = True
        while True:
            self._refuse()
            try:
                child = self._running(deadline)
                return self._exchange(child, request, deadline)
            except GoneError as gone:
                self._forget()
                if self._closed:
                    raise _closed() from None
                if gone.code:
                    self._crashed(f"the engine ended {gone.manner}", str(gone))
                again, first = False, again
                if not first or len(self._crashes) > 1:
                    raise self._unavailable() from None

    def _refuse(self) -> None:
        if self._closed:
            raise _closed()
        if self._clock() < self._not_before:
            raise self._unavailable()

    def _running(self, deadline: Deadline) -> Worker:
        """A child with its model loaded and nothing owed."""
        if self._pid != os.getpid():  # a fork: the child and its pipes are our parent's
            self._forget()
            self._pid = os.getpid()
        if self._child is None:
            load = self._load()
            self.loaded = {}
            try:
                self._child = self._start()
            except OSError as error:
                words = f"the engine's process cannot be started: {error.strerror or error}"
                raise local_error("unavailable", words) from error
            if self._closed:
                self.close()
                raise _closed()
            self._path = str(load["path"])
            self._send(self._child, {"load": load})
        child = self._child
        if self._owed is not None:
            answer = self._awaited(child, deadline)
            if not self.loaded:
                if "error" in answer:
                    # Engines log from a thread of their own: it speaks its last words as it ends.
                    child.stop(grace=_FAREWELL)
                    self._forget()
                    raise _unloadable(self._path, answer["error"], child.words())
                self.loaded = answer["loaded"]
        return child

    def _exchange(
        self, child: Worker, request: Mapping[str, Any], deadline: Deadline
    ) -> Mapping[str, Any]:
        if deadline.expired:
            raise local_error("timeout", "no time was left for the texts")
        self._send(child, request)
        answer = self._awaited(child, deadline)
        self._why = ""
        if "error" in answer:
            raise _refusal(answer["error"])
        return answer

    def _send(self, child: Worker, request: Mapping[str, Any]) -> None:
        self._id += 1
        self._owed = (self._id, self._clock())
        child.send({"id": self._id, **request})

    def _awaited(self, child: Worker, deadline: Deadline) -> Mapping[str, Any]:
        """The answer that is owed; it stays owed if the deadline passes first."""
        assert self._owed is not None
        id_, since = self._owed
        answer = child.receive(deadline.remaining())
        if answer is None:
            what = "computing" if self.loaded else "loading the model"
            if self._clock() - since > _STUCK:
                child.stop()
                self._forget()
                self._crashed("the engine was stuck")
            raise local_error("timeout", f"{what} took longer than it was given")
        if answer.get("id") != id_:
            child.stop()
            self._forget()
            raise local_error("protocol", "the engine's process answered something else")
        self._owed = None
        return answer

    def _forget(self) -> None:
        self._child, self._owed = None, None

    def _crashed(self, why: str, printed: str = "") -> None:
        now = self._clock()
        self._crashes = [at for at in self._crashes if now - at < _WITHIN] + [now]
        words = printed.strip().splitlines()
        self._why = f"{why} ({words[-1].strip()})" if words else why
        count = len(self._crashes)
        if count >= _CRASHES:
            self._not_before = now + _REST
            self._crashes = self._crashes[-_CRASHES + 1 :]  # one more after the rest is enough
        elif count > 1:
            self._not_before = now + _FIRST_PAUSE * 2.0 ** (count - 2)

    def _unavailable(self) -> ProviderError:
        wait = max(0.0, self._not_before - self._clock())
        many = wait > _FIRST_PAUSE * 2.0**_CRASHES
        words = self._why or "the engine's process ended before it answered"
        if many:
            words += f"; after {_CRASHES} crashes it is left alone for a while"
        return local_error(
            "unavailable",
            words,
            retry_after=wait or None,
            hint="try another model or engine: this one may be broken, or memory too small"
            if many
            else "",
        )


def _closed() -> ProviderError:
    return local_error("unavailable", "it was closed")


def _refusal(error: Mapping[str, Any]) -> ProviderError:
    kind = _KINDS.get(error.get("kind", ""), "protocol")
    return local_error(kind, str(error.get("message", "it refused")))


def _unloadable(path: str, error: Mapping[str, Any], words: str) -> ProviderError:
    """The child's error; the engine's own ``words`` say more, where they are telling."""
    message = str(error.get("message", "it was refused"))
    telling = [line for line in words.splitlines() if "error loading model: " in line]
    if telling:
        message = telling[0].rpartition("error loading model: ")[2]
    return local_error(
        _KINDS.get(error.get("kind", ""), "protocol"),
        f"{path} cannot be loaded: {message}",
        hint="delete and download it again, or set local.modelPath to another GGUF model",
    )


class Turns:
    """One holder at a time; while an urgent one waits, no other is let in.

    A plain lock would let an indexing thread take it again and again, past a waiting search.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held = False
        self._urgent = 0

    def take(self, *, urgent: bool, timeout: float) -> bool:
        """Wait for a turn, at most ``timeout`` seconds; whether it came."""
        with self._changed:
            self._urgent += urgent
            try:
                free = self._changed.wait_for(
                    lambda: not self._held and (urgent or not self._urgent),
                    min(timeout, threading.TIMEOUT_MAX),
                )
            finally:
                self._urgent -= urgent
                self._changed.notify_all()
            if free:
                self._held = True
            return free

    def give_back(self) -> None:
        """Let the next one in."""
        with self._changed:
            self._held = False
            self._changed.notify_all()
