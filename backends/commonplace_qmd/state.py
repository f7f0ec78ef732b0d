"""What is remembered from one process to the next: when QMD was last brought up, and to what."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace_qmd.files import read_json, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from commonplace.plugin import Stamp
    from commonplace_qmd.home import Home

__all__ = ["Manifest", "State", "load_manifest", "load_state", "save_manifest", "save_state"]

Manifest = dict[str, dict[str, "Stamp"]]
"""By collection, the files of the last update with their stamps."""

_VERSION = 1


class State(NamedTuple):
    """Times are epoch seconds, 0 for never.

    ``configured`` is the text of ``index.yml`` as it was last written. ``embed_failures`` came in
    a row, the last because of ``embed_reason``; nothing is embedded before ``embed_after``.
    ``documents`` and ``pending`` (texts without vectors) are as of the last update, ``pending`` -1
    where it is not known.
    """

    configured: str = ""
    last_update: float = 0.0
    last_embed: float = 0.0
    embed_failures: int = 0
    embed_after: float = 0.0
    embed_reason: str = ""
    documents: int = 0
    pending: int = -1
    version: str = ""


def load_state(home: Home) -> State:
    """The state as it was saved; a fresh one where there is none, or QMD's index is not there."""
    if not os.path.exists(home.qmd.index_path):
        return State()
    found = read_json(home.state)
    if found.get("version") != _VERSION:
        return State()
    values: dict[str, Any] = {
        name: value
        for name, default in State()._asdict().items()
        if isinstance(value := found.get(_key(name)), type(default)) or _is_number(value, default)
    }
    return State(**values)


def save_state(home: Home, state: State) -> None:
    """Write the state; raises ``OSError``."""
    values = {_key(name): value for name, value in state._asdict().items()}
    _save(home.state, {"version": _VERSION, **values})


def load_manifest(home: Home) -> Manifest:
    """The files of the last update; none where there was none, or QMD's index is not there."""
    if not os.path.exists(home.qmd.index_path):
        return {}
    found = read_json(home.manifest)
    files = found.get("files") if found.get("version") == _VERSION else None
    if not isinstance(files, dict):
        return {}
    return {
        name: dict(_stamps(of_collection))
        for name, of_collection in files.items()
        if isinstance(of_collection, dict)
    }


def save_manifest(home: Home, manifest: Mapping[str, Mapping[str, Stamp]]) -> None:
    """Write the manifest; raises ``OSError``."""
    _save(home.manifest, {"version": _VERSION, "files": manifest})


def _stamps(files: Mapping[object, object]) -> Iterable[tuple[str, Stamp]]:
    for path, stamp in files.items():
        if isinstance(stamp, list) and len(stamp) == 4:
            yield str(path), (int(stamp[0]), int(stamp[1]), int(stamp[2]), int(stamp[3]))


def _save(path: str, value: object) -> None:
    write_whole(path, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _key(name: str) -> str:
    # ``version`` alone is that of the file.
    return "qmdVersion" if name == "version" else name


def _is_number(value: object, default: object) -> bool:
    return isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool)
