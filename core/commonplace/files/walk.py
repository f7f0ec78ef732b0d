"""Walking one root that is a folder, by directory entries alone."""

from __future__ import annotations

import os
import sys
from stat import S_ISREG
from typing import TYPE_CHECKING

from commonplace.files.findings import is_storable, words_of
from commonplace.files.roots import SUFFIX, is_ignored
from commonplace.files.stats import is_link, stamp_of
from commonplace.model.documents import DocumentRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from commonplace.files.findings import Findings
    from commonplace.files.roots import Root, Roots

    Scandir = Callable[[str], AbstractContextManager[Iterator[os.DirEntry[str]]]]

__all__ = ["walk"]


def walk(root: Root, roots: Roots, findings: Findings, scandir: Scandir) -> bool:
    """Add every note below ``root`` to ``findings``; whether the folder holds nothing at all.

    A folder that cannot be listed is noted as failed, and the others are walked all the same. It
    ends: links are refused, so no folder comes twice.
    """
    # Around the workspace, names are not simply joined: ../ws/a.md is a.md.
    around = not root.stored or root.stored.endswith(os.pardir)
    first = _Listing(root, findings, root.location, root.stored, "")
    waiting = [first]
    while waiting:
        folder = waiting.pop()
        folder.read(scandir)
        for name in folder.folders:
            location = os.path.join(folder.location, name)
            stored = roots.stored(location) if around else folder.prefix + name
            waiting.append(_Listing(root, findings, location, stored, f"{folder.below}{name}/"))
    return first.blank


class _Listing:
    """One folder: its notes are added to the findings, its folders are left in ``folders``.

    ``below`` is its path below the root, either ``""`` or ending in ``/``.
    """

    __slots__ = (
        "below",
        "blank",
        "findings",
        "folders",
        "location",
        "prefix",
        "stored",
        "taken",
        "unstorable",
        "wanted",
    )

    def __init__(
        self, root: Root, findings: Findings, location: str, stored: str, below: str
    ) -> None:
        self.location = location
        self.stored = stored
        self.prefix = f"{stored}/" if stored else ""
        self.below = below
        self.folders: list[str] = []
        self.blank = False
        self.findings = findings
        self.taken: set[str] | None = None
        self.unstorable: list[str] = []
        self.wanted = root.wanted

    def read(self, scandir: Scandir) -> None:
        """Look at every entry; what goes wrong is noted once for the folder."""
        try:
            if self.wanted is not None or self.findings.overlapping:
                self.taken = self.findings.names_in(self.location)
            with scandir(self.location) as entries:
                trouble = self._take(entries)
        except OSError as error:
            trouble = error
        if trouble is not None:
            self.findings.fail(self.stored, words_of(trouble))
        if self.unstorable:
            self.findings.fail_names(self.prefix, sorted(self.unstorable))

    def _take(self, entries: Iterator[os.DirEntry[str]]) -> OSError | None:
        """Add every note, remember every folder; the first thing that went wrong."""
        # This loop is what a scan costs: local names, and for most notes no call of our own.
        source, prefix, add = self.findings.source, self.prefix, self.findings.documents.append
        simple = self.taken is None
        trouble: OSError | None = None
        entry = None
        for entry in entries:
            name = entry.name
            try:
                if not name.endswith(SUFFIX):
                    self._enter(entry)
                    continue
                found = entry.stat(follow_symlinks=False)
                if not S_ISREG(found.st_mode):
                    self._enter(entry)
                elif (simple and name.isascii()) or self._is_wanted(name):
                    add(DocumentRef(source, prefix + name, entry.path, stamp_of(found)))
            except FileNotFoundError:
                continue  # deleted since it was listed
            except OSError as error:
                trouble = trouble or error
        self.blank = entry is None
        return trouble

    def _is_wanted(self, name: str) -> bool:
        if self.wanted is not None and not self.wanted(self.below + name):
            return False
        if not is_storable(name):
            self.unstorable.append(name)
            return False
        if self.taken is not None:
            if name in self.taken:
                return False
            self.taken.add(name)
        return True

    def _enter(self, entry: os.DirEntry[str]) -> None:
        """Count a link, remember a folder, pass over everything else."""
        if entry.is_symlink():
            self.findings.links += 1
        elif not entry.is_dir(follow_symlinks=False) or is_ignored(entry.name):
            return
        elif sys.platform == "win32" and is_link(entry.stat(follow_symlinks=False)):
            self.findings.links += 1
        elif is_storable(entry.name):
            self.folders.append(entry.name)
        else:
            self.unstorable.append(entry.name)
