"""A request keeps its deadline and its secrets whatever the network does."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from commonplace.embedding.http.client import RemoteClient
from commonplace.errors import ProviderError
from commonplace.resilience.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECRET = "sekrit-0123456789-abcdef"
BASE = "https://embeddings.test/v1"


class Seen:
    """Requests that a mocked network was given, and the client on it."""

    def __init__(self, answer: Callable[[httpx.Request], httpx.Response]) -> None:
        self.requests: list[httpx.Request] = []

        def handle(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            return answer(request)

        self.client = RemoteClient(
            "vendor", BASE, defaults={}, transport=httpx.MockTransport(handle)
        )

    @property
    def last(self) -> httpx.Request:
        return self.requests[-1]


def ok(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"ok": True})


def refused(seen: Seen) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        seen.client.post("embeddings", {}, deadline=NEVER)
    return caught.value


def raising(error: Exception) -> Callable[[httpx.Request], httpx.Response]:
    def answer(_: httpx.Request) -> httpx.Response:
        raise error

    return answer


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (httpx.ConnectTimeout("x"), "timeout", "in time"),
        (httpx.ReadTimeout("x"), "timeout", "in time"),
        (httpx.PoolTimeout("x"), "timeout", "in time"),
        (httpx.ConnectError("refused"), "unavailable", "no connection: refused"),
        (httpx.ConnectError("[SSL: X] certificate verify failed"), "unavailable", "no secure"),
        (httpx.ProxyError("407"), "unavailable", "the proxy failed"),
        (httpx.ReadError(""), "unavailable", "ReadError"),
        (httpx.RemoteProtocolError("incomplete"), "unavailable", "incomplete"),
        (httpx.UnsupportedProtocol("none"), "not_found", "none"),
    ],
)
def test_what_the_network_does_has_a_kind(error: Exception, kind: str, words: str) -> None:
    found = refused(Seen(raising(error)))
    assert found.kind == kind
    assert words in str(found)


def test_a_name_too_long_for_any_host_is_reported() -> None:
    assert failing(f"http://{'a' * 70}.test/v1").kind == "not_found"


def test_other_errors_are_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        Seen(raising(ZeroDivisionError())).client.post("a", {}, deadline=NEVER)


def test_nothing_is_sent_after_the_deadline() -> None:
    seen = Seen(ok)
    with pytest.raises(ProviderError) as caught:
        seen.client.post("a", {}, deadline=Deadline(1.0, lambda: 2.0))
    assert (caught.value.kind, seen.requests) == ("timeout", [])


class Dripping(httpx.SyncByteStream):
    """A body that comes in pieces, and a clock that goes on with each."""

    def __init__(self) -> None:
        self.now = 0.0
        self.given = 0

    def __iter__(self) -> Iterator[bytes]:
        for _ in range(1000):
            self.now += 1.0
            self.given += 1
            yield b"1"


def test_a_slow_drip_meets_the_deadline() -> None:
    body = Dripping()
    seen = Seen(lambda _: httpx.Response(200, stream=body))
    with pytest.raises(ProviderError) as caught:
        seen.client.post("a", {}, deadline=Deadline(10.0, lambda: body.now))
    assert caught.value.kind == "timeout"
    assert body.given == 10


def test_time_left_is_what_the_network_is_given() -> None:
    seen = Seen(ok)
    seen.client.post("a", {}, deadline=Deadline(3.0, lambda: 1.0))
    assert seen.last.extensions["timeout"]["read"] == 2.0
    assert seen.last.extensions["timeout"]["connect"] == 2.0
    seen.client.post("a", {}, deadline=NEVER)
    assert seen.last.extensions["timeout"]["connect"] == 5.0


def test_what_never_ends_is_left_behind() -> None:
    released = threading.Event()

    def answer(request: httpx.Request) -> httpx.Response:
        released.wait(10)  # as a look-up of a name may, which knows no time-out
        return ok(request)

    seen = Seen(answer)
    with pytest.raises(ProviderError) as caught:
        seen.client.post("a", {}, deadline=Deadline.after(0.1))
    released.set()
    assert caught.value.kind == "timeout"


@contextmanager
def listening(
    answer: bytes,
    context: ssl.SSLContext | None = None,
    *,
    then: bytes = b"",
    ended: threading.Event | None = None,
) -> Iterator[tuple[int, list[bytes]]]:
    """A server that says the same to everybody: its port, and the first bytes of each caller.

    It goes on saying ``then`` until the caller has gone, which sets ``ended``.
    """
    heard: list[bytes] = []
    done = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    spoken = (
                        context.wrap_socket(connection, server_side=True) if context else connection
                    )
                    heard.append(spoken.recv(65536))
                    spoken.sendall(answer)
                    while then:
                        spoken.sendall(then)
                        done.wait(0.005)
                    # Closing with something unread would reset the connection under the answer.
                    spoken.settimeout(2)
                    while spoken.recv(65536):
                        pass
                    spoken.close()
                except OSError:
                    if ended is not None:
                        ended.set()
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], heard
    finally:
        done.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def failing(base: str) -> ProviderError:
    client = RemoteClient("vendor", base, defaults={"Authorization": f"Bearer {SECRET}"})
    with pytest.raises(ProviderError) as caught:
        client.post("a", {}, deadline=Deadline.after(30))
    client.close()
    client.close()
    return caught.value


GOOD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"


def test_an_unsigned_certificate_is_refused_before_a_key_is_sent() -> None:
    trustme = pytest.importorskip("trustme", reason="the extra dev is not installed")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(context)
    with listening(GOOD, context) as (port, heard):
        error = failing(f"https://localhost:{port}")
    assert error.kind == "unavailable"
    assert "no secure connection" in str(error)
    assert heard == []


def test_a_certificate_of_the_environment_s_authority_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trustme = pytest.importorskip("trustme", reason="the extra dev is not installed")
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with listening(GOOD, context) as (port, heard):
        client = RemoteClient("vendor", f"https://localhost:{port}", defaults={})
        assert client.post("a", {}, deadline=Deadline.after(30)).body == {}
        client.close()
    assert len(heard) == 1


def test_certificates_are_read_once_for_an_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[ssl.SSLContext] = []
    real = httpx.create_ssl_context

    def counted() -> ssl.SSLContext:
        read.append(real())
        return read[-1]

    monkeypatch.setattr(httpx, "create_ssl_context", counted)
    trustme = pytest.importorskip("trustme", reason="the extra dev is not installed")
    for name in ("one.pem", "one.pem", "two.pem", "one.pem"):
        trustme.CA().cert_pem.write_to_path(str(tmp_path / name))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / name))
        RemoteClient("vendor", BASE, defaults={}).close()
    assert len(read) == 2


def test_a_missing_server_is_reported() -> None:
    assert failing("http://127.0.0.1:1").kind == "unavailable"


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    def through(url: str) -> None:
        monkeypatch.setenv("HTTP_PROXY", url)
        monkeypatch.setenv("HTTPS_PROXY", url)

    return through


def test_a_proxy_that_refuses_is_reported_without_its_password(
    proxied: Callable[[str], None],
) -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"
    with listening(refusal) as (port, heard):
        proxied(f"http://user:{SECRET}@127.0.0.1:{port}")
        error = failing("https://embeddings.test/v1")
    assert error.kind == "unavailable"
    assert "the proxy failed" in str(error)
    assert SECRET not in str(error) + repr(error.__context__)
    assert heard[0].startswith(b"CONNECT embeddings.test:443")
    assert b"Bearer" not in heard[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_on_this_machine_is_asked_past_the_proxy(
    proxied: Callable[[str], None], host: str
) -> None:
    proxied("http://127.0.0.1:1")
    with listening(GOOD) as (port, heard):
        client = RemoteClient("vendor", f"http://{host}:{port}", defaults={})
        assert client.post("a", {}, deadline=Deadline.after(30)).body == {}
        client.close()
    assert len(heard) == 1


@pytest.mark.parametrize("proxy", ["gopher://h:1", "http://[::1"])
def test_a_proxy_that_is_none_is_reported(proxied: Callable[[str], None], proxy: str) -> None:
    proxied(proxy)
    with pytest.raises(ProviderError) as caught:
        RemoteClient("vendor", BASE, defaults={})
    assert caught.value.kind == "unavailable"
    assert "HTTPS_PROXY" in caught.value.hint
