"""The configured model: a file or a reference to one on a hub, and its family's prompts.

A model has a ``name`` to show, a ``family``, an ``identity`` that stands for its weights in a
fingerprint (the same before and after a download), ``here`` (its file, if it is on this machine)
and ``fetch`` (its file, downloaded if need be).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from commonplace_local.download import CacheFolder, cache_folder
from commonplace_local.errors import local_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.plugin import Deadline, ProviderContext

__all__ = [
    "DEFAULT_MODEL",
    "PLAIN",
    "Family",
    "HubModel",
    "configured_model",
    "family_of",
    "is_remote",
    "parse_hub",
]


def configured_model(context: ProviderContext, env: Mapping[str, str]) -> _FileModel | _RemoteModel:
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
        from commonplace_local.gguf import checked_names

        self._path = path
        self._identity = ""
        base = os.path.basename(path)
        self.name = os.path.splitext(base)[0]
        self.family = family_of(*checked_names(path), base)

    def identity(self) -> str:
        from commonplace_local.gguf import identity

        # Kept: the child's loaded model does not change with the file.
        self._identity = self._identity or f"gguf:{identity(self._path)}"
        return self._identity

    def here(self) -> str | None:
        return self._path

    def fetch(self, *, deadline: Deadline) -> str:  # noqa: ARG002 - nothing to wait for
        from commonplace_local.gguf import checked_names

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
        found = self._folder.find()
        if found is None:
            found = self._download(deadline)
        from commonplace_local.gguf import checked_names

        checked_names(found)
        return found

    def _download(self, deadline: Deadline) -> str:
        if self._env.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
            raise local_error(
                "not_found",
                f"{self._model} is not on this machine, and HF_HUB_OFFLINE forbids to fetch it",
                hint="unset HF_HUB_OFFLINE once, or name a file in local.modelPath",
            )
        from commonplace_local.download import Announcer, Downloader
        from commonplace_local.hub import Hub

        hub = Hub(self._env, transport=self._transport)
        try:
            progress = self._progress or Announcer(self.name)
            return Downloader(hub, self._folder, progress).fetch(self._model, deadline=deadline)
        finally:
            hub.close()


DEFAULT_MODEL = "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf"

# Compiled when first used: most settings name a file.
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
_REVISION = r"[A-Za-z0-9_][A-Za-z0-9._/-]*"
_SPLIT = r"(?i)-(\d{5})-of-(\d{5})\.gguf$"
_MOST_PARTS = 100


class HubModel(NamedTuple):
    """A file in a repository of a hub; ``path`` is ``""`` where only ``quant`` picks the file."""

    owner: str
    repo: str
    path: str = ""
    quant: str = ""
    revision: str = "main"

    @property
    def repository(self) -> str:
        """``owner/repo``."""
        return f"{self.owner}/{self.repo}"

    def __str__(self) -> str:
        """The reference in its one form."""
        name = f"hf:{self.repository}"
        if self.path:
            name += f"/{self.path}"
        elif self.quant:
            name += f":{self.quant}"
        return name if self.revision == "main" else f"{name}#{self.revision}"

    def parts(self) -> tuple[str, ...]:
        """The paths of all files the model is made of, first the one that is loaded."""
        split = re.search(_SPLIT, self.path)
        if split is None:
            return (self.path,)
        count, stem = int(split[2]), self.path[: split.start()]
        return tuple(f"{stem}-{n:05}-of-{count:05}.gguf" for n in range(1, count + 1))

    def picks(self, path: str) -> bool:
        """Whether a file of the repository is the one that ``quant`` asks for."""
        name = path.lower()
        if not name.endswith(".gguf") or name.rpartition("/")[2].startswith("mmproj"):
            return False
        split = re.search(_SPLIT, name)
        if split is not None and int(split[1]) != 1:
            return False
        pattern = rf"(?:^|[-._/]){re.escape(self.quant.lower())}(?:\.gguf$|-\d{{5}}-of-|[/])"
        return not self.quant or re.search(pattern, name) is not None


def is_remote(reference: str) -> bool:
    """Whether ``local.modelPath`` names something that would have to be fetched."""
    return reference.strip().lower().startswith(("hf:", "huggingface:", "http://", "https://"))


def parse_hub(reference: str) -> HubModel:
    """Read ``hf:owner/repo/path.gguf[#revision]`` or ``hf:owner/repo[:QUANT][#revision]``.

    Raises ``ValueError`` with the reason.
    """
    scheme, _, rest = reference.strip().partition(":")
    if scheme.lower() not in ("hf", "huggingface"):
        raise ValueError("models are fetched by hf:owner/repo/file.gguf, not by other addresses")
    rest, _, revision = rest.partition("#")
    revision = revision or "main"
    if not re.fullmatch(_REVISION, revision) or _climbs(revision):
        raise ValueError(f"{revision!r} is no revision")
    pieces = rest.split("/")
    if len(pieces) < 2:
        raise ValueError("it needs an owner and a repository")
    owner, repo, path = pieces[0], pieces[1], "/".join(pieces[2:])
    quant = ""
    if not path:
        repo, _, quant = repo.partition(":")
    for name in (owner, repo, *((quant,) if quant else ())):
        if not re.fullmatch(_NAME, name) or ".." in name:
            raise ValueError(f"{name!r} is no name on a hub")
    if path:
        _check_path(path)
    return HubModel(owner, repo, path, quant, revision)


def _check_path(path: str) -> None:
    if _climbs(path) or "\\" in path or ":" in path or not path.isprintable():
        raise ValueError(f"{path!r} is no path of a file in a repository")
    if not path.lower().endswith(".gguf"):
        raise ValueError(f"{path!r} is no GGUF file")
    split = re.search(_SPLIT, path)
    if split is not None and not 1 <= int(split[2]) <= _MOST_PARTS:
        raise ValueError(f"{path!r} has no number of parts that can be right")


def _climbs(path: str) -> bool:
    return any(piece in ("", ".", "..") for piece in path.split("/"))


class Family(NamedTuple):
    """One family: the prompts of its model card, and the lengths it was trained to be cut to.

    Without ``lengths`` any will do, or none is known; ``pooling`` is for files that name none.
    """

    name: str
    query: str = ""
    document: str = ""
    lengths: tuple[int, ...] = ()
    pooling: str = "mean"


PLAIN = Family("plain")
"""For an unknown model: no prompts."""

_QWEN = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
_BGE = "Represent this sentence for searching relevant passages: "

# The first whose key occurs in a name wins.
_FAMILIES = (
    (
        ("embeddinggemma", "gemma-embedding"),
        Family(
            "embeddinggemma",
            "task: search result | query: ",
            "title: none | text: ",
            (768, 512, 256, 128),
        ),
    ),
    (
        ("nomic-embed-text",),
        Family("nomic", "search_query: ", "search_document: ", (768, 512, 256, 128, 64)),
    ),
    (("qwen3-embedding",), Family("qwen3", _QWEN, pooling="last")),
    # The multilingual BGE-M3 was trained without instructions.
    (("bge-small-en", "bge-base-en", "bge-large-en"), Family("bge-en", _BGE, "", (), "cls")),
    (("bge-m3",), Family("bge-m3", pooling="cls")),
    (("e5-small", "e5-base", "e5-large"), Family("e5", "query: ", "passage: ")),
    (("all-minilm",), Family("minilm")),
)


def family_of(*names: str) -> Family:
    """The family that one of ``names`` (of a model, an architecture, a file) belongs to."""
    plain = [name.lower().replace("_", "-").replace(" ", "-") for name in names]
    for keys, family in _FAMILIES:
        if any(key in name for key in keys for name in plain):
            return family
    return PLAIN
