"""Offers the transcripts of agents' sessions as sources of documents, and a command on them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from commonplace.plugin import Group, hookimpl, setting

if TYPE_CHECKING:
    from commonplace.plugin import Command, CommandRegistrar, Source, SourceContext, SourceRegistrar
    from commonplace_sessions.readers import Reader


class TranscriptSettings(Group):
    """``plugins.entries.<id>.config`` and ``sync.sessions``, the same for each of these sources."""

    root: str | None = setting(
        "Folder of the transcripts.",
        default=None,
        path=True,
        shown="where the agent keeps them",
        widens=True,
    )
    delta_bytes: int = setting(
        "Growth of a transcript after which it is indexed again.",
        default=100_000,
        unit="bytes",
        minimum=0,
        clamp=(0, None),
        tunable=True,
        tunable_within=(10_000, 1_000_000),
    )
    delta_messages: int = setting(
        "New messages in a transcript after which it is indexed again.",
        default=50,
        unit="messages",
        minimum=0,
        clamp=(0, None),
        tunable=True,
        tunable_within=(5, 500),
    )


_PARTNERS = {
    "sessions": "of this agent with OpenClaw",
    "claude-code": "with Claude Code",
    "codex": "with Codex",
}


@hookimpl
def commonplace_register_sources(register: SourceRegistrar) -> None:
    """Add the sources ``sessions``, ``claude-code`` and ``codex``."""
    for id_, partner in _PARTNERS.items():
        summary = f"conversations {partner}, redacted"
        register.source(id_, partial(_source, id_), summary=summary, config=TranscriptSettings)


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Add ``commonplace sessions``."""
    register.command(
        "sessions",
        _command,
        summary="List conversations with agents, show one, archive its end as a note",
    )


def _command() -> Command:
    from commonplace_sessions.command import SessionsCommand

    return SessionsCommand()


def _source(id_: str, context: SourceContext) -> Source:
    from commonplace_sessions.folder import WANTED, folder_of
    from commonplace_sessions.source import TranscriptSource

    def reader() -> Reader:
        from commonplace_sessions.readers import READERS, masking

        return masking(READERS[id_], context.secret_patterns)

    settings = context.config or TranscriptSettings()
    growth = settings.delta_bytes, settings.delta_messages
    folder, own = folder_of(id_, context), context.secret_patterns
    return TranscriptSource(id_, folder, WANTED[id_], reader, growth, secret_patterns=own)
