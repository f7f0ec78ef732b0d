"""A look at some paths finds what a scan would, or says that it cannot tell."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from commonplace.files.changed import scan_paths
from commonplace.files.roots import Roots, find_roots
from commonplace.files.scan import scan

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace.model.documents import ScanReport


def look(roots: Roots, *paths: Path) -> ScanReport | None:
    return scan_paths(
        roots.all,
        [str(path) for path in paths],
        source="memory",
        stored=roots.stored_below,
        workspace=roots.workspace,
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name in ("MEMORY.md", "memory/a.md", "memory/deep/b.md", "memory/deep/other.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def paths_of(report: ScanReport | None) -> list[str]:
    assert report is not None
    return [ref.path for ref in report.documents]


def test_documents_are_those_of_a_scan(workspace: Path) -> None:
    roots = Roots(str(workspace))
    files = [workspace / "MEMORY.md", workspace / "memory/a.md", workspace / "memory/deep/b.md"]
    report = look(roots, *files)
    assert report is not None
    assert report.documents == scan(roots).documents
    (workspace / "memory/a.md").unlink()
    report = look(roots, workspace / "memory/a.md")
    assert paths_of(report) == ["MEMORY.md"]
    assert report is not None
    assert report.complete_roots == ("MEMORY.md", "memory.md", "memory/a.md")


def test_paths_of_others_count_for_nothing(workspace: Path) -> None:
    (workspace / "memory/.git").mkdir()
    elsewhere = workspace.parent / "elsewhere.md"
    ignored = workspace / "memory/.git/x.md"
    text = workspace / "memory/deep/other.txt"
    report = look(Roots(str(workspace)), elsewhere, ignored, text)
    assert report is not None
    assert report.complete_roots == ("MEMORY.md", "memory.md")


def test_the_workspace_itself_may_be_the_root(workspace: Path) -> None:
    taken = workspace / "memory"
    roots = find_roots(str(taken))
    assert roots.whole
    assert paths_of(look(roots, taken / "deep/b.md", taken / "gone.md")) == ["deep/b.md"]


@pytest.mark.parametrize(
    "path",
    [
        "memory",
        ".",
        "memory/deep",
        "memory/gone",
        "memory/gone/c.md",
        "memory/named.md",
        "memory/new",
    ],
)
def test_a_folder_lets_all_be_scanned(workspace: Path, path: str) -> None:
    (workspace / "memory/named.md").mkdir()
    (workspace / "memory/new").mkdir()
    assert look(Roots(str(workspace)), workspace / path) is None


def test_links_let_all_be_scanned_and_are_no_notes(workspace: Path) -> None:
    roots = Roots(str(workspace))
    (workspace / "memory/link.md").symlink_to(workspace / "memory/a.md")
    report = look(roots, workspace / "memory/link.md")
    assert paths_of(report) == ["MEMORY.md"], "as a scan, which counts it"
    (workspace / "memory/linked").symlink_to(workspace / "memory/deep")
    assert look(roots, workspace / "memory/linked/b.md") is None
    (workspace / "MEMORY.md").unlink()
    (workspace / "MEMORY.md").symlink_to(workspace / "memory/a.md")
    assert look(roots, workspace / "memory/a.md") is None
    os.rename(workspace / "memory", workspace / "moved")
    (workspace / "memory").symlink_to(workspace / "moved")
    assert look(Roots(str(workspace)), workspace / "memory/a.md") is None


def test_an_extra_folder_that_is_empty_or_missing_forgets_nothing(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    extra = tmp_path_factory.mktemp("extra")
    roots = Roots(str(workspace), [str(extra)])
    note = extra / "x.md"
    note.write_text("x")
    assert len(paths_of(look(roots, note))) == 2
    note.unlink()
    assert look(roots, note) is None
    extra.rmdir()
    assert look(roots, note) is None


def test_an_empty_workspace_forgets_nothing(tmp_path: Path) -> None:
    assert look(Roots(str(tmp_path)), tmp_path / "MEMORY.md") is None
    assert look(Roots(str(tmp_path / "gone")), tmp_path / "gone/MEMORY.md") is None


def test_roots_that_overlap_let_all_be_scanned(workspace: Path) -> None:
    note = workspace / "memory/deep/b.md"
    assert look(Roots(str(workspace), ["memory/deep"]), note) is None
    link = workspace.parent / f"{workspace.name}-link"
    link.symlink_to(workspace)
    assert look(Roots(str(workspace), [str(link / "memory")]), note) is None
    link.unlink()


def test_very_many_paths_let_all_be_scanned(workspace: Path) -> None:
    many = [workspace / f"memory/{number}.md" for number in range(1001)]
    assert look(Roots(str(workspace)), *many[:1000]) is not None
    assert look(Roots(str(workspace)), *many) is None


def test_a_folder_that_cannot_be_listed_lets_all_be_scanned(workspace: Path) -> None:
    def failing(_path: str) -> os._ScandirIterator[str]:
        raise PermissionError(13, "not for you")

    roots = Roots(str(workspace))
    assert (
        scan_paths(
            roots.all,
            [str(workspace / "memory/a.md")],
            source="memory",
            stored=roots.stored_below,
            scandir=failing,
        )
        is None
    )
