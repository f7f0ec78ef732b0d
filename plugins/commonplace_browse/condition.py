"""The health page: the index, backends and breakers, coverage of embeddings, sizes, duplicates."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from commonplace import CommonplaceError
from commonplace.plugin import NamedTuple, plain_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace import Memory, Status
    from commonplace_browse.library import Library

_SHORTEST = 40
"""Characters of a line that counts as a duplicate of another."""

_MOST = 50
_SECONDS = 5.0


class Duplicate(NamedTuple):
    """A line that stands in several places."""

    text: str
    citations: tuple[str, ...]


class Condition(NamedTuple):
    """What the page shows; ``note_bytes`` is -1 where files have no size.

    ``duplicates`` are looked for in a deep check only; ``whole`` says whether in all notes.
    """

    status: Status
    note_bytes: int
    duplicates: tuple[Duplicate, ...]
    whole: bool
    deep: bool


def condition_of(
    memory: Memory, library: Library, *, deep: bool, clock: Callable[[], float] = time.monotonic
) -> Condition:
    """The condition of ``memory``; ``deep`` asks providers, checks the index, compares lines."""
    status = memory.status(deep=deep)
    size = 0
    for ref in library.refs():
        try:
            size += os.stat(ref.location).st_size
        except (OSError, ValueError):
            continue
    found, whole = duplicates(memory, library, clock) if deep else ((), True)
    return Condition(status, size, found, whole, deep)


def duplicates(
    memory: Memory, library: Library, clock: Callable[[], float]
) -> tuple[tuple[Duplicate, ...], bool]:
    """Lines that several places of the notes have, and whether all notes were read in time."""
    end = clock() + _SECONDS
    places: dict[str, list[str]] = {}
    whole = True
    for one in library.listed():
        if one.source != "memory":
            continue
        if clock() > end:
            whole = False
            break
        try:
            text = memory.get(one.path).text
        except CommonplaceError:
            continue
        for number, line in enumerate(text.split("\n"), 1):
            said = plain_line(line)
            if len(said) >= _SHORTEST:
                places.setdefault(said.casefold(), []).append(f"{one.path}#L{number}")
    several = [Duplicate(text, tuple(cited)) for text, cited in places.items() if len(cited) > 1]
    several.sort(key=lambda one: (-len(one.citations), one.citations))
    return tuple(several[:_MOST]), whole


def size_of(count: float) -> str:
    """A number of bytes for people: ``3.2 MB``."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError
