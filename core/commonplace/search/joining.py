"""Hits that belong together: newer ones of those that fold, and chunks of one passage.

Where hits fold and the list that they come from was cut off, newer ones may lie behind its end: the
backend is asked for them. And a chunk ends where it is long enough, not where its passage does: two
chunks of one section that both match would be two hits for one thing, and repeat the lines that
they share. They become one hit. This file is imported only where either is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import DeclinedError, UnavailableError, reason_of
from commonplace.model.search import Candidate, Step, cited
from commonplace.protocols.contexts import MOST_HITS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.search import Arm, StoredChunk
    from commonplace.protocols.contexts import FurtherHits
    from commonplace.search.choosing import Folding

_ROUNDS = 4


def add_further(
    folding: Folding,
    further: FurtherHits,
    readable: Callable[[Candidate], bool],
    more: Callable[[tuple[Arm, ...]], Sequence[Candidate]],
    wanted: int,
) -> tuple[str, ...]:
    """Add to ``folding`` what is newer than what folds, and more where fewer are left than wanted.

    ``more`` gives the hits of lists, in order, that may be shown. Returns a note where the
    backend fails: what was found before is an answer, but not all of it.
    """
    notes = _add_newer(folding, further, readable)
    if len(folding.folded()) < wanted:
        try:
            arms = further.ask(further.query, where=further.where)
        except (UnavailableError, DeclinedError) as error:
            return (*notes, f"further notes may be missing: {reason_of(error)}")
        folding.add(more(tuple(arms)), limit=wanted)
    return notes


def _add_newer(
    folding: Folding, further: FurtherHits, readable: Callable[[Candidate], bool]
) -> tuple[str, ...]:
    """Add to ``folding`` what the active backend has, until there is nothing newer.

    First it is asked for more, then for what is newer. Returns a note where the backend fails: the
    hits found before may not be the newest.
    """
    words, where, before = further.query.keyword, further.where, None
    for _ in range(_ROUNDS):
        since = folding.since()
        if since is None or where == before:
            break
        must = (*words.must, *folding.shared(words.should))
        query = further.query._replace(keyword=words._replace(must=must, plain=True))
        try:
            arms = further.ask(query, where=where)
        except (UnavailableError, DeclinedError) as error:
            return (f"newer notes that say the same may be missing: {reason_of(error)}",)
        folding.add(filter(readable, further.united(arms)), limit=0)
        if all(len(arm.found) < MOST_HITS for arm in arms):
            break
        before, newest = where, folding.since() or since
        where = where._replace(after=max(newest, where.after or ""))
    return ()


MOST = 1_000
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
    if len(text) > MOST:
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
    explain = better.explain.replace(steps=(*better.explain.steps, step))
    return better._replace(
        chunk=whole,
        explain=explain,
        similar=(*better.similar, *other.similar),
        earlier=(*better.earlier, *other.earlier),
        lines=None,
        best=better.best or (better.chunk.start_line, better.chunk.end_line),
    )
