"""Which plugins exist, known from entry points without importing any of them."""

from __future__ import annotations

import os
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["EVENT_HOOKS", "FIELD", "KINDS", "EntryPoint", "Kind", "installed", "is_id"]

Kind = Literal["backend", "source", "chunker", "provider", "ranker", "command"]

KINDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "backend": {
            "store": "commonplace_register_stores",
            "manager": "commonplace_register_managers",
        },
        "source": {"source": "commonplace_register_sources"},
        "chunker": {"chunker": "commonplace_register_chunkers"},
        "provider": {"provider": "commonplace_register_providers"},
        "ranker": {"ranker": "commonplace_register_rankers"},
        "command": {"command": "commonplace_register_commands"},
        "events": {},
    }
)
"""The kinds of entry points; for each, what it may offer and the hook that offers it."""

EVENT_HOOKS = (
    "commonplace_synced",
    "commonplace_searched",
    "commonplace_degraded",
    "commonplace_recovered",
)
"""The hooks that a module behind ``events.<name>`` answers."""

FIELD = "\x1f"
_MOST_BYTES = 1_000_000
_SLOTS = 251


class EntryPoint(NamedTuple):
    """One line of a distribution's entry points in our group.

    ``name`` is ``kind.id``; ``module`` is what to import; ``extras`` are the distribution's extras
    it needs, separated by commas. ``fault`` says what is wrong with a malformed one, in words.
    A named tuple, because its class is built in a fifth of an attrs class's time at each start.
    """

    name: str
    module: str
    distribution: str
    version: str = ""
    extras: str = ""
    fault: str = ""

    @property
    def kind(self) -> str:
        """What stands before the first dot of the name."""
        return self.name.partition(".")[0]

    @property
    def id(self) -> str:
        """What stands behind the first dot of the name."""
        return self.name.partition(".")[2]

    @property
    def origin(self) -> str:
        """Distribution and version, for people."""
        return f"{self.distribution} {self.version}".rstrip()


def installed(
    cache_dir: str | None = None, path: Sequence[str] | None = None
) -> tuple[EntryPoint, ...]:
    """All entry points of our group on ``path`` (default: ``sys.path``), malformed ones included.

    With ``cache_dir`` the answer is kept there, for as long as neither Python nor the modification
    time of any folder on the path changes. A cache that cannot be read or written costs a scan of
    some milliseconds, nothing else.
    """
    # Other things than strings on the path are ignored by imports, too.
    given: Sequence[object] = sys.path if path is None else path
    path = [entry for entry in given if isinstance(entry, str)]
    if cache_dir is None:
        from commonplace.host.scan import scan

        return scan(path)
    key, newest = _state_of(path)
    file = os.path.join(cache_dir, _slot(path))
    remembered = _recall(file, key)
    if remembered is not None:
        return remembered

    from commonplace.host.scan import remember, scan

    found = scan(path)
    remember(file, key, found, newest=newest)
    return found


def is_id(text: str) -> bool:
    """Whether ``text`` may be an id: lower-case ASCII words joined by ``-`` or ``_``."""
    return all(
        word.isascii() and word.isalnum() and word == word.lower()
        for word in text.replace("_", "-").split("-")
    )


def _state_of(path: Sequence[str]) -> tuple[str, int]:
    """A line that changes whenever the answer may, and the newest modification time in ns."""
    newest = 0
    parts: list[object] = ["commonplace entry points 1", sys.version]
    for entry in path:
        try:
            folder = entry or os.getcwd()
            stamp = os.stat(folder).st_mtime_ns
        except (OSError, ValueError):
            continue
        parts += (folder, stamp)
        newest = max(newest, stamp)
    return repr(parts), newest


def _slot(path: Sequence[str]) -> str:
    """A file name for ``path``: programs with other paths keep other files, but never many."""
    number = int.from_bytes(repr((sys.version, *path)).encode(), "big") % _SLOTS
    return f"entry-points-{number:03}.txt"


def _recall(file: str, key: str) -> tuple[EntryPoint, ...] | None:
    """What was remembered for ``key``, or ``None`` if there is nothing whole and up to date."""
    # Neither a link nor a pipe put in the file's place is followed or waited for.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with open(os.open(file, flags), "rb") as stream:
            text = stream.read(_MOST_BYTES).decode()
        first, *records, last = text.split("\n")
        if first != key or last != "end":
            return None
        return tuple(_record(line) for line in records)
    except (OSError, ValueError):
        return None


def _record(line: str) -> EntryPoint:
    name, module, distribution, version, extras, fault = line.split(FIELD)
    return EntryPoint(name, module, distribution, version, extras, fault)
