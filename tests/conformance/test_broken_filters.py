from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from tests.conformance.conftest import StoreBench

from commonplace.model.search import KeywordMatches, Where
from commonplace.testing.base import filtered_puts, filters_together
from commonplace.testing.strategies import passes
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.search import Found, KeywordQuery, Nearest
    from commonplace.protocols.parts import Store
    from commonplace.resilience.deadline import Deadline

FIELDS = Where._fields
NONE = Where()

KEYWORD = "test_filters_that_are_set_together_must_all_be_passed"
DAYS = "test_the_chunks_of_days_pass_all_filters_that_are_set_together"
VECTORS = "test_the_nearest_pass_all_filters_that_are_set_together"


def without(where: Where, ignored: str, given: str) -> Where:
    """``where``, without the filter ``ignored`` where the filter ``given`` is set."""
    if getattr(where, given) == getattr(NONE, given):
        return where
    return where._replace(**{ignored: getattr(NONE, ignored)})


class IgnoresAFilterForAnother(InMemoryStore):
    """Looks at ``ignored`` no more as soon as ``given`` is set."""

    given, ignored = "sources", "not_paths"

    @classmethod
    def opened(cls, _: str) -> Store:
        return cls()

    def other(self, where: Where) -> Where:
        return without(where, self.ignored, self.given)

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        return super().keyword(query, where=self.other(where), limit=limit, deadline=deadline)

    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        where = self.other(where)
        return super().nearest(space, vector, where=where, limit=limit, deadline=deadline)

    def of_days(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Found, ...]:
        return super().of_days(query, where=self.other(where), limit=limit, deadline=deadline)


class FiltersAfterTheLimit(IgnoresAFilterForAnother):
    """Looks at ``ignored`` after ``limit`` as soon as ``given`` is set."""

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        answer = super().keyword(query, where=where, limit=limit, deadline=deadline)
        passing = InMemoryStore.keyword(self, query, where=where, limit=999, deadline=deadline)
        known = {hit.chunk.id for hit in passing.found}
        return KeywordMatches(tuple(hit for hit in answer.found if hit.chunk.id in known))

    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        answer = super().nearest(space, vector, where=where, limit=limit, deadline=deadline)
        passing = InMemoryStore.nearest(
            self, space, vector, where=where, limit=999, deadline=deadline
        )
        known = {hit.chunk.id for hit in passing.found}
        return answer._replace(found=tuple(hit for hit in answer.found if hit.chunk.id in known))

    def of_days(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Found, ...]:
        found = super().of_days(query, where=where, limit=limit, deadline=deadline)
        passing = InMemoryStore.of_days(self, query, where=where, limit=999, deadline=deadline)
        return tuple(hit for hit in found if hit in passing)


@pytest.mark.parametrize("profile", ["quick", "default"])
@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (IgnoresAFilterForAnother, KEYWORD),
        (IgnoresAFilterForAnother, VECTORS),
        (IgnoresAFilterForAnother, DAYS),
        (FiltersAfterTheLimit, KEYWORD),
        (FiltersAfterTheLimit, VECTORS),
        # Of days the newest come first: what is too old would stand behind all that pass.
    ],
)
def test_no_filter_may_be_ignored_for_another(
    kind: type[IgnoresAFilterForAnother], law: str, profile: str
) -> None:
    kept = []
    for given, ignored in permutations(FIELDS, 2):
        broken: Any = type("Broken", (kind,), {"given": given, "ignored": ignored})
        bench = StoreBench(broken.opened)
        vars(bench)["profile"] = profile
        try:
            getattr(bench, law)()
        except (AssertionError, KeyError):
            continue
        kept.append((given, ignored))
    assert kept == []


@pytest.mark.parametrize("law", [KEYWORD, VECTORS, DAYS])
def test_a_sound_store_keeps_the_law(law: str, verdict: Callable[..., str]) -> None:
    assert verdict(lambda _: InMemoryStore(), law, 1) == "kept"


@pytest.mark.parametrize("scale", [0.2, 1.0, 8.0])
def test_each_filter_alone_keeps_something_out(scale: float) -> None:
    corpus = filtered_puts()
    for where in filters_together(scale):
        passing = [put for put in corpus if passes(put, where)]
        for field in FIELDS:
            without = where._replace(**{field: getattr(NONE, field)})
            more = [put for put in corpus if passes(put, without)]
            assert (without == where) == (more == passing), (field, where)
