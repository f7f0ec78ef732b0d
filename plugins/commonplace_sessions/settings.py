"""The section of a source of transcripts in the configuration."""

from __future__ import annotations

from attrs import field, frozen

from commonplace.plugin import described

__all__ = ["TranscriptSettings"]


@frozen
class TranscriptSettings:
    """``plugins.entries.<id>.config``, the same for each of these sources."""

    root: str | None = field(
        default=None,
        metadata=described(
            "Folder of the transcripts.", path=True, shown="where the agent keeps them"
        ),
    )
