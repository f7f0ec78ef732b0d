"""The engine keeps every law of engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings

from commonplace.testing import MemoryManagerConformance
from commonplace_example_kinds.plugin import CAPABILITIES, make_manager

if TYPE_CHECKING:
    from commonplace.plugin import ManagerContext, MemoryManager


class TestWhooshEngine(MemoryManagerConformance):
    capabilities = CAPABILITIES
    settings = settings(max_examples=5)

    def open_manager(self, context: ManagerContext) -> MemoryManager:
        return make_manager(context)
