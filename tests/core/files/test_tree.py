"""What a folder holds, while other programs create and delete files."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.files.tree import Tree, TreeEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pytest


def test_a_file_that_goes_while_it_is_listed_hides_no_other(
    workspace: Path, plant: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant("memory/a.md", "memory/b.md", "memory/c.md")
    real = os.scandir

    @contextmanager
    def scandir(folder: str) -> Iterator[list[os.DirEntry[str]]]:
        with real(folder) as entries:
            listed = list(entries)
        (workspace / "memory" / "b.md").unlink()
        yield listed

    monkeypatch.setattr(os, "scandir", scandir)
    size = (workspace / "memory" / "a.md").stat().st_size
    assert Tree(str(workspace)).entries(("memory",)) == [
        TreeEntry("a.md", "file", size),
        TreeEntry("c.md", "file", size),
    ]
