"""What a search shows can be read as it stands, and what cannot be read names the nearest note."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CallerError, NoteNotFoundError, PathNotAllowedError
from commonplace.files.roots import Roots
from commonplace.model.documents import Document, DocumentRef, ScanReport
from commonplace.model.plugins import Mount
from commonplace.search.citations import Readable, read_cited, text_by_line
from commonplace_notes.source import NotesSource

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

TEN = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    for path in (
        "MEMORY.md",
        "memory/2026-10-07.md",
        "memory/2026-10-08.md",
        "memory/projects/birdhouse.md",
        "memory/v1.2.md",
        "memory/a:15.md",
        "memory/b.md",
        "secret.md",
        "docs/plan.md",
    ):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{path}\n{TEN}")
    return folder


@pytest.fixture
def readable(workspace: Path) -> Readable:
    extra = ["docs"]
    mounts = (
        Mount("qmd/memory-dir-main", str(workspace / "memory"), stored="memory"),
        Mount("qmd/memory-root-main", str(workspace), "{MEMORY,memory}.md", stored=""),
        Mount("qmd/linked-main", str(workspace / "linked"), stored="linked"),
    )
    sources = [NotesSource(str(workspace), extra)]
    return Readable(Roots(str(workspace), extra), lambda: mounts, sources)


@pytest.mark.parametrize(
    ("asked", "path", "lines"),
    [
        ("memory/2026-10-07.md:3-5", "memory/2026-10-07.md", (3, 5)),
        ("memory/2026-10-07.md:3", "memory/2026-10-07.md", (3, 3)),
        ("memory/2026-10-07.md#L3-L5", "memory/2026-10-07.md", (3, 5)),
        ("memory/2026-10-07.md#L3", "memory/2026-10-07.md", (3, 3)),
        ("memory/2026-10-07:3-5", "memory/2026-10-07.md", (3, 5)),
        ("memory/2026-10-07#L3-5", "memory/2026-10-07.md", (3, 5)),
        ("  memory/2026-10-07:3-5\n", "memory/2026-10-07.md", (3, 5)),
        ("memory/2026-10-07", "memory/2026-10-07.md", (1, 11)),
        ("MEMORY", "MEMORY.md", (1, 11)),
        ("./memory/projects/../v1.2", "memory/v1.2.md", (1, 11)),
        ("memory/a:15", "memory/a:15.md", (1, 11)),
        ("memory/a:15:2", "memory/a:15.md", (2, 2)),
        ("docs/plan:4", "docs/plan.md", (4, 4)),
        ("qmd/memory-dir-main/2026-10-07.md:3-5", "memory/2026-10-07.md", (3, 5)),
        ("qmd/memory-dir-main/projects/birdhouse", "memory/projects/birdhouse.md", (1, 11)),
        ("qmd/memory-root-main/MEMORY.md#L2", "MEMORY.md", (2, 2)),
    ],
)
def test_what_a_search_shows_can_be_read(
    readable: Readable, asked: str, path: str, lines: tuple[int, int]
) -> None:
    note = read_cited(readable, asked)
    assert (note.path, (note.start_line, note.end_line)) == (path, lines)
    expected = [path, *TEN.splitlines()][lines[0] - 1 : lines[1]]
    assert note.text.splitlines() == expected


def test_an_absolute_path_is_read_as_its_citation_is(readable: Readable, workspace: Path) -> None:
    assert read_cited(readable, f"{workspace}/memory/b:3").path == "memory/b.md"


def test_lines_that_are_asked_for_win(readable: Readable) -> None:
    note = read_cited(readable, "memory/b:3-5", 7, 2)
    assert (note.start_line, note.end_line) == (7, 8)


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("memory/2026-10-09.md", "memory/2026-10-0"),
        ("birdhouse", "memory/projects/birdhouse.md"),
        ("birdhouse.md:3-5", "memory/projects/birdhouse.md"),
        ("Projects/Birdhouse", "memory/projects/birdhouse.md"),
        ("memory/projects/birdhous.md", "memory/projects/birdhouse.md"),
        ("memory/projects/BIRDHOUSE.md", "memory/projects/birdhouse.md"),
        ("memory.md", "MEMORY.md"),
        ("plan", "docs/plan.md"),
        ("qmd/memory-dir-main/birdhouse.md", "memory/projects/birdhouse.md"),
    ],
)
def test_the_nearest_note_is_named(readable: Readable, asked: str, nearest: str) -> None:
    with pytest.raises(CallerError) as caught:
        read_cited(readable, asked)
    assert caught.value.hint.startswith(f"did you mean {nearest}")


def test_a_note_of_quite_another_name_is_not_proposed(readable: Readable) -> None:
    with pytest.raises(NoteNotFoundError) as caught:
        read_cited(readable, "memory/nope.md")
    assert caught.value.hint == "search for it: search results name their notes"


@pytest.mark.parametrize("tail", ["", ".md", ":3-5", "#L3"])
def test_a_mistyped_name_is_not_found_with_or_without_its_ending(
    readable: Readable, tail: str
) -> None:
    with pytest.raises(NoteNotFoundError, match=r"there is no note memory/projects/birdhous\.md"):
        read_cited(readable, f"memory/projects/birdhous{tail}")
    with pytest.raises(PathNotAllowedError):
        read_cited(readable, "memory/projects/birdhous.png")


@pytest.mark.parametrize("tail", ["", ".md", ":1", ".md#L1"])
@pytest.mark.parametrize(("stored", "asked"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_path_is_found_however_its_signs_are_composed(
    readable: Readable,
    workspace: Path,
    tail: str,
    stored: Literal["NFC", "NFD"],
    asked: Literal["NFC", "NFD"],
) -> None:
    path = f"memory/{normalize(stored, 'café-für-ñandú')}.md"
    (workspace / path).write_text("composed\n", encoding="utf-8")
    note = read_cited(readable, normalize(asked, f"memory/café-für-ñandú{tail}"))
    assert (note.path, note.text.strip()) == (path, "composed")
    both = f"memory/{normalize(asked, 'café-für-ñandú')}.md"
    (workspace / both).write_text("the other\n", encoding="utf-8")
    assert read_cited(readable, both).text.strip() == "the other", "the exact path comes first"


@pytest.mark.parametrize("asked", ["memory/zzzzzzzzz.md", "qqqqq", "", ".", "x" * 5000])
def test_where_nothing_is_near_the_hint_is_the_usual_one(readable: Readable, asked: str) -> None:
    with pytest.raises((NoteNotFoundError, PathNotAllowedError)) as caught:
        read_cited(readable, asked)
    assert caught.value.hint
    assert "did you mean" not in caught.value.hint


def test_no_file_outside_of_memory_is_named_or_revealed(
    readable: Readable, workspace: Path
) -> None:
    (workspace.parent / "birdhouse.md").write_text("outside")
    for there, missing in (
        ("secret.md", "secrex.md"),
        ("../birdhouse.md", "../birdhousx.md"),
        (f"{workspace.parent}/birdhouse.md", f"{workspace.parent}/birdhousx.md"),
        ("~/birdhouse", "~/birdhousx"),
        ("memory/../../birdhouse", "memory/../../birdhousx"),
    ):
        refusals = []
        for asked in (there, missing):
            with pytest.raises(PathNotAllowedError) as caught:
                read_cited(readable, asked)
            refusals.append((str(caught.value), caught.value.hint))
        assert refusals[0] == refusals[1]
        assert "did you mean" not in refusals[0][1]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_among_the_notes_is_named_whatever_it_leads_to(
    readable: Readable, workspace: Path
) -> None:
    os.symlink(workspace.parent, workspace / "memory/dir")
    for number, target in enumerate((workspace / "MEMORY.md", workspace.parent / "nowhere")):
        os.symlink(target, workspace / f"memory/link{number}.md")
        for asked in (f"memory/link{number}.md", f"memory/link{number}:3-4"):
            with pytest.raises(PathNotAllowedError) as caught:
                read_cited(readable, asked)
            assert caught.value.hint.startswith(f"memory/link{number}.md is a symbolic link")
    with pytest.raises(PathNotAllowedError) as caught:
        read_cited(readable, "memory/dir/ws/MEMORY.md")
    assert caught.value.hint.startswith("memory/dir is a symbolic link")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_no_link_of_the_workspace_is_followed_by_a_collection(
    readable: Readable, workspace: Path
) -> None:
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "other.md").write_text("outside")
    os.symlink(outside, workspace / "linked")
    for asked in ("qmd/linked-main/other.md", "qmd/linked-main/other", "qmd/linked-main/../b.md"):
        with pytest.raises(PathNotAllowedError):
            read_cited(readable, asked)


@given(
    st.lists(
        st.sampled_from(
            [
                "..",
                ".",
                "memory",
                "secret",
                "b",
                ".md",
                ":3",
                "#L2",
                "/",
                "qmd",
                "memory-dir-main",
                "memory-root-main",
            ]
        ),
        max_size=8,
    )
)
def test_nothing_but_notes_is_read(pieces: list[str]) -> None:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        workspace = Path(folder) / "ws"
        (workspace / "memory").mkdir(parents=True)
        (workspace / "memory/b.md").write_text("a note")
        (workspace / "secret.md").write_text("a secret")
        (workspace.parent / "b.md").write_text("a secret")
        mounts = (
            Mount("qmd/memory-dir-main", str(workspace / "memory"), stored="memory"),
            Mount("qmd/memory-root-main", str(workspace), "{MEMORY,memory}.md", stored=""),
        )
        sources = [NotesSource(str(workspace))]
        readable = Readable(Roots(str(workspace)), lambda: mounts, sources)
        for asked in ("".join(pieces), "/".join(pieces)):
            try:
                note = read_cited(readable, asked)
            except CallerError:
                continue
            assert note.path == "memory/b.md"
            assert "secret" not in note.text


def document(text: str, line_map: tuple[int, ...] | None) -> Document:
    return Document(DocumentRef("s", "s/a", "/a", "0 0 0 0"), text, "", line_map=line_map)


@pytest.mark.parametrize(
    ("text", "line_map", "expected"),
    [
        ("one\ntwo", None, "one\ntwo"),
        ("", (), ""),
        ("User: hello\nAssistant: hi", (2, 4), "\nUser: hello\n\nAssistant: hi"),
        ("User: a\nUser: b\nUser: c", (1, 1, 2), "User: a b\nUser: c"),
        ("no speaker\nand more", (3, 3), "\n\nno speaker and more"),
        ("yes\nyesterday", (1, 1), "yes yesterday"),
        ("User: a: b\nUser: c: d", (1, 1), "User: a: b c: d"),
    ],
)
def test_lines_are_numbered_as_in_the_file(
    text: str, line_map: tuple[int, ...] | None, expected: str
) -> None:
    assert text_by_line(document(text, line_map)) == expected


class Counted(NotesSource):
    """The notes, counting how often they are scanned."""

    scans = 0

    def scan(self) -> ScanReport:
        self.scans += 1
        return super().scan()


@pytest.mark.parametrize("asked", ["memory/nope.md", "s\u00e9ance", "a.md:3"])
def test_for_a_path_that_is_not_there_a_source_is_scanned_once(asked: str, workspace: Path) -> None:
    source = Counted(str(workspace), [])
    with pytest.raises(CallerError):
        read_cited(Readable(Roots(str(workspace), []), tuple, [source]), asked)
    assert source.scans == 1
