from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commonplace.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n\n- See [plan](memory/plan.md).\n")
    (folder / "memory/plans.md").write_text("# Plans\n")
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(folder))
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    return folder


def test_findings_are_shown_with_their_diff_and_nothing_is_written(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (notes / "MEMORY.md").read_bytes()
    assert main(["audit"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("warning broken-link MEMORY.md#L3\n")
    assert "    +- See [plan](memory/plans.md)." in out
    assert out.endswith("1 finding in 2 notes: 1 broken-link. Nothing was changed.\n")
    assert (notes / "MEMORY.md").read_bytes() == before


def test_check_is_for_scripts(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--check", "--json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["citation"] == "MEMORY.md#L3"
    assert main(["audit", "--check", "--only", "stale, secret"]) == 0
    (notes / "memory/plan.md").write_text("# Plan of the garden\n")
    assert main(["audit", "--check"]) == 0
    assert capsys.readouterr().out.endswith("nothing found in 3 notes\n")


def test_diffs_alone_are_a_patch(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--diff"]) == 0
    assert capsys.readouterr().out == (
        "--- MEMORY.md\n+++ MEMORY.md\n@@ -1,3 +1,3 @@\n # Memory\n \n"
        "-- See [plan](memory/plan.md).\n+- See [plan](memory/plans.md).\n"
    )


@pytest.mark.parametrize("arguments", [["--only", "typos"], ["--diff", "--json"]], ids=str)
def test_wrong_arguments_are_explained(
    arguments: list[str], notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", *arguments]) == 2
    output = capsys.readouterr()
    assert "no such kind" in output.err or "exclude each other" in output.out
