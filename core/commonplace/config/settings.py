"""The resolved settings of one agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from commonplace.config.defaults import (
    BACKENDS,
    BALANCING,
    FUSION,
    RANKERS,
    REPLACED_RANKERS,
    SWITCHED_RANKERS,
)
from commonplace.config.search import SearchSettings
from commonplace.model.plugins import Group, setting

Citations = Literal["auto", "on", "off"]


class FlushSettings(Group):
    """When and how an agent is asked to write down what its context is about to lose."""

    enabled: bool = setting(
        "Ask at all; `memory.write.enabled` must be on as well.",
        default=True,
        key="memoryFlush.enabled",
    )
    soft_threshold_tokens: int = setting(
        "Distance from the compaction at which the agent is asked.",
        default=4000,
        key="memoryFlush.softThresholdTokens",
        unit="tokens",
        minimum=0,
    )
    force_flush_transcript_bytes: int = setting(
        "Growth of the transcript after which the agent is asked in any case; 0 is never. Takes "
        'texts such as `"2mb"` too.',
        default=2 * 1024 * 1024,
        key="memoryFlush.forceFlushTranscriptBytes",
        unit="bytes",
        minimum=0,
        read="byte_size",
        schema={"type": ["integer", "string"], "minimum": 0},
    )
    prompt: str | None = setting(
        "What the agent is asked.", default=None, key="memoryFlush.prompt", shown="our words"
    )
    system_prompt: str | None = setting(
        "What is added to its system prompt.",
        default=None,
        key="memoryFlush.systemPrompt",
        shown="our words",
    )
    model: str | None = setting(
        "Model of the turn, `provider/model`.",
        default=None,
        key="memoryFlush.model",
        shown="the session's",
    )
    reserve_tokens_floor: int = setting(
        "Part of the context window that is kept free for the answer; a quarter of a small one.",
        default=20_000,
        unit="tokens",
        minimum=0,
    )
    post_index_sync: Literal["off", "async", "await"] = setting(
        "Sync of the index after a compaction.", default="async"
    )


class FallbackSettings(Group):
    """How the links of a chain of backends stand in for one another."""

    standby: Literal["lazy", "warm"] = setting(
        "When a backend that stands by is kept up to the files: `lazy` once it serves, `warm` by "
        "every sync, so that it answers at once.",
        default="lazy",
    )
    embed_standby: bool = setting("Whether a `warm` one is embedded too.", default=False)


class WriteSettings(Group):
    """Whether agents may change notes; their owner always may."""

    enabled: bool = setting("Let agents remember, correct and forget.", default=False)


class RecallSettings(Group):
    """Whether it is recorded what agents recall."""

    enabled: bool = setting(
        "Record which lines agents recall, as digests without text; `commonplace dream` reads it.",
        default=False,
    )
    trace: bool = setting(
        "Keep for `commonplace why` what each recall of an agent gave: time, citations, scores, "
        "and digests of the question, of the passages and of the state they were found in.",
        default=False,
    )
    text: bool = setting("Keep the question itself too, for `recalls.trace`.", default=False)


class MemorySettings(Group):
    """The keys of the section ``memory`` itself."""

    unsupported: ClassVar[dict[str, str]] = {"dreaming": "nothing is consolidated unasked"}

    backend: tuple[str, ...] = setting(
        "The backend that searches, with the standby that it declares; or a list, which is then "
        "exactly the chain.",
        default=BACKENDS,
        read="backend_chain",
        schema={
            "type": ["string", "array"],
            "items": {"type": "string"},
            "minItems": 1,
            "uniqueItems": True,
        },
    )
    fallback: FallbackSettings = setting("Backends that stand by.", default=FallbackSettings())
    write: WriteSettings = setting("Writing by agents.", default=WriteSettings())
    recalls: RecallSettings = setting("The record of recalls.", default=RecallSettings())
    citations: Citations = setting(
        "Whether hits shown to an agent name their place: `auto` does so in direct chats.",
        default="auto",
        tunable=True,
    )
    links: str = setting(
        "What citations on a terminal link to: `auto` opens the editor that `VISUAL` or `EDITOR` "
        "names, if it is known, else the file; `off` links nothing; else a URL with `{path}`, and "
        "`{line}` or `{host}` if wanted, such as `vscode://file/{path}:{line}`.",
        default="auto",
        read="link_template",
    )


class Settings(Group):
    """One agent's configuration, resolved from every place it can come from."""

    workspace: str = setting("Folder of the agent's notes, absolute.")
    agent: str = setting("Id of the agent.")
    state_dir: str = setting("Where indexes live.")
    cache_dir: str = setting("Where caches live.")
    index_path: str = setting("This agent's index.")
    backends: tuple[str, ...] = setting("The chain of backends.", default=BACKENDS)
    fallback: FallbackSettings = setting("Backends that stand by.", default=FallbackSettings())
    write: WriteSettings = setting("Writing by agents.", default=WriteSettings())
    recalls: RecallSettings = setting("The record of recalls.", default=RecallSettings())
    slot: str = setting("Which memory plugin is selected.", default="memory-core")
    citations: Citations = setting("Whether hits name their place.", default="auto")
    links: str = setting("What citations on a terminal link to.", default="auto")
    search: SearchSettings = setting("Finding notes.", default=SearchSettings())
    flush: FlushSettings = setting("Writing notes before a compaction.", default=FlushSettings())
    openclaw_dirs: tuple[str, ...] = setting("An original's folders; read only.", default=())
    alone: bool = setting("Whether transcripts are those in the workspace alone.", default=False)
    config_files: tuple[str, ...] = setting("The files that were read.", default=())
    warnings: tuple[str, ...] = setting("What has no effect, and why.", default=())
    ignored: str = setting("Why the workspace's own file has no effect, if so.", default="")
    mistakes: tuple[str, ...] = setting("That, and misspelt sections: for answers.", default=())
    sections: Mapping[str, Mapping[str, object]] = setting(
        "Sections of plugins.", default={}, veiled=True
    )
    section_values: Mapping[str, Any] = setting(
        "The same, read into their classes.", default={}, veiled=True
    )
    providers: Mapping[str, Any] = setting(
        "The section `models.providers`.", default={}, veiled=True
    )
    env_blocks: tuple[Any, ...] = setting("The sections `env`.", default=(), veiled=True)
    agents: tuple[str, ...] = setting("Every configured agent.", default=())

    def plugin_section(self, id_: str) -> Mapping[str, object]:
        """``plugins.entries.<id>.config`` as it is written, and what stands elsewhere of it."""
        return self.sections.get(f"plugins.entries.{id_}.config", {})

    def plugin_config(self, id_: str) -> Any:
        """``plugins.entries.<id>.config`` as its plugin reads it; ``None`` where it is not set."""
        return self.section_values.get(f"plugins.entries.{id_}.config")


def may_have_provider(settings: Settings, env: Mapping[str, str]) -> bool:
    """Whether an embedding provider is named, or a key that one of them may take; loads none."""
    search = settings.search
    if search.provider != "auto":
        return search.provider not in {"none", ""}
    if settings.providers or search.remote.base_url or search.remote.api_key is not None:
        return True
    return any(name.endswith(("_API_KEY", "_API_KEYS")) and env[name] for name in env)


def chain_of(settings: Settings) -> tuple[str, ...]:
    """The ids of the rankers that run.

    ``ranking.chain`` as it stands, if it is set. Otherwise the profile's (``default`` is ours,
    ``compat`` gives the original's numbers), with ``query.hybrid.fusion`` in place of the default
    fusion, and the rankers that their settings switch on. Under ``default`` other sources that are
    searched beside notes, such as transcripts, do not crowd these out.
    """
    ranking, sources = settings.search.ranking, settings.search.sources
    if ranking.chain is not None:
        return ranking.chain
    switched = [id_ for id_ in SWITCHED_RANKERS if settings.plugin_section(id_).get("enabled")]
    replaced = {REPLACED_RANKERS.get(id_) for id_ in switched}
    chosen = {FUSION: settings.search.query.hybrid.fusion}
    kept = (id_ for id_ in RANKERS[ranking.profile] if id_ not in replaced)
    crowded = ranking.profile == "default" and len(sources) > 1
    balancing = (BALANCING,) if crowded else ()
    return (*(chosen.get(id_, id_) for id_ in kept), *switched, *balancing)
