"""Finding the notes of a workspace by directory entries alone: no file is opened.

What a scan may conclude from not finding a note: the index forgets it only if its path lies under
a complete root and under no failed one. A scan that could list the workspace names ``""``, the
prefix of everything, as complete, so that notes of an extra path which is no longer configured
are forgotten too; what it could not see to the end it names as failed. The rules:

- A workspace that is missing, not a folder, cannot be listed, or holds nothing at all (the
  mount point of a disk that is not there looks like that) fails as a whole.
- In a workspace that is there, a missing ``MEMORY.md``, ``memory.md`` or ``memory/`` was deleted by
  its owner, and so was what is missing in an empty ``memory/``: deleting notes must make them
  unfindable, and the entries of the workspace are evidence that its disk is there.
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
from operator import attrgetter
from typing import TYPE_CHECKING

from commonplace.files.findings import Findings, is_storable, words_of
from commonplace.files.roots import SUFFIX
from commonplace.files.stats import is_link, stamp_of
from commonplace.files.walk import walk
from commonplace.model.documents import ScanReport

if TYPE_CHECKING:
    from commonplace.files.roots import Root, Roots
    from commonplace.files.walk import Scandir

__all__ = ["scan"]

_KEPT = "nothing is forgotten, as its disk may not be mounted"


def scan(roots: Roots, *, source: str = "memory", scandir: Scandir = os.scandir) -> ScanReport:
    """All notes below ``roots``, by stored path; ``source`` is the id their references carry.

    A note reachable by two roots comes once, by the first of them. Never raises for what it meets
    in the file system. ``scandir`` stands in for ``os.scandir`` in tests.
    """
    findings = Findings(source, overlapping=bool(roots.extra))
    for path in roots.unusable:
        findings.fail(path.replace("\0", "\\0"), "no path can have a NUL in it")
    trouble = _trouble_with_workspace(roots.workspace, scandir)
    if trouble:
        findings.fail("", trouble)
    for root in roots.all if not trouble else roots.extra:
        reason = _look_at(root, roots, findings, scandir)
        if reason:
            findings.fail(root.stored, reason)
    return ScanReport(
        documents=tuple(sorted(findings.documents, key=attrgetter("path"))),
        complete_roots=() if trouble else ("",),
        failed_roots=tuple(findings.failures),
        skipped_symlinks=findings.links,
    )


def _trouble_with_workspace(workspace: str, scandir: Scandir) -> str:
    """Why nothing can be concluded from what is not found in the workspace; else ``""``."""
    try:
        with scandir(workspace) as entries:
            if next(entries, None) is not None:
                return ""
    except OSError as error:
        return f"the workspace cannot be listed: {words_of(error)}"
    return f"the workspace is empty: {_KEPT}"


def _look_at(root: Root, roots: Roots, findings: Findings, scandir: Scandir) -> str:
    """Add what is below ``root``; why it cannot be used, or ``""`` where that is no failure."""
    try:
        if any(is_link(os.lstat(part)) for part in _parts(root)):
            findings.links += 1
            return "a symbolic link leads to it, which memory does not follow"
        found = os.lstat(root.location) if root.parts else os.stat(root.location)
        if not is_storable(root.stored):
            return "its name is not valid UTF-8"
        if stat.S_ISDIR(found.st_mode) and root.kind != "file":
            blank = walk(root, roots, findings, scandir)
            return f"it holds nothing: {_KEPT}" if blank and not root.own else ""
        return _take_file(root, found, findings)
    except FileNotFoundError:
        return "" if root.own else f"it is missing: {_KEPT}"
    except (OSError, ValueError) as error:
        return words_of(error)


def _take_file(root: Root, found: os.stat_result, findings: Findings) -> str:
    if root.kind == "folder":
        return "it is not a folder"
    if not stat.S_ISREG(found.st_mode) or not root.location.endswith(SUFFIX):
        return f"it is neither a folder nor a {SUFFIX} file"
    findings.add_file(root.stored, root.location, stamp_of(found))
    return ""


def _parts(root: Root) -> list[str]:
    """The root and the folders between its base and it, outermost first."""
    return [os.path.join(root.base, *root.parts[: depth + 1]) for depth in range(len(root.parts))]
