"""What a scan lets the index forget, and what it hides: the rules, one by one."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from commonplace.files.roots import Roots
from commonplace.files.scan import scan
from commonplace.index.planning import SourceScan, plan_changes
from commonplace.model.documents import RootFailure, ScanReport, StoredDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions and kinds of POSIX")


def look(workspace: Path, *extra: str) -> ScanReport:
    return scan(Roots(str(workspace), extra))


def forgotten(before: ScanReport, after: ScanReport) -> list[str]:
    """The paths an index that knew ``before`` forgets once it has seen ``after``."""
    stored = [StoredDocument("memory", ref.path, "", ref.stamp, "") for ref in before.documents]
    return sorted(doc.path for doc in plan_changes(stored, [SourceScan("memory", after, "")]).gone)


class Failing:
    """A scandir that fails for some folders, at once or after some entries."""

    def __init__(self, *folders: Path, code: int, after: int | None = None) -> None:
        self._folders = {str(folder) for folder in folders}
        self._code = code
        self._after = after

    def __call__(self, path: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        failing = path in self._folders
        if failing and self._after is None:
            raise OSError(self._code, os.strerror(self._code), path)
        return _Entries(path, self._after if failing else None, self._code)


class _Entries:
    def __init__(self, path: str, after: int | None, code: int) -> None:
        with os.scandir(path) as entries:
            self._entries = sorted(entries, key=lambda entry: entry.name)
        self._after = after
        self._code = code

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        for count, entry in enumerate(self._entries):
            if count == self._after:
                break
            yield entry
        if self._after is not None:
            raise OSError(self._code, os.strerror(self._code))

    def __exit__(self, *_: object) -> None:
        return None


def test_deleted_notes_are_forgotten(workspace: Path, plant: Callable[..., None]) -> None:
    plant("memory/a.md", "memory/b.md", "memory/deep/c.md", "docs/d.md", "docs/e.md")
    before = look(workspace, "docs")
    (workspace / "memory/a.md").unlink()
    shutil.rmtree(workspace / "memory/deep")
    (workspace / "MEMORY.md").unlink()
    (workspace / "docs/d.md").unlink()
    gone = ["MEMORY.md", "docs/d.md", "memory/a.md", "memory/deep/c.md"]
    assert forgotten(before, look(workspace, "docs")) == gone


@pytest.mark.parametrize("keep_folder", [True, False])
def test_an_emptied_or_deleted_memory_folder_is_forgotten(
    workspace: Path, plant: Callable[..., None], keep_folder: bool
) -> None:
    plant("memory/a.md", "memory/deep/b.md")
    before = look(workspace)
    shutil.rmtree(workspace / "memory")
    if keep_folder:
        (workspace / "memory").mkdir()
    after = look(workspace)
    assert after.failed_roots == ()
    assert forgotten(before, after) == ["memory/a.md", "memory/deep/b.md"]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("missing", "the workspace cannot be listed: No such file or directory"),
        ("a file", "the workspace cannot be listed: Not a directory"),
        (
            "empty",
            (
                "the workspace is empty: nothing is forgotten, as its disk may not be mounted; "
                "if its notes were deleted, make the folder memory/ in it"
            ),
        ),
    ],
)
def test_a_workspace_that_is_not_there_forgets_nothing(
    workspace: Path, plant: Callable[..., None], state: str, reason: str
) -> None:
    plant("memory/a.md", "../beside/b.md", "../beside/c.md")
    before = look(workspace, "../beside")
    shutil.rmtree(workspace)
    if state == "empty":
        workspace.mkdir()
    elif state == "a file":
        workspace.write_text("not a folder")
    (workspace.parent / "beside/b.md").unlink()
    after = look(workspace, "../beside")
    failed, absent = after.failed_roots, after.absent_roots
    assert (absent if state == "empty" else failed) == (RootFailure("", reason),)
    assert not (failed and absent)
    assert after.complete_roots == ()
    assert [ref.path for ref in after.documents] == ["../beside/c.md"]
    assert forgotten(before, after) == []


def test_a_workspace_that_cannot_be_listed_forgets_nothing(workspace: Path) -> None:
    report = scan(Roots(str(workspace)), scandir=Failing(workspace, code=errno.EACCES))
    reason = "the workspace cannot be listed: Permission denied"
    assert report == ScanReport((), (), (RootFailure("", reason),))


@pytest.mark.parametrize("state", ["missing", "empty", "a link", "no note"])
def test_an_extra_path_that_is_not_there_hides_its_notes(
    workspace: Path, plant: Callable[..., None], state: str
) -> None:
    plant("memory/a.md", "memory/b.md", "../beside/c.md", "../other/d.md")
    before = look(workspace, "../beside")
    beside = workspace.parent / "beside"
    shutil.rmtree(beside)
    if state == "empty":
        beside.mkdir()
    elif state == "a link":
        beside.symlink_to("other")
    elif state == "no note":
        os.mkfifo(beside)
    (workspace / "memory/b.md").unlink()
    after = look(workspace, "../beside")
    (failure,) = after.failed_roots
    words = {"missing": "missing", "empty": "holds nothing", "a link": "link", "no note": "neither"}
    assert failure.root == "../beside"
    assert words[state] in failure.reason
    assert failure.reason.startswith(f"{beside} " if state != "a link" else f"{beside}: a ")
    assert forgotten(before, after) == ["memory/b.md"]
    assert after.skipped_symlinks == (state == "a link")


def test_an_extra_folder_emptied_of_notes_but_not_of_all_is_forgotten(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("../beside/a.md", "../beside/picture.png")
    before = look(workspace, "../beside")
    (workspace.parent / "beside/a.md").unlink()
    assert forgotten(before, look(workspace, "../beside")) == ["../beside/a.md"]


def test_an_extra_path_taken_out_of_the_configuration_is_forgotten(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("../beside/a.md", "docs/b.md", "docs/c.md")
    before = look(workspace, "../beside", "docs")
    assert forgotten(before, look(workspace, "docs/c.md")) == ["../beside/a.md", "docs/b.md"]


def test_an_extra_file_that_is_no_markdown_says_so(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("notes.txt")
    (failure,) = look(workspace, "notes.txt").failed_roots
    assert failure == RootFailure("notes.txt", "it is neither a folder nor a .md or .markdown file")


def test_own_roots_that_are_not_what_they_should_be_say_so(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("memory/a.md", "../outside/b.md")
    before = look(workspace)
    shutil.rmtree(workspace / "memory")
    (workspace / "memory").symlink_to("../outside")
    (workspace / "MEMORY.md").unlink()
    (workspace / "MEMORY.md").mkdir()
    after = look(workspace)
    assert [failure.root for failure in after.failed_roots] == ["MEMORY.md", "memory"]
    assert "symbolic link" in after.failed_roots[1].reason
    assert (after.documents, after.skipped_symlinks) == ((), 1)
    assert forgotten(before, after) == []

    (workspace / "memory").unlink()
    (workspace / "memory").write_text("a file")
    assert look(workspace).failed_roots[1] == RootFailure("memory", "it is not a folder")


def test_no_link_inside_the_workspace_leads_an_extra_path_out(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("../outside/deep/secret.md")
    (workspace / "docs").symlink_to("../outside")
    report = look(workspace, "docs/deep", "docs/deep/secret.md")
    assert [ref.path for ref in report.documents] == ["MEMORY.md"]
    assert [failure.root for failure in report.failed_roots] == ["docs/deep", "docs/deep/secret.md"]
    assert report.skipped_symlinks == 2


def test_links_above_an_outside_root_are_followed(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("../real/notes/a.md")
    (workspace.parent / "link").symlink_to("real")
    report = look(workspace, "../link/notes")
    assert [ref.path for ref in report.documents] == ["../link/notes/a.md", "MEMORY.md"]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ENOENT, errno.ESTALE])
@pytest.mark.parametrize("after", [None, 0, 1])
def test_a_folder_that_cannot_be_listed_hides_what_is_below_it_only(
    workspace: Path, plant: Callable[..., None], code: int, after: int | None
) -> None:
    plant("memory/a.md", "memory/bad/b.md", "memory/bad/c.md", "memory/bad/deep/d.md")
    plant("memory/bad2/e.md", "memory/good/f.md", "memory/good/g.md")
    before = look(workspace)
    for path in ("bad/b.md", "bad/c.md", "bad2/e.md", "good/g.md"):
        (workspace / "memory" / path).unlink()
    failing = Failing(workspace / "memory/bad", code=code, after=after)
    report = scan(Roots(str(workspace)), scandir=failing)
    assert report.failed_roots == (RootFailure("memory/bad", os.strerror(code)),)
    assert {"memory/a.md", "memory/good/f.md"} <= {ref.path for ref in report.documents}
    assert forgotten(before, report) == ["memory/bad2/e.md", "memory/good/g.md"]


def test_an_unlistable_folder_around_the_workspace_hides_everything(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("memory/a.md", "docs/b.md", "../c.md")
    before = look(workspace, "..")
    (workspace / "docs/b.md").unlink()
    roots = Roots(str(workspace), [".."])
    report = scan(roots, scandir=Failing(workspace.parent, code=errno.EIO))
    assert report.failed_roots == (RootFailure("", os.strerror(errno.EIO)),)
    assert forgotten(before, report) == []

    inner = scan(roots, scandir=Failing(workspace / "docs", code=errno.EIO))
    assert [failure.root for failure in inner.failed_roots] == ["docs"]


def test_a_note_that_vanishes_while_it_is_looked_at_is_forgotten(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("memory/a.md", "memory/b.md")
    before = look(workspace)

    def vanishing(path: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        entries = _Entries(path, None, 0)
        if path.endswith("memory"):
            (workspace / "memory/a.md").unlink()
        return entries

    report = scan(Roots(str(workspace)), scandir=vanishing)
    assert report.failed_roots == ()
    assert forgotten(before, report) == ["memory/a.md"]


def test_a_configured_path_no_file_can_have_is_a_failure(workspace: Path) -> None:
    report = look(workspace, "do\0cs", "lone\ud800surrogate")
    assert [failure.root for failure in report.failed_roots] == ["do\\0cs", "lone\\ud800surrogate"]
    assert [ref.path for ref in report.documents] == ["MEMORY.md"]
    json.dumps([failure.root for failure in report.failed_roots]).encode()


_AS_ANOTHER_USER = """
import json, os, sys
from commonplace.files.reading import read_lines
from commonplace.files.roots import Roots
from commonplace.files.scan import scan
from commonplace.errors import CommonplaceError
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
roots = Roots(sys.argv[1])
report = scan(roots)
def get(path):
    try:
        return read_lines(roots, path).text
    except CommonplaceError as error:
        return type(error).__name__
print(json.dumps({
    "found": [ref.path for ref in report.documents],
    "failed": [(failure.root, failure.reason) for failure in report.failed_roots],
    "got": [get(path) for path in sys.argv[2:]],
}))
"""


def test_real_permissions() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for path in ("a.md", "locked/b.md", "listed/c.md", "passed/d.md"):
            file = os.path.join(folder, "memory", path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w") as stream:
                stream.write(path)
        modes = {"locked": 0o000, "listed": 0o444, "passed": 0o111}
        for name, mode in modes.items():
            os.chmod(os.path.join(folder, "memory", name), mode)
        os.chmod(os.path.join(folder, "memory/passed/d.md"), 0o444)
        asked = ["memory/a.md", "memory/locked/b.md", "memory/listed/c.md", "memory/passed/d.md"]
        done = subprocess.run(
            [sys.executable, "-c", _AS_ANOTHER_USER, folder, *asked],
            capture_output=True,
            check=True,
            text=True,
        )
        for name in modes:
            os.chmod(os.path.join(folder, "memory", name), 0o755)
    seen = json.loads(done.stdout)
    assert seen["found"] == ["memory/a.md"]
    assert sorted(seen["failed"]) == [
        ["memory/listed", "Permission denied"],
        ["memory/locked", "Permission denied"],
        ["memory/passed", "Permission denied"],
    ]
    readable = "passed/d.md" if hasattr(os, "O_PATH") else "UnavailableError"
    assert seen["got"] == ["a.md", "UnavailableError", "UnavailableError", readable]
