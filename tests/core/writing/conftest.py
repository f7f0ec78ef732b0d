"""A workspace, a clock that stands still, and memories on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.host.host import PluginHost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commonplace import Writer

NOON = 1_795_348_800.0
"""2026-11-22, 12:00 UTC."""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def open_memory(tmp_path: Path, workspace: Path) -> Iterator[Callable[..., Memory]]:
    opened: list[Memory] = []

    def open_(**config: Any) -> Memory:
        env = {
            "HOME": str(tmp_path),
            "COMMONPLACE_STATE_DIR": str(tmp_path / "state"),
            "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache"),
        }
        memory = Memory.open(
            workspace=workspace,
            env=env,
            host=PluginHost(env=env),
            config={
                "memory": {"backend": "inmemory", **config},
                "agents": {"defaults": {"memorySearch": {"query": {"timeZone": "UTC"}}}},
            },
            clock=lambda: NOON,
        )
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    return open_memory()


@pytest.fixture
def writer(memory: Memory) -> Writer:
    return memory.writer(who="test")


@pytest.fixture
def agent(open_memory: Callable[..., Memory]) -> Writer:
    """A writer on an agent's word, which may write."""
    return open_memory(write={"enabled": True}).writer(origin="agent", who="agent main")
