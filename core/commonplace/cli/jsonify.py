"""Values of the model as JSON, in the camelCase spelling of the original."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["camel", "dumps", "plain"]


def camel(name: str) -> str:
    """``start_line`` as ``startLine``."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def plain(value: object) -> Any:
    """``value`` with attrs classes as dictionaries and all sequences as lists."""
    fields = getattr(type(value), "__attrs_attrs__", None)
    if fields is not None:
        return {camel(field.name): plain(getattr(value, field.name)) for field in fields}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    return value


def dumps(value: object, encoding: str | None) -> str:
    """``value`` as indented JSON that can be written to a stream of ``encoding``."""
    unicode = (encoding or "").lower().replace("-", "").startswith("utf")
    return json.dumps(plain(value), ensure_ascii=not unicode, indent=2)
