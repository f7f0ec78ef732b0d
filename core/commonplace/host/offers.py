"""What loaded plugins offer, and why others do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.errors import PluginConflictError, PluginUnavailableError
from commonplace.host.entrypoints import EVENT_HOOKS, KINDS
from commonplace.host.loader import Failure, attempt
from commonplace.host.registry import KindRegistry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.host.catalogue import Catalogue
    from commonplace.host.entrypoints import EntryPoint
    from commonplace.host.loader import Loader
    from commonplace.model.plugins import Registration

__all__ = ["Offer", "Offers"]


class Offer:
    """A registration, as what it was offered (``store``, ``manager`` or its kind), and by whom."""

    __slots__ = ("plugin", "registration", "role")

    def __init__(self, role: str, registration: Registration[Any], plugin: str) -> None:
        self.role = role
        self.registration = registration
        self.plugin = plugin


class Offers:
    """Fills itself one module and one kind at a time, each once, when first asked."""

    def __init__(self, catalogue: Catalogue, loader: Loader) -> None:
        self._catalogue = catalogue
        self._loader = loader
        self._offers: dict[str, Offer] = {}
        self._outcomes: dict[tuple[str, str], tuple[str, ...] | Failure] = {}
        self._in_process: dict[str, tuple[str, ...]] = {}

    @property
    def in_process(self) -> Mapping[str, tuple[str, ...]]:
        """What each plugin without an entry point offers, as ``kind.id``."""
        return self._in_process

    def get(self, name: str) -> Offer | None:
        """What is known under ``kind.id`` by now."""
        return self._offers.get(name)

    def tried(self, entry: EntryPoint) -> bool:
        """Whether the entry point's hook has been called, or its module failed before that."""
        return (entry.kind, entry.module) in self._outcomes

    def load(self, entry: EntryPoint) -> Offer | Failure | None:
        """What ``entry`` offers, or why not; ``None`` for events, which offer nothing."""
        if entry.fault:
            return Failure(entry.fault)
        key = (entry.kind, entry.module)
        if key not in self._outcomes:
            self._outcomes[key] = self._load(*key)
        outcome = self._outcomes[key]
        if isinstance(outcome, Failure):
            return outcome
        if entry.kind == "events":
            return None
        offer = self._offers.get(entry.name)
        if offer is not None:
            return offer
        hooks = " and ".join(KINDS[entry.kind].values())
        return Failure(
            f"{hooks} of {entry.module} offered no {entry.kind} {entry.id!r}"
            f" (offered: {', '.join(outcome) or 'nothing'})"
        )

    def undeclared(self, entry: EntryPoint) -> tuple[str, ...]:
        """Ids that the module behind ``entry`` offers without an entry point that names them."""
        outcome = self._outcomes.get((entry.kind, entry.module), ())
        if isinstance(outcome, Failure):
            return ()
        declared = {e.id for e in self._catalogue.of_module(entry.kind, entry.module)}
        return tuple(sorted(set(outcome) - declared))

    def adopt(self, plugin: object, name: str) -> None:
        """Take in a plugin without an entry point, and all it offers.

        Raises :class:`~commonplace.errors.PluginConflictError` if its name or an id is taken, and
        :class:`~commonplace.errors.PluginUnavailableError` if there is something wrong with it.
        """
        taken = attempt(lambda: self._adopt(plugin, name))
        if isinstance(taken, Failure):
            if isinstance(taken.cause, PluginConflictError):
                raise taken.cause
            raise PluginUnavailableError(f"plugin {name!r} failed: {taken.error}") from taken.cause
        self._offers.update(taken)
        self._in_process[name] = tuple(taken)

    def _load(self, kind: str, module: str) -> tuple[str, ...] | Failure:
        plugin = self._loader.load(module)
        if isinstance(plugin, Failure):
            return plugin
        if kind == "events":
            if set(self._loader.hooks(module)).isdisjoint(EVENT_HOOKS):
                return Failure(f"{module} answers none of {', '.join(EVENT_HOOKS)}")
            return ()
        collected = attempt(lambda: self._collect(kind, module, module))
        if isinstance(collected, Failure):
            return collected
        asked = {e.name for e in self._catalogue.of_kind(kind) if e.module == module}
        self._offers.update({name: collected[name] for name in collected if name in asked})
        return tuple(offer.registration.id for offer in collected.values())

    def _adopt(self, plugin: object, name: str) -> dict[str, Offer]:
        self._loader.admit(plugin, name)
        try:
            return self._collect_all(name)
        except BaseException:
            self._loader.dismiss(name)
            raise

    def _collect_all(self, name: str) -> dict[str, Offer]:
        if not self._loader.hooks(name):
            raise ValueError("it answers no hook: mark them with commonplace.protocols.hookimpl")
        collected: dict[str, Offer] = {}
        for kind in KINDS:
            collected.update(self._collect(kind, name, ""))
        return collected

    def _collect(self, kind: str, plugin: str, module: str) -> dict[str, Offer]:
        """Call the plugin's hooks of one kind; ``module`` is ``""`` without an entry point."""
        collected: dict[str, Offer] = {}
        label = self._label(kind, plugin)

        def claimed(id_: str) -> str:
            name = f"{kind}.{id_}"
            known = collected.get(name) or self._offers.get(name)
            if known is not None:
                return known.plugin
            rivals = [e for e in self._catalogue.rivals(name) if e.module != module]
            return self._label(kind, rivals[0].module) if rivals else ""

        answered = self._loader.hooks(plugin)
        for role, hook in KINDS[kind].items():
            if hook in answered:
                registry = KindRegistry(kind, label, claimed)
                self._loader.call(plugin, hook, {"registry": registry})
                for id_, registration in registry.offered.items():
                    collected[f"{kind}.{id_}"] = Offer(role, registration, label)
        return collected

    def _label(self, kind: str, plugin: str) -> str:
        entries = self._catalogue.of_module(kind, plugin)
        return f"{plugin} ({entries[0].origin})" if entries else plugin
