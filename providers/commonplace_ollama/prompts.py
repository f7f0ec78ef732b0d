"""The words that models want before a query or a document, which Ollama does not add."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Prompts", "prompts_of"]


class Prompts(NamedTuple):
    """What stands before a text."""

    query: str = ""
    document: str = ""


_PASSAGES = "Represent this sentence for searching relevant passages: "
_CHINESE_PASSAGES = "为这个句子生成表示以用于检索相关文章："

# By how a model's name begins, without publisher and tag; the first that fits.
_FAMILIES: tuple[tuple[str, Prompts], ...] = (
    ("embeddinggemma", Prompts("task: search result | query: ", "title: none | text: ")),
    ("nomic-embed-text", Prompts("search_query: ", "search_document: ")),
    (
        "qwen3-embedding",
        Prompts(
            "Instruct: Given a web search query, retrieve relevant passages that answer the query"
            "\nQuery:"
        ),
    ),
    ("mxbai-embed", Prompts(_PASSAGES)),
    ("snowflake-arctic-embed2", Prompts("query: ")),
    ("snowflake-arctic-embed", Prompts(_PASSAGES)),
    ("bge-m3", Prompts()),
    ("bge-multilingual", Prompts()),
    ("bge-small-zh", Prompts(_CHINESE_PASSAGES)),
    ("bge-base-zh", Prompts(_CHINESE_PASSAGES)),
    ("bge-large-zh", Prompts(_CHINESE_PASSAGES)),
    ("bge-", Prompts(_PASSAGES)),
    ("multilingual-e5", Prompts("query: ", "passage: ")),
    ("e5-", Prompts("query: ", "passage: ")),
)


def prompts_of(model: str) -> Prompts:
    """The prompts of ``model``'s family; none for a family that is not known or wants none."""
    name = model.rpartition("/")[2].partition(":")[0].lower()
    return next((prompts for start, prompts in _FAMILIES if name.startswith(start)), Prompts())
