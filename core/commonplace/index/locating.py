"""Finding where a chunk stands of which only the text is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import CommonplaceError
from commonplace.model.chunks import embedding_text
from commonplace.model.search import KeywordQuery, Where

if TYPE_CHECKING:
    from commonplace.model.search import StoredChunk
    from commonplace.protocols.stores import Store
    from commonplace.resilience.deadline import Deadline
    from commonplace.text.analyse import Analyser

__all__ = ["place_of"]

_WORDS = 64
_DEPTH = 50


def place_of(store: Store, analyser: Analyser, text: str, *, deadline: Deadline) -> str:
    """The path and lines of a chunk whose embedding is made of ``text``, as ``path#L3-L9``.

    ``""`` where there is none, or none that its own words find, or where nobody can say.
    """
    try:
        return _found(store, analyser, text, deadline)
    except CommonplaceError:
        return ""  # a place is for people to read: for want of one nothing shall end


def _found(store: Store, analyser: Analyser, text: str, deadline: Deadline) -> str:
    words = [word for _, _, words in analyser.spans(text) for word in words]
    query = KeywordQuery(should=tuple(dict.fromkeys(words))[:_WORDS])
    ranked = store.keyword(query, where=Where(), limit=_DEPTH, deadline=deadline)
    for chunk in store.fetch([id_ for id_, _ in ranked]):
        if embedding_text(chunk) == text:
            return _cited(chunk)
    return ""


def _cited(chunk: StoredChunk) -> str:
    lines = f"#L{chunk.start_line}"
    if chunk.end_line != chunk.start_line:
        lines += f"-L{chunk.end_line}"
    return chunk.path + lines
