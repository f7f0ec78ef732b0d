"""Offers the engine, the source and the command; what is heavy is imported in the factories."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from commonplace.plugin import Group, Probe, hookimpl, setting

if TYPE_CHECKING:
    from commonplace.plugin import (
        BackendRegistrar,
        Command,
        CommandRegistrar,
        ManagerContext,
        MemoryManager,
        Source,
        SourceContext,
        SourceRegistrar,
    )

CAPABILITIES = frozenset(
    {"phrases", "exclusions", "paths", "dates", "tags", "lines", "cjk", "thai", "persistent"}
)
"""What the engine can do."""


class MboxSettings(Group):
    """``plugins.entries.mbox.config``, resolved."""

    path: str = setting(
        "The mbox file, absolute or relative to the workspace; may begin with `~`.",
        default="mail.mbox",
    )


@hookimpl
def commonplace_register_backends(register: BackendRegistrar) -> None:
    """Offer the engine; a backend is chosen by its name in ``memory.backend``."""
    register.manager(
        "whoosh",
        make_manager,
        summary="notes as whole documents in a Whoosh index",
        capabilities=CAPABILITIES,
        probe=_probe,
    )


@hookimpl
def commonplace_register_sources(register: SourceRegistrar) -> None:
    """Offer the source; it is read where ``memorySearch.sources`` names it."""
    register.source("mbox", make_source, summary="the mails in an mbox file", config=MboxSettings)


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Offer the command."""
    register.command("tagcount", make_command, summary="count the tags of the notes")


def make_manager(context: ManagerContext) -> MemoryManager:
    """The engine, with its index in ``context.state_dir``."""
    from commonplace_example_kinds.whoosh_engine import WhooshEngine

    return WhooshEngine(context)


def make_source(context: SourceContext) -> Source:
    """The source of the mails in the configured file."""
    from commonplace_example_kinds.mbox import MboxSource

    settings = context.config or MboxSettings()
    return MboxSource(context.workspace, settings.path)


def make_command() -> Command:
    """The command."""
    from commonplace_example_kinds.tagcount import TagCount

    return TagCount()


def _probe() -> Probe:
    if find_spec("whoosh") is None:
        return Probe(
            available=False,
            reason="Whoosh is not installed",
            hint="pip install commonplace-example-kinds",
        )
    return Probe(available=True)
