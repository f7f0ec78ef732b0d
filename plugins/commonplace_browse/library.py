"""What the pages know of all notes: paths, days and tags, read once and kept for a moment."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

from commonplace import CommonplaceError
from commonplace.plugin import NamedTuple, day_of, note_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace import DocumentRef, Memory

_SECONDS = 3.0
"""How long a list of notes is used again."""

_MOST_KEPT = 5000


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
        self._tags: dict[tuple[str, str], tuple[str, ...]] = {}

    def refs(self) -> Sequence[DocumentRef]:
        """All notes and documents, by path."""
        with self._lock:
            if self._clock() >= self._until:
                self._refs = self._memory.notes()
                self._listed = tuple(
                    Listed(ref.path, ref.source, str(day_of(ref.path) or "")) for ref in self._refs
                )
                self._until = self._clock() + _SECONDS
            return self._refs

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
        stamps = {ref.path: ref.stamp for ref in self.refs()} if paths else {}
        found = {}
        for path in paths:
            key = (path, str(stamps.get(path, "")))
            if key not in self._tags:
                if len(self._tags) >= _MOST_KEPT:
                    self._tags.clear()
                try:
                    self._tags[key] = note_facts(self._memory.get(path).text).tags
                except CommonplaceError:
                    self._tags[key] = ()
            found[path] = self._tags[key]
        return found

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
