"""Short ways to make what a store is given."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from commonplace.model.chunks import AnalysedChunk, AppendDocument, Chunk, PutDocument, Terms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.model.documents import Stamp, Trust

__all__ = ["make_append", "make_chunk", "make_put"]


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
    fingerprint: str = "fingerprint",
    resume: str = "",
) -> PutDocument:
    """A document of ``chunks``; those given as text stand on consecutive lines."""
    made = _placed(chunks, 1)
    text = "\n".join(chunk.chunk.text for chunk in made)
    return PutDocument(
        source=source,
        path=path,
        digest=_digest(text),
        stamp=stamp or (len(text), 1_000_000_000, 1_000_000_000, 1),
        fingerprint=fingerprint,
        day=day,
        trust=trust,
        chunks=made,
        resume=resume,
    )


def make_append(
    path: str,
    *chunks: str | AnalysedChunk,
    keep: int,
    source: str = "memory",
    day: str | None = None,
    stamp: Stamp | None = None,
    line: int = 101,
    resume: str = "",
) -> AppendDocument:
    """What follows the first ``keep`` chunks of a document; see :func:`make_put`.

    Chunks given as text stand on the lines from ``line`` on.
    """
    made = _placed(chunks, line)
    text = "\n".join(chunk.chunk.text for chunk in made)
    return AppendDocument(
        source=source,
        path=path,
        keep=keep,
        digest=_digest(f"{keep} {text}"),
        stamp=stamp or (len(text), 2_000_000_000, 2_000_000_000, 1),
        day=day,
        chunks=made,
        resume=resume,
    )


def _placed(chunks: Iterable[str | AnalysedChunk], line: int) -> tuple[AnalysedChunk, ...]:
    made: list[AnalysedChunk] = []
    for chunk in chunks:
        made.append(make_chunk(chunk, line=line) if isinstance(chunk, str) else chunk)
        line = made[-1].chunk.end_line + 1
    return tuple(made)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
