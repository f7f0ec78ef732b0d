"""Laws about what a provider says of itself."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from attrs import evolve

from commonplace.errors import ProviderError
from commonplace.testing.provider.law import (
    TEXTS,
    ProviderLaws,
    alike,
    embedded,
    law,
    watched_network,
)

if TYPE_CHECKING:
    from commonplace.protocols.providers import EmbeddingProvider

__all__ = ["IdentityLaws"]


class IdentityLaws(ProviderLaws):
    """``fingerprint``, ``model``, ``limits`` and ``concurrency``."""

    @law()
    def test_what_it_is_costs_no_network(self, provider: EmbeddingProvider) -> None:
        """All that is asked before a first ``embed`` is answered without a connection."""
        del provider
        with watched_network() as tried, self.opened() as fresh:
            assert fresh.fingerprint()
            assert fresh.model.strip()
            assert fresh.limits is not None
            assert fresh.concurrency
        assert tried == []

    @law()
    def test_the_fingerprint_stays(self, provider: EmbeddingProvider) -> None:
        """One line, the same before and after embedding, and for every provider of its settings."""
        before = provider.fingerprint()
        assert before.strip()
        assert "\n" not in before
        embedded(provider, TEXTS[:1])
        assert provider.fingerprint() == before
        with self.opened() as other:
            assert other.fingerprint() == before

    @law()
    def test_other_vectors_have_another_fingerprint(self, provider: EmbeddingProvider) -> None:
        """Whatever changes vectors changes the fingerprint: the variants are all told apart.

        Vectors of equal fingerprints are compared with each other; a search among vectors of
        another model gives nonsense, and nothing shows it.
        """
        del provider
        with self.all_variants() as variants:
            for (name, one), (other_name, other) in combinations(variants.items(), 2):
                if one.fingerprint() == other.fingerprint():
                    assert _same_vectors(one, other), f"{name} and {other_name} are not told apart"

    @law()
    def test_variants_are_variants(self, provider: EmbeddingProvider) -> None:
        """What this class names as variants does make other vectors, as far as it embeds at all.

        Otherwise the law about fingerprints would look at nothing.
        """
        with self.all_variants() as variants:
            del variants["usual"]
            assert variants
            for name, variant in variants.items():
                assert not _same_vectors(provider, variant), f"{name} changes nothing"

    @law()
    def test_a_length_asked_for_is_given(self, provider: EmbeddingProvider) -> None:
        """Where settings ask for a length of vectors, vectors are of that length or refused."""
        del provider
        with self.all_variants() as variants:
            contexts = {"usual": self.context(), **self.variants()}
            for name, variant in variants.items():
                dims = contexts[name].dims
                if dims is not None:
                    assert len(embedded(variant, TEXTS[:1])[0]) == 4 * dims, name

    @law()
    def test_a_key_is_no_part_of_it(self, provider: EmbeddingProvider) -> None:
        """Neither fingerprint nor ``repr`` hold the key, and with another one they are the same."""
        key = self.context().api_key or ""
        for text in (provider.fingerprint(), repr(provider), provider.model):
            assert not key or key not in text
        other = self.make_provider(evolve(self.context(), api_key=f"other-{key[::-1]}"))
        try:
            assert other.fingerprint() == provider.fingerprint()
        finally:
            other.close()

    @law()
    def test_limits_can_be_kept(self, provider: EmbeddingProvider) -> None:
        """Every limit that is known lets at least one text through; times are above 0."""
        limits = provider.limits
        for most in (limits.items, limits.tokens, limits.bytes, limits.item_tokens):
            assert most is None or most >= 1
        if limits.tokens is not None and limits.item_tokens is not None:
            assert limits.item_tokens <= limits.tokens
        assert limits.query_seconds > 0
        assert limits.request_seconds > 0
        assert provider.concurrency >= 1


def _same_vectors(one: EmbeddingProvider, other: EmbeddingProvider) -> bool:
    try:
        return all(
            all(map(alike, embedded(one, TEXTS, purpose), embedded(other, TEXTS, purpose)))
            for purpose in ("query", "document")
        )
    except ProviderError:
        return False
