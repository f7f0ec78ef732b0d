"""Whether a text may name a time: a cheap look at its words, before patterns are loaded.

What reads the times is in ``days.py`` and ``asked_times.py``, which take a hundred times as long.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from commonplace.text.languages import composed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Some are parts of other words: they only tell which queries need a closer look. "_" is a space.
_MONTHS_LISTED = """
jan feb mar apr may mai jun jul aug sep oct okt nov dec dez abr set out dic avr fév mär jui aoû déc
jän ener genn magg giug lugl ago ott янв фев мар апр май мая мае июн июл авг сен окт ноя дек 월
มกรา กุมภา มีนา เมษา พฤษภา มิถุนา กรกฎา สิงหา กันยา ตุลา พฤศจิกา ธันวา .ค .พ .ย
"""
_SEEN_LISTED = """
day tomorrow night morning week month quarter year last past q1 q2 q3 q4 heute gestern morgen
woche monat jahr tage einem_tag ntag nstag rstag eitag mstag nabend mittwoch hier aujourd soir
matin midi nuit nacht mois trimestre année jours _ans 'an_ ’an_ il_y_a ndi rdi credi eudi medi
manche ayer antier hoy esta_ mañana semana _mes año días lunes miérc jueves viernes sábad oggi
ieri domani mattina stasera mese mesi anno anni giorn edì sabato ontem hoje manhã mês ano dias
segunda terça quarta quinta sexta вчера завтра недел месяц год лет дней дня день понед вторн сред
четв пятн суббот воскр 年 月 周 週 星期 天 日 礼拜 禮拜 晚 晩 早 夜 朝 曜 季度 きょう けさ きのう
ゆうべ おとと あした あさって 오늘 어제 그저께 그제 그끄저께 모레 밤 주 달 해 년 일 전 วัน เมื่อ
สัปดาห์ เดือน ปี พรุ่ง มะรืน ago demain semain settim _kw finde выходн квартал 분기 四半期 금주
upcoming coming_up anstehend bevorsteh venir próxim prossim 即将 今後 다가 spring summer autumn
heuer heurig _tagen maart _mei doming domenica
in_fall the_fall last_fall this_fall fall_20 winter frühling frühjahr sommer herbst printemps
_été l'été automne hiver primavera verano otoño invierno estate autunno inverno verão outono
весной осенью зимой 봄에 여름에 가을에 겨울에
"""
SEEN = [time.replace("_", " ") for time in _SEEN_LISTED.split()]
_BEFORE_A_DATE_LISTED = """
_in_ _during_ _early_ _late_ _mid_ _of_ _am_ _vom_ _zum_ _bis_ _seit_ _den_ _dem_ _der_ _jahr
_since_ _until_ _till_ _before_ _after_ _vor_ _nach_ _ab_ _depuis_ _avant_ _après_ _desde_ _hasta_
_até_ _após_ _dal_ _dopo_ _fino_ _prima_ _anfang_ _mitte_ _ende_ _en_ _em_ _nel_ _début_ _fin _de_
_inizio_ _metà_ _в_ _prior_ _than_ _starting_ _dès_ _partir_ _partire_ _перед_ _после_ _начиная_
"""
_BEFORE_A_DATE = [word.replace("_", " ") for word in _BEFORE_A_DATE_LISTED.split()]
_TIMES = [*_MONTHS_LISTED.split(), *SEEN]
_NEXT_LISTED = """
next nächst kommende prochain proxim следующ ближайш 下次 下一 下个 下個 次の 次回 今度 다음 ครั้ง
"""
_WHEN_LISTED = """
when _what_time _what_day _which_day wann _uhr quand quel cuando cuándo hora _día dia_ che_ora
giorno когда _день сколько 时候 時候 何时 何時 几点 幾點 几号 幾號 哪天 いつ 何日 언제 몇 며칠 เมื่อ
วันไหน โมง
"""
_NEXT, _WHEN = _NEXT_LISTED.split(), [word.replace("_", " ") for word in _WHEN_LISTED.split()]


def may_be_seen_from_today(text: str) -> bool:
    """Whether ``text`` may name a time such as "last week": false positives are rare."""
    return any(map(f" {text.lower()}".__contains__, SEEN))


def may_name_days(text: str) -> bool:
    """Whether a query may name a time; where it is sure not to, a module need not be imported."""
    lowered = f" {composed(text).lower()}"
    numbers = lowered.split("-") if "-" in lowered else ()
    parted = any(a[-1:].isdigit() and b[:1].isdigit() for a, b in pairwise(numbers))
    # Versions and paths have dots, slashes and digits, too, but seldom a year beside them.
    year, dots = "19" in lowered or "20" in lowered, lowered.count(".") > 1
    parted |= year and ("/" in lowered or dots)
    if "/" in lowered:  # 12/18
        words = (word.strip("?!.,;:()") for word in lowered.split() if "/" in word)
        parted |= any(word.replace("/", "", 1).isdecimal() for word in words)
    if not parted and any(map(str.isdigit, lowered)):
        plain = "".join([sign if sign.isalnum() else " " for sign in lowered])
        before = _BEFORE_A_DATE if year or dots else (" on the ", " am ")
        parted = any(map(plain.__contains__, before))
    parted |= any(word[-1] == "." and word.replace(".", "").isdecimal() for word in lowered.split())
    if parted or any(map(lowered.__contains__, _TIMES)):
        return True
    is_next = any(map(lowered.__contains__, _NEXT))  # see ``next_asked`` in ``tenses.py``
    return is_next and (lowered.startswith(" next ") or any(map(lowered.__contains__, _WHEN)))


def may_have(pattern: str, lowered: str) -> bool:
    """Whether ``lowered`` may have what ``pattern`` matches: to compile all takes long."""
    for letters in _needed(pattern):
        for run in letters:
            if run in lowered:
                break
        else:
            return False
    return True


def names_for(lowered: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of ``names``, patterns, that ``lowered`` may have: to compile all takes long."""
    found = _held(lowered, _by_letters(names, unspaced=False))
    if not lowered.isascii():
        found += _held(lowered, _by_letters(names, unspaced=True))
    return tuple(names[at] for at in sorted(set(found)) if may_have(names[at], lowered))


def _held(lowered: str, by_letters: Mapping[str, Sequence[int]]) -> list[int]:
    return [at for letters, those in by_letters.items() if letters in lowered for at in those]


@cache
def _by_letters(names: tuple[str, ...], *, unspaced: bool) -> Mapping[str, Sequence[int]]:
    """Positions of ``names`` of such scripts by letters of which each of their matches has some."""
    found: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        if is_unspaced(name) == unspaced:
            fewest = min(_needed(name), key=len, default=("",))
            for letters in fewest:
                found.setdefault(letters, []).append(at)
    return found


def is_unspaced(name: str) -> bool:
    """Whether ``name``, a pattern, is of a script without spaces between words."""
    highest = max(name)
    return highest >= "\u3000" or "\u0e00" <= highest <= "\u0e7f"


# Escapes, classes, openings of groups, what is missing or repeated, words, and single signs.
_PIECE = r"\\.|\[\^?[^]]*\]|\(\?(?:<?[=!]|P<\w+>|[-\w]*:)|[?*]|\{[^}]*\}|[^\W\d_]+|."


@cache
def _needed(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Letters of which each match of ``pattern`` has, of each tuple, one run at least."""
    outer: list[tuple[list[list[tuple[str, ...]]], bool]] = []
    branches: list[list[tuple[str, ...]]] = [[]]  # of the innermost group that is open
    before = ""
    for piece in re.findall(_PIECE, pattern):
        run = branches[-1]
        if piece[0] == "(":
            outer.append((branches, piece[-1] in "=!"))
            branches = [[]]
        elif piece == ")":
            inside = _of_any(branches)
            branches, looks = outer.pop()
            branches[-1].append(() if looks else inside)
        elif piece == "|":
            branches.append([])
        elif piece[0] in "?*{" and run:  # what it follows may be missing: of a word the last letter
            (*_, last) = run.pop() or ("",)
            run.append((last[:-1],) if before.isalpha() and len(last) > 1 else ())
        elif piece[0] == "[":
            letters = piece[1:-1]
            run.append(tuple(letters) if letters.isalpha() else ())
        else:
            run.append((piece,) if piece.isalpha() else ())
        before = piece
    found = branches[0] if len(branches) == 1 else [_of_any(branches)]
    return tuple(filter(None, found))


def _of_any(branches: list[list[tuple[str, ...]]]) -> tuple[str, ...]:
    """Letters of which each match of one of ``branches`` has some; empty where one needs none."""
    found: list[str] = []
    for branch in branches:
        longest = max(filter(None, branch), key=lambda runs: min(map(len, runs)), default=None)
        if longest is None:
            return ()
        found += longest
    return tuple(found)
