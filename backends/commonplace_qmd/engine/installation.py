"""What is installed on this machine: QMD's program and its Node, its models, and its index."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import sys
import time
from contextlib import closing, suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from commonplace.plugin import NamedTuple
from commonplace_qmd.engine.values import QmdError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from commonplace_qmd.engine.values import ModelKind, QmdHome


LEAST_NODE = 22
LEAST_VERSION = (2, 8, 3)

_NAME = "@tobilu/qmd"
_MAX_DEPTH = 3  # folders between a package's program and its package.json
_NODE_SECONDS = 5.0
_BUSY_SECONDS = 1.0
_MAJOR = re.compile(r"#define\s+NODE_MAJOR_VERSION\s+(\d+)")
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
# With the version: the npm of an older Node chooses QMD 0.9.0, silently.
_WITH_NPM = (
    f"npm install -g {_NAME}@{'.'.join(map(str, LEAST_VERSION))}, with Node {LEAST_NODE} or newer"
)
_INSTALL = f"{_WITH_NPM}; or set memory.qmd.command to its path"
_NEWER_NODE = f"install Node {LEAST_NODE} or newer; QMD crashes on older ones"

_MAGIC = b"GGUF"
# The variable that names each model, and the file of the one that QMD takes without.
_MODELS: Mapping[ModelKind, tuple[str, str]] = {
    "embed": ("QMD_EMBED_MODEL", "embeddinggemma-300M-Q8_0.gguf"),
    "rerank": ("QMD_RERANK_MODEL", "qwen3-reranker-0.6b-q8_0.gguf"),
    "generate": ("QMD_GENERATE_MODEL", "qmd-query-expansion-1.7B-q4_k_m.gguf"),
}

_BUSY_MS = 2000  # how long QMD waits for a writer; its own default is two minutes
_PASSED = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"),
        *("QMD_EMBED_MODEL", "QMD_RERANK_MODEL", "QMD_GENERATE_MODEL"),
        *("QMD_FORCE_CPU", "QMD_LLAMA_GPU", "QMD_EMBED_PARALLELISM", "QMD_EMBED_CONTEXT_SIZE"),
        *("QMD_RERANK_CONTEXT_SIZE", "QMD_EXPAND_CONTEXT_SIZE", "QMD_EMBED_MAX_DURATION_MS"),
        "QMD_METAL_KEEP_RESIDENCY",
    }
)
_PASSED_PREFIXES = (
    *("LC_", "GGML_", "CUDA_", "HIP_", "ROCR_", "VK_", "MTL_", "OMP_"),
    "NODE_LLAMA_CPP_",
)
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_CLIENT_SECONDS = 2.0
_CLOSED = (errno.EBADF, errno.EINVAL, errno.ENOTSOCK)  # what accepting raises when it is
_PAUSE = 0.1
_REQUEST = 1 << 16


class Program(NamedTuple):
    """What to start: ``argv`` without arguments; ``version`` is empty where it is not known."""

    argv: tuple[str, ...]
    version: str = ""


def locate(command: str, env: Mapping[str, str]) -> Program:
    """Find the program behind ``command`` in ``env``'s ``PATH``; QMD is not run.

    npm's ``qmd`` is a launcher: killed, it leaves another Node running. So QMD's own file is
    started directly where it can be found. Raises :class:`QmdError`: ``not_installed``,
    ``wrong_runtime`` or ``wrong_version``.
    """
    if os.name == "nt":
        raise QmdError("runs on Linux and macOS only", reason="not_installed")
    import shutil

    found = shutil.which(command, path=env.get("PATH", os.defpath))
    if found is None:
        what, hint = f"{command} was not found", _INSTALL
        if os.path.isfile(command):
            what = f"{command} is a file that cannot be run"
            hint = f"chmod +x {command}, or set memory.qmd.command to the program"
        raise QmdError(what, reason="not_installed", hint=hint)
    found = os.path.abspath(found)
    package = _package(os.path.realpath(found))
    if package is None:
        return Program((found,))
    folder, version = package
    check_version(version)
    entry = os.path.join(folder, "dist", "cli", "qmd.js")
    if not os.path.isfile(entry) or not _is_installed_by_npm(folder):
        return Program((found,), version)
    return Program((_node(os.path.dirname(found), env), entry), version)


def check_version(version: str) -> None:
    """Raise :class:`QmdError` (``wrong_version``) if ``version`` is too old."""
    match = _VERSION.search(version)
    if match is None or tuple(map(int, match.groups())) >= LEAST_VERSION:
        return
    wanted = ".".join(map(str, LEAST_VERSION))
    raise QmdError(
        f"version {match[0]} is too old, {wanted} is the oldest that is supported",
        reason="wrong_version",
        hint=_WITH_NPM,
    )


def _package(program: str) -> tuple[str, str] | None:
    """The folder of QMD's package that ``program`` lies in, and its version."""
    folder = os.path.dirname(program)
    for _ in range(_MAX_DEPTH):
        with suppress(OSError, ValueError):
            with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
                package = json.load(file)
            if isinstance(package, dict) and package.get("name") == _NAME:
                return folder, str(package.get("version", ""))
        folder = os.path.dirname(folder)
    return None


def _is_installed_by_npm(folder: str) -> bool:
    """Whether the launcher would take Node and ``dist``: Bun's installations lack Node's SQLite.

    A checkout may be newer than its ``dist``.
    """
    root, inside, _ = folder.rpartition(f"{os.sep}node_modules{os.sep}")
    if not inside:
        return False
    bun = any(os.path.exists(os.path.join(root, name)) for name in ("bun.lock", "bun.lockb"))
    return not bun or os.path.exists(os.path.join(root, "package-lock.json"))


def _node(beside: str, env: Mapping[str, str]) -> str:
    """A Node that is new enough, first the one in the folder ``beside`` the command."""
    old = ""
    for node in _nodes(beside, env):
        major = _node_major(node, env)
        if major is not None and major >= LEAST_NODE:
            return node
        old = old or f"{node} is version {major}" if major is not None else old
    what = f"needs Node {LEAST_NODE}, and {old}" if old else "Node was not found"
    raise QmdError(what, reason="wrong_runtime", hint=_NEWER_NODE)


def _nodes(beside: str, env: Mapping[str, str]) -> Iterator[str]:
    seen = set()
    for folder in (beside, *env.get("PATH", os.defpath).split(os.pathsep)):
        node = os.path.join(folder, "node")
        if os.path.isabs(node) and node not in seen and os.access(node, os.X_OK):
            seen.add(node)
            yield node


def _node_major(node: str, env: Mapping[str, str]) -> int | None:
    """The major version of ``node``: from the header installed with it, or by running it."""
    above = os.path.dirname(os.path.dirname(os.path.realpath(node)))
    with suppress(OSError):
        header = os.path.join(above, "include", "node", "node_version.h")
        with open(header, encoding="utf-8") as file:
            if match := _MAJOR.search(file.read()):
                return int(match[1])
    import subprocess

    with suppress(OSError, subprocess.SubprocessError):
        output = subprocess.run(  # noqa: S603 - a program in the user's own PATH
            [node, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=dict(env),
            timeout=_NODE_SECONDS,
            check=False,
        ).stdout
        if match := _VERSION.search(output):
            return int(match[1])
    return None


def installed_models(folder: str, env: Mapping[str, str]) -> frozenset[ModelKind]:
    """The kinds of models whose files lie in ``folder``, or at the path that ``env`` names.

    With one missing, QMD would try to download it.
    """
    return frozenset(
        kind
        for kind, (variable, default) in _MODELS.items()
        if _is_installed(env.get(variable) or f"hf:{default}", folder)
    )


def _is_installed(uri: str, folder: str) -> bool:
    if not uri.startswith("hf:"):
        return _is_model(uri)
    name = uri.rpartition("/")[2].removeprefix("hf:")
    with suppress(OSError):
        return any(
            # The owner comes before the file's name: hf_ggml-org_embeddinggemma-...
            entry.endswith(".gguf") and name in entry and _is_model(os.path.join(folder, entry))
            for entry in os.listdir(folder)
        )
    return False


def _is_model(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
    return False


def environment(home: QmdHome, env: Mapping[str, str], *, endpoint: str) -> dict[str, str]:
    """QMD's environment: the variables of ``env`` that it needs, and the paths of ``home``.

    ``endpoint`` replaces the hub of models, so that a missing model is reported at once.
    """
    passed = {
        name: value
        for name, value in env.items()
        if name in _PASSED or name.startswith(_PASSED_PREFIXES)
    }
    passed |= home.variables
    passed |= {
        "PWD": home.cwd,  # which QMD prefers to the system's answer
        "QMD_SQLITE_BUSY_TIMEOUT": str(_BUSY_MS),
        "NODE_COMPILE_CACHE": os.path.join(home.cache_home, "node"),
        # As QMD's launcher, which is bypassed, sets them: they keep standard output clean.
        "LLAMA_LOG_LEVEL": "error",
        "GGML_LOG_LEVEL": "error",
        "GGML_BACKEND_SILENT": "1",
        "HF_ENDPOINT": endpoint,
        "MODEL_ENDPOINT": endpoint,
    }
    if sys.platform == "darwin" and passed.get("QMD_METAL_KEEP_RESIDENCY") != "1":
        passed["GGML_METAL_NO_RESIDENCY"] = "1"
    return passed


class OfflineHub:
    """Replaces the hub of models by a loopback server that answers 404, so QMD does not retry.

    It runs from the first :meth:`address` on.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._listening: socket.socket | None = None

    def address(self) -> str:
        """Its URL, ending in a slash; where no port can be opened, one that refuses."""
        with self._lock:
            if self._listening is None:
                try:
                    self._listening = socket.create_server(("127.0.0.1", 0))
                except OSError:
                    return "http://127.0.0.1:9/"
                target = self._listening
                Thread(target=_refuse, args=(target,), name="qmd-offline", daemon=True).start()
            return f"http://127.0.0.1:{self._listening.getsockname()[1]}/"

    def close(self) -> None:
        """Stop listening; closing twice is fine."""
        with self._lock:
            listening, self._listening = self._listening, None
            if listening is not None:
                with suppress(OSError):
                    listening.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
                listening.close()


def _refuse(listening: socket.socket) -> None:
    """Answer 404 to each client until ``listening`` is closed.

    It goes on after any other error: a client may have gone, or this process may have no descriptor
    left for a moment. If it ended, further requests would wait for an answer that never comes.
    """
    while True:
        try:
            client, _ = listening.accept()
        except OSError as error:
            if error.errno in _CLOSED or listening.fileno() < 0:
                return
            time.sleep(_PAUSE)  # a lack of descriptors is met again at once
            continue
        with client, suppress(OSError):
            client.settimeout(_CLIENT_SECONDS)
            client.recv(_REQUEST)
            client.sendall(_NOT_FOUND)


def known_collections(index_path: str) -> frozenset[str]:
    """The collections that a resident QMD knows; empty where the index cannot be read."""
    return frozenset(str(row[0]) for row in _rows(index_path, "SELECT name FROM store_collections"))


def has_other_collections(index_path: str, collections: Collection[str]) -> bool:
    """Whether the index has, or may have, documents outside ``collections``."""
    rows = _rows(index_path, "SELECT DISTINCT collection FROM documents")
    return not rows or not {str(row[0]) for row in rows}.issubset(collections)


def has_vectors(index_path: str) -> bool:
    """Whether anything is embedded: without, QMD answers a vector search with an empty list."""
    return bool(_rows(index_path, "SELECT 1 FROM content_vectors LIMIT 1"))


def has_vector_table(index_path: str) -> bool:
    """Whether QMD would load its model to search vectors, of which there may be none."""
    return bool(_rows(index_path, "SELECT 1 FROM sqlite_master WHERE name = 'vectors_vec'"))


def _rows(index_path: str, query: str) -> list[tuple[Any, ...]]:
    import sqlite3

    try:
        uri = f"file:{quote(index_path)}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.Error:  # no file, no such table in this version, or a writer holds it
        return []
