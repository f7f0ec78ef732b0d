"""A memory service for Google's Agent Development Kit."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from commonplace.plugin import CommonplaceError, reason_of, unfenced
from commonplace_adapters.extras import extra
from commonplace_adapters.remembering import remember_all

with extra("google-adk"):
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai.types import Content, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace import MemoryTools, Writer

_OUTER = re.compile(r"<(?=/?PAST_CONVERSATIONS\b)", re.IGNORECASE)


class MemoryService(BaseMemoryService):
    """Notes for ``Runner(memory_service=...)`` and ADK's tools load_memory and preload_memory.

    ``memory_of`` gives the memory of an app's user, by ``app_name`` and ``user_id``: one user must
    not be given the notes of another. ``writer_of`` gives what writes there; without, what is to
    be added raises ``NotImplementedError``.
    """

    def __init__(
        self,
        memory_of: Callable[[str, str], MemoryTools],
        writer_of: Callable[[str, str], Writer] | None = None,
    ) -> None:
        self._memory_of = memory_of
        self._writer_of = writer_of

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Passages for ``query``, or one entry that says why there are none and what to do."""
        tools = self._memory_of(app_name, user_id)
        try:
            result = await asyncio.to_thread(tools.search, query)
        except CommonplaceError as error:
            refused = _entry(f"Memory did not answer: {unfenced(reason_of(error))}")
            return SearchMemoryResponse(memories=[refused])
        entries = [
            _entry(
                # preload_memory puts the text between these tags as it is.
                _OUTER.sub("&lt;", hit.as_prompt(citations=tools.cited)),
                id=hit.citation,
                timestamp=hit.day,
                custom_metadata={"score": hit.score, "trust": hit.trust},
            )
            for hit in result.hits
        ]
        return SearchMemoryResponse(memories=entries)

    async def add_session_to_memory(self, session: Any) -> None:
        """Add what was said to today's log, but for what memory holds: so it may come again."""
        await self._add(session.app_name, session.user_id, session.events, "a session was added")

    async def add_memory(
        self, *, app_name: str, user_id: str, memories: Sequence[MemoryEntry], **_: object
    ) -> None:
        """Add texts to today's log, but for what memory holds."""
        await self._add(app_name, user_id, memories, "added as a memory")

    async def _add(self, app_name: str, user_id: str, given: Sequence[Any], why: str) -> None:
        if self._writer_of is None:
            raise NotImplementedError("this memory service has no writer")
        writer = self._writer_of(app_name, user_id)
        messages = [(one.author, _text(one.content)) for one in given]
        texts = [f"{author}: {text}" if author else text for author, text in messages if text]
        await asyncio.to_thread(remember_all, writer, texts, why)


def _text(content: Content | None) -> str:
    parts = content.parts or [] if content is not None else []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(text: str, **kw: Any) -> MemoryEntry:
    return MemoryEntry(content=Content(role="user", parts=[Part(text=text)]), author="notes", **kw)
