"""The manager of a chain: engines that stand in for one another, as one."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from commonplace.errors import CommonplaceError, DeclinedError, UnavailableError, reason_of
from commonplace.fallback.turn import Turn
from commonplace.index.syncing import maintain_unasked
from commonplace.model.reports import LinkState
from commonplace.model.tuples import NamedTuple
from commonplace.protocols.contexts import ManagerHealth
from commonplace.resilience.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.fallback.link import Link
    from commonplace.fallback.turn import Freshen
    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.model.search import Arm, Query, Where
    from commonplace.protocols.managers import MemoryManager

__all__ = ["FallbackMemoryManager", "Standby", "Survey"]

Standby = Literal["lazy", "warm"]
"""When a link that stands by is kept up to the files: only once it serves, or always."""

_LINK_SECONDS = 10.0


class Survey(NamedTuple):
    """How every link stands, who serves (``None``: nobody can), and that one's health."""

    states: tuple[LinkState, ...]
    health: ManagerHealth
    serving: Link | None


class FallbackMemoryManager:
    """A :class:`~commonplace.plugin.MemoryManager` over a chain of links, best first.

    Search goes along the chain; maintenance does not: each link is maintained by its role. Three
    outcomes of a link are told apart. *Unavailable* counts against it, and the next is asked.
    *Declined* counts nothing, and the next is asked. An error of the caller ends the search. An
    empty list from a healthy link is an answer.

    ``permits`` are asked before any link, whichever answers. While another may answer, a link has
    ``link_seconds`` at most.
    """

    def __init__(
        self,
        links: Sequence[Link],
        *,
        permits: Sequence[Callable[[Query], None]] = (),
        standby: Standby = "lazy",
        embed_standby: bool = False,
        link_seconds: float = _LINK_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not links:
            raise ValueError("a chain has at least one link")
        self.links = tuple(links)
        self._permits = tuple(permits)
        self._standby = standby
        self._embed_standby = embed_standby
        self._link_seconds = link_seconds
        self._clock = clock

    def turn(
        self, freshen: Freshen | None = None, progress: ProgressCallback | None = None
    ) -> Turn:
        """A search about to be made, with ``freshen`` to bring each link it asks up to the files.

        ``progress`` is told of what ``freshen`` does, until the search has been answered.
        """
        return Turn(
            self.links,
            permits=self._permits,
            freshen=freshen,
            progress=progress,
            link_seconds=self._link_seconds,
            clock=self._clock,
        )

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """The arms of the first link that can answer; see :meth:`Turn.search`."""
        return self.turn().search(query, where=where, limit=limit, deadline=deadline)

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
        """Maintain the link that serves, and those that stand by as their role asks.

        The report is of the link that serves; what could not be maintained before it is in its
        ``notices``. Raises the first link's error where none could be.
        """
        report: SyncReport | None = None
        failed: list[tuple[Link, CommonplaceError]] = []
        upkeep = partial(
            _maintained,
            force=force,
            at_most=at_most,
            eager=eager,
            deadline=deadline,
            progress=progress,
            wait=wait,
        )
        settled = False  # a link was maintained that also answers searches
        for link in self.links:
            if settled and self._standby == "lazy":
                continue
            vectors = embed and (self._embed_standby or not settled)
            try:
                done = link.call("upkeep", partial(upkeep, embed=vectors), deadline)
            except (UnavailableError, DeclinedError) as error:
                failed.append((link, error))
                continue
            report = report or done
            settled = settled or link.trouble("search") is None
            link.hurry("search")  # what has just been made anew may be all that it failed at
        if report is None:
            raise failed[0][1]
        words = tuple(
            f"{link.id} was not brought up to the files: {reason_of(error)}"
            for link, error in failed
        )
        return report._replace(notices=(*report.notices, *words))

    def pending(self) -> SyncReport:
        """What maintaining the link that serves would find to do."""
        return self.pending_of(self.survey().serving or self.links[0])

    def pending_of(self, link: Link) -> SyncReport:
        """What maintaining ``link`` would find to do; nothing is counted for or against it."""
        return link.look(lambda manager: manager.pending(), self._soon())

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """The health of the link that serves, or the first one's where none does."""
        return self.survey(deep=deep).health

    def survey(self, *, deep: bool = False) -> Survey:
        """Ask the links in their order for their health, up to the first that serves.

        Nothing is counted for or against them, and those that stand by are not made for this.
        """
        states: list[LinkState] = []
        serving: Link | None = None
        first: ManagerHealth | None = None
        for link in self.links:
            if serving is not None:
                states.append(_standing_by(link))
                continue
            health = self._health(link, deep=deep)
            first = first or health
            trouble = link.trouble("search")
            if health.available and (trouble is None or not trouble.retry_in):
                serving, first = link, health
                states.append(LinkState(link.id, "serving"))
            elif trouble is not None:
                states.append(LinkState(link.id, "failing", *trouble))
            else:
                states.append(LinkState(link.id, "failing", health.reason, self._clock()))
        assert first is not None, "a chain has at least one link"
        return Survey(tuple(states), first, serving)

    def troubles(self) -> tuple[str, ...]:
        """A line for each link whose index could not be brought up to the files."""
        found = ((link.id, link.trouble("upkeep")) for link in self.links)
        return tuple(
            f"the index of {id_} could not be brought up to the files: {trouble.reason}"
            for id_, trouble in found
            if trouble is not None
        )

    def close(self) -> None:
        """Close every link; closing twice is fine."""
        for link in self.links:
            link.close()

    def _health(self, link: Link, *, deep: bool) -> ManagerHealth:
        trouble = link.trouble("search")
        if trouble is not None and trouble.retry_in:
            return ManagerHealth(available=False, reason=trouble.reason)
        deadline = NEVER if deep else self._soon()
        try:
            health = link.look(lambda manager: manager.health(deep=deep), deadline)
        except CommonplaceError as error:
            return ManagerHealth(available=False, reason=reason_of(error))
        store = health.store
        if health.available and store is not None and not store.documents:
            # With an empty index it can answer only if that can be filled.
            hindrance = link.trouble("upkeep")
            if hindrance is not None:
                return health._replace(available=False, reason=hindrance.reason)
            if not store.writable:
                reason = f"the index of {link.id} is empty and cannot be written"
                return health._replace(available=False, reason=reason)
        return health

    def _soon(self) -> Deadline:
        return Deadline.after(self._link_seconds)


def _maintained(manager: MemoryManager, *, eager: bool, **options: Any) -> SyncReport:
    if not eager:
        return maintain_unasked(manager, **options)
    report: SyncReport = manager.maintain(**options)
    return report


def _standing_by(link: Link) -> LinkState:
    trouble = link.trouble("search")
    return LinkState(link.id, "failing", *trouble) if trouble else LinkState(link.id, "standby")
