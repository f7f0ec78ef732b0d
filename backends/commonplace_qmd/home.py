"""The folders in which one agent's QMD keeps its configuration, its index and its models."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import expand_user
from commonplace_qmd.engine import QmdHome
from commonplace_qmd.files import make_private_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Home", "home_of", "make_home", "shared_models"]


class Home(NamedTuple):
    """Where everything of one agent's QMD lives; all paths are absolute.

    ``retired`` is an empty folder, which collections that are no longer configured are pointed at,
    so that QMD forgets their files.
    """

    root: str
    qmd: QmdHome
    exported: str

    @property
    def config_file(self) -> str:
        """QMD's list of collections."""
        return os.path.join(self.qmd.config_dir, "index.yml")

    @property
    def retired(self) -> str:
        """An empty folder."""
        return os.path.join(self.root, "retired")

    @property
    def state(self) -> str:
        """What we remember of former updates."""
        return os.path.join(self.root, "state.json")

    @property
    def manifest(self) -> str:
        """The files that the last update found, with their stamps."""
        return os.path.join(self.root, "manifest.json")

    @property
    def lock(self) -> str:
        """Held by the one process that writes."""
        return os.path.join(self.root, "writer.lock")


def home_of(state_dir: str, agent: str, workspace: str) -> Home:
    """The home of ``agent`` in ``workspace`` below ``state_dir``; nothing is made.

    Its name holds a checksum of the folder: two folders searched under one agent's name must not
    share an index, which each would empty of the other's notes.
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
    )


def shared_models(env: Mapping[str, str]) -> str:
    """Where QMD by itself keeps its models, which all agents share: some 2 GB."""
    base = env.get("XDG_CACHE_HOME", "")
    base = base if os.path.isabs(base) else expand_user("~/.cache", env)
    return os.path.join(base, "qmd", "models")


def make_home(home: Home, env: Mapping[str, str]) -> None:
    """Make the folders of ``home`` and lead its models to the shared ones; raises ``OSError``.

    A folder of models that is there already, with something in it, stays.
    """
    for folder in (home.root, home.qmd.config_dir, home.qmd.cwd, home.retired):
        make_private_folder(folder)
    models = home.qmd.models_dir
    make_private_folder(os.path.dirname(models))
    if os.path.islink(models) or (os.path.isdir(models) and os.listdir(models)):
        return
    shared = shared_models(env)
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
