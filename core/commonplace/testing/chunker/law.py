"""What all laws of chunkers stand on: a chunker, and texts to cut."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import strategies as st

from commonplace.model.documents import Document, DocumentRef
from commonplace.protocols.contexts import ChunkerContext
from commonplace.testing.law import Laws, law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.protocols.sources import Chunker

__all__ = ["NASTY", "USUAL", "ChunkerLaws", "document", "law", "lines_of", "texts"]

USUAL = ChunkerContext(size=400, overlap=60)

_FRAGMENTS = (
    *("\n", "\n\n", "\r\n", "\r", "\t", " ", "    ", "\f", "\v", "\x85", "\u2028"),
    *("word ", "some more words", "a_long_identifier_without_a_space", "x" * 90, "x" * 900),
    *("# Heading\n", "## Sub\n", "\nTitle\n===\n", "- item\n", "1. item\n", "> quote\n", "---\n"),
    *("```\n", "~~~\n", "| a | b |\n|---|---|\n| c | d |\n", "<div>\n", "<!--", "-->", "[a]: b\n"),
    *("\0", "\ufeff", "\u200b", "e\u0301", "a\u0300\u0301\u0302", "\u0301"),
    *(
        "\u65e5\u672c\u8a9e\u306e\u6587\u3002",
        "\u6f22\u5b57" * 60,
        "\u0e21\u0e49\u0e32\u0e25\u0e32\u0e22",
    ),
    *("\U0001f44d\U0001f3fd", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea"),
    *("word " * 60, "- item\n" * 30, "line of words\n" * 30),
)

NASTY = {
    "one long line": "x",
    "one long line of words": "lorem ipsum ",
    "lines": "a line of words\n",
    "blank lines": "\n",
    "headings": "# h\n\ntext\n",
    "quotes in a line": "> ",
    "fences": "```\n",
    "brackets": "[",
    "marks on one letter": "\u0301",
}
"""What a long text is made of, by repeating it."""


class ChunkerLaws(Laws):
    """What all laws of chunkers stand on."""

    subject: ClassVar[str] = "chunker"

    def make_chunker(self, context: ChunkerContext) -> Chunker:
        """Make the chunker, as its registration's factory does."""
        raise NotImplementedError(f"{type(self).__name__} has to define make_chunker(context)")

    def declared(self, subject: Any) -> frozenset[str]:
        """Nothing: chunkers have no choice."""
        del subject
        return frozenset()

    @contextmanager
    def opened(self) -> Iterator[Chunker]:
        """A chunker of a usual size."""
        yield self.make_chunker(USUAL)


def document(text: str, line_map: tuple[int, ...] | None = None) -> Document:
    """A note of this text."""
    ref = DocumentRef("memory", "memory/note.md", "/workspace/memory/note.md", (0, 0, 0, 0))
    return Document(ref, text, "", line_map=line_map)


def lines_of(text: str) -> list[str]:
    """Its lines, which end at line feeds; a carriage return before one is part of the end."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def texts() -> st.SearchStrategy[str]:
    """Markdown and anything else, put together of pieces that are hard to cut; no surrogates."""
    pieces = st.lists(st.sampled_from(_FRAGMENTS) | st.text(max_size=5), max_size=25).map("".join)
    return pieces.map(lambda text: re.sub("[\ud800-\udfff]", "?", text))
