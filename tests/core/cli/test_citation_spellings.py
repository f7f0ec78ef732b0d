"""Citations are shown in one spelling, and each command that takes one reads the other as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
