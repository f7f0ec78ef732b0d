"""An embedding provider that needs neither a network nor a model: hashed pieces of words."""

from __future__ import annotations

from hashlib import blake2b
from math import sqrt
from typing import TYPE_CHECKING

from commonplace.plugin import Limits, ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from commonplace.plugin import Deadline


_DIMS = 256
_SIZES = (3, 4)
_SERIES = 1
"""To be raised whenever a text would get another vector than before."""


class NGrams:
    """Each word's runs of three and four letters, hashed to dimensions and counted.

    ``recieve`` comes out near ``receive``, and ``car`` no nearer to ``automobile`` than to
    anything: it is a lexical measure, in the shape of a vector.
    """

    model = "hashed-ngrams"
    limits = Limits(items=256)
    capabilities: frozenset[str] = frozenset()
    concurrency = 4

    def __init__(self, dims: int | None = None) -> None:
        self._dims = _DIMS if dims is None else dims
        if self._dims < 1:
            raise ProviderError(
                f"{self._dims} dimensions are none",
                provider="ngrams",
                kind="bad_request",
                hint=f"leave outputDimensionality unset, or set it to {_DIMS}",
            )

    def fingerprint(self) -> str:
        """What decides a vector: the series of this code and the dimensions."""
        return f"ngrams:{_SERIES}:{self._dims}"

    def embed(
        self, texts: Sequence[str], *, purpose: Literal["query", "document"], deadline: Deadline
    ) -> list[list[float]]:
        """One vector a text; queries and documents are treated alike."""
        del purpose
        vectors = []
        for text in texts:
            deadline.check("the embedding")
            vectors.append(self._vector(text))
        return vectors

    def close(self) -> None:
        """There is nothing to let go of."""

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self._dims
        for piece in _pieces(text):
            digest = blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            number = int.from_bytes(digest, "little")
            # The sign keeps pieces that share a dimension from always adding up.
            vector[(number >> 1) % self._dims] += 1.0 if number & 1 else -1.0
        if not any(vector):
            # Nothing to count, or it cancelled out; a vector without length has no direction.
            vector[0] = 1.0
        length = sqrt(sum(value * value for value in vector))
        return [value / length for value in vector]


def _pieces(text: str) -> Iterator[str]:
    for word in text.casefold().split():
        bounded = f"<{word}>"
        for size in _SIZES:
            for start in range(max(1, len(bounded) - size + 1)):
                yield bounded[start : start + size]
