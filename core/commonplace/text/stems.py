"""Stems of words in Latin letters, of any language, and what finds compounds by how they end.

There is no telling the language of a word. Snowball's English stemmer is asked first; then endings
go that English has not, from words that are none of its 8,000 most frequent ones.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from commonplace.text.languages import (
    BEFORE_GE,
    DOUBLED,
    FORMS_OF,
    STEM_FOR,
    STEMS_ALIKE,
    english_levels,
    english_words,
)
from commonplace.text.questions import STOP_WORDS
from commonplace.text.tokens import has_unspaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_ENDINGS = {"en": 2, "er": 2, "es": 2, "em": 2, "ln": 1, "rn": 1} | dict.fromkeys("eaois", 1)
"""Endings of languages of Europe, and how many of their letters go."""

_SHORTEST = 5


def latin_stem(word: str, english: Callable[[str], str], *, foreign: bool = True) -> str:
    """The stem of ``word``, in lower case and ASCII, by the stemmer ``english`` and by its ending.

    Without ``foreign`` it is that of a word of English.

    German "Preis" is "prei" to that stemmer, and "Preise" is "preis": the s of what is no word of
    English goes, too.
    """
    whole = word
    if foreign:
        word = _root_of_verb(word, english)
    stem = of_english = english(word)
    while (shorter := _without_ending(stem)) != stem:
        stem = english(shorter)
    if foreign and stem not in english_levels():
        stem = _of_another_language(stem, whole, of_english)
    ends_in_s = stem[-1:] == "s" and word[len(stem) :] in _ENDINGS_BEHIND_S
    if ends_in_s and len(stem) >= _SHORTEST and stem not in english_levels():
        shorter = english(stem)
        return stem if shorter in english_levels() else shorter
    return stem


_ENDINGS_BEHIND_S = ("", "e", "es", "en")


def _without_ending(stem: str) -> str:
    """``stem`` without an ending of a European language; the frequent words of English keep theirs.

    (nDCG@10 of titles against the texts below them, in nine languages: +.02 in the mean, and the
    same on English sets. Where four letters are enough, an English one loses .006.)
    """
    length = len(stem) - sum(map(stem.count, ("ae", "oe", "ue")))  # "Mueller" is "Müller"
    for ending, letters in _ENDINGS.items():
        if stem.endswith(ending) and length >= letters + _SHORTEST:
            return stem if stem in english_levels() else stem[:-letters]
    return stem


_ENDINGS_OF_VERBS = (
    *("aciones", "acion", "ados", "adas", "ado", "ada", "idos", "idas", "ido", "ida", "amos"),
    *("emos", "imos", "aron", "ieron", "ando", "iendo", "aban", "aba"),
    *("issent", "issons", "issait", "aient", "ait", "eront"),
)
"""Endings of verbs, and of nouns made of verbs, in Spanish, Portuguese, Italian and French."""


def _root_of_verb(word: str, english: Callable[[str], str]) -> str:
    """``word`` without the ending of a verb of a Romance language: "comprado", "compraron".

    A root of three letters keeps a vowel ("pagado": "paga"), one of four is no word of English
    ("costado" is no cost). The words of English keep their endings. No infinitives: Swedish nouns
    and German adjectives end so, too; nor "trouvera", as does "escalera" beside "escaleras".
    """
    if not word.endswith(_ROMANCE):
        return word
    if word.endswith("aux"):  # journaux, gâteaux
        root = word[:-1] if word.endswith("eaux") else f"{word[:-2]}l"
        least = _SHORTEST
    else:
        ending = next(filter(word.endswith, _ENDINGS_OF_VERBS))
        root, least = word.removesuffix(ending), _LEAST_FOREIGN
        if len(root) == _LEAST_FOREIGN - 1 and ending[0] in "ai":
            root += ending[0]
    if len(root) < least or _VOWELS.isdisjoint(root):
        return word
    known = english_words()
    # Italian "rapido" and "rapidi" are of the English word, too.
    if not known.isdisjoint((word, english(word), word.removesuffix("s")[:-1])):
        return word
    if len(root) == _LEAST_FOREIGN and root in known:
        return word
    return word if word in _NO_VERBS or _says_little(english(root), word) else root


_ROMANCE = (*_ENDINGS_OF_VERBS, "aux")
_NO_VERBS_LISTED = """
fernando orlando barbados kommando
ultimos proximos maximos minimos intimos optimos legitimos anonimos strada
parfait souhait retrait extrait forfait bienfait attrait
baard boord haard maand paard verkeerd zwaard joven reken teken wapen
"""
_NO_VERBS = frozenset(_NO_VERBS_LISTED.split())
"""Names and nouns that end as a verb does, and are none of the shorter word: horse and pair."""


def _says_little(stem: str, word: str) -> bool:
    """Whether ``stem`` is that of a word most notes have, which ``word`` is not.

    "entrada" is no "entre", "estado" no "esta", "tienda" no "tiene".
    """
    alike = (stem, f"{stem}e", f"{stem}s")
    return not STOP_WORDS.isdisjoint(alike) and word not in STOP_WORDS


def _of_another_language(stem: str, word: str, of_english: str) -> str:
    """``stem`` of ``word`` without endings that English has not, unless these are of English.

    What would then be a word of English stays as it is: "Termin" is no "term".
    """
    shorter = _foreign_stem(stem)
    if stem == shorter == _spelled_alike(stem, word):  # as most: no words of English are loaded
        return stem
    known = english_words()
    if not known.isdisjoint((word, of_english, stem)):
        return stem
    while shorter != stem and shorter not in known:
        stem, shorter = shorter, _foreign_stem(shorter)
    alike = _spelled_alike(stem, word)
    return stem if alike in known or (alike != stem and _says_little(alike, word)) else alike


_FOREIGN_ENDINGS = {"erinn": 3, "erin": 2, "en": 2, "er": 2, "em": 2, "e": 1, "t": 1}
"""Endings of words that are none of English ("Küchen", "Lehrerin"), and how many letters go."""
_SHORTENED = "ndr", "rdr", "ttr", "ndu", "rdu", "tj", "pj", "kj", "sj", "fj"
"""Stems that lose their last letter: French "prendre" and "perdu", Dutch "huisje"."""
_LEAST_FOREIGN = 4
_BEHIND_GE, _LONGEST_BEHIND_GE = 3, 7
_VOWELS = frozenset("aeiouy")
_BEFORE_D = "ge", "be", "ver", "ont", "her", "op", "af", "aan", "uit", "mee"
"""What a Dutch participle begins with that ends in a d."""
_LONG_VOWELS = frozenset((*DOUBLED, "ij", "ui", "oe", "eu", "ie"))


def _foreign_stem(stem: str) -> str:
    """``stem`` without an ending of a word that is none of English, else without its "ge".

    "gekauft" and "abgeholt" are of "kaufen" and "abholen".
    """
    if _is_listed(stem):
        return stem
    least = _LEAST_FOREIGN + 2 * (stem.startswith("ge") and stem[2:3] != "e")  # "gemiet" stays
    for ending, letters in _FOREIGN_ENDINGS.items():
        shorter = stem[:-letters] if stem.endswith(ending) else ""
        if ending == "er" and shorter[-1:] == shorter[-2:-1]:
            continue  # "Müller" is no "Müll"
        if ending == "t" and _is_no_ending(stem):
            continue
        if len(shorter) >= least and not _VOWELS.isdisjoint(shorter):
            return shorter
    if len(stem) > _LEAST_FOREIGN and (stem.endswith(_SHORTENED) or _ends_in_d_of_verb(stem)):
        return stem if _says_little(stem[:-1], stem) else stem[:-1]
    before, ge, behind = stem.partition("ge")
    least = _BEHIND_GE if before else _LEAST_FOREIGN
    is_participle = ge and before in ("", *BEFORE_GE) and least <= len(behind) <= _LONGEST_BEHIND_GE
    return before + behind if is_participle and behind[0] != "t" else stem


def _is_listed(stem: str) -> bool:
    return stem in STEMS_ALIKE or stem in STEM_FOR or stem in FORMS_OF


def _ends_in_d_of_verb(stem: str) -> bool:
    """Whether it ends in the d of a Dutch verb: "betaald", "huurde".

    That of "verwenden", "melden" and "gründen", which are German, is not one that goes.
    """
    if not stem.endswith("d") or stem.startswith("get") or stem in _NO_VERBS:  # of an identifier
        return False
    if stem[-4:-2] in _LONG_VOWELS:
        return True
    prefix = next(filter(stem.startswith, _BEFORE_D), "")
    if not prefix or len(stem) <= _LEAST_FOREIGN + 2 or stem[-2] in _VOWELS:
        return False
    if stem[-2] == "l":
        return stem[-3] == "e" and not stem.endswith("meld")
    if stem[-2] in "nr":
        return stem[-3] == "e" and not _VOWELS.isdisjoint(stem[len(prefix) : -3])
    return True


def _spelled_alike(stem: str, word: str) -> str:
    """One spelling of the stem of ``word`` where Dutch has two.

    A long vowel is written once in an open syllable ("betaalt", "betalen"; "koopt", "kopen"),
    and v and z are f and s at an end ("geeft", "geven").
    """
    if _is_listed(stem):
        return stem
    if (
        word in (stem, f"{stem}s")  # Spanish "cadena" has "caden", as "cadenas"
        and len(stem) == _SHORTEST
        and stem.endswith("en")
        and stem not in _NO_VERBS
        and _is_open(stem)
    ):
        return f"{stem[:2]}{stem[1]}{_AT_AN_END.get(stem[2], stem[2])}"
    before, last = stem[:-1], stem[-1:]
    if last == "v" and len(stem) >= _LEAST_FOREIGN:
        return f"{before}f"
    if last == "z" and len(stem) >= _LEAST_FOREIGN and _is_s(stem, word):
        return before  # as the English stemmer takes the s of "huis"
    if len(stem) >= _SHORTEST and stem[-3:-1] in DOUBLED and last not in _VOWELS:
        return stem[:-2] + last
    return stem


_AT_AN_END = {"v": "f", "z": ""}
_BEFORE_Z = "ij", "ei", "ie", "eu"


def _is_s(stem: str, word: str) -> bool:
    """Whether Dutch writes an s for the z of ``stem`` where nothing stands behind it.

    Not in a name ("Díaz" is no "día"), nor in "Notiz" and "cabeza".
    """
    vowels, in_open_syllable = stem[-3:-1], word[len(stem) :].startswith(("e", "ing"))
    if vowels in _BEFORE_Z:
        return True
    is_long = vowels == "ui" or (vowels[1] in "aeou" and vowels not in DOUBLED)
    return in_open_syllable and is_long


def _is_open(stem: str) -> bool:
    """Whether its first syllable is a consonant and a vowel that Dutch may write twice."""
    vowel, behind = stem[1], stem[2]  # "Hafen" and "Hasen" are German
    return vowel in "aeou" and behind not in "fs" and _VOWELS.isdisjoint((stem[0], behind))


def _is_no_ending(stem: str) -> bool:
    """Whether its last t belongs to a word: to those of English ("dataset"), "SQLite", a name."""
    if stem.endswith("set"):
        return stem[:-3] in english_words() or stem == "unset"
    return stem.endswith(("it", "tt", "aat", "eet", "oot", "uut", "ment"))


_LEAST_COMPOUND, _BACKWARDS = 7, "0"


def backwards(token: str) -> tuple[str, ...]:
    """What finds ``token`` by how it ends, if it may be a compound; nothing of other tokens.

    Dutch, German and the languages of Scandinavia write "Preiserhöhung" in one.
    """
    is_long = len(token) >= _LEAST_COMPOUND and token.isascii() and token.isalpha()
    return (turned(token),) if is_long and token not in english_words() else ()


@cache
def _of_english() -> re.Pattern[str]:  # compiled where notes are indexed
    return re.compile(r"\b(?:the|and|with|you|this|that|are)\b", re.IGNORECASE)


def is_of_english(text: str) -> bool:
    """Whether ``text`` has a frequent word of English, or letters of a script without spaces.

    What finds compounds would make such texts longer for nothing, which costs nDCG@10 .003.
    """
    return has_unspaced(text) or _of_english().search(text) is not None


def turned(end: str) -> str:
    """What the tokens that :func:`backwards` gives for words that end in ``end`` begin with."""
    return f"{_BACKWARDS}{end[::-1]}"


def may_be_joined(tokens: Iterable[str]) -> bool:
    """Whether notes may have two of ``tokens``, those of a query, in one word of another language.

    Not where all are words of English.
    """
    words = [token for token in tokens if token.isascii() and token.isalpha()]
    foreign = any(word not in english_levels() for word in words)
    return foreign and len(words) > 1 and not english_words().issuperset(words)
