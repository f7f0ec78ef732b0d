"""Finds what a note says of the past on purpose: history sections, and lists of states by time."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from commonplace.plugin import prose_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)[\s#]*\Z")
_UNDERLINE = re.compile(r"\s{0,3}(?:(=)=*|--+)\s*\Z")
# What a heading calls a list of what was so. "History lessons" is another subject.
_PAST = re.compile(
    r"(?:the\s+|our\s+|a\s+)?(?:(?:short|brief|version|release|change|decision|price|past)\s+)?"
    r"(?:history|change\s?log|changes|timeline|chronology|chronicle|archived?|release\s+notes|"
    r"geschichte|chronik|verlauf|änderungen|archiv|historique|chronologie|historial|historia|"
    r"cronología|storia|cronologia|história|histórico|история|архив|хронология|"
    r"历史|歷史|变更记录|更新日志|履歴|変更履歴|経緯|이력|역사|변경\s?이력)(?:\s+(?:of|der|des|von|de|du|del)\b.*|\s*[(:,].*)?"
    r"|(?:past|former|previous|earlier|older?|obsolete|superseded|outdated|frühere[rsn]?|"
    r"ehemalige[rsn]?|bisherige[rsn]?|veraltete?|anciens?|anciennes?|anterior(?:es)?|"
    r"прежние|以前的?|過去の|旧)"
    r"(?:\s*(?:states?|statuses|versions?|values?|settings?|decisions?|prices?|plans?|rules?|facts?|"
    r"notes?|entries|stände?|versionen|werte?|entscheidungen|preise?|états?|versiones|valores|"
    r"versões|値|状態|状态|版本|値段|价格)(?:\s+(?:of|der|des|von|de|du|del)\b.*)?)?"
    r"|(?:in\s+)?(?:the\s+)?past|before|formerly|früher|vorher|avant|antes|раньше|以前|過去",
    re.IGNORECASE,
)
# An entry of a list by time: "- until 2026-04: Mollie", "- 2026-04 to 2026-06: both".
_ENTRY = re.compile(
    r"\s*(?:[-*+]|\d+[.)])\s+(?:\W*)(?:(?:from|since|until|till|to|up\s+to|"
    r"seit|bis|von|depuis|jusqu['’]?(?:en|au|à)?|desde|hasta|до|с|по)\s+)?"
    r"(?:[^\W\d]{3,10}\.?\s+)?(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_BOX = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[[ xX]\]")


def past_lines(text: str) -> frozenset[int]:
    """The numbers (1-based) of the lines of ``text`` that state what was so.

    They stand below a heading such as "History", to the next of its level, or are entries of a list
    of which two neighbours begin with a time. Open tasks are none.
    """
    lines = [*prose_lines(text)]
    below = set(_below_headings(lines))
    entries = {number for number, line in lines if _ENTRY.match(line)}
    by_number = dict(lines)
    list_items = [number for number, line in lines if _ITEM.match(line) or _HEADING.match(line)]
    listed: set[int] = set()
    for number, following in pairwise(list_items):
        if entries.issuperset((number, following)):
            listed |= {number, following}
    return frozenset(number for number in below | listed if not _BOX.match(by_number[number]))


def _below_headings(lines: list[tuple[int, str]]) -> Iterator[int]:
    """The lines below headings of the past, at any depth."""
    level = 0  # of the heading of the past that we are below, 0: below none
    for at, (number, line) in enumerate(lines):
        following = lines[at + 1][1] if at + 1 < len(lines) else ""
        underlined = _UNDERLINE.match(following) if line.strip() else None
        if found := _HEADING.match(line):
            depth, words = len(found[1]), found[2]
        elif underlined and not _ITEM.match(line):
            depth, words = 1 if underlined[1] else 2, line.strip()
        else:
            if level:
                yield number
            continue
        if not level or depth <= level:
            level = depth if _PAST.fullmatch(words.strip("*_ ")) else 0
