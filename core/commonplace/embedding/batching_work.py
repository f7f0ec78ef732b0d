"""What is asked of batch jobs, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.model.reports import ProgressCallback
    from commonplace.protocols.providers import Limits
    from commonplace.resilience.deadline import Deadline

__all__ = ["BatchOutcome", "Work"]


@frozen
class Work:
    """What shall be embedded: ``texts`` by id, of the form and provider that ``key`` names.

    ``dims`` is how long vectors must be, if that is known; ``limits`` are of one text. ``keep``
    takes checked vectors by id, also of ids that are not in ``texts``: a job of another agent.
    """

    texts: Mapping[str, str]
    key: str
    limits: Limits
    dims: int | None
    keep: Callable[[Mapping[str, bytes]], None]
    deadline: Deadline
    progress: ProgressCallback | None = None


class BatchOutcome(NamedTuple):
    """``plain`` are the ids to be embedded at once; ``pending`` texts are left to a later run.

    Of what was sent, ``cut`` texts were too long; ``begun`` jobs are new. ``note`` says on one
    line what went wrong, or waits.
    """

    plain: tuple[str, ...]
    pending: int = 0
    begun: int = 0
    cut: int = 0
    note: str = ""
