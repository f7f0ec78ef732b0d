"""The rights of files, holding for a test that root runs, too."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERSION_3 = 0x20080522
_READS_ALL = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@contextmanager
def rights_hold() -> Iterator[None]:
    """Let this thread be refused what the mode of a file refuses; where that is not so anyway.

    Where the system has no capabilities, or they cannot be laid down, nothing is changed.
    """
    if os.name == "nt" or os.geteuid() or sys.platform != "linux":
        yield
        return
    libc = ctypes.CDLL(None)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then those above 31
    if libc.capget(header, sets):
        yield
        return
    before = sets[0]
    sets[0] = before & ~_READS_ALL
    libc.capset(header, sets)
    try:
        yield
    finally:
        sets[0] = before
        libc.capset(header, sets)
