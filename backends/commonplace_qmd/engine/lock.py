"""Lets one process at a time write QMD's index: two at once can break a young one."""

# Not the lease of ``upkeep.py``, though it is held within that. The lease guards what we ourselves
# write (exports, index.yml, state), and has to end with us. This one guards what the child writes:
# the child goes on when we are killed, so it has to inherit the lock, as a descriptor.

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from commonplace_qmd.engine.values import QmdError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.plugin import Deadline

__all__ = ["writer_lock"]

_POLL = 0.05


@contextmanager
def writer_lock(
    index_path: str, deadline: Deadline, *, closed: Callable[[], bool]
) -> Iterator[int]:
    """Hold the lock, across threads and processes; its descriptor is for whoever writes.

    A child that is given it holds the lock as long as it lives, also if we are killed: it goes on
    writing then. Raises :class:`~commonplace_qmd.engine.values.QmdError`: ``locked`` when
    ``deadline`` has passed, ``closed`` when ``closed`` says so.
    """
    import fcntl

    try:
        lock = os.open(f"{index_path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unlockable(error) from error
    try:
        while not _taken(lock):
            if closed():
                raise QmdError("was closed", reason="closed")
            if deadline.expired:
                raise QmdError(
                    "another process writes its index",
                    reason="locked",
                    hint="try again when it is done",
                )
            time.sleep(min(_POLL, deadline.remaining()))
        try:
            yield lock
        finally:
            # For all that hold it, should the child have left somebody behind.
            fcntl.flock(lock, fcntl.LOCK_UN)
    finally:
        with suppress(OSError):
            os.close(lock)


def _taken(lock: int) -> bool:
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _unlockable(error) from error
    return True


def _unlockable(error: OSError) -> QmdError:
    return QmdError(f"its index cannot be locked: {error.strerror or error}", reason="locked")
