"""Writes the tables of the configuration page from the descriptions of the settings.

``python docs/generate/configuration_page.py docs/configuration.md
memory.qmd=commonplace_qmd.settings:QmdSettings`` updates the page in place; each further argument
is ``section=module:class``. ``tests/core/config/test_config_pages.py`` has the whole command.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from commonplace.config.defaults import SEARCH_KEYS
from commonplace.config.paths import VARIABLES
from commonplace.config.search import SearchSettings
from commonplace.config.secret import Secret
from commonplace.config.settings import FlushSettings, MemorySettings
from commonplace.config.shape import Shape, is_group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from commonplace.config.shape import Leaf

__all__ = ["main", "renewed"]

_WORDS = {"array": "list", "string": "text"}
"""JSON Schema's types in this page's words, where they differ."""

_OWN: dict[str, type] = {
    "memory": MemorySettings,
    "search": SearchSettings,
    "flush": FlushSettings,
}


def renewed(page: str, sections: Mapping[str, type]) -> str:
    """``page`` with all between ``<!-- begin name -->`` and ``<!-- end name -->`` rewritten.

    ``sections`` are plugins' config classes by section name. Raises ``KeyError`` for a name that
    is neither one of them nor ours.
    """
    classes = {**_OWN, **sections}

    def block(match: re.Match[str]) -> str:
        name = match[1]
        if name == "variables":
            lines = _variables()
        else:
            keys = SEARCH_KEYS if name == "search" else {}
            shape = Shape(classes[name], keys, sections.get).complete()
            lines = _table(shape, own=name in _OWN)
        return "\n".join((f"<!-- begin {name} -->", *lines, f"<!-- end {name} -->"))

    return re.sub(r"<!-- begin (\S+) -->.*?<!-- end \1 -->", block, page, flags=re.DOTALL)


def main(path: str, arguments: Iterable[str]) -> None:
    """Renew the page at ``path`` with the sections in ``arguments``, each ``name=module:class``."""
    sections = {}
    for argument in arguments:
        name, _, place = argument.partition("=")
        module, _, cls = place.partition(":")
        sections[name] = getattr(import_module(module), cls)
    with open(path, encoding="utf-8") as file:
        page = renewed(file.read(), sections)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def _variables() -> Iterator[str]:
    yield "| variable | says |\n|---|---|"
    for variable, about in VARIABLES.items():
        yield f"| `{variable}` | {about} |"


def _table(shape: Shape, *, own: bool) -> Iterator[str]:
    yield "| key | type | default | what it does |\n|---|---|---|---|"
    for leaf in shape.leaves.values():
        tunable = " *workspace*" if own and leaf.setting.tunable else ""
        about = leaf.setting.about.replace("|", "\\|")
        yield f"| `{leaf.key}` | {_type(leaf)} | {_default(leaf)} | {about}{tunable} |"
    for key, reason in shape.unsupported.items():
        yield f"| `{key}` | | | No effect, one warning: {reason}. |"


def _type(leaf: Leaf) -> str:
    setting = leaf.setting
    types = (setting.schema or {}).get("type", ())
    alternatives = [types] if isinstance(types, str) else types
    words = " or ".join(_WORDS.get(name, name) for name in alternatives) or _name(leaf.type)
    low, high = setting.minimum, setting.maximum
    if low is not None and high is not None:
        words += f", {low} to {high}"
    elif low is not None:
        words += f" ≥ {low}"
    return f"{words}, {setting.unit}" if setting.unit else words


def _name(type_: Any) -> str:
    origin, args = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        return _name(next(part for part in args if part is not NoneType))
    if origin is Literal:
        return ", ".join(f'`"{choice}"`' for choice in args)
    if origin is tuple:
        return "list"
    if type_ is Secret:
        return "secret"
    if origin is not None or is_group(type_):
        return "object"
    return {bool: "true/false", int: "integer", float: "number", str: "text"}.get(type_, "any")


def _default(leaf: Leaf) -> str:
    if leaf.setting.shown:
        return leaf.setting.shown
    value = leaf.setting.default
    if value is None or value == "":
        return "unset"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'`"{value}"`'
    if isinstance(value, tuple):
        items = ", ".join(f'"{item}"' for item in value)
        return f"`[{items}]`" if items else "none"
    return "none" if value == {} else str(value)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
