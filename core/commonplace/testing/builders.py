"""Short ways to make what a store is given."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from commonplace.model.chunks import AnalysedChunk, Chunk, PutDocument, Terms

if TYPE_CHECKING:
    from commonplace.model.documents import Stamp, Trust

__all__ = ["make_chunk", "make_put"]


def make_chunk(
    text: str,
    *,
    line: int = 1,
    heading: tuple[str, ...] = (),
    body: str | None = None,
    head: str = "",
    extra: str = "",
) -> AnalysedChunk:
    """A chunk that begins at ``line``; its terms are the words of ``text`` unless ``body`` is."""
    return AnalysedChunk(
        chunk=Chunk(line, line + text.count("\n"), text, heading),
        terms=Terms(" ".join(text.casefold().split()) if body is None else body, head, extra),
        digest=_digest("\n".join((*heading, "", text))),
    )


def make_put(
    path: str,
    *chunks: str | AnalysedChunk,
    source: str = "memory",
    day: str | None = None,
    trust: Trust = "memory",
    stamp: Stamp | None = None,
    recipe: str = "recipe",
) -> PutDocument:
    """A document of ``chunks``; those given as text stand on consecutive lines."""
    made: list[AnalysedChunk] = []
    for chunk in chunks:
        line = made[-1].chunk.end_line + 1 if made else 1
        made.append(make_chunk(chunk, line=line) if isinstance(chunk, str) else chunk)
    text = "\n".join(chunk.chunk.text for chunk in made)
    return PutDocument(
        source=source,
        path=path,
        digest=_digest(text),
        stamp=stamp or (len(text), 1_000_000_000, 1_000_000_000, 1),
        recipe=recipe,
        day=day,
        trust=trust,
        chunks=tuple(made),
    )


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
