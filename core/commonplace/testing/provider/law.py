"""What all laws of embedding providers stand on: a provider that answers."""

from __future__ import annotations

import socket
from contextlib import ExitStack, closing, contextmanager
from math import fsum, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from unittest.mock import patch

from attrs import evolve
from hypothesis import settings as hypothesis_settings

from commonplace.embedding.vectors import checked, floats
from commonplace.protocols.providers import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace.testing.law import Laws, law

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace.protocols.providers import EmbeddingProvider

__all__ = [
    "KEY",
    "TEXTS",
    "ProviderLaws",
    "alike",
    "embedded",
    "law",
    "soon",
    "watched_network",
]

KEY = "conformance-key-0123456789"
"""Stands in for a secret: no error, name or fingerprint may hold it."""

TEXTS = (
    "the ant carries a leaf",
    "where is the code of the door?",
    "\u8766\u87fb\u306f\u8449\u3092\u904b\u3076",
    "a list:\n- one\n- two\n",
    "\u05e9\u05dc\u05d5\u05dd \U0001f41c",
)

Purpose = Literal["query", "document"]


class ProviderLaws(Laws):
    """What all laws of embedding providers stand on."""

    subject: ClassVar[str] = "provider"
    fresh: ClassVar[bool] = False
    settings: ClassVar[hypothesis_settings] = hypothesis_settings(max_examples=8)

    def make_provider(self, context: ProviderContext) -> EmbeddingProvider:
        """Make the provider, as its registration's factory does."""
        raise NotImplementedError(f"{type(self).__name__} has to define make_provider(context)")

    def context(self) -> ProviderContext:
        """Settings with which the provider works: a server on this machine, a model's file."""
        return ProviderContext(api_key=KEY)

    def variants(self) -> Mapping[str, ProviderContext]:
        """Settings that make other vectors than :meth:`context`, by what is other in them.

        Override it to add models, lengths of vectors, and options of your own.
        """
        usual = self.context()
        return {
            "query prefix": evolve(usual, query_prefix="find: "),
            "document prefix": evolve(usual, document_prefix="keep: "),
        }

    def failures(self) -> Mapping[str, ProviderContext]:
        """Settings with which nothing can be embedded, by what is wrong with them."""
        return {"nobody listens": evolve(self.context(), base_url="http://127.0.0.1:9")}

    @contextmanager
    def opened(self) -> Iterator[EmbeddingProvider]:
        """A provider with the usual settings."""
        with closing(self.make_provider(self.context())) as provider:
            yield provider

    @contextmanager
    def all_variants(self) -> Iterator[dict[str, EmbeddingProvider]]:
        """A provider for each of the variants, and one with the usual settings."""
        with ExitStack() as stack:
            yield {
                name: stack.enter_context(closing(self.make_provider(context)))
                for name, context in {"usual": self.context(), **self.variants()}.items()
            }


def soon() -> Deadline:
    """Time enough for any request of these laws, on the slowest machine."""
    return Deadline.after(120)


def embedded(
    provider: EmbeddingProvider, texts: Sequence[str], purpose: Purpose = "document"
) -> list[bytes]:
    """The vectors of ``texts`` as the host takes them, which it does only if they can be right."""
    vectors = provider.embed(texts, purpose=purpose, deadline=soon())
    return checked(vectors, count=len(texts), dims=None, provider="under test")


def alike(one: bytes, other: bytes) -> bool:
    """Whether two unit vectors are the same, but for what batches and threads do to rounding."""
    pairs = list(zip(floats(one), floats(other), strict=True)) if len(one) == len(other) else []
    return bool(pairs) and sqrt(fsum((a - b) ** 2 for a, b in pairs)) < 0.02


@contextmanager
def watched_network() -> Iterator[list[str]]:
    """No connection can be made meanwhile; what was tried is noted."""
    tried: list[str] = []

    def refuse(*asked: Any, **_: Any) -> Any:
        tried.append(repr(asked))
        raise OSError("there is no network just now")

    with ExitStack() as stack:
        for owner, name in (
            (socket.socket, "connect"),
            (socket.socket, "connect_ex"),
            (socket, "create_connection"),
            (socket, "getaddrinfo"),
        ):
            stack.enter_context(patch.object(owner, name, refuse))
        yield tried
