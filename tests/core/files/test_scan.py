from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commonplace.files.roots import ExtraRoot, Roots
from commonplace.files.scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.files.roots import ExtraRoot as Extra
    from commonplace.model.documents import ScanReport

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names and kinds of POSIX")


def look(workspace: Path, *extra: str | Extra) -> ScanReport:
    return scan(Roots(str(workspace), extra))


def paths(report: ScanReport) -> list[str]:
    return [ref.path for ref in report.documents]


def test_own_roots_and_nothing_else(workspace: Path, plant: Callable[..., None]) -> None:
    plant("memory.md", "memory/b.md", "memory/a/x.md", "memory/a.md", "README.md", "docs/x.md")
    plant("memory/a.txt", "memory/a.MD", "memory/a.markdown", "memory/md", "Memory/x.md", "USER.md")
    report = look(workspace)
    assert paths(report) == [
        "MEMORY.md",
        "memory.md",
        "memory/a.md",
        "memory/a/x.md",
        "memory/b.md",
    ]
    assert (report.complete_roots, report.failed_roots) == (("",), ())


def test_references_carry_source_location_and_stamp(workspace: Path) -> None:
    (ref,) = scan(Roots(str(workspace)), source="notes").documents
    found = os.stat(workspace / "MEMORY.md")
    assert ref.source == "notes"
    assert ref.location == str(workspace / "MEMORY.md")
    assert ref.stamp == (f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}")


def test_folders_of_tools_and_hidden_ones_are_passed_over(
    workspace: Path, plant: Callable[..., None]
) -> None:
    ignored = (".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__", ".x")
    for root in ("memory", "docs"):
        plant(*(f"{root}/{name}/x.md" for name in ignored), f"{root}/kept/.hidden.md")
    assert paths(look(workspace, "docs")) == [
        "MEMORY.md",
        "docs/kept/.hidden.md",
        "memory/kept/.hidden.md",
    ]


def test_odd_names_survive(workspace: Path, plant: Callable[..., None]) -> None:
    names = [
        "two\nlines.md",
        "\"quotes' and `ticks`.md",
        "emoji 🦜.md",
        "caf\u00e9.md",
        "cafe\u0301.md",
        "back\\slash.md",
        ".md",
        "#L3.md",
        " leading.md",
        "日記.md",
        "folder.md/inside.md",
    ]
    plant(*(f"memory/{name}" for name in names))
    assert paths(look(workspace)) == sorted(["MEMORY.md", *(f"memory/{name}" for name in names)])


def test_links_are_refused_and_counted(
    workspace: Path, tmp_path: Path, plant: Callable[..., None]
) -> None:
    plant("memory/real.md", "../outside/secret.md")
    (workspace / "memory/file.md").symlink_to("real.md")
    (workspace / "memory/folder").symlink_to("../../outside")
    (workspace / "memory/folder.md").symlink_to("../../outside")
    (workspace / "memory/loop").symlink_to(".")
    (workspace / "memory/dangling.md").symlink_to("nowhere.md")
    report = look(workspace)
    assert paths(report) == ["MEMORY.md", "memory/real.md"]
    assert report.skipped_symlinks == 5
    assert report.failed_roots == ()


def test_only_regular_files(
    workspace: Path, plant: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant("memory/real.md")
    os.mkfifo(workspace / "memory/pipe.md")
    (workspace / "memory/folder.md").mkdir()
    monkeypatch.chdir(workspace / "memory")  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        assert paths(look(workspace)) == ["MEMORY.md", "memory/real.md"]


def test_a_workspace_may_be_a_link(workspace: Path, plant: Callable[..., None]) -> None:
    plant("memory/a.md")
    link = workspace.parent / "link"
    link.symlink_to(workspace)
    report = look(link)
    assert paths(report) == ["MEMORY.md", "memory/a.md"]
    assert report.skipped_symlinks == 0
    assert report.documents[0].location == str(link / "MEMORY.md")


def test_extra_folders_and_files(workspace: Path, plant: Callable[..., None]) -> None:
    plant("docs/a.md", "docs/a.txt", "../beside/b.md", "../one.md", "../two.md", "../.deep/c.md")
    report = look(
        workspace, "docs", str(workspace.parent / "beside"), "../one.md", ExtraRoot("../.deep")
    )
    assert paths(report) == [
        "../.deep/c.md",
        "../beside/b.md",
        "../one.md",
        "MEMORY.md",
        "docs/a.md",
    ]
    assert report.failed_roots == ()


def test_an_extra_folder_restricted_by_a_pattern(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("docs/a.md", "docs/deep/b.md", "docs/deep/c.md", "docs/x.txt")
    assert paths(look(workspace, ExtraRoot("docs", "*.md"))) == ["MEMORY.md", "docs/a.md"]
    assert paths(look(workspace, ExtraRoot("docs", "**/b.*"))) == ["MEMORY.md", "docs/deep/b.md"]
    assert paths(look(workspace, ExtraRoot("docs", "**/x.txt"))) == ["MEMORY.md"]
    both = look(workspace, ExtraRoot("docs", "*.md"), ExtraRoot("docs", "deep/**"), "docs")
    assert paths(both) == ["MEMORY.md", "docs/a.md", "docs/deep/b.md", "docs/deep/c.md"]


def test_overlapping_roots_give_each_note_once(workspace: Path, plant: Callable[..., None]) -> None:
    plant("memory/a.md", "memory/sub/b.md", "docs/c.md", "docs/deep/d.md", "../beside/e.md")
    linked = workspace.parent.parent / "linked"
    linked.symlink_to(workspace.parent)
    report = look(
        workspace,
        "memory",
        "memory/sub",
        "memory/sub/b.md",
        "MEMORY.md",
        "docs/deep",
        "docs",
        "docs/c.md",
        str(workspace),
        str(linked / "beside"),
        "../beside",
        str(linked / "beside/e.md"),
        "..",
    )
    assert paths(report) == [
        "../../linked/beside/e.md",
        "MEMORY.md",
        "docs/c.md",
        "docs/deep/d.md",
        "memory/a.md",
        "memory/sub/b.md",
    ]
    assert report.failed_roots == ()


def test_hard_links_are_notes_of_their_own(workspace: Path, plant: Callable[..., None]) -> None:
    plant("memory/a.md", "docs/b.md")
    os.link(workspace / "memory/a.md", workspace / "memory/b.md")
    os.link(workspace / "memory/a.md", workspace / "docs/a.md")
    os.link(workspace / "MEMORY.md", workspace / "memory.md")
    os.link(workspace / "MEMORY.md", workspace / "memory.MD")
    assert paths(look(workspace, "docs")) == [
        "MEMORY.md",
        "docs/a.md",
        "docs/b.md",
        "memory.md",
        "memory/a.md",
        "memory/b.md",
    ]


def test_one_file_under_two_spellings_counts_once(
    workspace: Path, plant: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that does not tell upper case from lower: both names open, one is listed."""
    plant("memory/a.md", "docs/Note.md")
    for spelling in ("memory.md", "memory.MD", "MEMORY.MD"):
        os.link(workspace / "MEMORY.md", workspace / spelling)
    for spelling in ("note.md", "NOTE.MD", "nOTE.MD"):
        os.link(workspace / "docs/Note.md", workspace / "docs" / spelling)
    listdir = os.listdir

    def listed_once(folder: str) -> list[str]:
        return [name for name in listdir(folder) if name in ("MEMORY.md", "Note.md")]

    monkeypatch.setattr(os, "listdir", listed_once)
    report = look(workspace, "docs/Note.md", "docs/note.md")
    assert paths(report) == ["MEMORY.md", "docs/Note.md", "memory/a.md"]


def test_roots_around_the_workspace(workspace: Path, plant: Callable[..., None]) -> None:
    plant("memory/a.md", "docs/b.md", "../other/c.md", "../d.md")
    for around in ("..", str(workspace.parent)):
        assert paths(look(workspace, around)) == [
            "../d.md",
            "../other/c.md",
            "MEMORY.md",
            "docs/b.md",
            "memory/a.md",
        ]
    assert paths(look(workspace, ".")) == ["MEMORY.md", "docs/b.md", "memory/a.md"]


def test_names_that_are_not_utf8_are_named_not_indexed(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("memory/a.md", "memory/deep/b.md")
    for name in (b"caf\xe9.md", b"na\xefve.md", b"deep/caf\xe9.md", b"r\xe9sum\xe9.txt"):
        with open(os.fsencode(workspace / "memory") + b"/" + name, "wb"):
            pass
    os.mkdir(os.fsencode(workspace / "memory") + b"/\xff")
    report = look(workspace)
    assert paths(report) == ["MEMORY.md", "memory/a.md", "memory/deep/b.md"]
    failed = sorted((failure.root, failure.reason) for failure in report.failed_roots)
    assert [root for root, _ in failed] == ["memory/caf\\xe9.md", "memory/deep/caf\\xe9.md"]
    assert "not valid UTF-8" in failed[0][1]
    assert "2 more in this folder" in failed[0][1]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are UTF-8 in every locale")
def test_a_locale_that_hides_utf8_is_named_and_not_the_name(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("memory/café.md")
    with open(os.fsencode(workspace / "memory") + b"/na\xefve.md", "wb"):
        pass
    program = f"""if True:
        from commonplace.files.roots import Roots
        from commonplace.files.scan import scan

        for failure in scan(Roots({str(workspace)!r}, ())).failed_roots:
            print(ascii(failure.root), failure.reason)
    """
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **ascii_only, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    (line,) = ran.stdout.splitlines()
    assert line == (
        "'memory/caf\\xe9.md' the name is read as ascii in this locale: set PYTHONUTF8=1 "
        "to have it indexed (and 1 more in this folder)"
    )


def test_a_workspace_below_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9/ws"
    os.makedirs(folder + b"/memory")
    with open(folder + b"/memory/a.md", "wb"):
        pass
    report = scan(Roots(os.fsdecode(folder)))
    assert paths(report) == ["memory/a.md"]
    assert report.failed_roots == ()


def test_the_same_tree_gives_the_same_report(workspace: Path, plant: Callable[..., None]) -> None:
    plant(*(f"memory/{n % 7}/{n}.md" for n in range(50)), "docs/x.md")
    first = look(workspace, "docs")
    assert first == look(workspace, "docs")
    assert paths(first) == sorted(paths(first))
