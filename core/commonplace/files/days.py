"""The day a note speaks of, taken from its path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

__all__ = ["day_of"]

_DAILY = re.compile(r"memory/(?:.*/)?([0-9]{4})-([0-9]{2})-([0-9]{2})(?:-[^/]*)?\.md", re.DOTALL)


def day_of(path: str) -> date | None:
    """The day of a daily note: ``memory/2026-01-31.md``, also with a slug and in subfolders.

    ``path`` is a stored path. ``None`` for every other note, and for a day no calendar has.
    """
    found = _DAILY.fullmatch(path)
    if found is None:
        return None
    from datetime import date

    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None
