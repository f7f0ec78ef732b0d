"""One provider with several keys: where one is refused, or has no quota, the next one serves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.errors import ProviderError
from commonplace.resilience.retry import PASSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.protocols.providers import EmbeddingProvider, Limits
    from commonplace.resilience.deadline import Deadline

__all__ = ["RotatingProvider"]

_OF_A_KEY = frozenset({"auth", "quota", "rate_limit"})
"""Kinds of error that another key may not meet."""


class RotatingProvider:
    """``providers`` that differ in their keys alone, at least one, behind one face.

    The one that answered last is asked first. Where all are refused, what is raised is an error
    that may pass by itself, if there was one, else the first.
    """

    def __init__(self, providers: Sequence[EmbeddingProvider]) -> None:
        self._providers = tuple(providers)
        self._at = 0

    @property
    def first(self) -> EmbeddingProvider:
        """The one of the first key, whose account batch jobs belong to."""
        return self._providers[0]

    @property
    def model(self) -> str:
        """The same for all."""
        return self.first.model

    @property
    def limits(self) -> Limits:
        """Those that the provider in use has learnt."""
        return self._providers[self._at].limits

    @property
    def concurrency(self) -> int:
        """The same for all."""
        return self.first.concurrency

    def fingerprint(self) -> str:
        """The same for all: keys decide no vector."""
        return self.first.fingerprint()

    def embed(
        self, texts: Sequence[str], *, purpose: Literal["query", "document"], deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """One request, and one more for each key that is refused."""
        refusals: list[ProviderError] = []
        start = self._at
        for step in range(len(self._providers)):
            place = (start + step) % len(self._providers)
            try:
                vectors = self._providers[place].embed(texts, purpose=purpose, deadline=deadline)
            except ProviderError as error:
                if error.kind not in _OF_A_KEY:
                    raise
                refusals.append(error)
                continue
            self._at = place
            return vectors
        raise next((error for error in refusals if error.kind in PASSING), refusals[0])

    def close(self) -> None:
        """Close all."""
        for provider in self._providers:
            provider.close()
