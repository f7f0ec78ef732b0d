"""What lies between here and a vendor fails when everything is embedded: its proxy, or TLS."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.embedding.conftest import World
    from tests.providers.fakes.loopback import Reply

    from commonplace import Memory

KEY = "sekrit-0123456789-abcdef"
PASSWORD = "hidden-password"
HOST = "http://embeddings.test"
HERON = ("memory/new.md", "# New\n\nA heron nests on the roof.\n")
PROXIES = ("NO_PROXY", "no_proxy", "http_proxy", "ALL_PROXY", "all_proxy")


class Between(Protocol):
    """A way to the vendor: it works until ``fail``, and again after ``hint``.

    ``arrive`` are the requests that one failing call brings to the vendor, or to the proxy.
    """

    url: str
    words: str
    pauses: list[float]
    arrive: int

    def fail(self) -> None: ...

    def repair(self) -> None: ...


class Certificates:
    """The vendor speaks TLS; it fails where its authority is not trusted any more."""

    words = "no secure connection"
    pauses = (0.5, 1.0)
    arrive = 0

    def __init__(self, world: World, patch: pytest.MonkeyPatch) -> None:
        trustme = pytest.importorskip("trustme", reason="the extra dev is not installed")
        self._patch = patch
        self._folder = world.root
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        for name in ("own", "other"):
            authority = trustme.CA()
            authority.cert_pem.write_to_path(str(self._folder / f"{name}.pem"))
            if name == "own":
                authority.issue_cert("127.0.0.1").configure_cert(context)
        server: Any = world.vendor._server
        server.socket = context.wrap_socket(server.socket, server_side=True)
        self.url = world.vendor.url.replace("http:", "https:")
        self.repair()

    def fail(self) -> None:
        self._patch.setenv("SSL_CERT_FILE", str(self._folder / "other.pem"))

    def repair(self) -> None:
        self._patch.setenv("SSL_CERT_FILE", str(self._folder / "own.pem"))


class Proxy:
    """The vendor is behind a proxy, for which it stands itself; that goes away."""

    url = HOST
    words = "no connection"
    pauses: tuple[float, ...] = (0.5, 1.0)
    arrive = 0

    def __init__(self, world: World, patch: pytest.MonkeyPatch) -> None:
        self._vendor = world.vendor
        self._patch = patch
        for name in PROXIES:
            patch.delenv(name, raising=False)
        respond = self._vendor.vendor.respond

        def forwarded(method: str, path: str, headers: Any, body: bytes) -> Any:
            assert path.startswith(HOST)  # else it would not have come as to a proxy
            return respond(method, path.removeprefix(HOST), headers, body)

        self._vendor.vendor.respond = forwarded  # type: ignore[method-assign]  # a proxy before it
        self.through(self._vendor.port)

    def through(self, port: int) -> None:
        self._patch.setenv("HTTP_PROXY", f"http://user:{PASSWORD}@127.0.0.1:{port}")

    def fail(self) -> None:
        self.through(1)

    def repair(self) -> None:
        self.through(self._vendor.port)


class PickyProxy(Proxy):
    """The proxy wants another password."""

    words = "the proxy wants a user and a password"
    pauses = ()
    arrive = 1

    def __init__(self, world: World, patch: pytest.MonkeyPatch, reply: type[Reply]) -> None:
        super().__init__(world, patch)
        self._refusal = reply(407, b"<html>Proxy Authentication Required")

    def fail(self) -> None:
        self._vendor.always(self._refusal)

    def repair(self) -> None:
        self._vendor.always(None)


@pytest.fixture(params=["certificates", "proxy", "picky proxy"])
def between(
    request: pytest.FixtureRequest,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    reply: type[Reply],
) -> Any:
    """Each way that can fail."""
    if request.param == "certificates":
        return Certificates(world, monkeypatch)
    if request.param == "proxy":
        return Proxy(world, monkeypatch)
    return PickyProxy(world, monkeypatch, reply)


def on_disk(folder: Path) -> bytes:
    """All that is kept below ``folder``."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_what_is_embedded_stays_and_words_answer_until_it_is_fixed(
    world: World, between: Between, reported: Callable[..., str]
) -> None:
    def opened() -> Memory:
        # As another process would: proxies and authorities are read once.
        return world.open(
            remote={"baseUrl": f"{between.url}/v1", "apiKey": KEY},
            query={"embeddingSeconds": 60},  # for all attempts, on a busy machine, too
        )

    with opened() as memory:
        memory.sync()
        assert memory.search("harbour").provider == "openai"
    asked = world.asked()
    assert asked == 2
    world.clock.pauses.clear()

    between.fail()
    with opened() as memory:
        result = memory.search("walrus")
        assert world.asked() == asked + between.arrive
        assert world.clock.pauses == list(between.pauses)
        assert result.hits[0].path == "memory/2026-10-03.md"
        assert (result.provider, result.model) == (None, None)
        assert result.fallback is not None
        assert (result.fallback.part, result.fallback.by) == ("openai", "keywords alone")
        assert between.words in result.fallback.reason
        status = memory.status()
        (provider,) = status.providers
        assert (provider.state, provider.covered) == ("failing", 3)
        assert provider.reason == result.fallback.reason
        assert provider.since == world.clock.now
        memory.search("walrus again")
        assert world.asked() == asked + between.arrive  # left alone for now
        world.write(*HERON)
        report = memory.sync()
        assert report.embedding is not None
        assert (report.added, report.embedding.missing) == (1, 1)
        assert between.words in report.embedding.reason
        assert world.asked() == asked + 2 * between.arrive
        assert memory.search("heron").hits[0].path == "memory/new.md"
        assert memory.status().spaces[0].covered == 3
        seen = reported(result, status, report, memory.status(), memory.settings)
    for secret in (KEY, PASSWORD):
        assert secret not in seen
        assert secret.encode() not in on_disk(world.root)

    between.repair()
    world.clock.pass_(4000)
    with opened() as memory:
        report = memory.sync()
        assert report.embedding is not None
        assert (report.embedding.embedded, report.embedding.missing) == (1, 0)
        assert memory.search("walrus").provider == "openai"
        assert memory.status().providers[0].state == "ready"
