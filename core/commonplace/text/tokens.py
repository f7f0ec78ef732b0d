"""From text to tokens: groups, runs and words, and what stands inside words."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from commonplace.text.languages import (
    EMOJI,
    IGNORABLE,
    MARKS,
    RADICALS,
    UNSPACED,
    compound_spellings,
    in_our_digits,
    joined_spelling,
    short_hash,
    without_encoded,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence


_JOINERS = "-./:@"
_WIDE_JOINERS = _JOINERS + "\u2010\u2011"
_THOUSANDS = "(?<=[0-9]),(?=[0-9]{3}(?![0-9]))"
_ENDING = r"(?:\+\+(?![+\w])|\#(?![\#\w]))?"
_MARK = rf"[^{_WIDE_JOINERS},+\#\w\u2e80-\u2fd5]"
_FIRST_UNSPACED = "\u0e01"
_GROUP = re.compile(rf"(?:\w++(?:[{_JOINERS}](?=\w)|{_THOUSANDS})?)+{_ENDING}", re.ASCII)
_WORD = re.compile(r"\w++")


def groups(text: str) -> list[str]:
    """The groups of ``text`` in their order."""
    return _group_pattern(text).findall(without_encoded(text))


def find_groups(text: str) -> Iterator[tuple[int, str]]:
    """The groups of ``text``, each with the place where it starts."""
    for match in _group_pattern(text).finditer(without_encoded(text)):
        yield match.start(), match.group()


def cut(group: str) -> Iterator[tuple[int, str, bool]]:
    """``group`` as runs and the groups between them: (start, piece, whether it is a run)."""
    if group.isascii() or max(group) < _FIRST_UNSPACED:
        yield 0, group, False
        return
    if plain_run_pattern().fullmatch(group):
        yield 0, group, True
        return
    at = 0
    for match in run_pattern().finditer(group):
        yield from _between(group, at, match.start())
        yield match.start(), match.group(), True
        at = match.end()
    yield from _between(group, at, len(group))


def words(group: str) -> Iterator[tuple[int, str]]:
    """The words of a group that holds no run, each with the place where it starts.

    Underscores at a word's ends are Markdown's or a language's marks, and no part of it.
    """
    for match in (_WORD if group.isascii() else _word_pattern()).finditer(group):
        word = match.group().rstrip("_")
        if word:
            core = word.lstrip("_")
            yield match.start() + len(word) - len(core), core


def units(run: str) -> Sequence[str]:
    """The units of a run; joined they are the run.

    A run comes back as it is if its units are its characters, with nothing to normalise in them.
    """
    from unicodedata import is_normalized  # as everywhere below: an ASCII query does without

    if _simple_pattern().fullmatch(run) and is_normalized("NFKC", run):
        return run
    found: list[str] = _unit_pattern().findall(run)
    return found


def has_unspaced(text: str) -> bool:
    """Whether ``text`` holds a letter of a script that is written without spaces."""
    may_have = not text.isascii() and max(text) >= _FIRST_UNSPACED
    return may_have and run_pattern().search(text) is not None


def in_ascii(text: str) -> str:
    """``text`` with a space in the place of each ``?``, and of each character beyond ASCII."""
    return text.encode("ascii", "replace").decode().replace("?", " ")


def drop_ignorable(word: str) -> str:
    """``word`` without soft hyphens, joiners, direction marks and variation selectors."""
    return _ignorable_pattern().sub("", word)


def _between(group: str, start: int, end: int) -> Iterator[tuple[int, str, bool]]:
    piece = group[start:end].rstrip(_WIDE_JOINERS)
    core = piece.lstrip(_WIDE_JOINERS)
    if core:
        yield start + len(piece) - len(core), core, False


def _group_pattern(text: str) -> re.Pattern[str]:
    return _GROUP if text.isascii() else _wide_group_pattern()


# The patterns below take some milliseconds to compile, which an ASCII query need not pay, and no
# text of Latin, Greek, Cyrillic or Arabic letters those of scripts without spaces. All but
# the first are for pieces of a group, where what is neither a word character nor a joiner can only
# be a mark or be ignorable: so the large class of marks is compiled once.


@cache
def _wide_group_pattern() -> re.Pattern[str]:
    word = rf"[\w{RADICALS}][\w{RADICALS}{MARKS}{IGNORABLE}]*+"
    joined = rf"[{_WIDE_JOINERS}](?=[\w{RADICALS}])|{_THOUSANDS}"
    return re.compile(rf"(?:{word}(?:{joined})?)+{_ENDING}|[{EMOJI}]")


@cache
def _word_pattern() -> re.Pattern[str]:
    return re.compile(rf"\w(?:\w|{_MARK})*")


@cache
def run_pattern() -> re.Pattern[str]:
    """A run: letters of scripts without spaces, with their marks."""
    return re.compile(rf"(?:[{UNSPACED}]{_MARK}*)+")


@cache
def plain_run_pattern() -> re.Pattern[str]:
    """A run of common letters alone: one repeat that cannot backtrack, 20 times as fast."""
    han, kana = "\u3005-\u3007\u4e00-\u9fff", "\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff"
    return re.compile(f"[{han}{kana}\uac00-\ud7a3\u0e01-\u0e3a\u0e40-\u0e4e]++")


@cache
def _simple_pattern() -> re.Pattern[str]:
    return re.compile(r"[^\W\0-\u3004\ud7a4-\U0010ffff]*+")


@cache
def _unit_pattern() -> re.Pattern[str]:
    syllable = (
        "[\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3]"
        "[\u1160-\u11a7\ud7b0-\ud7c6]*+[\u11a8-\u11ff\ud7cb-\ud7fb]*+"
    )
    before = "[\u0e40-\u0e44](?=[\u0e01-\u0e2e])|[\u0ec0-\u0ec4](?=[\u0e81-\u0eae])"
    after = (
        rf"[^\w{RADICALS}]"
        "|[\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3\uff9e\uff9f]"
        "|(?<=[\u1039\u17d2])[\u1000-\u102a\u1780-\u17b3]"
    )
    return re.compile(f"(?:{syllable}|(?:{before})?.)(?:{after})*", re.DOTALL)


@cache
def _ignorable_pattern() -> re.Pattern[str]:
    return re.compile(f"[{IGNORABLE}\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")


Piece = tuple[int, int, str, str, tuple[str, ...]]
"""A piece of a text: ``(start, end, token, plain, extra)``.

``token`` is its token in the sequence of the text (``""``: it has none), ``plain`` that token
before stemming; ``extra`` are tokens beside the sequence.
"""

MAX_TOKEN = 128
"""Characters of a token; what is longer is cut, as no user types it."""

# As much of a word, and of a unit, as is looked at: sorting marks takes time in the square of them.
_MAX_RAW = 4 * MAX_TOKEN
_MAX_UNIT = 32


def pieces(group: str, at: int, stem: Callable[[str], str]) -> Iterator[Piece]:
    """The pieces of a group that starts at ``at``, by where they start."""
    for start, piece, is_run in cut(group):
        if is_run:
            yield from _run_pieces(piece, at + start)
        else:
            yield from word_pieces(piece, at + start, stem)


Match = tuple[int, int, frozenset[str]]


def matching_pieces(
    group: str, at: int, stem: Callable[[str], str], wanted: frozenset[str]
) -> list[Match]:
    """Those pieces of a group at ``at`` that have some of ``wanted``: (start, end, these)."""
    found: list[Match] = []
    for start, piece, is_run in cut(group):
        if is_run:
            found += _matches_of_run(piece, at + start, wanted)
            continue
        for first, last, token, _, extra in word_pieces(piece, at + start, stem):
            terms = (token, *extra) if token else extra
            if not wanted.isdisjoint(terms):
                found.append((first, last, wanted.intersection(terms)))
    return found


def lacks(word: str, wanted: Collection[str]) -> bool:
    """Whether ``word`` is a plain run and has none of ``wanted``; quicker than to cut it."""
    if not plain_run_pattern().fullmatch(word):
        return False
    from unicodedata import normalize

    return not any(map(normalize("NFKC", word).__contains__, wanted))


def _matches_of_run(run: str, start: int, wanted: frozenset[str]) -> list[Match]:
    raw = units(run)
    letters = _letters(raw)
    pairs = list(map(str.__add__, letters, letters[1:]))
    tokens = [(at, at + 1, letter) for at, letter in enumerate(letters) if letter in wanted]
    tokens += [(at, at + 2, pair) for at, pair in enumerate(pairs) if pair in wanted]
    if not tokens:
        return []
    tokens.sort()
    ends = list(accumulate(map(len, raw), initial=start))
    return [(ends[first], ends[last], frozenset((token,))) for first, last, token in tokens]


def run_tokens(run: str) -> tuple[Sequence[str], Sequence[str]]:
    """The tokens of a run, and its single letters beside them.

    The tokens are overlapping pairs of letters; of a lone letter, itself and nothing beside.
    """
    letters = _letters(units(run))
    if len(letters) == 1:
        return letters, ()
    return list(map(str.__add__, letters, letters[1:])), letters


def identifier_parts(word: str) -> list[str]:
    """The words that an identifier is made of, in their own spelling; none if it is just a word.

    ``memorySearch``, ``HTTPServer`` and ``ERR_MODULE_NOT_FOUND`` have parts; so has ``utf8``, but
    not ``a828e60``: letters and digits are parted where they meet once.
    """
    found: list[str] = []
    for name in word.split("_"):
        if not name:
            continue
        whole = name.islower() or name.isupper() or not name.isascii()
        for part in [name] if whole else _camel_pattern().findall(name):
            found.append(part)
            letters = part.strip("0123456789")  # a pattern would take long to compile
            if len(letters) > 1 and letters.isascii() and letters.isalpha():
                halves = [half for half in part.partition(letters) if half]
                found += halves if len(halves) == 2 else []
            elif letters in {"v", "V"} and part[0] == letters != part:  # a version
                found.append(part[1:])
    if found and found[0] == word:
        del found[0]
    return found


def word_pieces(group: str, at: int, stem: Callable[[str], str]) -> Iterator[Piece]:
    """The pieces of a group that holds no run."""
    if group.isalnum() and group.isascii():  # just a word, as most groups are
        plain = _plain(group)
        yield at, at + len(group), stem(plain), plain, _beside(group, plain, stem)
        return
    found = list(words(group))
    is_emoji = not found and not group.isascii()
    if len(found) > 1 or is_emoji or (found and group[-1] in "+#"):
        compound = _plain(group.strip("_")).replace("\u2010", "-")
        if compound:
            # The last one is what counts as the whole of it.
            yield at, at + len(group), "", "", compound_spellings(compound, stem)
    for start, word in found:
        plain = _plain(word)
        if plain:
            begin = at + start
            yield begin, begin + len(word), stem(plain), plain, _beside(word, plain, stem)


def _beside(word: str, plain: str, stem: Callable[[str], str]) -> tuple[str, ...]:
    """The tokens of a word without its accents, of an identifier's parts, of a hash's start."""
    if len(plain) < 3:
        return ()
    if plain.isascii() and (plain.isdigit() or (word == plain and plain.isalpha())):
        return ()
    bare = plain
    if not word.isascii():
        from unicodedata import normalize

        word = normalize("NFKC", drop_ignorable(word[:_MAX_RAW]))
        bare = plain if stem(plain).isascii() else unaccented(plain)
    parts = () if word[1:].isalpha() and word[1:].islower() else identifier_parts(word[:MAX_TOKEN])
    found = [stem(_plain(part)) for part in parts]
    if short := short_hash(plain):
        found.append(short)
    if joined := joined_spelling(plain):
        found.append(stem(joined))
    if not plain.isascii() and (spelled := plain.translate(_UMLAUTS)) != plain:
        found.append(stem(spelled))
    return (stem(bare), *found) if stem(bare) != stem(plain) else tuple(found)


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
"""As they are typed where a keyboard lacks them: "Mueller"."""


def _plain(word: str) -> str:
    """``word`` normalised (NFKC) and case-folded."""
    if word.isascii():
        return word[:MAX_TOKEN].lower()
    from unicodedata import normalize

    word = normalize("NFKC", drop_ignorable(word[:_MAX_RAW]))
    word = "".join(normalize("NFKC", word.casefold()).split())[:MAX_TOKEN]  # some hold spaces
    return in_our_digits(word)


_WITHOUT_MARK = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
"""Latin letters that Unicode does not take apart, as they are typed where a keyboard lacks them."""


def unaccented(word: str) -> str:
    """``word``, in lower case, without marks that are accents or vowel points and not letters."""
    if word[:1] >= "\u0400" and (word[0] <= "\u052f" or word[0] >= "\u0700"):
        return word  # the breve of й and the marks of India are letters, or part of one
    from unicodedata import category, normalize

    letters = normalize("NFD", word.translate(_WITHOUT_MARK))
    return normalize("NFC", "".join([letter for letter in letters if category(letter) != "Mn"]))


_LATIN = "\u00c0", "\u0250"
"""From the first Latin letter with an accent to behind the last that is no Vietnamese one."""


@cache
def accented_letters() -> tuple[re.Pattern[str], dict[int, str]]:
    """What matches a Latin letter with an accent, in lower case, and what each is without it."""
    first, behind = _LATIN
    plain = {code: unaccented(chr(code)) for code in range(ord(first), ord(behind))}
    return (
        re.compile(f"[{first}-{behind}]"),
        {code: letter for code, letter in plain.items() if len(letter) == 1},
    )


def _run_pieces(run: str, at: int) -> Iterator[Piece]:
    raw = units(run)
    letters = _letters(raw)
    last = len(letters) - 1
    start = at
    for index, letter in enumerate(letters):
        end = start + len(raw[index])
        if last == 0:
            yield start, end, letter, letter, ()
            return
        yield start, end, "", "", (letter,)
        if index < last:
            pair = letter + letters[index + 1]
            yield start, end + len(raw[index + 1]), pair, pair, ()
        start = end


def _letters(raw: Sequence[str]) -> Sequence[str]:
    """Units as they are compared."""
    return raw if isinstance(raw, str) else list(map(_letter, raw))  # nothing to normalise in text


@lru_cache(maxsize=8192)
def _letter(unit: str) -> str:
    from unicodedata import normalize

    return normalize("NFKC", drop_ignorable(unit[:_MAX_UNIT]))


@cache
def _camel_pattern() -> re.Pattern[str]:
    return re.compile(
        r"[0-9]+[A-Za-z]{1,3}(?![A-Za-z])"  # 250kB
        r"|[A-Z]{2}[a-z]+[0-9]+"  # OAuth2, IPv4
        r"|[A-Z]{2,}s(?![a-z])"  # URLs
        r"|[A-Z]+(?![a-z])[0-9]*"  # HTTP of HTTPServer, ES2015
        r"|[A-Z]?[a-z][a-z0-9]*"
        r"|[A-Z]"
        r"|[0-9]+[a-z]*"
    )
