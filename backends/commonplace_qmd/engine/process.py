"""Runs a program once: its output bounded, its time too, and none of its children left behind."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from contextlib import contextmanager, suppress
from threading import Condition
from typing import TYPE_CHECKING

from commonplace.plugin import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import IO

    from commonplace.plugin import Deadline

__all__ = ["Ended", "Runs", "end_group", "run"]

_SLICE = 0.05  # seconds between two looks at whether the program has ended with its pipes open
_PART = 1 << 16
_WORDS = 8192  # bytes kept of standard error, the last ones
_GRACE = 0.5


class Ended(NamedTuple):
    """How a program ended.

    ``code`` is its status, below 0 a signal's number. ``why`` is what made us end it, or empty.
    ``output`` is whole unless ``why`` says otherwise.
    """

    code: int
    output: str
    words: str
    why: str


class Runs:
    """Counts what runs, so that closing can stop it all and wait."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self.closed = False

    @contextmanager
    def one(self) -> Iterator[None]:
        """A run, as long as it lasts."""
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Tell all runs to stop, and wait until they have."""
        with self._changed:
            self.closed = True
            self._changed.wait_for(lambda: not self._running)


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    deadline: Deadline,
    runs: Runs,
    cap: int,
    grace: float = _GRACE,
    holding: Sequence[int] = (),
) -> Ended:
    """Run ``argv`` to its end, or end it: past ``deadline``, past ``cap`` bytes, or when closed.

    ``grace`` are the seconds between asking it to end and killing it, with all it started.
    ``holding`` are descriptors that it is to keep open as long as it lives.
    Raises ``OSError`` if it cannot be started.
    """
    with (
        runs.one(),
        subprocess.Popen(  # noqa: S603 - the program that the configuration names
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            bufsize=0,
            pass_fds=holding,
            # A group of its own: what it starts can be ended with it. Ctrl-C is for us.
            start_new_session=True,
        ) as process,
        selectors.DefaultSelector() as selector,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        reading = _Reading(selector, process.stdout, process.stderr, cap)
        try:
            why = _follow(process, reading, deadline, runs)
        except BaseException:
            end_group(process, 0.0)
            raise
        if why or reading.open:
            end_group(process, grace if why else 0.0)
        return Ended(process.wait(), reading.text(), reading.words(), why)


def end_group(process: subprocess.Popen[bytes], grace: float) -> None:
    """End a process that leads a session, and all that is in it; it is reaped."""
    if grace:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=grace)
    # Also when it has ended by now: its children may not have.
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS: a group of zombies only
        os.killpg(process.pid, number)


def _follow(
    process: subprocess.Popen[bytes], reading: _Reading, deadline: Deadline, runs: Runs
) -> str:
    """Read until the program has ended; why it has to be ended, or nothing."""
    while True:
        ended = process.poll() is not None
        reading.read(0.0 if ended else min(_SLICE, deadline.remaining()), whole=ended)
        if reading.full:
            return "output"
        if ended:
            return ""  # what still holds the pipes now is somebody it left behind
        if runs.closed:
            return "closed"
        if deadline.expired:
            return "timeout"
        if not reading.open:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=min(_SLICE, deadline.remaining()))


class _Reading:
    """Both pipes: all of one, up to ``cap`` bytes, and the end of the other."""

    def __init__(
        self, selector: selectors.BaseSelector, out: IO[bytes], err: IO[bytes], cap: int
    ) -> None:
        self.full = False
        self._selector = selector
        self._out = bytearray()
        self._err = bytearray()
        self._cap = cap
        for pipe, into in ((out, self._out), (err, self._err)):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, into)

    @property
    def open(self) -> bool:
        """Whether anybody could still write."""
        return bool(self._selector.get_map())

    def read(self, timeout: float, *, whole: bool) -> None:
        """Read what there is, once or, if ``whole``, until there is no more."""
        if not self.open:
            return
        while events := self._selector.select(timeout):
            for key, _ in events:
                part = os.read(key.fd, _PART)
                if not part:
                    self._selector.unregister(key.fileobj)
                key.data.extend(part)
            del self._err[:-_WORDS]
            self.full = len(self._out) > self._cap
            if not whole or self.full or not self.open:
                return
            timeout = 0.0

    def text(self) -> str:
        return self._out.decode("utf-8", "replace")

    def words(self) -> str:
        return self._err.decode("utf-8", "replace")
