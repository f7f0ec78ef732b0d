"""One backend: made at its first call, searched and maintained, with its failures counted."""

from __future__ import annotations

import time
from _thread import allocate_lock  # threading takes a millisecond to import
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from commonplace.errors import (
    CommonplaceError,
    DeadlineExceededError,
    DeclinedError,
    IndexCorruptError,
    MemoryClosedError,
    UnavailableError,
    reason_of,
)
from commonplace.host.answers import (
    checked_arms,
    checked_look_up,
    checked_report,
    guarded_look_ups,
    make_worker,
)
from commonplace.index.rescoring import with_finite_scores
from commonplace.index.syncing import Freshness, freshen, maintain_unasked
from commonplace.model.reports import BackendState
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.deadline import NEVER, Deadline, GuardedCaller

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import TypedDict, Unpack

    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.model.search import Arm, Fallback, Query, Where
    from commonplace.protocols.contexts import ManagerHealth
    from commonplace.protocols.managers import LookingManager, MaintainOptions, MemoryManager
    from commonplace.resilience.bounded_call import Worker
    from commonplace.resilience.breaker import CircuitBreaker

    class UpdateOptions(TypedDict, total=False):
        """How a search updates the index first; see :class:`BackendSearch`."""

        update: bool
        bounded: bool
        later: str
        progress: ProgressCallback | None
        changed: Callable[[], Collection[str] | None] | None


T = TypeVar("T")

Work = Literal["search", "sync"]
"""The kinds of work, each with a breaker of its own: a slow sync does not keep searches away."""

BACKEND_PROBE_SECONDS = 10.0
"""How long a backend may take to report its health, or to answer while another one could."""

CLOSE_SECONDS = 5.0
"""How long a backend of a third party may take to close."""

_NO_LIMIT = "`commonplace index` takes as long as it needs"


class BackendsStatus(NamedTuple):
    """The state of every backend, and the active one with its health, or the first one's."""

    states: tuple[BackendState, ...]
    health: ManagerHealth
    active: Backend | None
    sync_failures: tuple[str, ...] = ()


class Backend:
    """A backend by its id; ``make`` builds its manager at the first call.

    With a ``worker`` calls are given up at their deadline; a backend without a stand-in has none:
    its calls run in the caller's thread, but for searches of one of a third party, which has a
    ``label``: messages name it by that. ``changed`` is called when it begins to fail (with the
    reason) and when it works again (with ``None``). ``permits`` raise for queries that may not be
    asked.
    """

    def __init__(
        self,
        id_: str,
        make: Callable[[], MemoryManager],
        *,
        breakers: Mapping[str, CircuitBreaker] | None = None,
        worker: Worker | None = None,
        label: str = "",
        changed: Callable[[str, str | None], None] = lambda _id, _reason: None,
        permits: Sequence[Callable[[Query], None]] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.id = id_
        self.label = label or id_
        self._foreign = bool(label)
        run_by = worker or (make_worker(label) if label else None)
        self.guard = GuardedCaller(id_, breakers, worker=run_by, changed=changed)
        self._make = make
        self._bounded = {"search": run_by is not None, "sync": worker is not None}
        self._permits = permits
        self._clock = clock
        self._opening = allocate_lock()
        self._manager: MemoryManager | None = None
        self._closed = False

    def manager(self) -> MemoryManager:
        """The manager, made if it has not been.

        Raises :class:`~commonplace.errors.UnavailableError` where it cannot be.
        """
        with self._opening:
            self._check_open()
            manager = self._manager
            if manager is None:
                manager = self._manager = self._make()
                if self._closed:  # meanwhile, perhaps before there was one to close
                    self._close_made()
                    self._check_open()
            return manager

    def call(self, work: Work, ask: Callable[[MemoryManager], T], deadline: Deadline) -> T:
        """Return what ``ask`` gets of the manager before ``deadline``, and count the outcome.

        Raises :class:`~commonplace.errors.UnavailableError` for every failure of the backend, and
        its own :class:`~commonplace.errors.DeclinedError` or
        :class:`~commonplace.errors.CallerError`, which do not count against it.
        """
        with self.guard.counted(work, deadline):
            try:
                if self._bounded[work]:
                    return self.guard.run(lambda: ask(self.manager()), deadline)
                return ask(self.manager())
            except BaseException as error:  # an engine that exits has failed, too
                if isinstance(error, Exception):
                    self._check_open()  # closed meanwhile: that is why it failed
                if work == "sync" and isinstance(error, DeadlineExceededError):
                    error.hint = error.hint or _NO_LIMIT
                if isinstance(error, CommonplaceError):
                    raise
                raise self._mistake(error) from error

    def look_up(
        self, deadline: Deadline, read: Callable[..., object], kind: type, *given: object
    ) -> Mapping[Any, Any]:
        """What ``read`` has for ``given``, values of ``kind``; see :meth:`call`."""
        deadline.check("the search")
        checked = partial(checked_look_up, kind=kind, backend=self.label)
        return self.call("search", lambda _: checked(read(*given)), deadline)

    def probe(self, ask: Callable[[MemoryManager], T], deadline: Deadline) -> T:
        """As :meth:`call`, without counting the outcome."""
        try:
            return self.guard.run(lambda: ask(self.manager()), deadline)
        except CommonplaceError:
            raise
        except BaseException as error:
            raise self._mistake(error) from error

    def search_of(
        self, query: Query, deadline: Deadline, **options: Unpack[UpdateOptions]
    ) -> BackendSearch:
        """Begin a search for ``query``; see :class:`BackendSearch`.

        Raises :class:`~commonplace.errors.ScopeDeniedError` where the query may not be asked.
        """
        for permits in self._permits:
            permits(query)
        deadline.check("the search")
        return BackendSearch(self, deadline, **options)

    def maintain(
        self,
        *,
        embed: bool = True,
        eager: bool = True,
        paths: Collection[str] | None = None,
        **options: Unpack[MaintainOptions],
    ) -> SyncReport:
        """Update the index; see :class:`~commonplace.plugin.MemoryManager`."""

        def maintain(manager: MemoryManager) -> SyncReport:
            if not eager:
                return maintain_unasked(manager, paths=paths, embed=embed, **options)
            return checked_report(manager.maintain(embed=embed, **options))

        report = self.call("sync", maintain, options["deadline"])
        self.guard.let_through("search")  # a rebuilt index may be all that was missing
        return report

    def pending(self, *, look: bool = False) -> SyncReport:
        """What there is to do, with ``look`` also what cannot be read; no breaker counts it."""

        def pending(manager: MemoryManager) -> SyncReport:
            if look and "look" in manager.capabilities:
                return checked_report(cast("LookingManager", manager).pending(look=True))
            return checked_report(manager.pending())

        return self.probe(pending, Deadline.after(BACKEND_PROBE_SECONDS))

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """The health for searching: unavailable also while searches fail, or without an index.

        Nothing is counted for or against the backend.
        """
        from commonplace.host.backends import checked_health, health_of  # no search needs them

        until = NEVER if deep else Deadline.after(BACKEND_PROBE_SECONDS)
        report = partial(
            self.probe, lambda manager: checked_health(manager.health(deep=deep)), until
        )
        return health_of(self.guard, report)

    def status(self, *, deep: bool = False) -> BackendsStatus:
        """The state and health of this backend, the only one."""
        health = self.health(deep=deep)
        state = self.state(health)
        active = self if state.state == "serving" else None
        return BackendsStatus((state,), health, active, self.sync_failures())

    def state(self, health: ManagerHealth) -> BackendState:
        """Whether it can answer: ``serving`` or ``failing``, with the reason."""
        failure = self.guard.failure("search")
        if health.available and (failure is None or not failure.retry_in):
            return BackendState(id=self.id, state="serving")
        return self.failing() or BackendState(
            id=self.id, state="failing", reason=health.reason, since=self._clock()
        )

    def failing(self) -> BackendState | None:
        """The state ``failing`` where searches fail at present."""
        failure = self.guard.failure("search")
        if failure is None:
            return None
        return BackendState(
            id=self.id,
            state="failing",
            reason=failure.reason,
            since=failure.since,
            retry_in=failure.retry_in,
        )

    def sync_failures(self) -> tuple[str, ...]:
        """A line that says why the index could not be updated, where that is so."""
        failure = self.guard.failure("sync")
        if failure is None:
            return ()
        return (f"the index of {self.id} could not be updated: {failure.reason}",)

    def close(self) -> None:
        """Close the manager if it was made; closing twice is fine."""
        # Without the lock: a manager that hangs while it is made must not keep others from ending.
        self._closed = True
        self._close_made()

    def _close_made(self) -> None:
        manager, self._manager = self._manager, None
        if manager is not None:
            try:
                if self._foreign:
                    self.guard.run(manager.close, Deadline.after(CLOSE_SECONDS))
                else:
                    manager.close()
            except BaseException as error:  # noqa: BLE001 - the others are closed all the same
                from commonplace.host.failures import logger
                from commonplace.resilience.bounded_call import failure_of

                logger().warning("%s could not be closed: %s", self.label, failure_of(error))

    def _check_open(self) -> None:
        if self._closed:
            raise MemoryClosedError

    def _mistake(self, error: BaseException) -> UnavailableError:
        from commonplace.resilience.bounded_call import failure_of  # imports threading

        hint = "update its plugin, or choose another backend" if self._foreign else ""
        return UnavailableError(f"{self.label} failed: {failure_of(error)}", hint=hint)


class BackendSearch:
    """One search of one backend: first :meth:`update` its index, then :meth:`ask`, perhaps again.

    ``freshness`` says how far the index is behind the files (``stale`` is -1 where that is not
    known). Without ``update`` the index stays as it is. ``later`` says in words what happens to
    changed files that are not indexed now. If it is ``bounded``, building a first index stops after
    half of the time, too. ``changed`` gives the paths that alone need be compared; ``None``: all.
    """

    fallback: Fallback | None = None

    def __init__(
        self,
        backend: Backend,
        deadline: Deadline,
        *,
        update: bool = False,
        bounded: bool = False,
        later: str = "",
        progress: ProgressCallback | None = None,
        changed: Callable[[], Collection[str] | None] | None = None,
    ) -> None:
        self.backend = backend.id
        self.freshness = Freshness()
        self.update_error: UnavailableError | None = None
        self._backend = backend
        self._deadline = deadline
        self._updates = update
        self._changed = changed
        self._at_least = deadline.remaining() / 2
        self._bounded = bounded
        self._freshen = partial(freshen, progress=progress, later=later)

    def update(self, deadline: Deadline | None = None) -> None:
        """Index what has changed, within limits; a failure is kept, and noted in ``freshness``."""
        if not self._updates:
            return
        paths = self._changed() if self._changed else None
        end = deadline or self._deadline
        freshen = partial(self._freshen, paths=paths, until=self._until(), within=end)
        try:
            self.freshness = self._backend.call("sync", freshen, end)
            self.update_error = None
        except (UnavailableError, DeclinedError) as error:
            self.record_update_failure(error)
        # However long that took, half of the time is left for the answer.
        self._deadline = self._deadline.at_least(self._at_least)

    def _until(self) -> Deadline:
        """The time at which building a first index stops, seen from now."""
        half = self._deadline.remaining() / 2
        return self._deadline.sooner(half) if self._bounded else NEVER

    def record_update_failure(self, error: UnavailableError | DeclinedError) -> None:
        """The index could not be updated because of ``error``: it may hold nothing."""
        self.update_error = (
            error
            if isinstance(error, UnavailableError)
            else UnavailableError(str(error), hint=error.hint)
        )
        note = f"the index of {self.backend} could not be updated: {reason_of(error)}"
        self.freshness = Freshness(stale=-1, notes=(note,))

    def ask(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline | None = None
    ) -> tuple[Arm, ...]:
        """Return the backend's ranked lists.

        Raises :class:`~commonplace.errors.UnavailableError` also where nothing was found in an
        index that could not be updated: it may hold nothing.
        """
        until = deadline or self._deadline

        def ask(manager: MemoryManager) -> tuple[Arm, ...]:
            search = partial(manager.search, query, where=where, limit=limit, deadline=until)
            try:
                return checked_arms(search(), self._backend.label)
            except IndexCorruptError:
                # A store sets a damaged index aside when it next opens it: rebuild it, also where
                # searches update nothing, for the empty one that follows it would find nothing.
                self.freshness = self._freshen(manager, until=self._until())
                return checked_arms(search(), self._backend.label)

        arms = self._backend.call("search", ask, until)
        if self.update_error is not None and not any(arm.found for arm in arms):
            if deadline is not None or not query.keyword.must:  # of a chain the next is asked
                raise self.update_error
            # No note may have the quoted words: raises where none has any other word either.
            self.ask(query._replace(keyword=query.keyword._replace(must=())), where=where, limit=1)
        return self._guarded(arms, until)

    def ask_again(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline | None = None
    ) -> tuple[Arm, ...]:
        """Return further ranked lists, for an answer that :meth:`ask` gave.

        They are asked for in what is left of the time, and change nothing of the search.
        """
        until = deadline or self._deadline
        until.check("the search")

        def ask(manager: MemoryManager) -> tuple[Arm, ...]:
            arms = manager.search(query, where=where, limit=limit, deadline=until)
            return checked_arms(arms, self._backend.label)

        return self._guarded(self._backend.call("search", ask, until), until)

    def _guarded(self, arms: Sequence[Arm], until: Deadline) -> tuple[Arm, ...]:
        """``arms``, whose look-ups are calls of the backend that end by ``until``, as this did."""
        look_up = partial(self._backend.look_up, until)
        return tuple(
            [
                arm._replace(found=with_finite_scores(arm.found), **guarded_look_ups(arm, look_up))
                for arm in arms
            ]
        )
