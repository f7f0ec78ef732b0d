"""Laws about the vectors that a provider gives."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st

from commonplace.errors import ProviderError
from commonplace.testing.provider.law import TEXTS, ProviderLaws, alike, embedded, law

if TYPE_CHECKING:
    from commonplace.protocols.providers import EmbeddingProvider

__all__ = ["EmbeddingLaws"]

_ODD = (
    "0",
    "\0",
    "nul \0 in the middle",
    "\u0301",
    "e\u0301\u0301\u0301",
    "\u202eevil",
    "\ufeff\u200b mark",
    "\ud800 half a pair",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\x01\x02\x7f",
    '{"input": ["no"]}',
    "<|endoftext|> [CLS] </s>",
    "caf\u00e9 and cafe\u0301",
    "\n\n\ttabs\r\n",
)
_MOST = 2_048


class EmbeddingLaws(ProviderLaws):
    """Count, order, and that a text has one vector."""

    @law(count=st.integers(1, 9))
    def test_a_vector_for_each_text(self, provider: EmbeddingProvider, count: int) -> None:
        """As many as there are texts, all of one length, of finite numbers, none of length 0."""
        texts = [f"{TEXTS[number % len(TEXTS)]} {number}" for number in range(count)]
        vectors = embedded(provider, texts)
        assert len({len(vector) for vector in vectors}) == 1

    @law(order=st.permutations(range(len(TEXTS))))
    def test_vectors_come_in_the_order_of_the_texts(
        self, provider: EmbeddingProvider, order: list[int]
    ) -> None:
        """A text has the same vector wherever it stands, and whatever stands beside it."""
        usual = embedded(provider, TEXTS)
        turned = embedded(provider, [TEXTS[at] for at in order])
        assert all(alike(usual[at], vector) for at, vector in zip(order, turned, strict=True))

    @law()
    def test_a_text_alone_has_the_same_vector(self, provider: EmbeddingProvider) -> None:
        """As in a batch, and in a batch that holds it twice."""
        together = embedded(provider, TEXTS)
        for text, vector in zip(TEXTS, together, strict=True):
            assert alike(embedded(provider, (text,))[0], vector)
        twice = embedded(provider, [TEXTS[0], TEXTS[1], TEXTS[0]])
        assert alike(twice[0], twice[2])

    @law()
    def test_the_same_text_has_the_same_vector_again(self, provider: EmbeddingProvider) -> None:
        """From the same provider later, and from another one with the same settings."""
        first = embedded(provider, TEXTS)
        again = embedded(provider, list(TEXTS))
        assert all(map(alike, first, again))
        with self.opened() as other:
            assert all(map(alike, first, embedded(other, TEXTS)))

    @law()
    def test_other_texts_have_other_vectors(self, provider: EmbeddingProvider) -> None:
        """A vector tells texts apart."""
        vectors = embedded(provider, TEXTS)
        assert not any(alike(one, other) for one, other in combinations(vectors, 2))

    @law()
    def test_queries_and_documents_lie_in_one_space(self, provider: EmbeddingProvider) -> None:
        """Both purposes are served, by vectors of one length."""
        (query,) = embedded(provider, TEXTS[:1], "query")
        (document,) = embedded(provider, TEXTS[:1], "document")
        assert len(query) == len(document)
        assert alike(query, embedded(provider, TEXTS, "query")[0])

    @law()
    def test_a_request_may_be_as_large_as_declared(self, provider: EmbeddingProvider) -> None:
        """As many texts as ``limits.items`` says are taken at once, and kept in order."""
        count = min(provider.limits.items or 64, _MOST)
        texts = [f"note {number}" for number in range(count)]
        vectors = embedded(provider, texts)
        for at in {0, count // 2, count - 1}:
            assert alike(vectors[at], embedded(provider, [texts[at]])[0])

    @law()
    def test_an_odd_text_is_embedded_or_refused(self, provider: EmbeddingProvider) -> None:
        """Control characters, lone marks, half a surrogate pair, what looks like syntax.

        Each has a vector or a ``ProviderError``, and those beside it have theirs.
        """
        usual = embedded(provider, TEXTS[:2])
        for odd in _ODD:
            beside = _unless_refused(provider, [TEXTS[0], odd, TEXTS[1]])
            if beside is not None:
                assert alike(beside[0], usual[0]), repr(odd)
                assert alike(beside[2], usual[1]), repr(odd)
        assert all(map(alike, usual, embedded(provider, TEXTS[:2])))

    @law()
    def test_a_text_too_long_is_embedded_or_refused(self, provider: EmbeddingProvider) -> None:
        """What the model cannot read is ``too_large``, or cut by the provider itself.

        The next text is embedded.
        """
        usual = embedded(provider, TEXTS[:1])
        _unless_refused(provider, ["the ant " * 30_000])
        assert alike(usual[0], embedded(provider, TEXTS[:1])[0])

    @law()
    def test_requests_at_once_do_not_meet(self, provider: EmbeddingProvider) -> None:
        """As many threads as ``concurrency`` allows get each their own vectors."""
        if provider.concurrency == 1:
            pytest.skip("the provider takes one request at a time")
        usual = embedded(provider, TEXTS)
        with ThreadPoolExecutor(min(provider.concurrency, 16)) as pool:
            asked = [
                (at % len(TEXTS), pool.submit(embedded, provider, [TEXTS[at % len(TEXTS)]]))
                for at in range(24)
            ]
            assert all(alike(usual[at], one.result()[0]) for at, one in asked)


def _unless_refused(provider: EmbeddingProvider, texts: list[str]) -> list[bytes] | None:
    """The vectors, or ``None`` where the texts are said to be at fault."""
    try:
        return embedded(provider, texts)
    except ProviderError as error:
        if error.kind in {"bad_request", "too_large", "protocol"}:
            return None
        raise
