"""Vectors from outside are checked and brought to unit length."""

from __future__ import annotations

import struct
import sys
from array import array
from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.vectors import check_units, checked, dims_of, floats
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
        ([[True, 0.5]], 1, None, "true or false"),
        ([[0.5] * 65_537], 1, None, "65,537 dimensions, more than 65,536"),
    ],
)
def test_what_cannot_be_right_is_refused(
    vectors: list[list[float]], count: int, dims: int | None, words: str
) -> None:
    with pytest.raises(ProviderError, match=words) as caught:
        checked(vectors, count=count, dims=dims, provider="p")
    assert caught.value.kind == "protocol"


@pytest.fixture(params=["with numpy", "without numpy"])
def _numpy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "with numpy":
        pytest.importorskip("numpy")
    else:
        monkeypatch.delitem(sys.modules, "numpy", raising=False)


def packed(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


@pytest.mark.usefixtures("_numpy")
def test_units_are_units() -> None:
    check_units([], 2)
    check_units([packed(0.6, 0.8), packed(0.0, -1.0), packed(0.6004, 0.8004)], 2)
    check_units(checked([[0.1] * 768, [1.0] * 768], count=2, dims=768, provider="p"), 768)


@pytest.mark.usefixtures("_numpy")
@pytest.mark.parametrize(
    ("vector", "words"),
    [
        (packed(0.61, 0.81), "of length 1.014 where unit length"),
        (packed(0.59, 0.79), "of length 0.98"),
        (packed(0.0, 0.0), "of length 0 where"),
        (packed(3e38, 3e38), "where unit length"),
        (packed(nan, 0.0), "of length nan"),
        (packed(1.0, inf), "of length inf"),
        (packed(1.0), "4 bytes where 2 dimensions"),
        (packed(1.0, 0.0)[:-1], "7 bytes"),
        (b"", "0 bytes"),
    ],
)
def test_what_is_no_unit_is_refused(vector: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_units([packed(1.0, 0.0), vector], 2)
    with pytest.raises(ValueError, match="where 0 dimensions"):
        check_units([b""], 0)
