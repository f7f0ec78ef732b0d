"""One provider in use, with a circuit breaker for queries and one for documents."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from commonplace.errors import DeadlineExceededError, ProviderError
from commonplace.resilience.bounded_call import Worker
from commonplace.resilience.deadline import NEVER
from commonplace.resilience.guarded_call import FAIR_SECONDS, GuardedCaller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from commonplace.embedding.batch.jobs import Batching
    from commonplace.embedding.consent import UploadGate
    from commonplace.embedding.requests import RequestRunner
    from commonplace.errors import CommonplaceError
    from commonplace.protocols.providers import EmbeddingProvider, Purpose
    from commonplace.resilience.breaker import BreakerState, CircuitBreaker
    from commonplace.resilience.deadline import Deadline

    Heard = Callable[[ProviderError | None], None]


T = TypeVar("T")


class GuardedProvider:
    """``provider`` by its id.

    ``breaker`` is for queries and ``indexing`` for documents: documents that take too long must not
    stop queries. At most ``concurrency`` requests run at once; ``query_seconds`` replace the
    provider's own limits for a query. ``batching`` makes its batch jobs, if there are any.
    ``changed`` gets the id and the reason when the provider begins to fail, and the id and ``None``
    when it works again. ``settings`` is what it could be built from again, without secrets.
    ``gate`` stands before what it sends to another machine.
    """

    def __init__(  # noqa: PLR0913 - the settings of one provider
        self,
        id_: str,
        provider: EmbeddingProvider,
        breaker: CircuitBreaker,
        *,
        indexing: CircuitBreaker | None = None,
        concurrency: int = 4,
        query_seconds: float | None = None,
        batching: Callable[[Heard], Batching] | None = None,
        changed: Callable[[str, str | None], None] = lambda _id, _reason: None,
        settings: Mapping[str, object] | None = None,
        worker: Worker | None = None,
        gate: UploadGate | None = None,
    ) -> None:
        self.id = id_
        self.gate = gate
        self.provider = provider
        self.settings = settings
        self._breakers = {"query": breaker, "document": indexing or breaker}
        self._caller = GuardedCaller(
            id_, self._breakers, counts=ProviderError, reason=_reason, changed=changed
        )
        self._concurrency = concurrency
        self._query_seconds = query_seconds
        self._worker = worker or Worker(id_)
        self._runner: RequestRunner | None = None
        self._make_batching = batching
        self._batching: Batching | None = None

    @property
    def model(self) -> str:
        """The provider's model."""
        return self.provider.model

    def fingerprint(self) -> str:
        """See :meth:`EmbeddingProvider.fingerprint`."""
        return self.provider.fingerprint()

    @property
    def requests(self) -> int:
        """How many requests were sent so far, retries included."""
        return self._runner.requests if self._runner is not None else 0

    def runner(self) -> RequestRunner:
        """The runner of its requests. Imported here: a cached query vector needs none of it."""
        from commonplace.embedding.requests import RequestRunner

        if self._runner is None:
            self._runner = RequestRunner(
                self.id,
                self.provider,
                concurrency=self._concurrency,
                query_seconds=self._query_seconds,
            )
        return self._runner

    def batching(self) -> Batching | None:
        """Its batch jobs, if they are enabled and it has them."""
        if self._batching is None and self._make_batching is not None:
            self._batching = self._make_batching(self._heard)
        return self._batching

    @contextmanager
    def guarded(self, purpose: Purpose) -> Iterator[None]:
        """Count how the body ends at the breaker of ``purpose``; only provider errors are failures.

        Raises :class:`~commonplace.errors.ProviderError` at once while the breaker is open.
        """
        if not self._caller.allows(purpose):
            raise ProviderError(
                f"{self.id} is left alone after failing: {self.state(purpose).reason}",
                provider=self.id,
                kind="unavailable",
            )
        with self._caller.counted(purpose):
            yield
        self._succeeded(purpose)

    def waited(self, ask: Callable[[Deadline], T], deadline: Deadline) -> T:
        """What ``ask`` returns for a query, in the time that a search may wait for it.

        Where the request may take longer, it goes on in its thread, and may count a success later.
        Raises :class:`~commonplace.errors.ProviderError`; it counts unless little time was given.
        """
        own, limits = self._query_seconds, self.provider.limits
        seconds = limits.wait_seconds if own is None else own
        given = min(seconds, deadline.remaining())
        if given >= (limits.query_seconds if own is None else own):
            return ask(deadline)
        try:
            return self._worker.run(lambda: ask(NEVER), deadline.sooner(seconds))
        except DeadlineExceededError:
            error = ProviderError(
                f"{self.id}: no answer came within {given:.2g} s",
                provider=self.id,
                kind="timeout",
                hint="query.embeddingSeconds is how long a search waits",
            )
            if given >= min(seconds, FAIR_SECONDS):
                self._caller.failed("query", error)
            raise error from None

    @property
    def refusal(self) -> str:
        """Why the user lets nothing be sent to it, where that is settled; else ``""``."""
        return self.gate.refusal if self.gate is not None else ""

    def retry_now(self, purpose: Purpose) -> None:
        """Let the next call through, whatever the breaker of ``purpose`` has counted."""
        self._caller.let_through(purpose)

    def state(self, purpose: Purpose | None = None) -> BreakerState:
        """The state of one breaker; without ``purpose`` of the first that is not closed."""
        if purpose is not None:
            return self._breakers[purpose].state()
        queries = self.state("query")
        return queries if queries.since is not None else self.state("document")

    def close(self) -> None:
        """Close the provider; closing twice is fine."""
        self.provider.close()

    def _heard(self, error: ProviderError | None) -> None:
        """Count how a request for batch jobs ended: they embed documents too."""
        if error is None:
            self._caller.succeeded("document")
            self._succeeded("document")
        else:
            self._caller.failed("document", error)

    def _succeeded(self, purpose: Purpose) -> None:
        if purpose == "document" and self._breakers["document"] is not self._breakers["query"]:
            self.retry_now("query")  # a provider that embeds documents may well embed queries again


def _reason(error: CommonplaceError) -> str:
    from commonplace.embedding.http.errors import describe

    return describe(error)
