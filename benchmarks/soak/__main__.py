"""The suite's proofs that the index is fresh and never broken, at a size that takes minutes.

Run it with ``python benchmarks/soak [--kills 500] [--seconds 60] [--machine-examples 500]``; 0
leaves a part out. The tests are those of ``tests/end_to_end``: this counts what they report, as a
table and as JSON. Every failure is a violation; exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[2]
TESTS = {
    "kills": ("SOAK_KILLS", "test_killed.py"),
    "processes": ("SOAK_SECONDS", "test_many_processes.py"),
    "histories": ("SOAK_EXAMPLES", "test_index_follows_files.py"),
}


class Case(NamedTuple):
    """One test: its name, what it reported of itself, and how it failed (``""``: not)."""

    name: str
    properties: dict[str, str]
    failure: str


def run(part: str, size: float) -> tuple[list[Case], float]:
    """Every test of a part at this size, and how many seconds they took."""
    variable, file = TESTS[part]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        options = ("-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1")
        subprocess.run(
            [
                *(sys.executable, "-m", "pytest", *options, f"--basetemp={folder}/tests"),
                *(f"--junitxml={report}", f"tests/end_to_end/{file}"),
            ],
            cwd=ROOT,
            env={**os.environ, variable: f"{size:g}"},
            stdout=sys.stderr,
            check=False,
        )
        cases = [_case(found) for found in ET.parse(report).iter("testcase")]
    return cases, time.monotonic() - begun


def _case(found: ET.Element) -> Case:
    properties = {item.get("name", ""): item.get("value", "") for item in found.iter("property")}
    failed = [item.get("message", "") for item in found if item.tag in {"failure", "error"}]
    return Case(found.get("name", ""), properties, "; ".join(failed))


def kills(cases: list[Case]) -> dict[str, object]:
    """How many were killed while doing what, and in what manner."""
    killed = [case.properties for case in cases if "scenario" in case.properties]
    return {
        "kills": len(killed),
        "recoveries": len(killed) - sum(bool(case.failure) for case in cases),
        "by scenario": Counter(each["scenario"] for each in killed),
        "by manner": Counter(each["manner"] for each in killed),
    }


def processes(cases: list[Case]) -> dict[str, object]:
    """What readers and writers did."""
    found = next(case.properties for case in cases if "searches" in case.properties)
    return {name: round(float(value), 1) for name, value in found.items()}


def histories(cases: list[Case]) -> dict[str, object]:
    """How many histories were tried, and how many steps they had in all."""
    return {
        name: sum(int(case.properties.get(name, 0)) for case in cases)
        for name in ("examples", "steps")
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=500, help="processes to kill")
    parser.add_argument("--seconds", type=float, default=60, help="of 8 readers and 2 writers")
    parser.add_argument(
        "--machine-examples", type=int, default=500, help="histories of files for each backend"
    )
    parser.add_argument("--json", help="a file for the figures, too")
    given = parser.parse_args()
    parts = {"kills": kills, "processes": processes, "histories": histories}
    sizes = (given.kills, given.seconds, given.machine_examples)
    figures: dict[str, dict[str, object]] = {}
    for (part, describe), size in zip(parts.items(), sizes, strict=True):
        if not size:
            continue
        cases, seconds = run(part, size)
        violations = [f"{case.name}: {case.failure}" for case in cases if case.failure]
        figures[part] = {
            **describe(cases),
            "violations": violations,
            "minutes": round(seconds / 60, 1),
        }
    for part, found in figures.items():
        for name, value in found.items():
            shown = len(value) if isinstance(value, list) else value
            if isinstance(value, Counter):
                shown = ", ".join(f"{key} {number}" for key, number in sorted(value.items()))
            print(f"{part:10} {name:12} {shown}")
    text = json.dumps(figures, indent=2)
    print(text)
    if given.json:
        Path(given.json).write_text(text + "\n", encoding="utf-8")
    return 1 if any(found["violations"] for found in figures.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
