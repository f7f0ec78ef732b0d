"""The same search of the same index gives the same scores, to the last digit, in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from pathlib import Path

ASK = """
import sys
from commonplace import Memory
with Memory.open(workspace=sys.argv[1]) as memory:
    print([(hit.citation, hit.score) for hit in memory.search(sys.argv[2]).hits])
"""
NOTES = {
    "2026-10-05.md": "客户会议讨论了新的预算方案和供应商合同。\n",
    "2026-10-07.md": "与供应商讨论合同条款,预算没有变化。\n",
    "2026-09-02.md": "会议室的预算方案已经批准,客户满意。\n",
    "2026-08-11.md": "新的供应商合同草案,讨论推迟。\n",
}


@pytest.mark.slow
def test_scores_do_not_depend_on_the_order_of_sets(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "memory" / name).write_text(text, encoding="utf-8")
    env = {
        **os.environ,
        "HOME": str(tmp_path),
        "COMMONPLACE_STATE_DIR": str(tmp_path / "state"),
        "PYTHONIOENCODING": "utf-8",
    }
    with Memory.open(workspace=tmp_path, env=env) as memory:
        memory.sync()
    question = "10月5日的客户会议讨论了新的预算方案和供应商合同的哪些条款"
    found = {
        subprocess.run(
            [sys.executable, "-c", ASK, str(tmp_path), question],
            env={**env, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(1, 5)
    }
    assert len(found) == 1
    assert b"2026-10-05" in found.pop()
