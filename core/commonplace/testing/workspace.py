"""A workspace of notes on disk, for tests."""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from typing import TYPE_CHECKING

from commonplace.files.roots import Roots, day_of, stamp_of
from commonplace.files.scan import scan
from commonplace.model.documents import Document

if TYPE_CHECKING:
    from commonplace.model.documents import DocumentRef, ScanReport

__all__ = ["PlainSource", "Workspace"]


class Workspace:
    """The folder ``path``, made when it is not there.

    It holds a file that is no note, so that it is never empty: an empty folder looks like a disk
    that is not mounted.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        os.makedirs(path, exist_ok=True)
        self.write("README.txt", "not a note")

    def write(self, name: str, text: str | bytes) -> str:
        """Write a file below the workspace, whatever was there; its absolute path."""
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        raw = text if isinstance(text, bytes) else text.encode()
        with open(path, "wb") as file:
            file.write(raw)
        return path

    def delete(self, name: str) -> None:
        """Delete a file."""
        os.unlink(os.path.join(self.path, name))

    def move(self, name: str, to: str) -> None:
        """Give a file another name, replacing what is there."""
        target = os.path.join(self.path, to)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.replace(os.path.join(self.path, name), target)

    def can_name(self, name: str) -> bool:
        """Whether the file system can hold a file of exactly this name, beside those alike."""
        try:
            path = self.write(name, "")
        except (OSError, ValueError):
            return False
        parent, last = os.path.split(path)
        kept = last in os.listdir(parent)
        os.unlink(path)
        return kept

    def contents(self) -> dict[str, tuple[bytes, int]]:
        """Every file's bytes and time of change, by absolute path."""
        found = {}
        for folder, _, names in os.walk(self.path):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[path] = file.read(), os.stat(path).st_mtime_ns
        return found

    def vanish(self) -> None:
        """Take the whole folder away, as when its disk is unmounted."""
        os.rename(self.path, f"{self.path} (away)")

    def come_back(self) -> None:
        """Undo :meth:`vanish`."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.rename(f"{self.path} (away)", self.path)


class PlainSource:
    """The source ``memory`` of a workspace, as managers are given it: ``MEMORY.md``, ``memory/``.

    For tests of managers alone: it takes any text for UTF-8.
    """

    id = "memory"
    version = "plain"
    capabilities: frozenset[str] = frozenset()

    def __init__(self, workspace: str) -> None:
        self._roots = Roots(workspace)

    def scan(self) -> ScanReport:
        """All notes there are."""
        return scan(self._roots, source=self.id)

    def read(self, ref: DocumentRef) -> Document | None:
        """The note, or ``None`` where it is gone."""
        try:
            with open(ref.location, "rb") as file:
                stamp = stamp_of(os.fstat(file.fileno()))
                raw = file.read()
        except FileNotFoundError:
            return None
        text = raw.decode("utf-8", "replace")
        digest = sha256(raw).hexdigest()
        return Document(ref._replace(stamp=stamp), text, digest, day=day_of(ref.path))
