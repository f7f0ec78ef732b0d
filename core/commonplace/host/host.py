"""The host of all plugins: what exists, and each part once it is requested."""

from __future__ import annotations

import os
from _thread import RLock  # threading takes a millisecond to import
from collections import Counter
from typing import TYPE_CHECKING, Any

from commonplace.errors import PluginConflictError, PluginUnavailableError, reason_of
from commonplace.host.discovery import CALLED, KINDS, Catalogue, check_kind, installed
from commonplace.host.failures import Failure
from commonplace.host.registry import Registry, RegistryEntry
from commonplace.host.switches import SAFE, tracer
from commonplace.resilience import begin_in_children
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.host.discovery import EntryPoint, Kind
    from commonplace.host.events import EventBus, Listeners
    from commonplace.host.reports import PluginInfo
    from commonplace.model.plugins import Registration, SwitchRule
    from commonplace.model.receipts import Receipt
    from commonplace.model.search import SearchResult
    from commonplace.protocols.managers import MemoryManager, Ranker, ToolSet
    from commonplace.protocols.parts import Chunker, Source, Store
    from commonplace.protocols.providers import EmbeddingProvider
    from commonplace.resilience.deadline import Deadline


class _Listened(dict[str, bool]):
    """Whether any plugin implements the hooks of a kind; ``find`` tells it of each kind once."""

    def __init__(self, find: Callable[[str], bool]) -> None:
        self._find = find

    def __missing__(self, kind: str) -> bool:
        return self._find(kind)


class PluginHost:
    """Loads plugins one at a time, when one of their parts is first needed.

    ``entry_points`` are those installed, unless given. ``cache_dir`` is where the list of them is
    kept between starts; ``None`` keeps nothing. ``env`` (default: ``os.environ``) may hold
    ``COMMONPLACE_PLUGINS``, ``COMMONPLACE_DISABLE_PLUGINS``, ``COMMONPLACE_SAFE`` and
    ``COMMONPLACE_TRACE_PLUGINS``. ``rules`` are the switches of a configuration.
    Threads may share a host. Creating one costs nothing. The failure of a plugin is kept for
    :meth:`plugins` and raised only where one of its parts is requested. ``listened`` says of each
    kind of hooks that are called whether any plugin implements one.
    """

    def __init__(
        self,
        entry_points: Sequence[EntryPoint] | None = None,
        *,
        cache_dir: str | None = None,
        env: Mapping[str, str] | None = None,
        rules: Sequence[SwitchRule] = (),
    ) -> None:
        self._rules = rules
        self._given = entry_points
        self._cache_dir = cache_dir
        self._env = os.environ if env is None else env
        self._found: tuple[Catalogue, Registry] | None = None
        self.listened = _Listened(self._find_listeners)
        self.begin()
        begin_in_children(self)

    def begin(self) -> None:
        """Begin with no calls under way, in a forked child too: its parent delivers its events."""
        self._lock = RLock()
        self._bus: EventBus | None = None
        self._called: dict[str, Listeners] = {}

    # --- one typed method for each kind ---------------------------------------------------------

    def backend(self, id_: str) -> RegistryEntry:
        """The backend ``id_``: its role is ``store`` or ``manager``. Raises as :meth:`get` does."""
        return self._entry("backend", id_)

    def store(self, id_: str) -> Registration[Store]:
        """The backend ``id_``, which must be a store; raises as :meth:`get` does."""
        return self._of_role("store", id_)

    def manager(self, id_: str) -> Registration[MemoryManager]:
        """The backend ``id_``, which must be a whole engine; raises as :meth:`get` does."""
        return self._of_role("manager", id_)

    def source(self, id_: str) -> Registration[Source]:
        """The source of documents ``id_``; raises as :meth:`get` does."""
        return self.get("source", id_)

    def chunker(self, id_: str) -> Registration[Chunker]:
        """The chunker ``id_``; raises as :meth:`get` does."""
        return self.get("chunker", id_)

    def provider(self, id_: str) -> Registration[EmbeddingProvider]:
        """The embedding provider ``id_``; raises as :meth:`get` does."""
        return self.get("provider", id_)

    def ranker(self, id_: str) -> Registration[Ranker]:
        """The ranker ``id_``; raises as :meth:`get` does."""
        return self.get("ranker", id_)

    def label(self, kind: str, id_: str) -> str:
        """Which plugin registers the part, with its distribution and version; raises as `get`."""
        return self._entry(kind, id_).plugin

    def is_builtin(self, kind: str, id_: str) -> bool:
        """Whether our own distribution registers the part: it is trusted not to hang."""
        return self._entry(kind, id_).own

    def command(self, id_: str) -> Registration[Any]:
        """The command ``id_`` of the command line; raises as :meth:`get` does."""
        return self.get("command", id_)

    def tool(self, id_: str) -> Registration[ToolSet]:
        """The set of agents' tools ``id_``; raises as :meth:`get` does."""
        return self.get("tool", id_)

    # --- what there is --------------------------------------------------------------------------

    def get(self, kind: Kind, id_: str) -> Registration[Any]:
        """The part ``id_`` of ``kind``; its plugin is loaded if it is not yet.

        Raises :class:`~commonplace.errors.PluginUnavailableError` if no plugin registers it, it is
        switched off, or its plugin failed; :class:`~commonplace.errors.PluginConflictError` if
        several do; and :class:`~commonplace.errors.CallerError` for an unknown kind.
        """
        return self._entry(kind, id_).registration

    def ids(self, kind: Kind) -> tuple[str, ...]:
        """All ids of ``kind`` that may be requested, in alphabetical order. Loads nothing."""
        check_kind(kind)
        with self._lock:
            catalogue, registry = self._parts()
            return tuple(sorted({*catalogue.ids(kind), *registry.ids(kind)}))

    def absence(self, kind: str, id_: str) -> str:
        """Why ``id_`` of ``kind`` cannot be requested, with a hint; ``""`` if it can.

        Loads nothing, so that it may still fail to load.
        """
        check_kind(kind)
        with self._lock:
            catalogue, registry = self._parts()
            if registry.get(f"{kind}.{id_}") is None:
                try:
                    catalogue.find(kind, id_, registry.ids(kind))
                except (PluginUnavailableError, PluginConflictError) as error:
                    return reason_of(error)
        return ""

    def restrict(self, rules: Sequence[SwitchRule]) -> Sequence[SwitchRule]:
        """Apply the switches of a configuration, unless a plugin has been looked up already.

        Returns those that apply: after a look at plugins these are of an earlier configuration.
        """
        with self._lock:
            if self._found is None:
                self._rules = rules
            return self._rules

    def switched_off(self, kind: str, id_: str) -> str:
        """The variable or setting that switches ``id_`` of ``kind`` off, or ``""``."""
        with self._lock:
            catalogue, registry = self._parts()
            name = f"{kind}.{id_}"
            if registry.get(name) is not None or catalogue.rivals(name):
                return ""
            off = (catalogue.switched_off(e) for e in catalogue.entries if e.name == name)
            return next(off, "")

    def switch_notices(self) -> tuple[str, ...]:
        """Notices on the switches: a line on safe mode, and one for each mistake."""
        with self._lock:
            catalogue, _ = self._parts()
        off = [e.name for e in catalogue.entries if catalogue.switched_off(e) == SAFE]
        listed = ", ".join(off) or "none is installed"
        safe = f"safe mode ({SAFE}): plugins of third parties are not imported: {listed}"
        return ((safe,) if catalogue.switches.safe else ()) + catalogue.unknown_names()

    def notices(self) -> tuple[str, ...]:
        """What a status should say of switches and of hooks, whose plugins are loaded for it."""
        for kind in CALLED:
            if self.listened[kind]:
                self._listeners(kind)
        return self.switch_notices() + self.hook_failures

    @property
    def hook_failures(self) -> tuple[str, ...]:
        """How each hook that is called failed the last time, of those that did in this process.

        Also which of their plugins this process could not load.
        """
        with self._lock:
            called = tuple(self._called.values())
        return tuple(report for calls in called for report in calls.reports)

    def plugins(self, *, load: bool = False) -> tuple[PluginInfo, ...]:
        """Every entry point and its state, in alphabetical order.

        Summaries, capabilities and hooks are known of loaded plugins only; ``load`` loads all, and
        probes whether they can work here.
        """
        from commonplace.host.reports import describe

        if load:
            self.load_all()
        with self._lock:
            return describe(*self._parts(), probe=load)

    def load_all(self) -> None:
        """Load every plugin that is not switched off; those that fail are kept as failed."""
        with self._lock:
            catalogue, registry = self._parts()
            for kind in (*KINDS, *CALLED):
                for entry in catalogue.of_kind(kind):
                    registry.load(entry)

    def register(self, plugin: object, *, name: str) -> None:
        """Add a plugin that has no entry point: a module, or an object with marked methods.

        All its registration hooks are called at once. Switches in the environment do not apply to
        it. Raises :class:`~commonplace.errors.PluginConflictError` if ``name`` or an id is taken,
        and :class:`~commonplace.errors.PluginUnavailableError` for an invalid plugin.
        """
        with self._lock:
            self._parts()[1].adopt(plugin, name)
            self.listened.clear()

    # --- hooks that are called ------------------------------------------------------------------

    @property
    def events(self) -> EventBus | None:
        """Where to report events, or ``None`` while no plugin implements their hooks."""
        with self._lock:
            if self._bus is None and self.listened["events"]:
                from commonplace.host.events import EventBus

                self._bus = EventBus(lambda hook, given: self._call("events", hook, given))
            return self._bus

    def rewrite_query(
        self, query: str, deadline: Deadline = NEVER, failed: list[str] | None = None
    ) -> str:
        """``query`` as the first plugin rewrites it that does; as it is, if none does.

        The plugins are loaded by the first call. One that fails, or leaves the search too little
        time until ``deadline``, is passed over; ``failed`` gets a line on it.
        """
        if not self.listened["query"]:
            return query
        rewritten: str | None = self._call(
            "query", "commonplace_rewrite_query", {"query": query}, deadline, failed
        )
        return query if rewritten is None else rewritten

    def wraps_search(self) -> bool:
        """Whether plugins wrap a search that begins here; not one that they make inside another."""
        if not self.listened["search"]:
            return False
        from commonplace.host.events import wrapping

        return not wrapping()

    def around_search(
        self, query: str, search: Callable[..., SearchResult], timeout: float | None = None
    ) -> SearchResult:
        """The result of ``search`` as plugins that wrap it return it; raises what it raises.

        All of that takes ``timeout`` seconds at most; ``search`` is called with ``timeout=`` those
        that it may take itself. The notes of the result name the plugins that failed.
        """
        if not self.wraps_search():
            return search(timeout=timeout)
        from commonplace.host.events import around_search

        return around_search(self._listeners("search"), query, search, timeout)

    def prompt_sections(self, agent: str, session_key: str) -> list[str]:
        """What plugins add to an agent's prompt: installed ones, then those added in process.

        Both are in alphabetical order of their names, but for ``tryfirst`` and ``trylast``.
        """
        if not self.listened["prompt"]:
            return []
        arguments = {"agent": agent, "session_key": session_key}
        sections: list[str] = self._call("prompt", "commonplace_prompt_section", arguments)
        return sections

    def veto(self, receipt: Receipt, failed: list[str]) -> str:
        """The first reason of a plugin why this change must not be made, or ``""``.

        ``failed`` gets a line on each that fails; it is passed over.
        """
        if not self.listened["write"]:
            return ""
        arguments = {
            "path": receipt.path,
            "origin": receipt.origin,
            "who": receipt.who,
            "why": receipt.why,
            "before": receipt.before.text,
            "after": receipt.after.text,
        }
        return self._call("write", "commonplace_before_write", arguments, failed=failed) or ""

    @property
    def failures(self) -> Mapping[str, int]:
        """How often each plugin failed in a hook that is called, by name."""
        with self._lock:
            called = tuple(self._called.values())
        # A plugin registered in process may have hooks of several kinds.
        return sum((Counter(calls.failures) for calls in called), Counter[str]())

    def close(self, timeout: float = 1.0) -> bool:
        """Deliver the events that still wait, for up to ``timeout`` seconds; no more follow.

        Returns whether all were delivered. Plugins stay usable.
        """
        with self._lock:
            bus = self._bus
        return True if bus is None else bus.close(timeout)

    # --- inside ---------------------------------------------------------------------------------

    def _parts(self) -> tuple[Catalogue, Registry]:
        if self._found is None:
            entries = self._given
            if entries is None:
                entries = installed(self._cache_dir)
            catalogue = Catalogue(entries, self._env, self._rules)
            self._found = catalogue, Registry(catalogue, tracer(self._env))
        return self._found

    def _entry(self, kind: str, id_: str) -> RegistryEntry:
        check_kind(kind)
        with self._lock:
            catalogue, registry = self._parts()
            known = registry.get(f"{kind}.{id_}")
            if known is not None:
                return known
            entry = catalogue.find(kind, id_, registry.ids(kind))
            outcome = registry.load(entry)
        if isinstance(outcome, RegistryEntry):
            return outcome
        assert isinstance(outcome, Failure), "only kinds that register nothing load as None"

        from commonplace.host.reports import error_of

        raise error_of(entry, outcome) from outcome.cause

    def _of_role(self, role: str, id_: str) -> Registration[Any]:
        entry = self._entry("backend", id_)
        if entry.role != role:
            raise PluginUnavailableError(f"backend {id_!r} is a {entry.role}, not a {role}")
        return entry.registration

    def _find_listeners(self, kind: str) -> bool:
        with self._lock:
            catalogue, registry = self._parts()
            hooks = {hook for name in registry.in_process for hook in registry.hooks(name)}
            entries = catalogue.of_kind(kind) or catalogue.unusable(kind)
            has_listeners = bool(entries) or not hooks.isdisjoint(CALLED[kind])
            self.listened[kind] = has_listeners
            return has_listeners

    def _call(
        self,
        kind: str,
        hook: str,
        arguments: Mapping[str, object],
        deadline: Deadline = NEVER,
        failed: list[str] | None = None,
    ) -> Any:
        """Call ``hook`` of all plugins of ``kind``, which are loaded if they are not yet."""
        return self._listeners(kind).call(hook, arguments, deadline=deadline, failed=failed)

    def _listeners(self, kind: str) -> Listeners:
        with self._lock:
            catalogue, registry = self._parts()
            if kind not in self._called:
                from commonplace.host.events import listeners_of

                self._called[kind] = listeners_of(kind, registry)
            listeners = self._called[kind]
            listeners.add_all(kind, catalogue)
        return listeners
