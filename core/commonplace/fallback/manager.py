"""Several backends that stand in for one another: the first that can answer does."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Literal
from zlib import crc32

from commonplace.errors import CommonplaceError, DeclinedError, UnavailableError, reason_of
from commonplace.fallback.backend import BACKEND_PROBE_SECONDS, BackendSearch, BackendsStatus
from commonplace.index.syncing import Freshness
from commonplace.model.reports import BackendState
from commonplace.model.search import Fallback
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.bounded_call import ProgressGate
from commonplace.resilience.breaker import BreakerFile, CircuitBreaker

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Unpack

    from commonplace.config.settings import Settings
    from commonplace.fallback.backend import Backend, UpdateOptions
    from commonplace.model.reports import SyncReport
    from commonplace.model.search import Arm, Query, Where
    from commonplace.protocols.contexts import ManagerHealth
    from commonplace.protocols.managers import MaintainOptions
    from commonplace.resilience.deadline import Deadline

_Index = Literal["due", "skipped", "done", "failed"]

Standby = Literal["lazy", "warm"]
"""When the index of a backend that is not active is updated: once it answers, or always."""

_LAST_TRY_SECONDS = 2.0
"""How long a backend may take to answer once its update has used up its time."""

_UPDATE_SHARE = 3 / 4
"""The part of the time in which the last backend that could answer must have updated its index."""


class FallbackMemoryManager:
    """A :class:`~commonplace.plugin.MemoryManager` over a chain of backends, best first.

    Searches go along the chain, maintenance does not: each backend is maintained by its role. The
    outcomes of a backend are kept apart. *Unavailable* counts against it, and the next is asked.
    *Declined* counts nothing, and the next is asked. An error of the caller ends the search. An
    empty list from a healthy backend is an answer.

    ``permits`` are checked before any backend is asked. While another may answer, a backend has
    ``backend_seconds`` at most.
    """

    capabilities = frozenset({"eager"})

    def __init__(
        self,
        backends: Sequence[Backend],
        *,
        permits: Sequence[Callable[[Query], None]] = (),
        standby: Standby = "lazy",
        embed_standby: bool = False,
        backend_seconds: float = BACKEND_PROBE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not backends:
            raise ValueError("a chain has at least one backend")
        self.backends = tuple(backends)
        self._permits = tuple(permits)
        self._standby = standby
        self._embed_standby = embed_standby
        self._backend_seconds = backend_seconds
        self._clock = clock

    def search_of(
        self, query: Query, deadline: Deadline, **options: Unpack[UpdateOptions]
    ) -> ChainSearch:
        """Begin a search for ``query``; see :class:`ChainSearch`.

        All files are compared, not only the ``changed`` ones: others may be new to this backend.
        Raises :class:`~commonplace.errors.ScopeDeniedError` where the query may not be asked.
        """
        for permits in self._permits:
            permits(query)
        deadline.check("the search")
        return ChainSearch(
            [_Attempt(backend, deadline, options) for backend in self.backends],
            deadline,
            backend_seconds=self._backend_seconds,
            clock=self._clock,
        )

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """The arms of the first backend that can answer; see :meth:`ChainSearch.ask`."""
        return self.search_of(query, deadline).ask(query, where=where, limit=limit)

    def maintain(
        self,
        *,
        embed: bool = True,
        eager: bool = True,
        paths: Collection[str] | None = None,  # noqa: ARG002
        **options: Unpack[MaintainOptions],
    ) -> SyncReport:
        """Maintain the active backend, and the others as ``standby`` asks.

        Each compares everything, whatever ``paths`` are reported: one that was passed over before
        knows nothing of what was reported then.

        The report is of the active one, or of the first where none answers; what could not be
        maintained is in its ``notices``. Raises the first backend's error where none could be.
        """
        report: SyncReport | None = None
        failures: list[tuple[Backend, CommonplaceError]] = []
        settled = False  # a backend was maintained that also answers searches
        for backend in self.backends:
            if settled and self._standby == "lazy":
                continue
            answers = backend.guard.failure("search") is None
            try:
                embeds = embed and (self._embed_standby or not settled)
                done = backend.maintain(embed=embeds, eager=eager, **options)
            except (UnavailableError, DeclinedError) as error:
                failures.append((backend, error))
                continue
            if report is None or (answers and not settled):
                report = done
            settled = settled or answers
        if report is None:
            raise failures[0][1]
        words = (f"the index of {it.id} was not updated: {reason_of(why)}" for it, why in failures)
        failed = [one.id for one, why in failures if isinstance(why, UnavailableError)]
        notices = (*report.notices, *words)
        return report.replace(notices=notices, failed_backends=tuple(failed))

    def pending(self) -> SyncReport:
        """What maintaining the active backend would find to do."""
        return (self.status().active or self.backends[0]).pending()

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """The health of the active backend, or of the first where none is."""
        return self.status(deep=deep).health

    def status(self, *, deep: bool = False) -> BackendsStatus:
        """Ask the backends in their order for their health, up to the first that can answer.

        Nothing is counted for or against them, and those behind it are not made for this.
        """
        states: list[BackendState] = []
        active: Backend | None = None
        shown: ManagerHealth | None = None
        for backend in self.backends:
            if active is not None:
                standby = BackendState(id=backend.id, state="standby")
                states.append(backend.failing() or standby)
                continue
            health = backend.health(deep=deep)
            state = backend.state(health)
            if state.state == "serving":
                active, shown = backend, health
            shown = shown or health
            states.append(state)
        assert shown is not None, "a chain has at least one backend"
        failures = tuple(line for backend in self.backends for line in backend.sync_failures())
        return BackendsStatus(tuple(states), shown, active, failures)

    def close(self) -> None:
        """Close every backend; closing twice is fine."""
        for backend in self.backends:
            backend.close()


class Shares(NamedTuple):
    """What one backend may take of a search's time, in seconds.

    ``update`` is for its index, ``whole`` for its index and its answer. ``answer`` is left for the
    answer however long the update took, and ``last_try`` where the update failed.
    """

    update: float
    whole: float
    answer: float
    last_try: float


def shares_of(left: float, waiting: int, *, last: bool, most: float) -> Shares:
    """The shares of one backend in a search that has ``left`` seconds (0 or more, or infinite).

    ``waiting`` (1 or more) counts the backends that have not failed in this search, this one
    included: each has an equal part of the time, and ``most`` seconds at most. The ``last`` one
    that could answer now is given nearly all of the time, as if it were the only one.
    """
    if not last:
        whole = min(most, left / waiting)
        return Shares(whole / 2, whole, whole / 2, min(whole / 2, _LAST_TRY_SECONDS))
    update = left * _UPDATE_SHARE
    # Backends that were skipped for an earlier failure are tried in what this one leaves.
    whole = left if waiting == 1 else update
    return Shares(update, whole, left / 2, min(left / 8, _LAST_TRY_SECONDS))


class _Attempt:
    """One backend of a chain in one search: its index is updated once, unless that failed lately.

    ``index`` says how far that is (``done`` also where no update was asked for), ``update_by`` when
    it had to end, and ``error`` why the backend gave no answer when it was last asked.
    """

    def __init__(self, backend: Backend, deadline: Deadline, options: UpdateOptions) -> None:
        self.backend = backend
        self._gate = ProgressGate(options.get("progress"))
        own: UpdateOptions = {**options, "progress": self._gate, "changed": None}
        self.search = BackendSearch(backend, deadline, **own)
        self.error: UnavailableError | DeclinedError | None = None
        self._bounded = options.get("bounded", False)
        self.index: _Index = "due" if options.get("update") else "done"
        self.update_by = deadline

    @property
    def hopeless(self) -> bool:
        """Whether the backend failed in this search, or is passed over for an earlier failure."""
        failure = self.backend.guard.failure("search")
        return self.error is not None or (failure is not None and failure.retry_in > 0)

    def update(self, deadline: Deadline, *, last: bool, ignore_breaker: bool) -> None:
        """Update the index, once; with ``ignore_breaker`` also if that failed lately.

        The ``last`` backend that could answer has as long as a first index needs, while it reports
        progress before ``deadline``; in a search that is bounded, that is the end.
        """
        if self.index in {"done", "failed"}:
            return
        if not ignore_breaker and not self.backend.guard.allows("sync"):
            self.index = "skipped"
            failure = self.backend.guard.failure("sync")
            reason = failure.reason if failure else f"{self.backend.id} failed lately"
            self.search.record_update_failure(UnavailableError(reason))
            return
        if last and not self._bounded:
            self._gate.renew(deadline)
        self.index, self.update_by = "done", deadline
        self.search.update(deadline)
        if self.search.update_error is not None:
            self.index = "failed"
            self._gate.close()

    def ask(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...] | None:
        """The ranked lists of the backend, or ``None`` where it fails.

        Then ``error`` says why, unless only the skipped update is to blame: after one it may work.
        """
        try:
            return self.search.ask(query, where=where, limit=limit, deadline=deadline)
        except (UnavailableError, DeclinedError) as error:
            if self.index != "skipped" or error is not self.search.update_error:
                self.error = error
                self._gate.close()
            return None


class ChainSearch:
    """One search along a chain, which may ask more than once.

    After :meth:`ask`, ``backend`` is the id of the backend that answered, ``fallback`` says in
    whose place, and ``freshness`` how far its index is behind the files.
    """

    def __init__(
        self,
        attempts: Sequence[_Attempt],
        deadline: Deadline,
        *,
        backend_seconds: float,
        clock: Callable[[], float],
    ) -> None:
        self._attempts = attempts
        self._deadline = deadline
        self._backend_seconds = backend_seconds
        self._clock = clock
        self._active = attempts[0]
        self.backend = attempts[0].backend.id
        self.fallback: Fallback | None = None
        self.freshness = Freshness()

    def update(self) -> None:
        """Update the index of the first backend that is not failing.

        The others are updated as they are asked: only then is it known that they are needed.
        """
        for attempt in self._attempts:
            if not attempt.hopeless:
                self._update(attempt, last=self._is_last(attempt, ()), ignore_breaker=self._alone)
                return

    def ask(self, query: Query, *, where: Where, limit: int) -> tuple[Arm, ...]:
        """Return the ranked lists of the first backend that can answer.

        Failing backends are passed over, and tried all the same if no other could answer: there is
        nothing to lose then. Where none can, the first one's error is raised with the others named
        in its notes.
        """
        for attempt in self._attempts:
            attempt.error = None
        skipped: list[_Attempt] = []
        for attempt in self._attempts:
            if not attempt.backend.guard.allows("search"):
                skipped.append(attempt)
                continue
            last = self._is_last(attempt, skipped)
            until = self._update(attempt, last=last, ignore_breaker=self._alone)
            arms = attempt.ask(query, where=where, limit=limit, deadline=until)
            if arms is not None:
                return self._answered(attempt, arms)
            if attempt.error is None:
                skipped.append(attempt)
        for attempt in skipped:
            until = self._update(attempt, last=self._waiting == 1, ignore_breaker=True)
            arms = attempt.ask(query, where=where, limit=limit, deadline=until)
            if arms is not None:
                return self._answered(attempt, arms)
        raise self._failure()

    def ask_again(self, query: Query, *, where: Where, limit: int) -> tuple[Arm, ...]:
        """Return further ranked lists of the backend that answered; no other one is asked."""
        shares = self._shares(len(self._attempts), last=self._alone)
        until = self._deadline.sooner(shares.whole)
        return self._active.search.ask_again(query, where=where, limit=limit, deadline=until)

    @property
    def _alone(self) -> bool:
        return len(self._attempts) == 1

    def _is_last(self, attempt: _Attempt, skipped: Sequence[_Attempt]) -> bool:
        """Whether no backend but that of ``attempt`` could answer now."""
        return all(o.hopeless for o in self._attempts if o is not attempt and o not in skipped)

    @property
    def _waiting(self) -> int:
        """How many backends have not failed in this search."""
        return sum(attempt.error is None for attempt in self._attempts)

    def _shares(self, waiting: int, *, last: bool) -> Shares:
        return shares_of(self._deadline.remaining(), waiting, last=last, most=self._backend_seconds)

    def _update(self, attempt: _Attempt, *, last: bool, ignore_breaker: bool) -> Deadline:
        """Update the index of one backend; return when its answer is due."""
        shares = self._shares(self._waiting, last=last)
        update_by = self._deadline.sooner(shares.update)
        answer_by = self._deadline.sooner(shares.whole)
        attempt.update(update_by, last=last, ignore_breaker=ignore_breaker)
        if attempt.index == "failed":
            # One that cannot be reached costs that once; an old index answers at once.
            return attempt.update_by.at_least(shares.last_try)
        # However long a first index took, half of the time is left for the answer.
        self._deadline = self._deadline.at_least(shares.answer)
        return answer_by.at_least(shares.answer)

    def _answered(self, attempt: _Attempt, arms: tuple[Arm, ...]) -> tuple[Arm, ...]:
        """``arms``; and note that the backend of ``attempt`` gave them, and in whose place."""
        self._active = attempt
        self.backend, self.freshness = attempt.backend.id, attempt.search.freshness
        self.fallback = None
        first = self._attempts[0]
        if attempt is first:
            return arms
        # One whose sync was left out was passed over for that, without a failure of its own.
        error = first.error or first.search.update_error
        failure = first.backend.guard.failure("search")
        if failure is not None and not isinstance(error, DeclinedError):
            reason, since = failure.reason, failure.since
        else:
            reason = reason_of(error) if error is not None else "it did not answer"
            since = self._clock()
        self.fallback = Fallback(part=first.backend.id, reason=reason, since=since)
        return arms

    def _failure(self) -> CommonplaceError:
        """The first backend's error, with the others' in its notes."""
        errors = [(tried.backend.id, tried.error) for tried in self._attempts if tried.error]
        (_, first), *others = errors
        for id_, error in others:
            first.add_note(f"{id_}: {reason_of(error)}")
        return first


def shared_breakers(settings: Settings, backend: str) -> dict[str, CircuitBreaker]:
    """Breakers that every process of this agent shares: each search may be a process of its own."""
    # Other settings may fix it.
    mark = f"{crc32(repr(settings.section_values.get(f'memory.{backend}')).encode()):08x}"
    path = os.path.join(settings.state_dir, "memory", "breakers", f"{settings.agent}.{backend}")
    return {
        work: CircuitBreaker(keeper=BreakerFile(f"{path}.{work}", mark=mark))
        for work in ("search", "sync")
    }
