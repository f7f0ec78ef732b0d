"""The times that the words of a question name: "in May", "on 3 May 2023", "last week", 上周.

Imported only for a query that may name one; see :func:`may_name_days` in ``query.py``.
"""

from __future__ import annotations

import re
from calendar import monthrange
from functools import cache
from typing import TYPE_CHECKING

from commonplace.text.dates import RELATIVE, days_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date

Days = tuple[str, str]
"""First and last day (ISO); without the year, ``-05-07``, where every year will do."""

_MOST = 8

# By month, in English, German, French, Spanish, Italian and Portuguese.
_MONTHS = """
january jan januar jänner janvier enero gennaio janeiro
february feb februar février febrero febbraio fevereiro
march mar märz mars marzo março
april apr avril abril aprile
may mai mayo maggio maio
june jun juni juin junio giugno junho
july jul juli juillet julio luglio julho
august aug août agosto
september sept sep septembre septiembre settembre setembro
october oct oktober octobre octubre ottobre outubro
november nov novembre noviembre novembro
december dec dezember décembre diciembre dicembre dezembro
"""
_NUMBERS = {
    name: number
    for number, names in enumerate(_MONTHS.strip().split("\n"), 1)
    for name in names.split()
}
# Words and names of people, too: by themselves they are months only behind such a word.
_AMBIGUOUS = {"may", "mar", "mars", "march", "april", "june", "jan", "sep", "oct", "dec", "mai"}
_BEFORE = r"(?:in|during|of|since|until|by|early|late|mid|last|this|next|im|en|em|nel|a)"


def named_days(text: str, today: Callable[[], date]) -> tuple[Days, ...]:
    """The times that ``text`` names, at most eight; ``today`` is the user's day. Raises nothing."""
    lowered = text.lower()
    found: dict[Days, None] = {}
    for match in _calendar_pattern().finditer(lowered):
        try:
            found.update(dict.fromkeys(_days(match)))
        except ValueError:  # a day that no calendar has
            continue
    if len(text) <= 1_000:
        for match in _relative_pattern().finditer("-".join(lowered.split())):
            if days := days_of(match[0], today()):
                first, last = days
                found[first.isoformat(), last.isoformat()] = None
    return tuple(found)[:_MOST]


def _days(match: re.Match[str]) -> Iterator[Days]:
    groups = {name.rstrip("_"): value for name, value in match.groupdict().items() if value}
    year, month, day = groups.get("y", ""), groups["m"], groups.get("d")
    number = int(month) if month.isdigit() else _NUMBERS[month]
    if not 1 <= number <= 12:
        return
    last = monthrange(int(year) if year else 2024, number)[1]
    if day is not None and not 1 <= int(day) <= last:
        return
    first, last = (int(day), int(day)) if day else (1, last)
    yield f"{year}-{number:02}-{first:02}", f"{year}-{number:02}-{last:02}"


@cache
def _calendar_pattern() -> re.Pattern[str]:
    def names(month: str, some: Iterator[str] | frozenset[str] | dict[str, int]) -> str:
        return rf"(?P<{month}>{'|'.join(sorted(some, key=len, reverse=True))})\b\.?"

    every = frozenset(_NUMBERS)
    year, day = r"(?P<y{0}>(?:19|20)\d\d)(?!\d)", r"(?P<d{0}>\d\d?)(?!\d)"
    of = r"(?:\s+(?:of|de|del))?"
    forms = (
        rf"(?<!\d){year}-(?P<m>\d\d?)(?:-{day})?(?![\d-])",
        rf"(?<!\d){year}\s*[年년]\s*(?P<m_>\d\d?)\s*[月월](?:\s*{day}\s*[日号號일])?",
        rf"(?<!\d)(?P<m__>\d\d?)\s*[月월](?:\s*{day}\s*[日号號일])?",
        rf"(?<![\w.]){day}(?:st|nd|rd|th|\.)?{of}\s+{names('m___', every)}(?:,?{of}\s+{year})?",
        rf"\b{names('m____', every)}\s+{day}(?:st|nd|rd|th)?(?:,?\s+{year})?",
        rf"\b{names('m_____', every)},?{of}\s+{year}",
        rf"\b{_BEFORE}\s+{names('m______', every)}(?:,?{of}\s+{year})?",
        rf"\b{names('m_______', every - _AMBIGUOUS)}",
    )
    # A group's name stands once in a pattern: those of later forms end in more underscores.
    return re.compile("|".join(form.format("_" * at) for at, form in enumerate(forms)))


@cache
def _relative_pattern() -> re.Pattern[str]:
    latin = "|".join(part for part in RELATIVE if part.isascii())
    other = "|".join(part for part in RELATIVE if not part.isascii())
    return re.compile(rf"(?<![a-z0-9])(?:{latin})(?![a-z0-9])|{other}")
