"""Numbers of a query as notes write them: in groups, or in one.

Telephone, account and card numbers are written in groups and copied without, and the other way
round. Imported where a search lacks a word with a digit.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from commonplace.text.analyse import Analyser

_MOST_NUMBERS = 3
_SHORTEST, _LONGEST = 8, 40
"""How many letters and digits a number has that may be written in any groups."""
_LEAST_THOUSANDS = 4
"""How many digits a shorter one has, which notes write in threes: ``25 000``."""
_GROUP = range(2, 9)
"""How many of these a group has by which chunks are found."""
_TEXTS = 40
"""How many chunks with such groups are read."""
_COUNTRY_CODE = 3
"""The most digits of a country's code, which a note may lack."""

# Not Unicode's digits: such numbers are of ASCII wherever they are copied.
_TYPED_GROUP = r"(?:[A-Z]{2,4}|[A-Za-z0-9]{0,7}[0-9][A-Za-z0-9]{0,7})"
_TYPED = rf"(?<![^\W_])\+?{_TYPED_GROUP}(?:[ ./:()-]{{1,3}}{_TYPED_GROUP})+(?![^\W_])"


def written_numbers(
    words: Iterable[str],
    query_texts: Iterable[str],
    holders: Callable[[Collection[str]], Mapping[str, int]],
    texts: Callable[[Sequence[str], int], Sequence[str]],
) -> dict[str, str]:
    """How a note writes each number of a query, in lower case, by how it was typed.

    The unknown ``words`` are numbers in one, or groups of numbers in ``query_texts``. ``holders``
    counts the chunks with each token; ``texts`` gives the texts of up to so many with some of them.
    """
    words, query_texts = list(words), list(query_texts)
    typed = {word: word.lower() for word in words} | _in_one(query_texts, words)
    long = {word: number for word, number in typed.items() if _is_number(number)}
    numbers = long | {word: number for word, number in typed.items() if _threes(number)}
    numbers = dict(islice(numbers.items(), _MOST_NUMBERS))
    if not numbers:
        return {}
    spellings = {}
    for word, number in numbers.items():
        abroad = word[0] == "+" or any(f"+{word}" in text for text in query_texts)
        spellings[word] = list(_spellings(number, abroad=abroad))
    groups = {
        group
        for number in numbers.values()
        for group in _threes(number)
        or [number[at : at + size] for at in range(len(number)) for size in _GROUP]
    }
    counts = holders(groups.union(*spellings.values()))
    known_groups = sorted(filter(counts.get, groups))
    chunks = texts(known_groups, _TEXTS) if known_groups else ()
    written = {}
    for word, number in numbers.items():
        in_one = filter(counts.get, spellings[word])
        in_groups = filter(None, (_in_groups(number, text) for text in chunks))
        if form := next(in_one, "") or next(in_groups, ""):
            written[word] = form
    return written


def groups_of(number: str) -> list[str]:
    """The groups that ``number`` is written in, in lower case."""
    return re.findall(r"[^\W_]+", number.lower())


def _in_one(query_texts: Iterable[str], words: Iterable[str]) -> dict[str, str]:
    """The numbers typed in groups of which one is among ``words``, each with how it is in one."""
    unknown = {word.lower() for word in words if any(map(str.isdigit, word))}
    if not unknown:
        return {}
    typed = [number for text in query_texts for number in re.findall(_TYPED, text)]
    # "(0)" stands for the nought that is dialled at home alone.
    return {
        number: "".join(groups_of(number.replace("(0)", " ")))
        for number in typed
        if not unknown.isdisjoint(groups_of(number))
    }


def _threes(number: str) -> list[str]:
    """The groups of three digits of a number that is written in no others."""
    short = _LEAST_THOUSANDS <= len(number) < _SHORTEST
    if not (short and number.isascii() and number.isdigit() and number[0] != "0"):
        return []
    ends = range(len(number), 0, -3)
    return [number[max(0, end - 3) : end] for end in ends][::-1]


def _is_number(word: str) -> bool:
    return (
        _SHORTEST <= len(word) <= _LONGEST
        and word.isascii()
        and word.isalnum()
        and any(map(str.isdigit, word))
    )


def _spellings(number: str, *, abroad: bool) -> Iterator[str]:
    """``number``, and if it is a telephone number, as it is written at home or ``abroad``."""
    yield number
    for digits in _country_codes(number) if abroad or number.startswith("00") else ():
        yield f"0{number[digits:]}"
        yield number[digits:]
    if number.isdigit() and number[0] == "0" != number[1]:
        yield from (f"{code}{number[1:]}" for code in range(1, 10**_COUNTRY_CODE))


def _country_codes(number: str) -> range:
    """How many digits of ``number`` may be its country's code."""
    most = _COUNTRY_CODE if number.isdigit() else 0
    return range(1, min(most, len(number) - _SHORTEST) + 1)


def _in_groups(number: str, text: str) -> str:
    """How ``number``, in lower case, is grouped where ``text`` has it; ``""``: it does not.

    Abroad a telephone number lacks the nought that it begins with at home, and at home its
    country's code.
    """
    if threes := _threes(number):
        mark = "['\u2019\xa0\u202f ]"
        whole = rf"(?<![^\W_])(?<!\d{mark}){mark.join(threes)}(?![^\W_]|{mark}\d)"
        in_threes = re.search(whole, text)
        return " ".join(threes) if in_threes else ""
    for dropped in (0, *_country_codes(number)):
        joined = r"[\W_]{0,3}".join(number[dropped:])
        home = r"(?:0[\W_]{0,3})?" if dropped else ""
        if match := re.search(rf"(?<![^\W_]){home}{joined}(?![^\W_])", text.lower()):
            groups = groups_of(match.group())
            if not dropped or len(groups) > 1:  # else it is another number
                return " ".join(groups)
    return ""


def without_groups(
    should: Iterable[str], numbers: Iterable[str], texts: Iterable[str], analyser: Analyser
) -> list[str]:
    """``should`` without the terms that only stand in ``numbers``, as they are typed in groups.

    Notes have these numbers in another form, and some of the groups in other numbers. ``texts``
    are those of the query.
    """
    numbers = [number for number in numbers if not number.isalnum()]
    rest = " ".join(texts)
    for number in numbers:
        rest = rest.replace(number, " ")
    beside, groups = (
        {term for text in parts for _, _, terms in analyser.spans(text) for term in terms}
        for parts in ([rest], numbers)
    )
    return [term for term in should if term not in groups - beside]
