"""One provider in use: made on first need, watched by circuit breakers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple

from commonplace.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace.embedding.batching import Batching
    from commonplace.embedding.requests import RequestRunner
    from commonplace.errors import CommonplaceError
    from commonplace.model.store import SpaceInfo
    from commonplace.protocols.providers import EmbeddingProvider
    from commonplace.resilience.breaker import BreakerState, CircuitBreaker

__all__ = ["Pace", "ProviderLink", "fingerprint_of", "space_name", "space_of", "told"]

Purpose = Literal["query", "document"]
Heard = Callable[["ProviderError | None"], None]


class Pace(NamedTuple):
    """How hard a provider is driven, at the most.

    ``concurrency`` is of requests at once; ``query_seconds`` are how long a query may take, in
    place of the provider's own.
    """

    concurrency: int = 4
    query_seconds: float | None = None


_USUAL = Pace()


def space_name(fingerprint: str, dims: int) -> str:
    """The space that vectors of a fingerprint and a length share."""
    return f"{fingerprint}#{dims}"


def fingerprint_of(space: str) -> str:
    """The fingerprint in the name of a space."""
    return space.rpartition("#")[0]


def space_of(fingerprint: str, spaces: Sequence[SpaceInfo]) -> SpaceInfo | None:
    """The space of ``fingerprint`` that covers most, if there is one."""
    own = [info for info in spaces if info.space == space_name(fingerprint, info.dims)]
    return max(own, key=lambda info: info.covered, default=None)


class ProviderLink:
    """A provider by its id; ``make`` builds it and must cost neither network nor model load.

    Queries and documents have a breaker each, ``breaker`` and ``indexing``: documents that take
    too long must not keep queries from being answered. ``changed`` is told when the link degrades
    (its id and the reason) and when it works again (its id and ``None``). ``maker`` is what it
    could be made of again, without anything secret.
    """

    def __init__(
        self,
        id_: str,
        make: Callable[[], EmbeddingProvider],
        breaker: CircuitBreaker,
        *,
        indexing: CircuitBreaker | None = None,
        pace: Pace = _USUAL,
        batching: Callable[[EmbeddingProvider, Heard], Batching | None] | None = None,
        changed: Callable[[str, str | None], None] = lambda _id, _reason: None,
        maker: Mapping[str, object] | None = None,
    ) -> None:
        self.id = id_
        self.breaker = breaker
        self.indexing = breaker if indexing is None else indexing
        self.maker = maker
        self._make = make
        self._pace = pace
        self._changed = changed
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
            self._runner = RequestRunner(self.id, self.provider, **self._pace._asdict())
        return self._runner

    def batching(self) -> Batching | None:
        """Its batch jobs, where they are asked for and it has them."""
        if self._batching is None and self._make_batching is not None:
            self._batching = self._make_batching(self.provider, self._heard)
        return self._batching

    @contextmanager
    def watched(self, purpose: Purpose) -> Iterator[None]:
        """Tell the breaker of ``purpose`` how the body ended; only provider errors count.

        Raises :class:`~commonplace.errors.ProviderError` at once while the breaker is open.
        """
        breaker = self._breaker(purpose)
        if not breaker.allow():
            raise ProviderError(
                f"{self.id} is left alone after failing: {breaker.state().reason}",
                provider=self.id,
                kind="unavailable",
            )
        try:
            yield
        except ProviderError as error:
            self._failed(breaker, error)
            raise
        except BaseException:
            # The index was busy, or the caller stopped: that says nothing of the provider.
            breaker.abandoned()
            raise
        self._succeeded(breaker)

    def hurry(self, purpose: Purpose) -> None:
        """Let the next call through: something other may have failed, or somebody insists."""
        self._breaker(purpose).hurry()

    def state(self, purpose: Purpose | None = None) -> BreakerState:
        """The state of one breaker; without ``purpose`` of the first that is not closed."""
        if purpose is not None:
            return self._breaker(purpose).state()
        queries = self.breaker.state()
        return queries if queries.since is not None else self.indexing.state()

    def close(self) -> None:
        """Close the provider if it was made."""
        provider, self._provider, self._runner = self._provider, None, None
        self._batching = None
        if provider is not None:
            provider.close()

    def _heard(self, error: ProviderError | None) -> None:
        """How a call about batch jobs ended: they are documents too."""
        if error is None:
            self._succeeded(self.indexing)
        else:
            self._failed(self.indexing, error)

    def _failed(self, breaker: CircuitBreaker, error: ProviderError) -> None:
        reason = told(error)
        opened = breaker.failed(reason, retry_after=error.retry_after)
        if opened and self._others_closed(breaker):
            self._changed(self.id, reason)

    def _succeeded(self, breaker: CircuitBreaker) -> None:
        recovered = breaker.succeeded()
        if breaker is self.indexing is not self.breaker:
            self.breaker.hurry()  # who embeds documents may well embed queries again
        if recovered and self._others_closed(breaker):
            self._changed(self.id, None)

    def _breaker(self, purpose: Purpose) -> CircuitBreaker:
        return self.breaker if purpose == "query" else self.indexing

    def _others_closed(self, breaker: CircuitBreaker) -> bool:
        return all(
            other is breaker or other.state().state == "closed"
            for other in (self.breaker, self.indexing)
        )


def told(error: CommonplaceError) -> str:
    """The error and how to fix it, on one line and without keys."""
    from commonplace.embedding.redact import redacted

    words = f"{error}. Fix: {error.hint}" if error.hint else str(error)
    return redacted(words)  # it may be kept in a file
