"""Rankers that reorder hits and keep their scores: by their sources, and by the file's name."""

from __future__ import annotations

import re
from collections import Counter
from math import ceil
from typing import TYPE_CHECKING

from commonplace.plugin import with_step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext


class SourceBalance:
    """Keeps one source from crowding the others out of the hits that are shown.

    Of the first ``limit`` hits a source gets at most ``ceil(share x limit)``, or an even share of
    them where that is more, as some source must fill the list. A hit beyond that waits behind the
    best hit of a source below its share, if that one scores at least ``least`` times as much.
    Scores stay. Where conversations alone have filled the list, the backend is asked for what other
    sources have: their hits get the score of the weakest one, or less, by BM25.
    """

    id = "source_balance"
    stage: Literal["select"] = "select"
    needs: frozenset[str] = frozenset()

    def __init__(self, share: float = 0.5, least: float = 0.75) -> None:
        if not (0 <= share <= 1 and 0 <= least <= 1):
            raise ValueError("a share is 0 to 1")
        self._share = share
        self._least = least

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Reorder; the hits behind the limit keep their order."""
        hits = [*hits, *self._others(hits, context)]
        if len({hit.chunk.source for hit in hits}) < 2:
            return [with_step(hit, self.id, hit.score, "one source") for hit in hits]
        most = max(ceil(self._share * context.limit), _even_share(hits, context.limit))
        shown: list[int] = []
        waiting = list(range(len(hits)))
        counts: Counter[str] = Counter()  # of the hits that are shown, by source
        while waiting and len(shown) < context.limit:
            index = self._next(hits, waiting, counts, most)
            waiting.remove(index)
            shown.append(index)
            counts[hits[index].chunk.source] += 1
        return _reordered(self.id, hits, [*shown, *waiting])

    def _next(
        self, hits: Sequence[Candidate], waiting: Sequence[int], counts: Counter[str], most: int
    ) -> int:
        """The best of ``waiting``, or a good enough one where its source has ``most`` already."""
        first = waiting[0]
        if counts[hits[first].chunk.source] < most:
            return first
        enough = self._least * hits[first].score
        return next(
            (
                index
                for index in waiting
                if hits[index].score >= enough and counts[hits[index].chunk.source] < most
            ),
            first,
        )

    def _others(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Hits of other sources, best first, where ``hits`` are all of conversations."""
        sources = frozenset(hit.chunk.source for hit in hits)
        full = len(hits) >= context.limit and all(hit.chunk.trust == "session" for hit in hits)
        if not full or context.further is None:
            return []
        keyword = context.query.keyword._replace(plain=True)  # one kind of score for all of them
        others = _by_words(context.further(keyword, without=sources))
        if not others:
            return []
        known = {hit.chunk.id: raw for hit, raw in _by_words(context.further(keyword))}
        weakest = min(
            (hit for hit in hits if known.get(hit.chunk.id, 0) > 0),
            key=lambda hit: hit.score,
            default=None,
        )
        if weakest is None:
            return []
        note = "asked for, as conversations filled the list"
        return [
            with_step(hit, self.id, weakest.score * min(1, raw / known[weakest.chunk.id]), note)
            for hit, raw in others[: context.limit]
        ]


def _even_share(hits: Sequence[Candidate], limit: int) -> int:
    """The most hits that one source needs to have, so that all together fill ``limit``."""
    counts = Counter(hit.chunk.source for hit in hits).values()
    wanted = min(limit, len(hits))
    return next(most for most in range(1, limit + 1) if sum(min(n, most) for n in counts) >= wanted)


def _by_words(hits: Sequence[Candidate]) -> list[tuple[Candidate, float]]:
    """Those that were found by their words, with their BM25, best first."""
    # One of several arms where its words were asked for singly.
    by_words = [(hit, [a.raw for a in hit.explain.arms if a.kind == "bm25"]) for hit in hits]
    best = [(hit, max(scores)) for hit, scores in by_words if scores]
    return sorted(best, key=lambda scored: -scored[1])


_TRIMMED = "\"'`“”„«»「」『』()[]<>,;:!?。，、？！"
_ENDING = re.compile(r"\.[a-z0-9]{1,8}$")


class ExactPath:
    """Puts the file first that the query names: by its path, then by its name, then by its stem.

    Names are compared without case. A path may lack the folders before it. Of a query of several
    words, those count that hold a dot, a slash, a digit, ``-`` or ``_``, where ``anywhere`` is
    set: a plain word names no file. Scores stay.
    """

    id = "exact_path"
    stage: Literal["select"] = "select"
    needs: frozenset[str] = frozenset()

    def __init__(self, *, stems: bool = True, anywhere: bool = True) -> None:
        self._stems = stems
        self._anywhere = anywhere

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Reorder: better named files first; those named equally well keep their order."""
        names = self._names(context.query.words or context.query.text)
        if not names:
            return [with_step(hit, self.id, hit.score, "the query names no file") for hit in hits]
        tiers = {hit.chunk.path: 0 for hit in hits}
        for path in tiers:
            tiers[path] = max(_tier(path.casefold(), name, stems=self._stems) for name in names)
        order = sorted(range(len(hits)), key=lambda index: -tiers[hits[index].chunk.path])
        return _reordered(self.id, hits, order, lambda hit: _TIERS[tiers[hit.chunk.path]])

    def _names(self, text: str) -> list[str]:
        whole = text.strip().strip(_TRIMMED).casefold()
        words = [word.strip(_TRIMMED).casefold() for word in text.split()] if self._anywhere else []
        named = [word for word in words if len(word) > 1 and not word.isalpha()]
        return [name.rstrip(".") for name in dict.fromkeys((whole, *named)) if name.rstrip(".")]


_TIERS = ("", "named without its ending, ", "named by its end, ", "named whole, ")


def _tier(path: str, name: str, *, stems: bool) -> int:
    """How well ``name`` names ``path``: an index of ``_TIERS``."""
    if name.removeprefix("./") == path:
        return 3
    if path.endswith(f"/{name}"):
        return 2
    return int(stems and name == _ENDING.sub("", path.rpartition("/")[2]))


def _reordered(
    ranker: str,
    hits: Sequence[Candidate],
    order: Sequence[int],
    why: Callable[[Candidate], str] = lambda _: "",
) -> list[Candidate]:
    """``hits`` in this ``order``, each with a step that says from where it came."""
    return [
        with_step(
            hits[before],
            ranker,
            hits[before].score,
            why(hits[before]) + position_note(before, now, len(hits)),
        )
        for now, before in enumerate(order)
    ]


def position_note(before: int, now: int, count: int) -> str:
    """Where a hit stood and stands, from 0, among the ``count`` candidates: few are shown."""
    if before == now:
        return "place kept"
    return f"number {now + 1} of {count} candidates ({before + 1} before)"
