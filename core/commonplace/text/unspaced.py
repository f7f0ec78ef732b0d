"""Scripts without spaces: where units and pairs stand, what each weighs, and what a line states.

In most texts there is nothing to normalise: in Chinese, Japanese and Korean each letter is a unit,
and in Thai what belongs to a letter is known by its neighbours. Other words are cut into units, see
:mod:`commonplace.text.tokens`, which is ten times the work.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from unicodedata import is_normalized

from commonplace.text.languages import LETTERS, plain_text
from commonplace.text.tokens import has_unspaced, in_ascii

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from commonplace.text.tokens import Match


_THAI = "[\u0e01-\u0e2f\u0e40-\u0e44\u0e46][\u0e01-\u0e3a\u0e40-\u0e4e]*"
"""Letters with their signs."""


def places_in_plain(text: str, wanted: frozenset[str]) -> tuple[list[Match], str]:
    """Where ``wanted`` stand in the plain words of ``text``: (start, end, which one); and the rest.

    Spaces part words. In the rest spaces replace all letters that are plain: Thai, and ``LETTERS``,
    each of which is a unit.
    """
    if plain_text(LETTERS).fullmatch(text):
        return list(_letters_and_pairs(text, wanted)), in_ascii(text)
    if _is_plain(text, plain_text(_THAI)):
        return list(_units_and_pairs(f"{text} ", wanted)), in_ascii(text)
    plain, rest = [], []
    pattern = plain_text(f"{_THAI}|{LETTERS}")
    for word in text.split(" "):
        is_plain = word.isascii() or _is_plain(word, pattern)
        plain.append(word if is_plain else " " * len(word))
        rest.append(in_ascii(word) if is_plain and not word.isascii() else word)
    return list(_units_and_pairs(" ".join([*plain, ""]), wanted)), " ".join(rest)


def _is_plain(text: str, pattern: re.Pattern[str]) -> bool:
    # Sara am is normalised here, where it was typed as one sign.
    whole = pattern.fullmatch(text) is not None and "\u0e4d" not in text
    return whole and is_normalized("NFC", text)


_PAIR = 2


def _letters_and_pairs(text: str, wanted: frozenset[str]) -> Iterator[Match]:
    """Where ``wanted`` stand in ``text``, in which each letter is a unit."""
    for term, terms in _as_typed(wanted):
        at = text.find(term) if len(term) <= _PAIR else -1  # others have accents
        while at >= 0:
            yield at, at + len(term), terms
            at = text.find(term, at + 1)


_BEFORE = frozenset("\u0e40\u0e41\u0e42\u0e43\u0e44")
"""Vowels that are written before their consonant."""

_CONSONANTS = frozenset(map(chr, range(0x0E01, 0x0E2F)))
_BEHIND = frozenset(map(chr, (*range(0x0E30, 0x0E3B), 0x0E45, *range(0x0E47, 0x0E4F))))
"""Vowels and signs that belong to the letter before them."""

_AM, _AM_NORMALISED = "\u0e33", "\u0e4d\u0e32"
"""Sara am, and what it is in a token: NFKC makes two signs of it, and of nothing else in Thai."""


def _units_and_pairs(text: str, wanted: frozenset[str]) -> Iterator[Match]:
    """Where ``wanted`` stand in ``text``, which must not end with a letter."""
    for typed, terms in _as_typed(wanted):
        at = text.find(typed)
        while at >= 0:
            end = at + len(typed)
            if _begins_unit(text, at) and _begins_unit(text, end):
                yield at, end, terms
            at = text.find(typed, at + 1)


@lru_cache(maxsize=64)  # each hit of a search asks
def _as_typed(wanted: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    """``wanted`` as it stands in a text, a unit before the pairs that begin with it."""
    ordered = sorted(wanted, key=len)
    return [(term.replace(_AM_NORMALISED, _AM), frozenset((term,))) for term in ordered]


def _begins_unit(text: str, at: int) -> bool:
    """Whether a unit of Thai begins at ``at``, or what is no Thai."""
    after = text[at]
    if after in _BEHIND:
        return False
    return not (at and text[at - 1] in _BEFORE and after in _CONSONANTS)


_LEAST_SELECTIVE = 3


def selective_terms(terms: Sequence[str], beside: Collection[str]) -> list[str]:
    """Those of ``terms`` that tell most, for a query in a script without spaces; none if too few.

    Single letters stand in most of the chunks, and find little that pairs do not. (Without pairs of
    hiragana, which are grammar, nDCG@10 of Japanese documentation fell from .793 to .785.)
    """
    found = [term for term in terms if not (term in beside and has_unspaced(term))]
    return found if _LEAST_SELECTIVE <= len(found) < len(terms) else []


_FUNCTION_CHARACTERS = frozenset(
    "的了是吗呢吧啊呀嘛我你他她它们这那就也都很还么什怎哪谁在和与及或把被让给对从到为以之其而且但因所如若则等个些会能可要没不有想说去来着过得地"
    "은는이가을를의에로와과도만서께"
)
_LIGHT = 0.7


def script_weights(tokens: Sequence[str]) -> dict[str, float]:
    """What the script of each token makes it weigh, 0..1; all 1 where no token would weigh more.

    Words need no list of stop words where the script shows what is grammar: Japanese writes it in
    hiragana, Chinese has some eighty characters for it, and Korean particles fifteen syllables.
    """
    kana = any("\u3041" <= letter <= "\u30ff" for token in tokens for letter in token)
    weights = {token: _script_weight(token, kana=kana) for token in tokens}
    if any(weight > _LIGHT or token.isascii() for token, weight in weights.items()):
        return weights
    return dict.fromkeys(tokens, 1.0)


@lru_cache(maxsize=4096)
def _script_weight(token: str, *, kana: bool) -> float:
    if token.isascii():
        return 1.0
    hiragana = sum("\u3041" <= letter <= "\u309f" for letter in token)
    if hiragana:
        return 0.2 if hiragana == len(token) else 0.6
    hangul = "\uac00" <= token[0] <= "\ud7a3"
    if not hangul and (kana or not "\u3400" <= token[0] <= "\u9fff"):
        return 1.0
    light = sum(letter in _FUNCTION_CHARACTERS for letter in token)
    if light == len(token):
        return 0.3
    return 0.7 if light else 1.0


# In Chinese, Japanese and Korean there are no words to count: a subject needs three letters, as
# 负责人 has, or two before the colon of a list's item (值班：张三); a value is short, and what
# reads like a sentence or a state is none.
_SHORTEST_SUBJECT, _SHORTEST_OF_ITEM = 3, 2
_SUBJECT = r"(?P<subject>[^\s，,。；;、？?！!：:=]{3,20}?)"
_SPACED_SUBJECT = r"(?P<subject>[^，,。；;、？?！!：:=]{3,20}?)"
_ONE = r"(?P<value>[\w.@/+-]{1,12})"
_END = r"[。.!！]?\s*\Z"


@cache
def _unspaced_statements() -> tuple[re.Pattern[str], ...]:
    """How a line states a name; compiled where one is compared."""
    # 不是, 但是 and the like say something else than "is"; so do 因为 and 认为.
    chinese = re.compile(
        rf"{_SUBJECT}(?:现在|現在|目前|已经|已經|已)?"
        r"(?:(?:改|换|換|设|設|定)(?:为|為|成)了?|(?<![不但还還只就都也于於可总總要算若正便老或])是|"
        r"(?<![认認因作成以称稱分行])[为為])"
        rf"\s*{_ONE}{_END}"
    )
    japanese = re.compile(rf"{_SUBJECT}は(?:今|現在)?\s*{_ONE}(?:です|だ|である){_END}")
    korean = re.compile(
        rf"{_SPACED_SUBJECT}[은는]\s+(?:이제\s+|지금\s+)?"
        rf"(?P<value>[\w.@/+-]{{2,12}}?)(?:이다|입니다|이에요|예요){_END}"
    )
    colon = re.compile(rf"(?P<subject>[^，,。；;、？?！!：:=]{{2,20}}?)\s*[：:=]\s*{_ONE}{_END}")
    return colon, chinese, japanese, korean


@cache
def _unspaced_exceptions() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What is no specific subject, and what is no name: states, and parts of sentences."""
    # Chinese particles, adverbs and auxiliaries, and the kana that end Japanese verbs and
    # adjectives; no name has them but by chance, apart from の and san, kun and chan.
    sentence = re.compile(
        "[的了着过過吗嗎呢吧很太不没沒在被把要会會能应應该該谁誰]|什么|什麼|哪|怎|多少|几|幾|"
        "(?!の|さん|くん|ちゃん|(?<=さ)ん|(?<=く)ん|(?<=ち)ゃん|(?<=ちゃ)ん)[\u3041-\u3096]"
    )
    states = re.compile(
        r"(?:完了|失敗|成功|不在|必要|不要|便利|不便|重要|順調|可能|不可|大丈夫|元気|有効|無効|正常|異常|停止|"
        r"未定|中止|延期|同意|反对|反對|反対|赞成|賛成|最高|最悪|無理|簡単|複雑|安全|危険|綺麗|面倒|大変|残念|問題|..+[中済的前後]|"
        r"何|誰|どこ|いつ|"
        r"정상|비정상|실패|성공|완료|필요|불필요|가능|불가능|중단|예정|최고|최악|문제|필수|아직|누구|무엇|어디|언제|"
        r"그대로|마찬가지|다행|움직|..+[중적것])\Z"
    )
    # What is another thing each time: today, this, I, the problem, the reason.
    of_the_time = re.compile(
        r"\A(?:今天|明天|昨天|今日|明日|昨日|这|這|那|我|你|他|她|它|今週|来週|今回|これ|それ|あれ|私|僕|"
        r"오늘|내일|어제|이것|그것|저것|우리|저희|저는|나는|"
        r"购买|買い?う?|待办|待辦|完成|早餐|午餐|晚餐|朝食|昼食|夕食|天气|天氣|天気|心情|[周週].|星期|[月火水木金土日]曜|"
        r"할 ?일|구매|아침|점심|저녁|날씨)|"
        r"(?:问题|問題|原因|结果|結果|目的|意思|情况|情況|想法|建议|建議|重点|重點|理由|感想|문제|원인|이유|결과|목적)\Z"
    )
    return of_the_time, states, sentence


def statement_of_unspaced(text: str, *, listed: bool) -> tuple[tuple[str, str], str] | None:
    """The fact that a line with letters of scripts without spaces states, and the name in it.

    ``listed`` says that the line is an item of a list.
    """
    shortest = _SHORTEST_OF_ITEM if listed else _SHORTEST_SUBJECT
    for pattern in _unspaced_statements():
        if found := pattern.match(text):
            subject, value = found["subject"].strip(), found["value"].rstrip(".")
            of_the_time, states, sentence = _unspaced_exceptions()
            letters = sum(map(len, re.findall(r"\w+", subject)))
            if (
                letters < shortest
                or of_the_time.search(subject)
                or states.match(value)
                or sentence.search(value)
            ):
                return None
            return ("name", subject.casefold()), value
    return None
