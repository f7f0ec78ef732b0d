"""The tests that every file of broken stores ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.protocols.parts import Store

    Verdict = Callable[[Callable[[str], Store], str], str]
    Opener = Callable[[type], Callable[[str], Store]]

__all__ = ["caught", "complete"]


def _fresh(broken: type) -> Callable[[str], Store]:
    return lambda _: broken()


def caught(
    broken: Sequence[tuple[type, str]], opener: Opener = _fresh
) -> Callable[[type, str, Verdict], None]:
    """A test of each of these pairs: the law catches the broken store that ``opener`` opens."""

    @pytest.mark.parametrize(("mutant", "law"), broken, ids=[one.__name__ for one, _ in broken])
    def test(mutant: type, law: str, verdict: Verdict) -> None:
        assert verdict(opener(mutant), law) == "broken"

    return test


def complete(
    broken: Sequence[tuple[type, str]], *suites: type
) -> Callable[[Callable[[type], set[str]]], None]:
    """A test that each law of ``suites`` catches something that is broken."""

    def test(laws: Callable[[type], set[str]]) -> None:
        assert {law for _, law in broken} == set().union(*map(laws, suites))

    return test
