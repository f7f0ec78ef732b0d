from __future__ import annotations

from hashlib import shake_128
from typing import TYPE_CHECKING

from commonplace.embedding.guarded import GuardedProvider
from commonplace.embedding.service import EmbeddingService
from commonplace.index.manager import IndexedMemoryManager
from commonplace.protocols.contexts import StoreContext
from commonplace.protocols.providers import Limits
from commonplace.resilience.breaker import CircuitBreaker
from commonplace.testing import MemoryManagerConformance
from commonplace.testing.manager_laws import CAPABILITIES
from commonplace.text.analyse import make_analyser
from commonplace_chunkers.lines import LinesChunker
from commonplace_chunkers.plugin import MarkdownChunker
from commonplace_inmemory.store import InMemoryStore
from commonplace_sqlite.plugin import make_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.protocols.contexts import ManagerContext
    from commonplace.protocols.managers import MemoryManager
    from commonplace.resilience.deadline import Deadline


class Hashing:
    """Vectors without any meaning."""

    model = "hashing"
    limits = Limits(items=8)
    capabilities: frozenset[str] = frozenset()
    concurrency = 1

    def fingerprint(self) -> str:
        return "hashing"

    def embed(self, texts: Sequence[str], *, purpose: str, deadline: Deadline) -> list[list[float]]:
        return [
            [byte - 127.5 for byte in shake_128(text.encode("utf-8", "replace")).digest(8)]
            for text in texts
        ]

    def close(self) -> None:
        pass


class TestIndexedInMemory(MemoryManagerConformance):
    capabilities = CAPABILITIES - {"persistent"}

    def open_manager(self, context: ManagerContext) -> MemoryManager:
        return IndexedMemoryManager(
            store=InMemoryStore(),
            sources=context.sources,
            chunker=MarkdownChunker(1600, 100),
            analyser=make_analyser(),
            workspace=context.workspace,
        )


class TestIndexedBuiltin(MemoryManagerConformance):
    def open_manager(self, context: ManagerContext) -> MemoryManager:
        return IndexedMemoryManager(
            store=make_store(StoreContext(path=f"{context.state_dir}/index.sqlite")),
            sources=context.sources,
            chunker=LinesChunker(1600, 100),
            analyser=make_analyser(),
            workspace=context.workspace,
        )


class TestIndexedBuiltinWithVectors(MemoryManagerConformance):
    def open_manager(self, context: ManagerContext) -> MemoryManager:
        link = GuardedProvider("hashing", Hashing(), CircuitBreaker())
        service = EmbeddingService([link], None)
        return IndexedMemoryManager(
            store=make_store(StoreContext(path=f"{context.state_dir}/index.sqlite")),
            sources=context.sources,
            chunker=MarkdownChunker(1600, 100),
            analyser=make_analyser(),
            workspace=context.workspace,
            embedding=lambda: service,
        )
