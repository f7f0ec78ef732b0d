"""Protocols of managers, which search a workspace, and of rankers, which order the hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import NotRequired, TypedDict

    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.model.search import Arm, Candidate, Query, Where
    from commonplace.protocols.contexts import ManagerHealth, RankContext
    from commonplace.resilience.deadline import Deadline

    class MaintainOptions(TypedDict):
        """Arguments of :meth:`MemoryManager.maintain` that pass through a chain unchanged."""

        deadline: Deadline
        force: NotRequired[bool]
        at_most: NotRequired[int | None]
        progress: NotRequired[ProgressCallback | None]
        wait: NotRequired[float]


class MemoryManager(Protocol):
    """A whole engine: it can search a workspace and maintain itself."""

    @property
    def capabilities(self) -> frozenset[str]:
        """What it can: ``eager`` if :meth:`maintain` takes the argument of that name.

        ``paths`` for a :class:`PartialManager`, ``look`` for a :class:`LookingManager`.
        """
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
        how many seconds to wait for another writer. ``progress`` raises nothing but interrupts.

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


class PartialManager(MemoryManager, Protocol):
    """Declares ``paths``: it need not compare everything in order to update its index."""

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
        paths: Collection[str] | None = None,
    ) -> SyncReport:
        """As that of any manager; all that may have changed since the last call is at ``paths``.

        They are absolute paths of files or folders, of any source. ``None`` says nothing of what
        has changed. What a call has left undone, for an error or for its deadline, is its own to
        remember, and so is whatever else lets it compare everything.
        """
        ...


class LookingManager(MemoryManager, Protocol):
    """Declares ``look``: it finds what cannot be read before it is to index it."""

    def pending(self, *, look: bool = False) -> SyncReport:
        """As that of any manager; with ``look``, what has changed is opened.

        What cannot be read is in ``unreadable``, as far as half a second shows, and of
        the new documents among it none is counted in ``remaining``.
        """
        ...


class Ranker(Protocol):
    """One step of ranking: a pure function of hits and context.

    ``fuse`` turns the arms' raw scores into one score in 0..1; ``adjust`` changes scores;
    ``select`` changes order or drops. A ranker never invents a hit; it may add those that it asked
    for with ``context.further``. ``needs`` names what it cannot do without (``vectors``,
    ``dates``): where that is missing it is skipped, and hits say so.
    """

    @property
    def id(self) -> str:
        """Stands in explanations."""
        ...

    @property
    def stage(self) -> Literal["fuse", "adjust", "select"]:
        """When it runs."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """What it cannot do without."""
        ...

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> Sequence[Candidate]:
        """New candidates, each with a step added; see :func:`~commonplace.plugin.with_step`."""
        ...
