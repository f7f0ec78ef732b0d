"""Tells which of QMD's models are on this machine: with one missing, QMD would try to fetch it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace_qmd.engine.types import ModelKind

__all__ = ["installed_models"]

_MAGIC = b"GGUF"
# The variable that names each model, and the file of the one that QMD takes without.
_MODELS: Mapping[ModelKind, tuple[str, str]] = {
    "embed": ("QMD_EMBED_MODEL", "embeddinggemma-300M-Q8_0.gguf"),
    "rerank": ("QMD_RERANK_MODEL", "qwen3-reranker-0.6b-q8_0.gguf"),
    "generate": ("QMD_GENERATE_MODEL", "qmd-query-expansion-1.7B-q4_k_m.gguf"),
}


def installed_models(folder: str, env: Mapping[str, str]) -> frozenset[ModelKind]:
    """The kinds of models whose files lie in ``folder``, or where ``env`` says."""
    return frozenset(
        kind
        for kind, (variable, default) in _MODELS.items()
        if _is_there(env.get(variable) or f"hf:{default}", folder)
    )


def _is_there(uri: str, folder: str) -> bool:
    if not uri.startswith("hf:"):
        return _is_model(uri)
    name = uri.rpartition("/")[2].removeprefix("hf:")
    with suppress(OSError):
        return any(
            # The file's name goes behind its owner's: hf_ggml-org_embeddinggemma-...
            entry.endswith(".gguf") and name in entry and _is_model(os.path.join(folder, entry))
            for entry in os.listdir(folder)
        )
    return False


def _is_model(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
    return False
