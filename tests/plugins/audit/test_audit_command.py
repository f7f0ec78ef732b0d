from __future__ import annotations

import json
import shutil
import subprocess
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


def test_a_workspace_without_notes_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    assert main(["audit", "--workspace", str(tmp_path / "empty")]) == 0
    shown = capsys.readouterr()
    assert shown.out == "nothing found in 0 notes\n"
    assert shown.err.startswith("note: there are no notes: ")


def test_diffs_alone_are_a_patch(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--diff"]) == 0
    assert capsys.readouterr().out == (
        "--- MEMORY.md\n+++ MEMORY.md\n@@ -1,3 +1,3 @@\n # Memory\n \n"
        "-- See [plan](memory/plan.md).\n+- See [plan](memory/plans.md).\n"
    )


def test_the_diffs_of_a_file_are_one_diff(
    notes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    patch = shutil.which("patch")
    if patch is None:
        pytest.skip("patch is not installed")
    (notes / "memory/tools.md").write_text("# Tools\n")
    wrong = "[a](memory/plan.md), [b](memory/tool.md)\n[c](memory/plan.md)\n\n[d](memory/tool.md)"
    (notes / "MEMORY.md").write_text(f"\ufeff# Memory\n\n{wrong}")
    assert main(["audit", "--only", "broken-link", "--diff"]) == 0
    diff = capsys.readouterr().out
    monkeypatch.chdir(notes)
    subprocess.run([patch, "-p0", "--binary"], input=diff.encode(), check=True)
    right = wrong.replace("plan", "plans").replace("tool", "tools")
    assert (notes / "MEMORY.md").read_text() == f"\ufeff# Memory\n\n{right}"


def test_a_diff_that_changes_the_same_text_as_another_is_left_out(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "# A\n\nThe {} of the old house at the lake lies [here](plan.md), as Tom from Bern says.\n"
    )
    for name in ("a", "b"):
        (notes / f"memory/{name}.md").write_text(text.format("key"))
    assert main(["audit", "--only", "duplicate,broken-link", "--diff"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("+++ /dev/null") == 1
    assert shown.out.count("+++ memory/a.md") == 1
    assert "+++ memory/b.md" not in shown.out
    assert "note: 1 diff left out, as another one changes the same text" in shown.err


def test_lines_that_look_like_parts_of_a_diff_are_merged_as_any_others(
    notes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    patch = shutil.which("patch")
    if patch is None:
        pytest.skip("patch is not installed")
    (notes / "memory/tools.md").write_text("# Tools\n")
    lines = ("--- {}", "+++ {}", "@@ -1,9 +1,9 @@ {}", "\\ {}", "", "- {}", "+ {}", " {}")
    wrong = "\n".join(lines).replace("{}", "[a](memory/plan.md), [b](memory/tool.md)")
    (notes / "MEMORY.md").write_text(wrong)
    assert main(["audit", "--only", "broken-link", "--diff"]) == 0
    diff = capsys.readouterr().out
    monkeypatch.chdir(notes)
    subprocess.run([patch, "-p0", "--binary"], input=diff.encode(), check=True)
    right = wrong.replace("plan", "plans").replace("tool", "tools")
    assert (notes / "MEMORY.md").read_text() == right


def test_a_long_diff_is_cut_where_it_is_shown_beside_its_finding(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(f"The {word * 3} of the house is in a room.\n" for word in "abcdefgh" * 8)
    for name in ("memory/a.md", "memory/b.md"):
        (notes / name).write_text(lines)
    assert main(["audit", "--only", "duplicate"]) == 0
    assert "    … 27 more lines: --diff prints all\n" in capsys.readouterr().out
    assert main(["audit", "--only", "duplicate", "--diff"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 67


@pytest.mark.parametrize("arguments", [["--only", "typos"], ["--diff", "--json"]], ids=str)
def test_wrong_arguments_are_explained(
    arguments: list[str], notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", *arguments]) == 2
    output = capsys.readouterr()
    assert "no such kind" in output.err or "exclude each other" in output.out


def test_all_notes_of_the_workspace_are_audited_where_it_is_an_extra_path(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (notes / "kunden").mkdir()
    (notes / "kunden/siebert.md").write_text("# Siebert\n\nSee [[nowhere at all]].\n")
    (notes / "commonplace.json5").write_text('{ memory: { search: { extraPaths: ["."] } } }')
    assert main(["audit", "--only", "broken-link", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["citation"] for one in found["findings"]] == [
        "MEMORY.md#L3",
        "kunden/siebert.md#L3",
    ]
    assert (found["notes"], found["others"]) == (3, 0)


def test_notes_that_are_not_audited_are_counted(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (notes / "docs").mkdir()
    (notes / "docs/guide.md").write_text("# Guide\n\nSee [[nowhere at all]].\n")
    (notes / "commonplace.json5").write_text('{ memory: { search: { extraPaths: ["docs"] } } }')
    assert main(["audit", "--only", "broken-link"]) == 0
    shown = capsys.readouterr()
    assert "1 finding in 2 notes" in shown.out
    assert "note: 1 note of extra paths not audited, as others may have written them" in shown.err
