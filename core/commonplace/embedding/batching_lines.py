"""Files of JSON lines, as batch jobs take and leave them."""

from __future__ import annotations

import json
import re
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace.embedding.remote import RemoteClient
    from commonplace.resilience.deadline import Deadline

__all__ = ["downloaded", "is_same_origin", "line_size", "lines_of"]

_HOPS = 5
_FRAME = 400  # bytes, more than any vendor's line has besides its text
_BREAKS = re.compile("[\x85\u2028\u2029]")  # JSON lets them stand, and some readers split at them


def lines_of(objects: Iterable[object]) -> bytes:
    """A line of JSON for each, in UTF-8, without a blank line."""
    return b"".join(_encoded(one) + b"\n" for one in objects)


def line_size(text: str) -> int:
    """How many bytes the line of ``text`` has in a file, at the most."""
    return len(_encoded(text)) + _FRAME


def downloaded(client: RemoteClient, url: httpx.URL, *, deadline: Deadline) -> Iterator[Any]:
    """The objects of a file of JSON lines, fetched whole before the first is given.

    Redirects are followed, to another host without any credential, but never from https to http.
    Lines that are no JSON objects are left out. Raises
    :class:`~commonplace.errors.ProviderError`.
    """
    with TemporaryFile() as file:  # vectors alone are in it, and it has no name
        _fetch(client, url, file, deadline)
        file.seek(0)
        for line in file:
            try:
                held = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(held, dict):
                yield held


def is_same_origin(one: httpx.URL, other: httpx.URL) -> bool:
    """Whether credentials for one may go to the other."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def _fetch(client: RemoteClient, url: httpx.URL, file: BinaryIO, deadline: Deadline) -> None:
    home = url
    for _ in range(_HOPS):
        asked = client if is_same_origin(home, url) else client.bare(str(url))
        try:
            status, headers, _ = asked.fetch("GET", url, deadline=deadline, into=file)
        finally:
            if asked is not client:
                asked.close()
        if status < 300:
            return
        try:
            target = url.join(headers["location"])
        except httpx.InvalidURL:
            raise client.error("protocol", "it redirects to what is no address", status) from None
        if target.scheme not in ("http", "https") or (url.scheme, target.scheme) == (
            "https",
            "http",
        ):
            raise client.error("protocol", "it redirects to an address that is not safe", status)
        url = target
    raise client.error("protocol", "it redirects again and again")


def _encoded(one: object) -> bytes:
    text = json.dumps(one, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode("utf-8", "replace")
