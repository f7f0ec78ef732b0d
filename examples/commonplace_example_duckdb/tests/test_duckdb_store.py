"""The store keeps every law of stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings

from commonplace.plugin import StoreContext
from commonplace.testing import StoreConformance
from commonplace_example_duckdb.plugin import make_store

if TYPE_CHECKING:
    from commonplace.plugin import Store


class TestDuckStore(StoreConformance):
    # Opening a store takes a tenth of a second.
    settings = settings(max_examples=2, stateful_step_count=8)

    def open_store(self, directory: str) -> Store:
        return make_store(StoreContext(path=f"{directory}/index"))
