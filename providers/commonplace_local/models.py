"""The configured model: a file or a reference to one on a hub, and its family's prompts.

A model has a ``name`` to show, a ``family``, an ``identity`` that stands for its weights in a
fingerprint (the same before and after a download), ``here`` (its file, if it is on this machine)
and ``fetch`` (its file, downloaded if need be).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace_local.download import Announcer, CacheFolder, Downloader, cache_folder
from commonplace_local.errors import local_error
from commonplace_local.gguf import checked_names, identity
from commonplace_local.references import (
    DEFAULT_MODEL,
    HubModel,
    family_of,
    is_remote,
    parse_hub,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.plugin import Deadline, ProviderContext


def configured_model(context: ProviderContext, env: Mapping[str, str]) -> Model:
    """The model of ``local.modelPath``, or of ``model`` where that names a GGUF, or the default.

    Raises :class:`~commonplace.errors.ProviderError` if it cannot be a model.
    """
    reference = str(context.options.get("model_path") or "").strip()
    model = context.model.strip().removeprefix("local/")
    if not reference and (is_remote(model) or model.lower().endswith(".gguf")):
        reference = model
    reference = reference or DEFAULT_MODEL
    if not is_remote(reference):
        return _FileModel(os.path.abspath(os.path.expanduser(reference)))
    try:
        hub = parse_hub(reference)
    except ValueError as error:
        raise local_error(
            "not_found",
            f"local.modelPath {reference!r}: {error}",
            hint=f"write it as in {DEFAULT_MODEL}, or name a file",
        ) from None
    root = cache_folder(context.options.get("model_cache_dir"), env)
    return _RemoteModel(hub, CacheFolder(root, hub), env, context)


class _FileModel:
    def __init__(self, path: str) -> None:
        self._path = path
        self._identity = ""
        base = os.path.basename(path)
        self.name = os.path.splitext(base)[0]
        self.family = family_of(*checked_names(path), base)

    def identity(self) -> str:
        # Kept: the child's loaded model does not change with the file.
        self._identity = self._identity or f"gguf:{identity(self._path)}"
        return self._identity

    def here(self) -> str | None:
        return self._path

    def fetch(self, *, deadline: Deadline) -> str:  # noqa: ARG002 - nothing to wait for
        checked_names(self._path)  # it may have gone since
        return self._path


class _RemoteModel:
    def __init__(
        self, model: HubModel, folder: CacheFolder, env: Mapping[str, str], context: ProviderContext
    ) -> None:
        self._model = model
        self._folder = folder
        self._env = env
        self._transport = context.transport
        self._progress: Callable[[int, int | None], None] | None = context.options.get("progress")
        file = model.path.rpartition("/")[2]
        self.name = os.path.splitext(file)[0] if file else str(model).removeprefix("hf:")
        # By name alone, so that a download changes nothing.
        self.family = family_of(str(model))

    def identity(self) -> str:
        return str(self._model)

    def here(self) -> str | None:
        return self._folder.find()

    def fetch(self, *, deadline: Deadline) -> str:
        found = self._folder.find() or self._download(deadline)
        checked_names(found)
        return found

    def _download(self, deadline: Deadline) -> str:
        if self._env.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
            raise local_error(
                "not_found",
                f"{self._model} is not on this machine, and HF_HUB_OFFLINE forbids to fetch it",
                hint="unset HF_HUB_OFFLINE once, or name a file in local.modelPath",
            )
        from commonplace_local.hub import Hub

        hub = Hub(self._env, transport=self._transport)
        try:
            progress = self._progress or Announcer(self.name)
            return Downloader(hub, self._folder, progress).fetch(self._model, deadline=deadline)
        finally:
            hub.close()


Model = _FileModel | _RemoteModel
