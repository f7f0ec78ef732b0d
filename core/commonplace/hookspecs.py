"""Every hook a plugin may implement, and the registrars that they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.errors import PluginConflictError, PluginUnavailableError
from commonplace.model.plugins import (
    STORE_ABILITIES,
    Credentials,
    Group,
    Registration,
    hookspec,
    is_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Required, TypedDict, Unpack

    from commonplace.model.plugins import Mount, Probe
    from commonplace.model.search import Query
    from commonplace.protocols.contexts import (
        ChunkerContext,
        ManagerContext,
        RankerContext,
        SourceContext,
        StoreContext,
    )
    from commonplace.protocols.managers import MemoryManager, Ranker, ToolContext, ToolSet
    from commonplace.protocols.parts import Chunker, Source, Store
    from commonplace.protocols.providers import EmbeddingProvider, ProviderContext

    class Parts(TypedDict, total=False):
        """What every registration may hold; the meaning stands at ``Registration``."""

        summary: Required[str]
        config: type[Group] | None
        probe: Callable[[], Probe]
        capabilities: frozenset[str]

    class ManagerParts(Parts, total=False):
        """What an engine's may hold besides."""

        permits: Callable[[Any, Query], None] | None
        mounts: Callable[[ManagerContext], Sequence[Mount]] | None

    class ProviderParts(Parts, total=False):
        """What a provider's may hold besides."""

        credentials: Credentials | None
        priority: int | None
        ready: Callable[[ProviderContext], Probe] | None

    from commonplace.model.reports import SyncReport
    from commonplace.model.search import SearchResult


API_VERSION = "1.0"
"""The version of the plugin API: hooks, protocols, and what ``commonplace.plugin`` offers.

The first number rises when something is removed or changes its meaning, the second when something
is added. ``docs/stability.md`` says how plugins name the version that they need.
"""


class Hooks:
    """Every hook.

    The hooks ``commonplace_register_...`` are called once per plugin, when a part of their kind
    is first requested from it; every plugin is called alone, so that order does not matter, and
    all registrations count. An exception makes the plugin's parts of that kind unavailable, and no
    other plugin's. A registrar's methods raise ``PluginConflictError``, ``TypeError`` and
    ``ValueError``, which hooks let pass.
    """

    @hookspec
    def commonplace_register_backends(self, register: BackendRegistrar) -> None:
        """Register stores and whole engines. Called when a backend of this plugin is first used.

        ``register.store(id, factory)``: ``(StoreContext) -> Store``.
        ``register.manager(id, factory)``: ``(ManagerContext) -> MemoryManager``.
        """

    @hookspec
    def commonplace_register_sources(self, register: SourceRegistrar) -> None:
        """Register sources of documents. Called when a source of this plugin is first used.

        ``register.source(id, factory)``: ``(SourceContext) -> Source``.
        """

    @hookspec
    def commonplace_register_chunkers(self, register: ChunkerRegistrar) -> None:
        """Register chunkers. Called when the first store opens whose notes this plugin cuts.

        ``register.chunker(id, factory)``: ``(ChunkerContext) -> Chunker``.
        """

    @hookspec
    def commonplace_register_providers(self, register: ProviderRegistrar) -> None:
        """Register embedding providers. Called when one is chosen, or all are compared for that.

        ``register.provider(id, factory)``: ``(ProviderContext) -> EmbeddingProvider``.
        """

    @hookspec
    def commonplace_register_rankers(self, register: RankerRegistrar) -> None:
        """Register rankers. Called by the first search whose chain names one of this plugin.

        ``register.ranker(id, factory)``: ``(RankerContext) -> Ranker``.
        """

    @hookspec
    def commonplace_register_commands(self, register: CommandRegistrar) -> None:
        """Register commands of the command line. Called when the command or the help is used.

        ``register.command(id, factory)``: ``() -> Command``.
        """

    @hookspec
    def commonplace_register_tools(self, register: ToolRegistrar) -> None:
        """Register sets of tools for agents. Called when the tools of a memory are first listed.

        ``register.toolset(id, factory)``: ``(ToolContext) -> ToolSet``.
        """

    @hookspec(firstresult=True)
    def commonplace_rewrite_query(self, query: str) -> str | None:
        """Return another query to search for, or ``None`` to leave it to the next plugin.

        Called once per search, before the query is parsed, on the searching thread, in pluggy's
        order: ``tryfirst``, then plugins as they were last added, then ``trylast``. The first
        answer that is not ``None`` counts; results are not merged. Whatever is raised, and an
        answer that is not a string, is logged, counted and passed over.
        """

    @hookspec(firstresult=True)
    def commonplace_search(self, query: str) -> SearchResult | None:
        """Wrap each search: a generator marked ``hookimpl(wrapper=True)`` that yields once.

        Before its ``yield`` the search has not begun; the ``yield`` gives the result, or raises
        what the search raised; what is returned is the answer of the search. Called on the
        searching thread, in pluggy's order, with the query as it was typed. Searches that a
        plugin makes inside, in this memory or another, are not wrapped. Of a search with a
        ``timeout`` what stands before the ``yield``, and what stands after it, has a third of the
        time that is left then, and the search itself three quarters. Without ``wrapper=True`` a
        result that is not ``None`` takes the place of the search. Whatever is raised, and an
        answer that is not a ``SearchResult``, is logged, counted and passed over.
        """

    @hookspec
    def commonplace_prompt_section(self, agent: str, session_key: str) -> str | None:
        """Return text for the prompt of ``agent``, or ``None`` to add nothing.

        Called when :meth:`Memory.recall <commonplace.memory.Memory.recall>` makes the block on
        memory, for the chat ``session_key``. The sections of all plugins follow the one on memory:
        ``tryfirst``, then the others, then ``trylast``. Of the others, installed plugins come
        before those added in process, each in alphabetical order of their names. What is raised,
        and an answer that is not a string, is logged, counted and passed over.
        """

    @hookspec(firstresult=True)
    def commonplace_before_write(
        self, path: str, before: str, after: str, origin: str, who: str, why: str
    ) -> str | None:
        """Return the reason why a change of a note must not be made, or ``None`` to allow it.

        Called before each change, on the writing thread and under the lock of the workspace, and
        again if another program saves the note meanwhile. ``before`` and ``after`` are the lines
        that change, with their ends; ``origin`` is on whose word (``owner``, ``agent``,
        ``session``, ``external``), ``who`` what writes. In pluggy's order; the first reason
        counts. Whatever is raised, an answer that is not a string, and a plugin that cannot be
        loaded is logged, named in the notes of the receipt and passed over.
        """

    @hookspec
    def commonplace_synced(self, report: SyncReport) -> None:
        """After a sync.

        Events are delivered after the answer, one after the other, on a thread of their own, in
        pluggy's order. Results are ignored. Whatever is raised is logged and counted for the
        plugin; the other plugins still hear the event. At most 256 events wait, further ones are
        dropped and counted.
        """

    @hookspec
    def commonplace_searched(self, query: str, result: SearchResult) -> None:
        """After a search; delivered like ``commonplace_synced``.

        ``query`` is the text as it was typed.
        """

    @hookspec
    def commonplace_degraded(self, part: str, reason: str) -> None:
        """A part stopped working and another stands in for it; delivered as above."""

    @hookspec
    def commonplace_recovered(self, part: str) -> None:
        """A degraded part works again; delivered as above."""


MEMBERS: Mapping[str, tuple[str, ...]] = {
    "store": (
        *("capabilities", "writer", "builds", "open_build", "activate", "drop"),
        *("put_documents", "documents", "keyword", "health", "close"),
    ),
    "manager": ("capabilities", "search", "maintain", "pending", "health", "close"),
    "source": ("id", "version", "capabilities", "scan", "read"),
    "chunker": ("fingerprint", "chunk"),
    "provider": ("capabilities", "model", "limits", "concurrency", "fingerprint", "embed", "close"),
    "ranker": ("id", "stage", "needs", "rank"),
    "command": ("name", "summary", "examples", "configure", "run"),
    "toolset": ("capabilities", "definitions", "call", "close"),
}
"""What an object needs to count as a part of each kind.

Names instead of the protocols themselves: a search would pay for importing those."""


class Registrar:
    """Collects what one plugin registers for one kind, and checks it at once.

    ``plugin`` names the plugin, its distribution and version in messages. ``claimed`` returns the
    plugin that has registered an id already, or ``""``. Every method raises
    :class:`~commonplace.errors.PluginConflictError` if the id is taken, and ``TypeError`` or
    ``ValueError`` for an invalid argument; hooks let these pass.
    """

    def __init__(self, kind: str, plugin: str, claimed: Callable[[str], str]) -> None:
        self._kind = kind
        self._plugin = plugin
        self._claimed = claimed
        self.registered: dict[str, tuple[str, Registration[Any]]] = {}

    def _add(
        self, role: str, id_: str, factory: Callable[..., Any], parts: Mapping[str, Any]
    ) -> None:
        registration: Registration[Any] = Registration(id_, factory=factory, **parts)
        _check(registration)
        other = self._plugin if id_ in self.registered else self._claimed(id_)
        if other == self._plugin:
            raise PluginConflictError(f"{self._kind} {id_!r} is registered twice by {other}")
        if other:
            raise PluginConflictError(
                f"{self._kind} {id_!r} is registered by {other} and by {self._plugin}",
                hint="register it by another id; one that is installed is switched off by "
                f"COMMONPLACE_DISABLE_PLUGINS={self._kind}.{id_}",
            )
        checked = _checked(role, id_, self._plugin, factory)
        self.registered[id_] = role, registration._replace(factory=checked)


class BackendRegistrar(Registrar):
    """Registers backends: stores of chunks and whole engines, which share their ids."""

    def store(
        self, id_: str, factory: Callable[[StoreContext], Store], **parts: Unpack[Parts]
    ) -> None:
        """Register a store of chunks; core indexes, analyses and ranks for it."""
        if unknown := frozenset(parts.get("capabilities", ())) - STORE_ABILITIES:
            raise ValueError(f"no store has the capability {', '.join(map(repr, sorted(unknown)))}")
        self._add("store", id_, factory, parts)

    def manager(
        self,
        id_: str,
        factory: Callable[[ManagerContext], MemoryManager],
        **parts: Unpack[ManagerParts],
    ) -> None:
        """Register a whole engine, which indexes and ranks by itself."""
        self._add("manager", id_, factory, parts)


class SourceRegistrar(Registrar):
    """Registers sources of documents."""

    def source(
        self, id_: str, factory: Callable[[SourceContext], Source], **parts: Unpack[Parts]
    ) -> None:
        """Register a source of documents."""
        self._add("source", id_, factory, parts)


class ChunkerRegistrar(Registrar):
    """Registers chunkers."""

    def chunker(
        self, id_: str, factory: Callable[[ChunkerContext], Chunker], **parts: Unpack[Parts]
    ) -> None:
        """Register a way to cut documents into chunks."""
        self._add("chunker", id_, factory, parts)


class ProviderRegistrar(Registrar):
    """Registers embedding providers."""

    def provider(
        self,
        id_: str,
        factory: Callable[[ProviderContext], EmbeddingProvider],
        **parts: Unpack[ProviderParts],
    ) -> None:
        """Register an embedding provider."""
        self._add("provider", id_, factory, parts)


class RankerRegistrar(Registrar):
    """Registers rankers."""

    def ranker(
        self, id_: str, factory: Callable[[RankerContext], Ranker], **parts: Unpack[Parts]
    ) -> None:
        """Register a step of ranking."""
        self._add("ranker", id_, factory, parts)


class CommandRegistrar(Registrar):
    """Registers commands of the command line."""

    def command(self, id_: str, factory: Callable[[], Any], **parts: Unpack[Parts]) -> None:
        """Register a command; ``id_`` is its verb."""
        self._add("command", id_, factory, parts)


class ToolRegistrar(Registrar):
    """Registers sets of tools for agents."""

    def toolset(
        self, id_: str, factory: Callable[[ToolContext], ToolSet], **parts: Unpack[Parts]
    ) -> None:
        """Register a set of tools.

        With the capability ``slot`` it is a memory of its own, which serves agents only where
        ``plugins.slots.memory`` names ``id_``; without it, it serves always.
        """
        self._add("toolset", id_, factory, parts)


REGISTRARS: Mapping[str, type[Registrar]] = {
    "backend": BackendRegistrar,
    "source": SourceRegistrar,
    "chunker": ChunkerRegistrar,
    "provider": ProviderRegistrar,
    "ranker": RankerRegistrar,
    "command": CommandRegistrar,
    "tool": ToolRegistrar,
}


def _checked(role: str, id_: str, plugin: str, factory: Callable[..., Any]) -> Callable[..., Any]:
    """``factory``, whose result is checked to be a part of the kind it was registered as."""

    def make(*context: Any) -> Any:
        made = factory(*context)
        type_ = type(made)
        # The class is asked first: a property of the object may be costly.
        missing = [
            name for name in MEMBERS[role] if not hasattr(type_, name) and not hasattr(made, name)
        ]
        if missing:
            raise PluginUnavailableError(
                f"{role} {id_!r} of {plugin} is invalid: its factory returned"
                f" {_shown(made)}, which has no {', '.join(missing)}",
                hint=f"update or uninstall {plugin}",
            )
        return made

    return make


def _shown(made: object) -> str:
    """A value that no part can be is shown itself, an object by its class: it may hold secrets."""
    if made is None or isinstance(made, bool | int | float):
        return repr(made)
    return f"an object of type {type(made).__name__}"


def _check(registration: Any) -> None:
    """Typed ``Any``: a plugin need not be type-checked to get a clear message."""
    id_, summary, config = registration.id, registration.summary, registration.config
    if not isinstance(id_, str) or not isinstance(summary, str):
        raise TypeError(f"id and summary must be strings, not {id_!r} and {summary!r}")
    if not is_id(id_):
        raise ValueError(f"an id is lower-case letters and digits joined by - or _, not {id_!r}")
    if not summary.strip() or "\n" in summary:
        raise ValueError(f"the summary of {id_!r} must be one line")
    for name in ("factory", "probe", "ready", "permits", "mounts"):
        call = getattr(registration, name)
        if not callable(call) and (call is not None or name in {"factory", "probe"}):
            raise TypeError(f"the {name} of {id_!r} cannot be called")
    if config is not None and not (isinstance(config, type) and issubclass(config, Group)):
        raise TypeError(f"the config of {id_!r} must be a subclass of Group, not {config!r}")
    priority, credentials = registration.priority, registration.credentials
    if priority is not None and (isinstance(priority, bool) or not isinstance(priority, int)):
        raise TypeError(f"the priority of {id_!r} must be a whole number or None, not {priority!r}")
    if credentials is not None and not isinstance(credentials, Credentials):
        raise TypeError(f"the credentials of {id_!r} must be Credentials, not {credentials!r}")
    capabilities = registration.capabilities
    if not isinstance(capabilities, frozenset) or not all(isinstance(c, str) for c in capabilities):
        raise TypeError(f"the capabilities of {id_!r} must be a frozenset of strings")
