"""Files and folders below one folder, by their names, without ever following a link."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Literal

from commonplace.errors import PathNotAllowedError
from commonplace.files.reading import open_below
from commonplace.files.roots import is_link
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Parts = Sequence[str]

Kind = Literal["missing", "file", "folder", "link", "special"]


class TreeEntry(NamedTuple):
    """What is at a path: its name, what it is, and its size in bytes.

    ``missing`` is also what lies below a file; ``link`` also what lies behind a link; ``special``
    is a pipe, a socket or a device.
    """

    name: str
    kind: Kind
    size: int = 0


class Tree:
    """The files and folders below ``base``; paths are the names from there on, ``()`` is ``base``.

    Links in ``base`` are followed, below it never. Folders are looked up by name: a process that
    swaps a folder and a link meanwhile could have names listed from elsewhere, or an empty folder
    made or removed there. A file is opened by descriptors (see
    :func:`commonplace.files.reading.open_below`), so that its text is always one from below
    ``base``.
    """

    def __init__(self, base: str) -> None:
        self._base = base

    def entry(self, parts: Parts) -> TreeEntry:
        """What is at ``parts``.

        Raises ``OSError`` and ``ValueError`` for names that no file can have.
        """
        name = parts[-1] if parts else ""
        found = _lstat(self._base)
        if found is not None and stat.S_ISLNK(found.st_mode):
            found = os.stat(self._base)
        for depth in range(len(parts)):
            if found is None or not stat.S_ISDIR(found.st_mode):
                return TreeEntry(name, "missing")
            found = _lstat(os.path.join(self._base, *parts[: depth + 1]))
            if found is not None and is_link(found):
                return TreeEntry(name, "link")
        return TreeEntry(name, "missing") if found is None else _entry(name, found)

    def entries(self, parts: Parts) -> list[TreeEntry]:
        """What is in the folder ``parts``, by name in code point order; empty if it is unreadable.

        What goes while it is listed is left out. Raises
        :class:`~commonplace.errors.PathNotAllowedError` where a link is in the way.
        """
        if self.entry(parts).kind == "link":
            raise PathNotAllowedError
        try:
            with os.scandir(os.path.join(self._base, *parts)) as found:
                listed = [(one.name, _facts(one)) for one in found]
        except OSError:
            return []
        return [_entry(name, facts) for name, facts in sorted(listed) if facts is not None]

    def walk(self, parts: Parts) -> Iterator[tuple[tuple[str, ...], TreeEntry]]:
        """All that is below the folder ``parts``, each folder before what is in it."""
        for entry in self.entries(parts):
            path = (*parts, entry.name)
            yield path, entry
            if entry.kind == "folder":
                yield from self.walk(path)

    def read(self, parts: Parts) -> bytes:
        """The bytes of a file.

        Raises :class:`~commonplace.errors.PathNotAllowedError` where it is no regular file or a
        link is in the way, and ``OSError``.
        """
        with open(open_below(self._base, parts), "rb") as file:
            return file.read()

    def make_folder(self, parts: Parts) -> list[Parts]:
        """Create the folder ``parts``, and those above it that are missing, for this user alone.

        Returns those that it created, the outermost first. Raises ``OSError``.
        """
        made: list[Parts] = []
        for depth in range(len(parts) + 1):
            if self.entry(parts[:depth]).kind == "missing":
                os.mkdir(os.path.join(self._base, *parts[:depth]), 0o700)
                made.append(parts[:depth])
        return made

    def remove_folder(self, parts: Parts) -> None:
        """Remove the folder ``parts`` if it is empty; raises ``OSError`` if it is not."""
        if self.entry(parts).kind == "folder":
            os.rmdir(os.path.join(self._base, *parts))

    def leads_out(self, parts: Parts, root: Parts) -> bool:
        """Whether links on the way to ``parts`` end outside of the folder ``root``."""
        inside = os.path.realpath(os.path.join(self._base, *root))
        real = os.path.realpath(os.path.join(self._base, *parts))
        return real != inside and not real.startswith(os.path.join(inside, ""))


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _facts(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _entry(name: str, found: os.stat_result) -> TreeEntry:
    if is_link(found):
        kind: Kind = "link"
    elif stat.S_ISDIR(found.st_mode):
        kind = "folder"
    elif stat.S_ISREG(found.st_mode):
        kind = "file"
    else:
        kind = "special"
    return TreeEntry(name, kind, found.st_size)
