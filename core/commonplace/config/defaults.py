"""The one place where core names plugins: the default parts, and the keys that are plugins' own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


BACKENDS = ("builtin",)
"""The chain of backends."""

ORIGINAL_BACKENDS = ("qmd",)
"""Backends that the original knows: ``memory.<id>`` is theirs whatever it holds."""

ORIGINAL_NAMES = ("openclaw.json", "moltbot.json", "clawdbot.json")
"""What the configuration files of an original are called."""

SOURCES = ("memory",)
"""The sources of documents."""

TRANSCRIPTS = "sessions"
"""The source that is searched only with ``experimental.sessionMemory``."""

CHUNKER = "markdown"
CHUNKERS = ("markdown", "lines")
"""The default chunker, and those that come with commonplace."""

CHUNK_SIZES: Mapping[str, Mapping[str, int]] = {"lines": {"tokens": 400, "overlap": 80}}
"""Size and overlap of chunkers that differ from the default, in tokens."""

FUSION = "evidence"
"""The default of the rankers that make one score of what keywords and vectors say."""

FUSION_BY_SHARES = "weighted"
"""The fusion where the shares of vectors and text are configured and no fusion is."""

FUSIONS: Mapping[str, str] = {
    FUSION: "by the rank of vectors and by how much of the query the words cover",
    FUSION_BY_SHARES: "by both scores, each with its share",
    "rrf": "by both ranks",
}
"""These rankers, and what each goes by."""

RANKERS: Mapping[str, tuple[str, ...]] = {
    "default": (FUSION, "recency", "validity"),
    "plain": (FUSION, "recency"),
    "compat": (FUSION_BY_SHARES, "lexical_boost"),
}
"""The rankers of each profile; ``query.hybrid.fusion`` replaces the default fusion in them."""

BALANCING = "source_balance"
"""The ranker that the default profile's chain gets where several sources are searched."""

SWITCHED_RANKERS = ("temporal_decay", "mmr")
"""Rankers that a profile's chain gets, in this order, where their ``enabled`` is true."""


REPLACED_RANKERS: Mapping[str, str] = {"temporal_decay": "recency"}
"""Rankers of a profile's chain that do not run beside one that is switched on."""


class Owner(NamedTuple):
    """The ``sections`` whose settings a key belongs to, and its ``key`` in them (``""``: all)."""

    sections: tuple[str, ...]
    key: str = ""


def _entry(id_: str) -> str:
    return f"plugins.entries.{id_}.config"


_AGENTS = (_entry(TRANSCRIPTS), _entry("claude-code"), _entry("codex"))

SEARCH_KEYS: Mapping[str, Owner] = {
    "local": Owner((_entry("local"),)),
    "store.vector": Owner(("memory.builtin",), "vector"),
    "sync.sessions.deltaBytes": Owner(_AGENTS, "deltaBytes"),
    "sync.sessions.deltaMessages": Owner(_AGENTS, "deltaMessages"),
    "query.hybrid.mmr": Owner((_entry("mmr"),)),
    "query.hybrid.recency": Owner((_entry("recency"),)),
    "query.hybrid.temporalDecay": Owner((_entry("temporal_decay"),)),
    "query.hybrid.trust": Owner((_entry(FUSION),), "trust"),
    "query.hybrid.validity": Owner((_entry("validity"),)),
    "qmd.extraCollections": Owner(("memory.qmd",), "extraCollections"),
}
"""Keys of ``memorySearch`` that plugins declare, by their position there.

The original's spelling puts them among core's keys. A plugin that is not listed here has its
settings in its own section alone: ``memory.<id>`` for a backend, else
``plugins.entries.<id>.config``.
"""
