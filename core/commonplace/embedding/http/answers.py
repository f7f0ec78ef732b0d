"""Answers of servers, read within bounds: time, length, encoding, and the JSON in them.

A few bytes of a compressed answer can become gigabytes, and each sign of JSON an object of 100
bytes: what an answer may take is decided by what was asked for, before it is read.
"""

from __future__ import annotations

import json
import re
import zlib
from array import array
from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING, Any, BinaryIO

import httpx
from attrs import frozen

from commonplace.embedding.vectors import MOST_DIMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from commonplace.resilience.deadline import Deadline


MOST_BYTES = 80 * 1024**2
"""How long an answer may be that is kept in memory."""

MOST_FILE_BYTES = 4 * 1024**3
"""The most bytes of an answer that is written to a file: the results of a batch job."""

MOST_ERROR_BYTES = 256 * 1024
"""How much is read of an answer that is an error."""

_MOST_TEXT = 36 * 1024**2  # 2,048 vectors of 3,072 dimensions in base64
_MOST_NUMBERS = 6_000_000
_PER_NUMBER = 48  # bytes, with all its digits, on an indented line of its own
_PER_TEXT = 4096
_LEAST_DIMS = 4096  # a server that ignores the length asked for deserves a better message
_BASE = 4 * 1024**2
_SIGNS_PER_TEXT = 200
_SIGNS = 100_000
_WIDE_TEXT = 1024**2
_PIECE = 1024**2

# A list of many numbers. Python's parser takes 40 bytes for each, an array 8.
_NUMBERS = re.compile(rb"\[([-+0-9.eE,\s" + rb"NaInfity]{64,}+)\]")
_PLACE = "0.271828182845904523536e"


class AnswerError(Exception):
    """What is wrong with an answer, in words."""


@frozen
class Asked:
    """What was asked for: vectors of so many ``texts``, of ``dims`` numbers if that is known."""

    texts: int = 0
    dims: int | None = None

    @property
    def bytes(self) -> int:
        """How long the answer may be."""
        dims = max(self.dims or MOST_DIMS, _LEAST_DIMS)
        return min(MOST_BYTES, _BASE + self.texts * (_PER_TEXT + dims * _PER_NUMBER))

    @property
    def signs(self) -> int:
        """How many signs of JSON it may have, apart from lists of many numbers."""
        return _SIGNS + self.texts * _SIGNS_PER_TEXT


class TimedReads:
    """Lets no read of a connection outlast the request that it is for.

    The HTTP library begins its time-out again with each read, and reads heads with a status of 1xx
    for as long as a server sends them: :meth:`trace` puts a check into each new connection.
    """

    def __init__(self) -> None:
        self._request = local()  # one thread makes one request at a time

    @contextmanager
    def until(self, deadline: Deadline, check: Callable[[], object]) -> Iterator[None]:
        """Let reads of this thread end at ``deadline``; ``check`` raises once it has passed."""
        self._request.limit = deadline, check
        try:
            yield
        finally:
            del self._request.limit

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """The library's report of what it does, for its extension ``trace``."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            stream = info["return_value"]
            stream.read = self._timed(stream.read)

    def _timed(self, read: Callable[..., bytes]) -> Callable[..., bytes]:
        def timed(max_bytes: int, timeout: float | None = None) -> bytes:
            limit = getattr(self._request, "limit", None)
            if limit is not None:
                deadline, check = limit
                check()
                left = deadline.remaining()
                timeout = left if timeout is None else min(timeout, left)
            return read(max_bytes, timeout=timeout)

        return timed


def body_of(response: httpx.Response) -> Iterator[bytes]:
    """The body, decompressed, in pieces of a megabyte at most.

    Raises :class:`AnswerError` for two encodings, or one that was not asked for.
    """
    names = response.headers.get("content-encoding", "").lower().replace(",", " ").split()
    encodings = [name for name in names if name != "identity"]
    if not encodings:
        yield from response.stream  # type: ignore[misc]  # the client is not asynchronous
        return
    if len(encodings) > 1 or encodings[0] not in {"gzip", "x-gzip", "deflate"}:
        shown = " in ".join(encodings)[:80]
        raise AnswerError(f"the answer is encoded as {shown}, which was not asked for")
    inflater: Any = None
    for part in response.stream:  # type: ignore[union-attr]  # likewise
        if inflater is None:
            inflater = _inflater(part, encodings[0])
        data, piece = part, b""
        while data or len(piece) == _PIECE:
            try:
                piece = inflater.decompress(data, _PIECE)
            except zlib.error:
                raise AnswerError(f"the answer is no {encodings[0]}, though it says so") from None
            yield piece
            data = inflater.unconsumed_tail


def _inflater(start: bytes, encoding: str) -> Any:
    # Some servers send deflate without its two bytes of a head.
    bare = encoding == "deflate" and (start[:1] != b"\x78")
    return zlib.decompressobj(-zlib.MAX_WBITS if bare else 32 + zlib.MAX_WBITS)


def read_answer(
    response: httpx.Response, asked: Asked, into: BinaryIO | None, check: Callable[[], object]
) -> bytearray:
    """The body; of a success it goes ``into`` the file, if there is one. ``check`` is called often.

    Of an error the beginning is enough. Raises :class:`AnswerError` for one that is too long, or in
    an encoding that was not asked for.
    """
    parts, whole = body_of(response), bytearray()
    if into is not None and response.is_success:
        size = 0
        for part in parts:
            size += len(part)
            if size > MOST_FILE_BYTES:
                raise AnswerError("the file is longer than any that is asked for")
            into.write(part)
            check()
        return whole
    most = asked.bytes if response.is_success else MOST_ERROR_BYTES
    for part in parts:
        whole += part
        check()
        if len(whole) > most:
            if response.is_success:
                raise AnswerError("the answer is longer than what was asked for can be")
            return whole[:most]
    return whole


def loads(raw: bytearray, asked: Asked) -> Any:
    """The JSON in ``raw``, which is emptied; lists of many numbers are arrays.

    Raises ``ValueError`` for what is no JSON, and :class:`AnswerError` for more than was asked.
    """
    vectors: list[array[float]] = []
    parts: list[bytes] = []
    at = size = numbers = 0
    with memoryview(raw) as view:
        for match in _NUMBERS.finditer(view):
            length = raw.count(b",", match.start(1), match.end(1)) + 1
            numbers += length
            if length > MOST_DIMS or numbers > _MOST_NUMBERS:
                raise _too_much()
            parts += [bytes(view[at : match.start()]), f"{_PLACE}{len(vectors)}".encode()]
            size += match.start() - at
            vectors.append(array("d", map(float, match[1].split(b","))))
            at = match.end()
        size += len(view) - at
        if size > _MOST_TEXT:
            raise _too_much()
        parts.append(bytes(view[at:]))
    raw.clear()
    text = b"".join(parts)
    parts.clear()
    if sum(map(text.count, (b"{", b"[", b",", b":", b'"'))) > asked.signs:
        raise _too_much()
    if len(text) > _WIDE_TEXT and not text.isascii():
        raise _too_much()  # a single sign can make each of the others take four bytes

    def number(digits: str) -> Any:
        place = digits.removeprefix(_PLACE)
        return vectors[int(place)] if place != digits else float(digits)

    try:
        return json.loads(text.decode("utf-8-sig"), parse_float=number)
    except (IndexError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _too_much() -> AnswerError:
    return AnswerError("the answer holds more than what was asked for")


def no_json(start: bytes, headers: Mapping[str, str]) -> str:
    """What an answer is that begins with ``start``, in place of JSON."""
    if start.lstrip()[:1] == b"<" or "html" in headers.get("content-type", ""):
        return "it answered with a web page instead of JSON: is the base URL complete (/v1)?"
    return "it answered with broken JSON"


def words_of(error: httpx.HTTPError) -> str:
    """What broke the connection."""
    words = str(error) or type(error).__name__
    if isinstance(error, httpx.ProxyError):
        return f"the proxy failed: {words}"
    if "certificate" in words.lower() or "ssl" in words.lower():
        return f"no secure connection: {words}"
    if isinstance(error, httpx.ConnectError):
        return f"no connection: {words}"
    return f"the connection broke: {words}"


def host_of(location: str) -> str:
    """Where a redirect leads, without what may be secret."""
    try:
        return httpx.URL(location).host or "another address"
    except httpx.InvalidURL:
        return "another address"
