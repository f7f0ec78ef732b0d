"""The sections of a configuration that belong to plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from commonplace.config.defaults import SEARCH_KEYS
from commonplace.config.reading import joined
from commonplace.config.secret import Opaque
from commonplace.config.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from commonplace.config.document import Findings
    from commonplace.config.reading import Found
    from commonplace.model.settings import Fault

__all__ = ["merged_sections", "owned", "read_sections"]

Names = tuple[str, ...]


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
) -> tuple[dict[str, Any], dict[str, dict[str, Found]], list[Fault]]:
    """The sections among ``names`` whose class is known, read into it; what each was read from.

    Faults go to the documents' readers; those that belong to no document are given back.
    """
    values: dict[str, Any] = {}
    origins: dict[str, dict[str, Found]] = {}
    faults: list[Fault] = []
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
        if any(document.reader.faulty for document in holders or findings):
            continue
        file = holders[0].reader.layer.file if holders else "configuration"
        if missing := _missing(name, shape, given, file):
            faults += missing
            continue
        try:
            values[name] = shape.build(given)
        except (TypeError, ValueError) as error:
            # Its words may quote the value, and that may be a secret.
            faults.append(_fault(file, name, f"is refused by its plugin ({type(error).__name__})"))
    return values, origins, faults


def _missing(name: str, shape: Shape, given: Mapping[Names, Any], file: str) -> list[Fault]:
    return [
        _fault(file, f"{name}.{leaf.key}", "is missing")
        for leaf in shape.leaves.values()
        if leaf.required and leaf.names not in given
    ]


def _fault(file: str, key: str, message: str) -> Fault:
    from commonplace.model.settings import Fault

    return Fault(file=file, line=0, key=key, message=message)


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
