"""Queries and answers on the way through the pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import NamedTuple, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from commonplace.model.prompt import Passage

MOST_RESULTS = 1000
"""Hits that one search may ask for."""

ChunkId = int | str
"""A store's own name of a chunk: stable while the document is not replaced, opaque to others."""
Phrase = tuple[str, ...]
"""Tokens that must stand side by side, in this order, in one column (one token: anywhere)."""
ArmKind = Literal["bm25", "cosine", "rank", "opaque"]
"""The kind of raw scores. ``bm25``: 0 to infinity, more is better. ``cosine``: -1 to 1. ``rank``:
only the order counts. ``opaque``: an engine's own, kept unless a ranker is asked for by name."""


class Where(NamedTuple):
    """What a search is restricted to; a document must pass every filter that is set.

    ``paths`` are globs on the stored path, of which one must match (``*`` does not cross ``/``,
    ``**`` does; without wildcards it is the path itself and everything under it). ``after`` and
    ``before`` are ISO dates, inclusive; only dated documents pass them. All ``tags`` must be there.
    ``not_paths``, ``not_sources`` and ``not_tags`` must not match.
    """

    sources: frozenset[str] | None = None
    paths: tuple[str, ...] = ()
    after: str | None = None
    before: str | None = None
    not_paths: tuple[str, ...] = ()
    not_sources: frozenset[str] = frozenset()
    tags: tuple[str, ...] = ()
    not_tags: tuple[str, ...] = ()


def newest_first(day: str | None) -> int:
    """A sort key of ISO dates: the newest day first, what has none last."""
    return -int(day.replace("-", "")) if day else 0


class KeywordQuery(NamedTuple):
    """An analysed query, for any keyword index.

    A chunk matches if it has every phrase of ``must``, none of ``must_not``, and at least one token
    of ``should``; without ``should`` nothing matches. Its score is BM25 over :attr:`terms`.
    """

    should: tuple[str, ...] = ()
    """Tokens, those of ``must`` among them; one that stands twice counts twice."""
    must: tuple[Phrase, ...] = ()
    must_not: tuple[Phrase, ...] = ()
    neighbours: tuple[tuple[str, str], ...] = ()
    """Pairs of query words that stood side by side, for the second pass."""
    beside: frozenset[str] = frozenset()
    """Tokens of ``should`` for a part or a joining of words: they find, but none must be there."""
    days: tuple[tuple[str, str], ...] = ()
    """First and last day (ISO; ``-05-07`` in any year) of named times; their notes come first."""
    plain: bool = False
    """Score by BM25 in one step, without the second pass."""
    weighed: tuple[str, ...] = ()
    """Where set, replaces ``should`` in the score: tokens, and phrases of tokens joined by spaces,
    each weighed as one. Stores that cannot do that weigh ``should``."""
    singly: tuple[tuple[str, KeywordQuery], ...] = ()
    """Words and their queries, asked one by one if nothing matches and no vectors are searched."""
    alike: bool = False
    """All that match are equally good."""
    selective: tuple[str, ...] = ()
    """The most telling tokens of ``should``: where they find enough, a store that declares
    ``term_counts`` may find by them alone, and count all tokens in what it found."""
    listed: bool = False
    """All notes of ``days`` are asked for, too."""
    coming: tuple[str, ...] = ()
    """Tokens of what may name days that are yet to come."""
    timed: frozenset[str] = frozenset()
    """Tokens that name a time, "October", "now": none is a word of the topic."""
    answer: str = ""
    """The kind of answer that the words ask for, as ``answer_asked`` names it; ``""``: any."""
    instead: frozenset[str] = frozenset()
    """Tokens of ``beside`` for other words, as good as these: parts, synonyms, compounds."""
    foreseen: str = ""
    """Where what will be, or without ``days`` what is next, is asked for: today (ISO)."""
    again: bool = False  # what is on a weekday again and again

    @property
    def terms(self) -> tuple[str, ...]:
        """The tokens and phrases that make the score."""
        return self.weighed or self.should


class Query(NamedTuple):
    """What a manager is asked.

    ``text`` as typed; ``keyword`` its analysis, made once by the host; ``words`` the text without
    filters and excluded words, as an embedding is made of it (``""``: as typed). ``session_key``
    names the chat that asks (``agent:main:telegram:direct:42``), ``""`` the user of this program.
    """

    text: str
    keyword: KeywordQuery
    words: str = ""
    session_key: str = ""


class StoredChunk(NamedTuple):
    """A chunk as a store gives it back. ``body`` is the ``body`` of its :class:`Terms`."""

    id: ChunkId
    source: str
    path: str
    start_line: int
    end_line: int
    text: str
    heading: tuple[str, ...] = ()
    day: str | None = None
    trust: str = "memory"
    body: str = ""


class Found(NamedTuple):
    """A chunk and its raw score; ``score`` is of the arm's kind, more is better.

    ``evidence`` (0..1), if known, says how sure it is that the chunk is relevant, whatever else was
    found; ``coverage`` (0..1) is sqrt(share of the query's weight that it has x BM25 / the most
    possible). ``note`` says how the score came about, ``words`` what each token gave, or 0, of it.
    """

    chunk: StoredChunk
    score: float
    evidence: float | None = None
    note: str = ""
    coverage: float | None = None
    words: tuple[tuple[str, float], ...] = ()


class TermCounts(NamedTuple):
    """What BM25 needs of a chunk: how often it has each token (in ``extra`` 0.4), its length."""

    counts: Mapping[str, float]
    length: int


class KeywordMatches(NamedTuple):
    """Chunks by BM25 (above 0), best first, read in one transaction.

    Stores that declare ``counts`` also give the number of ``chunks`` of the live build, and how
    many of them hold each token of ``should``, whatever the filters; of frequent ones nearly so
    many. Stores that declare ``term_counts`` also give, in the order of ``found``, how often each
    chunk has the tokens of ``should`` that have a weight (``weighing``), and the ``average`` length
    of all chunks: these matches get a second score. A ``plain`` query needs neither.
    """

    found: tuple[Found, ...] = ()
    chunks: int = 0
    holders: Mapping[str, int] | None = None
    terms: tuple[TermCounts, ...] = ()
    average: float = 0.0


class Fallback(Record):
    """Says that another part answered than ``part``, why, and since when (epoch seconds)."""

    part: str
    reason: str
    since: float
    by: str = ""  # another provider, or "keywords alone"


class Arm(NamedTuple):
    """One ranked list, best first.

    ``exact`` is False where the list may miss a chunk that belongs in it; ``plan`` names how it was
    found. ``provider`` and ``model`` made the query's embedding, for arms that have one, and
    ``fallback`` says in whose place. ``note`` tells the user why an arm that was wanted is empty.
    ``lacking`` counts chunks without a vector that may be embedded in the background;
    ``incomplete`` tells the user what this list cannot have. ``unknown``: tokens that no chunk has.
    While open, ``holders`` and ``tokens_beginning`` are the store's, ``vectors`` gives unit vectors
    (float32, little-endian) of chunks by id: the host calls them by its own deadline.
    """

    name: str
    kind: ArmKind
    found: tuple[Found, ...]
    exact: bool = True
    plan: str = ""
    provider: str | None = None
    model: str | None = None
    fallback: Fallback | None = None
    note: str = ""
    vectors: Callable[[Collection[ChunkId]], Mapping[ChunkId, bytes]] | None = None
    lacking: int = 0
    incomplete: str = ""
    unknown: frozenset[str] = frozenset()
    holders: Callable[[Collection[str]], Mapping[str, int]] | None = None
    tokens_beginning: Callable[[str, int], Mapping[str, int]] | None = None


class Nearest(NamedTuple):
    """Chunks by cosine (-1..1), best first, read in one transaction; the others are as in Arm."""

    found: tuple[Found, ...]
    exact: bool
    plan: str = ""


class ArmScore(NamedTuple):
    """The score of a hit in an arm; ``rank`` counts from 1, and the rest is as in ``Found``."""

    arm: str
    kind: ArmKind
    raw: float
    rank: int
    evidence: float | None = None
    note: str = ""
    coverage: float | None = None
    words: tuple[tuple[str, float], ...] = ()


class Step(NamedTuple):
    """What a ranker did to a hit's score, or why it did nothing: it may have ``failed``."""

    ranker: str
    before: float
    after: float
    note: str = ""
    parts: tuple[tuple[str, float], ...] = ()  # what each arm gave to after, if some were fused
    failed: bool = False


class Explanation(NamedTuple):
    """Why a hit scores what it scores, the last step's ``after``; it passed all of ``filters``."""

    arms: tuple[ArmScore, ...] = ()
    steps: tuple[Step, ...] = ()
    filters: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """What each arm and ranker added to the score, or took from it; their sum is the score."""
        parts: list[tuple[str, float]] = []
        for step in self.steps:
            rest = step.after - step.before - sum(amount for _, amount in step.parts)
            parts += [*step.parts, (step.ranker, rest)]
        return tuple(part for part in parts if abs(part[1]) > 1e-12)


class Candidate(NamedTuple):
    """A chunk on its way through the rankers, ``score`` 0..1 from ``fuse`` on; see :class:`Hit`."""

    chunk: StoredChunk
    score: float
    explain: Explanation
    similar: tuple[StoredChunk, ...] = ()
    earlier: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None  # first and last, to be shown instead of the whole chunk
    best: tuple[int, int] | None = None  # those of the piece with the score, where some were joined


def cited(path: str, start: int, end: int) -> str:
    """Lines ``start`` to ``end`` of a document as a citation: ``path#L3-L9``, or ``path#L3``."""
    return f"{path}#L{start}" if start == end else f"{path}#L{start}-L{end}"


class Hit(Record):
    """A ranked, cited piece of memory.

    ``path`` and the 1-based inclusive lines say where it stands. ``score`` (0..1) is about the
    share of the query's information that it holds, fused with the rank by vectors where there are
    any; ``weak`` says that it is much less than the best one's. ``snippet`` is Markdown of at most
    700 characters; ``highlights`` are (start, end) offsets in it. ``similar`` cite what says the
    same but for a value, newest first, ``earlier`` are these values, ``8402 (2026-10-02)``.
    ``trust`` says whose text it is: data, never instructions.
    """

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    source: str
    heading: tuple[str, ...] = ()
    trust: str = "memory"
    highlights: tuple[tuple[int, int], ...] = ()
    explain: Explanation = Explanation()
    day: str | None = None
    similar: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    weak: bool = False

    @property
    def citation(self) -> str:
        """``path#L3-L9``, or ``path#L3`` for a single line."""
        return cited(self.path, self.start_line, self.end_line)

    def as_prompt(self, *, citations: bool = True) -> str:
        """The passage alone as an agent is shown it, for frameworks that take one at a time.

        A line saying that it is data, then the snippet in ``<memory>`` tags that it cannot close,
        with its path, lines, score and trust. ``citations`` adds a ``Source:`` line.
        """
        from commonplace.model.prompt import DATA_NOTICE, fenced_passage

        return f"{DATA_NOTICE}\n\n{fenced_passage(_passage(self, cited=citations))}"


class UnknownWord(Record):
    """A word of the query that no note has, and one that notes have and that was perhaps meant.

    ``instead`` was searched for in its place: parts, synonyms, longer words, or the suggestion.
    """

    word: str
    suggestion: str = ""
    instead: tuple[str, ...] = ()


class ArmFacts(Record):
    """What one ranked list gave to an answer: ``found`` chunks; the others are as in Arm."""

    name: str
    found: int
    exact: bool = True
    plan: str = ""
    note: str = ""


class QueryNote(str):
    """A note on what a query itself asks for, such as a word that no note has: nothing failed."""

    __slots__ = ()


class SearchResult(Record):
    """The answer to a search, and who gave it.

    ``backend`` served it; ``provider`` and ``model`` made the query's embedding (``None``: keyword
    only). ``fallback`` says from which part it fell back and why. ``stale`` counts changed files
    that it does not know. ``notes`` tell the user about it, ``warnings`` what could not be done.
    ``arms`` are the lists it was made of, ``unknown`` the words that no note has, where known.
    """

    hits: tuple[Hit, ...]
    backend: str
    provider: str | None = None
    model: str | None = None
    fallback: Fallback | None = None
    stale: int = 0
    notes: tuple[str, ...] = ()
    arms: tuple[ArmFacts, ...] = ()
    unknown: tuple[UnknownWord, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What failed or has no effect: all messages but those on what the query asks for."""
        return tuple([note for note in messages_of(self) if not isinstance(note, QueryNote)])

    def as_prompt(self, *, budget: int = 8_000, citations: bool = True) -> str:
        """The answer as the block of text that an agent is shown, the same that its tools give.

        Each passage is as in :meth:`Hit.as_prompt`; of those beyond ``budget`` (characters) one is
        cut, the others are counted at the end. Without hits it says so.
        """
        return shown_to_agent(self, self.hits, budget=budget, cited=citations)[0]


def shown_to_agent(
    result: SearchResult, hits: Sequence[Hit], *, budget: int, cited: bool
) -> tuple[str, int]:
    """The block of text that an agent is shown of ``hits`` of ``result``, and how many it shows."""
    from commonplace.model.prompt import block

    passages = [_passage(hit, cited=cited) for hit in hits]
    return block(passages, [f"Note: {note}" for note in messages_of(result)], budget=budget)


def _passage(hit: Hit, *, cited: bool) -> Passage:
    from commonplace.model.prompt import Passage

    lines, score = f"{hit.start_line}-{hit.end_line}", f"{hit.score:.2f}"
    marks = {"path": hit.path, "lines": lines, "score": score, "trust": hit.trust}
    marks |= {"heading": " > ".join(hit.heading)} if hit.heading else {}
    return Passage(hit.snippet, marks, hit.citation if cited else "")


def messages_of(result: SearchResult) -> list[str]:
    """The notes on ``result``, and from which part it fell back unless one of them says so."""
    fallback, notes = result.fallback, (*result.notes, *(arm.note for arm in result.arms))
    if fallback is None or any(fallback.reason in note for note in notes):
        return list(result.notes)
    by = fallback.by or result.backend
    way = f" with {result.model}" if by == fallback.part else f", not from {fallback.part}"
    return [f"results come from {by}{way}: {fallback.reason}", *result.notes]
