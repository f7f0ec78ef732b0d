from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, cast

import pytest

from commonplace.files.scan import scan_root
from commonplace.plugin import stamp_of
from commonplace_sessions.folder import Folder, scan_folder

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace.model.documents import ScanReport


def plant(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def scan(folder: Folder) -> ScanReport:
    return scan_folder(folder, "sessions", lambda path: path.endswith(".jsonl"))


def found(report: ScanReport) -> list[str]:
    return [ref.path for ref in report.documents]


def test_transcripts_in_order_with_their_places_and_stamps(tmp_path: Path) -> None:
    plant(tmp_path, "b.jsonl", "a.jsonl", "sessions.json", "deep/c.jsonl")
    report = scan(Folder(str(tmp_path)))
    assert found(report) == ["sessions/a.jsonl", "sessions/b.jsonl"]
    first = report.documents[0]
    status = (tmp_path / "a.jsonl").stat()
    assert first.location == str(tmp_path / "a.jsonl")
    assert first.stamp == stamp_of(status)
    assert report.complete_roots == ("sessions",)
    assert report.failed_roots == report.absent_roots == ()


def test_subfolders_where_they_are_wanted(tmp_path: Path) -> None:
    plant(tmp_path, "a.jsonl", "x/b.jsonl", "x/y/c.jsonl", ".git/d.jsonl")
    assert found(scan(Folder(str(tmp_path), deep=True))) == [
        "sessions/a.jsonl",
        "sessions/x/b.jsonl",
        "sessions/x/y/c.jsonl",
    ]


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("empty", [False, True])
def test_a_folder_that_is_not_there_is_no_evidence(
    tmp_path: Path, *, named: bool, empty: bool
) -> None:
    if empty:
        (tmp_path / "sessions").mkdir()
    folder = Folder(str(tmp_path / "sessions"), named=True)
    if not named:
        folder = Folder(str(tmp_path), ("sessions",))
    report = scan(folder)
    failures = report.failed_roots if named else report.absent_roots
    (failure,) = failures
    assert failure.root == "sessions"
    assert str(tmp_path / "sessions") in failure.reason
    assert "nothing is forgotten" in failure.reason
    assert failure.reason.endswith(
        "; if it was deleted, take it out of the configuration"
        if named
        else "; there is none before the first conversation"
    )
    assert len(report.failed_roots) + len(report.absent_roots) == 1
    assert report.documents == ()


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
def test_links_and_what_is_no_file_are_refused_and_counted(tmp_path: Path) -> None:
    plant(tmp_path, "outside/x.jsonl", "in/a.jsonl", "in/f.jsonl/file")
    (tmp_path / "in/b.jsonl").symlink_to(tmp_path / "outside/x.jsonl")
    (tmp_path / "in/deep").symlink_to(tmp_path / "outside")
    (tmp_path / "in/c.jsonl").symlink_to("gone")
    os.mkfifo(tmp_path / "in/d.jsonl")
    report = scan(Folder(str(tmp_path / "in"), deep=True))
    assert found(report) == ["sessions/a.jsonl"]
    assert report.skipped_symlinks == 3


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
@pytest.mark.parametrize("link", ["agents", "agents/main", "agents/main/sessions"])
def test_no_link_may_lead_to_the_folder(tmp_path: Path, link: str) -> None:
    plant(tmp_path, "state/agents/main/sessions/a.jsonl")
    place = tmp_path / "state" / link
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    report = scan(Folder(str(tmp_path / "state"), ("agents", "main", "sessions")))
    assert report.documents == ()
    (failure,) = report.failed_roots
    assert "symbolic link" in failure.reason
    assert report.skipped_symlinks == 1


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_the_way_to_the_base_may_be_a_link(tmp_path: Path) -> None:
    plant(tmp_path, "real/sessions/a.jsonl")
    (tmp_path / "state").symlink_to(tmp_path / "real")
    assert found(scan(Folder(str(tmp_path / "state"), ("sessions",)))) == ["sessions/a.jsonl"]


def test_a_file_in_place_of_the_folder_is_a_failure(tmp_path: Path) -> None:
    plant(tmp_path, "sessions")
    (failure,) = scan(Folder(str(tmp_path), ("sessions",))).failed_roots
    assert "not a folder" in failure.reason


def test_a_folder_that_cannot_be_listed_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, "x/a.jsonl", "y/b.jsonl")
    real = os.scandir

    def scandir(path: str) -> object:
        if path.rstrip("/").endswith("x"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    defaults = cast("dict[str, object]", scan_root.__kwdefaults__)
    monkeypatch.setitem(defaults, "scandir", scandir)
    report = scan(Folder(str(tmp_path), deep=True))
    assert found(report) == ["sessions/y/b.jsonl"]
    assert [(failure.root, failure.reason) for failure in report.failed_roots] == [
        ("sessions/x", "Permission denied")
    ]
    assert report.complete_roots == ("sessions",)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names there are always valid")
def test_a_name_that_is_no_text_is_reported(tmp_path: Path) -> None:
    plant(tmp_path, "a.jsonl")
    with open(os.fsencode(tmp_path) + b"/\xff.jsonl", "wb"):
        pass
    report = scan(Folder(str(tmp_path)))
    assert found(report) == ["sessions/a.jsonl"]
    assert "not valid UTF-8" in report.failed_roots[0].reason
