"""One process: run within bounds to its end, or ended with all its children."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
from contextlib import contextmanager, suppress
from threading import Condition
from typing import TYPE_CHECKING

from commonplace.plugin import NamedTuple
from commonplace_qmd.engine.installation import LEAST_NODE
from commonplace_qmd.engine.values import QmdError, QmdTimeoutError, UnknownCollectionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import IO

    from commonplace.plugin import Deadline
    from commonplace_qmd.engine.values import Reason


_POLL = 0.05  # seconds between two checks whether a process has ended with its pipes open
_CHUNK = 1 << 16
_STDERR_TAIL = 8192  # bytes kept of standard error, the last ones
_SHOWN = 300
_SEGMENTATION_FAULT = (-signal.SIGSEGV, 128 + signal.SIGSEGV)
_UNKNOWN = re.compile(r"^Collection not found: (.*)$", re.MULTILINE)
_LOCKED = re.compile(r"SQLITE_BUSY|database is locked")
_DAMAGED = re.compile(r"file is not a database|database disk image is malformed")
_THROWN = re.compile(r"^\w*Error: .+$", re.MULTILINE)  # between source code and stack trace


class Ended(NamedTuple):
    """How a process ended.

    ``code`` is its status, negative a signal's number. ``why`` is the reason for which we ended
    it, or empty. ``stdout`` is whole if ``why`` is empty, ``stderr`` the last 8 KiB.
    """

    code: int
    stdout: str
    stderr: str
    why: str


class Runs:
    """Counts running processes, so that closing can stop them all and wait."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self.closed = False

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one run while it lasts."""
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Stop all runs, and wait until they have ended."""
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
    grace: float = 0.5,
    holding: Sequence[int] = (),
) -> Ended:
    """Run ``argv`` to its end, or end it: past ``deadline``, past ``cap`` bytes, or when closed.

    ``grace`` are the seconds between SIGTERM and SIGKILL, which its children get as well.
    ``holding`` are descriptors that it keeps open. Raises ``OSError`` if it cannot be started.
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
            # A group of its own: its children can be ended with it. Ctrl-C is for us.
            start_new_session=True,
        ) as process,
        selectors.DefaultSelector() as selector,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        pipes = _Pipes(selector, process.stdout, process.stderr, cap)
        try:
            why = _follow(process, pipes, deadline, runs)
        except BaseException:
            end_group(process, 0.0)
            raise
        if why or pipes.open:
            end_group(process, grace if why else 0.0)
        stdout, stderr = (raw.decode("utf-8", "replace") for raw in (pipes.stdout, pipes.stderr))
        return Ended(process.wait(), stdout, stderr, why)


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


def _follow(process: subprocess.Popen[bytes], pipes: _Pipes, deadline: Deadline, runs: Runs) -> str:
    """Read until the program has ended; return why it has to be ended, or nothing."""
    while True:
        ended = process.poll() is not None
        pipes.read(0.0 if ended else min(_POLL, deadline.remaining()), whole=ended)
        if pipes.full:
            return "output"
        if ended:
            return ""  # what still holds the pipes now is a child that it left behind
        if runs.closed:
            return "closed"
        if deadline.expired:
            return "timeout"
        if not pipes.open:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=min(_POLL, deadline.remaining()))


class _Pipes:
    """Both output pipes: all of ``stdout``, up to ``cap`` bytes, and the end of ``stderr``."""

    def __init__(
        self, selector: selectors.BaseSelector, out: IO[bytes], err: IO[bytes], cap: int
    ) -> None:
        self.full = False
        self.stdout = bytearray()
        self.stderr = bytearray()
        self._selector = selector
        self._cap = cap
        for pipe, into in ((out, self.stdout), (err, self.stderr)):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, into)

    @property
    def open(self) -> bool:
        """Whether a process can still write to one of them."""
        return bool(self._selector.get_map())

    def read(self, timeout: float, *, whole: bool) -> None:
        """Read what there is, once or, if ``whole``, until there is no more."""
        if not self.open:
            return
        while events := self._selector.select(timeout):
            for key, _ in events:
                part = os.read(key.fd, _CHUNK)
                if not part:
                    self._selector.unregister(key.fileobj)
                key.data.extend(part)
            del self.stderr[:-_STDERR_TAIL]
            self.full = len(self.stdout) > self._cap
            if not whole or self.full or not self.open:
                return
            timeout = 0.0


def check(command: str, code: int, why: str, stderr: str) -> None:
    """Raise :class:`QmdError` unless the command succeeded."""
    if why == "timeout":
        raise QmdTimeoutError(f"{command} exceeded its time limit", output=stderr)
    if why == "closed":
        raise closed()
    if why == "output":
        raise QmdError(f"{command} printed too much", reason="output_cap", output=stderr)
    if code == 0:
        return
    if unknown := _UNKNOWN.findall(stderr):
        raise UnknownCollectionError(unknown)
    reason: Reason = "crash"
    hint = ""
    if _LOCKED.search(stderr):
        what, reason = "its index is locked", "locked"
    elif _DAMAGED.search(stderr):
        what = "its index is damaged"
        hint = "`commonplace index --force` sets it aside and rebuilds it"
    elif code in _SEGMENTATION_FAULT:
        what = f"{command} crashed at once, as it does on a Node older than {LEAST_NODE}"
        reason, hint = "wrong_runtime", f"install Node {LEAST_NODE} or newer, first in the PATH"
    else:
        manner = f"by signal {-code}" if code < 0 else f"with status {code}"
        what = f"{command} ended {manner}"
        what += f": {short(stderr)}" if stderr.strip() else ""
    raise QmdError(what, reason=reason, output=stderr, hint=hint)


def short(text: str) -> str:
    """The error that ``text`` names, or its beginning, on one line."""
    thrown = _THROWN.search(text)
    return " ".join((thrown[0] if thrown else text).split())[:_SHOWN]


def closed() -> QmdError:
    """The error of a run that closing ended."""
    return QmdError("was closed", reason="closed")
