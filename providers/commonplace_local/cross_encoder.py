"""Offers the ranker ``cross_encoder``: a GGUF model on this machine that judges query and text.

Such models (bge-reranker, jina-reranker, Qwen3-Reranker) read the query and a text together: better
than vectors, and too slow for more than the first hits.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    Deadline,
    Group,
    ProviderError,
    UnavailableError,
    hookimpl,
    setting,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import Ranker, RankerContext, RankerRegistrar
    from commonplace_local.running import RunningModel

_NAME = "cross_encoder"
_PATH = f"plugins.entries.{_NAME}.config.modelPath"
_LEAST_CHARS = 100


class CrossEncoderSettings(Group):
    """``plugins.entries.cross_encoder.config``."""

    model_path: str | None = setting(
        "GGUF file of a model that ranks, or a reference such as `hf:owner/repo/file.gguf` to one "
        "that is on this machine: a search downloads nothing.",
        default=None,
        path=True,
    )
    model_cache_dir: str | None = setting(
        "Folder that downloaded models are kept in.", default=None, path=True
    )
    threads: int | None = setting(
        "Threads that the model computes with.",
        default=None,
        minimum=1,
        shown="as suits the machine",
    )
    idle_seconds: int | None = setting(
        "Quiet time after which the model's process ends; it starts again when it is needed.",
        default=None,
        unit="seconds",
        minimum=1,
        shown="300",
    )
    candidates: int = setting(
        "Hits that are judged and reordered.", default=20, minimum=1, maximum=200, clamp=(1, 200)
    )
    weight: float = setting(
        "1 orders by the model's relevance alone, 0 by the score before it.",
        default=1.0,
        minimum=0,
        maximum=1,
        clamp=(0, 1),
    )
    seconds: float = setting(
        "Longest wait for its judgement; the order stays then.",
        default=10.0,
        unit="seconds",
        minimum=0.1,
        maximum=25,
        clamp=(0.1, 25),
    )


@hookimpl
def commonplace_register_rankers(register: RankerRegistrar) -> None:
    """Register it; it runs where the configuration's chain names it."""
    register.ranker(
        _NAME,
        _cross_encoder,
        summary="the order of a cross-encoder on this machine, a GGUF file",
        config=CrossEncoderSettings,
    )


def _cross_encoder(context: RankerContext) -> Ranker:
    import os
    import time

    from commonplace.plugin import ProviderContext, RelevanceRanker
    from commonplace_local.models import configured_model
    from commonplace_local.running import RunningModel

    settings = context.config or CrossEncoderSettings()
    if not settings.model_path:
        raise UnavailableError("no model is configured", hint=f"set {_PATH} to a GGUF file")
    names = ("model_path", "model_cache_dir", "threads", "idle_seconds")
    given = {name: getattr(settings, name) for name in names}
    options = {name: value for name, value in given.items() if value is not None}
    try:
        model = configured_model(ProviderContext(options=options), os.environ)
        running = RunningModel(model, options, pooling="rank", env=os.environ, clock=time.monotonic)
    except ProviderError as error:
        raise _of_this_setting(error) from None
    judge = CrossEncoder(model.name, running, settings.seconds)
    return RelevanceRanker(_NAME, judge, candidates=settings.candidates, weight=settings.weight)


class CrossEncoder:
    """A model that judges texts by a query, within ``seconds`` for all of them.

    The first search waits for the model to load, and keeps its order where that takes longer; the
    model goes on loading for the next one.
    """

    def __init__(self, name: str, running: RunningModel, seconds: float) -> None:
        self._name = name
        self._running = running
        self._seconds = seconds
        weakref.finalize(self, running.close)

    def judge(self, query: str, texts: Sequence[str]) -> Mapping[int, float]:
        """The model's scores; texts that exceed its context are judged by their beginning.

        Raises :class:`~commonplace.errors.UnavailableError`.
        """
        if not self._running.here:
            raise UnavailableError(
                f"the model {self._name} is not on this machine, and a search downloads nothing",
                hint=f"download it by hand and name the file in {_PATH}",
            )
        deadline = Deadline.after(self._seconds)
        # Half a surrogate pair is no text, and no reason to fail.
        query, *cut = [text.encode("utf-8", "replace").decode() for text in (query, *texts)]
        while True:
            request: dict[str, Any] = {"rank": {"query": query, "texts": cut}}
            try:
                answer = self._running.ask(request, urgent=True, deadline=deadline)
            except ProviderError as error:
                half = max(map(len, cut)) // 2
                if error.kind != "too_large" or half < _LEAST_CHARS:
                    raise _of_this_setting(error) from None
                query, *cut = [text[:half] for text in (query, *cut)]
            else:
                return dict(enumerate(answer["scores"]))


def _of_this_setting(error: ProviderError) -> UnavailableError:
    """The error of a model, with the name of the setting it came by."""
    words, hint = (
        text.replace("local.modelPath", _PATH)
        for text in (str(error).removeprefix("local: "), error.hint)
    )
    return UnavailableError(words, hint=hint)
