"""The second step of keyword ranking: the candidates of a store get a second score.

A store counts words; this module weighs how much a word, its document and its day tell.
``benchmarks/retrieval.py`` measures it; ``ranking.profile: "plain"`` leaves it out.
"""

from __future__ import annotations

from math import fsum, log, sqrt, tanh
from operator import attrgetter
from typing import TYPE_CHECKING

from commonplace.model.search import Found
from commonplace.model.tuples import NamedTuple
from commonplace.text.languages import rarity_of
from commonplace.text.tokens import has_unspaced

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from commonplace.index.dated import Times
    from commonplace.model.search import ChunkId, KeywordMatches, KeywordQuery, StoredChunk

    _Words = dict[str, float]
    _Topic = tuple[str, str, ChunkId | None]


LEAST_CANDIDATES = 40
"""At least so many are scored. 60 moved nDCG@10 of no set by over .007, and took a tenth longer."""

K1, B = 1.2, 0.75
_SIDE_BY_SIDE, _DOCUMENT, _DATE = 0.5, 0.4, 1.0
_ANSWER, _SUBJECT, _ITEM = 0.3, 1.5, 0.8
_NEXT_TO_ONE, _ANOTHER_OF_IT = 0.8, 0.9
_DOCUMENT_K, _SATURATION = 3.6, 1.1  # tanh(1.1) = 0.8: the evidence of all words, each once
_WORD_ORDER_DEPTH, _LARGEST_SCORE = 20, 1e100
_PRIOR_CHUNKS = 100
"""How rare a word is in English counts as much as how many of 100 chunks have it."""
_LEAST_CHUNKS_FOR_GRAMMAR = 100  # in fewer it does not show


def rescored(matches: KeywordMatches, query: KeywordQuery, limit: int) -> list[Found]:
    """The best ``limit`` of ``matches`` by new scores, best first, each with its evidence.

    The score is BM25 with the weights of :func:`weights_of`, times 1 + 0.5 x the share of
    neighbouring words of the query that stand side by side + 0.4 x the document's evidence
    (:func:`_topics`) + how near it is to a time that the query names (``index/dated.py``) + 0.3 x
    the share of the query that stands in one line with such an answer as it asks for, an amount
    (1.5 x for "who is Eva" in a line such as "Eva: a nurse"). A long list of an undated note may be
    scored by its best item alone (:func:`_of_an_item`).
    Then, from the best on, a chunk next to one of the same document that stands before it loses a
    fifth, and each further one of a document another tenth: ten hits should not say one thing.
    """
    candidates, terms, times = matches.found, matches.terms, None
    weights = weights_of(query, matches.chunks, matches.holders or {})
    if query.timed:
        untimed = {token: weight for token, weight in weights.items() if token not in query.timed}
        if any(map((matches.holders or {}).get, untimed)):
            weights = untimed
    paths = {(item.chunk.source, item.chunk.path) for item in candidates}
    spread = len(paths) > 1 and not _is_one_word(query)
    topics = _topics(candidates, [chunk.counts for chunk in terms], weights) if spread else {}
    average = matches.average or 1.0
    neighbours = [pair for pair in query.neighbours if query.timed.isdisjoint(pair)]
    pairs = [(weights.keys() & pair, f" {' '.join(pair)} ") for pair in neighbours]
    if query.answer:
        from commonplace.text.values import answer_share
    if query.days:
        from commonplace.index.dated import Times  # few queries name a time

        times = Times(query)
    begun = [token for token in weights if "_" in token and not (matches.holders or {}).get(token)]
    most = _SUBJECT if query.answer == "subject" else _ANSWER
    scored = []
    for item, (stored, length) in zip(candidates, terms, strict=True):
        chunk = item.chunk
        counts = {**stored, **_longer_names(chunk.body, begun)} if begun else stored
        words = _word_scores(counts, weights, length, average)
        may_be_list = length > average and chunk.day is None
        of_item = _of_an_item(words, chunk.text, weights, length, average) if may_be_list else None
        # A pair is looked for only where both of its words were counted, or have no weight.
        counted = set(counts)
        likely = [text for weighty, text in pairs if weighty <= counted]
        side_by_side = neighbour_share(chunk.body, likely, len(pairs))
        document = topics.get(_topic_of(chunk), 0.0)
        date = times.nearness(chunk, stored) if times is not None else 0.0
        answer = most * answer_share(chunk.text, query.answer, weights) if query.answer else 0.0
        raised = 1 + _SIDE_BY_SIDE * side_by_side + _DOCUMENT * document + _DATE * date + answer
        boosts = _Boosts(side_by_side, document, date, answer)
        # Exact, as the order of the counts is the store's.
        words = of_item or words
        scored.append(_Scored(item, words, boosts, fsum(words.values()) * raised, bool(of_item)))
    scored.sort(key=attrgetter("score"), reverse=True)  # equal ones keep the store's order
    if spread:
        scored = _spread(scored)
    return list(_with_evidence(scored[:limit], query, matches, weights, times))


def _longer_names(body: str, names: Sequence[str]) -> dict[str, float]:
    """How often ``body`` has a name that begins with one of ``names``, which no chunk has whole."""
    return {name: n for name in names if (n := f" {body}".count(f" {name}_"))}


def _word_scores(
    counts: Mapping[str, float], weights: Mapping[str, float], length: float, average: float
) -> dict[str, float]:
    """What BM25 gives for each token that the chunk has."""
    room = K1 * (1 - B + B * length / average)
    return {
        token: (K1 + 1) * weights[token] * count / (count + room)
        for token, count in counts.items()
        if count and token in weights
    }


def _of_an_item(
    words: _Words, text: str, weights: Mapping[str, float], length: float, average: float
) -> _Words | None:
    """0.8 x what the best item of a list gets as a text of its own, if that is more than ``words``.

    A list is a set of small texts; else a short note comes before a long list for its length alone.
    """
    if "\n- " not in text and "\n* " not in text:
        return None
    from commonplace.text.facts import item_about  # compiles patterns: few texts are lists

    held, share = item_about(text, words, weights)
    alone = _word_scores(dict.fromkeys(held, 1.0), weights, length * share, average)
    if _ITEM * fsum(alone.values()) <= fsum(words.values()):
        return None
    return {token: _ITEM * alone.get(token, 0.0) for token in words}


class _Boosts(NamedTuple):
    """What raises the score: shares of 0..1; ``date`` up to 1.5, ``answer`` as it is added."""

    side_by_side: float
    document: float
    date: float
    answer: float


class _Scored(NamedTuple):
    item: Found
    words: Mapping[str, float]
    boosts: _Boosts
    score: float
    of_item: bool
    spread: float = 1.0

    @property
    def note(self) -> str:
        """How the score came about, for explanations."""
        factors = _SIDE_BY_SIDE, _DOCUMENT, _DATE, 1.0
        names = "words side by side", "document", "date", "answer"
        boosts = zip(factors, self.boosts, names, strict=True)
        raised = "".join(
            [f" + {most:g} x {share:.2f} {name}" for most, share, name in boosts if share]
        )
        words = f"{fsum(self.words.values()):.3f}{' in an item of a list' * self.of_item}"
        note = f"{words} x (1{raised})" if raised else words
        return f"{note} x {self.spread:.2f} for what stands before it" if self.spread < 1 else note


def _with_evidence(
    best: Sequence[_Scored],
    query: KeywordQuery,
    matches: KeywordMatches,
    weights: Mapping[str, float],
    times: Times | None,
) -> Iterable[Found]:
    holders = matches.holders or {}
    once = sum(weight for token, weight in weights.items() if holders.get(token))
    share = _known_share(weights, query, holders)
    whole = fsum(weights.values())
    for scored in best:
        evidence = _evidence(share, scored.score, once)
        coverage = _coverage(scored, weights, whole)
        if times is not None:
            evidence = times.evidence(evidence, scored.boosts.date)
            coverage = times.evidence(coverage, scored.boosts.date)
        words = tuple([(token, scored.words.get(token, 0.0)) for token in weights])
        yield Found(scored.item.chunk, scored.score, evidence, scored.note, coverage, words)


def _evidence(share: float, score: float, once: float) -> float:
    """The evidence of a chunk with this ``score``, which grows with it up to ``share``.

    ``share`` is that of the query's tokens that any chunk has, ``once`` what a chunk of usual
    length scores that has each of these once.
    """
    return share * tanh(_SATURATION * score / once) if once else 0.0


def _coverage(scored: _Scored, weights: Mapping[str, float], whole: float) -> float:
    """How much of the query a chunk covers, for a fusion: see :class:`~.Found`.

    The score is the second one, as for the evidence: both keep its order, unless a time is named.
    A word that no chunk holds counts among the ``whole`` that could be covered.
    """
    if not whole:  # by a store's counts, all chunks hold each word
        return 0.0
    covered = fsum(map(weights.__getitem__, scored.words))
    return min(1.0, sqrt(covered / whole * scored.score / ((K1 + 1) * whole)))


def neighbour_share(body: str, pairs: Sequence[str], total: int = 0) -> float:
    """The share (0..1) of neighbouring words of the query that stand side by side in ``body``.

    ``body`` is a chunk's tokens joined by single spaces; so is each of ``pairs``, between spaces.
    ``total`` counts those that are known to be missing, too.
    """
    return sum(map(f" {body} ".__contains__, pairs)) / (total or len(pairs)) if pairs else 0.0


def with_word_order(matches: KeywordMatches, query: KeywordQuery, limit: int) -> list[Found]:
    """The best ``limit`` of ``matches`` of a store that does not count the tokens of each chunk.

    The first 20 get a bonus for word order, BM25 x (1 + 0.5 x :func:`neighbour_share`); the others
    keep their order behind them.
    """
    if not query.neighbours:
        return list(matches.found[:limit])
    pairs = [f" {first} {second} " for first, second in query.neighbours]
    head = [
        item._replace(
            score=item.score * (1 + _SIDE_BY_SIDE * neighbour_share(item.chunk.body, pairs))
        )
        for item in matches.found[:_WORD_ORDER_DEPTH]
    ]
    head.sort(key=lambda item: -item.score)  # stable: equal scores keep the store's order
    return [*head, *matches.found[_WORD_ORDER_DEPTH:]][:limit]


def idf(chunks: int, holders: int) -> float:
    """What a token weighs that ``holders`` of ``chunks`` have, as in FTS5; at least 1e-6.

    Without the bound a token that most chunks have would count against them.
    """
    return max(log((max(chunks - holders, 0) + 0.5) / (holders + 0.5)), 1e-6)


def _known_share(tokens: Iterable[str], query: KeywordQuery, holders: Mapping[str, int]) -> float:
    """The share of ``tokens``, each counted once, that a chunk holds; 0 where none is held.

    Those ``beside`` the words that were typed are not missed where no chunk holds them.
    """
    known = {token for token in tokens if holders.get(token)}
    missing = {token for token in tokens if not holders.get(token)} - query.beside
    return len(known) / (len(known) + len(missing)) if known else 0.0


class Information:
    """How much of a query's information a BM25 score is: the same in small and large workspaces.

    A token tells what BM25 weighs it. A word that no chunk holds has no such weight: it tells as
    much as the others do in the mean. ``unknown`` are all such tokens.
    """

    def __init__(self, query: KeywordQuery, chunks: int, holders: Mapping[str, int]) -> None:
        # Here a chunk holds each token as often as the query does.
        counts = filter(None, map(holders.get, query.terms))
        self._once = sum(idf(chunks, count) for count in counts)
        self.unknown = frozenset(token for token in query.terms if not holders.get(token))
        self._share = _known_share(query.terms, query, holders)

    def of(self, score: float) -> float:
        """The evidence (0..1) of a chunk with this BM25 score; it grows with the score.

        About the share of the query's information that the chunk holds. A chunk of usual length
        that holds each word once has 0.8, more where they are repeated or fill a short note.
        """
        return _evidence(self._share, score, self._once)


def _is_one_word(query: KeywordQuery) -> bool:
    """Whether the query is a single word of ASCII: an identifier, a path, a flag."""
    words = [token for token in query.should if token not in query.beside]
    return len(words) <= 1 and all(map(str.isascii, query.should))


def weights_of(query: KeywordQuery, chunks: int, holders: Mapping[str, int]) -> dict[str, float]:
    """What each token of the query weighs: its inverse document frequency by its script's weight.

    idf = ln(1 + (N - n + 0.5) / (n + 0.5)), for ASCII words drawn towards how rare they are in
    English (:mod:`commonplace.text.english`) as if 100 further chunks were counted: in few notes
    every word is rare. A token that stands twice in the query counts twice.
    """
    tokens = weighing(query.should, chunks, holders)
    shares = dict.fromkeys(tokens, 1.0)
    if not all(map(str.isascii, tokens)):
        from commonplace.text.unspaced import script_weights

        shares = script_weights(tokens)
    most = log(1 + (chunks + 0.5) / 0.5)
    weights: dict[str, float] = {}
    for token in tokens:
        count = holders.get(token, 0)
        weight = log(1 + max(chunks - count + 0.5, 0.0) / (count + 0.5))
        if token.isascii() and token.isalpha():
            weight = (chunks * weight + _PRIOR_CHUNKS * rarity_of(token) * most) / (
                chunks + _PRIOR_CHUNKS
            )
        weights[token] = weights.get(token, 0.0) + weight * shares[token]
    return weights


def weighing(tokens: Collection[str], chunks: int, holders: Mapping[str, int]) -> list[str]:
    """Those of ``tokens`` that have a weight in the second step; a store need count no others.

    Pieces of text without spaces that more than half of the ``chunks`` hold are grammar, if there
    are enough chunks to tell; where no chunk holds another token they have a weight all the same.
    Words have one however common they are: in conversations they are names. (Without, nDCG@10 of
    locomo-notes falls by .015.)
    """
    most = max(chunks, _LEAST_CHUNKS_FOR_GRAMMAR) / 2
    common = [token for token, count in holders.items() if count > most and has_unspaced(token)]
    left = [token for token in tokens if token not in common] if common else tokens
    return [*left] if any(map(holders.get, left)) else [*tokens]


def _topic_of(chunk: StoredChunk) -> _Topic:
    """The document; a chunk of a day's log is a topic of its own."""
    return chunk.source, chunk.path, None if chunk.day is None else chunk.id


def _topics(
    candidates: Sequence[Found],
    counts: Sequence[Mapping[str, float]],
    weights: Mapping[str, float],
) -> dict[_Topic, float]:
    """How much each document is about the query, by its candidates together: 0..1, the most is 1.

    A document's evidence is BM25 over all of them as one text, of no length. A day's log is about
    no topic: beside documents that are, each of its passages stands for itself.
    """
    if all(item.chunk.day is not None for item in candidates):
        return {}
    documents: dict[_Topic, dict[str, float]] = {}
    for item, counted in zip(candidates, counts, strict=True):
        topic = _topic_of(item.chunk)
        if (sums := documents.get(topic)) is None:
            documents[topic] = dict(counted)  # most have one candidate
            continue
        for token, count in counted.items():
            sums[token] = sums.get(token, 0.0) + count
    evidence = {
        topic: fsum(
            [
                weights[token] * count * (K1 + 1) / (count + _DOCUMENT_K)
                for token, count in sums.items()
                if token in weights
            ]
        )
        for topic, sums in documents.items()
    }
    most = max(evidence.values(), default=0.0)
    return {topic: score / most for topic, score in evidence.items()} if most > 0 else {}


def _spread(ranked: Sequence[_Scored]) -> list[_Scored]:
    """``ranked`` with what follows others of its document lowered, sorted again."""
    before: dict[tuple[str, str], list[StoredChunk]] = {}
    spread = []
    for scored in ranked:
        chunk = scored.item.chunk
        shown = before.setdefault((chunk.source, chunk.path), [])
        if not shown:  # as most are
            shown.append(chunk)
            spread.append(scored)
            continue
        factor = _ANOTHER_OF_IT ** len(shown)
        if any(_touch(chunk, other) for other in shown):
            factor *= _NEXT_TO_ONE
        shown.append(chunk)
        spread.append(scored._replace(score=scored.score * factor, spread=factor))
    spread.sort(key=attrgetter("score"), reverse=True)
    return spread


def _touch(chunk: StoredChunk, other: StoredChunk) -> bool:
    """Whether no more than a blank line lies between two chunks of a document."""
    return chunk.start_line <= other.end_line + 2 and other.start_line <= chunk.end_line + 2


def with_finite_scores(found: Sequence[Found]) -> tuple[Found, ...]:
    """``found``; what has no usable score follows the others with a score of 0.

    Infinity and NaN are none, nor are numbers that a sum could make infinite.
    """
    least, most = -_LARGEST_SCORE, _LARGEST_SCORE
    if all(least < item.score < most and least < (item.evidence or 0) < most for item in found):
        return tuple(found)
    items = [i if _is_usable(i.evidence or 0.0) else i._replace(evidence=None) for i in found]
    last = [item._replace(score=0.0) for item in items if not _is_usable(item.score)]
    return (*[item for item in items if _is_usable(item.score)], *last)


def _is_usable(number: float) -> bool:
    return -_LARGEST_SCORE < number < _LARGEST_SCORE
