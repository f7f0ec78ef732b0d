"""What people are shown of a configuration: its problems, the origin of each value, its schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, Unpack, get_args, get_origin

from commonplace.config.defaults import SEARCH_KEYS
from commonplace.config.document import owned
from commonplace.config.reading import key_path
from commonplace.config.resolve import resolve
from commonplace.config.search import PROVIDERS, SearchSettings
from commonplace.config.secret import Opaque, Secret
from commonplace.config.settings import FlushSettings, MemorySettings
from commonplace.config.shape import Graft, Leaf, Shape, is_group
from commonplace.config.switches import unread_entries
from commonplace.model.plugins import ConfigProblem, Group, setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.config.json5 import Position
    from commonplace.config.reading import Found, Keys, Layer
    from commonplace.config.resolve import Arguments, Resolution
    from commonplace.config.settings import Settings
    from commonplace.config.shape import Branch
    from commonplace.model.plugins import Setting


CHOICES = (
    ("memory", "backend", "backend"),
    ("search", "sources", "source"),
    ("search", "chunking.strategy", "chunker"),
    ("search", "ranking.chain", "ranker"),
    ("search", "provider", "provider"),
    ("search", "fallback", "provider"),
)
"""Section and key of what names plugins, and of which kind."""

_OURS = ("agents", "memory", "models", "plugins", "session")


class CheckReport(Group):
    """What a check found; nothing is wrong where ``problems`` is empty."""

    files: tuple[str, ...] = setting("The files that were read.", default=())
    problems: tuple[ConfigProblem, ...] = setting("All that is wrong.", default=())
    warnings: tuple[str, ...] = setting("What has no effect, or is probably a slip.", default=())
    hint: str = setting("One line of advice, or nothing.", default="")


def check(
    *,
    absence: Callable[[str, str], str] | None = None,
    unread: Callable[[str], str] | None = None,
    needed: bool = True,
    **arguments: Unpack[Arguments],
) -> CheckReport:
    """Everything wrong with the configuration that the same arguments would load.

    ``absence`` returns why no plugin registers an id of a kind, or ``""``. An embedding provider
    that no plugin registers is a warning, because memory then answers by keyword; any other part
    is a problem. ``unread`` returns why a plugin that declares no settings reads none, or ``""``.
    Raises nothing: that no workspace is set is reported as a problem, too, or as a
    warning if none is ``needed``.
    """
    resolution = resolve(**arguments, needed=needed)
    problems, hint = [*resolution.problems, *resolution.refused], ""
    if resolution.error is not None:
        problems.append(ConfigProblem("configuration", 0, "", str(resolution.error)))
        hint = resolution.error.hint
    doubled = [words for layer in resolution.layers for words in _doubled(layer)]
    if unread is not None and (sections := arguments.get("sections")) is not None:
        doubled += unread_entries(resolution.layers, sections, unread)
    warnings = resolution.warnings
    unheard: list[str] = []
    for kind, problem in _unknown(resolution, absence) if absence is not None else ():
        # The reader's doubts, which did not know the plugins.
        doubts = f"{problem.file}: {problem.key}: "
        warnings = [words for words in warnings if not words.startswith(doubts)]
        if kind == "provider":
            unheard.append(str(problem))
        else:
            problems.append(problem)
    return CheckReport(
        files=tuple(resolution.files),
        problems=tuple(problems),
        warnings=tuple(dict.fromkeys((*warnings, *unheard, *doubled))),
        hint=hint,
    )


def _unknown(
    resolution: Resolution, absence: Callable[[str, str], str]
) -> Iterator[tuple[str, ConfigProblem]]:
    """What the configuration names and no plugin registers: the kind, and the problem."""
    for section, key, kind in CHOICES:
        found = resolution.found.get(section, {}).get(key)
        if found is None or not found.value:
            continue
        ids = (found.value,) if isinstance(found.value, str) else found.value
        for id_ in filter(None, ids):
            if kind == "provider" and id_ in PROVIDERS:
                continue
            if words := absence(kind, id_):
                file, line = found.layer.file, found.layer.line_of(found.keys)
                yield kind, ConfigProblem(file, line, key_path(found.keys), words)


def _doubled(layer: Layer) -> Iterator[str]:
    """Keys that stand twice in one object: the parsers of JSON take the last in silence."""
    for keys, position in _positions(layer.positions) if layer.positions else ():
        if position.doubled and keys[0] in _OURS:
            lines = ", ".join(map(str, position.doubled))
            yield (
                f"{layer.file}:{position.line}: {key_path(keys)}: is in line {lines} as well; "
                "the last one counts"
            )


def _positions(root: Position) -> Iterator[tuple[Keys, Position]]:
    open_: list[tuple[Keys, Position]] = [((), root)]
    while open_:
        keys, position = open_.pop()
        if keys:
            yield keys, position
        open_.extend(((*keys, key), below) for key, below in reversed(position.below.items()))


TELLTALE = re.compile(r"key$|token$|secret|passw|auth|credential", re.IGNORECASE)

SEARCH = "agents.defaults.memorySearch"
FLUSH = "agents.defaults.compaction"


class Explained(Group):
    """One resolved setting. ``value`` is made of JSON's types; secrets are masked."""

    key: str = setting("Its key as it stands in a file.")
    value: Any = setting("What it is.")
    origin: str = setting("Where it came from: a file and line, a variable, or default.")
    unit: str = setting("What a number counts.", default="")
    about: str = setting("What it does.", default="")


def explain(*, needed: bool = True, **arguments: Unpack[Arguments]) -> tuple[Explained, ...]:
    """All settings that the same arguments would load.

    Unless a workspace is ``needed``, it may be none. Raises
    :class:`~commonplace.errors.ConfigError` with every problem of every file.
    """
    resolution = resolve(**arguments, needed=needed)
    return tuple(_explained(resolution, resolution.settings_or_raise(), arguments.get("sections")))


def masked(value: object) -> Any:
    """``value`` in JSON's types, without anything that must not be seen."""
    if isinstance(value, Secret):
        return f"({value.origin})"
    if isinstance(value, Mapping):
        return repr(value) if isinstance(value, Opaque) else _parts(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [masked(item) for item in value]
    if isinstance(value, Group):
        return _parts({name: getattr(value, name) for name in value.fields()})
    if isinstance(value, str):
        return _plain_address(value) if "://" in value else value
    # A plugin's class may hold anything.
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _value(group: object, names: tuple[str, ...], *, veiled: bool) -> Any:
    """The setting of ``names`` in ``group``; ``veiled`` hides a text by its name, if need be."""
    value = reduce(getattr, names, group)
    return _parts({names[-1]: value})[names[-1]] if veiled else masked(value)


def _parts(value: Mapping[Any, object]) -> dict[str, Any]:
    # A plugin may keep a key as plain text: its name gives it away.
    return {
        str(name): "(hidden)"
        if isinstance(item, str) and TELLTALE.search(str(name))
        else masked(item)
        for name, item in value.items()
    }


def _explained(
    resolution: Resolution, settings: Settings, sections: Callable[[str], type | None] | None
) -> Iterator[Explained]:
    yield Explained(key="agent", value=settings.agent, origin=resolution.agent_origin)
    place, origin = settings.workspace or None, resolution.workspace_origin
    yield Explained(key="workspace", value=place, origin=origin)
    resolved: tuple[tuple[str, Any], ...] = (
        ("stateDir", settings.state_dir),
        ("cacheDir", settings.cache_dir),
        ("indexPath", settings.index_path if place is not None else None),
        ("plugins.slots.memory", settings.slot),
        ("configFiles", list(settings.config_files)),
    )
    for key, value in resolved:
        yield Explained(key=key, value=value, origin="resolved")
    memory = resolution.memory
    values = settings.section_values
    search = Shape(SearchSettings, SEARCH_KEYS, sections).complete()
    # What plugins declare among core's own keys is shown there, and not in their sections.
    elsewhere = {place for key in search.leaves for place in owned(key)}
    for prefix, group, shape, found in (
        ("memory", memory, Shape(MemorySettings), resolution.found["memory"]),
        (SEARCH, settings.search, search, resolution.found["search"]),
        (FLUSH, settings.flush, Shape(FlushSettings), resolution.found["flush"]),
        *(
            (name, section, Shape(type(section)), resolution.found.get(name, {}))
            for name, section in values.items()
            if name in resolution.written
        ),
    ):
        for leaf in shape.leaves.values():
            if (prefix, leaf.key) in elsewhere:
                continue
            holder = group
            if leaf.owner:
                held = (values[name] for name in leaf.owner.sections if name in values)
                holder = next(held, None)
            yield Explained(
                key=f"{prefix}.{leaf.key}",
                value=leaf.setting.default
                if holder is None
                else _value(holder, leaf.names, veiled=prefix in values),
                origin=_origin(found.get(leaf.key)),
                unit=leaf.setting.unit,
                about=leaf.setting.about,
            )
    for name in settings.sections.keys() - settings.section_values.keys():
        yield Explained(key=name, value=masked(settings.sections[name]), origin="not read")


def _origin(found: Found | None) -> str:
    if found is None:
        return "default"
    line = found.layer.line_of(found.keys)
    return f"{found.layer.file}:{line}" if line else found.layer.file


def _plain_address(address: str) -> str:
    """``address`` without what can hold a key: the user's part, the query and the fragment."""
    scheme, _, rest = address.partition("://")
    for mark in "?#":
        rest = rest.partition(mark)[0]
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_SECRET: Schema = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {
            "type": "object",
            "properties": {"source": _TEXT, "provider": _TEXT, "id": _TEXT},
            "required": ["source", "id"],
        },
    ]
}


def json_schema(
    sections: Mapping[str, type] | None = None,
    classes: Callable[[str], type | None] | None = None,
) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a configuration file.

    ``sections`` are plugins' config classes by the name of their section (``memory.<id>``), to be
    described as such; ``classes`` looks up those of the keys that stand among core's own.
    """
    search = _shape(Shape(SearchSettings, SEARCH_KEYS, classes or (sections or {}).get).complete())
    workspace = {"type": "string", "description": "Folder of the agent's notes."}
    agent = {"workspace": workspace, "memorySearch": search}
    memory = _shape(Shape(MemorySettings))
    memory["properties"]["search"] = search
    # Backends that are not known here may have sections of their own.
    memory["additionalProperties"] = {"type": "object"}
    entries: Schema = {}
    for name, cls in (sections or {}).items():
        described = _shape(Shape(cls))
        if name.startswith("memory."):
            memory["properties"][name.removeprefix("memory.")] = described
        else:
            id_ = name.removeprefix("plugins.entries.").removesuffix(".config")
            entries[id_] = _open(config=described)
    compaction = _shape(Shape(FlushSettings)) | {"additionalProperties": True}
    listed = _open(id=_TEXT, default={"type": "boolean"}, **agent) | {"required": ["id"]}
    entry = _open(**agent, memory=_open(search=search))
    agents = _open(
        defaults=_open(**agent, compaction=compaction),
        list={"type": "array", "items": listed},
        entries={"type": "object", "additionalProperties": entry},
    )
    plugins = _open(slots=_open(memory=_TEXT), entries=_open(**entries))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "commonplace",
        **_open(agents=agents, memory=memory, plugins=plugins),
    }


def _open(**properties: Schema) -> Schema:
    """An object that is shared with others: keys that are not ours are none of our business."""
    return {"type": "object", "properties": properties}


def _shape(shape: Shape) -> Schema:
    return _branch(shape.root, shape)


def _branch(branch: Branch, shape: Shape) -> Schema:
    properties: Schema = {}
    for key, node in branch.below.items():
        if isinstance(node, Graft):
            properties[key] = {}  # its plugin is not there
        else:
            properties[key] = _leaf(node) if isinstance(node, Leaf) else _branch(node, shape)
    for key, reason in shape.unsupported.items():
        if key.startswith(branch.prefix) and "." not in (last := key[len(branch.prefix) :]):
            properties[last] = {"description": f"Has no effect: {reason}.", "deprecated": True}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _leaf(leaf: Leaf) -> Schema:
    setting = leaf.setting
    schema: Schema = {"description": setting.about} if setting.about else {}
    schema.update(setting.schema or _type(leaf.type, setting))
    if setting.unit:
        schema["description"] += f" In {setting.unit}."
    if isinstance(setting.default, bool | int | float | str) and not setting.shown:
        schema["default"] = setting.default
    return schema


def _type(type_: Any, setting: Setting) -> Schema:
    origin, args = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        return _type(next(part for part in args if part is not NoneType), setting)
    if origin is Literal:
        return {"enum": list(args)}
    if origin is tuple:
        return {"type": "array", "items": _type(args[0], setting)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _type(args[1], setting)}
    return _object(type_) if is_group(type_) else _primitive(type_, setting)


def _object(type_: Any) -> Schema:
    shape = Shape(type_)
    required = [leaf.key for leaf in shape.missing({})]
    return _shape(shape) | ({"required": required} if required else {})


def _primitive(type_: Any, setting: Setting) -> Schema:
    if type_ is Secret:
        return _SECRET
    if type_ is bool:
        return {"type": "boolean"}
    if type_ is str:
        return {**_TEXT, "examples": list(setting.known)} if setting.known else _TEXT
    if type_ not in (int, float):
        return {}
    bounds = {"minimum": setting.minimum, "maximum": setting.maximum}
    return {
        "type": "integer" if type_ is int else "number",
        **{name: bound for name, bound in bounds.items() if bound is not None},
    }
