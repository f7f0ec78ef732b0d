"""The long-term store of one agent: stored without doubles, recalled by meaning and by words."""

from __future__ import annotations

import re
import time
import uuid
from math import log
from typing import TYPE_CHECKING

from commonplace.plugin import (
    CallerError,
    Deadline,
    NamedTuple,
    UnavailableError,
    counted,
    make_analyser,
    parse_query,
    reason_of,
)
from commonplace_longterm.database import Row, Space
from commonplace_longterm.entries import (
    CATEGORIES,
    DEFAULT_IMPORTANCE,
    Entry,
    cleaned,
    digest,
    says_the_same,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from commonplace.plugin import Embedder
    from commonplace_longterm.database import Database

SAME_COSINE = 0.95
"""From this cosine on two texts say the same: of the vectors themselves, not of a distance."""

_SECONDS = 15.0
_NEAREST = 200
_MATCHING = 500
_GROUP = 256
_UNASKED = 200  # memories that get their vectors along with a new one
_WORDS_SHARE = 0.3
_SMOOTHING = 10  # memories that a small store is taken to have more, so that words weigh alike


class Found(NamedTuple):
    """A memory that was recalled. ``score`` is from 0 to 1; ``cosine`` is ``None`` by words."""

    entry: Entry
    score: float
    cosine: float | None = None


class Recalled(NamedTuple):
    """What was recalled, best first; ``note`` says why words alone answered."""

    found: tuple[Found, ...]
    note: str = ""


class Stored(NamedTuple):
    """What became of a text: the new memory, or the one that says the same already."""

    entry: Entry
    created: bool
    cosine: float | None = None
    note: str = ""


class Taken(NamedTuple):
    """What an import did, in numbers of memories; ``doubles`` were there under other ids."""

    added: int
    updated: int
    unchanged: int
    removed: int
    doubles: int
    note: str = ""


class Stats(NamedTuple):
    """The condition of the store; ``embedded`` of ``entries`` have a vector of the provider."""

    entries: int
    categories: dict[str, int]
    embedded: int
    provider: str | None
    model: str | None
    note: str = ""


class LongTermStore:
    """The memories of one agent in ``database``. Threads may share it.

    ``embedder`` gives the embedding provider, ``None`` for words alone; where it raises or fails,
    words alone serve, and results say why. Memories without a vector are embedded along with
    later ones. ``clock`` gives epoch seconds.

    Methods raise :class:`~commonplace.errors.UnavailableError` where the database cannot be used.
    """

    def __init__(
        self,
        database: Database,
        embedder: Callable[[], Embedder | None],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.database = database
        self._embedder = embedder
        self._clock = clock
        self._analyser = make_analyser()

    def store(
        self,
        text: str,
        *,
        category: str = "other",
        importance: float = DEFAULT_IMPORTANCE,
        origin: str = "agent",
    ) -> Stored:
        """Keep ``text``, unless a memory says the same.

        That is one with the same words, or whose vector has a cosine of 0.95 or more while numbers
        and negations are equal. Raises :class:`~commonplace.errors.CallerError` for an empty text,
        and one of more than 10,000 characters.
        """
        text = cleaned(text)
        _check(category, importance)
        if same := self.database.by_digests([digest(text)]):
            return Stored(next(iter(same.values())), created=False)
        vectors, space, note = self._vectors([text])
        with self.database.writing():
            if same := self.database.by_digests([digest(text)]):
                return Stored(next(iter(same.values())), created=False, note=note)
            if space is not None and vectors[0] is not None:
                for entry, cosine in self.database.nearest(space, vectors[0], 5):
                    if cosine >= SAME_COSINE and says_the_same(entry.text, text):
                        return Stored(entry, created=False, cosine=cosine, note=note)
            entry = Entry(
                id=str(uuid.uuid4()),
                text=text,
                category=category,
                importance=importance,
                created=self._now(),
                origin=origin,
            )
            self.database.put([self._row(entry, vectors[0])], space)
        if space is not None:
            self.embed(limit=_UNASKED)
        return Stored(entry, created=True, note=note)

    def recall(self, query: str, *, limit: int, min_score: float) -> Recalled:
        """The memories that fit ``query`` best, with a score of ``min_score`` or more.

        The score is the cosine, lifted by shared words; of a memory without a vector it is the
        share of the words. Equal ones stand by importance, then the newest first.
        """
        vector, space, note = self._query_vector(query)
        words = self._by_words(query)
        found = {entry.id: Found(entry, share) for entry, share, _ in words.values()}
        if vector is not None and space is not None:
            found = self._with_cosines(vector, space, words)
        best = sorted(
            (hit for hit in found.values() if hit.score >= min_score),
            key=lambda hit: (
                *(-hit.score, -hit.entry.importance, -hit.entry.created),
                hit.entry.id,
            ),
        )
        return Recalled(tuple(best[:limit]), note)

    def find(self, id_: str) -> Entry:
        """The memory of an id, or of the beginning of one with eight characters or more.

        Raises :class:`~commonplace.errors.CallerError` where it is not exactly one.
        """
        wanted = id_.strip().lower()
        if not re.fullmatch(r"[0-9a-f-]{8,36}", wanted):
            raise CallerError(
                f"{id_[:60]!r} is not the id of a memory", hint="give its first eight characters"
            )
        found = self.database.entries(f"id LIKE '{wanted}%'", limit=2)
        if len(found) == 1:
            return found[0]
        words = f"several memories have ids that begin with {wanted}"
        raise CallerError(
            words if found else f"there is no memory {wanted}",
            hint="give the whole id" if found else "memory_recall and `ltm list` show ids",
        )

    def forget(self, ids: Iterable[str]) -> int:
        """Delete memories by their whole ids; how many there were."""
        with self.database.writing():
            return self.database.delete(set(ids))

    def entries(self, *, category: str | None = None, limit: int | None = None) -> list[Entry]:
        """The memories, the newest first."""
        found = self.database.entries("" if category is None else f"category = '{category}'")
        found.sort(key=lambda entry: (-entry.created, entry.id))
        return found if limit is None else found[:limit]

    def take(self, entries: Sequence[Entry], *, replace: bool = False) -> Taken:
        """Add or update memories by their ids; with ``replace`` delete all others.

        A new one whose text is there under another id is left out, unless that one is replaced.
        """
        with self.database.writing():
            known = {entry.id: entry for entry in self.database.entries()}
            ids = {entry.id for entry in entries}
            kept = () if replace else (e for i, e in known.items() if i not in ids)
            texts = {digest(entry.text) for entry in kept}
            new = [e for e in entries if e.id not in known and digest(e.text) not in texts]
            changed = [e for e in entries if e.id in known and known[e.id] != e]
            self.database.put([self._row(entry, None) for entry in (*new, *changed)], None)
            removed = self.database.delete(known.keys() - ids) if replace else 0
        return Taken(
            added=len(new),
            updated=len(changed),
            unchanged=sum(known.get(entry.id) == entry for entry in entries),
            removed=removed,
            doubles=sum(entry.id not in known for entry in entries) - len(new),
            note=self.embed(),
        )

    def embed(self, *, limit: int | None = None) -> str:
        """Give memories the vectors that they lack, ``limit`` at most; why some still lack one.

        Without a provider nothing is done.
        """
        try:
            embedder = self._embedder()
            if embedder is None:
                return ""
            lacking = self.database.lacking(self._current(embedder), limit or 2**31 - 1)
        except UnavailableError as error:
            return reason_of(error)
        refused = 0
        for begin in range(0, len(lacking), _GROUP):
            group = lacking[begin : begin + _GROUP]
            vectors, space, note = self._vectors([entry.text for entry in group])
            if space is None:
                return note
            refused += vectors.count(None)
            with self.database.writing():
                # What was changed or deleted meanwhile is not written over.
                now = self.database.by_ids([entry.id for entry in group])
                rows = [
                    self._row(entry, vector)
                    for entry, vector in zip(group, vectors, strict=True)
                    if now.get(entry.id) == entry
                ]
                self.database.put(rows, space)
        return _refusal(refused, embedder.id)

    def stats(self) -> Stats:
        """How many memories there are, of which category, and how many have vectors."""
        entries = self.database.entries()
        counts = {name: sum(e.category == name for e in entries) for name in CATEGORIES}
        try:
            embedder = self._embedder()
        except UnavailableError as error:
            return Stats(len(entries), counts, 0, None, None, reason_of(error))
        if embedder is None:
            return Stats(len(entries), counts, 0, None, None)
        space = self._current(embedder)
        embedded, refused = map(self.database.count, (space.column, space.refused))
        note = _refusal(refused, embedder.id)
        return Stats(len(entries), counts, embedded, embedder.id, embedder.model, note)

    def close(self) -> None:
        """Close the database; closing twice is fine."""
        self.database.close()

    # --- inside

    def _with_cosines(
        self, vector: bytes, space: Space, words: dict[str, tuple[Entry, float, str]]
    ) -> dict[str, Found]:
        near = self.database.nearest(space, vector, _NEAREST)
        cosines = {entry.id: (entry, cosine) for entry, cosine in near}
        farthest = min((cosine for _, cosine in near), default=0.0)
        found = {}
        for id_, (entry, cosine) in cosines.items():
            share = words[id_][1] if id_ in words else 0.0
            found[id_] = Found(entry, _score(cosine, share), cosine)
        for id_, (entry, share, column) in words.items():
            if column != space.column:
                found[id_] = Found(entry, share)
            elif id_ not in found:  # farther away than all that were looked at
                found[id_] = Found(entry, _score(farthest, share), farthest)
        return found

    def _by_words(self, query: str) -> dict[str, tuple[Entry, float, str]]:
        """Memories that share words with ``query``, by id: each with the share, and its space.

        The share is that of the query's words, weighted by their rarity, which the memory has; or
        that of the memory's words which the query has, if that is more: a long question may cover
        a short memory.
        """
        wanted = self._analyser.query(parse_query(query))
        tokens = [token for token in dict.fromkeys(wanted.should) if token not in wanted.beside]
        matching = [
            (entry, frozenset(body.split()), frozenset(extra.split()), column)
            for entry, terms, column in self.database.matching(tokens, _MATCHING)
            for body, _, extra in (terms.partition("\t"),)
        ]
        if not matching:
            return {}
        total = max(self.database.count(), len(matching))
        weights = {}
        for token in tokens:
            count = sum(token in body or token in extra for _, body, extra, _ in matching)
            # With few memories hardly any word is known: an unknown one weighs as a rare one does.
            weights[token] = log(1 + (total + _SMOOTHING) / max(count, 1))
        whole = sum(weights.values())
        found = {}
        for entry, body, extra, column in matching:
            shared = [token for token in tokens if token in body or token in extra]
            share = sum(weights[token] for token in shared) / whole
            both = body.intersection(tokens)
            back = len(both) / len(body) if len(both) > 1 else 0.0
            found[entry.id] = entry, max(share, back), column
        return found

    def _query_vector(self, query: str) -> tuple[bytes | None, Space | None, str]:
        """The vector of a query and the space to search; where there is none, why."""
        try:
            embedder = self._embedder()
            if embedder is None:
                return None, None, ""
            spaces = self.database.spaces(embedder.fingerprint())
            if not spaces:
                return None, None, "no memory is embedded yet: words alone were compared"
            vector = embedder.query(query, deadline=Deadline.after(_SECONDS))
        except UnavailableError as error:
            return None, None, f"words alone were compared: {reason_of(error)}"
        space = next((one for one in spaces if 4 * one.dims == len(vector)), None)
        why = f"words alone were compared: the vectors of {embedder.id} have a new length"
        return vector, space, why if space is None else ""

    def _current(self, embedder: Embedder) -> Space:
        """The space of vectors as long as they were last; if that is not known, the fullest."""
        fingerprint = embedder.fingerprint()
        spaces = [] if embedder.dims else self.database.spaces(fingerprint)
        fullest = max(spaces, key=lambda one: self.database.count(one.column), default=None)
        return fullest or Space(fingerprint, embedder.dims or 0)

    def _vectors(self, texts: Sequence[str]) -> tuple[list[bytes | None], Space | None, str]:
        """The vectors of texts and their space; without a provider none, and why.

        Without a vector although there is a space is what the provider refuses.
        """
        none: list[bytes | None] = [None] * len(texts)
        try:
            embedder = self._embedder()
            if embedder is None:
                return none, None, ""
            vectors = embedder.documents(texts, deadline=Deadline.after(4 * _SECONDS))
        except UnavailableError as error:
            return none, None, f"not embedded yet: {reason_of(error)}"
        first = next((vector for vector in vectors if vector is not None), None)
        note = f"not embedded: {embedder.id} refuses the text" if first is None else ""
        return vectors, Space(embedder.fingerprint(), len(first or b"") // 4), note

    def _row(self, entry: Entry, vector: bytes | None) -> Row:
        terms = self._analyser.chunk(entry.text)
        both = f"{terms.body}\t{terms.extra}"
        return Row(entry, terms=both, digest=digest(entry.text), vector=vector)

    def _now(self) -> int:
        return int(self._clock() * 1000)


def _refusal(number: int, provider: str) -> str:
    """A line on memories that are found by their words alone."""
    which = counted(number, "memory is", "memories are")
    return f"{which} not embedded: {provider} refuses the text" if number else ""


def _score(cosine: float, share: float) -> float:
    """Never less than the cosine, so that a threshold means what it says."""
    return max(0.0, cosine, (1 - _WORDS_SHARE) * cosine + _WORDS_SHARE * share)


def _check(category: str, importance: float) -> None:
    if category not in CATEGORIES:
        raise CallerError(
            f"there is no category {category!r}", hint=f"it is one of {', '.join(CATEGORIES)}"
        )
    if not 0 <= importance <= 1:
        raise CallerError(f"the importance is {importance}", hint="it is a number from 0 to 1")
