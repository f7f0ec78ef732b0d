"""Readers of settings whose type alone does not say what may be written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING

from commonplace.config.search import ExtraPath
from commonplace.config.values import WrongValueError, convert, kind_of
from commonplace.dirs import expand_user
from commonplace.model.groups import Setting
from commonplace.model.plugins import is_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.values import Reading

__all__ = ["READERS", "backend_chain", "byte_size", "extra_paths", "plugin_id"]

_SIZE = r"(?ai)\s*(\d+(?:\.\d+)?)\s*(b|[kmgt]i?b?)?\s*"
_POWER = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_AS_IT_IS = Setting("", None, {})


def byte_size(raw: object, reading: Reading) -> int:
    """A number of bytes, or a text such as ``2mb`` or ``1.5 GiB``, in powers of 1024."""
    wanted = 'must be a number of bytes of at least 0, or a text such as "2mb"'
    if isinstance(raw, str):
        match = re.fullmatch(_SIZE, reading.text(raw))
        if match is None:
            raise WrongValueError(wanted)
        return int(float(match[1]) * 1024 ** _POWER[(match[2] or "b")[0].lower()])
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise WrongValueError(f"{wanted}, not {kind_of(raw)}")
    if not isfinite(raw) or raw < 0 or raw != int(raw):
        raise WrongValueError(wanted)
    return int(raw)


def plugin_id(raw: object, reading: Reading) -> str:
    """An id that a plugin can have."""
    text = reading.text(raw).strip()
    if not is_id(text):
        raise WrongValueError("must be an id: lower-case letters and digits joined by - or _")
    return text


def backend_chain(raw: object, reading: Reading) -> tuple[str, ...]:
    """One id, or a list that is the whole chain.

    A single id is followed by ``""``, for the backend that its plugin declares as its standby.
    """
    if isinstance(raw, str):
        return plugin_id(raw, reading), ""
    if not isinstance(raw, list | tuple):
        raise WrongValueError(f"must be an id or a list of ids, not {kind_of(raw)}")
    if not raw:
        raise WrongValueError("must name at least one backend")
    wrong: dict[str | int, WrongValueError] = {}
    chain: list[str] = []
    for place, item in enumerate(raw):
        try:
            id_ = plugin_id(item, reading)
        except WrongValueError as problem:
            wrong[place] = problem
            continue
        if id_ in chain:
            wrong[place] = WrongValueError("stands in the chain already")
        chain.append(id_)
    if wrong:
        raise WrongValueError.together(wrong)
    return tuple(chain)


def extra_paths(raw: object, reading: Reading) -> tuple[ExtraPath, ...]:
    """Paths, or objects of path and pattern; blank ones are dropped, doubles too."""
    if not isinstance(raw, list | tuple):
        raise WrongValueError(f"must be a list, not {kind_of(raw)}")
    wrong: dict[str | int, WrongValueError] = {}
    found: list[ExtraPath] = []
    for place, item in enumerate(raw):
        try:
            extra = _extra_path(item, reading)
        except WrongValueError as problem:
            wrong[place] = problem
        else:
            if extra is not None and extra not in found:
                found.append(extra)
    if wrong:
        raise WrongValueError.together(wrong)
    return tuple(found)


def _extra_path(raw: object, reading: Reading) -> ExtraPath | None:
    if isinstance(raw, Mapping):
        extra: ExtraPath = convert(ExtraPath, raw, _AS_IT_IS, reading)
    elif isinstance(raw, str):
        extra = ExtraPath(path=reading.text(raw))
    else:
        raise WrongValueError(
            f"must be a path or an object of path and pattern, not {kind_of(raw)}"
        )
    path = expand_user(extra.path.strip(), reading.env)
    if not path:
        return None
    if reading.confined and not _inside(path, reading.confined):
        raise WrongValueError(
            "lies outside the workspace, which a workspace's own file may not name"
        )
    pattern = extra.pattern.strip() if extra.pattern is not None else None
    return ExtraPath(path=path, pattern=pattern or None)


def _inside(path: str, workspace: str) -> bool:
    """Whether ``path``, with every link followed, is in ``workspace``."""
    root = os.path.realpath(workspace)
    target = os.path.realpath(os.path.join(root, path))
    return target == root or target.startswith(root.rstrip(os.sep) + os.sep)


READERS: Mapping[str, Callable[[object, Reading], object]] = {
    "backend_chain": backend_chain,
    "byte_size": byte_size,
    "extra_paths": extra_paths,
}
"""The readers of core's own settings, by the name they are referred to."""
