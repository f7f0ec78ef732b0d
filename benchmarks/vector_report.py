"""Tables, in Markdown, of what the benchmark of vector search has measured."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["page", "tables"]

LIBRARIES = ("apsw", "sqlite-vec", "simsimd", "numpy", "lancedb", "pyarrow")

_HEAD = """# Measured: vector search

Made by `python benchmarks/vectors.py --folder F --markdown docs/benchmarks.md`, which says how the
vectors are made: clustered as embeddings are, but synthetic. All ways to search are asked in turns
in one process, warm, every query {repeats} times; medians and 95 % in milliseconds. "Times" is how
much more CPU time a way takes than the first line does, all its threads together: other work on the
machine makes wall time longer, CPU time hardly. Recall is of the true ten nearest. Ratios carry
over to other machines better than milliseconds do.

{machine}

Ours differ in which libraries are installed; simsimd is, unless a platform has none. Plans that
say "exact" prove that their answer is the true one. The joined query is that of the tool whose
index commonplace takes the place of, with 64 MB of cache where that has 2; `MATCH` is sqlite-vec
asked as its manual says. LanceDB's indexes stand with the cheapest setting, of those tried, with
which no answer was wrong.
"""


def page(base: str) -> str:
    """All results in a folder as one page, the largest first."""
    results = []
    for folder in os.listdir(base):
        path = os.path.join(base, folder, "result.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                results.append(json.load(file))
    results.sort(key=lambda one: (-one["chunks"], one["dims"] != 768, one["dims"]))
    head = _HEAD.format(repeats=5, machine=_machine())
    return "\n".join([head, overview(results), *map(tables, results)])


def overview(results: list[dict[str, Any]]) -> str:
    """One line for each size."""
    rows = []
    for one in results:
        ways = one["vector"]
        first = next(iter(ways.values()))["cpu"]
        ratios = {name: way["cpu"] / first for name, way in ways.items()}
        lance = [name for name in ways if name.startswith("LanceDB") and "flat" not in name]
        rows.append(
            [
                f"{one['chunks']:,} x {one['dims']}",
                f"{first:.2f}",
                *(
                    f"{ratios[name]:.0f}"
                    for name in ways
                    if "join" in name or "MATCH" in name or name == "LanceDB flat"
                ),
                f"{min(ratios[name] for name in lance):.1f}" if lance else "",
                f"{one['disk']['share']:.2f}",
            ]
        )
    columns = ["chunks x dimensions", "ours, CPU ms", "join", "MATCH", "with mmap", "LanceDB flat"]
    columns += ["its best index", "file / (vectors + text)"]
    return "## Times faster, exact, warm\n\n" + _table(columns, rows)


def tables(found: dict[str, Any]) -> str:
    """The tables of one size."""
    parts = [f"## {found['chunks']:,} chunks x {found['dims']} dimensions\n"]
    parts.append(f"Load average of the machine at the end: {found['load']:.1f}. Vector query:\n")
    parts.append(_times(found["vector"], recall=True))
    parts.append(f"Among the {found['passing']:.0%} that pass a filter of paths:\n")
    parts.append(_times(found["filtered"], recall=True))
    parts.append("Words and vectors, with texts read:\n")
    parts.append(_times(found["hybrid"], recall=False))
    parts.append("A search for words as a process of its own, and what vectors add to it:\n")
    cold, memory = found["cold"], found["memory"]
    rows = [
        [name or "words alone", f"{cold[name]:.0f}", f"{memory.get(name, 0):.0f}"] for name in cold
    ]
    parts.append(_table(["", "CPU ms, cold", "peak MB, asked again and again"], rows))
    parts.append(_table(["", "build, CPU s"], [[n, f"{s:.1f}"] for n, s in found["made"].items()]))
    disk = found["disk"]
    sizes = [["ours", disk["bytes"]], *map(list, found["rivals' disk"].items())]
    parts.append(_table(["", "MB on disk"], [[name, f"{size / 1e6:.1f}"] for name, size in sizes]))
    parts.append(
        f"Ours is {disk['share']:.2f} times the vectors (float32) and texts; its largest tables, in"
        f" MB: {', '.join(f'{n} {s}' for n, s in json.loads(disk['tables']).items())}.\n"
    )
    if again := found.get("replaced"):
        parts.append(
            f"To replace a file takes {again['ms']:.1f} CPU ms (sqlite-vec with FTS5:"
            f" {again['rival']:.1f}); after 1,000 replaced files the store is"
            f" {again['growth']:+.1%}; problems found: {len(again['problems'])}.\n"
        )
    return "\n".join(parts)


def _times(ways: dict[str, Any], *, recall: bool) -> str:
    first = next(iter(ways.values()))["cpu"]
    columns = ["", "wall p50", "p95", "CPU p50", "p95", "times"]
    rows = []
    for name, way in ways.items():
        row = [name, *(f"{way[key]:.2f}" for key in ("wall", "wall95", "cpu", "cpu95"))]
        row.append(f"{way['cpu'] / first:.1f}")
        rows.append([*row, f"{way['recall']:.3f}", way["plan"]] if recall else row)
    return _table([*columns, "recall", "plan"] if recall else columns, rows)


def _table(columns: list[str], rows: Iterable[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _machine() -> str:
    cores = os.cpu_count()
    libraries = []
    for name in LIBRARIES:
        try:
            libraries.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    system = f"{platform.system()} {platform.machine()}"
    python = f"Python {platform.python_version()}"
    return f"Machine: {cores} cores, {system}, {python}; {', '.join(libraries)}."
