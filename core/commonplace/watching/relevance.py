"""What a changed path means for the watched places, by its name alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.files.roots import is_ignored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace.model.documents import WatchedPath

__all__ = ["Relevance"]


class Relevance:
    """Judges absolute paths by the places where documents may be. Nothing is looked up."""

    def __init__(self, watched: Iterable[WatchedPath]) -> None:
        self._watched = tuple(watched)

    def is_document(self, path: str) -> bool:
        """Whether a file of this name counts: in or below a place, outside of ignored folders."""
        return any(
            path.endswith(suffix) and not any(map(is_ignored, folders))
            for folders, suffix in self._below(path)
        )

    def is_folder(self, path: str) -> bool:
        """Whether a folder of this name would be watched: below a place, and not ignored."""
        name = os.path.basename(path)
        return not is_ignored(name) and any(
            place.recursive
            and path.startswith(_inside(place.location))
            and not any(map(is_ignored, _parts(place.location, path)[:-1]))
            for place in self._watched
        )

    def leads(self, path: str) -> bool:
        """Whether ``path`` is a place itself, or a folder that one lies in."""
        return any(
            path == place.location or place.location.startswith(_inside(path))
            for place in self._watched
        )

    def _below(self, path: str) -> Iterator[tuple[list[str], str]]:
        """The folders between each place that holds ``path`` and its file; the suffix there."""
        for place in self._watched:
            if path == place.location:
                yield [], place.suffix
            elif path.startswith(_inside(place.location)):
                folders = _parts(place.location, path)[:-1]
                if place.recursive or not folders:
                    yield folders, place.suffix


def _inside(folder: str) -> str:
    return folder.rstrip(os.sep) + os.sep


def _parts(folder: str, path: str) -> list[str]:
    return path[len(_inside(folder)) :].split(os.sep)
