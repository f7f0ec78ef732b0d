"""Lets one process at a time write QMD's index: two at once can break a young one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace_qmd.engine.faults import QmdError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.deadline import Deadline

__all__ = ["writer_lock"]

_SLICE = 0.1
_POLL = 0.05


@contextmanager
def writer_lock(
    index_path: str, deadline: Deadline, *, closed: Callable[[], bool]
) -> Iterator[None]:
    """Hold the lock, across threads and processes; the system lets go when the process ends.

    Raises :class:`~commonplace_qmd.engine.faults.QmdError`: ``locked`` when ``deadline`` has
    passed, ``closed`` when ``closed`` says so.
    """
    import filelock

    lock = filelock.FileLock(f"{index_path}.lock", mode=0o600, thread_local=False)
    while True:
        try:
            lock.acquire(timeout=min(_SLICE, deadline.remaining()), poll_interval=_POLL)
            break
        except filelock.Timeout:
            pass
        except OSError as error:
            words = f"its index cannot be locked: {error.strerror or error}"
            raise QmdError(words, reason="locked") from error
        if closed():
            raise QmdError("was closed", reason="closed")
        if deadline.expired:
            raise QmdError(
                "another process writes its index",
                reason="locked",
                mend="try again when it is done",
            )
    try:
        yield
    finally:
        lock.release()
