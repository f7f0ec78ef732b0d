"""Numbers of a query as notes write them: in groups, in one, in digits, or in words of Asia.

Telephone, account and card numbers are written in groups and copied without, and the other way
round; Chinese, Japanese, Korean and Thai have numerals of their own: 六十天 is 60天. Imported where
a search lacks a word with a digit, or has a number in one of these languages.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING

from commonplace.model.tuples import NamedTuple

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


class _Numerals(NamedTuple):
    """The words of a language for 0 to 9, and for units by their place: none, ten, hundred ...

    ``letters`` are the first and last of its script; ``also`` are other words for digits.
    """

    letters: tuple[str, str]
    digits: Sequence[str]
    units: Sequence[str]
    also: Mapping[str, int]

    def written(self, number: int, *, one: str = "", zero: str = "") -> str:
        """``number``, 1 to 9,999, in words: ``one`` before a unit, ``zero`` for units left out."""
        written, gap = "", ""
        for place, digit in reversed([*enumerate(map(int, reversed(str(number))))]):
            if digit:
                word = one if digit == 1 and place else self.digits[digit]
                written, gap = f"{written}{gap}{word}{self.units[place]}", ""
            else:
                gap = zero
        return written

    def words(self, numeral: str) -> list[str]:
        """The words that ``numeral`` is made of."""
        return re.findall("|".join((*self.digits, *self.also, *self.units[1:])), numeral)

    def value(self, numeral: str) -> int:
        """The number that ``numeral`` stands for."""
        total, digit = 0, 0
        for word in self.words(numeral):
            if word in self.units:
                total, digit = total + (digit or 1) * 10 ** self.units.index(word), 0
            else:
                digit = self.also[word] if word in self.also else self.digits.index(word)
        return total + digit

    def found(self, text: str) -> list[str]:
        """The numerals in ``text`` with a unit and another word: one alone is part of many."""
        digit, unit = "|".join((*self.digits[1:], *self.also)), "|".join(self.units[1:])
        zero = f"(?:{self.digits[0]})?"
        pattern = f"(?:{zero}(?:{digit})?(?:{unit}))+(?:{zero}(?:{digit}))?"
        return [one for one in re.findall(pattern, text) if len(self.words(one)) > 1]


_HAN = _Numerals(
    ("\u3400", "\u9fff"), [*"零一二三四五六七八九"], ["", *"十百千"], {"两": 2, "兩": 2}
)
_KOREAN = _Numerals(("\uac00", "\ud7a3"), [*"영일이삼사오육칠팔구"], ["", *"십백천"], {})
_THAI = _Numerals(
    ("\u0e01", "\u0e4e"),
    ["ศูนย์", "หนึ่ง", "สอง", "สาม", "สี่", "ห้า", "หก", "เจ็ด", "แปด", "เก้า"],
    ["", "สิบ", "ร้อย", "พัน"],
    {"ยี่": 2, "เอ็ด": 1},
)
_TEN, _TWENTY = 10, 20
_IN_DIGITS = r"(.?)(?<![A-Za-z\d.,:/-])([1-9]\d{0,3}) ?(?=(\D))"
"""With a letter before and behind; ranges of letters would take long to compile."""


def other_numerals(text: str) -> Iterator[tuple[str, list[str]]]:
    """The numbers of ``text`` up to 9,999, as typed, and how else each may be written.

    Digits before a letter of these languages, and numerals with a unit. What is written in one
    letter is given with those beside it: it tells nothing alone.
    """
    digits = re.findall(_IN_DIGITS, text)
    for numerals, ways_to_write in ((_HAN, _in_han), (_KOREAN, _in_korean), (_THAI, _in_thai)):
        first, last = numerals.letters
        for before, typed, behind in digits:
            if first <= behind <= last:
                ways = ways_to_write(int(typed))
                if numerals is _HAN:
                    start = before if first <= before <= last else ""
                    ways = [f"{'' if way[1:] else start}{way}{behind}" for way in ways]
                yield typed, ways
        if not any(unit in text for unit in numerals.units[1:]):
            continue
        for typed in numerals.found(text):
            number = numerals.value(typed)
            # The Korean "one" at the end is the word for days, too.
            ways = [str(number), *([str(number - 1)] if typed[-1] == "일" else [])]
            yield typed, ways


def held_numerals(
    texts: Iterable[str],
    analyser: Analyser,
    holders: Callable[[Collection[str]], Mapping[str, int]],
    most: int,
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """What notes have for numbers of ``texts``: by their tokens as typed, those of another form.

    At most so many numbers are looked up. ``holders`` counts the chunks with each token.
    """

    def tokens_of(text: str) -> tuple[str, ...]:
        """Without single letters, which stand in most of the chunks."""
        found = dict.fromkeys(terms[0] for _, _, terms in analyser.spans(text))
        return tuple(one for one in found if len(one) > 1 or one.isascii())

    written = islice(chain.from_iterable(map(other_numerals, texts)), most)
    forms = {tokens_of(typed): list(map(tokens_of, ways)) for typed, ways in written}
    wanted = {token for ways in forms.values() for way in ways for token in way}
    counts = holders(wanted) if wanted else {}
    held = {
        typed: next((way for way in ways if way and all(map(counts.get, way))), ())
        for typed, ways in forms.items()
    }
    return {typed: way for typed, way in held.items() if way}


def _in_han(number: int) -> list[str]:
    """In Chinese, which has two words for "two", and in Japanese."""
    japanese = _HAN.written(number)
    chinese = _HAN.written(number, one="一", zero="零") if number >= _TWENTY else japanese
    may_be_two = chinese[0] == "二" and chinese[1:2] != "十"
    twos = [f"{two}{chinese[1:]}" for two in _HAN.also] if may_be_two else []
    return list(dict.fromkeys((chinese, japanese, *twos)))


def _in_korean(number: int) -> list[str]:
    return [_KOREAN.written(number)]


def _in_thai(number: int) -> list[str]:
    written = _THAI.written(number, one="หนึ่ง").replace("สองสิบ", "ยี่สิบ")
    written = written.replace("หนึ่งสิบ", "สิบ")
    ends_in_one = number > _TEN and written.endswith("หนึ่ง")
    return [f"{written.removesuffix('หนึ่ง')}เอ็ด" if ends_in_one else written]
