"""Offers the transcripts of agents' sessions as sources of documents."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from commonplace.plugin import Group, hookimpl, setting

if TYPE_CHECKING:
    from commonplace.plugin import Source, SourceContext, SourceRegistrar
    from commonplace_sessions.folder import Folder
    from commonplace_sessions.readers import Reader


class TranscriptSettings(Group):
    """``plugins.entries.<id>.config`` and ``sync.sessions``, the same for each of these sources."""

    root: str | None = setting(
        "Folder of the transcripts.", default=None, path=True, shown="where the agent keeps them"
    )
    delta_bytes: int = setting(
        "Growth of a transcript after which it is indexed again.",
        default=100_000,
        unit="bytes",
        minimum=0,
        clamp=(0, None),
        tunable=True,
    )
    delta_messages: int = setting(
        "New messages in a transcript after which it is indexed again.",
        default=50,
        unit="messages",
        minimum=0,
        clamp=(0, None),
        tunable=True,
    )


_PARTNERS = {
    "sessions": "of this agent with OpenClaw",
    "claude-code": "with Claude Code",
    "codex": "with Codex",
}
_HOMES = {"claude-code": (".claude", "projects"), "codex": (".codex", "sessions")}


@hookimpl
def commonplace_register_sources(register: SourceRegistrar) -> None:
    """Add the sources ``sessions``, ``claude-code`` and ``codex``."""
    for id_, partner in _PARTNERS.items():
        summary = f"conversations {partner}, redacted"
        register.source(id_, partial(_source, id_), summary=summary, config=TranscriptSettings)


def _source(id_: str, context: SourceContext) -> Source:
    from commonplace_sessions.folder import WANTED
    from commonplace_sessions.source import Growth, TranscriptSource

    def reader() -> Reader:
        from commonplace_sessions.readers import READERS

        return READERS[id_]

    settings = context.config or TranscriptSettings()
    growth = Growth(settings.delta_bytes, settings.delta_messages)
    return TranscriptSource(id_, _folder(id_, context), WANTED[id_], reader, growth)


def _folder(id_: str, context: SourceContext) -> Folder:
    """The configured folder, the program's own, or that of this agent's sessions with OpenClaw.

    Raises :class:`~commonplace.plugin.PluginUnavailableError` for an agent whose id could lead to
    another folder.
    """
    from commonplace.plugin import PluginUnavailableError
    from commonplace_sessions.folder import Folder

    deep = id_ in _HOMES
    config = context.config
    if isinstance(config, TranscriptSettings) and config.root is not None:
        return Folder(os.path.abspath(config.root), named=True, deep=deep)
    if deep:
        return Folder(os.path.join(os.path.expanduser("~"), *_HOMES[id_]), deep=True)
    if not context.state_dirs:
        return Folder(context.workspace, ("sessions",))
    agent = context.agent
    if agent in ("", ".", "..") or any(mark in agent for mark in "/\\:\0"):
        raise PluginUnavailableError(
            f"the agent's id {agent!r} cannot be the name of a folder",
            hint="name the folder by plugins.entries.sessions.config.root",
        )
    return Folder(context.state_dirs[0], ("agents", agent, "sessions"))
