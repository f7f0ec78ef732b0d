"""The timeline: a year as a heat map, a day with its logs, conversations and writes."""

from __future__ import annotations

import calendar
from collections import Counter
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from commonplace import UnavailableError
from commonplace.plugin import NamedTuple, counted
from commonplace_browse.changing import writer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace import Memory, Receipt
    from commonplace_browse.library import Library, Listed

CELL = 14
"""Width and height of a day of the map, with the gap beside it."""

_LEVELS = (1, 2, 4, 7)
"""Least number of entries of each shade."""


class Cell(NamedTuple):
    """A day of the map: ``x`` and ``y`` in pixels, ``level`` 0 (nothing) to 4."""

    day: str
    x: int
    y: int
    level: int
    label: str
    now: bool


class Day(NamedTuple):
    """A day: its notes, other documents (conversations), and changes, newest first."""

    day: str
    notes: tuple[Listed, ...]
    others: tuple[Listed, ...]
    receipts: tuple[Receipt, ...]


class Year(NamedTuple):
    """A year: ``months`` are their names with their x; ``total`` counts its entries."""

    year: int
    years: tuple[int, ...]
    cells: tuple[Cell, ...]
    months: tuple[tuple[str, int], ...]
    total: int


class Timeline:
    """What happened on which day. Raises as the journal and the list of notes do."""

    def __init__(self, memory: Memory, library: Library) -> None:
        self._clock = memory.clock
        self._zone = _zone(memory.settings.search.query.time_zone or "")
        self.notice = ""
        try:
            self._receipts: Sequence[Receipt] = writer_of(memory).journal()
        except UnavailableError as error:
            self._receipts, self.notice = (), str(error)
        self._listed = [one for one in library.listed() if one.day]

    def today(self) -> str:
        """The day of now, in the time zone of the settings."""
        return datetime.fromtimestamp(self._clock(), self._zone).date().isoformat()

    def day_of(self, receipt: Receipt) -> str:
        """The day of a change."""
        return datetime.fromtimestamp(receipt.when, self._zone).date().isoformat()

    def year(self, wanted: int | None) -> Year:
        """The map of a year: the wanted one, or the latest until now that has something."""
        counts = Counter(one.day for one in self._listed)
        counts.update(map(self.day_of, self._receipts))
        years = sorted({int(day[:4]) for day in counts}, reverse=True)
        this = int(self.today()[:4])
        # A note may be of a day to come: what is planned is no reason to open there.
        latest = next((one for one in years if one <= this), years[-1] if years else this)
        year = wanted if wanted is not None and 1 <= wanted <= 9998 else latest
        first = date(year, 1, 1)
        offset = first.weekday()
        today = self.today()
        cells = []
        for number in range((date(year + 1, 1, 1) - first).days):
            day = (first + timedelta(days=number)).isoformat()
            column, row = divmod(number + offset, 7)
            count = counts[day]
            label = f"{day}: {counted(count, 'entry', 'entries')}"
            level = sum(count >= least for least in _LEVELS)
            cells.append(Cell(day, column * CELL, row * CELL, level, label, day == today))
        months = tuple(
            (calendar.month_abbr[month], cells[_number(year, month)].x) for month in range(1, 13)
        )
        total = sum(number for day, number in counts.items() if int(day[:4]) == year)
        return Year(year, tuple(years), tuple(cells), months, total)

    def day(self, day: str) -> Day:
        """One day."""
        listed = [one for one in self._listed if one.day == day]
        return Day(
            day,
            tuple(one for one in listed if one.source == "memory"),
            tuple(one for one in listed if one.source != "memory"),
            tuple(one for one in self._receipts if self.day_of(one) == day),
        )

    def latest(self, year: int, most: int = 14) -> list[Day]:
        """The latest days of ``year`` on which something is, the newest first."""
        days = {one.day for one in self._listed} | set(map(self.day_of, self._receipts))
        chosen = sorted((day for day in days if int(day[:4]) == year), reverse=True)
        return [self.day(day) for day in chosen[:most]]

    def beside(self, day: str) -> tuple[str, str]:
        """The days before and after ``day`` on which something is, ``""`` for none."""
        days = sorted({one.day for one in self._listed} | set(map(self.day_of, self._receipts)))
        earlier = [one for one in days if one < day]
        later = [one for one in days if one > day]
        return (earlier[-1] if earlier else "", later[0] if later else "")

    def changed_facts(self, year: int) -> list[Receipt]:
        """The changes of ``year`` by which a fact got another value, the newest first."""
        return [
            one
            for one in self._receipts
            if one.action in ("correct", "supersede") and int(self.day_of(one)[:4]) == year
        ]


def is_day(text: str) -> bool:
    """Whether ``text`` is a day as ``2026-01-31``."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _number(year: int, month: int) -> int:
    return (date(year, month, 1) - date(year, 1, 1)).days


def _zone(name: str) -> ZoneInfo | None:
    """The time zone of the settings; the machine's where none, or an unknown one, is named."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
