"""Workspaces that tests fill as they like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with one note, in a folder of its own with room beside it."""
    folder = tmp_path / "home" / "ws"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n")
    return folder


@pytest.fixture
def plant(workspace: Path) -> Callable[..., None]:
    """Write files at paths relative to the workspace, each holding its own path as text."""

    def plant(*paths: str) -> None:
        for path in paths:
            file = workspace / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(path)

    return plant
