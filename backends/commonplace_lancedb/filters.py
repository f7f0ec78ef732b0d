"""Filters of a search: as conditions on rows, and as a test of one row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from commonplace.plugin import glob_regex
from commonplace_lancedb.encoding import literal, literals, text_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.plugin import Where
    from commonplace_lancedb.head import BuildState
    from commonplace_lancedb.snapshot import Snapshot

__all__ = ["condition_of", "is_open", "passing"]

_WILD = re.compile(r"[*?]")


def is_open(where: Where) -> bool:
    """Whether every document passes."""
    return where.sources is None and not (where.paths or where.after or where.before)


def condition_of(snapshot: Snapshot, build: BuildState, where: Where) -> str | None:
    """The condition that a chunk's document passes; ``None`` if none does, ``""`` if all do."""
    parts = []
    if where.sources is not None:
        if not where.sources:
            return None
        parts.append(f"source IN ({literals(sorted(where.sources))})")
    if where.after is not None:
        parts.append(f"day >= {literal(where.after)}")
    if where.before is not None:
        parts.append(f"day <= {literal(where.before)}")
    if where.paths:
        paths = _paths(snapshot, build, where.paths, " AND ".join(parts))
        if paths is None:
            return None
        parts.append(paths)
    return " AND ".join(parts)


def passing(where: Where) -> Callable[[Any, Any, Any], bool]:
    """Whether a document of this (source, path, day), as stored, passes ``where``."""
    globs = [re.compile(glob_regex(pattern)).fullmatch for pattern in where.paths]
    sources = where.sources
    after, before = where.after or "", where.before or "9999-99-99"
    dated = where.after is not None or where.before is not None

    def passes(source: str, path: str, day: str | None) -> bool:
        return (
            (sources is None or text_out(source) in sources)
            and (not dated or (day is not None and after <= day <= before))
            and (not globs or any(glob(text_out(path)) for glob in globs))
        )

    return passes


def _paths(
    snapshot: Snapshot, build: BuildState, patterns: tuple[str, ...], others: str
) -> str | None:
    """The condition on paths.

    What has wildcards is matched here and not by Lance, so that a glob means what it means to
    every other store: against the documents, which are few beside the chunks.
    """
    if not any(map(_WILD.search, patterns)):
        return f"({' OR '.join(map(_below, patterns))})"
    rows = snapshot.rows(build, "doc", ("id", "path"), others)
    matches = re.compile("|".join(map(glob_regex, patterns))).fullmatch
    paths = rows["path"].to_pylist()
    ids = [
        id_
        for id_, path in zip(rows["id"].to_pylist(), paths, strict=True)
        if matches(text_out(path))
    ]
    return f"doc IN ({literals(ids)})" if ids else None


def _below(pattern: str) -> str:
    plain = pattern.rstrip("/")
    return f"path = {literal(plain)} OR starts_with(path, {literal(plain + '/')})"
