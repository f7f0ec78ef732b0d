"""File systems that do not tell of what other machines change."""

from __future__ import annotations

import os
import re

__all__ = ["silent_system"]

_SILENT = frozenset(
    {
        "9p",
        "afs",
        "ceph",
        "cifs",
        "coda",
        "drvfs",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "prl_fs",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
    }
)
# File systems of a program: most of them stand for something far away. These do not.
_PROGRAMS = ("fuse", "fuse.")
_LOCAL_PROGRAMS = frozenset(
    {
        "fuseblk",
        "fuse.bindfs",
        "fuse.encfs",
        "fuse.fuse-overlayfs",
        "fuse.gocryptfs",
        "fuse.mergerfs",
    }
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def silent_system(path: str, *, mounts: str = "/proc/self/mounts") -> str:
    """The type of the file system that ``path`` is on, if that is a silent one; else ``""``.

    ``path`` need not exist. ``mounts`` is the table of the Linux kernel; without it, nothing is
    known.
    """
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return ""
    path = os.path.realpath(path)
    longest, kind = "", ""
    for line in lines:
        _, where, type_, *_ = [*line.split(" "), "", "", ""]
        where = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), where)
        holds = path == where or path.startswith(where.rstrip("/") + "/")
        # Of two on the same folder the later one is on top.
        if holds and len(where) >= len(longest):
            longest, kind = where, type_
    return kind if _is_silent(kind) else ""


def _is_silent(kind: str) -> bool:
    return kind in _SILENT or (kind.startswith(_PROGRAMS) and kind not in _LOCAL_PROGRAMS)
