"""A model on this machine: what is indexed and found by it, and what its file's damage leaves."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace_local.engines import engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.end_to_end.embedding.conftest import World

    from commonplace import Memory
    from commonplace.model.search import SearchResult

pytestmark = pytest.mark.skipif(engine() is None, reason="the extra local is not installed")
WALRUS = "Mia saw a walrus at the harbour."


@pytest.fixture
def model(tiny_gguf: Path, tmp_path: Path) -> Path:
    """A copy of the tiny model, to be damaged."""
    copy = tmp_path / "model.gguf"
    copy.write_bytes(tiny_gguf.read_bytes())
    return copy


def opened(world: World, model: Path) -> Memory:
    local = {"modelPath": str(model), "threads": 1}
    return world.open(provider="local", remote={}, local=local)


def by_vector(result: SearchResult) -> bool:
    return any(arm.arm == "vector" for hit in result.hits for arm in hit.explain.arms)


def children() -> set[int]:
    """Processes of this one that a model runs in."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        if parent == os.getpid() and b"commonplace_local.child" in command:
            found.add(int(folder.name))
    return found


def test_notes_are_embedded_and_found_and_no_server_is_asked(world: World, model: Path) -> None:
    with opened(world, model) as memory:
        report = memory.sync()
        assert report.embedding is not None
        assert (report.embedding.provider, report.embedding.embedded) == ("local", 3)
        assert (report.embedding.missing, report.embedding.reason) == (0, "")
        result = memory.search(WALRUS)
        assert (result.provider, result.model, result.fallback) == ("local", "model", None)
        assert result.hits[0].path == "memory/2026-10-03.md"
        assert by_vector(result)
        status = memory.status()
        assert (status.provider, status.search_mode) == ("local", "hybrid")
        assert [(space.dims, space.covered) for space in status.spaces] == [(64, 3)]
    assert world.asked() == 0


@pytest.mark.parametrize(
    ("damage", "words", "fixed_by"),
    [
        (Path.unlink, "there is no file", "local.modelPath"),
        (lambda path: path.write_bytes(b""), "it is empty", "local.modelPath"),
        (lambda path: path.write_bytes(b"<html>gone"), "no GGUF file", "local.modelPath"),
        (lambda path: os.truncate(path, path.stat().st_size // 2), "cut short", "download"),
        (
            lambda path: path.write_bytes(
                path.read_bytes().replace(b"blk.0.attn_q", b"blk.0.absent")
            ),
            "cannot be loaded",
            "local.modelPath",
        ),
    ],
    ids=["missing", "empty", "no model", "truncated", "corrupt"],
)
def test_a_damaged_model_leaves_keywords_and_once_fixed_nothing_is_embedded_again(
    world: World, model: Path, damage: Callable[[Path], object], words: str, fixed_by: str
) -> None:
    whole = model.read_bytes()
    with opened(world, model) as memory:
        memory.sync()
    damage(model)
    with opened(world, model) as memory:
        report = memory.sync()
        assert report.embedding is not None
        assert report.embedding.embedded == 0
        assert words in report.embedding.reason
        assert "\n" not in report.embedding.reason
        assert fixed_by in report.embedding.reason.partition("Fix: ")[2]
        result = memory.search(WALRUS)
        assert result.hits[0].path == "memory/2026-10-03.md"
        assert (result.provider, by_vector(result)) == (None, False)
        assert result.fallback is not None
        assert (result.fallback.part, result.fallback.by) == ("local", "keywords alone")
        status = memory.status()
        assert (status.provider, status.search_mode) == (None, "keyword")
        assert words in status.providers[0].reason
        assert status.spaces[0].covered == 3
    model.write_bytes(whole)
    world.clock.pass_(4000)
    with opened(world, model) as memory:
        report = memory.sync()
        assert report.embedding is not None
        assert (report.embedding.embedded, report.embedding.missing) == (0, 0)
        assert memory.search(WALRUS).provider == "local"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_killed_child_is_not_felt_and_none_is_left_behind(world: World, model: Path) -> None:
    others = children()
    with opened(world, model) as memory:
        memory.sync()
        (child,) = children() - others
        os.kill(child, signal.SIGKILL)
        result = memory.search(WALRUS)
        assert (result.provider, result.fallback) == ("local", None)
        assert by_vector(result)
        (again,) = children() - others
        assert again != child
    assert children() == others
