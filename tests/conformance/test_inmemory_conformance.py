from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.protocols.contexts import StoreContext
from commonplace.testing import StoreConformance
from commonplace_inmemory.plugin import make_store

if TYPE_CHECKING:
    from commonplace.protocols.parts import Store


class TestInMemoryStore(StoreConformance):
    def open_store(self, directory: str) -> Store:
        return make_store(StoreContext(path=f"{directory}/index"))
