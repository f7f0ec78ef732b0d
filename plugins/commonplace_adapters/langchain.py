"""A retriever and tools for LangChain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace_adapters.extras import extra

with extra("langchain"):
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import StructuredTool

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace import MemoryTools


class MemoryRetriever(BaseRetriever):
    """Passages from memory as documents.

    ``page_content`` is the passage as an agent is shown it, fenced and with its citation, so that
    prompts made of documents carry both. Raises what ``MemoryTools.search`` does.
    """

    tools: Any
    """The :class:`~commonplace.MemoryTools` of the memory."""
    max_results: int | None = None
    """Passages at most; ``None``: as configured."""

    def _get_relevant_documents(self, query: str, **_: object) -> list[Document]:
        result = self.tools.search(query, max_results=self.max_results)
        return [
            Document(
                page_content=hit.as_prompt(citations=self.tools.cited),
                id=hit.citation,
                metadata={"path": hit.path, "score": hit.score, "trust": hit.trust},
            )
            for hit in result.hits
        ]


def memory_tools(tools: MemoryTools) -> list[StructuredTool]:
    """The tools of ``tools`` for agents; a result's ``artifact`` has the data of the answer."""
    return [
        _Tool(
            name=tool.name,
            description=tool.description,
            args_schema=tool.parameters,
            func=_function(tools, tool.name),
            response_format="content_and_artifact",
        )
        for tool in tools.definitions
    ]


class _Tool(StructuredTool):
    """A tool whose function takes whatever the model wrote as one value.

    As keywords, a name such as ``self`` or ``config`` among them would end the run.
    """

    def _parse_input(self, tool_input: Any, _: Any) -> dict[str, Any]:
        return {"arguments": tool_input}


def _function(tools: MemoryTools, name: str) -> Callable[[Any], tuple[str, dict[str, Any]]]:
    def call(arguments: Any) -> tuple[str, dict[str, Any]]:  # LangChain reads the annotations
        answer = tools.call(name, arguments)
        return answer.text, answer.data

    return call
