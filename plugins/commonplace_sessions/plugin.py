"""Offers the transcripts of agents' sessions as sources of documents."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.plugin import Group, hookimpl, setting

if TYPE_CHECKING:
    from commonplace.plugin import Source, SourceContext, SourceRegistrar
    from commonplace_sessions.folder import Folder
    from commonplace_sessions.readers import Reader
    from commonplace_sessions.source import Growth


@hookimpl
def commonplace_register_sources(register: SourceRegistrar) -> None:
    """Add the sources ``sessions``, ``claude-code`` and ``codex``."""
    register.source(
        "sessions",
        _sessions,
        summary="conversations of this agent with OpenClaw, redacted",
        config=TranscriptSettings,
    )
    register.source(
        "claude-code",
        _claude_code,
        summary="conversations with Claude Code, redacted",
        config=TranscriptSettings,
    )
    register.source(
        "codex", _codex, summary="conversations with Codex, redacted", config=TranscriptSettings
    )


def _sessions(context: SourceContext) -> Source:
    from commonplace_sessions.folder import is_openclaw
    from commonplace_sessions.source import TranscriptSource

    return TranscriptSource(
        "sessions", _agents_own(context), is_openclaw, _openclaw_reader, _growth(context)
    )


def _claude_code(context: SourceContext) -> Source:
    from commonplace_sessions.folder import is_claude_code
    from commonplace_sessions.source import TranscriptSource

    folder = _configured(context, deep=True) or _in_home(".claude", "projects")
    return TranscriptSource(
        "claude-code", folder, is_claude_code, _claude_code_reader, _growth(context)
    )


def _codex(context: SourceContext) -> Source:
    from commonplace_sessions.folder import is_codex
    from commonplace_sessions.source import TranscriptSource

    folder = _configured(context, deep=True) or _in_home(".codex", "sessions")
    return TranscriptSource("codex", folder, is_codex, _codex_reader, _growth(context))


def _openclaw_reader() -> Reader:
    from commonplace_sessions.readers import read_openclaw

    return read_openclaw


def _claude_code_reader() -> Reader:
    from commonplace_sessions.readers import read_claude_code

    return read_claude_code


def _codex_reader() -> Reader:
    from commonplace_sessions.readers import read_codex

    return read_codex


def _growth(context: SourceContext) -> Growth:
    from commonplace_sessions.source import Growth

    settings = context.config or TranscriptSettings()
    return Growth(settings.delta_bytes, settings.delta_messages)


def _agents_own(context: SourceContext) -> Folder:
    """The folder of this agent's sessions: the configured one, the original's, or the workspace's.

    Raises :class:`~commonplace.plugin.PluginUnavailableError` for an agent whose id could lead to
    another folder.
    """
    from commonplace.plugin import PluginUnavailableError
    from commonplace_sessions.folder import Folder

    configured = _configured(context, deep=False)
    if configured is not None:
        return configured
    if not context.state_dirs:
        return Folder(context.workspace, ("sessions",))
    agent = context.agent
    if agent in ("", ".", "..") or any(mark in agent for mark in "/\\:\0"):
        raise PluginUnavailableError(
            f"the agent's id {agent!r} cannot be the name of a folder",
            hint="name the folder by plugins.entries.sessions.config.root",
        )
    return Folder(context.state_dirs[0], ("agents", agent, "sessions"))


def _configured(context: SourceContext, *, deep: bool) -> Folder | None:
    from commonplace_sessions.folder import Folder

    config = context.config
    if not isinstance(config, TranscriptSettings) or config.root is None:
        return None
    return Folder(os.path.abspath(config.root), named=True, deep=deep)


def _in_home(*parts: str) -> Folder:
    from commonplace_sessions.folder import Folder

    return Folder(os.path.join(os.path.expanduser("~"), *parts), deep=True)


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
