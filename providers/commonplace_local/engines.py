"""The engines that run GGUF models, each behind the same few words; used in the child only."""

from __future__ import annotations

import math
import os
from array import array
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


RANK = "rank"
"""The pooling of cross-encoders."""


class Job(NamedTuple):
    """What to load: ``context`` in tokens; ``pooling`` is ``None`` where the file has its own.

    ``rank`` is a pooling too, that of a model which judges pairs and makes no vectors.
    """

    engine: str
    path: str
    context: int
    threads: int
    pooling: str | None = None


class EngineError(Exception):
    """An engine refused; ``kind`` is that of the provider's error."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Engine(Protocol):
    """A loaded model."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text, as float32 in the machine's byte order."""
        ...

    def rank(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, of any range; only of a model loaded with the pooling ``rank``."""
        ...


def load(job: Job) -> Engine:
    """Load a model. Raises :class:`EngineError`, or whatever the engine raises."""
    module = import_module(job.engine)
    made: Engine = _Xllamacpp(module, job) if job.engine == "xllamacpp" else _LlamaCpp(module, job)
    return made


class _Xllamacpp:
    """llama.cpp's server in this process."""

    def __init__(self, module: Any, job: Job) -> None:
        import secrets

        params = module.CommonParams()
        params.model.path = job.path
        params.embedding = True
        # A text is computed in one piece: whatever fits the context must fit a batch.
        params.n_ctx = params.n_batch = params.n_ubatch = job.context
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = job.threads
        params.warmup = False
        params.verbosity = 1
        params.ui = False
        params.endpoint_slots = False
        params.n_threads_http = 1
        # It opens a port on the loopback whether wanted or not: the key is known to no client.
        params.api_keys = [secrets.token_hex(32)]
        if job.pooling is not None:
            name = f"LLAMA_POOLING_TYPE_{job.pooling.upper()}"
            params.pooling_type = getattr(module.llama_pooling_type, name)
        try:
            self._server = module.Server(params)
        except RuntimeError as error:
            raise EngineError("not_found", str(error)) from error

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        answer = self._server.handle_embeddings({"input": list(texts), "encoding_format": "base64"})
        if "error" in answer:
            raise _refusal(answer["error"])
        from binascii import a2b_base64

        data = sorted(answer["data"], key=lambda item: item["index"])
        return [a2b_base64(item["embedding"]) for item in data]

    def rank(self, query: str, texts: Sequence[str]) -> list[float]:
        asked = {"query": query, "documents": list(texts), "top_n": len(texts)}
        answer = self._server.handle_rerank(asked)
        if "error" in answer:
            raise _refusal(answer["error"])
        judged = sorted(answer["results"], key=lambda item: item["index"])
        return [item["relevance_score"] for item in judged]


def _refusal(error: Any) -> EngineError:
    message = str(error.get("message", error))
    long = error.get("type") == "exceed_context_size_error" or "too large to process" in message
    return EngineError("too_large" if long else "bad_request", message)


class _LlamaCpp:
    """llama-cpp-python; its object must never see two threads, and here it sees one."""

    def __init__(self, module: Any, job: Job) -> None:
        if job.pooling == RANK:
            raise EngineError("not_found", "llama-cpp-python cannot judge pairs, xllamacpp can")
        pooling = "UNSPECIFIED" if job.pooling is None else job.pooling.upper()
        given = {
            "model_path": job.path,
            "embedding": True,
            "n_ctx": job.context,
            "n_batch": job.context,
            "n_ubatch": job.context,
            "n_threads": job.threads,
            "n_threads_batch": job.threads,
            "pooling_type": getattr(module, f"LLAMA_POOLING_TYPE_{pooling}"),
        }
        try:
            self._model = module.Llama(**given, verbose=False)
        except ValueError as error:
            # Its error names the file alone; what is wrong with it is printed, if it may print.
            with suppress(ValueError):
                module.Llama(**given, verbose=True)
            raise EngineError("not_found", str(error)) from error

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        try:
            # It would cut long texts without a word, the closing token with them.
            vectors = self._model.embed(list(texts), normalize=True, truncate=False)
        except ValueError as error:
            long = "exceed" in str(error)
            raise EngineError("too_large" if long else "bad_request", str(error)) from error
        return [array("f", vector).tobytes() for vector in vectors]

    def rank(self, query: str, texts: Sequence[str]) -> list[float]:
        raise NotImplementedError


ENGINES = ("xllamacpp", "llama_cpp")
"""Importable names, best first: the first comes as a wheel and cannot be broken by threads."""


def engine() -> str | None:
    """The engine to use, or ``None`` if there is none."""
    for name in ENGINES:
        if find_spec(name) is not None:
            return name
    return None


_MOST = 4


def default_threads(*, root: str = "/") -> int:
    """One less than the physical cores that this process may use, 1 to 4.

    The engine's threads spin at every barrier: one too many on a busy machine makes it many times
    slower, so one core is left to others, and two cores or fewer get one thread.
    """
    cpus = allowed_cpus()
    quota = _quota(root)
    usable = len(cpus) if quota is None else min(len(cpus), max(1, math.ceil(quota)))
    if usable <= 2:
        return 1
    cores = min(usable, _physical(cpus, root) or usable)
    return min(_MOST, max(1, cores - 1))


def allowed_cpus() -> frozenset[int]:
    """The processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def _quota(root: str) -> float | None:
    """Processors' worth of time that the container is given, where it is limited."""
    cgroup = os.path.join(root, "sys/fs/cgroup")
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with suppress(OSError, ValueError):  # "max" is no number: no limit
            texts = [_read(os.path.join(cgroup, name)) for name in names]
            most, period = map(int, " ".join(texts).split())
            return most / period if most > 0 and period > 0 else None
    return None


def _read(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


def _physical(cpus: frozenset[int], root: str) -> int | None:
    """Physical cores among ``cpus``; ``None`` where the system does not say."""
    cores = set()
    for cpu in cpus:
        topology = os.path.join(root, f"sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            cores.add(_read(os.path.join(topology, "thread_siblings_list")).strip())
        except OSError:
            return None
    return len(cores) or None
