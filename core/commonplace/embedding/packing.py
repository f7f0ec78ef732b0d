"""Packing texts into requests that a provider will take."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from commonplace.text.graphemes import is_boundary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.protocols.providers import Limits

__all__ = ["cut_to_fit", "estimate_tokens", "fits", "pack"]

_ASCII_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """A number of tokens that the true one seldom passes.

    ASCII counts a token for three characters (English prose has about four), everything else one a
    character, which is what CJK costs and more than Cyrillic or accented letters do.
    """
    ascii_ = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return -(-ascii_ // _ASCII_PER_TOKEN) + len(text) - ascii_


def fits(text: str, limits: Limits) -> bool:
    """Whether ``text`` alone may be sent."""
    return estimate_tokens(text) <= _item_tokens(limits) and _bytes(text) <= (limits.bytes or inf)


def pack(texts: Sequence[str], limits: Limits) -> Iterator[range]:
    """Runs of indices of ``texts``, in order, each within ``limits``: one request each.

    A text that alone passes a limit stands alone; the caller cuts it first (:func:`cut_to_fit`).
    """
    begin = 0
    tokens = size = 0
    for index, text in enumerate(texts):
        more_tokens, more_size = estimate_tokens(text), _bytes(text)
        full = (
            index - begin >= (limits.items or inf)
            or tokens + more_tokens > (limits.tokens or inf)
            or size + more_size > (limits.bytes or inf)
        )
        if full and index > begin:
            yield range(begin, index)
            begin, tokens, size = index, 0, 0
        tokens += more_tokens
        size += more_size
    if begin < len(texts):
        yield range(begin, len(texts))


def cut_to_fit(text: str, limits: Limits) -> str:
    """``text``, or as much of its start as may be sent, cut at a grapheme border."""
    if fits(text, limits):
        return text
    low, high = 0, len(text)
    while low < high:  # the longest prefix that fits
        middle = (low + high + 1) // 2
        if fits(text[:middle], limits):
            low = middle
        else:
            high = middle - 1
    for end in range(low, max(low - 200, 0), -1):
        if is_boundary(text, end):
            return text[:end]
    return text[: max(low, 1)]


def _item_tokens(limits: Limits) -> float:
    return min(limits.item_tokens or inf, limits.tokens or inf)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
