"""Notes of other encodings are written in these, compared as they read, and keep their bytes."""

from __future__ import annotations

import codecs
import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import WriteRefusedError
from commonplace.files.reading import decode
from commonplace.writing.journal import Journal
from commonplace.writing.notefile import read_note

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace import Memory, Receipt, Writer

LOG = "memory/2026-11-22.md"
TEXT = "# Log\n\n- Frühstück mit Jörg um 9\n- Käse kaufen\n"
ENCODINGS = ("latin-1", "cp1252", "utf-8", "utf-8-sig", "utf-16", "utf-32")
CAFE = "# Café\n- Zoë likes the coffee"
MIXED = "- Frühstück mit Jörg\n".encode() + "- Käse für Zürich 1\n".encode("latin-1")


@pytest.fixture
def note(workspace: Path) -> Path:
    (workspace / "memory").mkdir()
    return workspace / LOG


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_is_written_has_the_encoding_of_the_note(
    encoding: str, writer: Writer, note: Path
) -> None:
    original = TEXT.encode(encoding)
    note.write_bytes(original)
    receipts = [
        writer.remember("Müller ruft an"),
        writer.correct(f"{LOG}#L3", "Frühstück um 10", was="Frühstück mit Jörg um 9"),
        writer.supersede(f"{LOG}#L4", "Brötchen für 3 £", was="- Käse kaufen"),
    ]
    assert note.read_bytes().decode(encoding) == (
        "# Log\n\n- Frühstück um 10\n"
        "- ~~Käse kaufen~~ (superseded 2026-11-22 by: Brötchen für 3 £)\n- Brötchen für 3 £\n"
        "- Müller ruft an\n"
    )
    assert [receipt.before.text for receipt in receipts] == [
        *("", "- Frühstück mit Jörg um 9\n", "- Käse kaufen\n"),
    ]
    assert list(writer.journal()) == receipts[::-1]
    json.dumps(repr(receipts), ensure_ascii=False).encode()
    for receipt in receipts[::-1]:
        writer.undo(receipt)
    assert note.read_bytes() == original


def test_what_a_western_note_cannot_hold_is_refused_with_a_way_to_convert_it(
    writer: Writer, workspace: Path
) -> None:
    original = TEXT.encode("latin-1")
    path = "memory/Jörg's day.md"
    note = workspace / path
    note.parent.mkdir()
    note.write_bytes(original)
    note.chmod(0o600)
    rights = note.stat().st_mode
    changes: tuple[Callable[[str], Receipt], ...] = (
        lambda text: writer.correct(f"{path}#L3", text),
        lambda text: writer.supersede(f"{path}#L3", text),
    )
    for change in changes:
        with pytest.raises(WriteRefusedError, match=r"which has no '→' \(U\+2192\)") as refused:
            change("Jörg → Büro")
        assert refused.value.kind == "encoding"
        with pytest.raises(WriteRefusedError, match="would be taken for another encoding"):
            change("Bäääh")  # as letters of another alphabet, for those who guess
    assert note.read_bytes() == original
    assert list(writer.journal()) == []
    said, _, command = refused.value.hint.partition(": ")
    assert said.endswith("in the workspace")
    if shutil.which("iconv") and shutil.which("cat"):
        subprocess.run(command, shell=True, check=True, cwd=workspace)
        assert note.read_bytes() == TEXT.encode()
        assert note.stat().st_mode == rights
        assert [*note.parent.iterdir()] == [note]
        assert writer.correct(f"{path}#L3", "Jörg → Büro").id


def test_what_a_western_log_cannot_hold_is_not_remembered(writer: Writer, note: Path) -> None:
    note.write_bytes(TEXT.encode("latin-1"))
    with pytest.raises(WriteRefusedError, match=r"which has no '→' \(U\+2192\)"):
        writer.remember("Jörg → Büro")
    with pytest.raises(WriteRefusedError, match="would be taken for another encoding"):
        writer.remember("Bäääh")
    assert note.read_bytes() == TEXT.encode("latin-1")


def test_a_mark_at_the_start_of_a_text_is_named(writer: Writer, note: Path) -> None:
    note.write_bytes(b"one\n")
    with pytest.raises(WriteRefusedError, match=r"would begin with U\+FEFF") as refused:
        writer.correct(f"{LOG}#L1", "\ufefftwo")
    assert "UTF-8" not in f"{refused.value} {refused.value.hint}"
    assert note.read_bytes() == b"one\n"


def test_a_note_of_two_encodings_is_not_said_to_be_in_one(writer: Writer, note: Path) -> None:
    data = "- Café mit Zoë\n- До завтра\n".encode() + b"- M\xfcller kommt\n"
    note.write_bytes(data)
    with pytest.raises(WriteRefusedError, match=r"is in UTF-8 and in another encoding") as refused:
        writer.correct(f"{LOG}#L2", "See you tomorrow")
    assert refused.value.hint == "save it as UTF-8 in an editor first"
    assert note.read_bytes() == data


def test_a_decomposed_letter_is_written_as_the_one_that_the_encoding_has(
    writer: Writer, note: Path
) -> None:
    note.write_bytes(TEXT.encode("latin-1"))
    writer.remember(normalize("NFD", "Müller ruft an"))
    assert note.read_bytes() == (TEXT + "- Müller ruft an\n").encode("latin-1")


@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_lines_are_found_however_their_letters_are_composed(
    forms: tuple[Literal["NFC", "NFD"], ...], writer: Writer, note: Path
) -> None:
    data = normalize(forms[0], TEXT).encode()
    note.write_bytes(data)
    with pytest.raises(WriteRefusedError, match=f"already: {LOG}#L4"):
        writer.remember(normalize(forms[1], "Käse kaufen"))
    writer.correct(f"{LOG}#L1", "Tee", was=normalize(forms[1], "Frühstück mit Jörg um 9"))
    kept = data.split(b"\n")
    kept[2] = b"- Tee"
    assert note.read_bytes() == b"\n".join(kept)


@pytest.mark.parametrize("data", [TEXT.encode("latin-1"), MIXED + "- Käse kaufen\n".encode()])
def test_a_text_that_is_there_in_other_bytes_is_refused(
    data: bytes, writer: Writer, note: Path
) -> None:
    note.write_bytes(data)
    with pytest.raises(WriteRefusedError, match=f"already: {LOG}#L"):
        writer.remember("käse kaufen")
    with pytest.raises(WriteRefusedError, match=f"already: {LOG}#L"):
        writer.remember("käse kaufen", kind="entry")


def test_a_note_of_two_encodings_keeps_both_and_is_shown_as_it_is_read(
    memory: Memory, writer: Writer, note: Path
) -> None:
    note.write_bytes(MIXED)
    (like,) = writer.remember("Käse für Zürich 2").notes
    assert like == f"much like {LOG}#L2: - Käse für Zürich 1"
    assert note.read_bytes() == MIXED + "- Käse für Zürich 2\n".encode()
    with pytest.raises(WriteRefusedError, match="now it is '- Käse für Zürich 1'"):
        writer.forget(f"{LOG}#L2", was="Käse für Basel")
    seen = memory.get(f"{LOG}#L2").text
    receipt = writer.correct(f"{LOG}#L1", "Käse für Genf", was=seen)
    assert (seen, receipt.before.text) == ("- Käse für Zürich 1", "- Käse für Zürich 1\n")
    assert writer.journal()[0] == receipt
    json.dumps(repr(writer.journal()), ensure_ascii=False).encode()
    writer.undo(receipt)
    writer.undo("last")
    assert note.read_bytes() == MIXED


def test_a_note_that_cannot_be_read_is_not_written(writer: Writer, note: Path) -> None:
    data = "Завтра в девять\n".encode("koi8-r")
    note.write_bytes(data)
    for text in ("Müller ruft an", "plain"):
        with pytest.raises(WriteRefusedError, match="neither UTF-8 nor UTF-16") as refused:
            writer.remember(text)
        assert refused.value.kind == "not_text"
    receipt = writer.change(LOG, lambda _: None, why="rid of it")
    writer.undo(receipt)
    assert note.read_bytes() == data
    writer.change(LOG, lambda old: (old or b"").decode("koi8-r").encode(), why="converted")
    assert note.read_text(encoding="utf-8") == "Завтра в девять\n"


@pytest.mark.parametrize("text", ["Müller", "Straße"])
def test_a_change_of_bytes_cannot_add_another_encoding(
    text: str, writer: Writer, note: Path
) -> None:
    for ours, theirs in (("latin-1", "utf-8"), ("utf-8", "latin-1")):
        note.write_bytes(TEXT.encode(ours))
        added = f"- {text}\n".encode(theirs)
        with pytest.raises(WriteRefusedError, match="the change would add") as refused:
            writer.change(LOG, lambda old, more=added: (old or b"") + more, why="")  # type: ignore[misc]
        assert refused.value.kind == "encoding"
        assert note.read_bytes() == TEXT.encode(ours)
    note.write_bytes(TEXT.encode("latin-1"))
    writer.change(LOG, lambda old: (old or b"").decode("latin-1").encode(), why="converted")
    assert note.read_bytes() == TEXT.encode()
    writer.undo("last")
    assert note.read_bytes() == TEXT.encode("latin-1")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{CAFE}\n".encode(), f"{CAFE}\n".encode() + b"- M\xfcller came by\n"),
        (CAFE.encode(), CAFE.encode() + b"\r\n- M\xfcller came by\n"),
        # The line in another alphabet keeps the note from being taken for Windows-1252.
        (
            f"{CAFE}\n- До завтра\n".encode() + b"- M\xfcller came by\n",
            f"{CAFE}\n".encode() + b"- M\xfcller came by\n",
        ),
    ],
)
def test_a_change_of_bytes_cannot_have_other_lines_read_in_another_encoding(
    before: bytes, after: bytes, writer: Writer, note: Path
) -> None:
    assert decode(before).startswith(CAFE)
    assert not decode(after).startswith(CAFE)
    note.write_bytes(before)
    with pytest.raises(WriteRefusedError, match="in another encoding") as refused:
        writer.change(LOG, lambda _: after, why="")
    assert refused.value.kind == "encoding"
    assert note.read_bytes() == before


def test_lines_that_read_as_before_may_be_left_alone_in_a_note_of_two_encodings(
    writer: Writer, note: Path
) -> None:
    first, second = MIXED.splitlines(keepends=True)
    for kept in (first, second):
        note.write_bytes(MIXED)
        writer.change(LOG, lambda _, kept=kept: kept, why="")  # type: ignore[misc]
        assert decode(note.read_bytes()) in decode(MIXED)


def test_utf_8_is_found_beside_a_new_line_of_the_encoding_of_the_note(
    writer: Writer, note: Path
) -> None:
    original = (TEXT + "- und Brot\n" * 9).encode("latin-1")
    note.write_bytes(original)
    added = "- Café\n".encode() + "- Müller\n".encode("latin-1")
    with pytest.raises(WriteRefusedError, match="the change would add UTF-8"):
        writer.change(LOG, lambda old: (old or b"") + added, why="")
    assert note.read_bytes() == original


def test_the_last_letter_beyond_ascii_can_go_and_return(writer: Writer, note: Path) -> None:
    note.write_bytes("- Käse\n- one\n".encode("latin-1"))
    corrected = writer.correct(f"{LOG}#L1", "cheese")
    writer.undo(corrected)
    assert note.read_bytes() == "- Käse\n- one\n".encode("latin-1")
    forgotten = writer.forget(f"{LOG}#L1")
    note.write_bytes(b"- one\n- two\n")
    writer.undo(forgotten)
    assert note.read_bytes() == "- Käse\n- one\n- two\n".encode()
    writer.change(LOG, lambda _: "- Käse\n".encode("cp1252"), why="")
    deleted = writer.change(LOG, lambda _: None, why="")
    writer.undo(deleted)
    assert note.read_bytes() == "- Käse\n".encode("cp1252")


def test_a_change_is_undone_in_a_note_that_was_converted_since(writer: Writer, note: Path) -> None:
    note.write_bytes(TEXT.encode("latin-1"))
    corrected = writer.correct(f"{LOG}#L3", "Frühstück um 10")
    note.write_bytes(note.read_bytes().decode("latin-1").encode())
    writer.undo(corrected)
    assert note.read_bytes() == TEXT.encode()
    corrected = writer.correct(f"{LOG}#L3", "Frühstück um 11")
    note.write_bytes(normalize("NFD", note.read_text(encoding="utf-8")).encode())
    writer.undo(corrected)
    assert "- Frühstück mit Jörg um 9\n" in note.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["Bäääh", "Büro → Jörg"])
def test_an_undo_is_refused_for_what_a_note_that_was_converted_since_cannot_hold(
    text: str, writer: Writer, note: Path
) -> None:
    note.write_bytes(f"- Käse\n- {text}\n".encode())
    forgotten = writer.forget(f"{LOG}#L2")
    note.write_bytes("- Käse\n".encode("latin-1"))
    with pytest.raises(WriteRefusedError, match="is in Windows-1252") as refused:
        writer.undo(forgotten)
    assert (refused.value.kind, "iconv" in refused.value.hint) == ("encoding", True)
    assert note.read_bytes() == "- Käse\n".encode("latin-1")


def test_an_undo_cannot_have_other_lines_read_in_another_encoding(
    writer: Writer, note: Path
) -> None:
    note.write_bytes(f"{CAFE}\n- tomorrow\n- at nine\n".encode())
    corrected = writer.correct(f"{LOG}#L3", "До завтра")
    now = note.read_bytes() + b"- M\xfcller came by\n"
    note.write_bytes(now)
    with pytest.raises(WriteRefusedError, match="taken for another encoding") as refused:
        writer.undo(corrected)
    assert refused.value.kind == "encoding"
    assert note.read_bytes() == now


def test_a_change_that_was_recorded_with_stray_bytes_is_undone(
    writer: Writer, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note.write_bytes(TEXT.encode("latin-1"))
    intend = Journal.intend

    def stray(self: Journal, entry: Any) -> None:
        before = entry.receipt.before
        text = before.text.encode("latin-1").decode("utf-8", "surrogateescape")
        changed = entry.receipt.replace(before=before.replace(text=text))
        intend(self, entry._replace(receipt=changed))

    monkeypatch.setattr(Journal, "intend", stray)
    receipt = writer.correct(f"{LOG}#L4", "cheese")
    assert writer.journal()[0].before.text == "- Käse kaufen\n"
    writer.undo(receipt)
    assert note.read_bytes() == TEXT.encode("latin-1")


def test_the_word_of_others_is_known_in_other_bytes(
    open_memory: Callable[..., Memory], note: Path
) -> None:
    memory = open_memory(write={"enabled": True})
    receipt = memory.writer(origin="session", who="flush").remember("Käse für Jörg")
    note.write_bytes(note.read_bytes().decode().encode("latin-1"))
    assert memory.writer(who="test").origin_of(receipt.citation) == "session"
    note.write_bytes(normalize("NFD", note.read_bytes().decode("latin-1")).encode())
    assert memory.writer(who="test").origin_of(receipt.citation) == "session"


@given(
    st.binary(max_size=40) | st.text(max_size=20).map(lambda text: text.encode("cp1252", "ignore"))
)
def test_any_bytes_are_restored_and_what_is_written_is_read(data: bytes) -> None:
    try:
        note = read_note(data, "a.md")
    except WriteRefusedError:
        return  # UTF-16 that is none, or NUL
    assert note.restored() == data or not data
    try:
        written = note.data()
    except WriteRefusedError:
        return
    assert written == note.restored()
    assert decode(written) == decode(data)


def test_the_marks_of_wide_encodings_stay(writer: Writer, note: Path) -> None:
    for mark, encoding in ((codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le")):
        note.write_bytes(mark + TEXT.encode(encoding))
        writer.correct(f"{LOG}#L4", "🧀 kaufen", was="Käse kaufen")
        expected = TEXT.replace("Käse", "🧀").encode(encoding)
        assert note.read_bytes() == mark + expected
