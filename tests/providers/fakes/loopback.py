"""A loopback server in the place of a vendor: it records requests, and can be given its answers."""

from __future__ import annotations

import json
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal, Protocol

from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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

    def always(self, reply: Reply | None) -> None:
        """Answer every request with this; ``None``: as the vendor does, again."""
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
