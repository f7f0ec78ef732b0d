"""Vectors from outside are checked and brought to unit length."""

from __future__ import annotations

from array import array
from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.vectors import checked, dims_of, floats
from commonplace.errors import ProviderError


def test_a_vector_by_hand() -> None:
    (packed,) = checked([[3.0, 4.0]], count=1, dims=2, provider="p")
    assert list(floats(packed)) == pytest.approx([0.6, 0.8])
    assert dims_of(packed) == 2


@given(
    st.lists(
        st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3).filter(
            lambda v: max(map(abs, v)) > 1e-9
        ),
        min_size=1,
        max_size=4,
    )
)
def test_all_come_out_at_unit_length(vectors: list[list[float]]) -> None:
    for packed in checked(vectors, count=len(vectors), dims=None, provider="p"):
        assert sqrt(sum(value * value for value in floats(packed))) == pytest.approx(1, abs=1e-6)


def test_arrays_are_as_good_as_lists() -> None:
    (from_array,) = checked([array("f", [3.0, 4.0])], count=1, dims=2, provider="p")
    (from_list,) = checked([[3.0, 4.0]], count=1, dims=2, provider="p")
    assert from_array == from_list


@pytest.mark.parametrize(
    ("vectors", "count", "dims", "words"),
    [
        ([[1.0]], 2, None, "1 vectors came back for 2 texts"),
        ([[1.0], [1.0, 2.0]], 2, None, "2 dimensions where 1"),
        ([[1.0, 0.0]], 1, 3, "2 dimensions where 3"),
        ([[]], 1, None, "empty"),
        ([[nan, 1.0]], 1, None, "not finite"),
        ([[1.0, nan]], 1, None, "not finite"),
        ([[inf, 1.0]], 1, None, "not finite"),
        ([[0.0, 0.0]], 1, None, "length zero"),
        ([[1e-12, 0.0]], 1, None, "length zero"),
    ],
)
def test_what_cannot_be_right_is_refused(
    vectors: list[list[float]], count: int, dims: int | None, words: str
) -> None:
    with pytest.raises(ProviderError, match=words) as caught:
        checked(vectors, count=count, dims=dims, provider="p")
    assert caught.value.kind == "protocol"
