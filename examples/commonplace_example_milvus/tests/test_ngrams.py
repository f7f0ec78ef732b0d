"""The provider measures letters."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import pytest

from commonplace.plugin import (
    NEVER,
    Deadline,
    DeadlineExceededError,
    ProviderContext,
    ProviderError,
)
from commonplace.testing import EmbeddingProviderConformance
from commonplace_example_milvus.ngrams import NGrams
from commonplace_example_milvus.plugin import make_provider

if TYPE_CHECKING:
    from commonplace.plugin import EmbeddingProvider


class TestNGrams(EmbeddingProviderConformance):
    def make_provider(self, context: ProviderContext) -> EmbeddingProvider:
        return make_provider(context)

    def variants(self) -> dict[str, ProviderContext]:
        return {"fewer dimensions": ProviderContext(dims=64)}

    def failures(self) -> dict[str, ProviderContext]:
        return {"no dimensions": ProviderContext(dims=0)}


def cosine(one: str, other: str) -> float:
    a, b = NGrams().embed([one, other], purpose="query", deadline=NEVER)
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_a_misspelt_word_is_near_and_another_is_not() -> None:
    assert cosine("recieve", "receive") > 0.3
    assert cosine("receive", "receive the parcel") > 0.3
    assert abs(cosine("car", "automobile")) < 0.2


def test_vectors_have_the_dimensions_asked_for_and_length_one() -> None:
    (vector,) = NGrams(32).embed(["a note"], purpose="document", deadline=NEVER)
    assert len(vector) == 32
    assert sqrt(sum(value * value for value in vector)) == pytest.approx(1)


def test_what_decides_a_vector_is_in_the_fingerprint() -> None:
    assert NGrams().fingerprint() == NGrams(256).fingerprint() != NGrams(32).fingerprint()


def test_no_dimensions_are_refused() -> None:
    with pytest.raises(ProviderError, match="0 dimensions"):
        NGrams(0)


def test_a_deadline_that_has_passed_ends_it() -> None:
    late = Deadline(0.0, clock=lambda: 1.0)
    with pytest.raises(DeadlineExceededError):
        NGrams().embed(["a"], purpose="query", deadline=late)
