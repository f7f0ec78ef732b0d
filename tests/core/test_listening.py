from __future__ import annotations

import socket
from contextlib import closing

import pytest

from commonplace.errors import CallerError
from commonplace.plugin import is_loopback, listen, shown_host


def test_a_port_that_is_taken_is_the_callers_mistake() -> None:
    with closing(listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CallerError, match=rf"cannot listen on 127\.0\.0\.1:{port}") as caught:
            listen("127.0.0.1", port)
    assert "free port" in caught.value.hint


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
