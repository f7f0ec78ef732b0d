"""The default analyser: words, stems, parts of identifiers, bigrams."""

from __future__ import annotations

import re
from _thread import allocate_lock  # threading takes a millisecond to import
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

import Stemmer

from commonplace.model.search import KeywordQuery
from commonplace.text.languages import (
    FIRST_LETTER,
    LETTERS,
    STEM_FOR,
    STEM_OF,
    is_vietnamese,
    joined_spelling,
    plain_text,
    sought,
)
from commonplace.text.query import MOST_PHRASES
from commonplace.text.questions import answer_asked, stop_words_of, tokens_beside
from commonplace.text.stems import backwards, is_of_english, latin_stem
from commonplace.text.tokens import (
    MAX_TOKEN,
    cut,
    find_groups,
    groups,
    has_unspaced,
    in_ascii,
    lacks,
    matching_pieces,
    pieces,
    run_tokens,
    unaccented,
    word_pieces,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from commonplace.model.chunks import Terms
    from commonplace.model.search import Phrase
    from commonplace.text.query import ParsedQuery
    from commonplace.text.tokens import Match, Piece

    _TermsAt = tuple[tuple[int, int, tuple[str, ...]], ...]


# Bounds of an analysed query: of its different terms, its pairs, its phrases and their lengths.
_MAX_TERMS, _MAX_PHRASE, _MAX_PARTS = 256, 32, 16
_MAX_JOINED, _FEW = 5, 2  # words of an identifier that was typed apart, of a query that is short
# Bounds of what is remembered of words already met; some 20 MB when full.
_MAX_CACHED, _MAX_CACHED_LENGTH = 32_768, 48

_DIGITS = frozenset("0123456789")
_BESIDE_WORDS = "!\"$%&'()*,-./:;<=>?@[\\]^`{|}~\t\r"
"""Marks of ASCII that belong to no group where they stand before or behind a word."""

_Value = TypeVar("_Value")


class StandardAnalyser:
    """See :class:`commonplace.text.analyse.Analyser`; safe to use from several threads."""

    id = "standard-11"
    terms = "analysed"

    def __init__(self) -> None:
        self._stems = _Stems()
        self._group_terms = _GroupTerms(self._stems)
        self._group_columns = _GroupColumns(self._stems)

    def chunk(self, text: str, *, heading: Sequence[str] = (), title: str = "") -> Terms:
        """The terms of a chunk of ``text`` under ``heading`` in a document called ``title``."""
        from commonplace.model.chunks import Terms

        may_join = not is_of_english(text)
        body, extra = self._columns(text, may_join=may_join)
        head, beside = self._columns("\n".join((*heading, title)), may_join=may_join)
        return Terms(body, head, f"{extra} {beside}" if extra and beside else extra or beside)

    def query(self, parsed: ParsedQuery) -> KeywordQuery:
        """The terms of a query: any of its words, all of its phrases, none of what it excludes."""
        typed = " ".join(parsed.words).lower().split()
        reading = _Reading(stop_words_of(parsed.words))
        for segment in parsed.words:
            reading.words(self._pieces(segment))
        if len(parsed.words) == 1 and not parsed.phrases:
            reading.add_joined(self._pieces(parsed.words[0]), self._stems)
        phrases = parsed.phrases[:MOST_PHRASES]
        must = [reading.phrase(self._pieces(phrase)) for phrase in phrases]
        must_not = [_sequence(self._pieces(text)) for text in parsed.excluded[:MOST_PHRASES]]
        should, selective = reading.should(), list[str]()
        beside = reading.beside(should)
        no_need, present = tokens_beside(" ".join(typed), lambda one: _sequence(self._pieces(one)))
        beside |= no_need.intersection(() if no_need.issuperset(should) else should)
        if any(map(has_unspaced, (*parsed.words, *phrases))):
            # One English word among pairs of letters: it would count as little as one of them.
            should += [term for term in should if term.isascii()]
            from commonplace.text.unspaced import selective_terms

            selective = selective_terms(should, beside)
        if len(typed) <= _FEW:  # in a sentence its other words say what is asked
            should += reading.wholes(3 if all(map(str.isascii, typed)) else 1, self._stems)
        return KeywordQuery(
            should=tuple(should),
            must=tuple(filter(None, must)),
            must_not=tuple(filter(None, must_not)),
            neighbours=tuple(reading.pairs),
            beside=beside,
            selective=tuple(selective),
            timed=present.intersection(should) or present,
            answer=answer_asked(" ".join(typed)),
        )

    def spans(self, text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Where in ``text`` which terms are found: (start, end, terms), by start."""
        stem = self._stems.__getitem__
        for at, group in find_groups(text):
            if group.isascii():
                for start, end, terms in self._group_terms[group]:
                    yield at + start, at + end, terms
                continue
            for start, end, token, _, extra in pieces(group, at, stem):
                yield start, end, ((token, *extra) if token else extra)

    def matches(self, text: str, wanted: frozenset[str]) -> list[Match]:
        """See :meth:`commonplace.text.analyse.Analyser.matches`."""
        # Few words of a chunk are those of the query, and only these are analysed.
        text = text.replace("\n", " ")
        found: list[Match] = []
        wide, needles = sought(wanted)
        if not text.isascii() and wide:
            from commonplace.text.unspaced import places_in_plain

            found, text = places_in_plain(text, wide)
        elif not text.isascii():
            letters = LETTERS if max(text) >= FIRST_LETTER else "(?!)"  # which compiles faster
            if plain_text(letters).fullmatch(text):
                text = in_ascii(text)
        for start, end in _words_with(text, needles):
            found += self._matches_of_word(text[start:end], start, wanted)
        return sorted(found, key=itemgetter(0))  # stable

    def _matches_of_word(self, word: str, start: int, wanted: frozenset[str]) -> list[Match]:
        core = word.strip(_BESIDE_WORDS)
        # What was a group before is one here, too, whatever stands beside it.
        terms_at = self._group_terms.get(core)
        if terms_at is None and core.isascii():
            terms_at = self._group_terms[core] if core.isalnum() else None
        elif terms_at is None and lacks(core, wanted):
            return []
        if terms_at is not None:
            return _wanted_at(start + word.find(core), terms_at, wanted)
        at, found = 0, list["Match"]()
        for group in groups(word):
            # Each begins where its text next stands: a group may begin at any letter of its own.
            at = word.find(group, at)
            if group.isascii():
                found += _wanted_at(start + at, self._group_terms[group], wanted)
            else:
                found += matching_pieces(group, start + at, self._stems.__getitem__, wanted)
            at += len(group)
        return found

    def _pieces(self, text: str) -> Iterator[Piece]:
        stem = self._stems.__getitem__
        for at, group in find_groups(text):
            yield from pieces(group, at, stem)

    def _columns(self, text: str, *, may_join: bool) -> tuple[str, str]:
        columns = list(map(self._group_columns.__getitem__, groups(text)))
        extra = [extra for _, extra, _ in columns if extra]
        extra += [turned for *_, turned in columns if turned] if may_join else ()
        return " ".join([body for body, *_ in columns if body]), " ".join(extra)


class _Reading:
    """What has been read of a query: its terms, and whether each stands for stop words alone."""

    def __init__(self, stop_words: Collection[str]) -> None:
        self.pairs: dict[tuple[str, str], None] = {}
        self._stop_words = stop_words
        self._wholes: dict[str, int] = {}  # identifiers and numbers, and how many parts each has
        self._terms: dict[str, bool] = {}
        self._meaningful: set[str] = set()
        self._tokens: set[str] = set()
        self._phrase_terms: dict[str, None] = {}

    def words(self, stretch: Iterable[Piece]) -> None:
        """Read a stretch of words that stand together."""
        terms = self._terms
        last, last_is_stop = "", True
        whole, until = "", 0
        for _, end, token, plain, extra in stretch:
            if len(terms) >= _MAX_TERMS:
                return
            if extra and not token:
                whole, until = extra[-1], end
                self._wholes[whole] = 0
            elif extra and token.isascii():
                self._wholes[token] = len(extra) - bool(joined_spelling(plain))
            if token:
                if end <= until:
                    self._wholes[whole] += 1
                self._tokens.add(token)
                is_stop_word = plain in self._stop_words
                terms[token] = is_stop_word and terms.get(token, True)
                if not is_stop_word:
                    self._meaningful.add(token)
                if last and not (is_stop_word and last_is_stop) and len(self.pairs) < _MAX_TERMS:
                    self.pairs[last, token] = None
                last, last_is_stop = token, is_stop_word
            for term in extra:
                terms[term] = term in self._stop_words and terms.get(term, True)

    def add_joined(self, found: Iterable[Piece], stems: Mapping[str, str]) -> None:
        """Read two to five words in Latin letters as an identifier that was typed apart, too."""
        plain = [plain for _, _, token, plain, _ in islice(found, 2 * _MAX_JOINED + 1) if token]
        joined = "".join(plain)
        if 2 <= len(plain) <= _MAX_JOINED and joined.isascii() and joined.isalnum():
            self._terms.setdefault(stems[joined], False)

    def phrase(self, found: Iterable[Piece]) -> Phrase:
        """Read a phrase, of which every word counts; its tokens in their order."""
        phrase = list(_first_pieces(found))
        for _, _, token, _, extra in phrase:
            self._phrase_terms.update(dict.fromkeys((token, *extra) if token else extra))
            self._tokens.add(token)
        return _sequence(phrase)

    def should(self) -> list[str]:
        """The different terms; without stop words if another word stays."""
        drop = bool(self._meaningful)
        terms = [term for term, is_stop in self._terms.items() if not (is_stop and drop)]
        return list(dict.fromkeys([*terms, *self._phrase_terms]))

    def wholes(self, times: int, stems: Mapping[str, str]) -> Iterator[str]:
        """Each identifier, as typed and joined, ``times`` for each part: it outweighs its parts."""
        for whole, parts in self._wholes.items():
            written = filter(None, (whole, stems[joined_spelling(whole)]))
            yield from (*written,) * min(times * parts, _MAX_PARTS)

    def beside(self, should: Iterable[str]) -> frozenset[str]:
        """Those of ``should`` that are parts of words of the query, or several joined to one."""
        return frozenset(should) - self._tokens


def _sequence(found: Iterable[Piece]) -> Phrase:
    return tuple(token for _, _, token, _, _ in _first_pieces(found) if token)


def _first_pieces(found: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces of a phrase, as many as have the first ``_MAX_PHRASE`` tokens."""
    tokens = 0
    for piece in found:
        yield piece
        tokens += bool(piece[2])
        if tokens == _MAX_PHRASE:
            return


def _wanted_at(start: int, terms_at: _TermsAt, wanted: frozenset[str]) -> list[Match]:
    """Where those of a group at ``start`` stand that are ``wanted``."""
    return [
        (start + first, start + last, matching)
        for first, last, terms in terms_at
        if (matching := wanted.intersection(terms))
    ]


def _words_with(text: str, needles: Collection[str]) -> list[tuple[int, int]]:
    """Where the words stand, parted by spaces, that have a needle or what is not ASCII."""
    lower = text.lower()
    if len(lower) != len(text):  # what is found in it stands elsewhere in the text
        return [word.span() for word in re.finditer("[^ ]++", text)]
    padded, wide = f"{lower} ", "" if text.isascii() else text
    spans = {word.span() for word in re.finditer("[^ ]++", wide) if not word.group().isascii()}
    for needle in needles:
        at = lower.find(needle)
        if at < 0:  # as most
            continue
        # A number begins and ends nothing in the middle of another one.
        first, last = needle[0] in _DIGITS, needle[-1] in _DIGITS and len(needle) < MAX_TOKEN
        while at >= 0:
            end = at + len(needle)
            if (first and lower[at - 1 : at] in _DIGITS) or (
                last and lower[end : end + 1] in _DIGITS
            ):
                at = lower.find(needle, at + 1)
                continue
            end = padded.index(" ", at)
            spans.add((lower.rfind(" ", 0, at) + 1, end))
            at = lower.find(needle, end)
    end = 0
    while joint := _JOINT.search(lower, end):
        start, end = lower.rfind(" ", 0, joint.start()) + 1, padded.index(" ", joint.start())
        joined = lower[start:end].replace("_", "").replace("-", "")
        if any(map(joined.__contains__, needles)):
            spans.add((start, end))
    return sorted(spans)


# What a query may leave out; a set of characters first, as these are searched for the fastest.
_JOINT = re.compile("[_-](?:(?<=_)|(?<=[a-z0-9]-)(?=[a-z0-9]))")


class _Stems(dict[str, str]):
    """The stems of words already met, by the word in lower case.

    What is done to one depends on its letters: Cyrillic and Arabic ones have a stemmer of their
    own; Latin ones lose accents first. Irregular and short forms are listed (``k8s``).
    """

    def __init__(self) -> None:
        super().__init__()
        self._stemmers: dict[str, Stemmer.Stemmer] = {}
        self._lock = allocate_lock()

    def __missing__(self, word: str) -> str:
        stem = STEM_FOR.get(stem := self._stem(word), stem)
        _remember(self, word, stem)
        return stem

    def _stem(self, word: str) -> str:
        bare = word if word.isascii() or is_vietnamese(word) else unaccented(word)
        if not bare.isalpha():
            return bare
        if bare in STEM_OF:
            return STEM_OF[bare]
        if bare.isascii():
            return latin_stem(bare, partial(self._snowball, "english"))
        if "\u0400" <= bare[0] <= "\u052f":
            stem = self._snowball("russian", bare)  # "серге" of "Сергей", "серг" of "Сергея"
            return stem.removesuffix("е") or stem
        if "\u0600" <= bare[0] <= "\u06ff":
            return self._snowball("arabic", bare)
        return bare

    def _snowball(self, language: str, word: str) -> str:
        with self._lock:
            stemmer = self._stemmers.get(language)
            if stemmer is None:
                stemmer = self._stemmers[language] = Stemmer.Stemmer(language, 0)
            stem: str = stemmer.stemWord(word)
        return stem or word


def _remember(known: dict[str, _Value], key: str, value: _Value) -> None:
    """Put ``value`` into ``known``, which is emptied when it is full."""
    if len(key) <= _MAX_CACHED_LENGTH:
        if len(known) >= _MAX_CACHED:
            known.clear()
        known[key] = value


class _GroupTerms(dict[str, "_TermsAt"]):
    """Where in groups of ASCII already met which terms are found: (start, end, terms)."""

    def __init__(self, stems: _Stems) -> None:
        super().__init__()
        self._stem = stems.__getitem__

    def __missing__(self, group: str) -> _TermsAt:
        read = word_pieces(group, 0, self._stem)
        found = tuple(
            [(s, e, (token, *extra) if token else extra) for s, e, token, _, extra in read]
        )
        _remember(self, group, found)
        return found


class _GroupColumns(dict[str, tuple[str, str, str]]):
    """Body and extra terms of groups already met, and what finds compounds by how they end."""

    def __init__(self, stems: _Stems) -> None:
        super().__init__()
        self._stem = stems.__getitem__

    def __missing__(self, group: str) -> tuple[str, str, str]:
        body, extra, compounds = list[str](), list[str](), list[str]()
        for start, piece, is_run in cut(group):
            if is_run:
                pairs, letters = run_tokens(piece)
                body += pairs
                extra += letters
            else:
                for _, _, token, _, beside in word_pieces(piece, start, self._stem):
                    if token:
                        body.append(token)
                        compounds += backwards(token) if len(beside) < _FEW else ()
                    extra += beside
        columns = " ".join(body), " ".join(extra), " ".join(compounds)
        _remember(self, group, columns)
        return columns
