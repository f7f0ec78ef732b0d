"""The folder that transcripts lie in: scanned by directory entries alone, never through a link."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import (
    DocumentRef,
    Findings,
    RootFailure,
    ScanReport,
    is_ignored,
    is_link,
    is_storable,
    stamp_of,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Folder", "scan_folder"]

_KEPT = "nothing is forgotten, as its disk may not be mounted"


class Folder(NamedTuple):
    """Where to look. Links are followed in ``base``, and refused in ``parts`` and below.

    ``named`` says that somebody configured it, and ``deep`` that its subfolders are looked into.
    """

    base: str
    parts: tuple[str, ...] = ()
    named: bool = False
    deep: bool = False

    @property
    def location(self) -> str:
        """Its absolute path."""
        return os.path.join(self.base, *self.parts)


def scan_folder(folder: Folder, source: str, wanted: Callable[[str], bool]) -> ScanReport:
    """Every regular file whose path below ``folder`` (forward slashes) is ``wanted``.

    Stored paths begin with the id of ``source``. A file that is no longer found is forgotten only
    while the folder is there and holds anything at all: a folder that is gone, or empty as the
    mount point of a disk that is not there, was deleted by nobody as far as can be told. Where it
    was never configured it is merely absent, and a failure only if something of it was known.
    """
    findings = Findings(source, overlapping=False)
    absent: tuple[RootFailure, ...] = ()
    try:
        trouble = _trouble_on_the_way(folder, findings)
        if trouble:
            findings.fail(source, trouble)
        elif _is_blank(folder.location):
            absent = (RootFailure(source, f"{folder.location} holds nothing: {_KEPT}"),)
        else:
            _walk(folder, findings, wanted)
    except FileNotFoundError:
        absent = (RootFailure(source, f"{folder.location} is missing: {_KEPT}"),)
    except (OSError, ValueError) as error:
        findings.fail(source, f"{folder.location}: {words_of(error)}")
    if folder.named:
        findings.failures += absent
        absent = ()
    findings.documents.sort(key=lambda ref: ref.path)
    return ScanReport(
        documents=tuple(findings.documents),
        complete_roots=() if absent else (source,),
        failed_roots=tuple(findings.failures),
        skipped_symlinks=findings.links,
        absent_roots=absent,
    )


def _trouble_on_the_way(folder: Folder, findings: Findings) -> str:
    for depth in range(len(folder.parts)):
        part = os.path.join(folder.base, *folder.parts[: depth + 1])
        if is_link(os.lstat(part)):
            findings.links += 1
            return f"{part} is a symbolic link, which memory does not follow"
    if not stat.S_ISDIR(os.stat(folder.location).st_mode):
        return f"{folder.location} is not a folder"
    return ""


def _is_blank(location: str) -> bool:
    with os.scandir(location) as entries:
        return next(entries, None) is None


def _walk(folder: Folder, findings: Findings, wanted: Callable[[str], bool]) -> None:
    waiting = [""]
    while waiting:
        below = waiting.pop()
        location = os.path.join(folder.location, below)
        prefix = f"{findings.source}/{below}"
        unstorable: list[str] = []
        try:
            with os.scandir(location) as entries:
                for name, path in _looked_at(entries, below, findings, wanted, unstorable):
                    if folder.deep and not is_ignored(name):
                        waiting.append(f"{path}/")
        except OSError as error:
            findings.fail(prefix.rstrip("/"), words_of(error))
        if unstorable:
            findings.fail_names(prefix, sorted(unstorable))


def _looked_at(
    entries: Iterator[os.DirEntry[str]],
    below: str,
    findings: Findings,
    wanted: Callable[[str], bool],
    unstorable: list[str],
) -> Iterator[tuple[str, str]]:
    """Add the transcripts among ``entries``; the folders among them, as name and path below."""
    for entry in entries:
        path = below + entry.name
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue  # deleted since it was listed
        if is_link(found):
            findings.links += 1
        elif stat.S_ISDIR(found.st_mode) and is_storable(entry.name):
            yield entry.name, path
        elif stat.S_ISREG(found.st_mode) and wanted(path):
            if is_storable(entry.name):
                findings.documents.append(
                    DocumentRef(
                        findings.source, f"{findings.source}/{path}", entry.path, stamp_of(found)
                    )
                )
            else:
                unstorable.append(entry.name)
