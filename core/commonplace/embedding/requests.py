"""Many texts through one provider: packed, at once, halved where too large, retried, checked."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Literal

from attrs import frozen

from commonplace.embedding.packing import cut_to_fit, pack
from commonplace.embedding.retry import RetryPolicy, with_retries
from commonplace.embedding.vectors import checked, dims_of
from commonplace.errors import (
    CallerError,
    DeadlineExceededError,
    ProviderError,
    UnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from commonplace.deadline import Deadline
    from commonplace.spec import EmbeddingProvider

__all__ = ["Embedded", "RequestRunner"]

Purpose = Literal["query", "document"]
_SHORTEST_CUT = 16


@frozen
class Embedded:
    """The vectors of a run of texts: ``indices`` into what was asked, ``cut`` those shortened."""

    indices: tuple[int, ...]
    vectors: tuple[bytes, ...]
    cut: tuple[int, ...] = ()


class RequestRunner:
    """Drives one provider; safe to share between threads. ``requests`` counts what was sent.

    ``query_seconds`` are in place of the provider's own.
    """

    def __init__(
        self,
        name: str,
        provider: EmbeddingProvider,
        *,
        policy: RetryPolicy | None = None,
        concurrency: int = 4,
        query_seconds: float | None = None,
    ) -> None:
        self.name = name
        self.provider = provider
        self.requests = 0
        self._query_seconds = query_seconds
        self._counting = Lock()
        self._policy = policy or RetryPolicy()
        self._concurrency = max(1, min(concurrency, provider.concurrency))

    def one(self, text: str, *, purpose: Purpose, deadline: Deadline) -> bytes:
        """The vector of one text; a query's within ``query_seconds``, all attempts together."""
        if purpose == "query":
            deadline = deadline.sooner(self._seconds("query"))
        return self._run((0,), [text], purpose, None, deadline).vectors[0]

    def many(
        self, texts: Sequence[str], *, dims: int | None, deadline: Deadline
    ) -> Iterator[Embedded]:
        """The vectors of documents, request by request as each finishes, in any order.

        Several requests run at once. ``dims`` is how long vectors must be, if that is known; if
        not, the first to come back decide. After an error no new request begins; those under way
        are waited for and given, then it is raised.
        """
        from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

        runs = self._packed(texts)
        failure: BaseException | None = None
        with ThreadPoolExecutor(self._concurrency, thread_name_prefix="embed") as pool:
            under_way: set[Future[Embedded]] = set()
            try:
                while True:
                    while failure is None and len(under_way) < self._concurrency:
                        run = next(runs, None)
                        if run is None:
                            break
                        held = [texts[index] for index in run]
                        under_way.add(
                            pool.submit(self._run, tuple(run), held, "document", dims, deadline)
                        )
                    if not under_way:
                        break
                    done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in done:
                        error = future.exception() or self._strange(future.result(), dims)
                        if error is not None:
                            failure = failure or error
                            continue
                        dims = dims or dims_of(future.result().vectors[0])
                        yield future.result()
            finally:
                for future in under_way:
                    future.cancel()
        if failure is not None:
            raise failure

    def _packed(self, texts: Sequence[str]) -> Iterator[range]:
        """Runs of indices; a provider that learns its limits changes them on the way."""
        begin = 0
        while begin < len(texts):
            limits = self.provider.limits
            for run in pack(texts[begin:], limits):
                yield range(begin + run.start, begin + run.stop)
                end = begin + run.stop
                if self.provider.limits != limits:
                    break
            begin = end

    def _strange(self, result: Embedded, dims: int | None) -> ProviderError | None:
        """What is wrong where requests that ran at once, or halves of one, differ in length."""
        lengths = {dims_of(vector) for vector in result.vectors} | ({dims} if dims else set())
        if len(lengths) == 1:
            return None
        words = " and of ".join(str(length) for length in sorted(lengths))
        return ProviderError(
            f"{self.name}: vectors of {words} dimensions came back",
            provider=self.name,
            kind="protocol",
        )

    def _run(
        self,
        indices: tuple[int, ...],
        texts: Sequence[str],
        purpose: Purpose,
        dims: int | None,
        deadline: Deadline,
    ) -> Embedded:
        """One request; in halves, down to one text and then a shorter one, if it is too large."""
        limits = self.provider.limits
        sent = [cut_to_fit(text, limits) for text in texts]
        cut = tuple(i for i, text, whole in zip(indices, sent, texts, strict=True) if text != whole)
        try:
            vectors = self._send(sent, purpose, dims, deadline)
        except ProviderError as error:
            if error.kind != "too_large":
                raise
            if len(texts) > 1:
                middle = len(texts) // 2
                first = self._run(indices[:middle], texts[:middle], purpose, dims, deadline)
                second = self._run(indices[middle:], texts[middle:], purpose, dims, deadline)
                return Embedded(
                    first.indices + second.indices,
                    first.vectors + second.vectors,
                    first.cut + second.cut,
                )
            if len(sent[0]) <= _SHORTEST_CUT:
                raise
            shorter = sent[0].lstrip()[: len(sent[0]) // 2]
            half = self._run(indices, [shorter], purpose, dims, deadline)
            return Embedded(indices, half.vectors, indices)
        return Embedded(indices, tuple(vectors), cut)

    def _send(
        self, texts: list[str], purpose: Purpose, dims: int | None, deadline: Deadline
    ) -> list[bytes]:
        def call() -> list[bytes]:
            with self._counting:
                self.requests += 1
            vectors = self._asked(texts, purpose, deadline.sooner(self._seconds(purpose)))
            try:
                return checked(vectors, count=len(texts), dims=dims, provider=self.name)
            except (TypeError, ValueError, OverflowError) as error:
                raise ProviderError(
                    f"{self.name}: what came back are no vectors of numbers",
                    provider=self.name,
                    kind="protocol",
                ) from error

        try:
            return with_retries(call, self._policy, deadline=deadline)
        except DeadlineExceededError as error:
            raise ProviderError(str(error), provider=self.name, kind="timeout") from error

    def _seconds(self, purpose: Purpose) -> float:
        limits = self.provider.limits
        if purpose == "document":
            return limits.request_seconds
        return limits.query_seconds if self._query_seconds is None else self._query_seconds

    def _asked(
        self, texts: list[str], purpose: Purpose, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """What the provider gives; whatever goes wrong inside it is an error of the provider's."""
        try:
            return self.provider.embed(texts, purpose=purpose, deadline=deadline)
        except (CallerError, ProviderError, DeadlineExceededError):
            raise
        except UnavailableError as error:
            raise ProviderError(
                str(error), provider=self.name, kind="unavailable", mend=error.mend
            ) from error
        except Exception as error:
            # Its words are left out: nobody has looked through them for keys.
            raise ProviderError(
                f"{self.name}: the provider itself failed with {type(error).__name__}",
                provider=self.name,
                kind="protocol",
            ) from error
