from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commonplace.plugin import ChunkerContext, PluginHost
from commonplace_chunkers import plugin

if TYPE_CHECKING:
    from commonplace.plugin import Chunker


def host() -> PluginHost:
    found = PluginHost([], env={})
    found.register(plugin, name="chunkers")
    return found


def make(name: str, *, size: int, overlap: int) -> Chunker:
    return host().chunker(name).factory(ChunkerContext(size=size, overlap=overlap))


def test_offers_both_chunkers() -> None:
    assert host().ids("chunker") == ("lines", "markdown")
    registrations = [host().chunker(id_) for id_ in ("lines", "markdown")]
    assert all(entry.summary and entry.probe().available for entry in registrations)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("markdown", "markdown-4(size=800,overlap=100)"),
        ("lines", "lines-2(size=800,overlap=100)"),
    ],
)
def test_fingerprint_names_id_version_and_parameters(name: str, expected: str) -> None:
    assert make(name, size=800, overlap=100).fingerprint == expected


@pytest.mark.parametrize("name", ["markdown", "lines"])
def test_settings_that_chunk_alike_have_one_fingerprint(name: str) -> None:
    smallest = make(name, size=32, overlap=0).fingerprint
    assert make(name, size=0, overlap=-5).fingerprint == smallest


def test_markdown_overlap_is_at_most_a_quarter_of_the_size() -> None:
    assert make("markdown", size=100, overlap=90).fingerprint == (
        make("markdown", size=100, overlap=25).fingerprint
    )


def test_registering_imports_no_implementation() -> None:
    script = (
        "import sys, commonplace_chunkers.plugin as p\n"
        "class R:\n"
        "    def chunker(self, *args, **more): pass\n"
        "p.commonplace_register_chunkers(R())\n"
        "print(sorted(m for m in sys.modules if m.startswith('commonplace_chunkers.')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "['commonplace_chunkers.plugin']"
