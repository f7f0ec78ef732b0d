"""What a watcher says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from commonplace.model.reports import WatchMode

__all__ = ["WatchState"]


class WatchState(NamedTuple):
    """Who notices changes, ``since`` when (epoch seconds), in how many ``folders``.

    ``reason`` says why it is not the operating system, or not for every place; ``""`` where there
    is nothing to say.
    """

    mode: WatchMode = "off"
    reason: str = ""
    since: float | None = None
    folders: int = 0
