"""What a query asks for that no note has: named, with what was meant, and searched for otherwise.

A word may be in the notes in parts, or as a part: for "Hausratversicherung" they have "Hausrat",
for "kube" "Kubernetes", for "forcepush" both words, for "post mortem" one, for
"4000000000000002" groups of digits, or the other way round. Imported where a search lacks a word.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

from commonplace.errors import DeclinedError, UnavailableError, reason_of
from commonplace.model.search import KeywordQuery, UnknownWord
from commonplace.model.tuples import NamedTuple
from commonplace.text.alternatives import (
    is_english,
    is_long,
    may_be_meant,
    one_letter_off,
    stems_of,
    synonyms_of,
    ways_to_part,
)
from commonplace.text.languages import english_levels, english_words, is_hash
from commonplace.text.questions import STOP_WORDS, may_be_foreign
from commonplace.text.tokens import has_unspaced, identifier_parts, unaccented

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
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
"""How many letters a word has that may be mistyped."""
_MOST_PARTS = 5
"""How many parts an identifier has of which one may be mistyped."""
_STEMS = 3
"""How many tokens near a word are searched for in notes."""
_SAMPLE = 5
"""How many chunks are read for each of these tokens."""
_MOST_SPLIT_WORDS = 3

_LEAST_WORD, _LEAST_STEM = 4, 5
"""How many letters a word has that notes may go on with, and its stem, or what forms share."""
_MOST_ENDING, _ALIKE = 3, 0.75
"""How many letters another form ends in, and which share of the word they have in common."""
_LONGER, _MOST_TOKENS, _MOST_LOOK_UPS = 3, 50, 8  # longer words, of so many tokens and beginnings


class Replacement(NamedTuple):
    """What is searched for in the place of a word: its parts, synonyms, longer or likely words.

    Of a number that notes write in groups, ``groups`` stand side by side; it is shown as one part.
    """

    parts: Parts
    groups: tuple[str, ...] = ()


class Asked(NamedTuple):
    """An answer to ``query``: its lists, the unknown words, and a note where something failed."""

    query: Query
    arms: tuple[Arm, ...]
    words: Words = ()
    notes: tuple[str, ...] = ()


class UnknownWords:
    """The words of ``query`` of which no chunk has any token, by what ``lacking`` has counted.

    ``texts`` are those of the query that they stand in. ``ask`` asks the backend that answered.
    """

    def __init__(
        self, query: Query, lacking: Arm, texts: Sequence[str], analyser: Analyser, ask: Ask
    ) -> None:
        self._query, self._lacking, self._query_texts = query, lacking, texts
        self._analyser, self._ask = analyser, ask
        self._stems = partial(stems_of, analyser.spans)

    def ask_with_replacements(self, arms: tuple[Arm, ...], limit: int) -> Asked:
        """Ask for up to ``limit`` hits once more, with what notes have in the place of these words.

        A likely spelling takes the place of a long word; of any word where nothing was found. Each
        word of the answer says what was searched for instead. The lists stay ``arms`` where that is
        nothing, where the query is ``plain``, and where the backend fails, which a note says.
        """
        words = tuple(UnknownWord(word=word) for word in self._unknown_words())
        try:
            words = tuple(word.replace(suggestion=self._likely(word.word)) for word in words)
            if self._query.keyword.plain:
                return Asked(self._query, arms, words)
            words, numbers = self._with_numbers(words)
            found = any(arm.found for arm in arms)
            replacements = self._replacements(words, found=found) | numbers
            keyword = self._extended(replacements.values(), self._terms_without(numbers))
            query = self._query if keyword is None else self._query._replace(keyword=keyword)
            arms = arms if keyword is None else self._ask(query, limit=limit)
        except (UnavailableError, DeclinedError) as error:  # the first answer holds
            note = f"similar words could not be looked up: {reason_of(error)}"
            return Asked(self._query, arms, words, (note,))
        instead = {word: replacement.parts for word, replacement in replacements.items()}
        words = tuple(word.replace(instead=instead.get(word.word, ())) for word in words)
        return Asked(query, arms, words)

    def _unknown_words(self) -> list[str]:
        """The first unknown words of the query, as they were typed."""
        words: dict[str, str] = {}
        for text in self._query_texts:
            for word in self._unknown_in(text):
                words.setdefault(word.lower(), word)
        return list(words.values())[:_MOST_NAMED]

    def _extended(
        self, replacements: Iterable[Replacement], should: Sequence[str]
    ) -> KeywordQuery | None:
        """The query for ``should`` and for what replaces its unknown words; ``None``: no other."""
        replacements = list(replacements)
        every_part = [part for instead in replacements for part in instead.parts]
        names = (name for part in every_part for name in (part, *part.split("_")))
        tokens = dict.fromkeys(self._stems(names).values())
        new = tuple(token for token in tokens if token not in should)
        keyword = self._query.keyword
        if not new and len(should) == len(keyword.should):
            return None
        pairs = [pair for instead in replacements for pair in pairwise(instead.groups)]
        return keyword._replace(
            should=(*should, *new),
            beside=keyword.beside.union(new),
            instead=keyword.instead.union(new),
            neighbours=(*keyword.neighbours, *pairs),
            selective=(),
        )

    def _replacements(self, words: Words, *, found: bool) -> dict[str, Replacement]:
        """What is searched for in the place of each of ``words``; ``found``: others find notes.

        The likely spelling, else synonyms, two words, longer words, or a beginning.
        """
        spellings = {
            word.word: (word.suggestion,)
            for word in words
            if word.suggestion and (not found or is_long(word.word))
        }
        synonyms, parts = self._synonyms(words), self._parts(words)
        chosen, foreign = parts | synonyms | spellings, may_be_foreign(self._query_texts)
        for word in [unknown.word for unknown in words[:_MOST_SPLIT_WORDS]]:
            if word in synonyms or word in spellings:
                continue
            way = parts.get(word, ())
            if not way or (len(way) == 1 and len(way[0]) < len(word)):
                longer = self._longer_words(word, english=not foreign)
                compounds = self._compounds_of(word) if foreign and not longer else ()
                chosen[word] = longer or compounds or way
        return {word: Replacement(way) for word, way in chosen.items() if way}

    def _unknown_in(self, text: str) -> Iterator[str]:
        """The unknown words of ``text``, as they were typed.

        A run of a script without spaces is one word here: its pairs of letters are no words.
        """
        missing, query_terms = self._lacking.unknown, frozenset(self._query.keyword.should)
        # (start, end, whether none of its terms is known)
        spans: list[tuple[int, int, bool]] = []
        for start, end, terms in self._analyser.spans(text):
            # The "e" of E_NOSPC is a stop word: not searched for, and so not known to be missing.
            wanted = query_terms.intersection(terms) or {*terms}
            # An identifier is not known by one of its parts.
            lacks_part = terms[0] in missing and len(wanted & missing) > 1
            unknown = wanted <= missing or (lacks_part and bool(identifier_parts(text[start:end])))
            if spans and start < spans[-1][1]:
                first, last, was_unknown = spans[-1]
                if has_unspaced(text[start:end]):
                    spans[-1] = first, max(last, end), unknown and was_unknown
                    continue
                if end <= last:  # a word of a compound, which stood before it
                    if not was_unknown:  # a note spells it in another way
                        continue
                    spans.pop()
            spans.append((start, end, unknown))
        yield from (text[start:end] for start, end, unknown in spans if unknown)

    def _likely(self, word: str) -> str:
        """The word of notes that was probably meant by one in Latin letters; ``""``: none is near.

        Tokens are stems: a note that has one near ``word`` may not have the word itself.
        """
        low = word.lower()
        parts = low.split("_")
        if 1 < len(parts) <= _MOST_PARTS:
            unknown = self._lacking.unknown
            lacks = [part for part, token in self._stems(parts).items() if token in unknown]
            likely_parts: dict[str, str] = {}
            for part in lacks:
                if not (likely := self._likely(part)):
                    return ""
                likely_parts[part] = likely
            return "_".join(likely_parts.get(part, part) for part in parts) if lacks else ""
        plain = low.isascii() and low.isalpha() and _SHORTEST <= len(low) <= _LONGEST
        if self._lacking.holders is None or not plain:
            return ""
        if is_english(low, self._stems([low]).get(low, low)):  # it was meant itself
            return ""
        near = [other for other in dict.fromkeys(one_letter_off(low)) if may_be_meant(low, other)]
        stems = dict.fromkeys(self._stems(near).values())
        holders = self._lacking.holders(set(stems))
        for stem in sorted(filter(holders.get, stems), key=lambda stem: -holders[stem])[:_STEMS]:
            words = self._words_of(stem)
            if likely := next((other for other in near if other in words), ""):
                return likely
        return ""

    def _words_of(self, token: str) -> set[str]:
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
        """The best chunks that have one of ``tokens``, and nothing that the query excludes."""
        must_not = self._query.keyword.must_not
        keyword = KeywordQuery(should=tuple(tokens), must_not=must_not, plain=True)
        try:
            arms = self._ask(self._query._replace(keyword=keyword), limit=limit)
        except (UnavailableError, DeclinedError):  # what they are for is no part of the answer
            return []
        chunks = [item.chunk for arm in arms if arm.kind == "bm25" for item in arm.found]
        return ["\n".join((chunk.text, *chunk.heading)) for chunk in chunks]

    def _parts(self, words: Words) -> dict[str, Parts]:
        """What notes have of each of ``words``, or of one that is joined with its neighbour."""
        typed = [re.findall(r"\w+", text.lower()) for text in self._query_texts]
        pairs = [pair for text in typed for pair in pairwise(text)]
        ways_by_word: dict[str, list[Parts]] = {}
        for word in [unknown.word for unknown in words[:_MOST_SPLIT_WORDS]]:
            low = word.lower()
            if low.isalpha() and not has_unspaced(low):
                joined = ["".join(pair) for pair in pairs if low in pair]
                ways_by_word[word] = [(both,) for both in joined if both.isalpha()]
                ways_by_word[word] += ways_to_part(low)
        if self._lacking.holders is None or not ways_by_word:
            return {}
        tokens = self._stems(
            {part for ways in ways_by_word.values() for way in ways for part in way}
        )
        holders = self._lacking.holders(set(tokens.values()))
        parts_by_word = {}
        for word, ways in ways_by_word.items():
            known = (way for way in ways if all(holders.get(tokens.get(part, "")) for part in way))
            if way := next((way for way in known if self._are_written(word, way, tokens)), ()):
                is_beginning = len(way) == 1 and word.lower().startswith(way)
                written = self._as_written(way[0], tokens[way[0]]) if is_beginning else ""
                parts_by_word[word] = (written,) if is_beginning else way
        return {word: way for word, way in parts_by_word.items() if any(way)}

    def _are_written(self, word: str, way: Parts, tokens: Mapping[str, str]) -> bool:
        """Whether notes have the short words of ``way`` as they are: "pers" has the token "per".

        Of what is joined they have all but the ending: "plan to" is no "plants".
        """
        if len(way) == 1 and not word.lower().startswith(way):
            joined = _plain(way[0]).removesuffix("s")
            return any(_plain(one).startswith(joined) for one in self._words_of(tokens[way[0]]))
        short = [part for part in way if len(part) <= _SHORTEST] if len(way) > 1 else []
        return all(part in self._words_of(tokens[part]) for part in short)

    def _as_written(self, beginning: str, token: str) -> str:
        """The word of notes that is ``beginning`` but for its ending; ``""``: none is.

        "aftern" has the token of "after", and is no word.
        """
        stem = beginning[:-_MOST_ENDING]
        written = [one for one in self._words_of(token) if one.startswith(stem)]
        words = (one for one in written if one not in STOP_WORDS)
        return min(words, key=lambda one: (len(one), one), default="")

    def _synonyms(self, words: Words) -> dict[str, Parts]:
        """What notes call each of ``words``, where they have a synonym of it."""
        if self._lacking.holders is None:
            return {}
        others = {one.word: synonyms_of(one.word.lower()) for one in words[:_MOST_SPLIT_WORDS]}
        tokens = self._stems({other for synonyms in others.values() for other in synonyms})
        holders = self._allowed(self._lacking.holders(set(tokens.values()))) if tokens else {}
        known: dict[str, Parts] = {}
        for word, synonyms in others.items():
            by_token = {tokens.get(one, ""): one for one in reversed(synonyms)}
            in_notes = [one for token, one in by_token.items() if holders.get(token)]
            if in_notes:
                known[word] = tuple(in_notes[: -_LONGER - 1 : -1])
        return known

    def _longer_words(self, word: str, *, english: bool) -> Parts:
        """The words of notes that go on where ``word`` ends, else other forms of it; the most used.

        Of frequent English words, whose other forms share a token, only what is none itself, and
        none of an ``english`` query: "Mark" is no "Markdown". No other forms of a name.
        """
        is_name, word = word[:1].isupper(), _plain(word)
        if not (word.isalpha() or is_hash(word)) or has_unspaced(word) or len(word) < _LEAST_WORD:
            return ()
        token = self._stems([word]).get(word, word)
        is_stem = word.startswith(token) and len(token) >= _LEAST_STEM
        frequent = not english_levels().keys().isdisjoint((word, token))
        if frequent and english:
            return ()
        counts = self._tokens_beginning(token if is_stem else word)
        if frequent:
            least = len(word) + _MOST_ENDING
            foreign = [one for one in counts if len(one) >= least and one not in english_words()]
            counts = {one: counts[one] for one in foreign}
        elif not counts and word.isalpha() and not is_name:
            counts = self._other_forms(word)
        longer = []
        for other in sorted(counts, key=lambda other: (-counts[other], other))[:_LONGER]:
            written = [one for one in self._words_of(other) if one.isalnum()]
            alike = [one for one in written if _plain(one).startswith(word[:_LEAST_WORD])]
            longer += [min(alike, key=lambda one: (len(one), one))] if alike else []
        return tuple(dict.fromkeys(longer))

    def _compounds_of(self, word: str) -> Parts:
        """The compounds of notes that end in it, or what they have of its parts."""
        from commonplace.search.compounds import compounds_of

        holders = self._lacking.holders or (lambda _: {})
        return compounds_of(
            _plain(word), self._analyser, self._tokens_beginning, holders, self._words_of
        )

    def _other_forms(self, word: str) -> Mapping[str, int]:
        """The tokens that share most of ``word`` and end otherwise, each with how many hold it."""
        least = max(_LEAST_STEM, ceil(_ALIKE * len(word)))
        for shared in range(len(word) - 1, least - 1, -1)[:_MOST_LOOK_UPS]:
            counts = self._tokens_beginning(word[:shared])
            forms = {one: n for one, n in counts.items() if len(one) <= shared + _MOST_ENDING}
            if forms:
                return forms
        return {}

    def _tokens_beginning(self, text: str) -> Mapping[str, int]:
        look_up = self._lacking.tokens_beginning
        return self._allowed(look_up(text, _MOST_TOKENS)) if look_up else {}

    def _allowed(self, counts: Mapping[str, int]) -> Mapping[str, int]:
        """``counts`` without the tokens that the query excludes."""
        excluded = {phrase[0] for phrase in self._query.keyword.must_not if len(phrase) == 1}
        return {token: count for token, count in counts.items() if token not in excluded}

    def _terms_without(self, numbers: Iterable[str]) -> Sequence[str]:
        """The terms of the query without those that only stand in ``numbers`` typed in groups."""
        should = self._query.keyword.should
        if not numbers:
            return should
        from commonplace.search.numbers import without_groups

        return without_groups(should, numbers, self._query_texts, self._analyser)

    def _with_numbers(self, words: Words) -> tuple[Words, dict[str, Replacement]]:
        """``words`` with a number in the place of its groups, if a note has that in one.

        Also what notes have in the place of each number.
        """
        holders, typed_words = self._lacking.holders, [word.word for word in words]
        if holders is None or not any(map(str.isdigit, "".join(typed_words))):
            return words, {}
        from commonplace.search.numbers import groups_of, written_numbers

        written = written_numbers(typed_words, self._query_texts, holders, self._texts)
        in_groups = [number for number in written if number not in typed_words]
        groups = {group for number in in_groups for group in groups_of(number)}
        others = [word for word in words if word.word.lower() not in groups]
        numbers = [UnknownWord(word=number) for number in in_groups]
        instead = {word: Replacement((one,), tuple(one.split())) for word, one in written.items()}
        return (*others, *numbers), instead


def _plain(word: str) -> str:
    return unaccented(word.casefold())
