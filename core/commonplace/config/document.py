"""Reads one document of the configuration: core's sections in either spelling, and plugins'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from commonplace.config.credentials import ProviderSection
from commonplace.config.defaults import ORIGINAL_BACKENDS, SEARCH_KEYS
from commonplace.config.reading import Found, hint, joined, key_path
from commonplace.config.search import SearchSettings
from commonplace.config.secret import Opaque
from commonplace.config.settings import FlushSettings, MemorySettings
from commonplace.config.shape import Shape
from commonplace.config.switches import check_switches
from commonplace.config.values import kind_of, object_of
from commonplace.errors import suggest
from commonplace.model.plugins import ConfigProblem, Group, setting
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from commonplace.config.reading import Keys, Reader


def merged_sections(
    findings: list[Findings], search: Mapping[str, Found]
) -> dict[str, Mapping[str, object]]:
    """Every section by name, as written; where several documents have it, key by key."""
    merged: dict[str, Mapping[str, object]] = {}
    for document in reversed(findings):
        for name, (raw, _) in document.sections.items():
            merged[name] = _laid_over(merged.get(name, {}), raw)
    for position, found in search.items():
        for section, key in owned(position):
            nested: object = found.value
            for part in reversed(key.split(".") if key else ()):
                nested = {part: nested}
            if isinstance(nested, Mapping):
                merged[section] = _laid_over(merged.get(section, {}), nested)
    return {name: Opaque(raw) for name, raw in merged.items()}


def read_sections(
    findings: list[Findings],
    search: Mapping[str, Found],
    names: Iterable[str],
    classes: Callable[[str], type | None],
) -> tuple[dict[str, Any], dict[str, dict[str, Found]], list[ConfigProblem]]:
    """The sections among ``names`` whose class is known, read into it; what each was read from.

    Faults go to the documents' readers; those that belong to no document are given back.
    """
    values: dict[str, Any] = {}
    origins: dict[str, dict[str, Found]] = {}
    problems: list[ConfigProblem] = []
    for name in names:
        if (cls := classes(name)) is None:
            continue
        shape = Shape(cls)
        holders = [document for document in findings if name in document.sections]
        found: dict[str, Found] = {}
        for document in reversed(holders):
            data, keys = document.sections[name]
            found = joined(shape, found, document.reader.section(shape, data, keys))
        origins[name] = found
        given = {shape.leaves[key].names: value.value for key, value in found.items()}
        for position, value in search.items():
            key = next((key for section, key in owned(position) if section == name), "")
            if key in shape.leaves:
                given[shape.leaves[key].names] = value.value
        if any(document.reader.has_problems for document in holders or findings):
            continue
        file = holders[0].reader.layer.file if holders else "configuration"
        if missing := shape.missing(given):
            problems += [
                ConfigProblem(file, 0, f"{name}.{leaf.key}", "is missing") for leaf in missing
            ]
            continue
        try:
            values[name] = shape.build(given)
        except (TypeError, ValueError) as error:
            # Its words may quote the value, and that may be a secret.
            problems.append(
                ConfigProblem(file, 0, name, f"is refused by its plugin ({type(error).__name__})")
            )
    return values, origins, problems


def owned(position: str) -> Iterator[tuple[str, str]]:
    """The sections that a key of ``memorySearch`` belongs to, each with the key there."""
    for start, owner in SEARCH_KEYS.items():
        if position == start or position.startswith(f"{start}."):
            key = f"{owner.key}{position[len(start) :]}".lstrip(".")
            yield from ((section, key) for section in owner.sections)


def _laid_over(base: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            result[key] = _laid_over(below, value)
        else:
            result[key] = value
    return result


_FOREIGN = {
    "dreaming": "nothing is consolidated unasked",
    "memoryPolicy": "sessions are not filtered by origin",
}
_ORIGINALS_OF_AGENTS = ("model", "experimental")
"""What the original has in an agent by the names of settings of searching."""

_ROOT = ("agents", "memory", "models", "plugins", "session", "env")
_WORKSPACE_MAY = "may hold only memory.search, memory.citations and agents.defaults.memorySearch"


class AgentSettings(Group):
    """What an agent, or ``agents.defaults``, says besides its sections."""

    workspace: str | None = setting("Folder of the agent's notes.", default=None, path=True)


class Shapes:
    """The shapes of core's own sections, made once for all documents of a call."""

    def __init__(self, classes: Callable[[str], type | None] | None = None) -> None:
        self.classes = classes
        self.agent = Shape(AgentSettings)
        self.search = Shape(SearchSettings, SEARCH_KEYS, classes)
        self.flush = Shape(FlushSettings)
        self.memory = Shape(MemorySettings)
        self.of_searching = frozenset(("memorySearch", "search", *self.search.root.below))


class AgentFindings(NamedTuple):
    """What a document says of one agent; ``default``: whether it is meant where none is named."""

    id: str
    default: bool | None
    workspace: Found | None
    search: dict[str, Found]


class Findings:
    """What one document says, by section; ``sections`` are raw, with the keys that lead there."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.search: dict[str, Found] = {}
        self.flush: dict[str, Found] = {}
        self.memory: dict[str, Found] = {}
        self.agents: dict[str, AgentFindings] = {}
        self.workspace: Found | None = None
        self.slot: Found | None = None
        self.sections: dict[str, tuple[Mapping[str, Any], Keys]] = {}
        self.providers: dict[str, ProviderSection] = {}


def agent_id(text: str) -> str:
    """An agent's id as the original compares it."""
    lower = text.strip().lower()
    if lower.isascii() and lower.isalnum():
        return lower[:64]
    import re

    return re.sub(r"[^a-z0-9_-]+", "-", lower).strip("-")[:64]


def read_document(reader: Reader, shapes: Shapes) -> Findings:
    """Everything of ours in the document of ``reader``, which collects the problems."""
    findings = Findings(reader)
    root = reader.layer.data
    if not isinstance(root, Mapping):
        reader.problem((), f"must be an object, not {kind_of(root)}")
        return findings
    reader.check_include(root, ())
    _agents(findings, shapes, reader.mapping(root, "agents", ()))
    _memory(findings, shapes, reader.mapping(root, "memory", ()))
    if reader.tunable_only:
        misplaced = _misplaced(reader, shapes, root, (), "memory.search")
        _only(reader, root, (), {"agents", "memory", "$schema", *misplaced})
    else:
        _plugins(findings, root.get("plugins"))
        _providers(findings, root)
        if reader.layer.is_ours:
            _strangers(reader, shapes, root)
    return findings


def _strangers(reader: Reader, shapes: Shapes, root: Mapping[str, Any]) -> None:
    """Keys of a document that is commonplace's alone, and that would have no effect in silence."""
    misplaced = _misplaced(reader, shapes, root, (), "memory.search")
    for key in map(str, root.keys() - {*_ROOT, *misplaced, "$schema", "$include"}):
        close = suggest(key.lower(), [name.lower() for name in _ROOT], 0.6)
        meant = f"did you mean {close!r}?" if close else f"the keys here are {', '.join(_ROOT)}"
        (reader.slip if close else reader.warn)(
            (key,), f"has no effect: commonplace has no such key; {meant}"
        )
    if "sendPolicy" in object_of(root.get("session")):
        reader.warn(("session", "sendPolicy"), "has no effect: commonplace sends no messages")
    check_switches(reader, object_of(root.get("plugins")), shapes.classes)


def _misplaced(
    reader: Reader, shapes: Shapes, data: Mapping[str, Any], at: Keys, home: str, *fitting: str
) -> list[str]:
    """Report the settings of searching in ``data``, where all but ``fitting`` have no effect.

    They belong into ``home``. Gives their keys.
    """
    names = shapes.of_searching.difference(fitting)
    found = [key for key in data if key in names]
    for key in found:
        below = "" if key in ("memorySearch", "search") else f".{key}"
        reader.problem((*at, key), f"has no effect here; put it into {home}{below}")
    return found


def _agents(findings: Findings, shapes: Shapes, agents: Mapping[str, Any]) -> None:
    reader = findings.reader
    defaults = reader.mapping(agents, "defaults", ("agents",))
    at: Keys = ("agents", "defaults")
    findings.search = _search(reader, shapes, defaults, "memorySearch", at)
    if reader.tunable_only:
        _only(reader, agents, ("agents",), {"defaults"})
        _only(reader, defaults, at, {"memorySearch"})
        return
    _slips(reader, agents, ("agents",), ("defaults", "list", "entries"))
    if reader.layer.is_ours:
        _misplaced(reader, shapes, agents, ("agents",), "memory.search")
    _check_agent(reader, shapes, defaults, at, "compaction")
    newer = object_of(defaults.get("memory"))
    if reader.layer.is_ours:
        _misplaced(reader, shapes, newer, (*at, "memory"), "memory.search")
    elif "search" in newer:
        reader.warn((*at, "memory", "search"), "has no effect here; put it into memory.search")
    findings.workspace = _workspace(reader, shapes, defaults, at)
    compaction = reader.mapping(defaults, "compaction", at)
    # The original has reserveTokens beside reserveTokensFloor: these are alike, and no slip.
    _slips(reader, compaction, (*at, "compaction"), (*shapes.flush.root.below, "reserveTokens"))
    findings.flush = reader.section(shapes.flush, compaction, (*at, "compaction"), shared=True)
    _listed(findings, shapes, agents.get("list", []))
    entries = reader.mapping(agents, "entries", ("agents",))
    for name in entries:
        entry = reader.mapping(entries, name, ("agents", "entries"))
        _agent(findings, shapes, str(name), entry, ("agents", "entries", str(name)))


def _listed(findings: Findings, shapes: Shapes, entries: Any) -> None:
    reader = findings.reader
    at: Keys = ("agents", "list")
    if not isinstance(entries, list | tuple):
        reader.problem(at, f"must be a list of agents, not {kind_of(entries)}")
        return
    for place in range(len(entries)):
        entry = reader.mapping(entries, place, at)
        name = entry.get("id")
        if isinstance(name, str) and agent_id(name):
            _agent(findings, shapes, name, entry, (*at, place))
        elif entry:
            reader.problem((*at, place, "id"), "must be the agent's id, a string")


def _agent(
    findings: Findings, shapes: Shapes, name: str, entry: Mapping[str, Any], at: Keys
) -> None:
    reader = findings.reader
    id_ = agent_id(name)
    if id_ in findings.agents:
        reader.warn(at, f"the agent {id_!r} stands here twice; the first one counts")
    workspace = _workspace(reader, shapes, entry, at)
    _check_agent(reader, shapes, entry, at)
    memory = reader.mapping(entry, "memory", at)
    for key in memory.keys() - {"search"}:
        reader.warn((*at, "memory", str(key)), "has no effect for a single agent")
    older = _search(reader, shapes, entry, "memorySearch", at)
    newer = _search(reader, shapes, memory, "search", (*at, "memory"))
    search = joined(shapes.search, older, newer)
    flag = entry.get("default")
    agent = AgentFindings(id_, flag if isinstance(flag, bool) else None, workspace, search)
    findings.agents.setdefault(id_, agent)


def _check_agent(
    reader: Reader, shapes: Shapes, data: Mapping[str, Any], at: Keys, *further: str
) -> None:
    """Report keys of an agent, or of all agents, that would have no effect in silence."""
    _slips(reader, data, at, ("memorySearch", "workspace", *further))
    if reader.layer.is_ours:
        home = f"{key_path(at)}.memorySearch"
        _misplaced(reader, shapes, data, at, home, "memorySearch", *_ORIGINALS_OF_AGENTS)


def _memory(findings: Findings, shapes: Shapes, memory: Mapping[str, Any]) -> None:
    reader = findings.reader
    new = _search(reader, shapes, memory, "search", ("memory",))
    # Where a document has both spellings, the newer one counts.
    findings.search = joined(shapes.search, findings.search, new)
    keys = shapes.memory.root.below
    own: dict[str, Any] = {}
    for key, raw in memory.items():
        if key in keys or (key in shapes.memory.unsupported and not reader.tunable_only):
            own[key] = raw
        elif key in ("search", "$include"):
            continue
        elif reader.tunable_only:
            found = {} if key in ORIGINAL_BACKENDS else {key: raw}
            if not _misplaced(reader, shapes, found, ("memory",), "memory.search"):
                _only(reader, {key: raw}, ("memory",), {"search", "citations"})
        elif _may_be_section(key, raw, shapes):
            findings.sections[f"memory.{key}"] = (raw, ("memory", key))
        elif key in ORIGINAL_BACKENDS:
            reader.mapping(memory, key, ("memory",))  # for its problem
        elif not _misplaced(reader, shapes, {key: raw}, ("memory",), "memory.search"):
            known = (*keys, "search", *ORIGINAL_BACKENDS)
            reader.problem(("memory", str(key)), "is not a key here" + hint(str(key), known))
    findings.memory = reader.section(shapes.memory, own, ("memory",))


def _may_be_section(key: object, raw: object, shapes: Shapes) -> bool:
    """Whether ``memory.<key>`` can be a backend's: an object whose name is no slip for a key."""
    if not isinstance(raw, Mapping) or not isinstance(key, str):
        return False
    if key in ORIGINAL_BACKENDS:
        return True
    if key in shapes.of_searching:
        return shapes.classes is not None and shapes.classes(f"memory.{key}") is not None
    return not suggest(key.lower(), (*shapes.memory.root.below, "search"), 0.75)


def _plugins(findings: Findings, plugins: object) -> None:
    """What of ``plugins`` is ours; the rest, and its form, is not."""
    reader = findings.reader
    slots = object_of(object_of(plugins).get("slots"))
    if "memory" in slots:
        keys: Keys = ("plugins", "slots", "memory")
        raw = slots["memory"]
        if isinstance(raw, str) and raw.strip():
            findings.slot = Found(raw.strip(), reader.layer, keys)
        else:
            reader.problem(keys, f'must be the id of a plugin or "none", not {kind_of(raw)}')
    for name, entry in object_of(object_of(plugins).get("entries")).items():
        config = object_of(entry).get("config")
        if not isinstance(config, Mapping):
            continue
        keys = ("plugins", "entries", str(name), "config")
        findings.sections[f"plugins.entries.{name}.config"] = (config, keys)
        if name == "memory-core":
            for key in config:
                reason = _FOREIGN.get(key, "commonplace has no such setting")
                reader.warn((*keys, str(key)), f"has no effect: {reason}")


def _providers(findings: Findings, root: Mapping[str, Any]) -> None:
    """What of ``models.providers`` is ours; in a shared file, its form is the original's to say."""
    reader = findings.reader
    providers = object_of(root.get("models")).get("providers")
    if reader.layer.is_ours and not isinstance(providers, Mapping | None):
        reader.warn(("models", "providers"), f"must be an object, not {kind_of(providers)}")
    for name, section in object_of(providers).items():
        if isinstance(section, Mapping):
            found = ProviderSection(str(name), section, reader.layer)
            findings.providers[found.id] = found
            for key, words in found.doubts() if reader.layer.is_ours else ():
                reader.warn(("models", "providers", found.id, key), words)


def _search(
    reader: Reader, shapes: Shapes, data: Mapping[str, Any], key: str, at: Keys
) -> dict[str, Found]:
    return reader.section(shapes.search, reader.mapping(data, key, at), (*at, key))


def _workspace(reader: Reader, shapes: Shapes, data: Mapping[str, Any], at: Keys) -> Found | None:
    return reader.section(shapes.agent, data, at, shared=True).get("workspace")


def _only(reader: Reader, data: Mapping[str, Any], at: Keys, allowed: set[str]) -> None:
    for key in map(str, data.keys() - allowed):
        close = suggest(key.lower(), by_lower := {name.lower(): name for name in allowed}, 0.7)
        meant = f"; did you mean {by_lower[close]!r}?" if close else ""
        reader.problem((*at, key), f"a workspace's own file {_WORKSPACE_MAY}{meant}")


def _slips(reader: Reader, data: Mapping[str, Any], at: Keys, ours: tuple[str, ...]) -> None:
    """Warn of keys in a shared object that look like ours misspelt."""
    for key in data.keys() - set(ours):
        # Looked at closely only where the letters are nearly the same: that costs an import.
        near = any(len(set(own.lower()) ^ set(str(key).lower())) <= 2 for own in ours)
        if near and (close := suggest(str(key), ours, 0.8)):
            reader.slip((*at, str(key)), f"is none of memory's keys; did you mean {close!r}?")
