"""The one place where a plugin is imported and its hooks are called."""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from pluggy import PluginManager

from commonplace.errors import PluginConflictError
from commonplace.hookspecs import GROUP, Hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Failure", "Loader", "attempt"]

R = TypeVar("R")


class Failure:
    """What went wrong in a plugin: one line for people, the traceback, and the error itself."""

    __slots__ = ("cause", "error", "traceback")

    def __init__(self, error: str, traceback: str = "", cause: BaseException | None = None) -> None:
        self.error = error
        self.traceback = traceback
        self.cause = cause


def attempt(work: Callable[[], R]) -> R | Failure:
    """The result of ``work``, which is a plugin's; or its failure, of whatever kind.

    A plugin that calls ``sys.exit`` has failed, too. ``KeyboardInterrupt`` passes.
    """
    try:
        return work()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any fault of a plugin is kept for the report instead of ending the program
        from traceback import format_exception

        words = str(error).strip().partition("\n")[0]
        name = type(error).__name__
        return Failure(
            f"{name}: {words}" if words else name, "".join(format_exception(error)), error
        )


class Loader:
    """Imports plugins and calls their hooks; each plugin is known by a name of its own.

    With ``trace`` every import and every call is told to it as one line with milliseconds.
    """

    def __init__(self, trace: Callable[[str], None] | None = None) -> None:
        self._trace = trace
        self._modules: dict[str, object | Failure] = {}
        self._manager = PluginManager(GROUP)
        self._manager.add_hookspecs(Hooks)

    def load(self, module: str) -> object | Failure:
        """The plugin that is the module of this name, imported and checked once."""
        if module not in self._modules:
            self._modules[module] = attempt(lambda: self._import(module))
        return self._modules[module]

    def admit(self, plugin: object, name: str) -> None:
        """Take in a plugin under ``name``.

        Raises :class:`~commonplace.errors.PluginConflictError` if the name is taken, and whatever
        pluggy finds wrong with its hooks: a name that is none of ours, or an argument that the
        hook does not have.
        """
        if self._manager.has_plugin(name):
            raise PluginConflictError(f"a plugin is registered as {name!r} already")
        try:
            self._manager.register(plugin, name=name)
            self._manager.check_pending()
        except BaseException:
            self.dismiss(name)
            raise

    def dismiss(self, name: str) -> None:
        """Forget the plugin of this name, if it was taken in at all."""
        if self._manager.has_plugin(name):
            self._manager.unregister(name=name)

    def plugin(self, name: str) -> object | None:
        """The plugin of this name, if it has been admitted."""
        return self._manager.get_plugin(name)

    def hooks(self, name: str) -> tuple[str, ...]:
        """The hooks that the plugin of this name answers, in alphabetical order."""
        plugin = self._manager.get_plugin(name)
        callers = self._manager.get_hookcallers(plugin) if plugin is not None else None
        return tuple(sorted(caller.name for caller in callers or ()))

    def call(self, name: str, hook: str, arguments: Mapping[str, object]) -> None:
        """Call ``hook`` of the plugin of this name, and of no other."""
        manager = self._manager
        others = [plugin for other, plugin in manager.list_name_plugin() if other != name]
        caller = manager.subset_hook_caller(hook, others)
        started = time.perf_counter()
        try:
            caller(**arguments)
        finally:
            self._tell(f"{hook} {name}", started)

    def _import(self, module: str) -> object:
        started = time.perf_counter()
        try:
            plugin = import_module(module)
        finally:
            self._tell(f"import {module}", started)
        self.admit(plugin, module)
        return plugin

    def _tell(self, what: str, started: float) -> None:
        if self._trace is not None:
            self._trace(f"commonplace: {what} {(time.perf_counter() - started) * 1e3:.2f} ms")
