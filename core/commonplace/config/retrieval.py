"""The settings of how notes are cut, found and ranked: those a workspace may tune itself."""

from __future__ import annotations

from typing import Literal

from commonplace.config.defaults import CHUNKER, CHUNKERS
from commonplace.model.groups import Group, setting

__all__ = [
    "ChunkingSettings",
    "HybridSettings",
    "QuerySettings",
    "RankingSettings",
]


class ChunkingSettings(Group):
    """How notes are cut into pieces."""

    strategy: str = setting(
        "Chunker: `markdown` cuts at headings and blocks, `lines` as the original does; or the "
        "id of a plugin's.",
        default=CHUNKER,
        known=CHUNKERS,
        tunable=True,
    )
    tokens: int = setting(
        "Target size of a piece (a token is about 4 characters).",
        default=200,
        unit="tokens",
        minimum=1,
        clamp=(1, None),
        shown="200; 400 for `lines`",
        tunable=True,
    )
    overlap: int = setting(
        "Text that a piece repeats of the one before it; at most `tokens` - 1.",
        default=32,
        unit="tokens",
        minimum=0,
        clamp=(0, None),
        shown="32; 80 for `lines`",
        tunable=True,
    )


class HybridSettings(Group):
    """How keyword and vector search go together."""

    enabled: bool = setting(
        "Search by keywords beside vectors; keywords alone never need it.",
        default=True,
        tunable=True,
    )
    vector_weight: float = setting(
        "Share of the vector score; both shares are divided by their sum.",
        default=0.7,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
        tunable=True,
    )
    text_weight: float = setting(
        "Share of the keyword score.",
        default=0.3,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
        tunable=True,
    )
    candidate_multiplier: int = setting(
        "Candidates that each arm is asked for, per result wanted; at most 20.",
        default=4,
        minimum=1,
        clamp=(1, 20),
        tunable=True,
    )


class QuerySettings(Group):
    """What a search gives back."""

    max_results: int = setting(
        "Hits of a search that names no number.",
        default=6,
        unit="hits",
        minimum=1,
        tunable=True,
    )
    min_score: float = setting(
        "Least score of a hit that vectors found, 0 to 1.",
        default=0.35,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
        tunable=True,
    )
    embedding_seconds: int | None = setting(
        "Longest wait for the embedding of a query, all attempts together; keywords alone answer "
        "then, and the provider is left alone for a while. More than 25 has no effect.",
        default=None,
        unit="seconds",
        minimum=1,
        shown="10; 25 for models on this machine or network",
    )
    hybrid: HybridSettings = setting("Both kinds of search.", default=HybridSettings())


class RankingSettings(Group):
    """How hits are ranked; ours, the original has no such keys."""

    profile: Literal["default", "compat"] = setting(
        "`compat` scores as the original does, formula by formula.",
        default="default",
        tunable=True,
    )
    chain: tuple[str, ...] | None = setting(
        "Ids of the rankers, in order.",
        default=None,
        shown="chosen by the profile and the keys of `query.hybrid`",
        tunable=True,
    )
