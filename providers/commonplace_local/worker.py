"""One child process, and the lines sent to it and received from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_WORDS = 40  # lines kept of what the engine prints
_LINE = 2000
_FAREWELL = 2.0  # seconds
_ENV = frozenset(
    {
        *("PATH", "HOME", "USERPROFILE", "LOCALAPPDATA", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP"),
        *("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"),
    }
)
_ENV_KINDS = ("GGML_", "CUDA_", "HIP_", "ROCR_", "VK_", "OMP_", "GOMP_", "MTL_", "COVERAGE_")


class GoneError(Exception):
    """The child has ended. ``code`` is its status: 0 after idling, below 0 a signal's number."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code

    @property
    def manner(self) -> str:
        """How it ended, in words."""
        if self.code < 0:
            import signal

            try:
                return f"by {signal.Signals(-self.code).name}"
            except ValueError:
                return f"by signal {-self.code}"
        return f"with status {self.code}"


def child_environment(env: Mapping[str, str]) -> dict[str, str]:
    """What the child gets to see of ``env``: nothing that could hold a key."""
    return {
        name: value
        for name, value in env.items()
        if name.upper() in _ENV or name.upper().startswith(_ENV_KINDS)
    }


class Worker:
    """A running child. One thread at a time may send and receive; any may stop it."""

    def __init__(self, env: Mapping[str, str], command: Sequence[str] | None = None) -> None:
        # -P: what lies in the current folder, which may be anybody's notes, is not imported.
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command or [sys.executable, "-P", "-m", "commonplace_local.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=child_environment(env),
            # Ctrl-C is for us; the child ends when we do, for then its input ends.
            start_new_session=True,
        )
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        self._words: deque[str] = deque(maxlen=_WORDS)
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._hear, self._overhear)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def send(self, request: Mapping[str, Any]) -> None:
        """Hand over a request. Raises :class:`GoneError`."""
        raw = memoryview(json.dumps(request).encode() + b"\n")
        assert self._process.stdin is not None
        try:
            while raw:
                raw = raw[os.write(self._process.stdin.fileno(), raw) :]
        except (OSError, ValueError):  # ValueError: stopped by another thread
            raise self._gone() from None

    def receive(self, timeout: float) -> dict[str, Any] | None:
        """The next answer, or ``None`` after ``timeout`` seconds. Raises :class:`GoneError`."""
        try:
            line = self._inbox.get(timeout=min(timeout, threading.TIMEOUT_MAX))
        except Empty:
            return None
        if line is None:
            raise self._gone()
        answer: dict[str, Any] = line
        return answer

    def words(self) -> str:
        """The last lines that the engine printed."""
        return "\n".join(self._words)

    def ended(self) -> bool:
        """Whether the child has ended."""
        return self._process.poll() is not None

    def stop(self, grace: float = 0.0) -> int:
        """End the child, whatever it is doing; its status. Stopping twice is fine.

        It may end by itself for ``grace`` seconds before.
        """
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=grace)
        # Killed, not asked: it has nothing to save, and cannot hear in mid-computation.
        if self._process.poll() is None:
            self._process.kill()
        code = self._process.wait()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=5)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        return code

    def _gone(self) -> GoneError:
        # Its pipes close a moment before it ends, and then its own status is wanted.
        code = self.stop(grace=_FAREWELL)
        return GoneError(code, self.words())

    def _hear(self) -> None:
        assert self._process.stdout is not None
        rest = b""
        while part := self._process.stdout.read(1 << 16):
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                try:
                    self._inbox.put(json.loads(line))
                except (ValueError, RecursionError):  # what an engine printed
                    self._words.append(line.decode("utf-8", "replace")[:_LINE])
        self._inbox.put(None)
        # A child that ended by idling does not stay a zombie until the next request.
        self._process.wait()

    def _overhear(self) -> None:
        assert self._process.stderr is not None
        rest = b""
        while part := self._process.stderr.read(1 << 16):
            *lines, rest = (rest + part).split(b"\n")
            self._words.extend(line.decode("utf-8", "replace")[:_LINE] for line in lines)
            rest = rest[-_LINE:]
