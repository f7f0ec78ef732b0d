"""The settings of search, ``agents.defaults.memorySearch`` in a file, each described once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from commonplace.config.defaults import (
    CHUNKER,
    CHUNKERS,
    FUSION,
    FUSION_BY_SHARES,
    FUSIONS,
    SOURCES,
)
from commonplace.config.secret import Secret
from commonplace.model.documents import NoteRules
from commonplace.model.plugins import Group, setting
from commonplace.model.search import MOST_RESULTS


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
        tunable_within=(100, 8000),
    )
    overlap: int = setting(
        "Text that a piece repeats of the one before it; at most `tokens` - 1, and half of it if "
        "a workspace's own file sets either.",
        default=32,
        unit="tokens",
        minimum=0,
        clamp=(0, None),
        shown="32; 80 for `lines`",
        tunable_within=(0, 4000),
    )


class HybridSettings(Group):
    """How keyword and vector search go together."""

    enabled: bool = setting(
        "Search by keywords beside vectors; keywords alone never need it.",
        default=True,
        tunable=True,
    )
    fusion: str = setting(
        "How keywords and vectors become one score: "
        + "; ".join(f"`{id_}` {by}" for id_, by in FUSIONS.items())
        + f"; or the id of a plugin's. The profile `compat` always takes `{FUSION_BY_SHARES}`.",
        default=FUSION,
        known=tuple(FUSIONS),
        shown=f"`{FUSION}`; `{FUSION_BY_SHARES}` where a share is set",
        tunable=True,
    )
    vector_weight: float = setting(
        f"Share of the vector score under `{FUSION_BY_SHARES}`; both are divided by their sum.",
        default=0.7,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
        tunable=True,
    )
    text_weight: float = setting(
        f"Share of the keyword score under `{FUSION_BY_SHARES}`.",
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
        maximum=MOST_RESULTS,
        tunable_within=(1, 100),
    )
    min_score: float | None = setting(
        "Least score of a hit, 0 to 1; the same as `--min-score` of a search.",
        default=None,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
        shown="none; a cosine of 0.35 for what vectors alone found",
        tunable_within=(0, 0.8),
    )
    fold: bool = setting(
        "Show dated notes that say the same but for a value as one hit, the newest.",
        default=True,
        tunable=True,
    )
    join: bool = setting(
        "Show neighbouring hits that are one passage as one hit.", default=True, tunable=True
    )
    time_zone: str | None = setting(
        "Time zone of words like `after:yesterday` and of daily logs, such as `Europe/Berlin`.",
        default=None,
        shown="the system's",
        read="time_zone",
        schema={"type": "string"},
        tunable=True,
    )
    embedding_seconds: int | None = setting(
        "Longest wait for the embedding of a query, all attempts together; keywords alone answer "
        "then, and the provider is left alone for a while. More than 25 has no effect unless the "
        "search is given more time.",
        default=None,
        unit="seconds",
        minimum=1,
        shown="2; 25 for models that this process loads",
    )
    hybrid: HybridSettings = setting("Both kinds of search.", default=HybridSettings())


class RankingSettings(Group):
    """How hits are ranked; ours, the original has no such keys."""

    profile: Literal["default", "plain", "compat"] = setting(
        "`plain` scores keywords by BM25 and word order alone, without a second look at dates, "
        "documents and scripts; `compat` scores as the original does, formula by formula.",
        default="default",
        tunable=True,
    )
    chain: tuple[str, ...] | None = setting(
        "Ids of the rankers, in order.",
        default=None,
        shown="chosen by the profile and the keys of `query.hybrid`",
    )


# Only what core itself understands: which providers there are is the plugins' to say.
PROVIDERS = ("auto", "none")

_TEXT = {"type": "string"}
_PATHS = {
    "type": "array",
    "items": {
        "anyOf": [
            _TEXT,
            {
                "type": "object",
                "properties": {"path": _TEXT, "pattern": _TEXT},
                "required": ["path"],
                "additionalProperties": False,
            },
        ]
    },
}


class ExtraPath(Group):
    """A further file or folder of notes."""

    path: str = setting("File or folder, absolute or relative to the workspace.")
    pattern: str | None = setting("Glob below the folder.", default=None)


class NotesSettings(Group):
    """Which files are notes; ours, the original has no such keys."""

    text: bool = setting("Take `.txt` files, too.", default=False, tunable=True)
    gitignore: bool = setting(
        "Leave out what `.gitignore` files name, except below `memory/`.",
        default=False,
        tunable=True,
    )

    @property
    def rules(self) -> NoteRules:
        """The same for those who look for notes."""
        return NoteRules(text=self.text, gitignore=self.gitignore)


class RedactSettings(Group):
    """Which secrets are masked beside those that are known; ours, the original has no such keys."""

    patterns: tuple[str, ...] = setting(
        "Regular expressions of further secrets, masked in transcripts and in what is written to "
        "notes; of one with a group, the "
        "group is masked.",
        default=(),
        read="patterns",
        schema={"type": "array", "items": _TEXT},
    )


class BatchSettings(Group):
    """Embedding through a provider's batch API."""

    enabled: bool = setting("Embed documents through the provider's batch API.", default=False)
    wait: bool = setting("Wait for the batch to be done.", default=True)
    concurrency: int = setting(
        "Batches under way at once, and other requests.", default=2, minimum=1, clamp=(1, None)
    )
    poll_interval_ms: int = setting(
        "Time between two looks at a batch.", default=2000, unit="ms", minimum=0
    )
    timeout_minutes: int = setting(
        "Time after which a batch is given up.", default=60, unit="minutes", minimum=1
    )


class RemoteSettings(Group):
    """An embedding service on the network."""

    base_url: str | None = setting(
        "Address of the service.", default=None, veiled=True, read="web_address"
    )
    api_key: Secret | None = setting(
        "Key: a literal, `${NAME}`, or a secret reference of the original.", default=None
    )
    headers: Mapping[str, Secret] = setting("Further HTTP headers.", default={})
    consent: Literal["ask", "yes", "no"] = setting(
        "Before texts first go to a server on another machine: `ask` says so, and asks on a "
        "terminal if a key was merely found; `yes` says so and never asks; `no` sends nothing.",
        default="ask",
    )
    batch: BatchSettings = setting("Batch API.", default=BatchSettings())


class StoreSettings(Group):
    """Where the index is, and what it is made of."""

    driver: Literal["sqlite"] = setting("Kind of index file.", default="sqlite")
    path: str | None = setting(
        "Index file; `{agentId}` is replaced by the agent's id.",
        default=None,
        path=True,
        locates=True,
        shown="`<state>/memory/{agentId}-<workspace>.sqlite`",
    )
    fts_tokenizer: Literal["unicode61", "trigram"] = setting(
        'Tokenizer of the original\'s keyword index; used under `ranking.profile: "compat"`.',
        default="unicode61",
        key="fts.tokenizer",
    )


class SyncSettings(Group):
    """When the index is updated from the files."""

    on_session_start: bool = setting("When a session starts.", default=True)
    on_search: bool = setting("When a search finds changed files.", default=True)
    embed_on_search: bool = setting(
        "Whether a search first embeds what has changed, as `search --wait` does.", default=False
    )
    embed_unasked: int = setting(
        "Texts that a process that stays embeds in the background after a search, if there are no "
        "more; 0 is never. More wait for `commonplace index` or `watch`.",
        default=500,
        unit="texts",
        minimum=0,
    )
    watch: bool = setting("When a watched file changes.", default=True)
    watch_debounce_ms: int = setting(
        "Quiet time after a change before it is indexed.",
        default=1500,
        unit="ms",
        minimum=0,
        maximum=3_600_000,
        tunable_within=(0, 60_000),
    )
    interval_minutes: int = setting(
        "Time between two syncs; 0 is never.",
        default=0,
        unit="minutes",
        minimum=0,
        maximum=525_600,
        tunable_within=(0, 10_080),
    )
    full_scan_minutes: int = setting(
        "Until all files are compared again; 0: always.", default=10, unit="minutes", minimum=0
    )
    post_compaction_force: bool = setting(
        "Index a session's transcript after its compaction, whatever it grew by.",
        default=True,
        key="sessions.postCompactionForce",
    )


class CacheSettings(Group):
    """Embeddings kept for texts that were embedded before."""

    enabled: bool = setting("Keep the embedding of every text.", default=True)
    max_entries: int | None = setting(
        "Embeddings kept at most.", default=None, minimum=1, clamp=(1, None), shown="no limit"
    )


class LimitsSettings(Group):
    """How much of memory an agent is shown."""

    max_injected_chars: int = setting(
        "Text that one search by an agent's tool may return, fences and citations included.",
        default=8000,
        unit="characters",
        minimum=500,
        clamp=(500, 200_000),
    )


class SearchSettings(Group):
    """Everything about finding notes."""

    unsupported: ClassVar[dict[str, str]] = {
        "multimodal": "images and audio are not indexed",
        "dreaming": "nothing is consolidated unasked",
    }

    enabled: bool = setting("Whether there is any memory search.", default=True)
    sources: tuple[str, ...] = setting(
        "Where documents come from; `sessions` only with `experimental.sessionMemory`.",
        default=SOURCES,
        read="source_ids",
    )
    extra_paths: tuple[ExtraPath, ...] = setting(
        "Further files and folders: paths, or objects of `path` and `pattern`.",
        default=(),
        read="extra_paths",
        schema=_PATHS,
        adds=True,
        tunable=True,
    )
    notes: NotesSettings = setting("Which files are notes.", default=NotesSettings())
    redact: RedactSettings = setting("Further secrets.", default=RedactSettings())
    session_memory: bool = setting(
        "Index the transcripts of sessions.", default=False, key="experimental.sessionMemory"
    )
    remember_across_conversations: bool | None = setting(
        "Recall other conversations; true includes the transcripts of sessions.",
        default=None,
        shown="off",
    )
    provider: str = setting(
        "Who makes embeddings: an id, `auto`, or `none` for keywords alone.",
        default="auto",
        known=PROVIDERS,
    )
    model: str = setting("Embedding model.", default="", shown="the provider's default")
    fallback: str = setting(
        "Who embeds the notes when `provider` fails before it has embedded any. Once it has, "
        "keywords answer while it fails, since the vectors of two providers cannot be compared: "
        "to change over, set `provider`.",
        default="none",
        known=PROVIDERS,
    )
    output_dimensionality: int | None = setting(
        "Length of the vectors, for models that offer several.",
        default=None,
        unit="dimensions",
        minimum=1,
        shown="the model's own",
    )
    input_type: str | None = setting(
        "`input_type` sent to OpenAI-compatible servers that want one.", default=None
    )
    query_input_type: str | None = setting("The same, for queries only.", default=None)
    document_input_type: str | None = setting("The same, for documents only.", default=None)
    query_prefix: str | None = setting(
        "Put before each query.", default=None, shown="the model's own, where it has one"
    )
    document_prefix: str | None = setting(
        "Put before each document.", default=None, shown="the model's own, where it has one"
    )
    remote: RemoteSettings = setting("A remote service.", default=RemoteSettings())
    store: StoreSettings = setting("The index.", default=StoreSettings())
    chunking: ChunkingSettings = setting("Chunking.", default=ChunkingSettings())
    sync: SyncSettings = setting("Freshness.", default=SyncSettings())
    query: QuerySettings = setting("Results.", default=QuerySettings())
    limits: LimitsSettings = setting("What agents are shown.", default=LimitsSettings())
    cache: CacheSettings = setting("Embedding cache.", default=CacheSettings())
    ranking: RankingSettings = setting("Ranking.", default=RankingSettings())
