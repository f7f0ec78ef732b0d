"""Imports plugins, calls their registration hooks, keeps what each registered or why it failed."""

from __future__ import annotations

import sys
import time
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.errors import DeadlineExceededError, PluginConflictError, PluginUnavailableError
from commonplace.hookspecs import REGISTRARS, Hooks
from commonplace.host.discovery import CALLED, KINDS
from commonplace.host.failures import Failure, attempt, guarded_factory
from commonplace.host.switches import OWN_DISTRIBUTION, canonical
from commonplace.model.plugins import GROUP, MARK, UNORDERED
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pluggy import HookImpl, HookimplOpts, HookspecOpts, PluginManager

    from commonplace.host.discovery import Catalogue, EntryPoint
    from commonplace.model.plugins import Registration


R = TypeVar("R")


class RegistryEntry(NamedTuple):
    """A registration, its role (``store``, ``manager`` or the kind), and the plugin's label.

    ``own`` tells that the plugin is of our own distribution.
    """

    role: str
    registration: Registration[Any]
    plugin: str
    own: bool = False


def _manager() -> PluginManager:
    """A new manager of pluggy's, which knows our hooks and no plugin."""
    from pluggy import PluginManager

    class Manager(PluginManager):
        """Looks by ``inspect`` not at every name, but only at those that may be hooks."""

        def parse_hookimpl_opts(self, plugin: object, name: str) -> HookimplOpts | None:
            """The options of a hook that ``name`` implements, if it does."""
            if isinstance(plugin, ModuleType) and not hasattr(vars(plugin).get(name), MARK):
                return None
            return super().parse_hookimpl_opts(plugin, name)

        def parse_hookspec_opts(self, module_or_class: object, name: str) -> HookspecOpts | None:
            """The options of the hook that ``name`` specifies, if it does."""
            if name.startswith("__"):
                return None
            return super().parse_hookspec_opts(module_or_class, name)  # type: ignore[arg-type]

    manager = Manager(GROUP)
    manager.add_hookspecs(Hooks)
    return manager


def _registrations(plugin: object) -> dict[str, Callable[..., Any]] | None:
    """The hooks that the module ``plugin`` implements, if they are plain registrations alone.

    That is without options, and with the one argument that they are given.
    """
    if not isinstance(plugin, ModuleType):
        return None
    marked = {name: value for name, value in vars(plugin).items() if hasattr(value, MARK)}
    for name, function in marked.items():
        code = getattr(function, "__code__", None)
        if (
            name not in KINDS.values()
            or getattr(function, MARK) != UNORDERED
            or code is None
            or code.co_varnames[: code.co_argcount] != ("register",)
        ):
            return None
    return marked


class Registry:
    """Loads plugins one module and one kind at a time, each once, at its first use.

    ``trace`` gets a line before every import and every call of a hook, and one with milliseconds
    after it. A plugin of another distribution than ours has ``seconds`` to be imported, and as
    many for each registration.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        trace: Callable[[str], object] | None = None,
        *,
        seconds: float = 10.0,
    ) -> None:
        self._catalogue = catalogue
        self._trace = trace
        self._seconds = seconds
        self._pluggy: PluginManager | None = None
        self._plain: dict[str, dict[str, Callable[..., Any]]] = {}
        self._modules: dict[str, object | Failure] = {}
        self._entries: dict[str, RegistryEntry] = {}
        self._outcomes: dict[tuple[str, str], tuple[str, ...] | Failure] = {}
        self._in_process: dict[str, tuple[str, ...]] = {}

    @property
    def _manager(self) -> PluginManager:
        """The manager of pluggy, with all plugins that are loaded.

        It is made once something other than our own registrations is asked for: a search with the
        builtin plugins pays neither for loading pluggy nor for registering anything there.
        """
        if self._pluggy is None:
            self._pluggy = _manager()
            for name in self._plain:
                self._admit(self._modules[name], name)
        return self._pluggy

    @property
    def in_process(self) -> Mapping[str, tuple[str, ...]]:
        """What each plugin without an entry point registered, as ``kind.id``."""
        return self._in_process

    def get(self, name: str) -> RegistryEntry | None:
        """What is registered under ``kind.id`` so far."""
        return self._entries.get(name)

    def ids(self, kind: str) -> list[str]:
        """The ids of ``kind`` that plugins without an entry point registered."""
        names = [name for names in self._in_process.values() for name in names]
        return [name.partition(".")[2] for name in names if name.partition(".")[0] == kind]

    def plugin(self, name: str) -> object | None:
        """The plugin of this name, if it is loaded."""
        return self._manager.get_plugin(name)

    def hooks(self, name: str) -> tuple[str, ...]:
        """The hooks that the plugin of this name implements, in alphabetical order."""
        plugin = self._manager.get_plugin(name)
        callers = self._manager.get_hookcallers(plugin) if plugin is not None else None
        return tuple(sorted(caller.name for caller in callers or ()))

    def implementation(self, name: str, hook: str) -> Callable[..., Any] | None:
        """What the plugin of this name implements ``hook`` with."""
        plugin = self._manager.get_plugin(name)
        for call in getattr(self._manager.hook, hook).get_hookimpls():
            if call.plugin is plugin:
                function: Callable[..., Any] = call.function
                return function
        return None

    def tried(self, entry: EntryPoint) -> bool:
        """Whether the entry point's hook has been called, or its module failed before that."""
        return (entry.kind, entry.module) in self._outcomes

    def load(self, entry: EntryPoint) -> RegistryEntry | Failure | None:
        """What ``entry`` registers, or why it failed; ``None`` where its kind registers nothing."""
        if entry.problem:
            return Failure(entry.problem)
        key = (entry.kind, entry.module)
        if key not in self._outcomes:
            self._outcomes[key] = self._load(*key)
        outcome = self._outcomes[key]
        if isinstance(outcome, Failure):
            return outcome
        if entry.kind in CALLED:
            return None
        return self._entries.get(entry.name) or self._unregistered(entry, outcome)

    def _unregistered(self, entry: EntryPoint, registered: tuple[str, ...]) -> Failure:
        """The failure of ``entry``, whose module registered these ids of its kind only."""
        hook = KINDS[entry.kind]
        error = (
            f"{hook} of {entry.module} registered no {entry.kind} {entry.id!r}"
            f" (registered: {', '.join(registered) or 'nothing'})"
        )
        if hook in self.hooks(entry.module):
            return Failure(error, hint=f"register it as {entry.id!r}, as the entry point names it")
        return Failure(error, hint=_mark(hook))

    def undeclared(self, entry: EntryPoint) -> tuple[str, ...]:
        """Ids that the module of ``entry`` registers without an entry point that names them."""
        outcome = self._outcomes.get((entry.kind, entry.module), ())
        if isinstance(outcome, Failure):
            return ()
        return tuple(sorted(set(outcome) - self._declared(entry.kind, entry.module)))

    def _declared(self, kind: str, module: str) -> frozenset[str]:
        """The ids of ``kind`` that entry points of ``module`` name, even those that are off."""
        return frozenset(e.id for e in self._catalogue.of_module(kind, module))

    def adopt(self, plugin: object, name: str) -> None:
        """Add a plugin without an entry point, and all it registers.

        Raises :class:`~commonplace.errors.PluginConflictError` if its name or an id is taken, and
        :class:`~commonplace.errors.PluginUnavailableError` if the plugin is invalid.
        """
        entries = attempt(lambda: self._adopt(plugin, name))
        if isinstance(entries, Failure):
            if isinstance(entries.cause, PluginConflictError):
                raise entries.cause
            raise PluginUnavailableError(
                f"plugin {name!r} failed: {entries.error}"
            ) from entries.cause
        self._entries.update(entries)
        self._in_process[name] = tuple(entries)

    def timed(self, what: str, work: Callable[[], R]) -> R:
        """The result of ``work``, traced as ``what``."""
        if self._trace is None:
            return work()
        self._trace(f"commonplace: {what} ...")  # of one that hangs, there is no other line
        started = time.perf_counter()
        try:
            return work()
        finally:
            milliseconds = (time.perf_counter() - started) * 1e3
            self._trace(f"commonplace: {what} {milliseconds:.2f} ms")

    def _load(self, kind: str, module: str) -> tuple[str, ...] | Failure:
        if module not in self._modules:
            self._modules[module] = attempt(lambda: self._import(module))
        plugin = self._modules[module]
        if isinstance(plugin, Failure):
            return plugin
        if kind in CALLED:
            if set(self.hooks(module)).isdisjoint(CALLED[kind]):
                names = ", ".join(CALLED[kind])
                return Failure(f"{module} implements none of {names}", hint=_mark(names))
            return ()
        collected = attempt(lambda: self._collect(kind, module, module))
        if isinstance(collected, Failure):
            return collected
        wanted = {e.name for e in self._catalogue.of_kind(kind) if e.module == module}
        self._entries.update({name: collected[name] for name in collected if name in wanted})
        return tuple(entry.registration.id for entry in collected.values())

    def _import(self, module: str) -> object:
        plugin = self.timed(
            f"import {module}",
            lambda: self._within(f"the import of {module}", module, lambda: import_module(module)),
        )
        plain = None if self.is_foreign(module) else _registrations(plugin)
        if plain is not None:
            self._plain[module] = plain
        if plain is None or self._pluggy is not None:
            self._admit(plugin, module)
        return plugin

    def _admit(self, plugin: object, name: str) -> None:
        """Let pluggy check the plugin: every hook and every argument must be a known one."""
        if self._manager.has_plugin(name):
            raise PluginConflictError(f"a plugin is registered as {name!r} already")
        from pluggy import PluginValidationError

        try:
            self._manager.register(plugin, name=name)
            self._manager.check_pending()
            for caller in self._manager.get_hookcallers(plugin) or ():
                for one in caller.get_hookimpls():
                    if one.plugin is plugin:
                        _check_function(caller.name, one)
        except PluginValidationError as error:
            self._dismiss(name)
            # Of several lines, the first names the hook and the last says what is wrong with it.
            lines = str(error).split("\n")
            why = ": ".join(dict.fromkeys((lines[0], lines[-1])))
            raise PluginValidationError(plugin, why) from error
        except BaseException:
            self._dismiss(name)
            raise

    def _dismiss(self, name: str) -> None:
        if self._manager.has_plugin(name):
            self._manager.unregister(name=name)

    def _adopt(self, plugin: object, name: str) -> dict[str, RegistryEntry]:
        self._admit(plugin, name)
        try:
            return self._collect_all(name)
        except BaseException:
            self._dismiss(name)
            raise

    def _collect_all(self, name: str) -> dict[str, RegistryEntry]:
        if not self.hooks(name):
            raise ValueError("it implements no hook: mark them with commonplace.plugin.hookimpl")
        collected: dict[str, RegistryEntry] = {}
        for kind in KINDS:
            collected.update(self._collect(kind, name, ""))
        return collected

    def _collect(self, kind: str, plugin: str, module: str) -> dict[str, RegistryEntry]:
        """Call the plugin's hook of one kind; ``module`` is ``""`` without an entry point."""
        hook = KINDS[kind]
        plain = self._plain.get(plugin)
        if hook not in (self.hooks(plugin) if plain is None else plain):
            return {}
        label = self._label(kind, plugin)
        declared = self._declared(kind, module)

        def claimed(id_: str) -> str:
            if id_ in declared:  # a rival entry point is reported where this id is requested
                return ""
            name = f"{kind}.{id_}"
            if (known := self._entries.get(name)) is not None:
                return known.plugin
            rivals = [e for e in self._catalogue.rivals(name) if e.module != module]
            return self._label(kind, rivals[0].module) if rivals else ""

        registrar = REGISTRARS[kind](kind, label, claimed)
        caller = self._caller(plugin, hook) if plain is None else plain[hook]
        self.timed(
            f"{hook} {plugin}",
            lambda: self._within(f"{hook} of {plugin}", module, lambda: caller(register=registrar)),
        )
        own = bool(module) and not self.is_foreign(module)
        registered = registrar.registered
        if not own:
            entry = next(iter(self._catalogue.of_module(kind, module)), None)
            guarded = partial(guarded_factory, kind, plugin=label, entry=entry)
            registered = {
                id_: (role, part._replace(factory=guarded(id_, factory=part.factory)))
                for id_, (role, part) in registered.items()
            }
        return {
            f"{kind}.{id_}": RegistryEntry(role, registration, label, own=own)
            for id_, (role, registration) in registered.items()
        }

    def _caller(self, plugin: str, hook: str) -> Callable[..., Any]:
        """What calls ``hook`` of this plugin alone."""
        others = [other for name, other in self._manager.list_name_plugin() if name != plugin]
        return self._manager.subset_hook_caller(hook, others)

    def _within(self, what: str, module: str, work: Callable[[], R]) -> R:
        """The result of ``work``, given up after some seconds where a stranger's code does it.

        Only the lock of the module that hangs stays taken: other imports go on.
        """
        # A thread would wait for ever for a module whose import by this thread has led here.
        if not self.is_foreign(module) or _is_importing():
            return work()
        from commonplace.resilience.bounded_call import Worker
        from commonplace.resilience.deadline import Deadline

        try:
            return Worker(what).run(work, Deadline.after(self._seconds))
        except DeadlineExceededError as error:
            raise TimeoutError(f"{what} timed out after {self._seconds:g} s") from error

    def is_foreign(self, module: str) -> bool:
        """Whether a distribution other than ours offers the plugin ``module``."""
        return any(
            entry.module == module and canonical(entry.distribution) != OWN_DISTRIBUTION
            for entry in self._catalogue.entries
        )

    def _label(self, kind: str, plugin: str) -> str:
        entries = self._catalogue.of_module(kind, plugin)
        return f"{plugin} ({entries[0].origin})" if entries else plugin


def _check_function(hook: str, implementation: HookImpl) -> None:
    """Raise ``TypeError`` for what a call only begins, and what may put anything for a result."""
    import inspect  # pluggy has imported it

    function = implementation.function
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{hook} is async, and hooks are not awaited: define it without async")
    wraps = implementation.wrapper or implementation.hookwrapper
    if inspect.isgeneratorfunction(function) and not wraps:
        raise TypeError(f"{hook} yields, and is no wrapper: mark it with hookimpl(wrapper=True)")
    if implementation.hookwrapper and hook not in CALLED["events"]:
        raise TypeError(f"{hook} is a hookwrapper, whose result is unchecked: use wrapper=True")


def _mark(hooks: str) -> str:
    return f"mark what implements {hooks} with commonplace.plugin.hookimpl"


def _is_importing() -> bool:
    """Whether any module is being imported at this moment."""
    return any(
        getattr(getattr(module, "__spec__", None), "_initializing", False)
        for module in tuple(sys.modules.values())
    )
