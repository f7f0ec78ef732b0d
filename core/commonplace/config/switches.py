"""What a configuration says of which plugins are used: its switches, and the slot of memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from commonplace.config.values import object_of
from commonplace.model.plugins import SwitchRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.config.reading import Found, Layer, Reader


def check_switches(
    reader: Reader, plugins: Mapping[str, Any], classes: Callable[[str], type | None] | None
) -> None:
    """Problems of form in what switches and configures plugins: none must fail in silence."""
    if not isinstance(plugins.get("enabled", True), bool):
        reader.problem(("plugins", "enabled"), "must be true or false")
    for key in ("allow", "deny"):
        names = plugins.get(key, [])
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            reader.problem(("plugins", key), "must be a list of plugins, each an id or kind.id")
    entries = object_of(plugins.get("entries"))
    for name, entry in entries.items():
        keys = ("plugins", "entries", str(name))
        if not isinstance(object_of(entry).get("enabled", True), bool):
            reader.problem((*keys, "enabled"), "must be true or false")
        formed = isinstance(entry, Mapping) and isinstance(entry.get("config", {}), Mapping)
        beside = object_of(entry).keys() - {"enabled", "config"}
        # Those of another program's plugins may have any form.
        if formed and not beside:
            continue
        if classes and classes(f"plugins.entries.{name}.config") is not None:
            reader.mapping(reader.mapping(entries, name, keys[:2]), "config", keys)
            for key in sorted(map(str, beside)):
                reader.warn((*keys, key), "has no effect: settings of a plugin stand in its config")


def unread_entries(
    layers: Iterable[Layer],
    classes: Callable[[str], type | None],
    unread: Callable[[str], str],
) -> Iterator[str]:
    """Words on each plugin that has settings in a file of ours, and does not read any.

    ``unread`` says why, by its id, or ``""``: other programs' plugins have settings, too.
    """
    for layer in layers:
        plugins = object_of(object_of(layer.data).get("plugins")) if layer.is_ours else {}
        for name, entry in object_of(plugins.get("entries")).items():
            if not object_of(entry).keys() - {"enabled"}:
                continue
            keys = ("plugins", "entries", str(name))
            if classes(f"{'.'.join(keys)}.config") is None and (why := unread(str(name))):
                yield f"{layer.file}: {'.'.join(keys)}: has no effect: {why}"


def switch_rules(layers: Iterable[Layer]) -> tuple[SwitchRule, ...]:
    """What the documents switch off, nearest first: of each setting the nearest one counts."""
    rules: dict[str, SwitchRule] = {}
    for layer in layers:
        plugins = layer.data.get("plugins") if isinstance(layer.data, Mapping) else None
        if not isinstance(plugins, Mapping):
            continue
        found: dict[str, tuple[tuple[str, ...], bool] | None] = {}
        if "enabled" in plugins:
            found["plugins.enabled"] = ((), True) if plugins["enabled"] is False else None
        for key in ("allow", "deny"):
            names = plugins.get(key)
            if isinstance(names, list | tuple):
                texts = tuple(n.strip() for n in names if isinstance(n, str) and n.strip())
                found[f"plugins.{key}"] = (texts, key == "allow") if texts else None
        entries = plugins.get("entries")
        for name, entry in entries.items() if isinstance(entries, Mapping) else ():
            if isinstance(entry, Mapping) and "enabled" in entry:
                off = ((str(name),), False) if entry["enabled"] is False else None
                found[f"plugins.entries.{name}.enabled"] = off
        for setting_, rule in found.items():
            names, only = rule or ((), False)
            made = SwitchRule(setting_, layer.file, names, only, layer.is_ours)
            rules.setdefault(setting_, made)
    return tuple(rule for rule in rules.values() if rule.names or rule.only)


def of_another(asked: Sequence[SwitchRule], applied: Sequence[SwitchRule]) -> list[str]:
    """Words on the switches ``asked`` for of a host to which others are ``applied``."""
    why = "plugins were looked up before, by another configuration: give each a host of its own"
    without = [f"{rule} has no effect: {why}" for rule in asked if rule not in applied]
    return [*without, *(f"{rule} holds here too: {why}" for rule in applied if rule not in asked)]


def memory_slot(
    found: Found | None,
    sections: Callable[[str], type | None] | None,
    rules: tuple[SwitchRule, ...],
) -> tuple[str, list[str]]:
    """Which memory plugin the nearest document selects, and a note where it is not there.

    A plugin that can be selected declares a section of the configuration.
    """
    if found is None or found.value in {"memory-core", "none"}:
        return found.value if found else "memory-core", []
    file, slot = found.layer.file, found.value
    if sections is not None and sections(f"plugins.entries.{slot}.config") is not None:
        return slot, []
    by = next((str(rule) for rule in rules if slot in rule.names and not rule.only), "")
    why = f"switched off by {by}" if by else "not installed or not allowed here"
    note = f"{file}: plugins.slots.memory: {slot!r} is {why}; memory-core serves instead"
    return slot, [note]
