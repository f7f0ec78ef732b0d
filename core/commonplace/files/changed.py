"""A scan of a few paths alone: what a whole scan would find at them, or that only one can tell.

Where it is known which paths have changed, no others need be looked at. That is right only where
names and the folders on the way are as plain as they usually are, so a whole scan is asked for:

- where a root itself, or a folder, came, went, or is a link: what is below it has changed, too;
- where the workspace, or an extra folder, holds nothing at all: its disk may not be mounted;
- where two roots may lead to one file, as it is then found by the first of them alone;
- where a name is not valid UTF-8, anything cannot be looked at, or there are very many paths.
"""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, NamedTuple

from commonplace.files.roots import is_ignored, is_link, stamp_of
from commonplace.files.scan import Findings, is_storable
from commonplace.model.documents import DocumentRef, ScanReport

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from commonplace.files.roots import Root
    from commonplace.files.scan import Scandir


_MOST = 1000
"""More paths than these are looked at by a whole scan."""


class _WholeScanNeeded(Exception):  # noqa: N818 - no error: it never leaves this file
    """These paths do not tell what a whole scan would find."""


class _Named(NamedTuple):
    """Names to look for in the folder ``below`` (forward slashes, ``""``: itself) of a root."""

    root: Root
    below: str
    names: set[str]

    def path_of(self, name: str) -> str:
        """The path of ``name`` below the root."""
        return f"{self.below}/{name}" if self.below else name


def scan_paths(
    roots: Sequence[Root],
    paths: Collection[str],
    *,
    source: str,
    stored: Callable[[Root, str], str],
    workspace: str = "",
    scandir: Scandir = os.scandir,
) -> ScanReport | None:
    """What a whole scan of ``roots`` would find now at ``paths``, or ``None``: scan them all.

    ``paths`` are absolute; those that no root holds count for nothing. ``stored`` gives the stored
    path of what is at a path below a root. ``complete_roots`` of the report are the stored paths of
    all that was looked for: what is not among its documents is gone. With ``workspace``, that
    folder must be there and hold anything. Never raises for what it meets in the file system.
    """
    if len(paths) > _MOST:
        return None
    findings = Findings(source, overlapping=False)
    looked_for: set[str] = set()
    try:
        if workspace and _is_blank(workspace, scandir):
            return None
        folders = [root for root in roots if root.kind != "file"]
        _require_apart(folders)
        if len(folders) < len(roots):
            # All of them: on some disks MEMORY.md and memory.md are one file.
            for root in roots:
                if root.kind == "file":
                    looked_for.add(stored(root, ""))
                    _take_file(root, stored(root, ""), findings)
        for named in _grouped(folders, paths):
            looked_for.update(_look_into(named, stored, findings, scandir))
    except (OSError, ValueError, _WholeScanNeeded):
        return None
    documents = sorted(findings.documents, key=lambda ref: ref.path)
    return ScanReport(tuple(documents), tuple(sorted(looked_for)))


def _is_blank(folder: str, scandir: Scandir) -> bool:
    with scandir(folder) as entries:
        return next(entries, None) is None


def _require_apart(roots: Sequence[Root]) -> None:
    """No root lies in another one, by whatever name."""
    if len(roots) < 2:
        return
    chains = [list(_around(root.location)) for root in roots]
    for one, chain in enumerate(chains):
        if any(chain[0] in other for at, other in enumerate(chains) if at != one):
            raise _WholeScanNeeded


def _around(location: str) -> Iterator[tuple[int, int] | str]:
    """Device and inode of ``location`` and the folders around it; a name for what is missing."""
    inner = ""
    location = os.path.realpath(location)
    while location != inner:
        try:
            found = os.stat(location)
            yield found.st_dev, found.st_ino
        except FileNotFoundError:
            yield location
        inner, location = location, os.path.dirname(location)


def _take_file(root: Root, stored: str, findings: Findings) -> None:
    """Add the root, if it is a file; it may be missing."""
    try:
        found = os.lstat(root.location)
    except FileNotFoundError:
        return
    if not S_ISREG(found.st_mode):
        raise _WholeScanNeeded
    findings.add_file(stored, root.location, stamp_of(found))


def _grouped(roots: Sequence[Root], paths: Collection[str]) -> list[_Named]:
    """The paths that lie below ``roots``, by folder."""
    groups: dict[tuple[str, str], _Named] = {}
    for path in paths:
        for root in roots:
            inside = root.location.rstrip(os.sep) + os.sep
            if path == root.location or inside.startswith(path.rstrip(os.sep) + os.sep):
                raise _WholeScanNeeded
            if not path.startswith(inside):
                continue
            below, _, name = path[len(inside) :].replace(os.sep, "/").rpartition("/")
            if all(_enters(root, folder) for folder in _folders(below)):
                group = groups.setdefault((root.location, below), _Named(root, below, set()))
                group.names.add(name)
    return list(groups.values())


def _folders(below: str) -> list[str]:
    """``a``, ``a/b``, ... of a path below a root."""
    parts = below.split("/") if below else []
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]


def _enters(root: Root, below: str) -> bool:
    """Whether a scan would look into the folder ``below`` the root."""
    return root.enters(below) if root.enters else not is_ignored(below.rpartition("/")[2])


def _look_into(
    named: _Named, stored: Callable[[Root, str], str], findings: Findings, scandir: Scandir
) -> Iterator[str]:
    """Add the documents of a folder that are there; the stored paths of all that were named."""
    root = named.root
    folder = os.path.join(root.location, *named.below.split("/")) if named.below else root.location
    _require_plain(root, named.below)
    present: dict[str, os.DirEntry[str]] = {}
    blank = True
    with scandir(folder) as entries:  # by the folder's own names: on some disks a.md opens A.md
        for entry in entries:
            blank = False
            if entry.name in named.names:
                present[entry.name] = entry
    if blank and not named.below and not root.own:
        raise _WholeScanNeeded
    for name in named.names:
        below, found = named.path_of(name), present.get(name)
        is_folder = found is None or found.is_dir(follow_symlinks=False)
        if name.endswith(root.suffix) and (root.wanted is None or root.wanted(below)):
            if not is_storable(below) or (found is not None and is_folder):
                raise _WholeScanNeeded
            yield stored(root, below)
            if found is not None:
                status = found.stat(follow_symlinks=False)
                if S_ISREG(status.st_mode):
                    ref = DocumentRef(
                        findings.source, stored(root, below), found.path, stamp_of(status)
                    )
                    findings.documents.append(ref)
        elif is_folder and _enters(root, below):
            raise _WholeScanNeeded  # a folder that came, or may have gone


def _require_plain(root: Root, below: str) -> None:
    """No link leads to the folder ``below`` the root, nor is it missing."""
    parts = [*root.parts, *(below.split("/") if below else ())]
    for depth in range(len(parts)):
        found = os.lstat(os.path.join(root.base, *parts[: depth + 1]))
        if is_link(found) or not S_ISDIR(found.st_mode):
            raise _WholeScanNeeded
