"""Folders for systems that watch whole trees, and name what changed by its real path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Trees"]


class Trees:
    """The ``folders`` (absolute) to be watched, as trees that hold them all.

    macOS and Windows watch a tree as cheaply as a folder, and do not follow links in it; handing
    macOS a thousand folders takes seconds. ``tops`` are real paths, none below another.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = {}
        for folder in folders:
            self._names.setdefault(os.path.realpath(folder), []).append(folder)
        self.tops = sorted(real for real in self._names if not self._is_below_another(real))

    def names_of(self, path: str) -> list[str]:
        """What the real path ``path`` is called in the folders, once for each that it lies in."""
        real = path
        while real not in self._names:
            around = os.path.dirname(real)
            if around == real:
                return [path]
            real = around
        below = path[len(real) :].lstrip(os.sep)
        return [os.path.join(name, below) if below else name for name in self._names[real]]

    def _is_below_another(self, real: str) -> bool:
        around = os.path.dirname(real)
        while around != real:
            if around in self._names:
                return True
            real, around = around, os.path.dirname(around)
        return False
