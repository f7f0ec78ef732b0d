"""Commands that plugins bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.cli.command import Command
    from commonplace.host.host import PluginHost

__all__ = ["plugin_command", "plugin_command_names", "plugin_commands", "plugin_host"]


def plugin_host(env: Mapping[str, str]) -> PluginHost:
    """The installed plugins, as ``env`` lets them be seen."""
    from commonplace.config.paths import cache_dir
    from commonplace.host.host import PluginHost

    return PluginHost(cache_dir=cache_dir(env), env=env)


def plugin_command_names(env: Mapping[str, str]) -> tuple[str, ...]:
    """The verbs that plugins offer, known without importing any of them."""
    return plugin_host(env).ids("command")


def plugin_commands(env: Mapping[str, str]) -> list[tuple[str, str]]:
    """Name and summary of what plugins offer; one that fails to load says so."""
    from commonplace.errors import CommonplaceError

    host = plugin_host(env)
    found = []
    for name in host.ids("command"):
        try:
            summary = host.command(name).summary
        except CommonplaceError as error:
            summary = f"(does not load: {error})"
        found.append((name, summary))
    return found


def plugin_command(name: str, env: Mapping[str, str]) -> Command:
    """The command a plugin offers as ``name``.

    Raises :class:`~commonplace.errors.PluginUnavailableError` if it cannot be loaded.
    """
    command: Command = plugin_host(env).command(name).factory()
    return command
