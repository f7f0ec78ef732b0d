"""The store keeps every law of stores; nothing is skipped but what must not be declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings

from commonplace.spec import StoreContext
from commonplace.testing import StoreConformance
from commonplace_example_milvus.plugin import make_store

if TYPE_CHECKING:
    from commonplace.spec import Store


class TestMilvusStore(StoreConformance):
    # Opening a store takes a tenth of a second.
    settings = settings(max_examples=5, stateful_step_count=12)

    def open_store(self, directory: str) -> Store:
        return make_store(StoreContext(path=f"{directory}/index"))
