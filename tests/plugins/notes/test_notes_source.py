from __future__ import annotations

import errno
import hashlib
import os
import sys
from datetime import date
from typing import TYPE_CHECKING

import pytest

from commonplace.files import reading
from commonplace.files.roots import SUFFIXES, ExtraRoot
from commonplace.model.documents import WatchedPath
from commonplace_notes.source import NotesSource

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace.model.documents import Document, DocumentRef
    from commonplace.plugin import Source


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for path in ("ws/memory/2026/2026-01-31-x.md", "ws/MEMORY.md", "ws/docs/c.md", "beside/d.md"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(f"\ufeff# {path}\r\n".encode())
    return tmp_path / "ws"


def refs(source: Source) -> dict[str, DocumentRef]:
    return {ref.path: ref for ref in source.scan().documents}


def read(source: Source, path: str) -> Document:
    document = source.read(refs(source)[path])
    assert document is not None
    return document


def test_a_note_as_a_document(workspace: Path) -> None:
    source = NotesSource(str(workspace))
    document = read(source, "memory/2026/2026-01-31-x.md")
    assert document.text == "# ws/memory/2026/2026-01-31-x.md\r\n"
    raw = (workspace / "memory/2026/2026-01-31-x.md").read_bytes()
    assert document.digest == hashlib.sha256(raw).hexdigest()
    assert document.day == date(2026, 1, 31)
    assert document.trust == "memory"
    assert document.line_map is None
    assert document.ref == refs(source)["memory/2026/2026-01-31-x.md"]


def test_every_root_is_watched_and_what_a_link_leads_to_is_not_followed_down(
    workspace: Path,
) -> None:
    source = NotesSource(str(workspace), ["docs", "linked", ExtraRoot("../beside", "*.md")])
    (workspace / "linked").symlink_to(workspace.parent / "beside")
    assert source.watched() == (
        WatchedPath(str(workspace / "MEMORY.md"), recursive=False, suffix=".md"),
        WatchedPath(str(workspace / "memory.md"), recursive=False, suffix=".md"),
        WatchedPath(str(workspace / "memory"), suffix=".md"),
        WatchedPath(str(workspace / "docs"), suffix=SUFFIXES),
        WatchedPath(str(workspace / "linked"), recursive=False, suffix=SUFFIXES),
        WatchedPath(str(workspace.parent / "beside"), suffix=SUFFIXES),
    )


def test_evergreen_notes_have_no_day(workspace: Path) -> None:
    assert read(NotesSource(str(workspace)), "MEMORY.md").day is None


def test_extra_paths_are_trusted_as_external(workspace: Path) -> None:
    source = NotesSource(str(workspace), ["docs", ExtraRoot("../beside", "*.md"), "memory"])
    assert {path: read(source, path).trust for path in refs(source)} == {
        "../beside/d.md": "external",
        "MEMORY.md": "memory",
        "docs/c.md": "external",
        "memory/2026/2026-01-31-x.md": "memory",
    }


def test_the_document_carries_the_stamp_of_what_was_read(workspace: Path) -> None:
    source = NotesSource(str(workspace))
    old = refs(source)["MEMORY.md"]
    (workspace / "MEMORY.md").write_text("a longer text than there was before")
    document = source.read(old)
    assert document is not None
    assert document.text == "a longer text than there was before"
    assert document.ref.stamp == refs(source)["MEMORY.md"].stamp != old.stamp


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("fate", ["deleted", "a link", "a folder", "a pipe", "behind a link"])
def test_what_is_no_note_any_more_has_vanished(workspace: Path, fate: str) -> None:
    source = NotesSource(str(workspace))
    ref = refs(source)["memory/2026/2026-01-31-x.md"]
    note = workspace / "memory/2026/2026-01-31-x.md"
    secret = workspace / "secret.md"
    note.rename(secret)
    if fate == "a link":
        note.symlink_to(secret)
    elif fate == "a folder":
        note.mkdir()
    elif fate == "a pipe":
        os.mkfifo(note)
    elif fate == "behind a link":
        secret.rename(note)
        note.parent.rename(workspace / "aside")
        note.parent.symlink_to(workspace / "aside")
    assert source.read(ref) is None


def test_what_cannot_be_read_is_an_error(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = NotesSource(str(workspace))
    ref = refs(source)["MEMORY.md"]

    def fail(*_: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(reading, "open_below", fail)
    with pytest.raises(PermissionError):
        source.read(ref)


def test_every_reference_of_a_scan_can_be_read(workspace: Path) -> None:
    for name in ("two\nlines.md", " space.md", "back\\slash.md", "#L3.md", ".md", "日記.md"):
        (workspace / "memory" / name).write_text(name)
    source = NotesSource(str(workspace), [".."])
    documents = {path: read(source, path).text for path in refs(source)}
    assert documents["memory/two\nlines.md"] == "two\nlines.md"
    assert len(documents) == 10


def test_a_folder_taken_as_it_is_is_the_agents_own(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    (folder / "daily").mkdir(parents=True)
    (folder / "daily" / "2026-01-31.md").write_text("---\ntags: [a/b]\n---\ntext")
    (folder / "b.markdown").write_text("---\ntitle: B\naliases: [C]\ndate: 2026-02-01\n---\n")
    source = NotesSource(str(folder))
    dated, other = read(source, "daily/2026-01-31.md"), read(source, "b.markdown")
    assert (dated.trust, dated.day, dated.tags) == ("memory", date(2026, 1, 31), ("a", "a/b"))
    assert (other.title, other.names, other.day) == ("B", ("C",), date(2026, 2, 1))
    assert source.watched() == (WatchedPath(str(folder), suffix=SUFFIXES),)


def test_what_a_workspace_is_is_found_out_by_every_scan(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a.md").write_text("a")
    source = NotesSource(str(tmp_path / "ws"))
    assert set(refs(source)) == {"a.md"}
    (tmp_path / "ws" / "memory").mkdir()
    assert set(refs(source)) == set()
    assert source.scan().empty[0].startswith("there are no notes yet: looked for MEMORY.md")
    assert source.watched()[0] == WatchedPath(
        str(tmp_path / "ws" / "MEMORY.md"), recursive=False, suffix=".md"
    )
    (tmp_path / "ws" / "memory").rmdir()
    assert set(refs(source)) == {"a.md"}


def test_text_of_no_known_encoding_is_an_error(workspace: Path) -> None:
    source = NotesSource(str(workspace))
    (workspace / "MEMORY.md").write_bytes("привет, как дела".encode("cp1251"))
    with pytest.raises(OSError, match="save it as UTF-8") as caught:
        source.read(refs(source)["MEMORY.md"])
    assert caught.value.errno == errno.EILSEQ
