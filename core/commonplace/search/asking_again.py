"""What the backend that answered is asked once more, where its first answer shows a need.

Without the quotes, where no note has them side by side; with other letters or numerals, where notes
of Asia have these; for newer hits, where those that fold come from a list that was cut off; for
more, where folding leaves places empty. Imported only then. Where that fails, the first answer
holds, with a note.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING
from unicodedata import normalize

from commonplace.errors import DeclinedError, UnavailableError, reason_of
from commonplace.model.search import QueryNote
from commonplace.protocols.contexts import MOST_HITS
from commonplace.text.languages import in_our_digits
from commonplace.text.questions import STOP_WORDS
from commonplace.text.unspaced import LETTERS_OF_NAMES, is_of_one_script, other_letters

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from commonplace.model.search import Arm, Candidate, KeywordQuery, Query
    from commonplace.protocols.contexts import FurtherHits
    from commonplace.search.choosing import Folding
    from commonplace.text.analyse import Analyser

    Holders = Callable[[Collection[str]], Mapping[str, int]]
    Others = dict[str, tuple[str, ...]]
    Numbers = dict[tuple[str, ...], tuple[str, ...]]

_PASTED = 4
"""A query with so many words beside the quoted ones may be a message that has quotes itself."""
_LITTLE = 0.5
"""With less than this share of the others' evidence, quoted words alone do not make the answer."""
_ROUNDS = 4
"""How often newer hits are asked for."""


def without_quotes(
    query: Query,
    arms: tuple[Arm, ...],
    ask: Callable[[Query], tuple[Arm, ...]],
    no_note: str,
    *,
    quoted: Sequence[str],
) -> tuple[Query, tuple[Arm, ...], tuple[str, ...]]:
    """Ask once more without what must be there, if nothing or hardly anything has it; and a note.

    Questions quote things, too, and so do messages that are pasted: where no note has the quoted
    words, others are shown. ``no_note`` names the notes that were searched.
    """
    by_words = [arm for arm in arms if arm.kind != "cosine"]  # vectors alone were filtered, too
    found = any(arm.found for arm in by_words or arms)
    words = [word for word in query.words.lower().split() if word not in STOP_WORDS]
    if found and len(words) < _PASTED:
        return query, arms, ()
    loose = query._replace(keyword=query.keyword._replace(must=()))
    try:
        others = ask(loose)
    except (UnavailableError, DeclinedError) as error:  # the first answer holds
        missing = f"{no_note} has all of this; what comes near is missing: {reason_of(error)}"
        return query, arms, () if found else (missing,)
    if found and _evidence(arms) >= _LITTLE * _evidence(others):
        return query, arms, ()
    near = f"{no_note} has the quoted words side by side; shown is what comes near"
    if found:
        near = "what has the quoted words matches little else; similar notes are shown, too"
    shown = quoted and any(arm.found for arm in others)
    return loose, others, (QueryNote(near),) if shown else ()


def _evidence(arms: Iterable[Arm]) -> float:
    """The most that a hit by words has."""
    by_words = (arm.found for arm in arms if arm.kind != "cosine")
    return max((item.evidence or 0.0 for found in by_words for item in found), default=0.0)


_MAY_BE_NUMBER = "[0-9十百千십백천]|สิบ|ร้อย|พัน"
_HIRAGANA, _KATAKANA, _LAST_KANA = "\u3041", "\u30a1", "\u30fc"
_KANA = "[\u30a1-\u30f6\u30fc]{2,32}|[\u3041-\u3096\u30fc]{3,32}"
_MOST_WORDS = 8
"""How many words in kana, and how many numbers, of a query are looked up in their other form."""
_BETWEEN_KANA = 0x60
_TO_OTHER_KANA = {
    **{code: code + _BETWEEN_KANA for code in range(0x3041, 0x3097)},
    **{code: code - _BETWEEN_KANA for code in range(0x30A1, 0x30F7)},
}


def with_spellings(
    query: Query,
    arms: tuple[Arm, ...],
    texts: Iterable[str],
    analyser: Analyser,
    ask: Callable[[Query], tuple[Arm, ...]],
) -> tuple[Query, tuple[Arm, ...], tuple[str, ...]]:
    """Ask once more, with what notes write in other letters or numerals than ``texts``; and a note.

    Only what no note has is replaced; a number may be in some notes as it was typed, and is
    searched for in its other form, too. Where notes have none, or cannot be asked, ``query`` and
    ``arms`` hold.
    """
    arm = next((arm for arm in arms if arm.holders), None)
    if arm is None or arm.holders is None:
        return query, arms, ()
    holders, keyword = arm.holders, query.keyword
    missing = arm.unknown.intersection(keyword.should) - keyword.beside
    texts = [in_our_digits(normalize("NFKC", text)) for text in texts]
    try:
        instead = _in_other_letters(missing, keyword.should, arm.unknown, holders)
        instead |= _in_other_kana(texts, missing - instead.keys(), holders)
        numbers = _in_other_numerals(texts, analyser, holders)
        wider = _with_others(keyword, missing, instead, numbers)
        if wider is None:
            return query, arms, ()
        return (again := query._replace(keyword=wider)), ask(again), ()
    except (UnavailableError, DeclinedError) as error:
        return query, arms, (f"similar words could not be looked up: {reason_of(error)}",)


def _with_others(
    keyword: KeywordQuery, missing: frozenset[str], instead: Others, numbers: Numbers
) -> KeywordQuery | None:
    """``keyword`` with other tokens in the place of what is missing, and those of ``numbers``.

    ``None``: they are all there.
    """
    for typed, tokens in numbers.items():
        instead |= dict.fromkeys(missing.intersection(typed), tokens)
    others = dict.fromkeys(chain(*instead.values(), *numbers.values()))
    new = tuple(token for token in others if token not in keyword.should)
    if not new:
        return None

    def replaced(tokens: Iterable[str]) -> tuple[str, ...]:
        return (*[token for token in tokens if token not in instead], *new)

    return keyword._replace(
        should=replaced(keyword.should),
        selective=replaced(keyword.selective) if keyword.selective else (),
        neighbours=tuple(
            (instead.get(first, (first,))[0], instead.get(second, (second,))[0])
            for first, second in keyword.neighbours
        ),
        beside=keyword.beside.union(*numbers.values()),
        instead=keyword.instead.union(new),
        timed=frozenset(chain(*[instead.get(token, (token,)) for token in keyword.timed])),
    )


def _in_other_letters(
    missing: Iterable[str], should: Iterable[str], unknown: frozenset[str], holders: Holders
) -> Others:
    """What notes have in the place of ``missing`` tokens, in the other script of Chinese.

    Single letters are tokens, too. Where notes have other words of the query in its script, only
    names and letters that are ``unknown`` are looked up. Where notes are all in one script, counts
    of letters suffice.
    """
    ways = {token: others for token in missing if (others := other_letters(token))}
    in_notes = (token for token in should if len(token) > 1 and token not in unknown)
    if ways and any(map(is_of_one_script, in_notes)):
        may_differ = unknown | LETTERS_OF_NAMES
        ways = {token: ways[token] for token in ways if not may_differ.isdisjoint(token)}
    letters = {letter for others in ways.values() for other in others for letter in other}
    known = {letter for letter, count in holders(letters).items() if count} if letters else set()
    likely = {token: list(filter(known.issuperset, others)) for token, others in ways.items()}
    wanted = set(chain(*likely.values()))
    counts = holders(wanted) if wanted else {}
    held = {token: tuple(filter(counts.get, others)) for token, others in likely.items()}
    return {token: others for token, others in held.items() if others}


def _in_other_kana(texts: Iterable[str], missing: frozenset[str], holders: Holders) -> Others:
    """What notes have in the place of ``missing`` pairs of kana: a word in the other kana.

    A word in katakana ends where its letters do. Hiragana is grammar, too: there two missing pairs
    side by side are taken for a word.
    """
    found: Others = {}
    if not any(_HIRAGANA <= token[0] <= _LAST_KANA for token in missing):
        return found
    runs = chain.from_iterable(re.findall(_KANA, text) for text in texts)
    for run in islice(filter(partial(_has_pair_of, missing), runs), _MOST_WORDS):
        pairs = list(map("".join, pairwise(run)))
        counts = holders({_other_kana_of(pair) for pair in pairs})
        held = [pair for pair in pairs if counts.get(_other_kana_of(pair))]
        if run[0] < _KATAKANA:
            likely = missing.intersection(held)
            sides = [both for both in pairwise(pairs) if likely.issuperset(both)]
            held = list(chain(*sides))
        elif len(held) < len(pairs):
            held = []
        found |= {pair: (_other_kana_of(pair),) for pair in missing.intersection(held)}
    return found


def _other_kana_of(pair: str) -> str:
    return pair.translate(_TO_OTHER_KANA)


def _has_pair_of(pairs: Collection[str], run: str) -> bool:
    return any(map(run.__contains__, pairs))


def _in_other_numerals(texts: Iterable[str], analyser: Analyser, holders: Holders) -> Numbers:
    """What notes have for numbers of ``texts``: by their tokens as typed, those of another form."""
    texts = [text for text in texts if re.search(_MAY_BE_NUMBER, text)]
    if not texts:
        return {}
    from commonplace.search.numbers import other_numerals

    def tokens_of(text: str) -> tuple[str, ...]:
        """Without single letters, which stand in most of the chunks."""
        found = dict.fromkeys(terms[0] for _, _, terms in analyser.spans(text))
        return tuple(one for one in found if len(one) > 1 or one.isascii())

    written = islice(chain.from_iterable(map(other_numerals, texts)), _MOST_WORDS)
    forms = {tokens_of(typed): list(map(tokens_of, ways)) for typed, ways in written}
    wanted = {token for ways in forms.values() for way in ways for token in way}
    counts = holders(wanted) if wanted else {}
    held = {
        typed: next((way for way in ways if way and all(map(counts.get, way))), ())
        for typed, ways in forms.items()
    }
    return {typed: way for typed, way in held.items() if way}


def add_further(
    folding: Folding,
    further: FurtherHits,
    readable: Callable[[Candidate], bool],
    more: Callable[[tuple[Arm, ...]], Sequence[Candidate]],
    wanted: int,
) -> tuple[str, ...]:
    """Add to ``folding`` what is newer than what folds, and more where fewer are left than wanted.

    ``more`` gives the hits of lists, in order, that may be shown. Returns a note where the
    backend fails: what was found before is an answer, but not all of it.
    """
    notes = _add_newer(folding, further, readable)
    if len(folding.folded()) < wanted:
        try:
            arms = further.ask(further.query, where=further.where)
        except (UnavailableError, DeclinedError) as error:
            return (*notes, f"further notes may be missing: {reason_of(error)}")
        folding.add(more(tuple(arms)), limit=wanted)
    return notes


def _add_newer(
    folding: Folding, further: FurtherHits, readable: Callable[[Candidate], bool]
) -> tuple[str, ...]:
    """Add to ``folding`` what the active backend has, until there is nothing newer.

    First it is asked for more, then for what is newer. Returns a note where the backend fails: the
    hits found before may not be the newest.
    """
    words, where, before = further.query.keyword, further.where, None
    for _ in range(_ROUNDS):
        since = folding.since()
        if since is None or where == before:
            break
        must = (*words.must, *folding.shared(words.should))
        query = further.query._replace(keyword=words._replace(must=must, plain=True))
        try:
            arms = further.ask(query, where=where)
        except (UnavailableError, DeclinedError) as error:
            return (f"newer notes that say the same may be missing: {reason_of(error)}",)
        folding.add(filter(readable, further.united(arms)), limit=0)
        if all(len(arm.found) < MOST_HITS for arm in arms):
            break
        before, newest = where, folding.since() or since
        where = where._replace(after=max(newest, where.after or ""))
    return ()
