"""What a journal tells: read once, extended by what is appended, and quickly even if it is long."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import commonplace.writing.journal as journal_module
from commonplace.errors import WriteRefusedError
from commonplace.model.receipts import Lines, Receipt
from commonplace.writing import undoing
from commonplace.writing.journal import History, Journal, JournalEntry
from commonplace.writing.undoing import find_receipt, undone_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from commonplace import Memory

NONE = Lines(start=1, end=0, text="")


def entry(id_: str, undoes: str = "") -> JournalEntry:
    receipt = Receipt(
        id=id_,
        action="undo" if undoes else "change",
        path="MEMORY.md",
        before=NONE,
        after=Lines(start=1, end=1, text=f"{id_}\n"),
        origin="owner",
        who="test",
        when=0.0,
        why="",
        undoes=undoes,
    )
    return JournalEntry(receipt, "", "")


def chain(length: int) -> Iterator[JournalEntry]:
    """A change, and undos of it, of its undo, and so on."""
    yield entry("0")
    for number in range(1, length):
        yield entry(str(number), undoes=str(number - 1))


@pytest.mark.parametrize("undos", [2_000, 2_001])
def test_a_long_chain_of_undos_is_followed(undos: int) -> None:
    entries = History(chain(undos + 1), {"0": 2})
    is_undone = undos % 2 == 1
    assert ("0" in entries.undone) == is_undone
    assert str(undos) not in entries.undone
    if is_undone:
        with pytest.raises(WriteRefusedError, match="no change to undo"):
            find_receipt(entries, "last")
        with pytest.raises(WriteRefusedError, match="undone already"):
            undone_note(entries, entries[0], b"0\n")
    else:
        assert find_receipt(entries, "last").receipt.id == "0"


def test_the_folders_of_a_long_history_are_counted_in_one_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[str] = []
    above = undoing._folders_above

    def counted(path: str) -> list[str]:
        looked_at.append(path)
        return above(path)

    monkeypatch.setattr(undoing, "_folders_above", counted)
    made = [placed(f"memory/a/{number}.md", "x", folders=2 * (not number)) for number in range(50)]
    gone = [placed(f"memory/a/{number}.md", "", undoes="x") for number in range(50)]
    assert undoing.made_folders([*made, *gone[:-1]], "memory/a/49.md") == 2
    assert undoing.made_folders([*made, *gone], "memory/a/49.md") == 0
    assert len(looked_at) == 99 + 1 + 100 + 1


def placed(path: str, becomes: str, *, undoes: str = "", folders: int = 0) -> JournalEntry:
    receipt = entry(path, undoes).receipt.replace(path=path)
    return JournalEntry(receipt, "", becomes, folders=folders)


@given(st.data())
def test_what_is_undone_is_what_following_each_undo_says(data: st.DataObject) -> None:
    entries = [entry("0")]
    for number in range(1, data.draw(st.integers(1, 12))):
        earlier = data.draw(st.one_of(st.just(""), st.sampled_from(entries).map(id_of)))
        entries.append(entry(str(number), undoes=earlier))

    def followed(id_: str) -> bool:
        return any(one.receipt.undoes == id_ and not followed(id_of(one)) for one in entries)

    assert History(entries).undone == {id_ for id_ in map(id_of, entries) if followed(id_)}


def id_of(one: JournalEntry) -> str:
    return one.receipt.id


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The lines that were parsed."""
    lines: list[bytes] = []
    parse = journal_module._parsed

    def counted(line: bytes) -> Any:
        lines.append(line)
        return parse(line)

    monkeypatch.setattr(journal_module, "_parsed", counted)
    return lines


def add(journal: Journal, ids: Sequence[str]) -> None:
    for id_ in ids:
        journal.intend(entry(id_))
        journal.done(id_)


def test_a_line_is_parsed_once(tmp_path: Path, parsed: list[bytes]) -> None:
    path = str(tmp_path / "j.jsonl")
    journal, other = Journal(path, "/notes"), Journal(path, "/notes")
    assert journal.entries() == []
    add(journal, "abc")
    first = journal.entries()
    assert [*map(id_of, first)] == ["a", "b", "c"]
    assert len(parsed) == 7, "with the head"
    assert journal.entries() is first
    add(other, "de")  # as another process does
    assert [*map(id_of, journal.entries())] == ["a", "b", "c", "d", "e"]
    assert len(parsed) == 11
    assert [*map(id_of, first)] == ["a", "b", "c"], "a history stays what it was"


def test_a_change_that_is_marked_later_is_known_then(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "j.jsonl"), "/notes")
    add(journal, "a")
    journal.intend(entry("b"))
    assert [*map(id_of, journal.entries())] == ["a"]
    journal.done("b")
    assert [*map(id_of, journal.entries())] == ["a", "b"]


EDITS: dict[str, Callable[[str, bytes], bytes]] = {
    "gone": lambda _, __: b"",
    "cut short": lambda _, raw: raw[:-5],
    "same length": lambda _, raw: raw.replace(b"owner", b"agent"),
    "damaged": lambda _, raw: raw.replace(b'{"id', b'{"xx', 1),
    "longer before": lambda _, raw: raw.replace(b'"test"', b'"tester"') + b'{"done":"x"}\n',
}


@pytest.mark.parametrize("how", EDITS)
@pytest.mark.parametrize("in_place", [True, False])
def test_a_journal_that_was_changed_is_read_again(tmp_path: Path, how: str, in_place: bool) -> None:
    path = tmp_path / "j.jsonl"
    journal = Journal(str(path), "/notes")
    add(journal, "abc")
    os.utime(path, (1e9, 1e9))
    journal.entries()
    raw = EDITS[how](how, path.read_bytes())
    if in_place:
        path.write_bytes(raw)
    else:
        (tmp_path / "new").write_bytes(raw)
        os.replace(tmp_path / "new", path)
    assert_as_read_afresh(journal)


def assert_as_read_afresh(journal: Journal) -> None:
    found, fresh = journal.entries(), Journal(journal.path, "/notes").entries()
    assert found == fresh
    assert (found.lines, found.damaged, found.undone) == (fresh.lines, fresh.damaged, fresh.undone)


def test_a_journal_that_is_deleted_is_empty(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "j.jsonl"), "/notes")
    add(journal, "a")
    journal.entries()
    os.unlink(journal.path)
    assert journal.entries() == []
    add(journal, "bc")
    assert_as_read_afresh(journal)


def test_a_failure_half_way_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(str(tmp_path / "j.jsonl"), "/notes")
    add(journal, "ab")
    journal.entries()
    add(journal, "cd")
    parse = journal_module._parsed

    def fail(line: bytes) -> Any:
        if b'"d"' in line:
            raise OSError(5, "Input/output error")
        return parse(line)

    with monkeypatch.context() as broken:
        broken.setattr(journal_module, "_parsed", fail)
        with pytest.raises(OSError, match="Input/output"):
            journal.entries()
    assert_as_read_afresh(journal)


MARKS = (
    *(b'{"done":"a"}\n', b'{"done":"b"}\n', b'{"void":"a"}\n'),
    *(b"no record\n", b"\n", b"half", b" (cut short)\n"),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    appended=st.lists(
        st.sampled_from(MARKS)
        | st.sampled_from("abc").map(
            lambda id_: (
                json.dumps(
                    {
                        **entry(id_).receipt.__dict__,
                        "before": NONE.__dict__,
                        "after": NONE.__dict__,
                        "was": "",
                        "becomes": "",
                        "around": ["", ""],
                    }
                ).encode()
                + b"\n"
            )
        ),
        max_size=12,
    )
)
def test_what_is_read_step_by_step_is_what_is_read_at_once(
    tmp_path: Path, appended: list[bytes]
) -> None:
    path = tmp_path / "j.jsonl"
    path.unlink(missing_ok=True)
    journal = Journal(str(path), "/notes")
    for part in appended:
        with open(path, "ab") as file:
            file.write(part)
        assert_as_read_afresh(journal)


def test_writers_share_what_they_read(memory: Memory, workspace: Path, parsed: list[bytes]) -> None:
    (workspace / "MEMORY.md").write_text("The ferry leaves at noon.\n")
    for number in range(20):
        memory.writer(who="test").remember(f"The quay has {number} lamps.")
    memory.writer(who="test").origin_of("MEMORY.md#L1")
    parsed.clear()
    for _ in range(3):
        assert memory.writer(who="test").origin_of("MEMORY.md#L1") == "owner"
    assert parsed == []
