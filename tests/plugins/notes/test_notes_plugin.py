from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from commonplace.files.roots import ExtraRoot
from commonplace.plugin import PluginHost, SourceContext
from commonplace_notes import plugin

if TYPE_CHECKING:
    from pathlib import Path


def test_the_plugin_offers_the_source_memory(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    for path in ("memory/a.md", "docs-b.md", "docs-b.txt"):
        (tmp_path / path).write_text(path)
    host = PluginHost([], env={})
    host.register(plugin, name="notes")
    offered = host.source("memory")
    assert offered.id == "memory"
    assert offered.summary
    assert offered.probe().available

    source = offered.factory(
        SourceContext(str(tmp_path), "main", ("docs-b.md", ExtraRoot("memory", "*.md")))
    )
    assert source.id == "memory"
    assert [ref.path for ref in source.scan().documents] == ["docs-b.md", "memory/a.md"]


def test_importing_the_plugin_imports_no_source() -> None:
    script = "import sys, commonplace_notes.plugin; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    loaded = set(done.stdout.split())
    assert "commonplace_notes.plugin" in loaded
    assert not {"commonplace_notes.source", "commonplace.files.scan"} & loaded
