"""The environment that QMD runs in: all of its files ours, nothing in it that it has no use for."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace_qmd.engine.types import QmdHome

__all__ = ["surroundings"]

_BUSY_MS = 2000  # how long QMD waits for a writer; its own default is two minutes
_KEPT = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"),
        *("QMD_EMBED_MODEL", "QMD_RERANK_MODEL", "QMD_GENERATE_MODEL"),
        *("QMD_FORCE_CPU", "QMD_LLAMA_GPU", "QMD_EMBED_PARALLELISM", "QMD_EMBED_CONTEXT_SIZE"),
        *("QMD_RERANK_CONTEXT_SIZE", "QMD_EXPAND_CONTEXT_SIZE", "QMD_EMBED_MAX_DURATION_MS"),
        "QMD_METAL_KEEP_RESIDENCY",
    }
)
_KEPT_KINDS = ("LC_", "GGML_", "CUDA_", "HIP_", "ROCR_", "VK_", "MTL_", "OMP_", "NODE_LLAMA_CPP_")
# Only what fetches models goes anywhere, and only that may know the way and the key.
_FETCHING = frozenset(
    {
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("HF_ENDPOINT", "MODEL_ENDPOINT", "HF_TOKEN"),
    }
)


def surroundings(home: QmdHome, env: Mapping[str, str], *, endpoint: str | None) -> dict[str, str]:
    """What QMD gets to see of ``env``, and where its files are.

    ``endpoint`` is asked for models in the hub's place, so that what is missing is said at once;
    without one, QMD may download.
    """
    seen = {
        name: value
        for name, value in env.items()
        if name in _KEPT
        or name.startswith(_KEPT_KINDS)
        or (endpoint is None and name.upper() in _FETCHING)
    }
    seen |= {
        "QMD_CONFIG_DIR": home.config_dir,
        "XDG_CACHE_HOME": home.cache_home,
        "INDEX_PATH": home.index_path,
        "PWD": home.cwd,  # which QMD prefers to asking the system
        "NO_COLOR": "1",
        "QMD_SQLITE_BUSY_TIMEOUT": str(_BUSY_MS),
        "NODE_COMPILE_CACHE": os.path.join(home.cache_home, "node"),
        # What QMD's launcher sets, which is passed by: engines that keep standard output clean.
        "LLAMA_LOG_LEVEL": "error",
        "GGML_LOG_LEVEL": "error",
        "GGML_BACKEND_SILENT": "1",
    }
    if sys.platform == "darwin" and seen.get("QMD_METAL_KEEP_RESIDENCY") != "1":
        seen["GGML_METAL_NO_RESIDENCY"] = "1"
    if endpoint is not None:
        seen |= {"HF_ENDPOINT": endpoint, "MODEL_ENDPOINT": endpoint}
    return seen
