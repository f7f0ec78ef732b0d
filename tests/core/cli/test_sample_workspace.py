"""The bundled sample workspace."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

from commonplace.sample import SEARCHES, copy_workspace

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_copied_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "copy"
    assert copy_workspace(str(target)) == 11
    names = sorted(str(path.relative_to(target)) for path in target.rglob("*.md"))
    assert names[0] == "MEMORY.md"
    assert sum(bool(re.fullmatch(r"memory/2026-10-\d\d\.md", name)) for name in names) == 5
    assert sum(name.startswith("memory/projects/") for name in names) == 5


def test_it_speaks_several_languages() -> None:
    projects = files("commonplace.sample") / "workspace" / "memory" / "projects"
    assert "交货期" in (projects / "sensor-supplier.md").read_text(encoding="utf-8")
    assert "見積書" in (projects / "hakodate.md").read_text(encoding="utf-8")
    assert not all(search.isascii() for search in SEARCHES)
