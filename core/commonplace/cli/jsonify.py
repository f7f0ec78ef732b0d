"""Values of the model as JSON, in the camelCase spelling of the original."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from commonplace.model.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["camel", "dumps", "plain"]


def camel(name: str) -> str:
    """``start_line`` as ``startLine``."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def plain(value: object) -> Any:
    """``value`` with attrs classes and named tuples as dictionaries, other sequences as lists."""
    if isinstance(value, Finding):
        hint = value.fix.hint if value.fix is not None else ""
        return {"state": value.state, "name": value.name, "text": value.text, "hint": hint}
    names = _field_names(type(value))
    if names is not None:
        return {camel(name): plain(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    return value


def _field_names(cls: type) -> Sequence[str] | None:
    fields = getattr(cls, "__attrs_attrs__", None)
    if fields is not None:
        return [field.name for field in fields]
    names: Sequence[str] | None = getattr(cls, "_fields", None)
    return names


def dumps(value: object, encoding: str | None, *, indent: int | None = 2) -> str:
    """``value`` as JSON that can be written to a stream of ``encoding``.

    Without ``indent`` it is one line.
    """
    unicode = (encoding or "").lower().replace("-", "").startswith("utf")
    return json.dumps(plain(value), ensure_ascii=not unicode, indent=indent)
