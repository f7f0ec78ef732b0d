"""Which candidates are shown: what a chat may see, thresholds, hits that say the same as one."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from commonplace.errors import counted
from commonplace.model.search import Candidate, Step, newest_first
from commonplace.model.tuples import NamedTuple
from commonplace.text.languages import FORMS_OF, english_levels
from commonplace.text.questions import asks_for_several
from commonplace.text.tokens import accented_letters

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from commonplace.config.search import QuerySettings
    from commonplace.model.search import Arm, ArmKind, ChunkId, KeywordQuery, Phrase, StoredChunk
    from commonplace.search.shared import Searched

    _Days = Sequence[tuple[str, str]]
    _Fact = tuple[object, str]


def seen_by(session_key: str, search: Searched) -> Searched:
    """``search`` as the chat ``session_key`` may see it; a direct chat sees all."""
    if session_key:
        from commonplace.model.tools import is_direct

        if not is_direct(session_key):
            from commonplace.search.shared import SharedSearch

            return SharedSearch(search)
    return search


USUAL_LEAST = 0.35
"""The cosine that a hit needs which vectors alone found, where no threshold is given."""


def passing(
    arms: Sequence[Arm],
    settings: QuerySettings,
    asked: float | None,
    ranked: Sequence[Candidate],
    *,
    compat: bool,
) -> list[Candidate]:
    """The candidates of ``arms`` that pass the threshold; ``asked`` was given with the call."""
    configured, hybrid = settings.min_score, settings.hybrid
    if not compat:
        return above(ranked, configured=configured, asked=asked)
    weights = hybrid.vector_weight, hybrid.text_weight
    kinds = {arm.kind for arm in arms if not arm.note}
    return above_as_original(ranked, kinds, configured=configured, asked=asked, weights=weights)


def above(
    ranked: Sequence[Candidate], *, configured: float | None, asked: float | None
) -> list[Candidate]:
    """The candidates that pass the threshold.

    ``asked``, given with the call, or else ``configured`` (the key ``query.minScore``) holds for
    every hit. Without either what vectors alone found must have a cosine of 0.35, for there is a
    nearest chunk to any question; its score may say no more than its rank.
    """
    least = configured if asked is None else asked
    if least is not None:
        return [hit for hit in ranked if hit.score >= least]
    return [
        hit
        for hit in ranked
        if any(said.kind != "cosine" or said.raw >= USUAL_LEAST for said in hit.explain.arms)
    ]


def above_as_original(
    ranked: Sequence[Candidate],
    kinds: Collection[ArmKind],
    *,
    configured: float | None,
    asked: float | None,
    weights: tuple[float, float],
) -> list[Candidate]:
    """The candidates that pass the threshold of the profile ``compat``, 0.35 if none is given.

    Where nothing passes, keyword hits need only the most that keywords alone can score: their share
    of the ``weights`` of vectors and text; or nothing at all where no vectors were searched. For an
    engine's own ranking only what is ``asked`` with the call holds. ``kinds`` are the arms'.
    """
    if not {"bm25", "cosine"}.intersection(kinds):
        return [hit for hit in ranked if hit.score >= (asked or 0.0)]
    given = configured if asked is None else asked
    least = USUAL_LEAST if given is None else given
    strict = [hit for hit in ranked if _reaches(hit, least)]
    if strict or "cosine" not in kinds:
        return strict or list(ranked)
    relaxed = min(least, weights[1] / sum(weights))
    worded = (hit for hit in ranked if any(arm.kind != "cosine" for arm in hit.explain.arms))
    return [hit for hit in worded if _reaches(hit, relaxed)]


def _reaches(hit: Candidate, least: float) -> bool:
    """Whether it scores enough: 0 also stands for what a negative cosine has brought below it."""
    below = hit.score == 0 and any(arm.kind == "cosine" and arm.raw < 0 for arm in hit.explain.arms)
    return hit.score >= least and not below


def left_out(
    every: int, passed: Sequence[Candidate], asked: float | None, configured: float | None
) -> tuple[str, ...]:
    """A note on how many of ``every`` candidates the threshold has left out."""
    least, count = configured if asked is None else asked, every - len(passed)
    if not count or least is None or any(hit.score < least for hit in passed):  # as in compat
        return ()
    name = "the least score asked for" if asked is not None else "query.minScore"
    hits = counted(count, "hit that scores", "hits that score")
    return (f"left out: {hits} less than {least:g}, {name}",)


def neighbours(hits: Sequence[Candidate]) -> int:
    """How many of ``hits`` touch or overlap the one before them in their document."""
    chunks = sorted(
        (one.source, one.path, one.start_line, one.end_line) for one in (hit.chunk for hit in hits)
    )
    return sum(a[:2] == b[:2] and b[2] <= a[3] + 1 for a, b in pairwise(chunks))


_EARLIER = 3  # how many values an explanation names
_MOST_WORDS = 12  # so many words of a query are looked for in lines
_RARE = 4  # of more frequent English words, such as "use" and "now", only where there are no others


class Folding:
    """Hits that say the same, shown as one: the newest of them, in the place of the best.

    Two dated hits say the same if the lines that answer the query differ in their value alone: so
    do two daily logs with an old and a new port. Where the query names days, one of these days is
    shown for the newest. An older one that has other words of the query, too, keeps its own place,
    behind. Undated notes do not replace one another; they say the same only word for word. So do
    all where ``text``, the query, asks for several or for an extreme (:func:`asks_for_several`).
    """

    def __init__(self, query: KeywordQuery, text: str = "") -> None:
        self._apart = asks_for_several(text)
        levels = english_levels()
        rare = [one for one in query.should if levels.get(one, _RARE) >= _RARE] or query.should
        words = ([one for one in rare if len(one) > 1 or one.isdigit()] or rare)[:_MOST_WORDS]
        # How they begin in a text, and what word it is.
        self._words = {one if len(one) < 5 or not one.isascii() else one[:-1]: one for one in words}
        self._words |= {form: one for one in words for form in FORMS_OF.get(one, ())}
        self._days = query.days
        self._groups: list[_Group] = []
        self._alike: dict[object, list[_Group]] = {}
        self._added: list[tuple[Candidate, _Group]] = []

    def add(self, candidates: Iterable[Candidate], *, limit: int) -> None:
        """Put each to those that say the same; of others begin up to ``limit`` groups."""
        for candidate in candidates:
            answer = self._answer(candidate.chunk)
            alike = self._alike.get(answer.key, ())
            # Few are: facts take time to read.
            said = _said(answer.facts(), apart=self._apart) if alike else None
            if group := next((one for one in alike if one.said == said), None):
                group.add(candidate, answer)
                self._added.append((candidate, group))
            elif len(self._groups) < limit:
                group = _Group(candidate, answer, self._days, apart=self._apart)
                self._groups.append(group)
                self._added.append((candidate, group))
                self._alike.setdefault(answer.key, []).append(group)

    def since(self) -> str | None:
        """The oldest day that stands for several hits; ``None`` where no two dated ones fold.

        Where the query names days, nothing newer is of interest.
        """
        days = (max(one.chunk.day or "" for one in dated) for dated in self._several())
        return None if self._days else min(days, default=None)

    def shared(self, tokens: Iterable[str]) -> tuple[Phrase, ...]:
        """Those of ``tokens`` that all dated hits have that fold, and so what says the same."""
        bodies = [one.chunk.body.split() for dated in self._several() for one in dated]
        held = set(bodies[0]).intersection(*bodies[1:]) if bodies else ()
        return tuple((token,) for token in tokens if token in held)

    def _several(self) -> Iterator[list[Candidate]]:
        """The hits of each group of dated ones that several documents have.

        Neighbouring chunks of one share lines: that it has them twice says nothing about others.
        """
        every = [group.members for group in self._groups if len(group.members) > 1]
        dated = (members for members in every if members[0].chunk.day)
        return (members for members in dated if len(_documents(members)) > 1)

    def folded(self) -> list[Candidate]:
        """One candidate for each group, and those of a group that keep their places."""
        shown: list[Candidate] = []
        apart: dict[int, set[ChunkId]] = {}
        for candidate, group in self._added:
            if id(group) not in apart:
                newest, others = group.folded()
                shown.append(newest)
                apart[id(group)] = {one.chunk.id for one in others}
            if candidate.chunk.id in apart[id(group)]:
                apart[id(group)].remove(candidate.chunk.id)
                shown.append(candidate)
        return shown

    def _answer(self, chunk: StoredChunk) -> _Answer:
        if chunk.day is None:
            key = chunk.source, *chunk.text.split(None, 8)[:8]
            return _Answer(key, frozenset(), chunk, (), ())
        held = self._lines_with_words(chunk.text)
        most = max(map(len, held.values()), default=0)
        best = [at for at, some in held.items() if len(some) == most] if most > 1 else held
        words = frozenset().union(*[held[at] for at in best])
        every = frozenset().union(*held.values())
        return _Answer((chunk.source, words), every, chunk, sorted(best), sorted(held))

    def _lines_with_words(self, text: str) -> dict[int, set[str]]:
        """The words of the query in each line that has one, by where the line starts."""
        lower = text.lower()
        if not text.isascii():
            # Where it gets longer, places in one are not those in the other.
            lower = lower if len(lower) == len(text) else text
            accented, letters = accented_letters()
            lower = lower.translate(letters) if accented.search(lower) else lower
        held: dict[int, set[str]] = {}
        for begins, word in self._words.items():
            at = _find(begins, lower, 0) if begins in lower else -1
            while at >= 0:
                held.setdefault(lower.rfind("\n", 0, at) + 1, set()).add(word)
                end = lower.find("\n", at)
                at = _find(begins, lower, end) if end >= 0 else -1
        return held


class _Answer(NamedTuple):
    """What of a query a chunk answers; only those with the same ``key`` may say the same.

    ``held`` are the words of the query in it, ``best`` says where the lines start that have most of
    them, and ``every`` where those that have any. An undated chunk has neither.
    """

    key: tuple[object, ...]
    held: frozenset[str]
    chunk: StoredChunk
    best: Sequence[int]
    every: Sequence[int]

    def facts(self) -> list[_Fact]:
        """What each of the lines says, and its value; of an undated chunk, all of it.

        It is the best lines alone where each has a value: a log has other lines, which share a word
        with the query by chance.
        """
        if self.chunk.day is None:
            return [(" ".join(self.chunk.text.split()), "")]
        facts = self._facts_at(self.best)
        if len(self.best) == len(self.every) or all(value for _, value in facts):
            return facts
        return self._facts_at(self.every)

    def valued(self) -> list[_Fact]:
        """The facts whose values are named as earlier ones: of lines with a word of the query.

        Of a chunk in which only a heading has one, all.
        """
        lines = {start: self.chunk.text[start:].partition("\n")[0] for start in self.every}
        own = [start for start, line in lines.items() if not _is_heading(line)]
        return self._facts_at(own) if own else self.facts()

    def _facts_at(self, starts: Sequence[int]) -> list[_Fact]:
        from commonplace.text.facts import without_value  # few searches fold

        lines = [self.chunk.text[start:].partition("\n")[0] for start in starts]
        # A heading, or what ends like one, says nothing without what stands below it.
        if not lines or any(map(_is_heading, lines)):
            lines = self.chunk.text.split("\n")
        return list(map(without_value, lines))


class _Group:
    """Candidates that say the same. Where ``days`` are named, these come before newer ones."""

    def __init__(self, first: Candidate, answer: _Answer, days: _Days, *, apart: bool) -> None:
        self.members, self._apart = [first], apart
        self._answers = {first.chunk.id: answer}
        self._days = days

    @cached_property
    def said(self) -> frozenset[object]:
        """What each says."""
        return _said(self._answers[self.members[0].chunk.id].facts(), apart=self._apart)

    def add(self, candidate: Candidate, answer: _Answer) -> None:
        """Add ``candidate``, unless it is known."""
        if candidate.chunk.id not in self._answers:
            self.members.append(candidate)
            self._answers[candidate.chunk.id] = answer

    def folded(self) -> tuple[Candidate, list[Candidate]]:
        """The newest with the best score, and those with words of the query that it lacks."""
        if len(self.members) == 1:
            return self.members[0], []
        newest, *others = sorted(self.members, key=self._order)
        held = self._answers[newest.chunk.id].held
        apart = [one for one in others if not self._answers[one.chunk.id].held <= held]
        similar = [one.chunk for one in others if one not in apart]
        older = [one for one in others if (one.chunk.day or "") <= (newest.chunk.day or "")]
        earlier = tuple(self._earlier([newest, *older]))
        score = max(one.score for one in self.members)
        note = f"{len(similar)} more like this" if similar else "the newest of what says this"
        if earlier:
            note += f", before: {', '.join(earlier[:_EARLIER])}"
        step = Step(ranker="fold", before=newest.score, after=score, note=note)
        explain = newest.explain.replace(steps=(*newest.explain.steps, step))
        return Candidate(newest.chunk, score, explain, tuple(similar), earlier), apart

    def _order(self, candidate: Candidate) -> tuple[bool, int]:
        day, named = candidate.chunk.day, False
        if self._days:
            from commonplace.index.bm25 import of_days

            named = of_days(self._days)(day)
        return not named, newest_first(day)

    def _earlier(self, candidates: Iterable[Candidate]) -> Iterator[str]:
        """Each value that differs from the one after it, with the newest day on which it held."""
        now = None
        for chunk in (one.chunk for one in candidates):
            # The day of a log, which is its heading, is no value of what it says.
            values = [value for _, value in self._answers[chunk.id].valued()]
            value = ", ".join([value for value in values if value not in ("", chunk.day)])
            if now is None or (value and value != now):
                if now is not None:
                    yield f"{value} ({chunk.day})"
                now = value


def _documents(candidates: Iterable[Candidate]) -> set[tuple[str, str]]:
    return {(one.chunk.source, one.chunk.path) for one in candidates}


def _said(facts: Iterable[_Fact], *, apart: bool) -> frozenset[object]:
    """What ``facts`` say apart from their values, or, where they are to be kept ``apart``, all."""
    return frozenset(facts if apart else [fact for fact, _ in facts])


def _find(beginning: str, text: str, start: int) -> int:
    """Where from ``start`` on a word begins so, or in other scripts this stands; -1: nowhere."""
    at = text.find(beginning, start)
    while at > 0 and beginning.isascii() and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at = text.find(beginning, at + 1)
    return at


def _is_heading(line: str) -> bool:
    return line.lstrip().startswith("#") or line.rstrip().endswith((":", "："))
