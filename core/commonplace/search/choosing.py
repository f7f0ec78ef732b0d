"""Which candidates are shown: what a chat may see, and as one hit what says the same."""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from commonplace.model.search import Candidate, Step, newest_first
from commonplace.model.tuples import NamedTuple
from commonplace.text.languages import FORMS_OF, english_levels
from commonplace.text.questions import asks_for_several
from commonplace.text.tokens import accented_letters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commonplace.model.search import ChunkId, KeywordQuery, Phrase, StoredChunk
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


def neighbours(hits: Sequence[Candidate]) -> int:
    """How many of ``hits`` touch or overlap the one before them in their document."""
    chunks = sorted(
        (hit.chunk.source, hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in hits
    )
    return sum(a[:2] == b[:2] and b[2] <= a[3] + 1 for a, b in pairwise(chunks))


_EARLIER = 3  # how many values an explanation names
_MOST_WORDS = 12  # so many words of a query are looked for in lines
_CUT_STEM = 5  # letters of a stem from which on the last may differ in a text
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
        self._with_values = asks_for_several(text)
        levels = english_levels()
        rare = [word for word in query.should if levels.get(word, _RARE) >= _RARE] or query.should
        words = ([word for word in rare if len(word) > 1 or word.isdigit()] or rare)[:_MOST_WORDS]
        self._word_by_beginning = {_beginning(word): word for word in words}
        self._word_by_beginning |= {form: word for word in words for form in FORMS_OF.get(word, ())}
        self._days = query.days
        self._groups: list[_Group] = []
        self._groups_by_key: dict[object, list[_Group]] = {}
        self._added: list[tuple[Candidate, _Group]] = []

    def add(self, candidates: Iterable[Candidate], *, limit: int) -> None:
        """Put each to those that say the same; of others begin up to ``limit`` groups."""
        for candidate in candidates:
            match = self._match(candidate.chunk)
            groups = self._groups_by_key.get(match.key, ())
            # Reading facts takes time, and few candidates have groups to compare them with.
            statement = _statement(match, with_values=self._with_values) if groups else None
            if group := next((group for group in groups if group.statement == statement), None):
                group.add(candidate, match)
                self._added.append((candidate, group))
            elif len(self._groups) < limit:
                group = _Group(candidate, match, self._days, with_values=self._with_values)
                self._groups.append(group)
                self._added.append((candidate, group))
                self._groups_by_key.setdefault(match.key, []).append(group)

    def since(self) -> str | None:
        """The oldest day that stands for several hits; ``None`` where no two dated ones fold.

        Where the query names days, nothing newer is of interest.
        """
        days = (max(hit.chunk.day or "" for hit in hits) for hits in self._repeated())
        return None if self._days else min(days, default=None)

    def shared(self, tokens: Iterable[str]) -> tuple[Phrase, ...]:
        """Those of ``tokens`` that all dated hits have that fold, and so what says the same."""
        bodies = [hit.chunk.body.split() for hits in self._repeated() for hit in hits]
        common = set(bodies[0]).intersection(*bodies[1:]) if bodies else ()
        return tuple((token,) for token in tokens if token in common)

    def _repeated(self) -> Iterator[list[Candidate]]:
        """The hits of each group of dated ones that several documents have.

        Neighbouring chunks of one share lines: that it has them twice says nothing about others.
        """
        for group in self._groups:
            hits = group.members
            if len(hits) > 1 and hits[0].chunk.day and len(_documents(hits)) > 1:
                yield hits

    def folded(self) -> list[Candidate]:
        """One candidate for each group, and those of a group that keep their places."""
        shown: list[Candidate] = []
        separate: dict[int, set[ChunkId]] = {}
        for candidate, group in self._added:
            if id(group) not in separate:
                newest, others = group.folded()
                shown.append(newest)
                separate[id(group)] = {other.chunk.id for other in others}
            if candidate.chunk.id in separate[id(group)]:
                separate[id(group)].remove(candidate.chunk.id)
                shown.append(candidate)
        return shown

    def _match(self, chunk: StoredChunk) -> _Match:
        if chunk.day is None:
            key = chunk.source, *chunk.text.split(None, 8)[:8]
            return _Match(key, frozenset(), chunk, (), ())
        words_by_line = self._words_by_line(chunk.text)
        most = max(map(len, words_by_line.values()), default=0)
        best = list(words_by_line)
        if most > 1:
            best = [start for start in best if len(words_by_line[start]) == most]
        best_words = frozenset().union(*[words_by_line[start] for start in best])
        words = frozenset().union(*words_by_line.values())
        return _Match((chunk.source, best_words), words, chunk, best, list(words_by_line))

    def _words_by_line(self, text: str) -> dict[int, set[str]]:
        """The words of the query in each line that has one, by where the line starts."""
        lower = _lowered(text)
        words_by_line: dict[int, set[str]] = {}
        for beginning, word in self._word_by_beginning.items():
            at = _find(beginning, lower, 0) if beginning in lower else -1
            while at >= 0:
                start = lower.rfind("\n", 0, at) + 1
                words_by_line.setdefault(start, set()).add(word)
                end = lower.find("\n", at)
                at = _find(beginning, lower, end) if end >= 0 else -1
        return words_by_line


@lru_cache(maxsize=1_024)  # the candidates of one search are those of others
def _lowered(text: str) -> str:
    """``text`` in lower case and without accents, each letter in its place."""
    lower = text.lower()
    if text.isascii():
        return lower
    # Where it gets longer, places in one are not those in the other.
    lower = lower if len(lower) == len(text) else text
    accented, letters = accented_letters()
    return lower.translate(letters) if accented.search(lower) else lower


class _Match(NamedTuple):
    """What of a query a chunk has; only those with the same ``key`` may say the same.

    ``words`` are the words of the query in it. ``best_lines`` says where the lines start that have
    most of them, ``lines`` where those start that have any, in no order. An undated chunk has none.
    """

    key: tuple[object, ...]
    words: frozenset[str]
    chunk: StoredChunk
    best_lines: Sequence[int]
    lines: Sequence[int]

    def facts(self) -> list[_Fact]:
        """What each of the lines says, and its value; of an undated chunk, all of it.

        It is the best lines alone where each has a value: a log has other lines, which share a word
        with the query by chance.
        """
        if self.chunk.day is None:
            return [(" ".join(self.chunk.text.split()), "")]
        facts = self._facts_at(self.best_lines)
        if len(self.best_lines) == len(self.lines) or all(value for _, value in facts):
            return facts
        return self._facts_at(self.lines)

    def values(self) -> list[str]:
        """The values that are named as earlier ones: of the lines with a word of the query.

        Where only a heading has one, of all lines.
        """
        texts = {start: self.chunk.text[start:].partition("\n")[0] for start in sorted(self.lines)}
        below = [start for start, text in texts.items() if not _is_heading(text)]
        facts = self._facts_at(below) if below else self.facts()
        # The day of a log, which is its heading, is no value of what it says.
        return [value for _, value in facts if value not in ("", self.chunk.day)]

    def _facts_at(self, starts: Sequence[int]) -> list[_Fact]:
        from commonplace.text.values import without_value  # few searches fold

        lines = [self.chunk.text[start:].partition("\n")[0] for start in sorted(starts)]
        # A heading, or what ends like one, says nothing without what stands below it.
        if not lines or any(map(_is_heading, lines)):
            lines = self.chunk.text.split("\n")
        return list(map(without_value, lines))


class _Group:
    """Candidates that say the same. Those of one of the ``days`` come before newer ones.

    ``with_values``: they have the same values, too.
    """

    def __init__(self, first: Candidate, match: _Match, days: _Days, *, with_values: bool) -> None:
        self.members, self._with_values = [first], with_values
        self._matches = {first.chunk.id: match}
        self._days = days

    @cached_property
    def statement(self) -> frozenset[object]:
        """What each of them says."""
        first = self._matches[self.members[0].chunk.id]
        return _statement(first, with_values=self._with_values)

    def add(self, candidate: Candidate, match: _Match) -> None:
        """Add ``candidate``, unless it is known."""
        if candidate.chunk.id not in self._matches:
            self.members.append(candidate)
            self._matches[candidate.chunk.id] = match

    def folded(self) -> tuple[Candidate, list[Candidate]]:
        """The newest with the best score, and those with words of the query that it lacks."""
        if len(self.members) == 1:
            return self.members[0], []
        newest, *others = sorted(self.members, key=self._order)
        words = self._matches[newest.chunk.id].words
        separate = [hit for hit in others if not self._matches[hit.chunk.id].words <= words]
        similar = tuple([hit.chunk for hit in others if hit not in separate])
        older = [hit for hit in others if (hit.chunk.day or "") <= (newest.chunk.day or "")]
        earlier = tuple(self._earlier([newest, *older]))
        score = max(hit.score for hit in self.members)
        note = f"{len(similar)} more like this" if similar else "the newest of what says this"
        if earlier:
            note += f", before: {', '.join(earlier[:_EARLIER])}"
        step = Step(ranker="fold", before=newest.score, after=score, note=note)
        explain = newest.explain._replace(steps=(*newest.explain.steps, step))
        whole = newest._replace(score=score, explain=explain, similar=similar, earlier=earlier)
        return whole, separate

    def _order(self, candidate: Candidate) -> tuple[bool, int]:
        day, named = candidate.chunk.day, False
        if self._days:
            from commonplace.index.bm25 import matches_days

            named = matches_days(self._days)(day)
        return not named, newest_first(day)

    def _earlier(self, candidates: Iterable[Candidate]) -> Iterator[str]:
        """Each value that differs from the one after it, with the newest day on which it held."""
        later = None
        for chunk in (hit.chunk for hit in candidates):
            value = ", ".join(self._matches[chunk.id].values())
            if later is None or (value and value != later):
                if later is not None:
                    yield f"{value} ({chunk.day})"
                later = value


def _documents(candidates: Iterable[Candidate]) -> set[tuple[str, str]]:
    return {(one.chunk.source, one.chunk.path) for one in candidates}


def _statement(match: _Match, *, with_values: bool) -> frozenset[object]:
    """What the lines of ``match`` say: without their values, unless ``with_values``."""
    facts = match.facts()
    return frozenset(facts if with_values else [fact for fact, _ in facts])


def _beginning(stem: str) -> str:
    """How the words of ``stem`` begin in a text.

    The stemmer may change the last letter of what it leaves ("polici" of "policy"). Short stems and
    other scripts are looked for as they are.
    """
    return stem[:-1] if len(stem) >= _CUT_STEM and stem.isascii() else stem


def _find(beginning: str, text: str, start: int) -> int:
    """Where from ``start`` on a word begins so, or -1; in other scripts, where this stands."""
    at = text.find(beginning, start)
    while at > 0 and beginning.isascii() and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at = text.find(beginning, at + 1)
    return at


def _is_heading(line: str) -> bool:
    return line.lstrip().startswith("#") or line.rstrip().endswith((":", "："))
