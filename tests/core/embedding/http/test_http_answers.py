"""Vectors come out of an answer in the order of the texts, or not at all."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.http.provider import numbers_of, vectors_of

singles = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=8)


def packed(numbers: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


@given(singles)
def test_both_forms_give_the_same_numbers(numbers: list[float]) -> None:
    assert list(numbers_of(packed(numbers))) == list(numbers_of(numbers)) == numbers


@given(st.permutations(range(6)), st.booleans())
def test_indices_put_the_vectors_in_order(order: list[int], as_text: bool) -> None:
    def form(number: int) -> Any:
        return packed([number]) if as_text else [float(number)]

    body = {"data": [{"index": index, "embedding": form(index)} for index in order]}
    assert [list(vector) for vector in vectors_of(body, 6)] == [[float(i)] for i in range(6)]


def test_without_indices_the_order_is_the_answer_s() -> None:
    body = {"data": [{"embedding": [2]}, {"index": None, "embedding": [1]}]}
    assert [list(vector) for vector in vectors_of(body, 2)] == [[2.0], [1.0]]


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "text",
        {},
        {"data": None},
        {"data": {}},
        {"data": [None, None]},
        {"data": []},
        {"data": [{"embedding": [1]}]},
        {"data": [{"embedding": [1]}] * 3},
        {"data": [{"index": 0, "embedding": [1]}] * 2},
        {"data": [{"index": 0, "embedding": [1]}, {"embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": 2, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": True, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": "1", "embedding": [1]}]},
        {"data": [{"embedding": [1]}, {}]},
        {"data": [{"embedding": [1]}, {"embedding": ["1"]}]},
        {"data": [{"embedding": [1]}, {"embedding": [[1]]}]},
        {"data": [{"embedding": [1]}, {"embedding": 3}]},
        {"data": [{"embedding": [1]}, {"embedding": "AAAA"}]},
        {"data": [{"embedding": [1]}, {"embedding": "AAAA AAA="}]},
        {"data": [{"embedding": [1]}, {"embedding": "é"}]},
    ],
)
def test_anything_else_is_refused(body: Any) -> None:
    with pytest.raises(ValueError, match=r"^(the answer|\d vectors|the vectors|a vector)"):
        vectors_of(body, 2)


@pytest.mark.parametrize(
    "embedding", [[True, False], [0.5, True], [0.5] * 65_537, packed([0.5] * 65_537), {"0": 1}]
)
def test_what_is_no_vector_of_a_sane_length_is_refused(embedding: Any) -> None:
    with pytest.raises(ValueError, match="vector"):
        numbers_of(embedding)
