"""The MCP server on standard input and output: what its first answers cost.

Run it with ``python benchmarks/mcp_server.py [--rounds 15]``. Each round starts a server on a
thousand seeded notes that are indexed, asks for its tools and then for one search, and reads its
CPU time and peak memory from ``/proc`` after each; a bare Python that imports what ours stands on
is measured in the same run. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from startup import BARE, child_env, cost_of, medians, program, write_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SEARCH = {"name": "memory_search", "arguments": {"query": "word17 word230 word1999"}}
TARGETS = {"tools/list": (0.12, 25), "tools/call": (0.3, 60)}
"""CPU seconds and megabytes by the first answer of each."""


class Spent(NamedTuple):
    """CPU seconds and peak megabytes of a process up to now."""

    cpu: float
    megabytes: float


def spent(pid: int) -> Spent:
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        peak = next(line for line in status if line.startswith("VmHWM"))
    ticks = int(fields[11]) + int(fields[12])
    return Spent(ticks / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) * 1024 / 1e6)


def measure(workspace: str, env: dict[str, str]) -> dict[str, Spent]:
    """Start a server, ask, and read what it has spent after each answer."""
    server = subprocess.Popen(
        [*program(), "mcp", "--workspace", workspace],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
        cwd="/",
    )
    assert server.stdin is not None
    assert server.stdout is not None
    costs = {}
    for number, (method, params) in enumerate((("tools/list", {}), ("tools/call", SEARCH))):
        request = {"jsonrpc": "2.0", "id": number, "method": method}
        request["params"] = {"_meta": META, **params}
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        assert "result" in answer, answer
        costs[method] = spent(server.pid)
    server.communicate()
    return costs


def median(costs: Sequence[Spent]) -> Spent:
    return Spent(*(statistics.median(column) for column in zip(*costs, strict=True)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as home:
        workspace, env = os.path.join(home, "workspace"), child_env(home)
        write_notes(workspace)
        cost_of([*program(), "index", "--workspace", workspace], env)
        measure(workspace, env)  # what is compiled or remembered at the first time
        runs, bare = [], []
        for _ in range(rounds):
            bare.append(cost_of((sys.executable, *BARE), env))
            runs.append(measure(workspace, env))
    theirs = medians(bare)
    print(f"{'by the first answer to':30}{'CPU ms':>9}{'x bare':>9}{'peak MB':>9}")
    print(
        f"{'(import apsw, pluggy, attrs)':30}{theirs.cpu * 1e3:9.0f}{1:9.2f}{theirs.megabytes:9.1f}"
    )
    good = True
    for method, (seconds, megabytes) in TARGETS.items():
        cost = median([run[method] for run in runs])
        met = cost.cpu <= seconds and cost.megabytes <= megabytes
        good &= met
        shown = f"{cost.cpu * 1e3:9.0f}{cost.cpu / theirs.cpu:9.2f}{cost.megabytes:9.1f}"
        limits = f"at most {seconds * 1e3:.0f} ms, {megabytes} MB: {'met' if met else 'missed'}"
        print(f"{method:30}{shown}  {limits}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
