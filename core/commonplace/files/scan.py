"""Finding the notes of a workspace by directory entries alone: no file is opened.

What a scan may conclude from not finding a note: the index forgets it only if its path lies under
a complete root and under no failed one. A scan that could list the workspace names ``""``, the
prefix of everything, as complete, so that notes of an extra path which is no longer configured
are forgotten too; what it could not see to the end it names as failed. The rules:

- A workspace that is missing, not a folder, cannot be listed, or holds nothing at all (the
  mount point of a disk that is not there looks like that) fails as a whole.
- In a workspace that is there, a missing ``MEMORY.md``, ``memory.md`` or ``memory/`` was deleted by
  its owner, and so was what is missing in an empty ``memory/``: deleting notes must make them
  unfindable, and the entries of the workspace are evidence that its disk is there. So it is in a
  workspace that is taken as it is. Where one of the three appears in that, only they are notes
  from then on, and the others are forgotten: the index follows the files, not its own history.
- An extra path that is missing fails, and so does an extra folder that holds nothing at all: it
  can be on a disk of its own, and nothing tells a deleted folder from an unmounted one. Taking it
  out of the configuration forgets its notes.
- A root that is a link, or not what it should be, fails with that reason, so that it is not
  ignored in silence; links further down are counted.
- A folder that cannot be listed to its end fails, and its siblings go on. A file that vanishes
  while it is looked at is deleted.
- A name that is not valid UTF-8 cannot be stored. It is named as a failure of its own.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from operator import attrgetter
from stat import S_ISREG
from typing import TYPE_CHECKING

from commonplace.files.roots import Roots, is_ignored, is_link, stamp_of
from commonplace.model.documents import DocumentRef, RootFailure, ScanReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from commonplace.files.roots import Root
    from commonplace.model.documents import Stamp

    Scandir = Callable[[str], AbstractContextManager[Iterator[os.DirEntry[str]]]]


_PARENTS = frozenset({"", os.pardir})


@contextmanager
def _by_descriptor(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    # Each entry is then looked at by its name alone: by whole paths that takes a fifth longer.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


_SCANDIR: Scandir = _by_descriptor if os.scandir in os.supports_fd else os.scandir


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
        self.links: set[str] = set()
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

    def report(self, complete_roots: tuple[str, ...]) -> ScanReport:
        """What was found, by stored path."""
        return ScanReport(
            documents=tuple(sorted(self.documents, key=attrgetter("path"))),
            complete_roots=complete_roots,
            failed_roots=tuple(self.failures),
            skipped_symlinks=len(self.links),
        )

    def fail_names(self, prefix: str, names: Sequence[str]) -> None:
        """Note names in the folder ``prefix`` that no index can hold: the first, and how many."""
        more = f" (and {len(names) - 1} more in this folder)" if len(names) > 1 else ""
        reason = f"the name is {_not_utf8(names[0])} to have it indexed{more}"
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


def _not_utf8(name: str) -> str:
    """What is wrong with a name that is not storable, and what to do about it."""
    try:
        os.fsencode(name).decode()
    except UnicodeError:
        return "not valid UTF-8: rename it"
    return f"read as {sys.getfilesystemencoding()} in this locale: set PYTHONUTF8=1"


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
        "root",
        "stored",
        "taken",
        "unstorable",
    )

    def __init__(
        self, root: Root, findings: Findings, location: str, stored: str, below: str
    ) -> None:
        self.root = root
        self.location = location
        self.stored = stored
        self.prefix = f"{stored}/" if stored else ""
        self.below = below
        self.folders: list[str] = []
        self.blank = False
        self.findings = findings
        self.taken: set[str] | None = None
        self.unstorable: list[str] = []

    def read(self, scandir: Scandir) -> None:
        """Look at every entry; what goes wrong is noted once for the folder."""
        try:
            if self.root.wanted is not None or self.findings.overlapping:
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
        simple, suffix = self.taken is None, self.root.suffix
        location = os.path.join(self.location, "")
        trouble: OSError | None = None
        entry = None
        for entry in entries:
            name = entry.name
            try:
                if not name.endswith(suffix):
                    self._enter(entry)
                    continue
                found = entry.stat(follow_symlinks=False)
                if not S_ISREG(found.st_mode):
                    self._enter(entry)
                elif (simple and name.isascii()) or self._is_wanted(name):
                    add(DocumentRef(source, prefix + name, location + name, stamp_of(found)))
            except FileNotFoundError:
                continue  # deleted since it was listed
            except OSError as error:
                trouble = trouble or error
        self.blank = entry is None
        return trouble

    def _is_wanted(self, name: str) -> bool:
        if self.root.wanted is not None and not self.root.wanted(self.below + name):
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
            self.findings.links.add(os.path.join(self.location, entry.name))
        elif not entry.is_dir(follow_symlinks=False) or not self._is_entered(entry.name):
            return
        elif sys.platform == "win32" and is_link(entry.stat(follow_symlinks=False)):
            self.findings.links.add(os.path.join(self.location, entry.name))
        elif is_storable(entry.name):
            self.folders.append(entry.name)
        else:
            self.unstorable.append(entry.name)

    def _is_entered(self, name: str) -> bool:
        enters = self.root.enters
        return not is_ignored(name) if enters is None else enters(self.below + name)


_KEPT = "nothing is forgotten, as its disk may not be mounted"
_DELETED = "if it was deleted, take it out of the configuration"
_MISSING = f"it is missing: {_KEPT}; {_DELETED}"
_EMPTY = f"it holds nothing: {_KEPT}; {_DELETED}"
_EMPTY_WORKSPACE = (
    f"the workspace is empty: {_KEPT}; if its notes were deleted, make the folder memory/ in it"
)


def scan(roots: Roots, *, source: str = "memory", scandir: Scandir = _SCANDIR) -> ScanReport:
    """All notes below ``roots``, by stored path; ``source`` is the id their references carry.

    A note reachable by two roots comes once, by the first of them. Never raises for what it meets
    in the file system. ``scandir`` stands in for ``os.scandir`` in tests.
    """
    findings = Findings(source, overlapping=bool(roots.extra))
    for path in roots.unusable:
        findings.fail(path.replace("\0", "\\0"), "no path can have a NUL in it")
    trouble = _workspace_failure(roots.workspace, scandir)
    if trouble:
        findings.fail("", trouble)
    for root in roots.all if not trouble else roots.extra:
        reason = _look_at(root, roots, findings, scandir)
        if reason:
            findings.fail(root.stored, _named(root, reason))
    report = findings.report(() if trouble else ("",))
    return _with_absent(report, "") if trouble == _EMPTY_WORKSPACE else report


def scan_root(
    root: Root, *, source: str, workspace: str = "", scandir: Scandir = _SCANDIR
) -> ScanReport:
    """All files below one root by the rules of :func:`scan`.

    With ``workspace``, the root fails if that folder is missing, empty, or cannot be listed. A
    missing or empty folder that is not the workspace's own is reported as absent. Never raises for
    what it meets in the file system.
    """
    findings = Findings(source, overlapping=False)
    reason = _workspace_failure(workspace, scandir) if workspace else ""
    reason = reason or _look_at(root, Roots(root.base, own=False), findings, scandir)
    if reason:
        findings.fail(root.stored, reason)
    report = findings.report(() if reason else (root.stored,))
    return _with_absent(report, root.stored) if reason in (_MISSING, _EMPTY) else report


def _named(root: Root, reason: str) -> str:
    """``reason`` with the whole path of a root outside the workspace, as its name starts there."""
    if root.stored.split("/")[0] != os.pardir or not is_storable(root.stored):
        return reason
    return root.location + (reason[2:] if reason.startswith("it ") else f": {reason}")


def _workspace_failure(workspace: str, scandir: Scandir) -> str:
    """Why a path that is missing in the workspace need not have been deleted; else ``""``."""
    try:
        with scandir(workspace) as entries:
            if next(entries, None) is not None:
                return ""
    except OSError as error:
        return f"the workspace cannot be listed: {words_of(error)}"
    return _EMPTY_WORKSPACE


def _with_absent(report: ScanReport, stored: str) -> ScanReport:
    """``report`` with the failed root ``stored`` as one that is not there."""
    failed = tuple(root for root in report.failed_roots if root.root != stored)
    absent = tuple(root for root in report.failed_roots if root.root == stored)
    return report._replace(failed_roots=failed, absent_roots=absent)


def _look_at(root: Root, roots: Roots, findings: Findings, scandir: Scandir) -> str:
    """Add what is below ``root``; why it cannot be used, or ``""`` where that is no failure."""
    try:
        if any(is_link(os.lstat(part)) for part in _parts(root)):
            findings.links.add(root.location)
            return "a symbolic link leads to it, which memory does not follow"
        found = os.lstat(root.location) if root.parts else os.stat(root.location)
        if not is_storable(root.stored):
            return f"its name is {_not_utf8(root.stored)}"
        if stat.S_ISDIR(found.st_mode) and root.kind != "file":
            blank = walk(root, roots, findings, scandir)
            return _EMPTY if blank and not root.own else ""
        return _take_file(root, found, findings)
    except FileNotFoundError:
        return "" if root.own else _MISSING
    except (OSError, ValueError) as error:
        return words_of(error)


def _take_file(root: Root, found: os.stat_result, findings: Findings) -> str:
    if root.kind == "folder":
        return "it is not a folder"
    if not stat.S_ISREG(found.st_mode) or not root.location.endswith(root.suffix):
        endings = " or ".join([root.suffix] if isinstance(root.suffix, str) else root.suffix)
        return f"it is neither a folder nor a {endings} file"
    findings.add_file(root.stored, root.location, stamp_of(found))
    return ""


def _parts(root: Root) -> list[str]:
    """The root and the folders between its base and it, outermost first."""
    return [os.path.join(root.base, *root.parts[: depth + 1]) for depth in range(len(root.parts))]
