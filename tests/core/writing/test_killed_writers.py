"""Writers that are killed at any moment lose nothing, and leave no half change."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "faults" / "killed_writers.py"


@pytest.mark.skipif(sys.platform == "win32", reason="the program forks")
@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_writers_and_an_editor_lose_no_line(kills: int, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), str(kills), "7"],
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    assert {name: found[name] for name in ("lost", "half", "twice", "differ")} == {
        "lost": [],
        "half": [],
        "twice": [],
        "differ": [],
    }
    assert found["changes"] > kills / 4
    assert found["edits"] > 0
