"""What a text names of times, as the tests of its parts look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.text.days import days_of_times, times_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from commonplace.text.day_spans import Days


def named_days(text: str, today: Callable[[], date]) -> tuple[Days, ...]:
    return days_of_times(times_of(text, today))
