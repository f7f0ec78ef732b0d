"""Offers the commands ``install``, ``uninstall`` and ``hook``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Command, CommandRegistrar


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Add the three commands."""
    register.command("install", _install, summary="Connect an agent's program to memory")
    register.command("uninstall", _uninstall, summary="Take memory out of an agent's program")
    register.command("hook", _hook, summary="Answer a hook of an agent's program")


def _install() -> Command:
    from commonplace_harnesses.command import InstallCommand

    return InstallCommand()


def _uninstall() -> Command:
    from commonplace_harnesses.command import UninstallCommand

    return UninstallCommand()


def _hook() -> Command:
    from commonplace_harnesses.hook import HookCommand

    return HookCommand()
