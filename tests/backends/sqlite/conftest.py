"""Fixtures for the tests of the SQLite store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where an index may be made; its folder does not exist yet."""
    return str(tmp_path / "state" / "index.sqlite")


@pytest.fixture
def open_store(path: str) -> Iterator[Callable[..., SqliteStore]]:
    """Opens stores on ``path``, or on another, and closes them after the test."""
    opened: list[SqliteStore] = []

    def make(where: str = path, *, vfs: str = "") -> SqliteStore:
        store = SqliteStore(where, vfs=vfs, busy_ms=50)
        opened.append(store)
        return store

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[..., SqliteStore]) -> SqliteStore:
    """A store on ``path``."""
    return open_store()
