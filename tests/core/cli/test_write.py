"""``commonplace remember``, ``correct``, ``forget``, ``undo`` and ``journal``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

Run = Any


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Us\n\n- Mia drinks no coffee\n", encoding="utf-8")
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(folder))
    return folder


@pytest.mark.usefixtures("notes")
def test_lines_are_superseded_since_the_day_that_is_named(run: Callable[..., Run]) -> None:
    day = ("--supersede", "--since", "2026-10-31")
    ran = run("correct", "MEMORY.md#L3", *day, "Mia drinks coffee")
    assert "~~ (superseded 2026-10-31 by: Mia drinks coffee)\n" in ran.out
    ran = run("correct", "MEMORY.md#L3", *day[1:], "x")
    assert (ran.code, "--since is for --supersede alone" in ran.err) == (2, True)
    ran = run("correct", "my notes.md#L3", *day[1:], "x")
    assert "commonplace correct 'my notes.md#L3' --supersede" in ran.err
    ran = run("correct", "MEMORY.md#L3", "--supersede", "--since", "soon", "x")
    assert (ran.code, "day such as 2026-01-31, not 'soon'" in ran.err) == (2, True)


def test_the_command_that_reads_a_note_has_its_path_quoted(
    run: Callable[..., Run], notes: Path
) -> None:
    (notes / "memory/my notes.md").write_text("# One line\n", encoding="utf-8")
    ran = run("forget", "memory/my notes.md#L3")
    assert "commonplace get 'memory/my notes.md'" in ran.err


def test_a_person_remembers_corrects_forgets_and_undoes(
    run: Callable[..., Run], notes: Path
) -> None:
    memory = notes / "MEMORY.md"
    original = memory.read_bytes()
    ran = run("remember", "Mia drinks tea", "--entry")
    assert ran.code == 0
    assert ran.out == "MEMORY.md#L4\n+ - Mia drinks tea\n"
    assert "to take it back: commonplace undo " in ran.err
    ran = run("correct", "MEMORY.md#L3", "--supersede", "Mia drinks coffee")
    assert ran.out.startswith("MEMORY.md#L3-L4\n- - Mia drinks no coffee\n+ - ~~Mia drinks no")
    ran = run("correct", "MEMORY.md:5", "Mia drinks mint tea", "--was", "Mia drinks tea")
    assert "+ - Mia drinks mint tea" in ran.out
    ran = run("forget", "MEMORY.md#L5")
    assert ran.out == "MEMORY.md\n- - Mia drinks mint tea\n"
    listed = run("journal").out.splitlines()
    assert [line.split()[4] for line in listed] == ["forget", "correct", "supersede", "remember"]
    for change in run("journal", "--json").json["changes"]:
        assert run("undo", change["id"]).code == 0
    assert memory.read_bytes() == original
    assert run("journal", "memory/x.md").err == "note: no change of memory/x.md is recorded yet\n"


def test_what_is_refused_says_why(run: Callable[..., Run], notes: Path) -> None:
    ran = run("remember", "mia drinks no coffee", "--entry")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("commonplace: memory has this already: MEMORY.md#L3\n  fix: ")
    ran = run("correct", "MEMORY.md#L3", "x", "--was", "Mia likes tea", "--json")
    assert ran.code == 1
    assert ran.json["error"]["type"] == "WriteRefusedError"
    assert "was 'Mia likes tea', now it is '- Mia drinks no coffee'" in ran.json["error"]["message"]
    (notes / "MEMORY.md").chmod(0o444)
    assert "marked as read-only" in run("forget", "MEMORY.md#L3").err


def test_a_text_is_read_from_input(
    run: Callable[..., Run], notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("one\ntwo\n"))
    assert run("remember", "-").out.endswith("+ - one\n+   two\n")
    assert Path(notes, run("journal", "--json").json["changes"][0]["path"]).is_file()


def test_a_closed_input_is_named(
    run: Callable[..., Run], notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    ran = run("remember", "-")
    assert ran.code == 2
    assert "standard input is closed" in ran.err


def test_a_damaged_journal_is_named_by_the_commands(
    run: Callable[..., Run], notes: Path, tmp_path: Path
) -> None:
    run("remember", "one")
    (journal,) = tmp_path.rglob("journals/*.jsonl")
    lines = journal.read_bytes().split(b"\n")
    journal.write_bytes(b"\n".join([lines[0], b"\0" * len(lines[1]), *lines[2:]]))
    damage = f"line 2 of the journal {journal} cannot be read"
    assert damage in run("journal").err
    found = [one["text"] for one in run("doctor", "--json").json["findings"]]
    assert any(text.startswith(damage) for text in found)
    ran = run("undo")
    assert ran.code == 1
    assert "line 2 of the journal cannot be read" in ran.err


@pytest.mark.parametrize("text", ["", "  \n"])
@pytest.mark.usefixtures("notes")
def test_an_empty_text_is_a_usage_error(run: Callable[..., Run], text: str) -> None:
    for command in (("remember",), ("correct", "MEMORY.md#L3")):
        ran = run(*command, text)
        assert ran.code == 2
        assert ran.err.startswith("commonplace: the text is empty\n  fix: give its words, or - ")


def test_input_that_is_no_utf_8_is_named_as_such(
    run: Callable[..., Run], notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    latin = io.TextIOWrapper(io.BytesIO(b"caf\xe9"), "utf-8", errors="surrogateescape")
    monkeypatch.setattr("sys.stdin", latin)
    ran = run("remember", "-")
    assert ran.code == 2
    assert "standard input is no UTF-8" in ran.err
    assert sorted(path.name for path in notes.iterdir()) == ["MEMORY.md", "memory"]


def test_words_without_quotes_are_explained(run: Callable[..., Run], notes: Path) -> None:
    for line in (("remember", "buy", "milk"), ("correct", "MEMORY.md#L3", "buy", "milk")):
        assert "fix: put the text in quotes" in run(*line).err


@pytest.mark.parametrize("lines", ["#4", "#3-9", ":L3", ":4-"])
def test_a_hint_does_not_repeat_a_mistaken_citation(
    run: Callable[..., Run], notes: Path, lines: str
) -> None:
    ran = run("forget", f"MEMORY.md{lines}")
    assert f"MEMORY.md{lines} names no lines" in ran.err
    assert "as search results do: MEMORY.md#L3, or MEMORY.md#L3-L9" in ran.err
