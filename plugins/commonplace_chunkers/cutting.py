"""Where to cut inside a line that is too long for one chunk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from commonplace.plugin import floor_boundary, is_boundary

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LONGEST_GRAPHEME", "cut_inside", "fit_characters", "next_border"]

LONGEST_GRAPHEME: Final = 4
"""How many budgets a single grapheme may cost before it is cut."""

_WORD_BORDER = re.compile(r"(?<=\s)(?=\S)|(?<=[。！？；，、．…])(?=[^\s。！？；，、．…])")


def fit_characters(_text: str, start: int, stop: int, budget: int) -> int:
    """The last place up to which a text costs no more than ``budget``, one for a character."""
    return min(stop, start + budget)


def cut_inside(
    text: str, start: int, stop: int, budget: int, fit: Callable[[str, int, int, int], int]
) -> int:
    """A place after ``start``, not after ``stop``, within ``budget`` as measured by ``fit``.

    That is ``stop`` if all fits, else the last word border in the last quarter, else the last
    border between graphemes. Where one grapheme alone costs more than the budget it is the end of
    that grapheme, or the place where it has cost :data:`LONGEST_GRAPHEME` budgets. ``start`` is
    taken for a border.
    """
    limit = fit(text, start, stop, budget)
    if limit >= stop:
        return stop
    near = limit - (limit - start) // 4
    borders = [match.start() for match in _WORD_BORDER.finditer(text, near, limit + 1)]
    for border in reversed(borders):
        if is_boundary(text, border, start):
            return border
    border = floor_boundary(text, limit, start)
    if border > start:
        return border
    longest = fit(text, start, stop, budget * LONGEST_GRAPHEME)
    ends = (at for at in range(limit + 1, longest) if is_boundary(text, at, start))
    return next(ends, longest)


def next_border(text: str, at: int, stop: int, start: int) -> int:
    """The first word border in ``at..stop``, else the first grapheme border, else ``stop``.

    ``start`` is a known border before ``at``.
    """
    for match in _WORD_BORDER.finditer(text, at, stop):
        if is_boundary(text, match.start(), start):
            return match.start()
    return next((border for border in range(at, stop) if is_boundary(text, border, start)), stop)
