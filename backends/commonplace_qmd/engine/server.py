"""The resident server ``qmd mcp``: one process on pipes, restarted for a new configuration."""

from __future__ import annotations

import json
import os
import select
import selectors
import subprocess
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX, Lock, Thread
from typing import TYPE_CHECKING, Any

from commonplace.plugin import NEVER, CircuitBreaker, stamp_of
from commonplace_qmd.engine.commands import end_group
from commonplace_qmd.engine.installation import check_version, known_collections
from commonplace_qmd.engine.values import QmdError, QmdTimeoutError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.plugin import Deadline
    from commonplace_qmd.engine.values import QmdHome

    Response = Mapping[str, Any] | None
    """A JSON-RPC response; ``None`` where the server ended before it sent one."""


_PROTOCOL = "2025-06-18"
_CHUNK = 1 << 16
_MAX_LINE = 4_000_000  # bytes: no answer to our requests is longer
_STDERR_TAIL = 8192
_SHOWN = 300
_TICK = 5.0  # seconds between two checks whether the server is idle
_WRITE_SECONDS = 1.0
_PAUSE = 5.0  # seconds before the next start after a failure, doubling
_LONGEST_PAUSE = 300.0
_STUCK = 300.0  # seconds; re-ranking takes minutes without a graphics card


class Server:
    """One running ``qmd mcp``, spoken to by MCP over pipes; threads may share it.

    It has no port that other users could connect to. When this process ends in whatever way, the
    system closes the server's standard input, and QMD stops by itself. The server is ended after
    ``idle`` seconds without a request, and after a response that makes no sense. The constructor
    raises ``OSError``, or :class:`QmdError` if the process ended at once.
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
        self._waiting: dict[int, SimpleQueue[Response]] = {}
        self._given_up: dict[int, float] = {}  # by request id, when its caller stopped waiting
        self._id = 0
        self._stderr = bytearray()
        self._pid = os.getpid()
        self._ending = Lock()
        self._reaped = False
        self._failure = ""
        self._greeted = False
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
        """The id of the server's process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it takes requests, or is about to."""
        return not self._reaped and self.ours

    @property
    def ours(self) -> bool:
        """Whether this process started it: after a fork, the pipes belong to the parent."""
        return self._pid == os.getpid()

    @property
    def owing(self) -> float | None:
        """The seconds since it was started, or owes a response that its caller gave up on."""
        with self._lock:
            since = min(self._given_up.values(), default=None)
            if not self._greeted:
                since = self._started
        return None if since is None else self._clock() - since

    def ready(self, deadline: Deadline) -> bool:
        """Wait until it has started; return whether it has. Raises :class:`QmdError`."""
        with self._lock:
            if self._greeted:
                return True
        try:
            response = self._greeting.get(timeout=min(deadline.remaining(), TIMEOUT_MAX))
        except Empty:
            return False
        self._greeting.put(response)  # for other threads that wait
        server = self._result(response).get("serverInfo")
        with self._lock:
            if not self._greeted:
                check_version(str(server.get("version", "")) if isinstance(server, dict) else "")
                self._write({"jsonrpc": "2.0", "method": "notifications/initialized"}, deadline)
                self._greeted = True
        return True

    def call(self, tool: str, arguments: Mapping[str, Any], deadline: Deadline) -> Any:
        """Return the structured result of ``tool``; the server must be ready.

        Raises :class:`QmdError`, and :class:`QmdTimeoutError`, which leaves the server at work.
        """
        waiting = self._send("tools/call", {"name": tool, "arguments": dict(arguments)}, deadline)
        try:
            response = waiting.get(timeout=min(deadline.remaining(), TIMEOUT_MAX))
        except Empty:
            with self._lock:
                for id_ in [id_ for id_, one in self._waiting.items() if one is waiting]:
                    del self._waiting[id_]
                    self._given_up[id_] = self._clock()
            raise QmdTimeoutError("the resident server exceeded its time limit") from None
        result = self._result(response)
        if result.get("isError"):
            raise RefusedError(_error_text(result))
        return result.get("structuredContent")

    def stop(self) -> None:
        """End it and all its children at once: it only reads, and has nothing to save."""
        if self.ours:
            self._end()
            self._thread.join()

    def _send(
        self, method: str, params: Mapping[str, Any], deadline: Deadline
    ) -> SimpleQueue[Response]:
        waiting: SimpleQueue[Response] = SimpleQueue()
        with self._lock:
            self._used = self._clock()
            self._id += 1
            self._waiting[self._id] = waiting
            message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
            self._write(message, deadline)
        return waiting

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
                    limit = min(deadline.remaining(), _WRITE_SECONDS)
                    if not select.select([], [pipe], [], limit)[1]:
                        self._failure = "the resident server does not read its requests"
                        raise self._gone() from None
        except (OSError, ValueError):  # ValueError: stopped meanwhile
            raise self._gone() from None

    def _result(self, response: Response) -> Mapping[str, Any]:
        if response is None:
            raise self._gone()
        if "error" in response:
            raise RefusedError(str(response["error"])[:_SHOWN])
        result = response.get("result")
        if not isinstance(result, dict):
            raise QmdError("the resident server sent no result", reason="bad_json")
        return result

    def _gone(self) -> QmdError:
        output = self._stderr.decode("utf-8", "replace")
        if self._failure:
            return QmdError(self._failure, reason="bad_json", output=output)
        return QmdError("the resident server has ended", reason="crash", output=output)

    def _listen(self) -> None:
        """Read both pipes until they end, then reap the process; runs on a thread of its own.

        After a defect, too: no response that a caller waits for would come any more.
        """
        process = self._process
        try:
            self._read_pipes()
        finally:
            self._end()
            with self._lock:
                for pipe in (process.stdin, process.stdout, process.stderr):
                    with suppress(OSError):
                        if pipe is not None:
                            pipe.close()
                for waiting in self._waiting.values():
                    waiting.put(None)
                self._waiting.clear()

    def _read_pipes(self) -> None:
        process = self._process
        with selectors.DefaultSelector() as selector:
            assert process.stdout is not None
            assert process.stderr is not None
            lines = bytearray()
            selector.register(process.stdout, selectors.EVENT_READ, lines)
            selector.register(process.stderr, selectors.EVENT_READ, self._stderr)
            # Its children may hold the pipes longer than it lives.
            while selector.get_map() and process.poll() is None and not self._failure:
                for key, _ in selector.select(min(_TICK, self._idle)):
                    part = os.read(key.fd, _CHUNK)
                    if not part:
                        selector.unregister(key.fileobj)
                    key.data.extend(part)
                *whole, rest = lines.split(b"\n")
                lines[:] = rest
                for line in whole:
                    self._receive(bytes(line))
                if len(lines) > _MAX_LINE:
                    self._failure = "the resident server's response is too long"
                del self._stderr[:-_STDERR_TAIL]
                if self._clock() - self._used > self._idle and not self._waiting:
                    self.idled = True
                    break

    def _end(self) -> None:
        # Once: afterwards, another process may have its number.
        with self._ending:
            if not self._reaped:
                end_group(self._process, 0.0)
                self._reaped = True

    def _receive(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return  # output of a library that prints to stdout
        if not isinstance(message, dict) or "id" not in message or "method" in message:
            return  # a notification
        with self._lock:
            self._used = self._clock()
            id_ = message["id"] if isinstance(message["id"], int) else 0
            waiting = self._waiting.pop(id_, None)
            if waiting is not None:
                waiting.put(message)
            elif self._given_up.pop(id_, None) is None:
                self._failure = "the resident server sent a response without a request"


class Resident:
    """At most one :class:`Server`, started by ``start`` in the background; threads may share it.

    QMD reads its configuration when it starts, so a changed one starts another server. After a
    failure the next start waits for a pause that doubles.
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
        self._stamp = ("", 0)
        self._known: frozenset[str] = frozenset()
        self._closed = False

    def server(
        self, deadline: Deadline, *, patient: bool = True
    ) -> tuple[Server, frozenset[str]] | None:
        """A server that is ready by ``deadline``, and the collections that it knows.

        If none runs, one is started; with an expired ``deadline`` this returns ``None`` at once.
        The server does one thing at a time: unless ``patient``, one that still owes a response is
        not returned.
        """
        with self._lock:
            server = self._current()
        if server is None:
            return None
        try:
            # In this order: until it is greeted, it owes its greeting.
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
        """Report that a server answered a request."""
        self._breaker.succeeded()

    def failed(self, server: Server, reason: str) -> None:
        """Report that ``server`` failed, and end it."""
        with self._lock:
            if server is self._server:
                self._server = None
                if not server.idled:  # it ended while it was asked: no failure
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
        stamp, server = self._config_stamp(), self._server
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

    def _changed(self, stamp: tuple[str, int]) -> bool:
        config, index = self._stamp
        if config == stamp[0] and not index:
            self._stamp = stamp  # the server has made the index since
        return stamp != self._stamp

    def _config_stamp(self) -> tuple[str, int]:
        """The stamp of ``index.yml``, and the inode of the index, which may be replaced."""
        config = _stat(os.path.join(self._home.config_dir, "index.yml"))
        index = _stat(self._home.index_path)
        return stamp_of(config) if config else "", index.st_ino if index else 0


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _error_text(result: Mapping[str, Any]) -> str:
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    texts = [str(part.get("text", "")) for part in parts if isinstance(part, dict)]
    return " ".join(" ".join(texts).split())[:_SHOWN]
