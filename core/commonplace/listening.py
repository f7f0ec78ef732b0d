"""Listening on an address, for the servers that plugins run."""

from __future__ import annotations

import ipaddress
import socket

from commonplace.errors import CallerError


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on ``host``, an address or a name; port 0 is any that is free.

    Raises :class:`~commonplace.errors.CallerError` where that is not possible.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise CallerError(
            f"cannot listen on {shown_host(host)}:{port}: {error.strerror or error}",
            hint="give a free port, or 0 for any",
        ) from error
    # Connections inherit it. Without it an answer in two pieces waits 40 ms for a delayed ACK, and
    # asyncio sets it only where a socket names its protocol, which create_server leaves at 0.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def shown_host(host: str) -> str:
    """``host`` as it stands in an address: in brackets if it is of IPv6."""
    return f"[{host}]" if ":" in host else host
