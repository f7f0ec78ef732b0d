"""Noticing which files are opened, however that is done."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["watched_files"]

_FOLDER = getattr(os, "O_DIRECTORY", 0)


@contextmanager
def watched_files(names: Collection[str]) -> Iterator[list[str]]:
    """Which files of these ``names`` (without folders) are opened meanwhile, by anybody."""
    opened: list[str] = []
    watches = _watches()
    watches.append((frozenset(names), opened))
    try:
        yield opened
    finally:
        watches.pop()


@cache
def _watches() -> list[tuple[frozenset[str], list[str]]]:
    """Those that are on, listened to by an audit hook: there is no way to take one out again."""
    watches: list[tuple[frozenset[str], list[str]]] = []

    def listen(event: str, details: tuple[Any, ...]) -> None:
        if event != "open" or not watches:
            return
        path, _, flags = details
        if isinstance(path, int) or (flags or 0) & _FOLDER:
            return
        name = os.path.basename(os.fsdecode(path))
        for names, opened in watches:
            if name in names:
                opened.append(name)

    sys.addaudithook(listen)
    return watches
