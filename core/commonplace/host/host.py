"""The typed door to plugins: what exists, and what each offers once it is asked for."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from commonplace.errors import (
    CallerError,
    PluginConflictError,
    PluginUnavailableError,
    reason_of,
)
from commonplace.host.catalogue import Catalogue
from commonplace.host.entrypoints import EVENT_HOOKS, KINDS, installed
from commonplace.host.loader import Failure, Loader, attempt
from commonplace.host.offers import Offer, Offers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.host.entrypoints import EntryPoint, Kind
    from commonplace.host.events import EventBus
    from commonplace.model.plugin_info import PluginInfo
    from commonplace.model.plugins import Registration
    from commonplace.protocols.managers import MemoryManager
    from commonplace.protocols.providers import EmbeddingProvider
    from commonplace.protocols.rankers import Ranker
    from commonplace.protocols.sources import Chunker, Source
    from commonplace.protocols.stores import Store

__all__ = ["BackendRegistration", "PluginHost"]

TRACE = "COMMONPLACE_TRACE_PLUGINS"


class BackendRegistration:
    """A backend, and which of the two it is: a store of chunks or a whole engine."""

    __slots__ = ("kind", "registration")

    def __init__(self, kind: Literal["store", "manager"], registration: Registration[Any]) -> None:
        self.kind = kind
        self.registration = registration


class PluginHost:
    """Loads plugins one at a time, when something of theirs is first asked for.

    ``entry_points`` are those installed, unless given. ``cache_dir`` is where the list of them is
    kept between starts; ``None`` keeps nothing. ``env`` (default: ``os.environ``) may hold
    ``COMMONPLACE_PLUGINS``, ``COMMONPLACE_DISABLE_PLUGINS`` and ``COMMONPLACE_TRACE_PLUGINS``.
    Threads may share a host. Making one costs nothing; a plugin that fails is kept for the report
    of :meth:`plugins` and hurts only those who ask for it.
    """

    def __init__(
        self,
        entry_points: Sequence[EntryPoint] | None = None,
        *,
        cache_dir: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._given = entry_points
        self._cache_dir = cache_dir
        self._env = os.environ if env is None else env
        self._lock = threading.RLock()
        self._found: tuple[Catalogue, Loader, Offers] | None = None
        self._bus: EventBus | None = None

    # --- one typed method for each kind ---------------------------------------------------------

    def backend(self, id_: str) -> BackendRegistration:
        """The backend ``id_``; raises as :meth:`get` does."""
        offer = self._offer("backend", id_)
        kind: Literal["store", "manager"] = "store" if offer.role == "store" else "manager"
        return BackendRegistration(kind, offer.registration)

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

    def command(self, id_: str) -> Registration[Any]:
        """The command ``id_`` of the command line; raises as :meth:`get` does."""
        return self.get("command", id_)

    # --- what there is --------------------------------------------------------------------------

    def get(self, kind: Kind, id_: str) -> Registration[Any]:
        """What is offered as ``id_`` of ``kind``; its plugin is loaded if it is not yet.

        Raises :class:`~commonplace.errors.PluginUnavailableError` if nobody offers it, it is
        switched off, or its plugin failed; :class:`~commonplace.errors.PluginConflictError` if
        several do; and :class:`~commonplace.errors.CallerError` for a kind that there is not.
        """
        return self._offer(kind, id_).registration

    def ids(self, kind: Kind) -> tuple[str, ...]:
        """All ids of ``kind`` that may be asked for, in alphabetical order. Loads nothing."""
        _check_kind(kind)
        with self._lock:
            catalogue, _, offers = self._parts()
            return tuple(sorted({*catalogue.ids(kind), *_in_process(offers, kind)}))

    def absence(self, kind: str, id_: str) -> str:
        """Why ``id_`` of ``kind`` cannot be asked for, with advice; ``""`` if it can.

        Loads nothing, so that it may still fail to load.
        """
        _check_kind(kind)
        with self._lock:
            catalogue, _, offers = self._parts()
            if offers.get(f"{kind}.{id_}") is None:
                try:
                    catalogue.find(kind, id_, _in_process(offers, kind))
                except (PluginUnavailableError, PluginConflictError) as error:
                    return reason_of(error)
        return ""

    def plugins(self, *, load: bool = False) -> tuple[PluginInfo, ...]:
        """Every entry point and what became of it, in alphabetical order.

        Summaries, capabilities and hooks are known of loaded plugins only; ``load`` loads all, and
        has them say what they lack to work here.
        """
        from commonplace.host.listing import describe

        if load:
            self.load_all()
        with self._lock:
            return describe(*self._parts(), probe=load)

    def load_all(self) -> None:
        """Load every plugin that is not switched off; those that fail are kept as failed."""
        with self._lock:
            catalogue, _, offers = self._parts()
            for kind in KINDS:
                for entry in catalogue.of_kind(kind):
                    offers.load(entry)

    def register(self, plugin: object, *, name: str) -> None:
        """Take in a plugin that has no entry point: a module, or an object with marked methods.

        All its hooks of registration are called at once. Switches do not apply to it: who calls
        this means it. Raises :class:`~commonplace.errors.PluginConflictError` if ``name`` or an id
        is taken, and :class:`~commonplace.errors.PluginUnavailableError` for a faulty plugin.
        """
        with self._lock:
            self._parts()[2].adopt(plugin, name)

    # --- events ---------------------------------------------------------------------------------

    @property
    def events(self) -> EventBus | None:
        """Where to tell what happened, or ``None`` while nobody listens."""
        with self._lock:
            if self._bus is None and self._has_listeners():
                from commonplace.host.events import EventBus

                self._bus = EventBus(self._deliver)
            return self._bus

    def close(self, timeout: float = 1.0) -> bool:
        """Let the listeners hear what is still waiting, for up to ``timeout`` seconds.

        Returns whether they heard everything. Plugins stay usable; events end.
        """
        with self._lock:
            bus = self._bus
        return True if bus is None else bus.close(timeout)

    # --- inside ---------------------------------------------------------------------------------

    def _parts(self) -> tuple[Catalogue, Loader, Offers]:
        if self._found is None:
            given = self._given
            entries = installed(self._cache_dir) if given is None else given
            catalogue = Catalogue(entries, self._env)
            loader = Loader(_to_stderr if self._env.get(TRACE, "0") not in {"", "0"} else None)
            self._found = catalogue, loader, Offers(catalogue, loader)
        return self._found

    def _offer(self, kind: str, id_: str) -> Offer:
        _check_kind(kind)
        with self._lock:
            catalogue, _, offers = self._parts()
            known = offers.get(f"{kind}.{id_}")
            if known is not None:
                return known
            entry = catalogue.find(kind, id_, _in_process(offers, kind))
            offer = offers.load(entry)
        if isinstance(offer, Offer):
            return offer
        assert isinstance(offer, Failure), "only events offer nothing"

        from commonplace.host.advice import error_of

        raise error_of(entry, offer) from offer.cause

    def _of_role(self, role: str, id_: str) -> Registration[Any]:
        offer = self._offer("backend", id_)
        if offer.role != role:
            raise PluginUnavailableError(f"backend {id_!r} is a {offer.role}, not a {role}")
        return offer.registration

    def _has_listeners(self) -> bool:
        catalogue, loader, offers = self._parts()
        return bool(catalogue.of_kind("events")) or any(
            not set(loader.hooks(name)).isdisjoint(EVENT_HOOKS) for name in offers.in_process
        )

    def _listeners(self, hook: str) -> list[tuple[str, str]]:
        """Display name and plugin name of all who answer ``hook``."""
        with self._lock:
            catalogue, loader, offers = self._parts()
            plugins = [
                (entry.name, entry.module)
                for entry in catalogue.of_kind("events")
                if offers.load(entry) is None
            ]
            plugins += [(name, name) for name in offers.in_process]
            return [(name, plugin) for name, plugin in plugins if hook in loader.hooks(plugin)]

    def _deliver(self, hook: str, arguments: Mapping[str, object]) -> list[str]:
        """Call ``hook`` of all who listen; the names of those who failed."""
        loader = self._parts()[1]
        failed = []
        for name, plugin in self._listeners(hook):
            call = partial(loader.call, plugin, hook, arguments)
            if isinstance(attempt(call), Failure):
                failed.append(name)
        return failed


def _in_process(offers: Offers, kind: str) -> list[str]:
    names = [name for names in offers.in_process.values() for name in names]
    return [name.partition(".")[2] for name in names if name.partition(".")[0] == kind]


def _check_kind(kind: str) -> None:
    if not KINDS.get(kind):
        offered = ", ".join(kind for kind, roles in KINDS.items() if roles)
        raise CallerError(f"there is no kind of plugin named {kind!r}", hint=f"there is {offered}")


def _to_stderr(line: str) -> None:
    import sys

    sys.stderr.write(line + "\n")
