"""Rankers that look at where a hit stands: its source, its path, its document, a mark beside it."""

from __future__ import annotations

import re
from collections import Counter
from math import ceil
from typing import TYPE_CHECKING

from commonplace.plugin import with_step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext, StoredChunk


class SourceBalance:
    """Keeps one source from crowding the others out of the hits that are shown.

    Of the first ``limit`` hits a source gets at most ``ceil(share x limit)``, or an even share of
    them where that is more, as the places must go to some source. What is beyond that waits behind
    the best hit of a source below its share, if that one scores at least ``least`` times as much.
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
        most = max(ceil(self._share * context.limit), _even(hits, context.limit))
        shown: list[int] = []
        left = list(range(len(hits)))
        held: dict[str, int] = {}
        while left and len(shown) < context.limit:
            at = next_one = left[0]
            if held.get(hits[at].chunk.source, 0) >= most:
                enough = self._least * hits[at].score
                next_one = next(
                    (
                        i
                        for i in left
                        if hits[i].score >= enough and held.get(hits[i].chunk.source, 0) < most
                    ),
                    at,
                )
            left.remove(next_one)
            shown.append(next_one)
            source = hits[next_one].chunk.source
            held[source] = held.get(source, 0) + 1
        return _moved(self.id, hits, [*shown, *left])

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


def _even(hits: Sequence[Candidate], limit: int) -> int:
    """The most hits that one source needs to have, so that all together fill ``limit`` places."""
    counts = Counter(hit.chunk.source for hit in hits).values()
    places = min(limit, len(hits))
    return next(most for most in range(1, limit + 1) if sum(min(n, most) for n in counts) >= places)


def _by_words(hits: Sequence[Candidate]) -> list[tuple[Candidate, float]]:
    """Those that were found by their words, with their BM25, best first."""
    # One of several arms where its words were asked for singly.
    by_words = [(hit, [a.raw for a in hit.explain.arms if a.kind == "bm25"]) for hit in hits]
    return sorted([(hit, max(raw)) for hit, raw in by_words if raw], key=lambda one: -one[1])


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
        """Reorder: better named files first, those named alike in the order they had."""
        names = self._names(context.query.words or context.query.text)
        if not names:
            return [with_step(hit, self.id, hit.score, "the query names no file") for hit in hits]
        tiers = {hit.chunk.path: 0 for hit in hits}
        for path in tiers:
            tiers[path] = max(_tier(path.casefold(), name, stems=self._stems) for name in names)
        order = sorted(range(len(hits)), key=lambda at: -tiers[hits[at].chunk.path])
        return _moved(self.id, hits, order, lambda hit: _TIERS[tiers[hit.chunk.path]])

    def _names(self, text: str) -> list[str]:
        whole = text.strip().strip(_TRIMMED).casefold()
        words = [word.strip(_TRIMMED).casefold() for word in text.split()] if self._anywhere else []
        named = [word for word in words if len(word) > 1 and not word.isalpha()]
        return [name.rstrip(".") for name in dict.fromkeys((whole, *named)) if name.rstrip(".")]


_TIERS = ("", "named without its ending, ", "named by its end, ", "named whole, ")


def _tier(path: str, name: str, *, stems: bool) -> int:
    """How well ``name`` names ``path``: its place in ``_TIERS``."""
    if name.removeprefix("./") == path:
        return 3
    if path.endswith(f"/{name}"):
        return 2
    return int(stems and name == _ENDING.sub("", path.rpartition("/")[2]))


_IMPORTANCE = re.compile(r"<!--[^>]*?\bimportance\s*[:=]\s*(\d{1,3}(?:\.\d{1,6})?)\b[^>]*?-->")
_USUAL = 0.5


def importance_of(text: str) -> float | None:
    """The largest importance (0..1) that comments in ``text`` give, or ``None``.

    ``<!-- importance: 0.8 -->`` is what `commonplace remember --importance` writes. A number above
    1 is out of 10, as in the notes of other agents: 8 is 0.8.
    """
    if "importance" not in text:
        return None
    given = [float(value) for value in _IMPORTANCE.findall(text)]
    return max((min(1.0, n / 10 if n > 1 else n) for n in given), default=None)


class Importance:
    """Multiplies a score by 1 + weight x (importance - 0.5), where a comment beside it gives one.

    With the usual weight of 0.5 these are the factors of the original, 0.75 + 0.05 x n for n of 10.
    Scores end at 1. What has no importance keeps its score.
    """

    id = "importance"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset()

    def __init__(self, weight: float = 0.5) -> None:
        if not 0 <= weight <= 1:
            raise ValueError("a weight is 0 to 1")
        self._weight = weight

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:  # noqa: ARG002
        """Apply it."""
        return [self._weighed(hit) for hit in hits]

    def _weighed(self, hit: Candidate) -> Candidate:
        importance = importance_of(hit.chunk.text)
        if importance is None:
            return with_step(hit, self.id, hit.score, "no importance")
        factor = 1 + self._weight * (importance - _USUAL)
        return raised(hit, self.id, factor, f"importance {importance:g}")


def raised(hit: Candidate, ranker: str, factor: float, note: str) -> Candidate:
    """``hit`` with its score times ``factor``, at most 1; its step says where that is less."""
    score = hit.score * factor
    capped = ", capped at 1" if score > 1 else ""
    return with_step(hit, ranker, min(1.0, score), f"x {factor:.3f}{capped}, {note}")


class Spread:
    """Lowers what follows better passages of its document, so that hits do not say one thing.

    By falling score: ``another`` ^ (passages of its document before it), and times ``next_to`` if
    one of those touches it. Keyword matches of stores that count have this in their second score
    already; it is meant for vectors, and for other engines.
    """

    id = "spread"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset()

    def __init__(self, another: float = 0.9, next_to: float = 0.8) -> None:
        if not (0 <= another <= 1 and 0 <= next_to <= 1):
            raise ValueError("a share is 0 to 1")
        self._another = another
        self._next_to = next_to

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:  # noqa: ARG002
        """Apply it; equal scores are walked by path and line."""
        before: dict[tuple[str, str], list[StoredChunk]] = {}
        spread: dict[int, Candidate] = {}
        for at in sorted(range(len(hits)), key=lambda at: _walked(hits[at])):
            chunk = hits[at].chunk
            shown = before.setdefault((chunk.source, chunk.path), [])
            spread[at] = self._lowered(hits[at], shown)
            shown.append(chunk)
        return [spread[at] for at in range(len(hits))]

    def _lowered(self, hit: Candidate, shown: Sequence[StoredChunk]) -> Candidate:
        if not shown:
            return with_step(hit, self.id, hit.score, "first of its document")
        factor, note = self._another ** len(shown), f"{len(shown)} of its document before it"
        if any(_touch(hit.chunk, other) for other in shown):
            factor, note = factor * self._next_to, f"{note}, next to one"
        return with_step(hit, self.id, hit.score * factor, f"x {factor:.3f}, {note}")


def _walked(hit: Candidate) -> tuple[float, str, str, int, int, str]:
    chunk = hit.chunk
    place = chunk.source, chunk.path, chunk.start_line, chunk.end_line
    return (-hit.score, *place, str(chunk.id))


def _touch(chunk: StoredChunk, other: StoredChunk) -> bool:
    """Whether no more than a blank line lies between two chunks of a document."""
    return chunk.start_line <= other.end_line + 2 and other.start_line <= chunk.end_line + 2


def _moved(
    ranker: str,
    hits: Sequence[Candidate],
    order: Sequence[int],
    why: Callable[[Candidate], str] = lambda _: "",
) -> list[Candidate]:
    """``hits`` in this ``order``, each with a step that says from where it came."""
    return [
        with_step(
            hits[at],
            ranker,
            hits[at].score,
            why(hits[at]) + place_note(at, place, len(hits)),
        )
        for place, at in enumerate(order)
    ]


def place_note(before: int, now: int, count: int) -> str:
    """Where a hit stood and stands, from 0, among the ``count`` candidates: few are shown."""
    if before == now:
        return "place kept"
    return f"number {now + 1} of {count} candidates ({before + 1} before)"
