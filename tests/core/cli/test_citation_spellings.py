"""Citations are shown in one spelling, and each command that takes one reads the other as well."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory
from commonplace.tools.toolset import MemoryTools

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.core.cli.conftest import Ran

LINES = ["# Team", "", "- Mia drinks coffee", "- Wei drinks tea"]
SPELLINGS = [
    ("MEMORY.md#L3", 1),
    ("MEMORY.md:3", 1),
    ("MEMORY:3", 1),
    ("MEMORY.md#L3-L4", 2),
    ("MEMORY.md#L3-4", 2),
    ("MEMORY.md:3-4", 2),
]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("\n".join(LINES) + "\n", "utf-8")
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(folder))
    return folder


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize("form", ["plain", "md"])
def test_a_hit_is_shown_with_the_citation_of_its_json(run: Callable[..., Ran], form: str) -> None:
    (hit,) = run("search", "Mia coffee", "--json").json["results"]
    assert hit["citation"] == "MEMORY.md#L1-L4"
    shown = run("search", "Mia coffee", "--format", form).out
    assert hit["citation"] in shown
    assert "MEMORY.md:" not in shown


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize(("citation", "count"), SPELLINGS)
def test_get_reads_both_spellings(run: Callable[..., Ran], citation: str, count: int) -> None:
    assert run("get", citation).out.splitlines() == LINES[2 : 2 + count]


@pytest.mark.parametrize(("citation", "count"), SPELLINGS)
def test_correct_and_forget_read_both_spellings(
    run: Callable[..., Ran], notes: Path, citation: str, count: int
) -> None:
    memory = notes / "MEMORY.md"
    assert run("correct", citation, "Mia drinks water").code == 0
    corrected = [*LINES[:2], "- Mia drinks water", *LINES[2 + count :]]
    assert memory.read_text("utf-8").splitlines() == corrected
    assert run("undo").code == 0
    assert run("forget", citation).code == 0
    assert memory.read_text("utf-8").splitlines() == [*LINES[:2], *LINES[2 + count :]]


@pytest.mark.usefixtures("notes")
def test_the_journal_of_a_citation_is_that_of_its_note(run: Callable[..., Ran]) -> None:
    assert run("correct", "MEMORY.md#L3", "Mia drinks water").code == 0
    for citation, _ in SPELLINGS:
        assert "correct" in run("journal", citation).out


@pytest.mark.parametrize(
    "citation", [" lead.md", " lead", " lead.md#L1-L2", " lead:1-2", " lead.md "]
)
def test_a_name_can_begin_with_a_blank(run: Callable[..., Ran], notes: Path, citation: str) -> None:
    (notes / "memory").mkdir()
    for name in ("", "memory/"):
        (notes / name / " lead.md").write_text("# Lead\nGarlic.\n", "utf-8")
        (notes / name / "lead.md").write_text("# Another\n", "utf-8")
    with Memory.open(workspace=notes) as memory:
        for path in (f"memory/{citation}", str(notes / "memory" / citation)):
            assert run("get", path).out.splitlines() == ["# Lead", "Garlic."]
            answer = MemoryTools(memory).call("memory_get", {"path": path})
            assert "Garlic." in answer.text
    shutil.rmtree(notes / "memory")
    (notes / "MEMORY.md").unlink()  # a plain folder, whose notes are all its files
    assert run("get", citation).out.splitlines() == ["# Lead", "Garlic."]
    assert run("correct", " lead:2", "Onions.").code == 0
    assert (notes / " lead.md").read_text("utf-8") == "# Lead\nOnions.\n"


@pytest.mark.usefixtures("notes")
def test_blanks_before_a_path_are_no_part_of_it_where_no_name_has_them(
    run: Callable[..., Ran],
) -> None:
    assert run("get", " MEMORY.md:3 ").out.splitlines() == LINES[2:3]
    assert "there is no note memory/nope.md" in run("get", "  memory/nope.md").err
    refused = run("correct", "  memory/nope:2", "Mia drinks water")
    assert "there is no note memory/nope.md" in refused.err
