"""Tells plugins and the log what happens; calls the hooks that are not registrations."""

from __future__ import annotations

import threading
from collections import deque
from contextvars import ContextVar
from functools import partial, wraps
from inspect import isgeneratorfunction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pluggy import PluginManager

from commonplace.hookspecs import Hooks
from commonplace.host.discovery import CALLED
from commonplace.host.failures import Failure, answer_fault, attempt, logger
from commonplace.model.plugins import GROUP, hookimpl
from commonplace.resilience.bounded_call import Worker, start_failure
from commonplace.resilience.deadline import INFINITY, NEVER, Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from commonplace.host.discovery import Catalogue, EntryPoint
    from commonplace.host.registry import Registry
    from commonplace.model.reports import SyncReport
    from commonplace.model.search import SearchResult


HOOK_SECONDS = 10.0
"""How long a hook of a third party may take, except for one that decides on a write."""

_SHARE = 3
"""Each call of a hook has at most this part of the time that is left for what it is called for."""

_WRAPPED_SHARE = 0.75
"""Of the time that is left once all wrappers have begun; the rest is for how they end."""

_WRAPPED: ContextVar[Callable[[], SearchResult] | None] = ContextVar("wrapped", default=None)
"""The search that plugins wrap, for all that they call, on any thread."""

_DELIVERING: ContextVar[EventBus | None] = ContextVar("delivering", default=None)
"""The bus whose listeners are called, for all that they call, on any thread."""


class Listeners:
    """The plugins that implement some of ``hooks``, called as pluggy calls them.

    That is in its order, with wrappers, and by ``firstresult`` where the specification says so. A
    failure in one implementation is logged, counted for its plugin, reported and felt by no other;
    a result that is not of the type ``returns``, where that is given, is a failure. Implementations
    of third parties run on threads of their own, in the context of the caller, and are given up
    after ``seconds``.
    """

    def __init__(
        self,
        hooks: Iterable[str],
        registry: Registry,
        returns: type | None = None,
        *,
        seconds: float = INFINITY,
    ) -> None:
        self._seconds = seconds
        self._hooks = tuple(hooks)
        self._registry = registry
        self._returns = returns
        self._lock = threading.Lock()
        self._failures: dict[str, int] = {}
        self._reports: dict[str, str] = {}
        self._not_loaded: dict[str, str] = {}
        self._current = threading.local()
        self._manager = PluginManager(GROUP)
        self._manager.add_hookspecs(Hooks)

    @property
    def failures(self) -> Mapping[str, int]:
        """How often each plugin failed."""
        with self._lock:
            return dict(self._failures)

    @property
    def reports(self) -> tuple[str, ...]:
        """How each hook failed the last time that it did, with its plugin and distribution.

        Before them are the plugins that cannot be loaded, in the words of ``PluginInfo.failure``.
        """
        with self._lock:
            return (*self._not_loaded.values(), *self._reports.values())

    def add(self, name: str, plugin: str, label: str, *, bounded: bool) -> None:
        """Add the plugin that the registry has loaded as ``plugin``; failures count for ``name``.

        ``label`` names it in reports; one that is not ``bounded`` is never given up. A plugin that
        is there already is left as it is.
        """
        if self._manager.has_plugin(name):
            return
        seconds = self._seconds if bounded else INFINITY
        calls = {
            hook: self._guarded(name, f"{hook} of {label}", function, seconds)
            for hook in self._hooks
            if (function := self._registry.implementation(plugin, hook)) is not None
        }
        if calls:
            self._manager.register(SimpleNamespace(**calls), name)

    def add_all(self, kind: str, catalogue: Catalogue) -> None:
        """Load and add all plugins of ``kind``, and those that were registered in process.

        Those that cannot be loaded are logged once, and reported by every call from now on.
        """
        for entry, reason in catalogue.unusable(kind):
            self._left_out(entry, reason)
        for entry in catalogue.of_kind(kind):
            loaded = self._registry.load(entry)
            if isinstance(loaded, Failure):
                self._left_out(entry, loaded.error)
            else:
                label = f"{entry.module} ({entry.origin})"
                foreign = self._registry.is_foreign(entry.module)
                self.add(entry.name, entry.module, label, bounded=foreign)
        for name in self._registry.in_process:
            # Events have a thread of their own, which knows what a listener causes itself.
            self.add(name, name, name, bounded=kind != "events")
        if kind == "prompt":
            installed = sorted(entry.name for entry in catalogue.of_kind(kind))
            self._arrange([*installed, *sorted(self._registry.in_process)])

    def _arrange(self, names: Iterable[str]) -> None:
        """Have plugins called in the order of ``names``, but for ``tryfirst`` and ``trylast``."""
        # pluggy calls the one that was registered last first.
        wanted = [name for name in dict.fromkeys(names) if self._manager.has_plugin(name)][::-1]
        if wanted == [name for name, _ in self._manager.list_name_plugin()]:
            return
        manager = PluginManager(GROUP)  # another: calls under way go on with the one that they have
        manager.add_hookspecs(Hooks)
        for name in wanted:
            manager.register(self._manager.get_plugin(name), name)
        self._manager = manager

    def add_own(self, hook: str, function: Callable[..., object]) -> None:
        """Add ``function``, an implementation of commonplace's own, which is not guarded."""
        self._manager.register(SimpleNamespace(**{hook: function}), "commonplace")

    def call(
        self,
        hook: str,
        arguments: Mapping[str, object],
        *,
        deadline: Deadline = NEVER,
        failed: list[str] | None = None,
    ) -> Any:
        """Call ``hook`` of all plugins that implement it.

        None takes more than a third of what is left to ``deadline`` when it is called, and neither
        does any part of a wrapper. ``failed`` gets a line on each that fails, or cannot be loaded.
        """
        now = self._current
        outer = vars(now).copy()
        now.deadline, now.failed = deadline, [] if failed is None else failed
        with self._lock:
            now.failed += self._not_loaded.values()
        try:
            return getattr(self._manager.hook, hook)(**arguments)
        finally:
            vars(now).clear()
            vars(now).update(outer)

    def _guarded(self, name: str, what: str, function: Any, seconds: float) -> Callable[..., Any]:
        """``function``, whose failure counts as no result."""
        worker = Worker(what, patient=False)

        def within(work: Callable[[], Any]) -> Any:
            if seconds == INFINITY:
                return work()
            limit = min(seconds, self._current.deadline.remaining() / _SHARE)
            return worker.run(work, Deadline.after(limit))

        @wraps(function)
        def call(*arguments: object) -> object:
            result = attempt(
                lambda: self._registry.timed(what, lambda: within(lambda: function(*arguments)))
            )
            if isinstance(result, Failure):
                self._failed(name, what, result.error)
                return None
            if (
                result is not None
                and self._returns
                and (fault := answer_fault(result, self._returns))
            ):
                self._failed(name, what, fault)
                return None
            return result

        @wraps(function)
        def around(*arguments: object) -> Generator[None, object, object]:
            steps = function(*arguments)
            begun = attempt(lambda: within(lambda: next(steps)))
            if isinstance(begun, Failure):
                self._failed(name, what, begun.error)
                return (yield)
            try:
                result = yield
            except BaseException as error:
                thrown = partial(steps.throw, error)  # for its ``finally``
                attempt(lambda: within(thrown))
                raise
            answer = attempt(lambda: within(lambda: self._answer(steps, result)))
            if isinstance(answer, Failure):
                self._failed(name, what, answer.error)
                return result
            return result if answer is None else answer

        return around if isgeneratorfunction(function) else call

    def _answer(self, steps: Generator[object, object, object], result: object) -> object:
        """What a wrapper makes of ``result``; raises whatever is wrong with it."""
        try:
            steps.send(result)
        except StopIteration as done:
            answer: object = done.value
        else:
            raise ValueError("it yielded twice")
        expected = self._returns if result is None else type(result)
        if (
            answer is not None
            and expected
            and self._returns
            and (fault := answer_fault(answer, expected))
        ):
            raise TypeError(fault)
        return answer

    def _left_out(self, entry: EntryPoint, reason: str) -> None:
        report = f"plugin {entry.name} of {entry.origin} failed: {reason}"
        with self._lock:
            known = self._not_loaded.setdefault(f"{entry.name} {entry.distribution}", report)
        if known is report:
            logger().warning("%s", report)

    def _failed(self, name: str, what: str, error: str) -> None:
        report = f"the hook {what} failed: {error}"
        with self._lock:
            self._failures[name] = self._failures.get(name, 0) + 1
            self._reports[what] = report
        self._current.failed.append(report)
        logger().warning("plugin %s failed (%s): %s", name, what, error)


def listeners_of(kind: str, registry: Registry) -> Listeners:
    """Listeners to the hooks of ``kind``, to which no plugin is added yet."""
    from commonplace.model.search import SearchResult

    returns = {"events": None, "search": SearchResult}.get(kind, str)
    # A hook that decides on a write may wait for an answer of the user.
    seconds = INFINITY if kind == "write" else HOOK_SECONDS
    listeners = Listeners(CALLED[kind], registry, returns, seconds=seconds)
    if kind == "search":
        listeners.add_own("commonplace_search", _wrapped)
    return listeners


@hookimpl(trylast=True)
def _wrapped() -> SearchResult:
    """The search itself, where no plugin takes its place."""
    search = _WRAPPED.get()
    assert search is not None, "the hook is called by around_search alone"
    return search()


def wrapping() -> bool:
    """Whether this is called from inside a search that plugins wrap."""
    return _WRAPPED.get() is not None


def around_search(
    listeners: Listeners, query: str, search: Callable[..., SearchResult], timeout: float | None
) -> SearchResult:
    """As :meth:`~.host.PluginHost.around_search`, for ``listeners`` to its hook."""
    deadline, failed = NEVER if timeout is None else Deadline.after(timeout), list[str]()

    def inner() -> SearchResult:
        left = max(deadline.remaining() * _WRAPPED_SHARE, 0.001)  # 0 is no timeout
        return search(timeout=None if timeout is None else left)

    token = _WRAPPED.set(inner)
    try:
        result: SearchResult = listeners.call(
            "commonplace_search", {"query": query}, deadline=deadline, failed=failed
        )
    finally:
        _WRAPPED.reset(token)
    return result.replace(notes=(*result.notes, *failed)) if failed else result


class EventBus:
    """Hands events, in their order, to ``deliver`` on one daemon thread of its own.

    ``deliver`` gets the name of a hook and its arguments; what it raises is logged. At most
    ``capacity`` events wait: further ones are dropped and counted, so that the caller never waits.
    Events that a listener causes, of this bus or another, are not delivered, else listeners could
    hear what they cause for ever. The thread starts with the first event.
    """

    def __init__(
        self, deliver: Callable[[str, Mapping[str, object]], object], *, capacity: int = 256
    ) -> None:
        self._deliver = deliver
        self._capacity = capacity
        self._changed = threading.Condition()
        self._waiting: deque[tuple[str, Mapping[str, object]]] = deque()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._dropped = 0

    def synced(self, report: SyncReport) -> None:
        """A sync ended."""
        self._add("commonplace_synced", report=report)

    def searched(self, query: str, result: SearchResult) -> None:
        """A search was answered."""
        self._add("commonplace_searched", query=query, result=result)

    def degraded(self, part: str, reason: str) -> None:
        """``part`` stopped working."""
        self._add("commonplace_degraded", part=part, reason=reason)

    def recovered(self, part: str) -> None:
        """``part`` works again."""
        self._add("commonplace_recovered", part=part)

    @property
    def dropped(self) -> int:
        """How many events were not delivered, because too many waited or the bus was closed."""
        with self._changed:
            return self._dropped

    def close(self, timeout: float) -> bool:
        """End, once all waiting events are delivered or ``timeout`` seconds have passed.

        Returns whether all were delivered; the others are dropped. Closing twice is fine.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and _DELIVERING.get() is not self:
            thread.join(timeout)
        with self._changed:
            self._dropped += len(self._waiting)
            self._waiting.clear()
        return thread is None or not thread.is_alive()

    def _add(self, hook: str, **arguments: object) -> None:
        if _DELIVERING.get() is not None:
            return
        with self._changed:
            if self._closed or not self._running() or len(self._waiting) >= self._capacity:
                self._dropped += 1
                return
            self._waiting.append((hook, arguments))
            self._changed.notify_all()

    def _running(self) -> bool:
        """Whether there is a thread to deliver; the first call starts it, also after a fork."""
        if self._thread is None or not self._thread.is_alive():
            self._waiting.clear()  # after a fork: the parent delivers them
            thread = threading.Thread(target=self._run, name="commonplace-events", daemon=True)
            if start_failure(thread):
                return False
            self._thread = thread
        return True

    def _run(self) -> None:
        _DELIVERING.set(self)
        while True:
            with self._changed:
                while not self._waiting:
                    if self._closed:
                        return
                    self._changed.wait()
                hook, arguments = self._waiting.popleft()
            try:
                self._deliver(hook, arguments)
            except BaseException:  # noqa: BLE001 - no defect ends the thread: none would follow it
                logger().exception("the event %s could not be delivered", hook)
