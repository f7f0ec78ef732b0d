"""Finds the nearest of many names, as :mod:`difflib` measures it, without comparing them all."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher, get_close_matches
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, KeysView, Mapping, Sequence

_NEAR = 0.8
_RANKED = 10  # names that are compared for the nearest: one note has several
_LEAST = 4  # letters of a name that shares a pair of letters with each that is near
_DIGITS = re.compile(r"\d+").findall
_T = TypeVar("_T")


class Names(Generic[_T]):
    """Names, each with what it is of; they must not change."""

    def __init__(self, names: Mapping[str, Sequence[_T]]) -> None:
        self._names = names

    @property
    def all(self) -> KeysView[str]:
        """All of them."""
        return self._names.keys()

    def nearest(self, name: str) -> list[_T]:
        """What the nearest names are of: several where two are as near, none if none is near.

        Names with other digits name something else: ``report-2026`` is not meant by
        ``report-2025``.
        """
        near = get_close_matches(name, self._alike(name), _RANKED, _NEAR)
        found: list[_T] = []
        for one in near:
            if _ratio(one, name) < _ratio(near[0], name):
                break
            found += (what for what in self._names[one] if what not in found)
        return found

    def _alike(self, name: str) -> list[str]:
        """The names that can be near, among them all that are.

        Two names of a and b letters are near if they share m = 0.4 (a + b) letters in the same
        order. The a + b - 2 m others break these into as many parts and one more, at most: so the
        names share no fewer than 3 m - a - b - 1 pairs of letters side by side.
        """
        same = self._by_digits.get(_numbers(name))
        if same is None:
            return []
        if len(name) < _LEAST:
            return same.names
        shared: Counter[int] = Counter()
        for pair in _pairs(name):
            shared.update(same.holding.get(pair, ()))
        alike = []
        for at, pairs in shared.items():
            sizes = len(name), len(same.names[at])
            letters = ceil(sum(sizes) * _NEAR / 2 - 1e-9)
            if letters <= min(sizes) and pairs >= 3 * letters - sum(sizes) - 1:
                alike.append(same.names[at])
        return alike

    @cached_property
    def _by_digits(self) -> Mapping[tuple[str, ...], _Alike]:
        found: dict[tuple[str, ...], _Alike] = {}
        for name in self._names:
            found.setdefault(_numbers(name), _Alike()).add(name)
        return found


class _Alike:
    """Names with the same digits, and which of them hold a pair of letters."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.holding: dict[tuple[str, str, int], list[int]] = {}

    def add(self, name: str) -> None:
        for pair in _pairs(name):
            self.holding.setdefault(pair, []).append(len(self.names))
        self.names.append(name)


def _pairs(name: str) -> Iterator[tuple[str, str, int]]:
    """Each pair of letters side by side, counted: the second ``na`` of ``banana`` is another."""
    seen: Counter[tuple[str, str]] = Counter()
    for first, second in pairwise(name):
        seen[first, second] += 1
        yield first, second, seen[first, second]


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def _numbers(name: str) -> tuple[str, ...]:
    return tuple(digits.lstrip("0") for digits in _DIGITS(name))
