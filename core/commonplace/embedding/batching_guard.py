"""Batch jobs of a provider that may be anybody's: whatever goes wrong inside is its error."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.errors import CallerError, ProviderError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from commonplace.protocols.providers import BatchJobs, BatchLimits, BatchLine, BatchState
    from commonplace.resilience.deadline import Deadline

__all__ = ["GuardedJobs"]


class GuardedJobs:
    """``jobs`` of ``provider``, which raise :class:`~commonplace.errors.ProviderError` alone."""

    def __init__(self, provider: str, jobs: BatchJobs) -> None:
        self._provider = provider
        self._jobs = jobs

    @property
    def limits(self) -> BatchLimits:
        """As they are."""
        return self._jobs.limits

    def submit(self, name: str, lines: Mapping[str, str], *, deadline: Deadline) -> str:
        """Guarded, as are all that follow."""
        with self._guarded():
            return self._jobs.submit(name, lines, deadline=deadline)

    def find(self, name: str, *, deadline: Deadline) -> str | None:
        """Guarded."""
        with self._guarded():
            return self._jobs.find(name, deadline=deadline)

    def poll(self, job: str, *, deadline: Deadline) -> BatchState:
        """Guarded."""
        with self._guarded():
            return self._jobs.poll(job, deadline=deadline)

    def collect(self, job: str, *, deadline: Deadline) -> Iterator[BatchLine]:
        """Guarded; what is done with a line is not."""
        with self._guarded():
            lines = iter(self._jobs.collect(job, deadline=deadline))
        while True:
            with self._guarded():
                line = next(lines, None)
            if line is None:
                return
            yield line

    def cancel(self, job: str, *, deadline: Deadline) -> None:
        """Guarded."""
        with self._guarded():
            self._jobs.cancel(job, deadline=deadline)

    def clean(self, job: str, *, deadline: Deadline) -> None:
        """Guarded."""
        with self._guarded():
            self._jobs.clean(job, deadline=deadline)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (CallerError, ProviderError):
            raise
        except UnavailableError as error:
            raise ProviderError(
                str(error), provider=self._provider, kind="unavailable", hint=error.hint
            ) from error
        except Exception as error:
            # Its words are left out: nobody has looked through them for keys.
            raise ProviderError(
                f"{self._provider}: its batch jobs failed with {type(error).__name__}",
                provider=self._provider,
                kind="protocol",
            ) from error
