"""What a deep check of an index file looked at, each with its value and what would fix it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from commonplace.plugin import Finding, Fix
from commonplace_sqlite.files import make_private, open_to_others, size_of
from commonplace_sqlite.repair import prune, set_aside_before

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace_sqlite.checking import Fault
    from commonplace_sqlite.database import Database

__all__ = ["findings"]

_LOOKED_AT = (
    ("file", "integrity check", "the file is sound"),
    ("keywords", "keyword index", "in line with the chunks"),
    ("orphans", "orphans", "none"),
    ("counts", "counts", "as counted"),
    ("vectors", "vectors", "in line with the chunks"),
)


def findings(
    database: Database, faults: Sequence[Fault], documents: int, chunks: int
) -> Iterator[Finding]:
    """By what ``faults`` are in, then what stands beside the file; both counts are of all in it."""
    counted = f"{documents} note{'s'[: documents != 1]}, {chunks} chunk{'s'[: chunks != 1]}"
    for kind, name, well in _LOOKED_AT:
        found = [fault.line for fault in faults if fault.kind == kind]
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            last_resort = Fix("set the damaged index aside", database.set_aside)
            yield Finding("problem", name, found[0] + more, last_resort)
        else:
            yield Finding("ok", name, f"{counted}, {well}" if kind == "counts" else well)
    yield _writer(database)
    yield _set_aside(database.path)
    yield _rights(database.path)


def _writer(database: Database) -> Finding:
    holder = database.holder()
    if holder is None:
        return Finding("ok", "writer", "no process is writing")
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(holder.since))
    program = f" ({holder.program})" if holder.program else ""
    return Finding("ok", "writer", f"process {holder.pid}{program} writes since {since}")


def _set_aside(path: str) -> Finding:
    kept = set_aside_before(path)
    if not kept:
        return Finding("ok", "set aside", "nothing")
    size = sum(map(size_of, kept)) / 1e6
    files = "1 damaged index is" if len(kept) == 1 else f"{len(kept)} damaged indexes are"
    value = f"{files} kept ({size:.1f} MB), the newest is {kept[-1]}"
    if len(kept) == 1:
        return Finding("ok", "set aside", value)

    def run() -> str:
        gone = len(prune(path, keep=1))
        return f"deleted {gone} damaged index{'es' if gone != 1 else ''}, kept {kept[-1]}"

    fix = Fix("delete all damaged indexes that were set aside but the newest", run)
    return Finding("warning", "set aside", value, fix)


def _rights(path: str) -> Finding:
    files = open_to_others(path)
    if not files:
        return Finding("ok", "rights", "the index is its owner's alone")
    names = ", ".join(map(os.path.basename, files))

    def run() -> str:
        make_private(files)
        return f"made {names} readable for their owner alone"

    fix = Fix("take the rights of others from the index", run)
    return Finding("warning", "rights", f"others can open {names}", fix)
