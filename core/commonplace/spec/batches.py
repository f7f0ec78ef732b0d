"""The seam of batch jobs, which an embedding provider may offer besides answering at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace.deadline import Deadline

__all__ = ["BatchJobs", "BatchLimits", "BatchLine", "BatchProvider", "BatchState"]


class BatchLimits(NamedTuple):
    """The most one batch job may hold.

    ``bytes`` is of the file that the lines are written to. ``kept_seconds`` after its beginning
    nothing is left of a job: it is forgotten then.
    """

    lines: int = 50_000
    bytes: int = 100_000_000
    kept_seconds: float = 7 * 86400.0


class BatchState(NamedTuple):
    """A batch job at one moment: ``done`` of ``total`` lines, 0 where that is not told.

    Jobs that are ``expired`` or ``cancelled`` may still hold what was finished by then; one that
    is ``failed`` holds nothing. ``reason`` says why, in the vendor's words and without secrets.
    """

    state: Literal["running", "done", "failed", "expired", "cancelled"]
    reason: str = ""
    done: int = 0
    total: int = 0


class BatchLine(NamedTuple):
    """What became of one text of a batch job: its vector, or the words of an ``error``.

    The words are on one line, and hold no secret.
    """

    custom_id: str
    vector: Sequence[float] | None = None
    error: str = ""


class BatchJobs(Protocol):
    """Embedding documents by jobs that a vendor works off within hours, for less money.

    Each method makes the requests it must and raises
    :class:`~commonplace.errors.ProviderError`; trying again, waiting, and keeping jobs across
    restarts are the host's.
    """

    @property
    def limits(self) -> BatchLimits:
        """The most one job may hold."""
        ...

    def submit(self, name: str, lines: Mapping[str, str], *, deadline: Deadline) -> str:
        """Begin a job for ``lines`` (custom id -> text) and return what it is known by.

        ``name`` is put where :meth:`find` sees it; called again with the same name, what was
        uploaded by then is used again. Status 404, 405 or 501 in the error says that the endpoint
        has no batch jobs.
        """
        ...

    def find(self, name: str, *, deadline: Deadline) -> str | None:
        """The job submitted as ``name``, where its beginning was not answered; ``None`` if none."""
        ...

    def poll(self, job: str, *, deadline: Deadline) -> BatchState:
        """How it stands."""
        ...

    def collect(self, job: str, *, deadline: Deadline) -> Iterator[BatchLine]:
        """What is finished, in any order; ids may be missing."""
        ...

    def cancel(self, job: str, *, deadline: Deadline) -> None:
        """Stop it."""
        ...

    def clean(self, job: str, *, deadline: Deadline) -> None:
        """Delete the files that it left with the vendor; ones that are gone are no error."""
        ...


@runtime_checkable
class BatchProvider(Protocol):
    """What an :class:`EmbeddingProvider` also is if it can work by batch jobs."""

    def batches(self) -> BatchJobs:
        """Its jobs, always the same object; costs no network."""
        ...
