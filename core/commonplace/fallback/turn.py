"""The way of one search along a chain of engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import (
    CommonplaceError,
    DeclinedError,
    IndexCorruptError,
    UnavailableError,
    reason_of,
)
from commonplace.index.syncing import Freshness
from commonplace.model.search import Fallback
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.fallback.link import Link
    from commonplace.model.reports import Progress, ProgressCallback
    from commonplace.model.search import Arm, Query, Where
    from commonplace.protocols.managers import MemoryManager
    from commonplace.resilience.deadline import Deadline

    Freshen = Callable[[MemoryManager, ProgressCallback], Freshness]

__all__ = ["Turn"]


class _Passed(NamedTuple):
    """A link that did not answer, and why."""

    link: Link
    error: CommonplaceError


class _Told:
    """Progress of work that may go on after it was given up: then nobody is told."""

    def __init__(self, progress: ProgressCallback | None) -> None:
        self._progress = progress
        self.over = False

    def __call__(self, progress: Progress) -> None:
        if self._progress is not None and not self.over:
            self._progress(progress)


class Turn:
    """One search, which may ask more than once; each link is brought up to the files once.

    After :meth:`search`, ``backend`` is the id of the link that answered, ``fallback`` says in
    whose place, and ``freshness`` how far its index was behind the files (``stale`` is -1 where
    that is not known).
    """

    def __init__(
        self,
        links: Sequence[Link],
        *,
        permits: Sequence[Callable[[Query], None]],
        freshen: Freshen | None,
        progress: ProgressCallback | None,
        link_seconds: float,
        clock: Callable[[], float],
    ) -> None:
        self._links = links
        self._permits = permits
        self._freshen = freshen
        self._progress = progress
        self._link_seconds = link_seconds
        self._clock = clock
        self._known: dict[str, Freshness] = {}
        self._doubts: dict[str, UnavailableError] = {}
        self._spared: set[str] = set()
        self.backend = links[0].id
        self.fallback: Fallback | None = None
        self.freshness = Freshness()

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """The arms of the first link that can answer.

        Links whose breaker is open are passed over, and tried all the same if nobody else could
        answer: there is nothing to lose then. Where none can, the first one's error is raised with
        the others named in its notes.
        """
        for permits in self._permits:
            permits(query)
        deadline.check("the search")
        passed: list[_Passed] = []
        shut: list[Link] = []
        for trying, links in ((False, self._links), (True, shut)):
            for link in links:
                if not trying and not link.allows("search"):
                    shut.append(link)
                    continue
                share = self._share(deadline, len(self._links) - len(passed))
                half = share.remaining() / 2
                try:
                    self._bring_up(link, share.sooner(half), trying=trying)
                    # A first index takes as long as it likes where nobody else could answer.
                    arms = self._ask(link, query, where, limit, share.at_least(half))
                except (UnavailableError, DeclinedError) as error:
                    if link.id in self._spared and error is self._doubts[link.id]:
                        shut.append(link)  # its upkeep was left alone, and may be well again
                    else:
                        passed.append(_Passed(link, error))
                else:
                    self._served_by(link, passed)
                    return arms
        raise self._failure(passed)

    def _ask(
        self, link: Link, query: Query, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        def ask(manager: MemoryManager) -> tuple[Arm, ...]:
            try:
                return manager.search(query, where=where, limit=limit, deadline=deadline)
            except IndexCorruptError:
                # A store sets a damaged index aside when it next opens it: make it anew, ask again.
                if self._freshen is not None:
                    self._known[link.id] = self._freshen(manager, _Told(self._progress))
                return manager.search(query, where=where, limit=limit, deadline=deadline)

        arms = link.call("search", ask, deadline)
        doubt = self._doubts.get(link.id)
        if doubt is not None and not any(arm.found for arm in arms):
            raise doubt  # nothing found in an index that may hold nothing is no answer
        return arms

    def _bring_up(self, link: Link, deadline: Deadline, *, trying: bool) -> None:
        """Bring the link's index up to the files, once; where that fails, its answer says so.

        Only when ``trying`` is a link whose upkeep failed lately asked for it.
        """
        freshen = self._freshen
        if freshen is None or (link.id in self._known and link.id not in self._spared):
            return
        told = _Told(self._progress)
        try:
            if trying or len(self._links) == 1 or link.allows("upkeep"):
                self._spared.discard(link.id)
                fresh = link.call("upkeep", lambda manager: freshen(manager, told), deadline)
                self._doubts.pop(link.id, None)
            else:
                self._spared.add(link.id)
                fresh = self._doubted(link, link.left_alone("upkeep"))
        except (UnavailableError, DeclinedError) as error:
            fresh = self._doubted(link, error)
        finally:
            told.over = True
        self._known[link.id] = fresh

    def _doubted(self, link: Link, error: CommonplaceError) -> Freshness:
        self._doubts[link.id] = (
            error
            if isinstance(error, UnavailableError)
            else UnavailableError(str(error), hint=error.hint)
        )
        note = f"the index of {link.id} could not be brought up to the files: {reason_of(error)}"
        return Freshness(stale=-1, notes=(note,))

    def _share(self, deadline: Deadline, left: int) -> Deadline:
        """What one link may take so that each of those ``left`` has its part; the last has all."""
        if left == 1:
            return deadline
        return deadline.sooner(min(self._link_seconds, deadline.remaining() / left))

    def _served_by(self, link: Link, passed: Sequence[_Passed]) -> None:
        self.backend = link.id
        self.freshness = self._known.get(link.id, Freshness())
        self.fallback = None
        first = self._links[0]
        if link is first:
            return
        # One whose upkeep is left alone was passed over for that, without a failure of its own.
        doubt = self._doubts.get(first.id)
        error = next((item.error for item in passed if item.link is first), doubt)
        trouble = first.trouble("search")
        if trouble is not None and not isinstance(error, DeclinedError):
            self.fallback = Fallback(first.id, trouble.reason, trouble.since)
        else:
            reason = reason_of(error) if error is not None else "it did not answer"
            self.fallback = Fallback(first.id, reason, self._clock())

    def _failure(self, passed: Sequence[_Passed]) -> CommonplaceError:
        """The first link's error, with the others' in its notes."""
        first, *others = sorted(passed, key=lambda item: self._links.index(item.link))
        for other in others:
            first.error.add_note(f"{other.link.id}: {other.error}")
        return first.error
