"""The protocol of managers: whole engines that search a workspace and maintain themselves."""

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

    @property
    def capabilities(self) -> frozenset[str]:
        """What it can: ``eager`` if :meth:`maintain` takes the argument of that name."""
        ...

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
        """Update the index, stopping cleanly at ``deadline``.

        ``force`` rebuilds it. With ``at_most``, nothing is done where more documents
        than that have changed: they are only counted, in ``remaining``, beside ``known``, without
        which the first search builds the whole index; large documents may be left in any case.
        Without ``embed``, nothing new is embedded. ``eager`` is False in a sync that no caller
        requested: growing documents may then be left until they have grown enough, and are counted
        in ``deferred``. A manager that does not declare ``eager`` is called without it. ``wait`` is
        how many seconds to wait for another writer.

        Raises :class:`~commonplace.errors.UnavailableError` where nothing can be written.
        """
        ...

    def pending(self) -> SyncReport:
        """What :meth:`maintain` would do, without writing; ``remaining`` counts it.

        ``deferred`` counts what it would do only if it is ``eager``.
        """
        ...

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """The condition; a failing part is reported, never raised."""
        ...

    def close(self) -> None:
        """Release all resources; closing twice is fine."""
        ...
