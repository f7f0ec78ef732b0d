"""Checking a configuration as a whole, and telling everything at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.config.description import Group, setting
from commonplace.config.places import MisplacedError, locate
from commonplace.config.reading import key_path
from commonplace.config.resolve import resolve
from commonplace.model.settings import Fault

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from commonplace.config.places import Place
    from commonplace.config.reading import Keys, Layer

__all__ = ["CheckReport", "check"]

_OURS = ("agents", "memory", "models", "plugins", "session")


class CheckReport(Group):
    """What a check found; nothing is wrong where ``faults`` is empty."""

    files: tuple[str, ...] = setting("The files that were read.", default=())
    faults: tuple[Fault, ...] = setting("All that is wrong.", default=())
    warnings: tuple[str, ...] = setting("What has no effect, or is probably a slip.", default=())
    mend: str = setting("One line of advice, or nothing.", default="")


def check(
    *,
    workspace: str | None = None,
    agent: str | None = None,
    config: str | os.PathLike[str] | Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    sections: Callable[[str], type | None] | None = None,
) -> CheckReport:
    """Everything wrong with the configuration that the same arguments would load.

    Raises nothing: even a workspace that is missing is told as a fault.
    """
    resolution = resolve(
        workspace=workspace, agent=agent, config=config, env=env, sections=sections
    )
    faults, mend = list(resolution.faults), ""
    if resolution.error is not None:
        faults.append(Fault(file="configuration", line=0, key="", message=str(resolution.error)))
        mend = resolution.error.mend
    doubled = [words for layer in resolution.layers for words in _doubled(layer)]
    return CheckReport(
        files=tuple(resolution.files),
        faults=tuple(faults),
        warnings=tuple(dict.fromkeys((*resolution.warnings, *doubled))),
        mend=mend,
    )


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
