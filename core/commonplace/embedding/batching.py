"""Whether a provider's batch jobs are used, and what is known of them over a process's life."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from attrs import frozen

from commonplace.embedding.batching_guard import GuardedJobs
from commonplace.embedding.batching_jobs import JobStore, Taken
from commonplace.embedding.batching_run import BatchRun
from commonplace.embedding.batching_work import BatchOutcome, Work
from commonplace.errors import ProviderError, UnavailableError
from commonplace.resilience.retry import RetryPolicy, with_retries

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.search import BatchSettings
    from commonplace.protocols.providers import BatchJobs
    from commonplace.resilience.deadline import Deadline

__all__ = ["WORTH", "BatchOutcome", "Batching", "Clocks", "Work"]

WORTH = 100
"""Texts; for so few, an answer at once is worth more than half of their price."""

_LIMIT = 2  # failures
_OF_THE_PROVIDER = frozenset({"auth", "unavailable", "timeout"})
"""Kinds of error that say something of the provider, and not only of its jobs and their quota."""

T = TypeVar("T")


@frozen
class Clocks:
    """Time, which tests bring along: ``monotonic`` and epoch seconds, and a sleep."""

    monotonic: Callable[[], float] = time.monotonic
    epoch: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


class Batching:
    """One provider's batch jobs.

    A failure counts 1, and a time-out 2, for it was tried twice; what succeeds begins the count
    anew. From 2 on they are off while the process lives, and so they are at once where the endpoint
    has none. Whatever jobs do not give is handed back, to be embedded at once. ``heard`` is told of
    every call's end: with an error where the provider itself seems to be ill, else ``None``.
    """

    def __init__(
        self,
        provider: str,
        jobs: BatchJobs,
        settings: BatchSettings,
        store: JobStore,
        *,
        clocks: Clocks | None = None,
        policy: RetryPolicy | None = None,
        heard: Callable[[ProviderError | None], None] = lambda _: None,
    ) -> None:
        self.provider = provider
        self.jobs = GuardedJobs(provider, jobs)
        self.settings = settings
        self.store = store
        self.clocks = clocks or Clocks()
        self.policy = policy or RetryPolicy(sleep=self.clocks.sleep)
        self.failures = 0
        self.off = ""
        self._heard = heard

    def run(self, work: Work) -> BatchOutcome:
        """Get vectors for ``work``: from jobs under way, and for many texts from new ones.

        Everything is handed to ``work.keep`` as soon as it is there. Raises what that raises; what
        goes wrong with jobs is in the outcome's note.
        """
        if self.off:
            return BatchOutcome(plain=tuple(work.texts), note=self.off)
        if len(work.texts) <= WORTH and not self.store.load():
            return BatchOutcome(plain=tuple(work.texts))
        try:
            lease = self.store.lease()
        except Taken:
            return self._without_lease(work)
        except UnavailableError as error:
            self.switch_off(str(error))
            return BatchOutcome(plain=tuple(work.texts), note=self.off)
        with lease:
            return BatchRun(self, work, worth=WORTH).run()

    def call(self, call: Callable[[Deadline], T], *, within: float, deadline: Deadline) -> T:
        """What ``call`` gives, tried again where that may help, each time ``within`` seconds."""
        try:
            result = with_retries(
                lambda: call(deadline.sooner(within)), self.policy, deadline=deadline
            )
        except ProviderError as error:
            if error.kind in _OF_THE_PROVIDER and not deadline.expired:
                self._heard(error)
            raise
        self._heard(None)
        return result

    def notices(self, key: str) -> list[str]:
        """A line on the jobs of ``key`` under way, and one if there will be no more."""
        held = [record for record in self.store.load() if record.key == key]
        words = [self.off] if self.off else []
        if held:
            texts = sum(len(record.ids) for record in held)
            jobs = "a batch job" if len(held) == 1 else f"{len(held)} batch jobs"
            words.append(f"{texts} texts wait for {jobs} of {self.provider}")
        return words

    def failed(self, reason: str, *, times: int = 1) -> None:
        """Count a failure."""
        self.failures += times
        if self.failures >= _LIMIT:
            self.switch_off(f"{self.failures} failures, the last: {reason}")

    def succeeded(self) -> None:
        """Begin the count anew."""
        self.failures = 0

    def switch_off(self, reason: str) -> None:
        """Use them no more, and say why."""
        self.off = f"batch jobs are off for now: {reason}"

    def _without_lease(self, work: Work) -> BatchOutcome:
        """What another process has under way is left to it."""
        held = {id_ for record in self.store.load() if record.key == work.key for id_ in record.ids}
        plain = tuple(id_ for id_ in work.texts if id_ not in held)
        return BatchOutcome(
            plain=plain,
            pending=len(work.texts) - len(plain),
            note="another process works with the batch jobs",
        )
