"""A clock to turn by hand, a model hub on this machine, and providers that are always closed."""

from __future__ import annotations

import os
import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from commonplace.plugin import ProviderContext
from commonplace_local.engines import engine
from commonplace_local.provider import LocalProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@define(eq=False)
class Clock:
    """Monotonic seconds that a test moves."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@define(eq=False)
class HubServer:
    """A hub: ``files`` by path; large ones lie in a storage of another origin.

    ``breaks`` are numbers of bytes after which the next downloads end; ``refusals`` replace the
    next answers by (status, X-Error-Code). ``seen`` are (server, method, path, headers).
    """

    files: dict[str, bytes] = field(factory=dict)
    large: bool = True
    ranges: bool = True
    breaks: list[int] = field(factory=list)
    refusals: list[tuple[int, str]] = field(factory=list)
    seen: list[tuple[str, str, str, dict[str, str]]] = field(factory=list)
    listing: Any = None
    twist: Callable[[bytes], bytes] | None = None
    etag: str = ""
    _servers: dict[str, Any] = field(factory=dict)

    def start(self) -> None:
        """Listen."""
        for name in ("hub", "storage"):
            server = _Server(("127.0.0.1", 0), _Handler)
            server.hub, server.name = self, name
            self._servers[name] = server
            threading.Thread(
                target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
            ).start()

    def stop(self) -> None:
        """Listen no more."""
        servers, self._servers = self._servers, {}
        for server in servers.values():
            server.shutdown()
            server.server_close()

    def url(self, name: str = "hub") -> str:
        """Where ``hub`` or ``storage`` is."""
        return f"http://127.0.0.1:{self._servers[name].server_address[1]}"

    def requests(self, server: str, method: str) -> list[dict[str, str]]:
        """The headers of what came in."""
        return [headers for name, verb, _, headers in self.seen if (name, verb) == (server, method)]

    def tag(self, data: bytes) -> str:
        """The tag of a content: SHA-256 where large, as the hub has it."""
        return self.etag or (sha256(data).hexdigest() if self.large else "a" * 40)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    hub: HubServer
    name: str


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _serve(self) -> None:
        hub = self.server.hub
        headers = {name.lower(): value for name, value in self.headers.items()}
        hub.seen.append((self.server.name, self.command, self.path, headers))
        if hub.refusals:
            status, code = hub.refusals.pop(0)
            self._head(status, {"X-Error-Code": code} if code else {}, 0)
        elif self.path.startswith("/api/"):
            import json

            raw = json.dumps(hub.listing).encode()
            self._head(200, {}, len(raw))
            self.wfile.write(raw)
        else:
            self._file(hub, self.path.rpartition("/")[2].partition("?")[0], headers)

    do_GET = do_HEAD = _serve  # noqa: N815 - the base class's names

    def _file(self, hub: HubServer, name: str, headers: dict[str, str]) -> None:
        data = hub.files.get(name)
        if data is None:
            self._head(404, {"X-Error-Code": "EntryNotFound"}, 0)
            return
        own = {"X-Repo-Commit": COMMIT, "ETag": f'"{hub.tag(data)}"', "Accept-Ranges": "bytes"}
        if self.server.name == "hub" and hub.large:
            own["X-Linked-Etag"], own["X-Linked-Size"] = own["ETag"], str(len(data))
            own["Location"] = f"{hub.url('storage')}/blob/{name}?signed=1"
            self._head(302, own, 0)
            return
        if self.server.name == "storage":
            own = {"ETag": '"of-the-storage"'}
        start = 0
        asked = headers.get("range", "")
        same = headers.get("if-range", own["ETag"]) == own["ETag"]
        if asked and hub.ranges and same:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            if start >= len(data):
                self._head(416, {}, 0)
                return
            own["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self._head(206 if start else 200, own, len(data) - start)
        if self.command == "HEAD":
            return
        sent = hub.twist(data) if hub.twist else data
        if hub.breaks:
            self.wfile.write(sent[start : start + hub.breaks.pop(0)])
            self.close_connection = True
        else:
            self.wfile.write(sent[start:])

    def _head(self, status: int, headers: dict[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


@pytest.fixture
def hub() -> Iterator[HubServer]:
    """A running hub without files."""
    server = HubServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def hub_env(hub: HubServer, tmp_path: Path) -> dict[str, str]:
    """The environment in which that hub is the only one."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "HF_ENDPOINT": hub.url(), "HF_HOME": str(tmp_path / "hf")}


@pytest.fixture
def needs_engine() -> None:
    """Skip where no engine is installed."""
    if engine() is None:
        pytest.skip("no engine is installed: pip install commonplace[local]")


@pytest.fixture
def local() -> Iterator[Callable[..., LocalProvider]]:
    """Make providers with one thread; they are closed afterwards."""
    made: list[LocalProvider] = []

    def make(path: object, *, env: dict[str, str] | None = None, **given: Any) -> LocalProvider:
        clock = given.pop("clock", None)
        options = {"model_path": str(path), "threads": 1, **given.pop("options", {})}
        context = ProviderContext(options=options, **given)
        more = {"clock": clock} if clock is not None else {}
        made.append(LocalProvider(context, env=os.environ if env is None else env, **more))
        return made[-1]

    yield make
    for provider in made:
        provider.close()
