"""What a query asks for that no note has: named, with what was meant, and searched for otherwise.

A word may be in the notes in parts, or as a part: for "Hausratversicherung" they have "Hausrat",
for "forcepush" both words, for "post mortem" one, for "4000000000000002" groups of digits, or the
other way round. Imported where a search lacks a word, or quotes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from commonplace.errors import DeclinedError, UnavailableError, reason_of
from commonplace.model.search import KeywordQuery, UnknownWord
from commonplace.text.languages import STOP_WORDS, english_levels
from commonplace.text.tokens import has_unspaced, identifier_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Protocol

    from commonplace.model.search import Arm, Query
    from commonplace.text.analyse import Analyser

    class Ask(Protocol):
        """Asks the backend that answered for up to ``limit`` hits of another query."""

        def __call__(self, query: Query, *, limit: int) -> tuple[Arm, ...]:
            """The ranked lists for ``query``."""
            ...

    Words = tuple[UnknownWord, ...]
    Parts = tuple[str, ...]

_MOST_NAMED = 8
_SHORTEST, _LONGEST = 4, 24
"""Letters of a word that is taken to be mistyped."""

_SURE = 5
"""Letters up to which a word is one letter from many others."""

_MOST_PARTS = 5
"""Parts of an identifier of which one may be mistyped."""
_CLEAR = 8
"""Letters from which on a word is near to one that was meant, and hardly to another."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_STEMS = 3
"""So many tokens near a word are looked for in notes,"""
_SAMPLE = 5
"""each in so many chunks."""

_LEAST_SPLIT, _MOST_SPLIT = 7, 40
"""Letters of a word that is looked for by its parts,"""
_LEAST_FIRST, _LEAST_LAST, _LEAST_BEGINNING = 4, 3, 5
"""those of its parts, and of a beginning without the rest."""
_MOST_LOOKED_FOR = 3


class UnknownWords:
    """The words of ``query`` of which no chunk has any token, by what ``lacking`` has counted.

    ``said`` are the texts that the words stand in. ``ask`` gives what the backend that answered
    finds for another query.
    """

    def __init__(
        self,
        query: Query,
        lacking: Arm,
        said: Sequence[str],
        analyser: Analyser,
        ask: Ask,
    ) -> None:
        self._query, self._lacking, self._said = query, lacking, said
        self._analyser, self._ask = analyser, ask

    def _named(self) -> Words:
        """The first of them, each with the word of notes that was probably meant.

        A run of a script without spaces is a word here: its letters in pairs are none to name.
        """
        words: dict[str, str] = {}
        for text in self._said:
            for word in self._words(text):
                words.setdefault(word.lower(), word)
        named = list(words.values())[:_MOST_NAMED]
        return tuple(UnknownWord(word=word, suggestion=self._likely(word)) for word in named)

    def asked_otherwise(
        self, arms: tuple[Arm, ...], limit: int
    ) -> tuple[Query, tuple[Arm, ...], Words]:
        """Ask for up to ``limit`` hits once more, with the parts of the words that notes have.

        What was probably meant is searched for, too, by a long word, or where nothing was found.
        Returns the query, the lists that it gave, and the words with what was searched for instead.
        Where that is nothing, or the query is ``plain``, the lists are ``arms``.
        """
        words = self._named()
        if self._query.keyword.plain:
            return self._query, arms, words
        words, numbers = self._with_numbers(words)
        found, instead = any(arm.found for arm in arms), self._parts(words) | numbers
        for one in words:
            # A beginning is less likely than a mistake in one letter, two words are not.
            is_two = len(instead.get(one.word, ())) > 1
            if one.suggestion and not is_two and (not found or len(one.word) >= _CLEAR):
                instead[one.word] = (one.suggestion,)
        parts = (part for some in instead.values() for part in some)
        tokens = self._tokens(one for part in parts for one in (part, *part.split("_"))).values()
        keyword = self._query.keyword
        should = self._without_groups(numbers)
        new = tuple(one for one in dict.fromkeys(tokens) if one not in should)
        if not new and len(should) == len(keyword.should):
            return self._query, arms, words
        groups = [one[0].split() for one in instead.values()]  # of a number, else a single word
        keyword = keyword._replace(
            should=(*should, *new),
            beside=keyword.beside.union(new),
            neighbours=(*keyword.neighbours, *(pair for one in groups for pair in pairwise(one))),
            selective=(),
        )
        query = self._query._replace(keyword=keyword)
        try:
            arms = self._ask(query, limit=limit)
        except (UnavailableError, DeclinedError):  # the first answer holds
            return self._query, arms, words
        return query, arms, tuple(one.replace(instead=instead.get(one.word, ())) for one in words)

    def _words(self, text: str) -> Iterator[str]:
        missing, asked = self._lacking.unknown, frozenset(self._query.keyword.should)
        # (start, end, whether none of its terms is known)
        found: list[tuple[int, int, bool]] = []
        for start, end, terms in self._analyser.spans(text):
            # The "e" of E_NOSPC is a stop word: not asked for, and so not known to be missing.
            wanted = asked.intersection(terms) or {*terms}
            # An identifier is not known by one of its parts.
            lacks_part = terms[0] in missing and len(wanted & missing) > 1
            unknown = wanted <= missing or (lacks_part and bool(identifier_parts(text[start:end])))
            if found and start < found[-1][1]:
                first, last, was_unknown = found[-1]
                if has_unspaced(text[start:end]):
                    found[-1] = first, max(last, end), unknown and was_unknown
                    continue
                if end <= last:  # a word of a compound, which stood before it
                    if not was_unknown:  # a note spells it in another way
                        continue
                    found.pop()
            found.append((start, end, unknown))
        yield from (text[start:end] for start, end, unknown in found if unknown)

    def _likely(self, word: str) -> str:
        """The word of notes that was probably meant by one in Latin letters; ``""``: none is near.

        Tokens are stems: that one near ``word`` is held does not say that the word itself is.
        """
        low = word.lower()
        parts = low.split("_")
        if 1 < len(parts) <= _MOST_PARTS:
            unknown = self._lacking.unknown
            lacks = [part for part, token in self._tokens(parts).items() if token in unknown]
            meant: dict[str, str] = {}
            for part in lacks:
                if not (likely := self._likely(part)):
                    return ""
                meant[part] = likely
            return "_".join(meant.get(part, part) for part in parts) if meant else ""
        plain = low.isascii() and low.isalpha() and _SHORTEST <= len(low) <= _LONGEST
        if self._lacking.holders is None or not plain:
            return ""
        near = [other for other in dict.fromkeys(_at_one_remove(low)) if _may_be_meant(low, other)]
        stems = dict.fromkeys(self._tokens(near).values())
        held = self._lacking.holders(set(stems))
        for stem in sorted(filter(held.get, stems), key=lambda one: -held[one])[:_STEMS]:
            written = self._written(stem)
            if found := next((one for one in near if one in written), ""):
                return found
        return ""

    def _written(self, token: str) -> set[str]:
        """The words, in lower case, that stand for ``token`` in the best chunks that have it."""
        texts = self._texts((token,), _SAMPLE)
        wanted = frozenset((token,))
        words = {
            text[start:end].lower()
            for text in texts
            for start, end, _ in self._analyser.matches(text, wanted)
        }
        return words.union(*[word.split("_") for word in words])

    def _texts(self, tokens: Iterable[str], limit: int) -> list[str]:
        """Of the best chunks that have one of ``tokens``, and nothing that the query excludes."""
        must_not = self._query.keyword.must_not
        keyword = KeywordQuery(should=tuple(tokens), must_not=must_not, plain=True)
        try:
            arms = self._ask(self._query._replace(keyword=keyword), limit=limit)
        except (UnavailableError, DeclinedError):  # what they are for is no part of the answer
            return []
        chunks = [found.chunk for arm in arms if arm.kind == "bm25" for found in arm.found]
        return ["\n".join((chunk.text, *chunk.heading)) for chunk in chunks]

    def _parts(self, words: Words) -> dict[str, Parts]:
        """What notes have of each of ``words``, or of one that is joined with its neighbour."""
        typed = [pair for text in self._said for pair in pairwise(text.lower().split())]
        ways: dict[str, list[Parts]] = {}
        for one in words[:_MOST_LOOKED_FOR]:
            low = one.word.lower()
            if low.isalpha() and not has_unspaced(low):
                joined = ["".join(pair) for pair in typed if low in pair]
                ways[one.word] = [(both,) for both in joined if both.isalpha()]
                ways[one.word] += _ways_to_part(low)
        holders = self._lacking.holders
        if holders is None or not ways:
            return {}
        tokens = self._tokens({part for some in ways.values() for way in some for part in way})
        held = holders(set(tokens.values()))
        found = {}
        for word, some in ways.items():
            known = (way for way in some if all(held.get(tokens.get(part, "")) for part in way))
            if way := next(known, ()):
                found[word] = way
        return found

    def _with_numbers(self, words: Words) -> tuple[Words, dict[str, Parts]]:
        """``words`` with a number in the place of its groups, if a note has that in one.

        Also what notes have in the place of each number.
        """
        holders = self._lacking.holders
        if holders is None or not any(map(str.isdigit, "".join([one.word for one in words]))):
            return words, {}
        from commonplace.search.numbers import groups_of, written_numbers

        numbers = [one.word for one in words]
        found = written_numbers(numbers, self._said, holders, self._texts)
        typed = [number for number in found if number not in numbers]
        groups = {group for number in typed for group in groups_of(number)}
        others = [one for one in words if one.word.lower() not in groups]
        whole = [UnknownWord(word=number) for number in typed]
        return (*others, *whole), {number: (written,) for number, written in found.items()}

    def _without_groups(self, numbers: Iterable[str]) -> list[str]:
        """The terms of the query without those of ``numbers``, which notes have in another form."""
        spans = (span for number in numbers for span in self._analyser.spans(number))
        groups = {term for _, _, terms in spans for term in terms}
        return [term for term in self._query.keyword.should if term not in groups]

    def _tokens(self, words: Iterable[str]) -> dict[str, str]:
        """The token of each of ``words``, which are letters alone."""
        text = " ".join(words)
        return {text[start:end]: terms[0] for start, end, terms in self._analyser.spans(text)}


def _ways_to_part(word: str) -> Iterator[Parts]:
    """``word`` as two words, then its beginnings: the longest come first."""
    if not _LEAST_SPLIT <= len(word) <= _MOST_SPLIT:
        return
    ends = range(len(word) - _LEAST_LAST, _LEAST_FIRST - 1, -1)
    for end in ends:
        if STOP_WORDS.isdisjoint(both := (word[:end], word[end:])):
            yield both
    yield from ((word[:end],) for end in ends if end >= _LEAST_BEGINNING)


def _may_be_meant(word: str, other: str) -> bool:
    """Whether ``other``, one letter from it, may have been meant by ``word``; in lower case.

    Of a short word no letter is another: it is near to many by chance. A frequent English word was
    meant itself; only its ending may be another in another language ("restaurante").
    """
    if len(word) <= _SURE and len(word) == len(other) and sorted(word) != sorted(other):
        return False
    return word not in english_levels() or word.startswith(other) or other.startswith(word)


def _at_one_remove(word: str) -> Iterator[str]:
    """``word`` with one letter mistyped, but the first: the likeliest mistakes come first."""
    places = range(1, len(word))
    yield from (
        word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in places if i + 1 < len(word)
    )
    yield from (word[:i] + letter + word[i:] for i in (*places, len(word)) for letter in _LETTERS)
    yield from (word[:i] + letter + word[i + 1 :] for i in places for letter in _LETTERS)
    yield from (word[:i] + word[i + 1 :] for i in places)


_PASTED = 4
"""Words beside a quoted one from which on a query may be a message that has quotes itself."""
_LITTLE = 0.5
"""The share of what others have, below which what has the quoted words is not all that is shown."""


def without_quotes(
    query: Query,
    arms: tuple[Arm, ...],
    ask: Callable[[Query], tuple[Arm, ...]],
    none: str,
    *,
    quoted: Sequence[str],
) -> tuple[Query, tuple[Arm, ...], tuple[str, ...]]:
    """Ask once more without what must be there, if nothing or hardly anything has it; and a note.

    Questions quote things, too, and so do messages that are pasted: what no note holds word for
    word is no reason for silence. ``none`` names the notes that were looked through.
    """
    by_words = [arm for arm in arms if arm.kind != "cosine"]  # vectors alone were filtered, too
    found = any(arm.found for arm in by_words or arms)
    words = [one for one in query.words.lower().split() if one not in STOP_WORDS]
    if found and len(words) < _PASTED:
        return query, arms, ()
    loose = query._replace(keyword=query.keyword._replace(must=()))
    try:
        others = ask(loose)
    except (UnavailableError, DeclinedError) as error:  # the first answer holds
        missing = f"{none} has all of this; what comes near is missing: {reason_of(error)}"
        return query, arms, () if found else (missing,)
    if found and _evidence(arms) >= _LITTLE * _evidence(others):
        return query, arms, ()
    near = f"{none} has the quoted words side by side; shown is what comes near"
    if found:
        near = "what has the quoted words matches little else; similar notes are shown, too"
    return loose, others, (near,) if quoted and any(arm.found for arm in others) else ()


def _evidence(arms: Iterable[Arm]) -> float:
    """The most that a hit by words has."""
    by_words = (arm.found for arm in arms if arm.kind != "cosine")
    return max((item.evidence or 0.0 for found in by_words for item in found), default=0.0)
