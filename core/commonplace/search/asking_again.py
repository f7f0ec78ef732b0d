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
from commonplace.text.unspaced import (
    LETTERS_OF_NAMES,
    ends_in_script_of,
    is_of_one_script,
    other_letters,
    telling_letters,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from commonplace.model.search import Arm, Candidate, ChunkId, Found, KeywordQuery, Query
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
_OTHER_SCRIPT = 0.95
"""What keeps so much of its evidence has the words of a query in the other script of Chinese."""
_MOST_WAYS = 16
"""How many ways to write a phrase are followed: each letter of it may double them."""
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

    Before that, what is quoted is asked for in the other script of Chinese. Questions quote things,
    too, and so do messages that are pasted: where no note has the quoted words, others are shown.
    ``no_note`` names the notes that were searched.
    """
    typed = query
    if not query.keyword.plain:
        query, arms = _with_quotes_in_other_letters(query, arms, ask)
    by_words = [arm for arm in arms if arm.kind != "cosine"]  # vectors alone were filtered, too
    found = any(arm.found for arm in by_words or arms)
    words = [word for word in query.words.lower().split() if word not in STOP_WORDS]
    if found and len(words) < _PASTED:
        return query, arms, ()
    loose = typed._replace(keyword=typed.keyword._replace(must=()))
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


def _with_quotes_in_other_letters(
    query: Query, arms: tuple[Arm, ...], ask: Callable[[Query], tuple[Arm, ...]]
) -> tuple[Query, tuple[Arm, ...]]:
    """Ask once more, with the quoted phrases as notes write them in the other script of Chinese.

    What was found as typed stays. Where notes have no such phrase, or cannot be asked, ``query``
    and ``arms`` hold.
    """
    keyword, arm = query.keyword, next((arm for arm in arms if arm.holders), None)
    tokens = set(chain(*keyword.must))
    ways = {token: others for token in tokens if (others := other_letters(token))}
    if not ways or arm is None or arm.holders is None:
        return query, arms
    try:
        counts = arm.holders(tokens.union(*ways.values()))
        held = {
            token: [one for one in (*ways.get(token, ()), token) if counts.get(one)]
            for token in tokens
        }
        must = tuple(_phrase_of(phrase, held) for phrase in keyword.must)
        if must == keyword.must or not all(must):
            return query, arms
        instead: Others = {
            letter: (other,)
            for typed, written in zip(chain(*keyword.must), chain(*must), strict=True)
            for letter, other in ((typed, written), *zip(typed, written, strict=True))
            if letter != other
        }
        wider = _with_others(keyword, frozenset(instead), instead, {}) or keyword
        again = query._replace(keyword=wider._replace(must=must))
        found = ask(again)
    except (UnavailableError, DeclinedError):  # the first answer holds
        return query, arms
    if not any(one.found for one in found):
        return query, arms
    if not any(one.found for one in arms):
        return again, found
    return query._replace(keyword=_with_both(keyword, again.keyword)), _united(arms, found)


def _phrase_of(phrase: Iterable[str], held: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The first way to write ``phrase`` of tokens that are ``held``; ``()``: there is none.

    Neighbouring pairs share a letter, as they do in ``phrase``.
    """
    ways: list[tuple[str, ...]] = [()]
    before = ""
    for token in phrase:
        joined = bool(before) and before[-1:] == token[:1]
        ways = [
            (*way, one)
            for way in ways[:_MOST_WAYS]
            for one in held[token]
            if not joined or way[-1][-1:] == one[:1]
        ]
        before = token
    return next(iter(ways), ())


def _with_both(keyword: KeywordQuery, other: KeywordQuery) -> KeywordQuery:
    """``keyword`` with the tokens of ``other``, which are as good."""
    new = [token for token in other.should if token not in keyword.should]
    return keyword._replace(
        should=(*keyword.should, *new),
        beside=keyword.beside.union(new),
        instead=keyword.instead.union(new),
        selective=(),
        neighbours=tuple(dict.fromkeys((*keyword.neighbours, *other.neighbours))),
        timed=keyword.timed | other.timed,
    )


def _united(arms: Sequence[Arm], others: Iterable[Arm]) -> tuple[Arm, ...]:
    """``arms``, those by words with what ``others`` found, too; each chunk by its better score."""
    by_name = {arm.name: arm.found for arm in others if arm.kind != "cosine"}
    return tuple(
        arm._replace(found=_best_of((*arm.found, *map(_in_other_script, by_name[arm.name]))))
        if by_name.get(arm.name)
        else arm
        for arm in arms
    )


def _best_of(found: Iterable[Found]) -> tuple[Found, ...]:
    best: dict[ChunkId, Found] = {}
    for item in sorted(found, key=lambda item: (-(item.evidence or 0.0), -item.score)):
        best.setdefault(item.chunk.id, item)
    return tuple(best.values())


def _in_other_script(item: Found) -> Found:
    """``item``, which does not have the words as they were typed: it comes behind its equals."""
    evidence, coverage = ((of or 0.0) * _OTHER_SCRIPT for of in (item.evidence, item.coverage))
    note = f"{item.note}; evidence x {_OTHER_SCRIPT}: it is in the other script"
    return item._replace(evidence=evidence, coverage=coverage, note=note)


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

    What no note has is replaced; a number may be in some notes as it was typed, and is searched
    for in its other form, too. Of notes in both scripts of Chinese those of either are asked for.
    Where notes have none, or cannot be asked, ``query`` and ``arms`` hold.
    """
    arm = next((arm for arm in arms if arm.holders), None)
    if arm is None or arm.holders is None:
        return query, arms, ()
    holders, keyword = arm.holders, query.keyword
    missing = arm.unknown.intersection(keyword.should) - keyword.beside
    texts = [in_our_digits(normalize("NFKC", text)) for text in texts]
    try:
        instead, both = _in_other_letters(missing, keyword.should, arm, holders)
        instead |= _in_other_kana(texts, missing - instead.keys(), holders)
        numbers: Numbers = {}
        if in_numerals := [text for text in texts if re.search(_MAY_BE_NUMBER, text)]:
            from commonplace.search.numbers import held_numerals

            numbers = held_numerals(in_numerals, analyser, holders, _MOST_WORDS)
        wider = _with_others(keyword, missing, instead, numbers)
        if wider is not None:
            query = query._replace(keyword=wider)
            arms = ask(query)
        other = _with_others(query.keyword, frozenset(both), both, {})
        if other is not None:
            arms = _united(arms, ask(query._replace(keyword=other)))
            query = query._replace(keyword=_with_both(query.keyword, other))
    except (UnavailableError, DeclinedError) as error:
        return query, arms, (f"similar words could not be looked up: {reason_of(error)}",)
    return query, arms, ()


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
        beside=keyword.beside.union(
            *numbers.values(), *[instead[one] for one in keyword.beside.intersection(instead)]
        ),
        instead=keyword.instead.union(new),
        timed=frozenset(chain(*[instead.get(token, (token,)) for token in keyword.timed])),
    )


def _in_other_letters(
    missing: Collection[str], should: Iterable[str], arm: Arm, holders: Holders
) -> tuple[Others, Others]:
    """What notes have for tokens in the other script of Chinese: for ``missing`` ones, for others.

    Single letters are tokens, too. Where notes have other words of the query in its script, only
    names and unknown letters are looked up, and, where something that ``arm`` found ends in the
    other script, a few that tell whether notes have the query in it. Where notes are all in one
    script, counts of letters suffice.
    """
    unknown = arm.unknown
    ways = {token: others for token in missing if (others := other_letters(token))}
    in_notes = [token for token in should if len(token) > 1 and token not in unknown]
    telling = telling_letters(in_notes)
    if telling and not any(ends_in_script_of(telling[0], item.chunk.text) for item in arm.found):
        telling = ""
    if not (ways or telling):
        return {}, {}
    wanted = ways
    if ways and any(map(is_of_one_script, in_notes)):
        may_differ = unknown | LETTERS_OF_NAMES
        wanted = {token: ways[token] for token in ways if not may_differ.isdisjoint(token)}
    letters = {*telling, *chain(*chain(*wanted.values()))}
    known = {letter for letter, count in holders(letters).items() if count} if letters else set()
    if not (known or wanted):
        return {}, {}
    if known.intersection(telling):  # notes in both scripts
        either = {token: others for token in should if (others := other_letters(token))}
        wanted = ways | either
        more = set(chain(*chain(*wanted.values()))) - letters
        known |= {letter for letter, count in holders(more).items() if count} if more else set()
    likely = {token: list(filter(known.issuperset, others)) for token, others in wanted.items()}
    candidates = set(chain(*likely.values()))
    counts = holders(candidates) if candidates else {}
    held = {token: tuple(filter(counts.get, others)) for token, others in likely.items()}
    instead = {token: others for token, others in held.items() if others and token in missing}
    both = {token: held[token] for token in held if held[token] and token not in missing}
    return instead, both


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
