from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.plugin import ChunkerContext
from commonplace_chunkers import plugin

if TYPE_CHECKING:
    from commonplace.model.plugins import Registration
    from commonplace.plugin import Chunker


class _Registry:
    def __init__(self) -> None:
        self.added: list[Registration[Any]] = []

    def add(self, registration: Registration[Any]) -> None:
        self.added.append(registration)


def make(name: str, *, size: int, overlap: int) -> Chunker:
    registry = _Registry()
    plugin.commonplace_register_chunkers(registry)
    (found,) = [entry for entry in registry.added if entry.id == name]
    chunker: Chunker = found.factory(ChunkerContext(size=size, overlap=overlap))
    return chunker


def test_offers_both_chunkers() -> None:
    registry = _Registry()
    plugin.commonplace_register_chunkers(registry)
    assert [entry.id for entry in registry.added] == ["markdown", "lines"]
    assert all(entry.summary and entry.probe().available for entry in registry.added)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("markdown", "markdown-2(size=800,overlap=100)"),
        ("lines", "lines-1(size=800,overlap=100)"),
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
        "    def add(self, registration): pass\n"
        "p.commonplace_register_chunkers(R())\n"
        "print(sorted(m for m in sys.modules if m.startswith('commonplace_chunkers.')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "['commonplace_chunkers.plugin']"
