"""Setting a damaged table aside, so that the next sync makes it anew."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING

from commonplace.plugin import IndexBusyError, IndexCorruptError, IndexReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.plugin import Lease
    from commonplace_lancedb.database import Database
    from commonplace_lancedb.place import Place

__all__ = ["mending", "set_aside_before"]


@contextmanager
def mending(database: Database, lease: Lease) -> Iterator[None]:
    """Set the table aside where it turns out to be damaged; the error comes through.

    Only in a folder, where nobody else writes just now, and where it is the latest version that
    is damaged. In a bucket it is for people to decide: others share it.
    """
    try:
        yield
    except IndexCorruptError:
        if database.place.folder is not None and database.is_latest():
            with suppress(IndexBusyError, IndexReadOnlyError, OSError), lease.held(0):
                _set_aside(database.place)
                database.changed()
        raise


def set_aside_before(place: Place) -> list[str]:
    """The damaged tables that are kept."""
    folder = place.folder
    if folder is None or not os.path.isdir(folder):
        return []
    beginning = f"{place.table}.damaged-"
    found = sorted(name for name in os.listdir(folder) if name.startswith(beginning))
    return [os.path.join(folder, name) for name in found]


def _set_aside(place: Place) -> None:
    whole = os.path.join(place.folder or "", place.table)
    # Not by the ending of tables: LanceDB would take it for one.
    kept = next(name for n in count(1) if not os.path.exists(name := f"{whole}.damaged-{n}"))
    os.rename(f"{whole}.lance", kept)
