"""The provider ``local``."""

from __future__ import annotations

import sys
import threading
import time
from array import array
from binascii import a2b_base64
from typing import TYPE_CHECKING, Any

from commonplace.plugin import Limits, how_to_install
from commonplace_local.engines import ENGINES
from commonplace_local.errors import local_error
from commonplace_local.models import configured_model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.plugin import Deadline, ProviderContext, Purpose
    from commonplace_local.keeper import Keeper


_CONTEXT = 2048  # tokens; longer contexts cost memory that chunks never need
_IDLE_SECONDS = 300.0
_MOST_THREADS = 256
_DOWNLOAD_SECONDS = 6 * 3600.0


class LocalProvider:
    """A GGUF model in a child process.

    The child starts with the first ``embed`` and ends after five idle minutes; a model given by
    ``hf:`` is downloaded by the first ``embed`` of documents, never by a query's. Options beside
    those of the configuration: ``threads``, ``idle_seconds``, ``engine`` (``xllamacpp`` or
    ``llama_cpp``) and ``progress``, called with (bytes here, bytes in all).

    Raises :class:`~commonplace.errors.ProviderError` if the settings can never work.
    """

    capabilities: frozenset[str] = frozenset()

    def __init__(
        self,
        context: ProviderContext,
        *,
        env: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._env = env
        self._clock = clock
        self._model = configured_model(context, env)
        self._options = context.options
        self._dims = _dims(context.dims, self._model.family.name, self._model.family.lengths)
        self._threads = _threads(context.options.get("threads"))
        family = self._model.family
        self._prompts = context.prefixes(family.query, family.document)
        self._keeper: Keeper | None = None
        self._path: str | None = None
        self._first = threading.Lock()
        self._closed = False

    def __repr__(self) -> str:
        return f"<LocalProvider {self._model.name}>"

    @property
    def model(self) -> str:
        """The file's name without its ending."""
        return self._model.name

    @property
    def concurrency(self) -> int:
        """One: the model computes with all the threads it may have."""
        return 1

    @property
    def limits(self) -> Limits:
        """Small requests, so that a query need not wait long behind documents."""
        loaded = self._keeper.loaded if self._keeper is not None else {}
        here = self._path is not None or self._model.here() is not None
        return Limits(
            items=16,
            tokens=4096,
            item_tokens=loaded.get("context", _CONTEXT),
            query_seconds=300.0,
            wait_seconds=300.0,  # it answers for certain, once its model is loaded
            request_seconds=600.0 if here else _DOWNLOAD_SECONDS,
        )

    def fingerprint(self) -> str:
        """The model's content or reference, the prompts, and a length where one is asked for."""
        prompts = f"{self._prompts['query']!r}/{self._prompts['document']!r}"
        dims = f" dims={self._dims}" if self._dims else ""
        return f"local {self._model.identity()} prompts={prompts}{dims}"

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """See :class:`~commonplace.plugin.EmbeddingProvider`."""
        query = purpose == "query"
        if query and self._path is None and self._model.here() is None:
            raise local_error(
                "not_found",
                f"the model {self._model.name} is not downloaded yet",
                hint="index once (commonplace index): that downloads it",
            )
        keeper = self._ready(deadline)
        prefix = self._prompts[purpose]
        # Half a surrogate pair is no text, and no reason to fail.
        sent = [(prefix + text).encode("utf-8", "replace").decode() for text in texts]
        answer = keeper.ask({"embed": sent}, urgent=query, deadline=deadline)
        return [self._vector(text) for text in answer["vectors"]]

    def close(self) -> None:
        """End the child; closing twice is fine."""
        self._closed = True
        if self._keeper is not None:
            self._keeper.close()

    def _ready(self, deadline: Deadline) -> Keeper:
        """Who asks the child, once the model's file is here."""
        from commonplace_local.keeper import Keeper
        from commonplace_local.worker import Worker

        if not self._first.acquire(timeout=min(deadline.remaining(), threading.TIMEOUT_MAX)):
            raise local_error("timeout", "the model is still being downloaded")
        try:
            if self._path is None:
                self._path = self._model.fetch(deadline=deadline)
            if self._keeper is None:
                self._keeper = Keeper(lambda: Worker(self._env), self._job, clock=self._clock)
            if self._closed:
                self._keeper.close()
            return self._keeper
        finally:
            self._first.release()

    def _job(self) -> Mapping[str, Any]:
        from commonplace_local.engines import default_threads, engine
        from commonplace_local.gguf import checked_names

        name = self._options.get("engine") or engine()
        if name not in ENGINES:
            raise local_error(
                "not_found",
                "neither xllamacpp nor llama-cpp-python is installed",
                hint=how_to_install("commonplace[local]"),
            )
        path, self._path = self._path, None
        assert path is not None
        checked_names(path)  # it may have gone since the last start: then it is looked for again
        self._path = path
        return {
            "engine": name,
            "path": path,
            "threads": self._threads or default_threads(),
            "context": _CONTEXT,
            "pooling": self._model.family.pooling,
            "idle": float(self._options.get("idle_seconds", _IDLE_SECONDS)),
        }

    def _vector(self, text: str) -> Sequence[float]:
        vector = array("f")
        vector.frombytes(a2b_base64(text))
        if sys.byteorder == "big":
            vector.byteswap()
        if self._dims is None or self._dims == len(vector):
            return vector
        if self._dims > len(vector):
            raise local_error(
                "bad_request",
                f"{self.model} makes vectors of {len(vector)} dimensions, not of {self._dims}",
                hint=f"remove outputDimensionality, or set it to {len(vector)} or less",
            )
        return vector[: self._dims]


def _dims(asked: int | None, name: str, lengths: tuple[int, ...]) -> int | None:
    if asked is None or asked in lengths or not lengths:
        return asked
    allowed = ", ".join(str(length) for length in lengths)
    raise local_error(
        "bad_request",
        f"models of the family {name} make vectors of {allowed} dimensions, not of {asked}",
        hint="remove outputDimensionality, or set it to one of these",
    )


def _threads(asked: object) -> int | None:
    if asked is None:
        return None
    if isinstance(asked, bool) or not isinstance(asked, int) or not 1 <= asked <= _MOST_THREADS:
        raise local_error(
            "bad_request",
            f"local.threads must be a whole number from 1 to {_MOST_THREADS}, not {asked!r}",
            hint="remove it: a number that suits this machine is chosen",
        )
    return asked
