"""Notes as a store of LangGraph."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from commonplace_adapters.extras import extra
from commonplace_adapters.langgraph_items import put_item, read_item, read_notes, search_items

with extra("langgraph"):
    from langgraph.store.base import BaseStore, GetOp, ListNamespacesOp, PutOp, SearchOp
    from langgraph.store.memory import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from commonplace import MemoryTools, Writer
    from commonplace_adapters.langgraph_items import Found

    Namespace = tuple[str, ...]


class NotesStore(BaseStore):
    """A store for ``graph.compile(store=...)`` that has a namespace for each of ``memories``.

    What was put comes back as it was put, with secrets masked: an item is a note that holds its
    value as JSON. Other notes have their path as key, and passages of them a citation; their
    ``value["text"]`` is text as an agent is shown it, fenced. A search without a query lists notes.
    The times of items are those of the answer. Puts need a writer of their namespace; without, they
    raise ``NotImplementedError``.
    """

    def __init__(
        self,
        memories: Mapping[Namespace, MemoryTools],
        writers: Mapping[Namespace, Writer] | None = None,
    ) -> None:
        self._memories = dict(memories)
        self._writers = dict(writers or {})

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Answer ``ops`` in their order, then put; of puts with one key the last counts.

        Raises what ``MemoryTools.search`` and ``read`` do, and ``Writer.change``.
        """
        operations = list(ops)
        answers = [None if isinstance(op, PutOp) else self._answer(op) for op in operations]
        puts = {(op.namespace, op.key): op for op in operations if isinstance(op, PutOp)}
        for op in puts.values():
            if op.namespace not in self._writers:
                raise NotImplementedError(f"this store has no writer for {op.namespace}")
            put_item(self._writers[op.namespace], op.key, op.value)
        return answers

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """The same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _answer(self, op: Any) -> Any:
        candidates = InMemoryStore()  # LangGraph's own: it knows how names and filters match
        scores: dict[Any, float | None] = {}
        for namespace, tools in self._memories.items():
            for key, value, score in _candidates(tools, namespace, op):
                if (namespace, key) not in scores:
                    candidates.put(namespace, key, value)
                    scores[namespace, key] = score
        if not isinstance(op, SearchOp):
            return candidates.batch([op])[0]
        items: Any = candidates.batch([op._replace(query=None, limit=1_000_000, offset=0)])[0]
        for item in items:
            item.score = scores[item.namespace, item.key]
        items.sort(key=lambda item: -(item.score or 0))
        return items[op.offset : op.offset + op.limit]


def _candidates(tools: MemoryTools, namespace: Namespace, op: Any) -> Iterable[Found]:
    """What ``op`` may be about in one memory."""
    if isinstance(op, ListNamespacesOp):
        return [("", {}, None)]
    if isinstance(op, GetOp):
        return read_item(tools, op.key) if op.namespace == namespace else ()
    if namespace[: len(op.namespace_prefix)] != op.namespace_prefix:
        return ()
    wanted = op.offset + op.limit
    if op.query:
        return search_items(tools, op.query, 50 if op.filter else wanted)
    paths = tools.paths()
    return read_notes(tools, paths if op.filter else paths[:wanted])
