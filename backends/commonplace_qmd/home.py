"""One agent's QMD on disk: its folders, and what is remembered of former updates."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.plugin import expand_user, make_private_folder, read_json, write_whole
from commonplace_qmd.engine.values import QmdHome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.plugin import Stamp

    Manifest = Mapping[str, Mapping[str, Stamp]]
    """By collection, the files of the last update (stored paths) with their stamps."""


_FORMAT = 2


class Home(NamedTuple):
    """The absolute paths of one agent's QMD.

    ``exported`` is the default folder of exported transcripts, ``config_file`` is QMD's list of
    collections, ``state`` the :class:`State` as JSON, and ``lock`` the lock file of the one process
    that may write. Collections that are no longer configured get the path ``empty_folder``.
    """

    root: str
    qmd: QmdHome
    exported: str
    config_file: str
    empty_folder: str
    state: str
    lock: str


def home_of(state_dir: str, agent: str, workspace: str) -> Home:
    """The home of ``agent`` in ``workspace`` below ``state_dir``; nothing is created.

    Its name holds a checksum of the workspace: two workspaces searched under one agent's name must
    not share an index, from which each update would remove the other's notes.
    """
    from zlib import crc32

    folder = os.path.realpath(workspace).encode("utf-8", "surrogateescape")
    above = os.path.join(os.path.abspath(state_dir), "agents", agent, "qmd")
    root = os.path.join(above, f"{crc32(folder):08x}")
    cache = os.path.join(root, "xdg-cache")
    return Home(
        root=root,
        qmd=QmdHome(
            config_dir=os.path.join(root, "xdg-config", "qmd"),
            index_path=os.path.join(cache, "qmd", "index.sqlite"),
            cache_home=cache,
            cwd=os.path.join(root, "work"),
        ),
        exported=os.path.join(above, "sessions"),
        config_file=os.path.join(root, "xdg-config", "qmd", "index.yml"),
        empty_folder=os.path.join(root, "retired"),
        state=os.path.join(root, "state.json"),
        lock=os.path.join(root, "writer.lock"),
    )


def make_home(home: Home, env: Mapping[str, str]) -> None:
    """Create the folders of ``home``, for this user alone; raises ``OSError``.

    All homes share QMD's own folder of models (some 2 GB) by a link. A folder of models that is
    not empty is kept.
    """
    models = home.qmd.models_dir
    folders = (home.root, home.qmd.config_dir, home.qmd.cwd, home.empty_folder)
    for folder in (*folders, os.path.dirname(models)):
        make_private_folder(folder)
    if os.path.islink(models) or (os.path.isdir(models) and os.listdir(models)):
        return
    cache = env.get("XDG_CACHE_HOME", "")
    cache = cache if os.path.isabs(cache) else expand_user("~/.cache", env)
    shared = os.path.join(cache, "qmd", "models")
    if os.path.realpath(shared) == os.path.realpath(models):
        return
    os.makedirs(shared, exist_ok=True)
    if os.path.isdir(models):
        os.rmdir(models)
    try:
        os.symlink(shared, models, target_is_directory=True)
    except FileExistsError:
        return  # another process was quicker
    except OSError:
        os.makedirs(models, exist_ok=True)  # Windows, without the right to make links


class State(NamedTuple):
    """What is remembered from one process to the next; times are epoch seconds, 0 is never.

    ``configured`` is the text of ``index.yml`` as it was last written. ``embed_failures`` counts
    failures in a row, the last for ``embed_reason``; nothing is embedded before ``embed_after``.
    ``documents`` and ``pending`` (texts without vectors, -1 if unknown) are of the last update, as
    are ``files``.
    """

    configured: str = ""
    last_update: float = 0.0
    last_embed: float = 0.0
    embed_failures: int = 0
    embed_after: float = 0.0
    embed_reason: str = ""
    documents: int = 0
    pending: int = -1
    files: Manifest = {}  # noqa: RUF012 - never changed in place


def load_state(home: Home) -> State:
    """The state as it was saved; a fresh one if it is missing or invalid, or has no index."""
    if not os.path.exists(home.qmd.index_path):
        return State()
    saved = read_json(home.state)
    if saved.get("format") != _FORMAT:
        return State()
    values: dict[str, Any] = {}
    for name, default in State()._asdict().items():
        value = saved.get(name)
        if isinstance(value, type(default)) or (isinstance(default, float) and type(value) is int):
            values[name] = value
    values["files"] = {
        name: {path: stamp for path, stamp in files.items() if isinstance(stamp, str)}
        for name, files in values.get("files", {}).items()
        if isinstance(files, dict)
    }
    return State(**values)


def save_state(home: Home, state: State) -> None:
    """Write the state; raises ``OSError``."""
    values = {"format": _FORMAT, **state._asdict()}
    write_whole(home.state, json.dumps(values, ensure_ascii=False, separators=(",", ":")))
