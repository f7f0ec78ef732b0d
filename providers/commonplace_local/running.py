"""A model and the child process that runs it, started when it is first needed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from commonplace.plugin import how_to_install
from commonplace_local.engines import ENGINES
from commonplace_local.errors import local_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.plugin import Deadline
    from commonplace_local.keeper import Keeper
    from commonplace_local.models import Model

CONTEXT = 2048  # tokens; longer contexts cost memory that chunks never need
_IDLE_SECONDS = 300.0
_MOST_THREADS = 256


class RunningModel:
    """Asks ``model`` by way of a child, which ends after ``idle_seconds`` without a request.

    ``options`` are ``threads``, ``idle_seconds`` and ``engine``; ``pooling`` is for files that name
    none. Raises :class:`~commonplace.errors.ProviderError` if the options can never work.
    """

    def __init__(
        self,
        model: Model,
        options: Mapping[str, Any],
        *,
        pooling: str,
        env: Mapping[str, str],
        clock: Callable[[], float],
    ) -> None:
        self._model = model
        self._threads = _threads(options.get("threads"))
        self._idle = float(options.get("idle_seconds", _IDLE_SECONDS))
        self._engine: str | None = options.get("engine")
        self._pooling = pooling
        self._env = env
        self._clock = clock
        self._keeper: Keeper | None = None
        self._path: str | None = None
        self._first = threading.Lock()
        self._closed = False

    @property
    def here(self) -> bool:
        """Whether the model's file is on this machine."""
        return self._path is not None or self._model.here() is not None

    @property
    def context(self) -> int:
        """The most tokens of a text: the model's once it is loaded, before that what is asked."""
        loaded = self._keeper.loaded if self._keeper is not None else {}
        most: int = loaded.get("context", CONTEXT)
        return most

    def ask(
        self, request: Mapping[str, Any], *, urgent: bool, deadline: Deadline
    ) -> Mapping[str, Any]:
        """The child's answer, once the model's file is here: it is downloaded if need be.

        Raises :class:`~commonplace.errors.ProviderError`.
        """
        return self._ready(deadline).ask(request, urgent=urgent, deadline=deadline)

    def close(self) -> None:
        """End the child; closing twice is fine."""
        self._closed = True
        if self._keeper is not None:
            self._keeper.close()

    def _ready(self, deadline: Deadline) -> Keeper:
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

        name = self._engine or engine()
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
            "context": CONTEXT,
            "pooling": self._pooling,
            "idle": self._idle,
        }


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
