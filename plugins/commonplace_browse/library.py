"""What the pages know of all notes: paths, days and tags, read once and kept for a moment."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from commonplace import CommonplaceError
from commonplace.plugin import NamedTuple, day_of, note_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace import DocumentRef, Memory

_SECONDS = 3.0
"""How long a list of notes is used again where changes are not noticed."""

_WATCHED_SECONDS = 120.0
"""The same where they are, and :meth:`Library.forget` is called."""


_HEADING = re.compile(r"^(#{1,3}) +(\S.*?) *#*$", re.MULTILINE)


class Listed(NamedTuple):
    """A note as lists show it; ``day`` is ``2026-01-31``, or ``""`` for a note of no day."""

    path: str
    source: str
    day: str


class Library:
    """The notes of ``memory``. ``clock`` gives seconds, of any beginning. Threads may share it."""

    def __init__(self, memory: Memory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._lock = Lock()
        self._refs: Sequence[DocumentRef] = ()
        self._listed: tuple[Listed, ...] = ()
        self._until = -1.0
        self._changed = False
        self._tags: dict[str, tuple[str, ...]] = {}

    def refs(self) -> Sequence[DocumentRef]:
        """All notes and documents, by path."""
        with self._lock:
            if self._changed or self._clock() >= self._until:
                # Before they are read: what changes meanwhile is read at the next request.
                self._changed, self._until = False, -1.0
                self._refs = self._memory.notes()
                self._listed = tuple(Listed(ref.path, ref.source, _day(ref)) for ref in self._refs)
                self._tags = {}
                state = self._memory.sync_state
                watched = state is not None and state.watching == "native"
                self._until = self._clock() + (_WATCHED_SECONDS if watched else _SECONDS)
            return self._refs

    def forget(self) -> None:
        """Read the notes again at the next request: some have changed."""
        self._changed = True

    def listed(self) -> tuple[Listed, ...]:
        """The same, as lists show them."""
        self.refs()
        return self._listed

    def ref(self, path: str) -> DocumentRef | None:
        """The note with this stored path."""
        return next((ref for ref in self.refs() if ref.path == path), None)

    def newest(self, most: int) -> list[Listed]:
        """The latest notes of days, the newest first."""
        dated = [one for one in self.listed() if one.day]
        return sorted(dated, key=lambda one: (one.day, one.path), reverse=True)[:most]

    def tags(self, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The tags of each note; one that cannot be read has none."""
        self.refs()
        kept, found = self._tags, {}
        for path in paths:
            if path not in kept:
                try:
                    kept[path] = note_facts(self._memory.get(path).text).tags
                except CommonplaceError:
                    kept[path] = ()
            found[path] = kept[path]
        return found

    def about(self, path: str) -> str:
        """What the note says that it is about: the headings below its title, or the title."""
        try:
            text = self._memory.get(path).text
        except CommonplaceError:
            return ""
        found = _HEADING.findall(text)
        below = [words for signs, words in found if signs != "#"]
        return " · ".join(below[:3] or [words for _, words in found[:1]])

    def resolve(self, name: str, beside: str) -> str | None:
        """The note that a link in the note ``beside`` names: by path, or by the file's name."""
        folder = "" if name.startswith("/") else beside.rpartition("/")[0]
        parts: list[str] = []
        for part in f"{folder}/{name}".split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part not in ("", "."):
                parts.append(part)
        plain = name.strip("/").casefold()
        wanted = {"/".join(parts).casefold(), plain}
        named = None
        for one in self.listed():
            path = one.path.casefold()
            forms = (path, path.rpartition(".")[0] or path)
            if not wanted.isdisjoint(forms):
                return one.path
            if named is None and plain in (form.rpartition("/")[2] for form in forms):
                named = one.path
        return named


def _day(ref: DocumentRef) -> str:
    """The day of a note by its name; of another document, when its file last changed."""
    day = day_of(ref.path)
    if day is None and ref.source != "memory":
        with suppress(OSError, ValueError, OverflowError):
            changed = os.stat(ref.location).st_mtime
            day = datetime.fromtimestamp(changed, None).astimezone().date()
    return "" if day is None else day.isoformat()
