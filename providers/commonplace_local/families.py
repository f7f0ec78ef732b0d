"""What families of embedding models expect in front of a text, with the lengths they allow."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PLAIN", "Family", "family_of"]


class Family(NamedTuple):
    """One family: the prompts of its model card, and the lengths it was trained to be cut to.

    No ``lengths`` means that any will do, or that nothing is known; ``pooling`` is used where the
    file itself says nothing.
    """

    name: str
    query: str = ""
    document: str = ""
    lengths: tuple[int, ...] = ()
    pooling: str = "mean"


PLAIN = Family("plain")
"""A model that nothing is known of: texts go to it as they are."""

_QWEN = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
_BGE = "Represent this sentence for searching relevant passages: "

# The first whose key occurs in a name wins.
_FAMILIES = (
    (
        ("embeddinggemma", "gemma-embedding"),
        Family(
            "embeddinggemma",
            "task: search result | query: ",
            "title: none | text: ",
            (768, 512, 256, 128),
        ),
    ),
    (
        ("nomic-embed-text",),
        Family("nomic", "search_query: ", "search_document: ", (768, 512, 256, 128, 64)),
    ),
    (("qwen3-embedding",), Family("qwen3", _QWEN, pooling="last")),
    # The multilingual BGE-M3 was trained without instructions.
    (("bge-small-en", "bge-base-en", "bge-large-en"), Family("bge-en", _BGE, "", (), "cls")),
    (("bge-m3",), Family("bge-m3", pooling="cls")),
    (("e5-small", "e5-base", "e5-large"), Family("e5", "query: ", "passage: ")),
    (("all-minilm",), Family("minilm")),
)


def family_of(*names: str) -> Family:
    """The family that one of ``names`` (of a model, an architecture, a file) tells of."""
    told = [name.lower().replace("_", "-").replace(" ", "-") for name in names]
    for keys, family in _FAMILIES:
        if any(key in name for key in keys for name in told):
            return family
    return PLAIN
