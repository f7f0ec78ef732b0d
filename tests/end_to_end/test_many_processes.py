"""Eight readers and two writers at once: none fails, and what is written is found.

``SOAK_SECONDS`` is how long they go on, if not a few seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Sandbox
    from tests.faults.index_rows import IndexRows

    from commonplace.model.reports import Progress, SyncReport

# These wait for processes, disks and watchers: over a minute in all, for CI.
pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("SOAK_SECONDS", "4"))
READERS, WRITERS = 8, 2


def start(crowd: str, sandbox: Sandbox, role: str, number: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, crowd, role, str(number), str(SECONDS), str(sandbox.workspace)],
        env=sandbox.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def test_readers_and_writers_never_fail(
    sandbox: Sandbox,
    load: Callable[[str], Any],
    index_rows: Callable[[Path], IndexRows],
    record_property: Callable[[str, object], None],
) -> None:
    crowd = load("faults/crowd.py")
    sandbox.write("MEMORY.md", f"# Team\n\n{' '.join(crowd.WORDS)}\n")
    sandbox.run("index").went_well()
    roles = ["reader"] * READERS + ["writer"] * WRITERS
    running = [start(crowd.__file__, sandbox, role, n) for n, role in enumerate(roles)]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    ends = [process.communicate("\n") for process in together(running)]
    assert [(process.returncode, err) for process, (_, err) in zip(running, ends, strict=True)] == [
        (0, "")
    ] * len(running)
    done = [json.loads(out) for out, _ in ends]
    searches = sorted(seconds for one in done for seconds in one["seconds"])
    acknowledged = [one["acknowledged"] for one in done[READERS:]]
    errors = [error for one in done for error in one["errors"]]
    record_property("searches", len(searches))
    record_property("acknowledged", sum(acknowledged))
    record_property("errors", len(errors))
    for share in (0.5, 0.99):
        record_property(f"p{share * 100:.0f}_ms", searches[int(len(searches) * share)] * 1e3)
    assert errors == []
    assert min(acknowledged) > 0
    sandbox.run("index").went_well()
    scratch = sandbox.root / "scratch"
    sandbox.run("index", COMMONPLACE_STATE_DIR=str(scratch)).went_well()
    (rebuilt,) = (scratch / "memory").glob("*.sqlite")
    unlike = index_rows(sandbox.index).unlike(index_rows(rebuilt))
    assert not unlike, unlike


def together(running: list[subprocess.Popen[str]]) -> list[subprocess.Popen[str]]:
    """Let all go at once."""
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return running


@pytest.mark.parametrize("force", [False, True])
def test_what_another_has_indexed_since_the_scan_stays(sandbox: Sandbox, force: bool) -> None:
    note = sandbox.workspace / "memory/2026-10-03.md"
    text = note.read_text(encoding="utf-8")
    places = partial(Memory.open, workspace=sandbox.workspace, env=sandbox.env)
    with places() as one, places() as other:
        one.sync()
        note.unlink()
        done: list[SyncReport] = []

        def meanwhile(progress: Progress) -> None:
            if progress.label == "Looking for notes" and not done:
                sandbox.write("memory/2026-10-03.md", text.replace("Mia", "Noa"))
                sandbox.write("memory/new.md", "A platypus.\n")
                done.append(other.sync())

        one.sync(force=force, progress=meanwhile)
        assert (done[0].added, done[0].updated) == (1, 1)
        after = other.sync()
        assert (after.added, after.updated, after.unchanged) == (0, 0, 4)
