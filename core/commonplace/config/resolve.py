"""Merges the documents of a configuration into the settings of one agent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypedDict

from commonplace.config import paths
from commonplace.config.credentials import Environment, env_block
from commonplace.config.defaults import (
    BACKENDS,
    CHUNK_SIZES,
    FUSION_BY_SHARES,
    ORIGINAL_BACKENDS,
    ORIGINAL_NAMES,
    SOURCES,
    TRANSCRIPTS,
)
from commonplace.config.document import Shapes, merged_sections, read_document, read_sections
from commonplace.config.json5 import UnreadableError, parse_json5, read_text
from commonplace.config.paths import Agents, find_agent, find_workspace
from commonplace.config.reading import Layer, Reader, TooManyProblemsError, joined
from commonplace.config.settings import MemorySettings, Settings
from commonplace.config.switches import memory_slot, switch_rules
from commonplace.config.values import unmatched
from commonplace.errors import ConfigError
from commonplace.model.plugins import ConfigProblem

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.credentials import ProviderSection
    from commonplace.config.document import Findings
    from commonplace.config.reading import Found
    from commonplace.config.search import SearchSettings
    from commonplace.config.shape import Shape

_ARGUMENT = "config argument"
"""What stands for the file where a mapping was given."""


def search_settings(
    shape: Shape, found: Mapping[tuple[str, ...], Any], *, strange: bool = False
) -> tuple[SearchSettings, list[str]]:
    """The settings from values by Python names, and words on what has no effect.

    ``shape`` is that of :class:`~commonplace.config.search.SearchSettings`; ``strange`` says that a
    workspace's own file has a part in how notes are cut.
    """
    values = dict(found)
    notes = _sources(values)
    extra, text = values.get(("extra_paths",), ()), values.get(("notes", "text")) is True
    notes += [f"memorySearch.extraPaths: {words}" for words in unmatched(extra, text=text)]
    _weights(values)
    _chunking(values, strange=strange)
    return shape.build(values), notes


def _sources(values: dict[tuple[str, ...], Any]) -> list[str]:
    """Bring both halves of the consent to transcripts together; words where one is missing."""
    notes: list[str] = []
    remembers = values.get(("remember_across_conversations",)) is True
    if remembers:
        values["session_memory",] = True
    sources = values.get(("sources",), SOURCES)
    if not values.get(("session_memory",), False):
        if TRANSCRIPTS in sources:
            notes.append(
                f"memorySearch.sources: {TRANSCRIPTS} are not searched: "
                "set experimental.sessionMemory to true as well"
            )
        sources = tuple(source for source in sources if source != TRANSCRIPTS)
    elif TRANSCRIPTS not in sources:
        if remembers:
            sources = (*sources, TRANSCRIPTS)
        else:
            notes.append(
                f"memorySearch.experimental.sessionMemory: {TRANSCRIPTS} are not searched: "
                f'put "{TRANSCRIPTS}" into sources as well'
            )
    values["sources",] = sources or SOURCES
    return notes


def _weights(values: dict[tuple[str, ...], Any]) -> None:
    vector, text = ("query", "hybrid", "vector_weight"), ("query", "hybrid", "text_weight")
    if vector not in values and text not in values:
        return
    values.setdefault(("query", "hybrid", "fusion"), FUSION_BY_SHARES)
    weights = values.get(vector, 0.7), values.get(text, 0.3)
    whole = sum(weights)
    values[vector], values[text] = (
        (weights[0] / whole, weights[1] / whole) if whole > 0 else (0.7, 0.3)
    )


def _chunking(values: dict[tuple[str, ...], Any], *, strange: bool) -> None:
    """Bring the overlap within the size of pieces, half of it where a ``strange`` file has either.

    A piece that begins a word after the one before it would make embedding 200 times as expensive.
    """
    tokens, overlap = ("chunking", "tokens"), ("chunking", "overlap")
    strategy = values.get(("chunking", "strategy"), "")
    for name, default in CHUNK_SIZES.get(strategy, {}).items():
        values.setdefault(("chunking", name), default)
    if tokens in values or overlap in values:
        size = values.get(tokens, 200)
        values[overlap] = min(values.get(overlap, 25), size // 2 if strange else size - 1)


Config = str | os.PathLike[str] | Mapping[str, object] | None


class Arguments(TypedDict, total=False):
    """What :func:`~commonplace.config.load.load_settings` takes."""

    workspace: str | None
    agent: str | None
    config: Config
    env: Mapping[str, str] | None
    sections: Callable[[str], type | None] | None


class Resolution:
    """Settings, where each was found, and all that is wrong or has no effect.

    ``settings`` is ``None`` where there are problems in files, or an ``error``: an agent or a
    workspace that cannot be. ``memory`` is the section of that name. ``found`` is keyed by section
    (``search``, ``flush``, ``memory``, and a plugin's by its own name, such as ``memory.<id>``) and
    dotted key.
    ``written`` are the sections of plugins that stand in a file, or belong to a chosen backend.
    ``refused`` is all that is wrong in a workspace's own file, ``ignored`` the same in a line.
    """

    def __init__(self) -> None:
        self.settings: Settings | None = None
        self.memory = MemorySettings()
        self.error: ConfigError | None = None
        self.found: dict[str, dict[str, Found]] = {}
        self.workspace = self.workspace_origin = ""
        self.agent_origin = ""
        self.files: list[str] = []
        self.problems: list[ConfigProblem] = []
        self.refused: list[ConfigProblem] = []
        self.ignored = ""
        self.warnings: list[str] = []
        self.layers: list[Layer] = []
        self.written: set[str] = set()

    def settings_or_raise(self) -> Settings:
        """The settings; raises :class:`~commonplace.errors.ConfigError` with all problems."""
        if self.settings is not None:
            return self.settings
        if self.error is not None and not self.problems:
            raise self.error
        first, *others = self.problems
        more = f" (and {len(others)} more)" if others else ""
        hint = "run `commonplace config check` to list all problems"
        if first.file == _ARGUMENT:
            hint = "correct the mapping that was given as config"
        elif "No such file" in first.message and not others:
            hint = "create it, or name another one (--config, or COMMONPLACE_CONFIG)"
        raise ConfigError(f"{first}{more}", problems=self.problems, hint=hint)


def resolve(
    *,
    workspace: str | None = None,
    agent: str | None = None,
    config: Config = None,
    env: Mapping[str, str] | None = None,
    sections: Callable[[str], type | None] | None = None,
    needed: bool = True,
) -> Resolution:
    """Everything that :func:`~commonplace.config.load.load_settings` does, with every detail.

    Where no workspace is ``needed`` and none is set, it is ``""``, and a warning says so.
    """
    env = os.environ if env is None else env
    resolution = Resolution()
    shapes = Shapes(sections)
    layers = documents(config, env, resolution)
    named = any(layer.role == "named" for layer in layers)
    resolution.warnings += paths.missing_originals(env, named=named)
    folders = paths.openclaw_dirs(env)
    blocks = tuple(filter(None, map(env_block, layers)))
    wide = Environment(env, folders, blocks)
    readers = [Reader(layer, wide) for layer in layers]
    findings = [read_document(reader, shapes) for reader in readers]
    agents = Agents(findings)
    try:
        id_, resolution.agent_origin = find_agent(agent, env, agents)
        resolution.workspace, resolution.workspace_origin = find_workspace(
            workspace, id_, env, agents, folders, needed=needed
        )
    except ConfigError as error:
        resolution.error = error
        _collect(resolution, readers)
        return resolution
    own, place = None, resolution.workspace
    if not place:
        resolution.warnings.append(f"workspace: {resolution.workspace_origin}")
    elif os.path.lexists(path := os.path.join(place, paths.WORKSPACE_FILE)):
        own = _workspaces_own(path, place, wide, shapes, resolution)
    if own is not None:  # behind all others: it must not override what the user has set
        readers.append(own.reader)
        findings.append(own)
    found = resolution.found = {
        "search": _overlaid(shapes.search, [_search_of(shapes, f, id_) for f in findings]),
        "flush": _overlaid(shapes.flush, [f.flush for f in findings]),
        "memory": _overlaid(shapes.memory, [f.memory for f in findings]),
    }
    memory: MemorySettings = shapes.memory.build(_named(shapes.memory, found["memory"]))
    memory = resolution.memory = memory.evolve(backend=_chain(memory.backend, sections))
    raw = merged_sections(findings, found["search"])
    values: dict[str, Any] = {}
    if sections is not None:
        chosen = [f"memory.{backend}" for backend in memory.backend]
        names = dict.fromkeys((*chosen, *raw))
        resolution.written = {*chosen, *(name for f in findings for name in f.sections)}
        values, origins, missing = read_sections(findings, found["search"], names, sections)
        found.update(origins)
        resolution.problems += missing
    _collect(resolution, readers)
    if resolution.problems:
        return resolution
    state = paths.state_dir(env)
    cut = [found["search"].get(f"chunking.{key}") for key in ("strategy", "tokens", "overlap")]
    search, notes = search_settings(
        shapes.search,
        _named(shapes.search, found["search"]),
        strange=any(value is not None and value.layer.role == "workspace" for value in cut),
    )
    index, index_notes = _index_path(
        found["search"].get("store.path"), id_, paths.default_index(state, id_, place), env
    )
    slot, slot_notes = memory_slot(
        next((f.slot for f in findings if f.slot), None), sections, switch_rules(layers)
    )
    resolution.warnings += [*notes, *index_notes, *slot_notes]
    resolution.settings = Settings(
        workspace=place,
        agent=id_,
        agents=agents.ids,
        state_dir=state,
        cache_dir=paths.cache_dir(env),
        index_path=index,
        backends=memory.backend,
        fallback=memory.fallback,
        write=memory.write,
        recalls=memory.recalls,
        slot=slot,
        citations=memory.citations,
        links=memory.links,
        search=search,
        flush=shapes.flush.build(_named(shapes.flush, found["flush"])),
        openclaw_dirs=folders,
        config_files=tuple(resolution.files),
        warnings=tuple(dict.fromkeys(resolution.warnings)),
        ignored=resolution.ignored,
        mistakes=(*filter(None, [resolution.ignored]), *(one for r in readers for one in r.slips)),
        sections=raw,
        section_values=values,
        providers=_providers(findings),
        env_blocks=blocks,
    )
    return resolution


def documents(config: Config, env: Mapping[str, str], resolution: Resolution) -> list[Layer]:
    """The documents of a configuration without a workspace's own, nearest first.

    ``resolution`` gets the problems of those that cannot be read.
    """
    found: list[Layer | None] = []
    named = ""
    if isinstance(config, Mapping):
        found.append(Layer("argument", _ARGUMENT, config, base=paths.current_folder()))
    elif config is not None:
        named = os.fspath(config)
    if named := named or paths.given(env, "COMMONPLACE_CONFIG"):
        found.append(_file("named", paths.absolute(named, env), resolution))
    else:
        if os.path.isfile(user := paths.user_file(env)):
            found.append(_file("user", user, resolution))
        if original := paths.original_file(env, paths.openclaw_dirs(env)):
            found.append(_file("original", original, resolution))
    return [layer for layer in found if layer]


def _file(role: str, path: str, resolution: Resolution) -> Layer | None:
    """The document at ``path``; ``None`` and a problem if it cannot be read."""
    try:
        text = read_text(path, strange=role == "workspace")
        layer = Layer(role, path, parse_json5(text), text=text, base=os.path.dirname(path))
    except UnreadableError as problem:
        resolution.problems.append(ConfigProblem(path, problem.line, "", str(problem)))
        return None
    resolution.files.append(path)
    resolution.layers.append(layer)
    return layer


def _workspaces_own(
    path: str, workspace: str, env: Mapping[str, str], shapes: Shapes, resolution: Resolution
) -> Findings | None:
    """What a workspace's own file says; ``None``, and a warning, if anything in it is wrong.

    It may have come with a folder that was cloned: it must not keep its user from searching.
    """
    apart = Resolution()
    layer = _file("workspace", path, apart)
    resolution.refused = apart.problems
    if layer is not None:
        reader = Reader(layer, env, confined=workspace)
        with suppress(TooManyProblemsError):
            findings = read_document(reader, shapes)
        if not reader.has_problems:
            resolution.files.append(path)
            resolution.layers.append(layer)
            return findings
        resolution.refused = reader.problems()
    first, *others = resolution.refused
    more = f" (and {len(others)} more)" if others else ""
    words = f"{first}{more}; this file has no effect: run `commonplace config check`"
    resolution.ignored = words
    resolution.warnings.append(words)
    return None


def _collect(resolution: Resolution, readers: list[Reader]) -> None:
    for reader in readers:
        resolution.problems += reader.problems()
        resolution.warnings += reader.warnings


def _search_of(shapes: Shapes, findings: Findings, id_: str) -> dict[str, Found]:
    agent = findings.agents.get(id_)
    return joined(shapes.search, findings.search, agent.search if agent else {})


def _overlaid(shape: Shape, nearest_first: list[dict[str, Found]]) -> dict[str, Found]:
    result: dict[str, Found] = {}
    for found in reversed(nearest_first):
        result = joined(shape, result, found)
    return result


def _named(shape: Shape, found: Mapping[str, Found]) -> dict[tuple[str, ...], Any]:
    """Core's own values by Python names; those of plugins are in their sections."""
    leaves = ((shape.leaves.get(key), value) for key, value in found.items())
    return {leaf.names: value.value for leaf, value in leaves if leaf and not leaf.owner}


def _chain(
    backends: tuple[str, ...], sections: Callable[[str], type | None] | None
) -> tuple[str, ...]:
    """The chain, with the backend that stands in for one that was named alone."""
    if backends[-1]:
        return backends
    named = backends[0]
    cls = sections(f"memory.{named}") if sections else None
    if cls is None and named in ORIGINAL_BACKENDS:
        return (named, *BACKENDS)  # its plugin cannot be loaded: memory works all the same
    standby: str = getattr(cls, "standby", "")
    return (named, standby) if standby else (named,)


def _index_path(
    found: Found | None, id_: str, default: str, env: Mapping[str, str]
) -> tuple[str, list[str]]:
    """Where this agent's index is: never among the files of an original installation.

    What a file of the original's name calls its store is the original's own, wherever both lie.
    """
    if found is None:
        return default, []
    path: str = found.value.replace("{agentId}", id_)
    file = os.path.basename(found.layer.file)
    if found.layer.role == "original" or file in ORIGINAL_NAMES or paths.is_originals(path, env):
        return default, [
            f"{found.layer.file}: store.path: is the original's own index; ours is {default}"
        ]
    return path, []


def _providers(findings: list[Findings]) -> Mapping[str, ProviderSection]:
    """Each provider from the nearest document that says how it is reached, else has it at all.

    Whole, never key by key: a key must not go to an address of another document.
    """
    providers: dict[str, ProviderSection] = {}
    for found in reversed(findings):
        for name, section in found.providers.items():
            if section.connects or name not in providers:
                providers[name] = section
    return providers
