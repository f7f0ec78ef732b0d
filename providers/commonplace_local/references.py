"""Names of models: references to files of a hub, and the families that want prefixes."""

from __future__ import annotations

import re
from typing import NamedTuple

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
