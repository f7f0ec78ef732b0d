"""What a scan has found so far."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.model.documents import DocumentRef, RootFailure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.model.documents import Stamp

__all__ = ["Findings", "is_storable", "printable", "words_of"]

_PARENTS = frozenset({"", os.pardir})


class Findings:
    """Collects documents, failures and the count of links; keeps a document from coming twice.

    ``overlapping`` says that one file may be reached by two roots. The name of a folder does not
    tell (it can be reached through a link above a root, or in another case on some disks); its
    device and inode do, as folders have no hard links. Files have: two names of one file are two
    notes.
    """

    def __init__(self, source: str, *, overlapping: bool) -> None:
        self.source = source
        self.overlapping = overlapping
        self.documents: list[DocumentRef] = []
        self.failures: list[RootFailure] = []
        self.links = 0
        self._names: dict[tuple[int, int], set[str]] = {}

    def names_in(self, folder: str) -> set[str]:
        """The names found so far in the folder that ``folder`` leads to, to be added to."""
        found = os.stat(folder)
        return self._names.setdefault((found.st_dev, found.st_ino), set())

    def add_file(self, stored: str, location: str, stamp: Stamp) -> None:
        """Take the file at ``location``, unless it was found before."""
        folder, name = os.path.split(location)
        name = _true_name(folder, name)
        names = self.names_in(folder)
        if name not in names:
            names.add(name)
            self.documents.append(DocumentRef(self.source, stored, location, stamp))

    def fail(self, stored: str, reason: str) -> None:
        """Note that what is below the stored path ``stored`` was not seen to its end."""
        # No prefix but "" holds both what is below a folder around the workspace and the
        # workspace, whose paths begin otherwise.
        prefix = "" if _PARENTS.issuperset(stored.split("/")) else printable(stored)
        self.failures.append(RootFailure(prefix, reason))

    def fail_names(self, prefix: str, names: Sequence[str]) -> None:
        """Note names in the folder ``prefix`` that no index can hold: the first, and how many."""
        more = f" (and {len(names) - 1} more in this folder)" if len(names) > 1 else ""
        reason = f"the name is not valid UTF-8: rename it to have it indexed{more}"
        self.failures.append(RootFailure(printable(prefix + names[0]), reason))


def is_storable(name: str) -> bool:
    """Whether an index can hold ``name``: whether it is valid Unicode."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    r"""``path``, with ``\xe9`` and the like for bytes that are not UTF-8."""
    if is_storable(path):
        return path
    try:
        return os.fsencode(path).decode(errors="backslashreplace")
    except UnicodeEncodeError:
        return path.encode(errors="backslashreplace").decode()


def words_of(error: OSError | ValueError) -> str:
    """The reason that ``error`` gives, without the path."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _true_name(folder: str, name: str) -> str:
    """How the folder itself spells ``name``: on some disks ``a.md`` opens ``A.md``."""
    location = os.path.join(folder, name)
    try:
        other = os.lstat(os.path.join(folder, name.swapcase()))
        if not os.path.samestat(other, os.lstat(location)):
            return name
        names = os.listdir(folder)
    except OSError:
        return name
    if name in names:
        return name
    return next((real for real in names if real.casefold() == name.casefold()), name)
