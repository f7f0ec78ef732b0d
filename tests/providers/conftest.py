"""Loopback servers in the place of vendors, and what every provider is tested with.

``fake("openai")`` loads ``fakes/openai.py``, whose class ``Vendor`` answers as the vendor does,
and serves it on a port of its own. Requests are recorded; answers can be scripted.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pytest
from attrs import define, field, frozen

from commonplace.embedding.requests import RequestRunner
from commonplace.embedding.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from commonplace.spec import EmbeddingProvider

FAKES = Path(__file__).parent / "fakes"
KEY = "sekrit-0123456789-abcdef"


class Vendor(Protocol):
    """What a file in ``fakes`` holds."""

    def respond(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) as the vendor would answer; header names come in lower case."""
        ...


@frozen
class Request:
    """One request as it came in; header names in lower case, ``path`` with its query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


@frozen
class Reply:
    """A scripted answer.

    ``manner``: ``hang`` says nothing, ``drip`` sends the body byte by byte, ``drip-head`` the
    head, ``reset`` breaks the connection in the middle of the body.
    """

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = field(factory=dict)
    manner: Literal["plain", "hang", "drip", "drip-head", "reset"] = "plain"

    @property
    def raw(self) -> bytes:
        """The body's bytes."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@define(eq=False)
class Loopback:
    """A running server. Close it, or use the fixture ``fake``, which does."""

    vendor: Vendor
    requests: list[Request] = field(factory=list)
    twist: Callable[[Any], Any] | None = None
    _script: list[Reply] = field(factory=list)
    _always: Reply | None = None
    _released: threading.Event = field(factory=threading.Event)
    _lock: threading.Lock = field(factory=threading.Lock)
    _server: _Server = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.loopback = self
        serve = self._server.serve_forever
        threading.Thread(target=serve, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """``http://127.0.0.1:port``, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def script(self, *replies: Reply) -> None:
        """Answer the next requests with these, then as the vendor does."""
        self._script.extend(replies)

    def always(self, reply: Reply) -> None:
        """Answer every request with this."""
        self._always = reply

    def release(self) -> None:
        """Let requests that hang or drip go."""
        self._released.set()

    def close(self) -> None:
        """Stop."""
        self.release()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> Reply:
        """The answer to ``request``, which is recorded."""
        with self._lock:
            self.requests.append(request)
            if self._script:
                return self._script.pop(0)
            if self._always is not None:
                return self._always
        status, headers, raw = self.vendor.respond(
            request.method, request.path, request.headers, request.body
        )
        if self.twist is not None and status == 200:
            # NaN and Infinity are no JSON, and yet some servers write them.
            raw = json.dumps(self.twist(json.loads(raw))).encode()
        return Reply(status, raw, headers)

    def pause(self) -> bool:
        """Wait a moment; whether it is time to stop dripping."""
        return self._released.wait(0.02)

    def hang(self) -> None:
        """Wait until released."""
        self._released.wait(30)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    loopback: Loopback


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _serve(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, self.rfile.read(length))
        try:
            self._send(self.server.loopback.answer(request))
        except OSError:  # the client has gone, as it should from a server that drips
            self.close_connection = True

    do_GET = do_POST = do_DELETE = do_PUT = do_HEAD = _serve  # noqa: N815 - the base class's names

    def _send(self, reply: Reply) -> None:
        kept = {"content-type": "application/json", **reply.headers}
        kept["content-length"] = str(len(reply.raw))
        lines = [f"HTTP/1.1 {reply.status} Scripted"]
        lines += [f"{name}: {value}" for name, value in kept.items()]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        if reply.manner == "plain":
            self.wfile.write(head + reply.raw)
            return
        self.close_connection = True
        if reply.manner == "hang":
            self.server.loopback.hang()
        elif reply.manner == "drip-head":
            self._drip(head)
        elif reply.manner == "drip":
            self.wfile.write(head)
            self._drip(reply.raw)
        else:
            self.wfile.write(head + reply.raw[: len(reply.raw) // 2])
            abrupt = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, abrupt)

    def _drip(self, data: bytes) -> None:
        for place in range(len(data)):
            self.wfile.write(data[place : place + 1])
            if self.server.loopback.pause():
                return

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


@frozen
class Fault:
    """Something that goes wrong with every request, and what must come of it.

    ``kind`` is the error's, ``attempts`` how many requests are made, ``pauses`` how long was waited
    in between. Bodies repeat the key, as some servers do.
    """

    name: str
    kind: str
    reply: Reply | None = None
    attempts: int = 1
    pauses: tuple[float, ...] = ()
    seconds: float = 5.0

    def arrange(self, loopback: Loopback, patch: pytest.MonkeyPatch) -> str:
        """Make it happen; the address to be used, without a path."""
        if self.reply is not None:
            loopback.always(self.reply)
        if self.name == "not TLS":
            return loopback.url.replace("http:", "https:")
        if self.name == "no proxy":
            patch.setenv("HTTP_PROXY", "http://user:hidden-password@127.0.0.1:1")
            patch.delenv("NO_PROXY", raising=False)
            patch.delenv("no_proxy", raising=False)
            return "http://embeddings.test"
        return loopback.url


def _complaint(status: int, **headers: str) -> Reply:
    body = {"error": {"message": f"no, {KEY}, not today", "type": "x", "param": None, "code": None}}
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


_PAGE = Reply(200, b"<!doctype html><p>It works!</p>", {"content-type": "text/html"})
_VECTORS = b'{"data": [{"index": 0, "embedding": [1, 2, 3]}], "embeddings": [[1, 2, 3]]}'
FAULTS = [
    Fault("401", "auth", _complaint(401)),
    Fault("403", "auth", _complaint(403)),
    Fault("404", "not_found", _complaint(404)),
    Fault("413", "too_large", _complaint(413)),
    Fault("422", "bad_request", _complaint(422)),
    Fault("429", "rate_limit", _complaint(429), 3, (0.5, 1.0)),
    Fault("429 in 2 s", "rate_limit", _complaint(429, retry_after="2"), 3, (2.0, 2.0)),
    Fault("429 in 1.5 s", "rate_limit", _complaint(429, retry_after_ms="1500"), 3, (1.5, 1.5)),
    Fault("429 in 10 min", "rate_limit", _complaint(429, retry_after="600")),
    Fault(
        "429 until a date past",
        "rate_limit",
        _complaint(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
        3,
        (0.5, 1.0),
    ),
    Fault(
        "429 until a far date",
        "rate_limit",
        _complaint(429, retry_after="Fri, 21 Oct 2185 07:28:00 GMT"),
    ),
    Fault("500", "unavailable", _complaint(500), 3, (0.5, 1.0)),
    Fault("503 in a page", "unavailable", Reply(503, _PAGE.body), 3, (0.5, 1.0)),
    Fault("hang", "timeout", Reply(manner="hang"), seconds=0.2),
    Fault("drip", "timeout", Reply(200, _VECTORS, manner="drip"), seconds=0.2),
    Fault("drip of the head", "timeout", Reply(200, _VECTORS, manner="drip-head"), seconds=0.2),
    Fault("reset", "unavailable", Reply(200, _VECTORS, manner="reset"), 3, (0.5, 1.0)),
    Fault("cut JSON", "protocol", Reply(200, _VECTORS[:40])),
    Fault("deep JSON", "protocol", Reply(200, b"[" * 200_000)),
    Fault("page", "protocol", _PAGE),
    Fault("nothing", "protocol", Reply(200, b"")),
    Fault("null", "protocol", Reply(200, None)),
    Fault("other JSON", "protocol", Reply(200, {"status": "ok"})),
    Fault("redirect", "protocol", Reply(307, b"", {"location": "http://elsewhere.test/v1"})),
    Fault("bad redirect", "protocol", Reply(302, b"", {"location": "http://[elsewhere"})),
    Fault("not TLS", "unavailable", None, 3, (0.5, 1.0)),
    Fault("no proxy", "unavailable", None, 3, (0.5, 1.0)),
]


@pytest.fixture(params=FAULTS, ids=lambda fault: fault.name)
def fault(request: pytest.FixtureRequest) -> Fault:
    """Each of what can go wrong with any server."""
    found: Fault = request.param
    return found


@pytest.fixture
def fake() -> Iterator[Callable[[str], Loopback]]:
    """Start a vendor by name."""
    running: list[Loopback] = []

    def start(vendor: str) -> Loopback:
        spec = importlib.util.spec_from_file_location(f"fake_{vendor}", FAKES / f"{vendor}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        running.append(Loopback(module.Vendor()))
        return running[-1]

    yield start
    for loopback in running:
        loopback.close()


@pytest.fixture
def reply() -> type[Reply]:
    """The class of scripted answers."""
    return Reply


@pytest.fixture
def key() -> str:
    """A key that looks like no vendor's, so that only knowing it can keep it out of a text."""
    return KEY


class Runs(Protocol):
    """What the fixture ``runner`` gives."""

    pauses: list[float]

    def __call__(self, provider: EmbeddingProvider) -> RequestRunner:
        """What drives ``provider`` as the host does, without ever sleeping."""
        ...


@pytest.fixture
def runner() -> Runs:
    """Makes a :class:`RequestRunner` whose waits are kept in ``runner.pauses`` instead of slept."""

    class Making:
        def __init__(self) -> None:
            self.pauses: list[float] = []

        def __call__(self, provider: EmbeddingProvider) -> RequestRunner:
            policy = RetryPolicy(sleep=self.pauses.append, jitter=lambda: 1.0)
            return RequestRunner("under test", provider, policy=policy)

    return Making()


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[..., str]:
    """Everything that a person may see of errors and objects: texts, chains and logs."""
    caplog.set_level(logging.DEBUG)

    def gather(*things: object) -> str:
        seen: list[str] = []
        waiting = list(things)
        while waiting:
            thing = waiting.pop()
            if thing is None:
                continue
            seen += [str(thing), repr(thing)]
            if isinstance(thing, BaseException):
                seen += [repr(thing.args), repr(vars(thing))]
                waiting += [thing.__cause__, thing.__context__]
        seen += [record.getMessage() for record in caplog.records]
        seen += [repr(record.args) for record in caplog.records]
        return "\n".join(seen)

    return gather
