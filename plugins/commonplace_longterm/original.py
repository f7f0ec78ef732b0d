"""The memories of an original installation, read from its LanceDB folder; never written to."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any

from commonplace.plugin import CallerError, NamedTuple
from commonplace_longterm.entries import CATEGORIES, DEFAULT_IMPORTANCE, Entry, cleaned

if TYPE_CHECKING:
    from collections.abc import Mapping

_TABLE = "memories"
_LATEST = 253_402_300_799_999  # milliseconds; the end of the calendar
_EVERY = 2**31 - 1


class Originals(NamedTuple):
    """The memories of an agent, and how many rows were left out, which are not whole or scoped."""

    entries: list[Entry]
    left_out: int


def is_originals(folder: str) -> bool:
    """Whether an original installation keeps memories in ``folder``."""
    return ".openclaw" in folder.split(os.sep) or os.path.isdir(
        os.path.join(folder, f"{_TABLE}.lance")
    )


def originals(folder: str, agent: str) -> Originals:
    """The memories of ``agent`` in ``folder``; of a table that knows no agents, all.

    Memories that belong to a part of an agent's memory (a scope) are left out: they would be seen
    everywhere here. Raises :class:`~commonplace.errors.CallerError` where there is no such table.
    """
    if not os.path.isdir(os.path.join(folder, f"{_TABLE}.lance")):
        raise CallerError(
            f"{folder} holds no memories of an original installation",
            hint="give the folder that its dbPath names, or a file that `ltm export` wrote",
        )
    os.environ.setdefault("LANCEDB_LOG", "off")
    try:
        import lancedb

        table = lancedb.connect(folder).open_table(_TABLE)
        columns = [name for name in table.schema.names if name != "vector"]
        found: list[Mapping[str, Any]] = (
            table.search().select(columns).limit(_EVERY).to_arrow().to_pylist()
        )
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - LanceDB raises whatever class comes to hand
        words = str(error).partition("\n")[0][:200]
        raise CallerError(
            f"the memories in {folder} cannot be read: {words}",
            hint="check the rights of the folder, and that its program can read it",
        ) from None
    own = [row for row in found if row.get("agentId", agent) in {agent, None}]
    entries = [_entry(row) for row in own if not row.get("scope")]
    kept = {entry.id: entry for entry in entries if entry is not None}
    return Originals(list(kept.values()), len(own) - len(kept))


def _entry(row: Mapping[str, Any]) -> Entry | None:
    """A row as a memory; ``None`` for one that is not whole."""
    try:
        importance = row.get("importance")
        number = DEFAULT_IMPORTANCE if importance is None else float(importance)
        return Entry(
            id=str(uuid.UUID(str(row.get("id")))),
            text=cleaned(str(row.get("text") or "")),
            category=row["category"] if row.get("category") in CATEGORIES else "other",
            # Kept as a float of 32 bits there: 0.7 comes back as 0.699999988.
            importance=round(min(1.0, max(0.0, number)), 6),
            created=min(_LATEST, max(0, int(row.get("createdAt") or 0))),
            origin="session",
        )
    except (CallerError, ValueError, OverflowError):
        return None
