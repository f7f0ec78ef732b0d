"""The configuration as a JSON Schema, for editors."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from commonplace.config.defaults import SEARCH_KEYS
from commonplace.config.search import SearchSettings
from commonplace.config.secret import Secret
from commonplace.config.settings import FlushSettings, MemorySettings
from commonplace.config.shape import Graft, Leaf, Shape, is_group

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.shape import Branch
    from commonplace.model.plugins import Setting


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
    newer = {"memory": _open({"search": search})}
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
            entries[name.removeprefix("plugins.entries.").removesuffix(".config")] = _open(
                {"config": described}
            )
    compaction = _shape(Shape(FlushSettings)) | {"additionalProperties": True}
    listed = _open({"id": _TEXT, "default": {"type": "boolean"}, **agent}) | {"required": ["id"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "commonplace",
        **_open(
            {
                "agents": _open(
                    {
                        "defaults": _open({**agent, "compaction": compaction}),
                        "list": {"type": "array", "items": listed},
                        "entries": {
                            "type": "object",
                            "additionalProperties": _open({**agent, **newer}),
                        },
                    }
                ),
                "memory": memory,
                "plugins": _open(
                    {
                        "slots": _open({"memory": _TEXT}),
                        "entries": {"type": "object", "properties": entries},
                    }
                ),
            }
        ),
    }


def _open(properties: Schema) -> Schema:
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
    required = [leaf.key for leaf in shape.leaves.values() if leaf.required]
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
