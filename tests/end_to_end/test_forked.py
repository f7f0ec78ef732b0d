"""Children that are forked while their parent uses a memory use it, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "faults" / "forked_child.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize(
    ("moment", "found"), [("sync", "beta"), ("transaction", "beta"), ("asyncio", "alpha")]
)
def test_a_forked_child_syncs_and_searches(moment: str, found: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), moment],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    # The child's line, and that of the parent, which sees what the child has indexed.
    note = f"memory/{found}.md"
    assert (ran.returncode, ran.stdout.split("\n")) == (0, [note, note, ""]), ran.stderr
