"""The seam of managers: whole engines that search a workspace and maintain themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.model.search import Arm, Query, Where
    from commonplace.protocols.contexts import ManagerHealth
    from commonplace.resilience.deadline import Deadline

__all__ = ["MemoryManager"]


class MemoryManager(Protocol):
    """A whole engine: it can search a workspace and maintain itself."""

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """Ranked lists of up to ``limit`` chunks each.

        Raises :class:`~commonplace.errors.UnavailableError`,
        :class:`~commonplace.errors.DeclinedError` or a
        :class:`~commonplace.errors.CallerError`. An arm without hits is an answer.
        """
        ...

    def maintain(
        self,
        *,
        force: bool = False,
        at_most: int | None = None,
        embed: bool = True,
        eager: bool = True,
        deadline: Deadline,
        progress: ProgressCallback | None = None,
        wait: float = 30.0,
    ) -> SyncReport:
        """Bring the index up to the files, stopping cleanly at ``deadline``.

        ``force`` makes everything anew. With ``at_most``, nothing is done where more documents
        than that have changed: they are only counted, in ``remaining``, beside ``known``, without
        which the first search makes the index whole; large documents may be left in any case.
        Without ``embed``, nothing is embedded that is not yet. ``eager`` is False where nobody
        asked: documents that grow may then be left until they have grown enough, and are counted
        in ``deferred``. A manager that does not take it is always asked for all. ``wait`` is how
        many seconds to wait for another writer.

        Raises :class:`~commonplace.errors.UnavailableError` where nothing can be written.
        """
        ...

    def pending(self) -> SyncReport:
        """What :meth:`maintain` would find to do, by looking alone; ``remaining`` counts it.

        ``deferred`` counts what it would do only if it is ``eager``.
        """
        ...

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """Condition; never raises for a part that is unwell, but says so."""
        ...

    def close(self) -> None:
        """Let go of everything; closing twice is fine."""
        ...
