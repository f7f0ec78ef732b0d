from __future__ import annotations

import signal
import socket
from contextlib import closing, nullcontext

import pytest

from commonplace.errors import CallerError
from commonplace.plugin import is_loopback, listen, serve_until_signal, shown_host


def test_a_port_that_is_taken_is_the_callers_mistake() -> None:
    with closing(listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CallerError, match=rf"cannot listen on 127\.0\.0\.1:{port}") as caught:
            listen("127.0.0.1", port)
    assert "free port" in caught.value.hint


@pytest.mark.parametrize(
    ("host", "port"), [("a..b", 0), ("x" * 70, 0), ("a\0b", 0), ("127.0.0.1", 70000)]
)
def test_what_is_no_name_of_a_host_or_no_port_is_the_callers_mistake(host: str, port: int) -> None:
    with pytest.raises(CallerError, match="cannot listen on"):
        listen(host, port)


@pytest.mark.parametrize("raises", [True, False])
def test_signals_end_what_serves_and_nothing_else(*, raises: bool) -> None:
    done = []

    def serve() -> None:
        if raises:
            return
        signal.raise_signal(signal.SIGTERM)
        done.append("not ended")

    def close() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.raise_signal(number)
        done.append("closed")
        if raises:
            raise ZeroDivisionError

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(ZeroDivisionError) if raises else nullcontext():
        serve_until_signal(serve, close)
    assert done == ["closed"]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_answer_in_two_pieces_does_not_wait_between_them() -> None:
    with (
        closing(listen("127.0.0.1", 0)) as server,
        closing(socket.create_connection(server.getsockname())),
        closing(server.accept()[0]) as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize(
    ("host", "own"),
    [("localhost", True), ("127.8.0.1", True), ("::1", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_only_this_machine_reaches_loopback(host: str, own: bool) -> None:
    assert is_loopback(host) == own


def test_an_address_of_ipv6_stands_in_brackets() -> None:
    assert [shown_host(host) for host in ("::1", "127.0.0.1")] == ["[::1]", "127.0.0.1"]
