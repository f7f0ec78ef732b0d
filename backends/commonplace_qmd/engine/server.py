"""One running ``qmd mcp``: requests go to its standard input, answers come from its output."""

from __future__ import annotations

import json
import os
import select
import selectors
import subprocess
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX, Lock, Thread
from typing import IO, TYPE_CHECKING, Any

from commonplace.plugin import NEVER, CircuitBreaker
from commonplace_qmd.engine.commands import end_group
from commonplace_qmd.engine.installation import check_version
from commonplace_qmd.engine.search import known_collections
from commonplace_qmd.engine.values import QmdError, QmdTimeoutError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.plugin import Deadline
    from commonplace_qmd.engine.values import QmdHome

__all__ = [
    "Resident",
    "Server",
]


_PROTOCOL = "2025-06-18"
_PART = 1 << 16
_LINE = 4_000_000  # bytes: more is no answer to anything that we ask
_STDERR_TAIL = 8192
_SHOWN = 300
_TICK = 5.0  # seconds between two looks at whether it has been idle for too long
_PATIENCE = 1.0


class Server:
    """Speaks MCP on pipes: no port that other users could ask, and it ends when we do.

    However we end, our end of its input is closed by the system, and QMD then stops by itself.
    Threads may ask at the same time. After ``idle`` seconds without a request it is ended, as
    after an answer that makes no sense. Raises ``OSError``, or :class:`QmdError` if it has ended
    at once.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        idle: float,
        clock: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._idle = idle
        self._started = self._used = clock()
        self._lock = Lock()
        self._waiting: dict[int, SimpleQueue[Mapping[str, Any] | None]] = {}
        self._given_up: dict[int, float] = {}
        self._id = 0
        self._err = bytearray()
        self._pid = os.getpid()
        self._ending = Lock()
        self._reaped = False
        self._fault = ""
        self.idled = False
        self._process = subprocess.Popen(  # noqa: S603 - the program that the configuration names
            [*argv, "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is for us
        )
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._greeted = False
        self._thread = Thread(target=self._listen, name="qmd-mcp", daemon=True)
        self._thread.start()
        hello = {
            "protocolVersion": _PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "commonplace", "version": "1"},
        }
        try:
            self._greeting = self._send("initialize", hello, NEVER)
        except QmdError:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """The process id of what was started."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked, or could soon."""
        # After a fork, the pipes are our parent's: two asking would get each other's answers.
        return not self._reaped and self._pid == os.getpid()

    @property
    def ours(self) -> bool:
        """Whether this process started it."""
        return self._pid == os.getpid()

    @property
    def owing(self) -> float | None:
        """For how many seconds it has been starting, or owed an answer that nobody waits for."""
        with self._lock:
            since = min(self._given_up.values(), default=None)
            if not self._greeted:
                since = self._started
        return None if since is None else self._clock() - since

    def ready(self, deadline: Deadline) -> bool:
        """Wait for it to have started; whether it has. Raises :class:`QmdError`."""
        with self._lock:
            if self._greeted:
                return True
        try:
            told = self._greeting.get(timeout=min(deadline.remaining(), TIMEOUT_MAX))
        except Empty:
            return False
        self._greeting.put(told)  # for whoever else waits
        server = self._result(told).get("serverInfo")
        with self._lock:
            if not self._greeted:
                check_version(str(server.get("version")) if isinstance(server, dict) else "")
                message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                self._write(message, deadline)
                self._greeted = True
        return True

    def call(self, tool: str, arguments: Mapping[str, Any], deadline: Deadline) -> Any:
        """The structured answer of a tool; for a server that is ready.

        Raises :class:`QmdTimeoutError`, leaving it to its work, and :class:`QmdError`.
        """
        answer = self._send("tools/call", {"name": tool, "arguments": dict(arguments)}, deadline)
        try:
            told = answer.get(timeout=min(deadline.remaining(), TIMEOUT_MAX))
        except Empty:
            self._give_up(answer)
            raise QmdTimeoutError("the resident server took longer than it was given") from None
        result = self._result(told)
        if result.get("isError"):
            raise RefusedError(_words_of(result))
        return result.get("structuredContent")

    def stop(self) -> None:
        """End it, and all it started, at once: it only reads, and has nothing to save."""
        if not self.ours:
            return
        self._end()
        self._thread.join()

    def _send(
        self, method: str, params: Mapping[str, Any], deadline: Deadline
    ) -> SimpleQueue[Mapping[str, Any] | None]:
        answer: SimpleQueue[Mapping[str, Any] | None] = SimpleQueue()
        with self._lock:
            self._used = self._clock()
            self._id += 1
            self._waiting[self._id] = answer
            message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
            self._write(message, deadline)
        return answer

    def _write(self, message: Mapping[str, Any], deadline: Deadline) -> None:
        raw = memoryview(json.dumps(message).encode() + b"\n")
        assert self._process.stdin is not None
        try:
            pipe = self._process.stdin.fileno()
            while raw:
                try:
                    raw = raw[os.write(pipe, raw) :]
                except BlockingIOError:
                    # It does not read. Half a message makes it useless for the next one too.
                    limit = min(deadline.remaining(), _PATIENCE)
                    if not select.select([], [pipe], [], limit)[1]:
                        self._fault = "the resident server does not read its requests"
                        raise self._gone() from None
        except (OSError, ValueError):  # ValueError: stopped meanwhile
            raise self._gone() from None

    def _give_up(self, answer: SimpleQueue[Mapping[str, Any] | None]) -> None:
        with self._lock:
            for id_, waiting in list(self._waiting.items()):
                if waiting is answer:
                    del self._waiting[id_]
                    self._given_up[id_] = self._clock()

    def _result(self, told: Mapping[str, Any] | None) -> Mapping[str, Any]:
        if told is None:
            raise self._gone()
        if "error" in told:
            raise RefusedError(str(told["error"])[:_SHOWN])
        result = told.get("result")
        if not isinstance(result, dict):
            raise QmdError("the resident server answered no result", reason="bad_json")
        return result

    def _gone(self) -> QmdError:
        words = self._err.decode("utf-8", "replace")
        if self._fault:
            return QmdError(self._fault, reason="bad_json", output=words)
        return QmdError("the resident server has ended", reason="crash", output=words)

    def _listen(self) -> None:
        """The thread that reads both pipes until they end, and then sees the process off."""
        with selectors.DefaultSelector() as selector:
            assert self._process.stdout is not None
            assert self._process.stderr is not None
            lines = bytearray()
            selector.register(self._process.stdout, selectors.EVENT_READ, lines)
            selector.register(self._process.stderr, selectors.EVENT_READ, self._err)
            # What it started may hold the pipes longer than it lives.
            while selector.get_map() and self._process.poll() is None and not self._fault:
                for key, _ in selector.select(min(_TICK, self._idle)):
                    part = os.read(key.fd, _PART)
                    if not part:
                        selector.unregister(key.fileobj)
                    key.data.extend(part)
                self._hear(lines)
                del self._err[:-_STDERR_TAIL]
                if self._clock() - self._used > self._idle and not self._waiting:
                    self.idled = True
                    break
        self._end()
        with self._lock:
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                _close(pipe)
            for answer in self._waiting.values():
                answer.put(None)
            self._waiting.clear()

    def _end(self) -> None:
        # Once: afterwards, its number may be somebody else's.
        with self._ending:
            if not self._reaped:
                end_group(self._process, 0.0)
                self._reaped = True

    def _hear(self, lines: bytearray) -> None:
        *whole, rest = lines.split(b"\n")
        lines[:] = rest
        for line in whole:
            self._take(bytes(line))
        if len(lines) > _LINE:
            self._fault = "the resident server's answer is too long"

    def _take(self, line: bytes) -> None:
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            return  # an engine that prints where it should not
        if not isinstance(told, dict) or "id" not in told or "method" in told:
            return  # a notice
        with self._lock:
            self._used = self._clock()
            id_ = told["id"] if isinstance(told["id"], int) else 0
            answer = self._waiting.pop(id_, None)
            if answer is not None:
                answer.put(told)
            elif self._given_up.pop(id_, None) is None:
                self._fault = "the resident server answered what nobody asked"


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with suppress(OSError):
            pipe.close()


def _words_of(result: Mapping[str, Any]) -> str:
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    texts = [str(part.get("text", "")) for part in parts if isinstance(part, dict)]
    return " ".join(" ".join(texts).split())[:_SHOWN]


_PAUSE = 5.0  # seconds before the next attempt after a failure, doubling
_LONGEST_PAUSE = 300.0
_STUCK = 300.0  # ranking again takes minutes without a graphics card

Stamp = tuple[int, ...]


class Resident:
    """At most one server, of ``start``; safe to share between threads.

    QMD reads its configuration when it starts: once that has changed, another one is started.
    """

    def __init__(
        self, start: Callable[[], Server], home: QmdHome, *, clock: Callable[[], float]
    ) -> None:
        self._start = start
        self._home = home
        self._lock = Lock()
        self._breaker = CircuitBreaker(
            cooldown=_PAUSE, longest=_LONGEST_PAUSE, monotonic=clock, clock=clock
        )
        self._server: Server | None = None
        self._stamp: Stamp = (0,)
        self._known: frozenset[str] = frozenset()
        self._closed = False

    def server(
        self, deadline: Deadline, *, patient: bool = True
    ) -> tuple[Server, frozenset[str]] | None:
        """A server that can be asked by ``deadline``, and the collections that it knows.

        If there is none it is started, and with no time left only that: ``None`` is told. It does
        one thing at a time: unless ``patient``, one that still owes an answer is not asked.
        """
        with self._lock:
            server = self._current()
        if server is None:
            return None
        try:
            # Before it is looked at what it owes: until it is greeted, it owes its greeting.
            if not server.ready(deadline) or (server.owing is not None and not patient):
                return None
        except QmdError as error:
            self.failed(server, str(error))
            return None
        with self._lock:
            if server is not self._server:
                return None
            if not self._known:
                self._known = known_collections(self._home.index_path)
            return server, self._known

    def answered(self) -> None:
        """Report that a server did what it was asked."""
        self._breaker.succeeded()

    def failed(self, server: Server, reason: str) -> None:
        """Report that ``server`` cannot be relied on; it is ended."""
        with self._lock:
            if server is self._server:
                self._server = None
                self._breaker.failed(reason)
        server.stop()

    def close(self) -> None:
        """End the server, even in the middle of a request; closing twice is fine."""
        with self._lock:
            self._closed = True
            server, self._server = self._server, None
        if server is not None:
            server.stop()

    def _current(self) -> Server | None:
        stamp = self._stamped()
        server = self._server
        if server is not None and not server.alive:
            self._server = None
            if server.ours and not server.idled:
                self._breaker.failed("the resident server ended by itself")
        elif server is not None and (server.owing or 0.0) > _STUCK:
            self._server = None
            self._breaker.failed("the resident server is stuck")
            server.stop()
        elif server is not None and self._changed(stamp):
            self._server = None
            server.stop()
        if self._server is None and not self._closed and self._breaker.allow():
            self._known, self._stamp = frozenset(), stamp
            try:
                self._server = self._start()
            except (OSError, QmdError) as error:
                self._breaker.failed(str(error))
        return self._server

    def _changed(self, stamp: Stamp) -> bool:
        *config, index = self._stamp
        if config == list(stamp[:-1]) and not index:
            self._stamp = stamp  # an index that was not there is the one it made
        return stamp != self._stamp

    def _stamped(self) -> Stamp:
        """Of the configuration, and of which file the index is: one may be put in its place."""
        config = _stat(os.path.join(self._home.config_dir, "index.yml"))
        index = _stat(self._home.index_path)
        return (
            *((config.st_mtime_ns, config.st_size, config.st_ino) if config else ()),
            index.st_ino if index else 0,
        )


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
