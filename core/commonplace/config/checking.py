"""Checking a configuration as a whole, and telling everything at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.config.places import MisplacedError, locate
from commonplace.config.reading import key_path
from commonplace.config.resolve import resolve
from commonplace.config.search import PROVIDERS
from commonplace.model.groups import Group, setting
from commonplace.model.settings import Fault

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from commonplace.config.places import Place
    from commonplace.config.reading import Keys, Layer
    from commonplace.config.resolve import Resolution

__all__ = ["CheckReport", "check"]

_CHOICES = (
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
    """What a check found; nothing is wrong where ``faults`` is empty."""

    files: tuple[str, ...] = setting("The files that were read.", default=())
    faults: tuple[Fault, ...] = setting("All that is wrong.", default=())
    warnings: tuple[str, ...] = setting("What has no effect, or is probably a slip.", default=())
    hint: str = setting("One line of advice, or nothing.", default="")


def check(
    *,
    workspace: str | None = None,
    agent: str | None = None,
    config: str | os.PathLike[str] | Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    sections: Callable[[str], type | None] | None = None,
    absence: Callable[[str, str], str] | None = None,
) -> CheckReport:
    """Everything wrong with the configuration that the same arguments would load.

    ``absence`` says of a kind of plugin and an id why nobody offers it, or ``""``. An embedding
    provider that nobody offers is a warning, for memory then answers by keyword; else it is a
    fault. Raises nothing: even a workspace that is missing is told as a fault.
    """
    resolution = resolve(
        workspace=workspace, agent=agent, config=config, env=env, sections=sections
    )
    faults, hint = list(resolution.faults), ""
    if resolution.error is not None:
        faults.append(Fault(file="configuration", line=0, key="", message=str(resolution.error)))
        hint = resolution.error.hint
    doubled = [words for layer in resolution.layers for words in _doubled(layer)]
    warnings = resolution.warnings
    unheard: list[str] = []
    for kind, fault in _unknown(resolution, absence) if absence is not None else ():
        # The doubts of whoever read the key without knowing the plugins.
        doubts = f"{fault.file}: {fault.key}: "
        warnings = [words for words in warnings if not words.startswith(doubts)]
        if kind == "provider":
            unheard.append(str(fault))
        else:
            faults.append(fault)
    return CheckReport(
        files=tuple(resolution.files),
        faults=tuple(faults),
        warnings=tuple(dict.fromkeys((*warnings, *unheard, *doubled))),
        hint=hint,
    )


def _unknown(
    resolution: Resolution, absence: Callable[[str, str], str]
) -> Iterator[tuple[str, Fault]]:
    """What the configuration names and nobody offers: the kind, and the fault."""
    for section, key, kind in _CHOICES:
        found = resolution.found.get(section, {}).get(key)
        if found is None or not found.value:
            continue
        ids = (found.value,) if isinstance(found.value, str) else found.value
        for id_ in filter(None, ids):
            if kind == "provider" and id_ in PROVIDERS:
                continue
            if words := absence(kind, id_):
                layer = found.layer
                yield (
                    kind,
                    Fault(
                        file=layer.file,
                        line=_line_of(layer, found.keys),
                        key=key_path(found.keys),
                        message=words,
                    ),
                )


def _line_of(layer: Layer, keys: Keys) -> int:
    try:
        return locate(layer.text).line_of(keys) if layer.text else 0
    except MisplacedError:
        return 0


def _doubled(layer: Layer) -> Iterator[str]:
    """Keys that stand twice in one object: the parsers of JSON take the last in silence."""
    try:
        root = locate(layer.text)
    except MisplacedError:
        return
    for keys, place in _places(root, ()):
        if place.doubled and keys[0] in _OURS:
            lines = ", ".join(map(str, place.doubled))
            yield (
                f"{layer.file}:{place.line}: {key_path(keys)}: stands in line {lines} as well; "
                "the last one counts"
            )


def _places(place: Place, keys: Keys) -> Iterator[tuple[Keys, Place]]:
    open_ = [(keys, place)]
    while open_:
        keys, place = open_.pop()
        if keys:
            yield keys, place
        open_.extend(((*keys, key), below) for key, below in reversed(place.below.items()))
