"""A retriever and a memory block for LlamaIndex."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from commonplace_adapters.extras import extra
from commonplace_adapters.remembering import remember_all

with extra("llama-index"):
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

if TYPE_CHECKING:
    from commonplace import Hit, MemoryTools


class MemoryRetriever(BaseRetriever):
    """Passages from memory as nodes, ``max_results`` at most (``None``: as configured).

    A node's text is the passage as an agent is shown it, fenced and with its citation.
    """

    def __init__(self, tools: MemoryTools, max_results: int | None = None) -> None:
        super().__init__()
        self._tools = tools
        self._max_results = max_results

    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        found = self._tools.search(query_bundle.query_str, max_results=self._max_results)
        return [NodeWithScore(node=self._node(hit), score=hit.score) for hit in found.hits]

    def _node(self, hit: Hit) -> TextNode:
        return TextNode(id_=hit.citation, text=hit.as_prompt(citations=self._tools.cited))

    async def _aretrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class MemoryBlock(BaseMemoryBlock[str]):
    """What memory holds on the latest message of the user, for ``Memory(memory_blocks=[...])``."""

    name: str = "notes"
    description: str | None = "Passages from long-term notes on the latest message."
    tools: Any
    """The :class:`~commonplace.MemoryTools` of the memory."""
    writer: Any = None
    """The :class:`~commonplace.Writer` of messages that leave the short-term memory, if any."""

    async def _aget(self, messages: list[Any] | None = None, **_: object) -> str:
        questions = [message.content for message in messages or () if message.role == "user"]
        if not questions or not questions[-1]:
            return ""
        query = {"query": questions[-1][:2000]}
        answer = await asyncio.to_thread(self.tools.call, "memory_search", query)
        # LlamaIndex puts the text between <name> tags as it is.
        return re.sub(rf"<(?=/?{re.escape(self.name)}\b)", "&lt;", answer.text, flags=re.IGNORECASE)

    async def _aput(self, messages: list[Any]) -> None:
        """Add messages to today's log; without a writer, keep nothing."""
        if self.writer is not None:
            texts = [f"{m.role.value}: {m.content}" for m in messages if m.content]
            await asyncio.to_thread(remember_all, self.writer, texts, "left the short-term memory")
