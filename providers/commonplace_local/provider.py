"""The provider ``local``."""

from __future__ import annotations

import sys
import time
from array import array
from binascii import a2b_base64
from typing import TYPE_CHECKING

from commonplace.plugin import Limits
from commonplace_local.errors import local_error
from commonplace_local.models import configured_model
from commonplace_local.running import RunningModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.plugin import Deadline, ProviderContext, Purpose

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
    concurrency = 1  # the model computes with all the threads it may have

    def __init__(
        self,
        context: ProviderContext,
        *,
        env: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = configured_model(context, env)
        self.model = self._model.name
        """The file's name without its ending."""
        self._dims = _dims(context.dims, self._model.family.name, self._model.family.lengths)
        family = self._model.family
        self._prompts = context.prefixes(family.query, family.document)
        self._running = RunningModel(
            self._model, context.options, pooling=family.pooling, env=env, clock=clock
        )

    def __repr__(self) -> str:
        return f"<LocalProvider {self.model}>"

    @property
    def limits(self) -> Limits:
        """Small requests, so that a query need not wait long behind documents."""
        return Limits(
            items=16,
            tokens=4096,
            item_tokens=self._running.context,
            query_seconds=300.0,
            wait_seconds=300.0,  # it answers for certain, once its model is loaded
            request_seconds=600.0 if self._running.here else _DOWNLOAD_SECONDS,
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
        if query and not self._running.here:
            raise local_error(
                "not_found",
                f"the model {self.model} is not downloaded yet",
                hint="index once (commonplace index): that downloads it",
            )
        prefix = self._prompts[purpose]
        # Half a surrogate pair is no text, and no reason to fail.
        sent = [(prefix + text).encode("utf-8", "replace").decode() for text in texts]
        answer = self._running.ask({"embed": sent}, urgent=query, deadline=deadline)
        return [self._vector(text) for text in answer["vectors"]]

    def close(self) -> None:
        """End the child; closing twice is fine."""
        self._running.close()

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
