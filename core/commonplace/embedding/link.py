"""One provider in use: made on first need, watched by a circuit breaker."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.errors import ProviderError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonplace.breaker import BreakerState, CircuitBreaker
    from commonplace.embedding.batching import Batching
    from commonplace.embedding.requests import RequestRunner
    from commonplace.model.store import SpaceInfo
    from commonplace.spec import EmbeddingProvider

__all__ = ["ProviderLink", "space_name", "space_of"]


def space_name(fingerprint: str, dims: int) -> str:
    """The space that vectors of a fingerprint and a length share."""
    return f"{fingerprint}#{dims}"


def space_of(fingerprint: str, spaces: Sequence[SpaceInfo]) -> SpaceInfo | None:
    """The space of ``fingerprint`` that covers most, if there is one."""
    own = [info for info in spaces if info.space == space_name(fingerprint, info.dims)]
    return max(own, key=lambda info: info.covered, default=None)


class ProviderLink:
    """A provider by its id; ``make`` builds it and must cost neither network nor model load."""

    def __init__(
        self,
        id_: str,
        make: Callable[[], EmbeddingProvider],
        breaker: CircuitBreaker,
        *,
        concurrency: int = 4,
        batching: Callable[[EmbeddingProvider], Batching | None] | None = None,
    ) -> None:
        self.id = id_
        self.breaker = breaker
        self._make = make
        self._concurrency = concurrency
        self._provider: EmbeddingProvider | None = None
        self._runner: RequestRunner | None = None
        self._make_batching = batching
        self._batching: Batching | None = None

    @property
    def provider(self) -> EmbeddingProvider:
        """The provider; raises :class:`~commonplace.errors.UnavailableError` if it cannot be."""
        if self._provider is None:
            self._provider = self._make()
        return self._provider

    @property
    def model(self) -> str:
        """The model that answers."""
        return self.provider.model

    def fingerprint(self) -> str:
        """See :meth:`EmbeddingProvider.fingerprint`."""
        return self.provider.fingerprint()

    @property
    def requests(self) -> int:
        """How many requests were sent so far, retries included."""
        return self._runner.requests if self._runner is not None else 0

    def runner(self) -> RequestRunner:
        """What drives it. Imported here: a cached query vector needs none of it."""
        from commonplace.embedding.requests import RequestRunner

        if self._runner is None:
            self._runner = RequestRunner(self.id, self.provider, concurrency=self._concurrency)
        return self._runner

    def batching(self) -> Batching | None:
        """Its batch jobs, where they are asked for and it has them."""
        if self._batching is None and self._make_batching is not None:
            self._batching = self._make_batching(self.provider)
        return self._batching

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Tell the breaker how the body ended.

        Raises :class:`~commonplace.errors.ProviderError` at once while the breaker is open.
        """
        if not self.breaker.allow():
            state = self.breaker.state()
            raise ProviderError(
                f"{self.id} is left alone after failing: {state.reason}",
                provider=self.id,
                kind="unavailable",
            )
        try:
            yield
        except UnavailableError as error:
            self.breaker.failed(str(error), retry_after=getattr(error, "retry_after", None))
            raise
        except BaseException:
            self.breaker.abandoned()
            raise
        self.breaker.succeeded()

    def state(self) -> BreakerState:
        """The breaker's state."""
        return self.breaker.state()

    def close(self) -> None:
        """Close the provider if it was made."""
        provider, self._provider, self._runner = self._provider, None, None
        self._batching = None
        if provider is not None:
            provider.close()
