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
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise CallerError(
            f"cannot listen on {shown_host(host)}:{port}: {error.strerror or error}",
            hint="give a free port, or 0 for any",
        ) from error


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def shown_host(host: str) -> str:
    """``host`` as it stands in an address: in brackets if it is of IPv6."""
    return f"[{host}]" if ":" in host else host
