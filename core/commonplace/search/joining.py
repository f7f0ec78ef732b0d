"""Chunks of one passage as one hit.

A chunk ends where it is long enough, not where its passage does, and two of one section would
repeat the lines that they share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.search import Step, cited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.model.search import Candidate, StoredChunk

MOST_OF_A_PASSAGE = 1_000
"""The most characters of a joined passage.

A snippet shows 700 of them, with the best chunk among them: with 1,600, two chunks of the usual
size, hits met more of what was asked for, but the snippets of daily logs showed less of it.
"""


def joined(ranked: Sequence[Candidate], *, limit: int) -> list[Candidate]:
    """The first ``limit`` passages of ``ranked``, best first; see :func:`one_passage`.

    Each has the rank and the score of its best chunk, and the lines of all. Chunks that come after
    the last passage that is shown are not compared.
    """
    shown: dict[int, Candidate] = {}  # by rank
    documents: dict[tuple[str, str], list[int]] = {}
    for rank, candidate in enumerate(ranked):
        ranks = documents.setdefault((candidate.chunk.source, candidate.chunk.path), [])
        into = next((other for other in ranks if _join(shown, other, candidate)), None)
        if into is not None:
            # The passage that has grown may touch another one now.
            for other in [other for other in ranks if other != into]:
                first, second = sorted((into, other))
                if _join(shown, first, shown[second]):
                    ranks.remove(second)
                    del shown[second]
                    into = first
        elif len(shown) < limit:
            ranks.append(rank)
            shown[rank] = candidate
        else:
            break
    return list(shown.values())


def _join(shown: dict[int, Candidate], rank: int, other: Candidate) -> bool:
    """Join ``other`` to the candidate of this ``rank``, if they are one passage."""
    whole = one_passage(shown[rank].chunk, other.chunk)
    if whole is not None:
        shown[rank] = _joined(shown[rank], other, whole)
    return whole is not None


def one_passage(chunk: StoredChunk, other: StoredChunk) -> StoredChunk | None:
    """Both as one chunk, with the id of the first; ``None`` where they are not one passage.

    They are if they stand under the same heading of one document, no line lies between them, the
    lines that both have are the same, and the whole has 1,000 characters at most.
    """
    if (chunk.path, chunk.source, chunk.heading) != (other.path, other.source, other.heading):
        return None
    upper, lower = sorted((chunk, other), key=lambda part: (part.start_line, -part.end_line))
    shared = upper.end_line + 1 - lower.start_line
    if shared < 0:
        return None
    above, below = _lines(upper), _lines(lower)
    if not above or not below:
        return None
    inside = min(shared, len(below))
    begins = len(above) - shared
    if above[begins : begins + inside] != below[:inside]:
        return None
    text = "\n".join((*above, *below[inside:]))
    if len(text) > MOST_OF_A_PASSAGE:
        return None
    end = max(upper.end_line, lower.end_line)
    return chunk._replace(start_line=upper.start_line, end_line=end, text=text)


def _lines(chunk: StoredChunk) -> list[str]:
    """The lines of its text; none where the text is a piece of a line, as of one that is long."""
    lines = chunk.text.split("\n")
    return lines if len(lines) == chunk.end_line - chunk.start_line + 1 else []


def _joined(better: Candidate, other: Candidate, whole: StoredChunk) -> Candidate:
    lines = cited("", other.chunk.start_line, other.chunk.end_line).removeprefix("#")
    note = f"one passage with {lines}, which scored {other.score:.4f}"
    step = Step(ranker="join", before=better.score, after=better.score, note=note)
    explain = better.explain._replace(steps=(*better.explain.steps, step))
    return better._replace(
        chunk=whole,
        explain=explain,
        similar=(*better.similar, *other.similar),
        earlier=(*better.earlier, *other.earlier),
        lines=None,
        best=better.best or (better.chunk.start_line, better.chunk.end_line),
    )
