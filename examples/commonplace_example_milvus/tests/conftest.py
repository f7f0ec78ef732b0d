"""Stores for tests, in folders of their own."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from commonplace.plugin import StoreContext
from commonplace_example_milvus.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commonplace_example_milvus.settings import MilvusSettings
    from commonplace_example_milvus.store import MilvusStore


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., MilvusStore]]:
    """Open the store of this test, as often as wanted; all are closed at the end."""
    with ExitStack() as stack:

        def open_it(settings: MilvusSettings | None = None) -> MilvusStore:
            store = open_store(StoreContext(path=str(tmp_path / "index"), config=settings))
            stack.callback(store.close)
            return store

        yield open_it
