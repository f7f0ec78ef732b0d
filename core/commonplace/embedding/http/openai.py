"""Reading vectors out of an answer in the form that OpenAI made common."""

from __future__ import annotations

import sys
from array import array
from binascii import a2b_base64
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["numbers_of", "vectors_of"]


def vectors_of(body: Any, count: int) -> list[Sequence[float]]:
    """The vectors of ``{"data": [{"index": 0, "embedding": ...}, ...]}`` in the order of the texts.

    Where any item has an ``index``, all must, and they put the items in order; without, the order
    is the answer's. Raises ``ValueError``, saying what is wrong in a few words.
    """
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise ValueError("the answer holds no list of embeddings")
    if len(data) != count:
        raise ValueError(f"{len(data)} vectors came back for {count} texts")
    indices = [item.get("index") for item in data]
    if any(index is not None for index in indices):
        placed = {i: item for i, item in zip(indices, data, strict=True) if type(i) is int}
        if placed.keys() != set(range(count)):
            raise ValueError("the vectors' indices are not those of the texts")
        data = [placed[index] for index in range(count)]
    return [numbers_of(item.get("embedding")) for item in data]


def numbers_of(embedding: Any) -> Sequence[float]:
    """One vector, sent as a list of numbers or as base64 of float32, little-endian.

    Servers that were asked for one form may give the other. Raises ``ValueError``.
    """
    if isinstance(embedding, str):
        return _unpacked(embedding)
    try:
        return array("d", embedding)
    except (TypeError, OverflowError):
        raise ValueError("a vector is missing, or not a list of numbers") from None


def _unpacked(text: str) -> Sequence[float]:
    vector = array("f")
    try:
        vector.frombytes(a2b_base64(text, strict_mode=True))
    except ValueError:  # binascii.Error is one
        raise ValueError("a vector is not base64 of float32 numbers") from None
    if sys.byteorder == "big":
        vector.byteswap()
    return vector
