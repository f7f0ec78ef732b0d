"""Listening on an address, and ending by a signal, for the servers that plugins run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.errors import CallerError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on ``host``, an address or a name; port 0 is any that is free.

    Raises :class:`~commonplace.errors.CallerError` where that is not possible.
    """
    import socket

    if not 0 <= port < 1 << 16:
        words = f"cannot listen on {shown_host(host)}:{port}: a port is 0 to 65535"
        raise CallerError(words, hint="give a free port, or 0 for any")
    try:
        socket.getaddrinfo(host or None, port)  # of what is no name: create_server leaks a socket
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except (OSError, ValueError) as error:  # the latter for what is no name of a host
        reason = getattr(error, "strerror", "") or str(error)
        raise CallerError(
            f"cannot listen on {shown_host(host)}:{port}: {reason}",
            hint="give a free port, or 0 for any",
        ) from error
    # Connections inherit it. Without it an answer in two pieces waits 40 ms for a delayed ACK, and
    # asyncio sets it only where a socket names its protocol, which create_server leaves at 0.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``."""
    import ipaddress

    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def shown_host(host: str) -> str:
    """``host`` as it stands in an address: in brackets if it is of IPv6."""
    return f"[{host}]" if ":" in host else host


class _Ended(BaseException):
    """A signal asked the server to end."""


def serve_until_signal(serve: Callable[[], None], close: Callable[[], None]) -> None:
    """Call ``serve`` until it returns or SIGINT, SIGTERM or SIGHUP ends it, then ``close``.

    No signal cuts ``close`` off, nor what ``serve`` does to end: some programs send several, such
    as SIGINT and a tenth of a second later SIGTERM. For the main thread alone.
    """
    import signal

    running = True
    before: dict[int, Any] = {}

    def end(_number: int, _frame: object) -> None:
        nonlocal running
        if running:
            running = False
            raise _Ended

    try:
        try:
            for name in ("SIGTERM", "SIGINT", "SIGHUP"):
                if (number := getattr(signal, name, None)) is not None:  # Windows has no SIGHUP
                    before[number] = signal.signal(number, end)
            serve()
        finally:
            running = False
    except _Ended:
        pass
    finally:
        try:
            close()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
