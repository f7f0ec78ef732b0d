"""A memory whose agents may write, at a moment that does not move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOON = 1_769_860_800.0  # 2026-01-31 12:00 in UTC


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Opens the memory of one workspace, as often as wanted; ``flush`` are keys of compaction."""
    opened: list[Memory] = []
    (tmp_path / "notes").mkdir()

    def open_(*, write: bool = True, flush: dict[str, Any] | None = None) -> Memory:
        defaults = {
            "compaction": flush or {},
            "memorySearch": {"query": {"timeZone": "UTC"}},
        }
        memory = Memory.open(
            workspace=tmp_path / "notes",
            config={"agents": {"defaults": defaults}, "memory": {"write": {"enabled": write}}},
            env={
                "HOME": str(tmp_path),
                "COMMONPLACE_STATE_DIR": str(tmp_path / "state"),
                "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache"),
            },
            clock=lambda: NOON,
        )
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def noon() -> Callable[[], float]:
    """A clock that stands at noon of 2026-01-31 in UTC."""
    return lambda: NOON
