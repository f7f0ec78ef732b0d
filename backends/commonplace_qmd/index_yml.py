"""QMD's own list of collections, the file ``index.yml``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from commonplace_qmd.globs import OURS_IGNORED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commonplace_qmd.collections import Collection

__all__ = ["index_yml"]


def index_yml(
    collections: Sequence[Collection], *, retired: Iterable[str] = (), nowhere: str = ""
) -> str:
    """The text of the file; collections called ``retired`` are led to the empty ``nowhere``.

    Strings are written as JSON, which YAML reads alike, so that no name or path can mean more.
    """
    lines = ["# Written by commonplace; changes are overwritten.", "collections:"]
    for collection in collections:
        ignored = [f"**/{folder}/**" for folder in sorted(OURS_IGNORED)]
        lines += _entry(collection.name, collection.location, collection.pattern, ignored)
    for name in sorted(retired):
        lines += _entry(name, nowhere, "*.md", [])
    if len(lines) == 2:
        lines[1] += " {}"
    return "\n".join(lines) + "\n"


def _entry(name: str, location: str, pattern: str, ignored: Sequence[str]) -> list[str]:
    lines = [
        f"  {_text(name)}:",
        f"    path: {_text(location)}",
        f"    pattern: {_text(pattern)}",
    ]
    if ignored:
        lines += ["    ignore:", *(f"      - {_text(glob)}" for glob in ignored)]
    return lines


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
