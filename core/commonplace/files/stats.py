"""What ``stat`` says of a file, in our words."""

from __future__ import annotations

import stat
import sys
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from commonplace.model.documents import Stamp

__all__ = ["is_link", "stamp_of"]


if sys.platform == "win32":

    def stamp_of(found: os.stat_result) -> Stamp:
        """The stamp of a file; the same from an open file and from its directory entry."""
        # A directory entry of Windows does not know the number of its file.
        return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, 0)

else:
    # The same, in one call: a scan makes one stamp for every note.
    stamp_of: Callable[[os.stat_result], Stamp] = attrgetter(
        "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino"
    )


def is_link(found: os.stat_result) -> bool:
    """Whether this is a link, symbolic or (on Windows, where folders can be that) a junction."""
    if sys.platform == "win32" and found.st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT:
        return True
    return stat.S_ISLNK(found.st_mode)
