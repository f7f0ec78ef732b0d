"""The server on standard input and output: a message a line, answered by a few threads.

A message is a JSON object, or an array of them (a batch) in the version of the protocol with those.

The standard library alone: some clients leave out a server whose first answer takes over a second.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from commonplace.plugin import CallerError
from commonplace_mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    Connection,
    ProtocolError,
    checked,
    error_message,
    is_id,
    parse,
    parse_batch,
    request_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_mcp.surface import Json, Surface

LONGEST_LINE = 4 << 20
"""Bytes of a message; a longer one is refused and skipped."""

_LOOKED_AT = 1024
"""Bytes at either end of such a message in which its id is looked for."""

_PLAIN = rb'("(?:[^"\\]|\\.)*"|[\w.+-]+)'
_PAIR = re.compile(rb'\s*"(\w+)"\s*:\s*' + _PLAIN + rb"\s*,")
# A quotation mark behind a comma or a space begins no word within a text: it would be escaped.
_LAST_ID = re.compile(rb'[,\s]"id"\s*:\s*' + _PLAIN + rb"\s*}\s*$")

SECONDS_TO_FINISH = 5.0
"""For requests that are running when the client closes its end."""

THREADS = 4
MOST_WAITING = 256
"""Lines that are held; while there are so many, no further one is read. Also the longest batch."""


class StdioServer:
    """Serves ``surface`` to the one client behind ``reader`` and ``writer`` until it is gone."""

    def __init__(self, surface: Surface, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._writing = threading.Lock()
        self._gone = False
        self.connection = Connection(surface, self._write)
        self._requests: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._room = threading.Semaphore(MOST_WAITING)
        self._state = threading.Lock()
        self._running: set[str | int] = set()
        self._batches: dict[int, list[Json]] = {}
        self._threads: list[threading.Thread] = []
        self._unfinished = 0

    def serve(self) -> None:
        """Read and answer until the client closes its end; then finish what was asked.

        That takes :data:`SECONDS_TO_FINISH` at most, and nothing if no answer can be written.
        """
        while not self._gone:
            line = self._reader.readline(LONGEST_LINE + 1)
            if not line:
                break
            if len(line) > LONGEST_LINE:
                id_ = _id_of_long(line, self._skip_rest(line))
                error = ProtocolError(INVALID_REQUEST, f"a message has over {LONGEST_LINE} bytes")
                self._write(error_message(id_, error))
            elif line.strip():
                self._take(line)
        for _ in self._threads:
            self._requests.put(None)
        end = time.monotonic() + SECONDS_TO_FINISH
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        for number in tuple(self._batches):
            self._end_batch(number)  # what is done of it
        self._gone = True

    def _skip_rest(self, line: bytes) -> bytes:
        """Skip what follows ``line`` on its line; how that ends."""
        end = line[-_LOOKED_AT:]
        while line and not line.endswith(b"\n"):
            line = self._reader.readline(LONGEST_LINE)
            end = (end + line)[-_LOOKED_AT:]
        return end

    def _take(self, line: bytes) -> None:
        message: Json = {}
        try:
            if self.connection.takes_batches and (batch := parse_batch(line)) is not None:
                self._take_batch(batch)
                return
            message = parse(line)
            if (id_ := request_id(message)) is None:
                self._note(message)
                return
            self._begin(id_)
        except ProtocolError as error:
            self._write(_refusal(message, error))
            return
        if self.connection.is_quick(message):
            self._answer(message)
        else:
            self._put(partial(self._answer, message))

    def _take_batch(self, batch: list[object]) -> None:
        """Have the requests of a batch answered one after the other, by one array."""
        if len(batch) > MOST_WAITING:
            problem = f"Invalid request: a batch has at most {MOST_WAITING} messages"
            raise ProtocolError(INVALID_REQUEST, problem)
        answers: list[Json] = []
        requests: list[Json] = []
        for one in batch:
            try:
                message = checked(one)
                if (id_ := _id_in_batch(message)) is None:
                    self._note(message)
                    continue
                self._begin(id_)
                requests.append(message)
            except ProtocolError as error:
                answers.append(_refusal(one, error))

        def answer() -> None:
            for message in requests:
                if (found := self._answer_to(message)) is not None:
                    answers.append(found)  # noqa: PERF401 - the end of input takes what is there
            self._end_batch(id(answers))

        self._batches[id(answers)] = answers
        self._put(answer)

    def _end_batch(self, number: int) -> None:
        """Write the answers to a batch that there are, once."""
        if answers := self._batches.pop(number, None):
            self._write([*answers])

    def _put(self, work: Callable[[], None]) -> None:
        self._room.acquire()
        self._requests.put(work)
        self._start_thread()

    def _begin(self, id_: str | int) -> None:
        with self._state:
            if id_ in self._running:
                raise ProtocolError(INVALID_REQUEST, "Invalid request: this id is in use")
            self._running.add(id_)

    def _note(self, message: Json) -> None:
        """Take a notification; of these only a cancellation has a meaning here."""
        params = message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            cancelled = params.get("requestId")
            if is_id(cancelled):
                self.connection.cancelled(cancelled)
                with self._state:
                    self._running.discard(cancelled)

    def _start_thread(self) -> None:
        """Start a thread if more is queued or running than there are threads.

        Threads that wait are not counted: one does until it wakes, whatever is queued for it.
        """
        with self._state:
            self._unfinished += 1
            if len(self._threads) >= min(self._unfinished, THREADS):
                return
            thread = threading.Thread(target=self._work, name="commonplace-mcp", daemon=True)
            with suppress(RuntimeError):  # the system has no thread left: those that are there do
                thread.start()
                self._threads.append(thread)
            alone = not self._threads
        if alone and (work := self._requests.get()) is not None:
            self._do(work)

    def _work(self) -> None:
        while (work := self._requests.get()) is not None:
            self._do(work)

    def _do(self, work: Callable[[], None]) -> None:
        self._room.release()
        try:
            work()
        except BaseException as error:  # it must not end the thread
            if _is_signal(error):
                raise
            _report(error, "an answer")
        finally:
            with self._state:
                self._unfinished -= 1

    def _answer(self, message: Json) -> None:
        if (answer := self._answer_to(message)) is not None:
            self._write(answer)

    def _answer_to(self, message: Json) -> Json | None:
        """The answer to a request, or ``None`` where it was cancelled or is a subscription."""
        id_ = message["id"]
        if self._gone or id_ not in self._running:
            return None
        try:
            answer = self.connection.answer(message)
        except BaseException as error:  # one request must not end the server, nor its thread
            if _is_signal(error):
                raise
            _report(error, message["method"])
            answer = error_message(id_, ProtocolError(INTERNAL_ERROR, "Internal error"))
        if answer is None:
            return None  # a subscription, which runs until it is cancelled
        with self._state:
            wanted = id_ in self._running  # not cancelled meanwhile
            self._running.discard(id_)
        return answer if wanted else None

    def _write(self, message: Json | list[Json]) -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        if not line.isascii():  # half a character becomes U+FFFD, as in all JSON of ours
            line = line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        data = line.encode() + b"\n"
        with self._writing:
            if self._gone:
                return
            try:
                self._writer.write(data)
                self._writer.flush()
            except (OSError, ValueError):  # the client closed its end
                self._gone = True


def _is_signal(error: BaseException) -> bool:
    """Whether a signal may have raised it: these reach the main thread alone."""
    on_main = threading.current_thread() is threading.main_thread()
    return on_main and not isinstance(error, Exception)


def _report(error: BaseException, where: object) -> None:
    with suppress(OSError, ValueError, AttributeError):  # nothing reads it any more
        sys.stderr.write(f"commonplace mcp: {type(error).__name__} in {where}\n")


def _id_in_batch(message: Json) -> str | int | None:
    if message.get("method") == "initialize":
        raise ProtocolError(INVALID_REQUEST, "Invalid request: initialize stands alone")
    return request_id(message)


def _id_of_long(start: bytes, end: bytes) -> str | int | None:
    """The id of a request that is too long to be parsed, before or behind what is long in it.

    Without it the caller would wait for an answer. ``None`` where it is not certain.
    """
    plain: dict[bytes, bytes] = {}
    start, at = start[:_LOOKED_AT].lstrip(), 1
    while start.startswith(b"{") and (pair := _PAIR.match(start, at)) is not None:
        plain[pair[1]], at = pair[2], pair.end()
    if (last := _LAST_ID.search(end)) is not None:
        plain[b"id"] = last[1]
    try:  # without a method it is a response, whose id is of a request of ours
        id_ = json.loads(plain[b"id"]) if b"method" in plain else None
    except (KeyError, ValueError):
        return None
    return id_ if is_id(id_) else None


def _refusal(message: object, error: ProtocolError) -> Json:
    id_ = message.get("id") if isinstance(message, dict) else None
    return error_message(id_ if is_id(id_) else None, error)


def standard_streams() -> tuple[Any, Any]:
    """The client's streams; from here on ``print`` and children write to standard error.

    Anything else on standard output would be taken for a message. Raises
    :class:`~commonplace.errors.CallerError` where one of them is closed.
    """
    # Open until the process ends: closing waits for a thread that writes to a stuck client.
    try:
        reader = os.fdopen(os.dup(0), "rb", closefd=False)
        writer = os.fdopen(os.dup(1), "wb", closefd=False)
    except OSError as error:
        raise CallerError(
            f"standard input or output is closed ({error.strerror or error}): a client opens both",
            hint="commonplace install --help connects one; --http serves without",
        ) from error
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    return reader, writer
