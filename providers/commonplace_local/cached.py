"""Finds models in the hub's cache folder, which other tools share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace_local.references import HubModel

__all__ = ["CacheFolder", "cache_folder"]


def cache_folder(configured: str | None, env: Mapping[str, str]) -> str:
    """Where downloaded models are: as configured, or where the hub's own library keeps them."""
    if configured:
        return os.path.abspath(os.path.expanduser(configured))
    if env.get("HF_HUB_CACHE"):
        return os.path.expanduser(env["HF_HUB_CACHE"])
    if env.get("HF_HOME"):
        return os.path.join(os.path.expanduser(env["HF_HOME"]), "hub")
    base = env.get("XDG_CACHE_HOME") or os.path.join(
        env.get("HOME") or os.path.expanduser("~"), ".cache"
    )
    return os.path.join(base, "huggingface", "hub")


class CacheFolder:
    """The places of one model's files: ``models--owner--repo/{blobs,refs,snapshots}``."""

    def __init__(self, root: str, model: HubModel) -> None:
        self._root = root
        self._model = model
        self._name = f"models--{model.owner}--{model.repo}"
        self.base = os.path.join(root, self._name)

    def find(self) -> str | None:
        """The file to load, if all of its parts are here; asks nobody."""
        snapshot = os.path.join(self.base, "snapshots", self._commit())
        model = self._model
        if not model.path:
            here = [path for path in _files(snapshot) if model.picks(path)]
            if len(here) != 1:
                return None
            model = model._replace(path=here[0])
        found = [os.path.join(snapshot, *part.split("/")) for part in model.parts()]
        return found[0] if all(os.path.isfile(path) for path in found) else None

    def blob(self, etag: str) -> str:
        """Where the content with ``etag`` lies; unfinished with ``.incomplete`` behind it."""
        return os.path.join(self.base, "blobs", etag)

    def lock(self, etag: str) -> str:
        """The lock that whoever fetches ``etag`` holds."""
        return os.path.join(self._root, ".locks", self._name, f"{etag}.lock")

    def place(self, path: str, commit: str) -> str:
        """Where the file ``path`` of ``commit`` is found by name."""
        return os.path.join(self.base, "snapshots", commit, *path.split("/"))

    def ref(self) -> str:
        """The file that tells the commit of the revision."""
        return os.path.join(self.base, "refs", *self._model.revision.split("/"))

    def _commit(self) -> str:
        try:
            with open(self.ref(), encoding="utf-8") as file:
                return file.read().strip() or self._model.revision
        except OSError:
            return self._model.revision


def _files(folder: str) -> list[str]:
    return sorted(
        os.path.relpath(os.path.join(where, name), folder).replace(os.sep, "/")
        for where, _, names in os.walk(folder)
        for name in names
    )
