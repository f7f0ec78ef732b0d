"""Workspaces and notes that are large: indexed whole, in memory that is bounded."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from tests.end_to_end.conftest import Sandbox

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="it does not tell how much was used"),
]

MANY = 50_000
BYTES = 64_000_000
MOST_PER_BYTE = 8  # of a note, while it is indexed: its bytes, its text, its lines, one batch
MOST_MEGABYTES = 250  # for many notes, of which only some are held at once


# A process that is started counts what its parent had at that moment, too: so the parent is small.
MEASURED = """
import resource, subprocess, sys
ran = subprocess.run([sys.executable, "-m", "commonplace", *sys.argv[1:]])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(ran.returncode)
"""


class Used(NamedTuple):
    report: dict[str, int]
    megabytes: float


def index(sandbox: Sandbox) -> Used:
    """``commonplace index`` to its end, and the most memory it had."""
    said, _, most = (
        sandbox.run("index", "--json", program=("-c", MEASURED)).went_well().rpartition("}")
    )
    unit = 1 if sys.platform == "darwin" else 1024
    return Used(json.loads(f"{said}}}"), int(most) * unit / 1e6)


def test_a_note_of_64_megabytes(sandbox: Sandbox) -> None:
    note = sandbox.workspace / "memory/huge.md"
    section = "## Section {0}\n\n" + "A walrus sings of section {0} by the sea. " * 20 + "\n\n"
    with note.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < BYTES:
            file.write("".join(section.format(number + more) for more in range(1_000)))
            number += 1_000
        file.write("## End\n\nThe platypus is last.\n")
    used = index(sandbox)
    assert used.report["added"] == 4
    assert used.megabytes < 100 + MOST_PER_BYTE * BYTES / 1e6
    with Memory.open(workspace=sandbox.workspace, env=sandbox.env) as memory:
        (hit,) = memory.search("platypus").hits
        assert hit.path == "memory/huge.md"
        assert memory.get(hit.citation).text.endswith("The platypus is last.")
        assert f"section {number - 1} " in memory.search(f'"section {number - 1}"').hits[0].snippet
        with note.open("a", encoding="utf-8") as file:
            file.write("An echidna was added.\n")
        late = memory.search("echidna")
        assert (late.hits, late.stale) == ((), 1)  # a search does not wait for so much
        assert memory.search("walrus").hits


def test_fifty_thousand_notes(sandbox: Sandbox) -> None:
    for number in range(MANY):
        folder = sandbox.workspace / f"memory/part{number // 500:03}"
        folder.mkdir(exist_ok=True)
        (folder / f"n{number}.md").write_text(f"# Note {number}\n\nWalrus number{number}x.\n")
    used = index(sandbox)
    assert used.report["added"] == MANY + 3
    assert used.megabytes < MOST_MEGABYTES
    with Memory.open(workspace=sandbox.workspace, env=sandbox.env) as memory:
        report = memory.sync()
        assert (report.changed, report.opened, report.unchanged) == (False, 0, MANY + 3)
        for number in (0, MANY // 2, MANY - 1):
            (hit,) = memory.search(f"number{number}x").hits
            assert hit.path == f"memory/part{number // 500:03}/n{number}.md"
        (sandbox.workspace / "memory/part000").rename(sandbox.workspace / "memory/moved")
        report = memory.sync()
        assert (report.added, report.removed) == (500, 500)
        assert memory.search("number0x").hits[0].path == "memory/moved/n0.md"
        assert memory.status(deep=True).problems == ()
