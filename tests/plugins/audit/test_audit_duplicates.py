"""Notes that are the same: which of two is the copy, and the diff that deletes it."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace_audit.auditing import Audit

TEXT = (
    "# Ingest\n\nThe boiler in the cellar loses pressure every second week, so that we open the "
    "valve behind the washing machine.\n"
)


@pytest.mark.parametrize(
    ("paths", "copy"),
    [
        (("ingest-copy.md", "ingest.md"), "ingest-copy.md"),
        (("archive/ingest.md", "ingest.md"), "archive/ingest.md"),
        (("a.md", "b.md"), "b.md"),
        (("MEMORY.md", "memory/a.md"), "memory/a.md"),
        (("memory/2026-09-01.md", "memory/2026-09-02.md"), "memory/2026-09-02.md"),
        (("memory/2026-09-01.md", "memory/the/ingest of the boiler.md"), "memory/2026-09-01.md"),
    ],
)
def test_the_diff_of_equal_notes_deletes_the_copy(
    audited: Callable[..., Audit], workspace: Path, paths: tuple[str, str], copy: str
) -> None:
    (finding,) = audited(dict.fromkeys(paths, TEXT), "duplicate").findings
    assert finding.citation == copy
    assert finding.hint == f"delete {copy}: it says nothing of its own"
    patch = shutil.which("patch")
    if patch is None:
        pytest.skip("patch is not installed")
    subprocess.run([patch, "-p0"], input=finding.diff.encode(), cwd=workspace, check=True)
    assert [(workspace / path).exists() for path in paths] == [path != copy for path in paths]


def test_of_three_equal_notes_each_copy_is_deleted_once(audited: Callable[..., Audit]) -> None:
    found = audited(dict.fromkeys(["a.md", "b.md", "c.md"], TEXT), "duplicate").findings
    assert [one.citation for one in found] == ["b.md", "c.md"]


def test_notes_that_differ_are_not_deleted(audited: Callable[..., Audit]) -> None:
    body = "".join(f"The {word} of the house is in room {word}.\n\n" for word in "abcdefghij")
    (finding,) = audited({"a.md": body, "b.md": f"{body}But not now.\n"}, "duplicate").findings
    assert finding.diff == ""
    assert "differ" in finding.hint
