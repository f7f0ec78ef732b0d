"""One provider in use: what its plugin says is checked, and its failures are counted."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

from commonplace.errors import (
    CommonplaceError,
    DeadlineExceededError,
    PluginUnavailableError,
    ProviderError,
    UnavailableError,
)
from commonplace.resilience.bounded_call import Worker, failure_of
from commonplace.resilience.deadline import FAIR_SECONDS, NEVER, Deadline, GuardedCaller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commonplace.embedding.batch.jobs import Batching
    from commonplace.embedding.consent import UploadGate
    from commonplace.embedding.requests import RequestRunner
    from commonplace.protocols.providers import (
        BatchJobs,
        BatchProvider,
        EmbeddingProvider,
        Limits,
        Purpose,
    )
    from commonplace.resilience.breaker import BreakerState, CircuitBreaker

    Heard = Callable[[ProviderError | None], None]


T = TypeVar("T")


FACT_SECONDS = 2.0
"""How long a third party's provider may take to say something of itself."""


class CheckedProvider:
    """``provider``, whose plugin may say anything of itself; ``label`` names it in messages.

    Everything but :meth:`embed` raises :class:`~commonplace.errors.PluginUnavailableError` where
    the plugin raises or gives what it must not; ``part`` names it where that fails. Unless
    ``trusted``, a request that does not keep its deadline is given up, and so is what takes more
    than 2 s to be said. ``install`` says how to get the library that an error finds missing, or
    ``""``.
    """

    def __init__(
        self,
        provider: EmbeddingProvider,
        label: str,
        *,
        trusted: bool,
        install: Callable[[ModuleNotFoundError], str] = lambda _: "",
        secrets: tuple[str, ...] = (),
    ) -> None:
        self.provider = provider
        self.secrets = secrets
        self._label = label
        self.part = "the provider itself" if trusted else label
        self._install = install
        self._worker = None if trusted else Worker(label)
        # Apart: one that hangs is refused at once the next time, and not waited for again.
        self._facts = None if trusted else Worker(label, patient=False)
        self.capabilities: frozenset[str] = self._of("capabilities", _are_texts)
        self._model: str = self._of("model", _is_text)
        self.fingerprint_or_reason()
        self.limits, self.concurrency  # noqa: B018 - refused now, before the first search

    @property
    def model(self) -> str:
        """The model as it is shown; as it was last known where the plugin fails."""
        with suppress(CommonplaceError):
            self._model = self._of("model", _is_text)
        return self._model

    @property
    def limits(self) -> Limits:
        """See :class:`~commonplace.plugin.EmbeddingProvider`."""
        limits: Limits = self._of("limits", _are_limits)
        return limits

    @property
    def concurrency(self) -> int:
        """See :class:`~commonplace.plugin.EmbeddingProvider`."""
        concurrency: int = self._of("concurrency", _is_count)
        return concurrency

    @property
    def host(self) -> str:
        """See :class:`~commonplace.plugin.RemoteProvider`."""
        host: str = self._of("host", lambda host: type(host) is str)  # "": this machine
        return host

    def fingerprint(self) -> str:
        """See :class:`~commonplace.plugin.EmbeddingProvider`; its own errors pass."""
        return self._checked("fingerprint", self.provider.fingerprint, _is_text)

    def fingerprint_or_reason(self) -> str:
        """The fingerprint, or in words of the provider's own why it has none yet."""
        try:
            return self.fingerprint()
        except PluginUnavailableError:
            raise
        except UnavailableError as error:
            return str(error)

    def batches(self) -> BatchJobs:
        """See :class:`~commonplace.plugin.BatchProvider`."""
        batches = cast("BatchProvider", self.provider).batches
        return self._checked("batch jobs", batches, lambda jobs: jobs is not None)

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """See :class:`~commonplace.plugin.EmbeddingProvider`."""

        def work() -> Sequence[Sequence[float]]:
            try:
                return self.provider.embed(texts, purpose=purpose, deadline=deadline)
            except ModuleNotFoundError as error:
                raise ProviderError(
                    f"{self._label} failed: No module named {error.name!r}",
                    provider=self._label,
                    kind="protocol",
                    hint=self._install(error),
                ) from error

        return work() if self._worker is None else self._worker.run(work, deadline)

    def close(self) -> None:
        """Close the provider; what it raises is logged."""
        try:
            self.provider.close()
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own failure
            from commonplace.host.failures import logger

            failure_of(error)
            logger().warning("%s could not be closed: %s", self._label, type(error).__name__)

    def _of(self, name: str, right: Callable[[Any], bool]) -> Any:
        return self._checked(name, lambda: getattr(self.provider, name), right)

    def _checked(self, what: str, ask: Callable[[], T], right: Callable[[T], bool]) -> T:
        try:
            if self._facts is None:
                value = ask()
            else:
                value = self._facts.run(ask, Deadline.after(FACT_SECONDS))
        except DeadlineExceededError as error:
            words = f"{self._label} failed: its {what} took more than {FACT_SECONDS:g} s"
            raise PluginUnavailableError(words) from error
        except CommonplaceError:
            raise
        except ModuleNotFoundError as error:
            words = f"{self._label} failed: its {what} needs a module named {error.name!r}"
            raise PluginUnavailableError(words, hint=self._install(error)) from error
        except BaseException as error:
            from commonplace.embedding.http.errors import SEE_TRACEBACK, show_traceback

            show_traceback(error, self.secrets)
            # Without its message, which may hold a key.
            words = f"{self._label} failed: its {what} raised {type(error).__name__}"
            raise PluginUnavailableError(words, hint=SEE_TRACEBACK) from error
        fits = False
        with suppress(Exception):  # of another shape altogether
            fits = right(value)
        if not fits:
            words = f"{self._label} failed: its {what} cannot be {str(value)[:60]!r}"
            raise PluginUnavailableError(words, hint="its plugin has a fault: report it there")
        return value


def _is_text(value: object) -> bool:
    return type(value) is str and bool(value)


def _are_texts(value: Any) -> bool:
    return all(type(text) is str for text in value) and not isinstance(value, str)


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def _are_limits(limits: Any) -> bool:
    counts = limits.items, limits.tokens, limits.bytes, limits.item_tokens
    seconds = limits.query_seconds, limits.request_seconds, limits.wait_seconds
    return all(count is None or _is_count(count) for count in counts) and all(
        type(number) in {int, float} and number > 0 for number in seconds
    )


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
        self._changed = changed
        self._mismatched = False
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

    def query(self, text: str, *, deadline: Deadline, pauses: Deadline | None = None) -> bytes:
        """The vector of a query, counted like :meth:`guarded`; empty for one of length zero.

        That is no failure: the text means nothing to the model. Attempts that could only begin
        after ``pauses`` are not made.
        """
        from commonplace.embedding.vectors import ZeroVectorError

        with self.guarded("query"):
            try:
                return self.runner().one(text, purpose="query", deadline=deadline, pauses=pauses)
            except ZeroVectorError:
                return b""

    def waited(self, ask: Callable[[Deadline, Deadline], T], deadline: Deadline) -> T:
        """What ``ask`` returns for a query, in the time that a search may wait for it.

        ``ask`` gets the request's own deadline, and that of waits before another attempt. The gate
        is asked first, and raises where nothing may be sent.
        Where the request may take longer, it goes on in its thread, and may count a success later.
        Where it fails, and another attempt would come too late, that failure is raised at once.
        Raises :class:`~commonplace.errors.ProviderError`; it counts unless little time was given.
        """
        if self.gate is not None:
            self.gate.check(1, query=True)
        own, limits = self._query_seconds, self.provider.limits
        seconds = limits.wait_seconds if own is None else own
        allowed = min(seconds, deadline.remaining())
        if allowed >= (limits.query_seconds if own is None else own):
            return ask(deadline, deadline)
        patience = deadline.sooner(seconds)
        try:
            return self._worker.run(lambda: ask(NEVER, patience), patience)
        except DeadlineExceededError:
            error = ProviderError(
                f"{self.id}: no answer came within {allowed:.2g} s",
                provider=self.id,
                kind="timeout",
                hint="query.embeddingSeconds is how long a search waits"
                if allowed >= seconds
                else "a longer timeout of the search leaves more time",
            )
            if allowed >= min(seconds, FAIR_SECONDS):
                self._caller.failed("query", error)
            raise error from None

    def compared(self, mismatch: str) -> None:
        """Report a vector that cannot be compared with those of the index; ``""``: one that can.

        It is no failure to leave the provider alone for, which may serve other indexes.
        """
        if bool(mismatch) != self._mismatched:
            self._mismatched = bool(mismatch)
            self._changed(self.id, mismatch or None)

    @property
    def refusal(self) -> str:
        """Why the user lets nothing be sent to it, where that is settled; else ``""``."""
        return self.gate.refusal if self.gate is not None else ""

    def retry_now(self, purpose: Purpose) -> None:
        """Let the next call through, whatever the breaker of ``purpose`` has counted."""
        self._caller.let_through(purpose)

    def answered(self, purpose: Purpose) -> None:
        """Count an answer to a request that was made past the breaker."""
        self._caller.succeeded(purpose)

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
        if purpose == "document" and self.state("query").since is not None:
            self._caller.succeeded("query")  # what was wrong with queries is over


def _reason(error: CommonplaceError) -> str:
    from commonplace.embedding.http.errors import describe

    return describe(error)
