"""From text to tokens: groups, runs and words, and what stands inside words.

A *piece* is ``(start, end, token, plain, extra)``: its position, its token in the sequence of the
text (``""`` for none), that token before stemming, and tokens beside the sequence.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence


RADICALS = "\u2e80-\u2fd5"
"""Han radicals: symbols to Unicode, but text copied from a PDF has them in place of letters."""

UNSPACED = (
    RADICALS + "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"  # Han and its iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana, prolonged sound
    "\uff66-\uff9f\U0001aff0-\U0001b16f"
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7a3\ud7b0-\ud7ff\uffa0-\uffdc"  # Hangul
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1780-\u17d3\u17d7\u17dc\u17dd"  # Khmer
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"  # Burmese
)
"""Scripts written without spaces between words, and Hangul, whose words carry their particles."""

IGNORABLE = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
"""Soft hyphens, joiners and direction marks: inside a word, and no part of it."""

EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
"""Pictures that people search for."""

# Combining marks. The ranges also run over letters, digits and unassigned characters that lie
# between marks, which makes them fewer; over nothing else.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7-\u05c9"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3"
    "\u07fd\u0816-\u082d\u0859-\u085b\u0897-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75"
    "\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d"
    "\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ece\u0f18-\u0f19\u0f35"
    "\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f"
    "\u1712-\u1734\u1752-\u17d3\u17dd\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f"
    "\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff"
    "\u20d0-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f\u3099-\u309a\ua66f-\ua672"
    "\ua674-\ua67d\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d"
    "\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6"
    "\uabe3-\uabea\uabec-\uabed\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\U000101fd-\U0001037a"
    "\U00010a01-\U00010a3f\U00010ae5-\U00010ae6\U00010d24-\U00010d6d\U00010eab-\U00010eac"
    "\U00010ecb-\U00010ecf\U00010ef0-\U00010f50\U00010f82-\U00010f85\U00011000-\U00011046"
    "\U00011070-\U000110ba\U000110c2\U00011100-\U00011134\U00011145-\U00011173"
    "\U00011180-\U000111c0\U000111c9-\U000111cc\U000111ce-\U000111cf\U0001122c-\U00011237"
    "\U0001123e-\U00011241\U000112df-\U000113d2\U000113e1-\U00011446\U0001145e-\U000114c3"
    "\U000115af-\U000115c0\U000115dc-\U00011640\U000116ab-\U000116b7\U0001171d-\U0001172b"
    "\U0001182c-\U0001183a\U00011930-\U00011943\U000119d1-\U000119e0\U000119e4-\U00011a3e"
    "\U00011a47-\U00011a99\U00011b60-\U00011b67\U00011c2f-\U00011c3f\U00011c92-\U00011ef6"
    "\U00011f00-\U00011f42\U00011f5a\U00013440-\U0001612f\U00016af0-\U00016af4"
    "\U00016b30-\U00016b36\U00016f4f-\U00016f92\U00016fe4-\U00016ff1\U0001bc9d-\U0001bc9e"
    "\U0001cf00-\U0001cf46\U0001d127-\U0001d128\U0001d165-\U0001d169\U0001d16d-\U0001d172"
    "\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244"
    "\U0001d250-\U0001d252\U0001d25b-\U0001d25c\U0001d25f\U0001d280-\U0001d281"
    "\U0001da00-\U0001da36\U0001da3b-\U0001da6c\U0001da75\U0001da84\U0001da9b-\U0001daaf"
    "\U0001e000-\U0001e136\U0001e2ae-\U0001e2ef\U0001e4ec-\U0001e5ef\U0001e6e3-\U0001e94a"
    "\U000e0100-\U000e01ef"
)
"""Combining marks; good only beside ``\\w``, for letters that lie between marks are in it too."""


_JOINERS = "-./:@"
_WIDE_JOINERS = _JOINERS + "\u2010\u2011"
_ENDING = r"(?:\+\+(?![+\w])|\#(?![\#\w]))?"
_MARK = rf"[^{_WIDE_JOINERS}+\#\w\u2e80-\u2fd5]"
_GROUP = re.compile(rf"(?:\w++(?:[{_JOINERS}](?=\w))?)+{_ENDING}", re.ASCII)
_WORD = re.compile(r"\w++")


def groups(text: str) -> list[str]:
    """The groups of ``text`` in their order."""
    return _group_pattern(text).findall(text)


def find_groups(text: str) -> Iterator[tuple[int, str]]:
    """The groups of ``text``, each with the place where it starts."""
    for match in _group_pattern(text).finditer(text):
        yield match.start(), match.group()


def cut(group: str) -> Iterator[tuple[int, str, bool]]:
    """``group`` as runs and the groups between them: (start, piece, whether it is a run)."""
    if group.isascii():
        yield 0, group, False
        return
    if _plain_run_pattern().fullmatch(group):
        yield 0, group, True
        return
    at = 0
    for match in _run_pattern().finditer(group):
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
    return not text.isascii() and _run_pattern().search(text) is not None


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


# The patterns below take some milliseconds to compile, which an ASCII query need not pay. All but
# the first are for pieces of a group, where what is neither a word character nor a joiner can only
# be a mark or be ignorable: so the large class of marks is compiled once.


@cache
def _wide_group_pattern() -> re.Pattern[str]:
    word = rf"[\w{RADICALS}][\w{RADICALS}{MARKS}{IGNORABLE}]*+"
    return re.compile(rf"(?:{word}(?:[{_WIDE_JOINERS}](?=[\w{RADICALS}]))?)+{_ENDING}|[{EMOJI}]")


@cache
def _word_pattern() -> re.Pattern[str]:
    return re.compile(rf"\w(?:\w|{_MARK})*")


@cache
def _run_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?:[{UNSPACED}]{_MARK}*)+")


@cache
def _plain_run_pattern() -> re.Pattern[str]:
    # Of a few of UNSPACED, in one repeat without a way back: a long run takes a twentieth as long.
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
    if not _plain_run_pattern().fullmatch(word):
        return False
    from unicodedata import normalize

    return not any(map(normalize("NFKC", word).__contains__, wanted))


def _matches_of_run(run: str, start: int, wanted: frozenset[str]) -> list[Match]:
    raw = units(run)
    letters = _letters(raw)
    pairs = list(map(str.__add__, letters, letters[1:]))
    held = [(at, at + 1, one) for at, one in enumerate(letters) if one in wanted]
    held += [(at, at + 2, one) for at, one in enumerate(pairs) if one in wanted]
    if not held:
        return []
    held.sort()
    ends = list(accumulate(map(len, raw), initial=start))
    return [(ends[first], ends[last], frozenset((one,))) for first, last, one in held]


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
    if len(found) > 1 or is_emoji or group[-1] in "+#":
        compound = _plain(group.strip("_")).replace("\u2010", "-")
        if compound:
            yield at, at + len(group), "", "", (compound,)
    for start, word in found:
        plain = _plain(word)
        if plain:
            begin = at + start
            yield begin, begin + len(word), stem(plain), plain, _beside(word, plain, stem)


def _beside(word: str, plain: str, stem: Callable[[str], str]) -> tuple[str, ...]:
    """The tokens of a word without its accents, and of an identifier's parts."""
    if len(plain) < 3:
        return ()
    if plain.isascii() and (plain.isdigit() or (word == plain and plain.isalpha())):
        return ()
    bare = plain
    if not word.isascii():
        from unicodedata import normalize

        word = normalize("NFKC", drop_ignorable(word[:_MAX_RAW]))
        bare = _unaccented(plain)
    parts = () if word[1:].isalpha() and word[1:].islower() else identifier_parts(word[:MAX_TOKEN])
    found = [stem(_plain(part)) for part in parts]
    return (stem(bare), *found) if bare != plain else tuple(found)


def _plain(word: str) -> str:
    """``word`` normalised (NFKC) and case-folded."""
    if word.isascii():
        return word[:MAX_TOKEN].lower()
    from unicodedata import normalize

    word = normalize("NFKC", drop_ignorable(word[:_MAX_RAW]))
    word = normalize("NFKC", word.casefold())
    return "".join(word.split())[:MAX_TOKEN]  # a few Arabic ligatures hold spaces


def _unaccented(plain: str) -> str:
    """``plain`` without marks, where they are accents or vowel points and not letters."""
    if plain[0] >= "\u0700":
        return plain
    from unicodedata import category, normalize

    bare = [char for char in normalize("NFD", plain) if category(char) != "Mn"]
    return normalize("NFC", "".join(bare))


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
        r"[A-Z]{2,}s(?![a-z])"  # URLs
        r"|[A-Z]+(?![a-z])[0-9]*"  # HTTP of HTTPServer, ES2015
        r"|[A-Z]?[a-z][a-z0-9]*"
        r"|[A-Z]"
        r"|[0-9]+[a-z]*"
    )
