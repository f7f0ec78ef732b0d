"""Vectors for a corpus and for queries, from a provider, its fallback, and the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from commonplace.embedding.cache import text_digest
from commonplace.embedding.link import space_of
from commonplace.errors import UnavailableError
from commonplace.model.search import Fallback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.deadline import Deadline
    from commonplace.embedding.cache import EmbeddingCache
    from commonplace.embedding.link import ProviderLink
    from commonplace.model.store import SpaceInfo

__all__ = ["EmbeddingService", "NoVector", "QueryVector"]


@frozen
class QueryVector:
    """A query's vector, the space it lies in, and who made it."""

    vector: bytes
    space: str
    provider: str
    model: str
    fallback: Fallback | None = None


@frozen
class NoVector:
    """Why there is no vector for a query; ``since`` is epoch seconds, where it is a failure."""

    reason: str
    part: str = ""
    since: float | None = None


class EmbeddingService:
    """The chain primary, fallback. Vectors of two spaces never meet: a link answers in its own."""

    def __init__(self, links: Sequence[ProviderLink], cache: EmbeddingCache | None) -> None:
        self.links = tuple(links)
        self.cache = cache

    def query(
        self, text: str, spaces: Sequence[SpaceInfo], *, deadline: Deadline
    ) -> QueryVector | NoVector:
        """The vector of ``text`` from the first link that can give one in a space of the index.

        The primary answers as soon as anything is embedded in its space; the fallback only if its
        space covers every chunk, for otherwise it would hide what it does not know.
        """
        failed: NoVector | None = None
        for place, link in enumerate(self.links):
            try:
                space = space_of(link.fingerprint(), spaces)
                if space is None or not space.covered:
                    failed = failed or NoVector(f"nothing is embedded with {link.id} yet", link.id)
                    continue
                if place and space.covered < space.chunks:
                    continue
                vector = self._vector(link, text, deadline)
            except UnavailableError as error:
                failed = failed or NoVector(str(error), link.id, link.state().since)
                continue
            if len(vector) != 4 * space.dims:
                found = len(vector) // 4
                failed = failed or NoVector(
                    f"{link.id} now gives {found} dimensions, the index has {space.dims}", link.id
                )
                continue
            fell = None
            if place and failed is not None:
                fell = Fallback(failed.part, failed.reason, failed.since or 0.0)
            return QueryVector(vector, space.space, link.id, link.model, fell)
        return failed or NoVector("no embedding provider")

    def close(self) -> None:
        """Close providers and cache; closing twice is fine."""
        for link in self.links:
            link.close()
        if self.cache is not None:
            self.cache.close()

    def _vector(self, link: ProviderLink, text: str, deadline: Deadline) -> bytes:
        key, digest = cache_key(link.fingerprint(), "query"), text_digest(text)
        if self.cache is not None:
            known = self.cache.get(key, [digest]).get(digest)
            if known is not None:
                return known
        with link.watched():
            vector = link.runner().one(text, purpose="query", deadline=deadline)
        if self.cache is not None:
            self.cache.put(key, {digest: vector})
        return vector


def cache_key(fingerprint: str, purpose: str) -> str:
    """The cache's key of a fingerprint: models embed queries and documents differently."""
    return f"{fingerprint}|{purpose}"
