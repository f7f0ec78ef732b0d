"""Parts that fail, wait or are shared: deadlines, breakers, retries, locks, forks, atomic files."""

from __future__ import annotations

import os
import time
from _weakref import ref  # weakref takes longer to import
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Lock
    from typing import Protocol

    class Forked(Protocol):
        """What has locks, threads or files that no forked child can use."""

        def begin(self) -> None:
            """Begin without them."""
            ...


_FORKED: set[ref[Forked]] = set()
_PARENTS: list[object] = []
"""What a child got from its parent: to close it may end what the parent works with."""

_PAUSE_SECONDS = 10.0
"""How long a fork waits for other threads to come to where it may happen."""
_held: list[Lock] = []


def begin_in_children(part: Forked) -> None:
    """Have ``part.begin()`` called in each child that is forked while it lives.

    No thread of the parent runs there: what one of them held at the fork, it would hold for ever.
    Of what is in the midst of something while it holds locks, the attribute ``undivided`` has them,
    in the order in which they are taken: a fork waits for them, up to 10 seconds in all.
    """
    _FORKED.add(ref(part, _FORKED.discard))


def parts_of_this_process() -> list[Forked]:
    """What :func:`begin_in_children` was called for and is still used."""
    alive = [reference() for reference in list(_FORKED)]  # other threads may add some
    return [part for part in alive if part is not None]


def _pause() -> None:
    until = time.monotonic() + _PAUSE_SECONDS
    for part in parts_of_this_process():
        locks: Sequence[Lock] = getattr(part, "undivided", ())
        _held.extend(
            lock for lock in locks if lock.acquire(timeout=max(until - time.monotonic(), 0.0))
        )


def _go_on() -> None:
    while _held:
        _held.pop().release()


def _begin_all() -> None:
    for part in parts_of_this_process():
        _PARENTS.append(vars(part).copy())
        part.begin()
    _go_on()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_pause, after_in_parent=_go_on, after_in_child=_begin_all)
