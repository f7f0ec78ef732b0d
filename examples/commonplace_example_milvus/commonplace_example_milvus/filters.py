"""Which documents pass the filters of a search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.plugin import glob_regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.plugin import Where
    from commonplace_example_milvus.catalogue import Entry

__all__ = ["passing"]


def passing(where: Where, entries: Iterable[Entry]) -> frozenset[int] | None:
    """The versions of those documents that pass, ``None`` where there is no filter.

    Paths are matched here and not by Milvus, whose ``like`` cannot say what these globs mean.
    """
    if where == type(where)():
        return None
    globs = [re.compile(glob_regex(pattern)) for pattern in where.paths]
    return frozenset(
        entry.version
        for entry in entries
        if (where.sources is None or entry.source in where.sources)
        and (not globs or any(glob.fullmatch(entry.path) for glob in globs))
        and (where.after is None or (entry.day is not None and entry.day >= where.after))
        and (where.before is None or (entry.day is not None and entry.day <= where.before))
    )
