"""Several keys are one provider that is refused only when all of them are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.keys import RotatingKeys
from commonplace.errors import ProviderError, ProviderErrorKind
from commonplace.protocols.providers import EmbeddingProvider, Limits
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.resilience.retry import PASSING

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS: list[ProviderErrorKind] = [
    "auth",
    "quota",
    "rate_limit",
    "bad_request",
    "unavailable",
    "timeout",
]
OF_A_KEY = {"auth", "quota", "rate_limit"}


class Keyed:
    """One key's provider; ``fails`` is how."""

    model = "m"
    capabilities: frozenset[str] = frozenset()
    concurrency = 2

    def __init__(self, key: int, fails: ProviderErrorKind | None = None) -> None:
        self.key = key
        self.fails = fails
        self.asked = self.closed = 0
        self.retry_after: float | None = None
        self.limits = Limits(items=key + 1)

    def fingerprint(self) -> str:
        return "keyed"

    def embed(
        self, texts: Sequence[str], *, purpose: str, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        self.asked += 1
        if self.fails is not None:
            words, after = f"key {self.key}", self.retry_after
            raise ProviderError(words, provider="p", kind=self.fails, retry_after=after)
        return [[float(self.key), 1.0] for _ in texts]

    def close(self) -> None:
        self.closed += 1


def ask(provider: EmbeddingProvider) -> float:
    (vector,) = provider.embed(["text"], purpose="query", deadline=NEVER)
    return vector[0]


@given(st.lists(st.none() | st.sampled_from(KINDS), min_size=1, max_size=5))
def test_the_first_key_that_serves_is_used_and_only_keys_are_passed_over(
    fails: list[ProviderErrorKind | None],
) -> None:
    keys = [Keyed(number, kind) for number, kind in enumerate(fails)]
    rotating = RotatingKeys(keys)
    decides = next((one for one in keys if one.fails not in OF_A_KEY), None)
    if decides is not None and decides.fails is None:
        assert ask(rotating) == decides.key
        assert ask(rotating) == decides.key
        assert [one.asked for one in keys[: decides.key + 1]] == [1] * decides.key + [2]
        assert rotating.limits == decides.limits
        return
    with pytest.raises(ProviderError) as caught:
        ask(rotating)
    if decides is not None:
        assert str(caught.value) == f"key {decides.key}"
    else:
        passing = [one.key for one in keys if one.fails in PASSING]
        assert str(caught.value) == f"key {(passing or [0])[0]}"
        assert [one.asked for one in keys] == [1] * len(keys)


def test_who_served_last_is_asked_first_and_all_come_round() -> None:
    keys = [Keyed(0, "rate_limit"), Keyed(1)]
    rotating = RotatingKeys(keys)
    assert ask(rotating) == 1
    keys[0].fails, keys[1].fails = None, "quota"
    assert ask(rotating) == 0
    assert [one.asked for one in keys] == [2, 2]
    assert rotating.key == 0, "the rest is that of the first key"
    rotating.close()
    assert [one.closed for one in keys] == [1, 1]


def test_where_all_keys_must_wait_the_shortest_wait_counts() -> None:
    keys = [Keyed(0, "rate_limit"), Keyed(1, "rate_limit"), Keyed(2, "quota")]
    keys[0].retry_after, keys[1].retry_after, keys[2].retry_after = 60.0, 2.0, 1.0
    with pytest.raises(ProviderError) as caught:
        ask(RotatingKeys(keys))
    assert caught.value.retry_after == 2.0
