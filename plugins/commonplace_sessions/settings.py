"""The settings of a source of transcripts."""

from __future__ import annotations

from commonplace.plugin import Group, setting

__all__ = ["TranscriptSettings"]


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
