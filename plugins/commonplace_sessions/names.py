"""Which files are transcripts, by their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

__all__ = ["day_of", "is_archived", "is_claude_code", "is_codex", "is_openclaw"]

_SUFFIX = ".jsonl"
_ARCHIVED = re.compile(
    r".+\.(?:reset|deleted)\.(\d{4}-\d{2}-\d{2})T\d{2}-\d{2}-\d{2}(?:\.\d+)?Z", re.ASCII | re.DOTALL
)
_BACKUP = ".bak."
# Copies of a transcript at its compaction, and records of another kind.
_OTHERS = re.compile(r"\.checkpoint\.[0-9a-f-]{36}\.jsonl\Z|\.trajectory\.jsonl\Z", re.IGNORECASE)
_FIRST_DAY = 719_163  # of the epoch, in the calendar of ``date``
_MILLISECONDS_PER_DAY = 86_400_000
_DAY = re.compile(r"(?:rollout-)?(\d{4}-\d{2}-\d{2})(?!\d)", re.ASCII)


def is_openclaw(below: str) -> bool:
    """Whether the file ``below`` a folder of sessions is a transcript, in use or archived."""
    if "/" in below or _BACKUP in below or _OTHERS.search(below):
        return False
    return below.endswith(_SUFFIX) or is_archived(below)


def is_archived(name: str) -> bool:
    """Whether it is the transcript of a session that was reset or deleted."""
    return _ARCHIVED.fullmatch(name) is not None


def is_claude_code(below: str) -> bool:
    """Whether ``below`` is a session of a project, and not one of an agent that it started."""
    project, _, name = below.partition("/")
    return (
        bool(project)
        and name.endswith(_SUFFIX)
        and "/" not in name
        and not name.startswith("agent-")
    )


def is_codex(below: str) -> bool:
    """Whether ``below`` is a session: ``2026/01/31/rollout-<time>-<id>.jsonl``, in any folder."""
    name = below.rpartition("/")[2]
    return name.startswith("rollout-") and name.endswith(_SUFFIX)


def day_of(name: str, began: float) -> date | None:
    """The day of a session: as its name begins, else of its first message, else of its archiving.

    ``began`` is in epoch milliseconds, 0 where it is not known; its day is that of UTC.
    """
    from datetime import date

    if (found := _DAY.match(name)) and (day := _date(found[1])):
        return day
    if began:
        return date.fromordinal(_FIRST_DAY + int(began // _MILLISECONDS_PER_DAY))
    found = _ARCHIVED.fullmatch(name)
    return _date(found[1]) if found else None


def _date(text: str) -> date | None:
    from datetime import date

    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
