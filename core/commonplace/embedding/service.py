"""Vectors for queries, from a provider, its fallback, and the cache."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from attrs import frozen

from commonplace.embedding.cache import text_digest
from commonplace.embedding.link import fingerprint_of, space_name, space_of, told
from commonplace.errors import UnavailableError
from commonplace.model.search import Fallback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commonplace.embedding.cache import EmbeddingCache
    from commonplace.embedding.ledger import SpaceLedger
    from commonplace.embedding.link import ProviderLink
    from commonplace.embedding.refused import RefusedTexts
    from commonplace.model.store import SpaceInfo
    from commonplace.resilience.deadline import Deadline

__all__ = ["KEYWORDS", "EmbeddingService", "NoVector", "QueryVector", "cache_key"]

KEYWORDS = "keywords alone"
"""Who answers where nobody can embed the query."""

_HEAL = ": `commonplace index` embeds the notes anew"


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
    """Why there is no vector for a query, and ``since`` when (epoch seconds)."""

    reason: str
    part: str = ""
    since: float = 0.0


class EmbeddingService:
    """The chain primary, fallback. Vectors of two spaces never meet: a link answers in its own.

    ``links`` are those that could be made; ``absent`` tells of a primary that could not, and then
    the first link is the fallback. ``former`` finds who made a space before the settings changed;
    ``ledger`` is where that is kept; ``refused`` are texts that are not to be sent again.
    """

    def __init__(
        self,
        links: Sequence[ProviderLink],
        cache: EmbeddingCache | None,
        *,
        absent: Fallback | None = None,
        former: Callable[[Sequence[SpaceInfo]], ProviderLink | None] = lambda _: None,
        ledger: SpaceLedger | None = None,
        refused: RefusedTexts | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.links = tuple(links)
        self.cache = cache
        self.absent = absent
        self.ledger = ledger
        self.refused = refused
        self._former_of = former
        self._former: dict[str, ProviderLink] = {}
        self._since = clock()

    @property
    def primary(self) -> ProviderLink | None:
        """The provider that was asked for, if it could be made."""
        return self.links[0] if self.links and self.absent is None else None

    @property
    def standby(self) -> ProviderLink | None:
        """The fallback, if there is one."""
        return next((link for link in self.links if link is not self.primary), None)

    def query(
        self, text: str, spaces: Sequence[SpaceInfo], *, deadline: Deadline
    ) -> QueryVector | NoVector:
        """The vector of ``text`` from the first link that can give one in a space of the index."""
        failed: NoVector | None = None
        if self.absent is not None:
            failed = NoVector(self.absent.reason, self.absent.part, self.absent.since)
        for link, space, excuse in self.candidates(spaces):
            if space is None:
                failed = failed or excuse
                continue
            try:
                vector = self._vector(link, text, _lengths(space, spaces), deadline)
            except UnavailableError as error:
                state = link.state("query")
                since = self._since if state.since is None else state.since
                failed = failed or NoVector(state.reason or told(error), link.id, since)
                continue
            name = _lengths(space, spaces).get(len(vector))
            if name is None:
                found = len(vector) // 4
                if self.ledger is not None:
                    self.ledger.saw(link.fingerprint(), found)
                what = f"{link.id} now gives {found} dimensions, the index has {space.dims}"
                failed = failed or NoVector(what + _HEAL, link.id, self._since)
                continue
            fell = Fallback(failed.part, failed.reason, failed.since, link.id) if failed else None
            return QueryVector(vector, name, link.id, link.model, fell)
        return failed or NoVector("no embedding provider")

    def candidates(
        self, spaces: Sequence[SpaceInfo]
    ) -> Iterator[tuple[ProviderLink, SpaceInfo | None, NoVector | None]]:
        """Who may answer a query, in order, each with its space; or with why it may not.

        The primary may as soon as anything is embedded in its space; before it, the model that
        the settings named formerly, while that covers more; the fallback only if its space covers
        every chunk, for otherwise it would hide what it does not know. Asks nobody.
        """
        if (primary := self.primary) is not None:
            own = _own_space(primary, spaces)
            covered = self._covered(primary, own)
            former = self._older(primary, spaces, covered)
            if former is not None:
                chunks = former[1].chunks
                same = former[0].model == primary.model
                way = "as the settings say now" if same else f"with {primary.model}"
                words = f"{covered} of {chunks} chunks are embedded {way} yet"
                yield primary, None, NoVector(words, primary.id, self._since)
                yield (*former, None)
            if covered:
                yield primary, own, None
            elif former is None:
                yield primary, None, self._nothing_of(primary)
        if (standby := self.standby) is not None:
            own = _own_space(standby, spaces)
            if own is not None and self._covered(standby, own) >= own.chunks > 0:
                yield standby, own, None
            elif self.primary is None:
                words = f"{standby.id} has not embedded every note"
                yield standby, None, NoVector(words, standby.id, self._since)

    def close(self) -> None:
        """Close providers and cache; closing twice is fine."""
        for link in (*self.links, *self._former.values()):
            link.close()
        if self.cache is not None:
            self.cache.close()

    def _nothing_of(self, link: ProviderLink) -> NoVector:
        """Why nothing is embedded with ``link``, as far as is known."""
        words = f"nothing is embedded with {link.id} yet"
        state = link.state("document")
        if state.since is None:
            return NoVector(words, link.id, self._since)
        return NoVector(f"{words}: {state.reason}", link.id, state.since)

    def _covered(self, link: ProviderLink, own: SpaceInfo | None) -> int:
        """How many chunks ``own`` covers, with those that it never will."""
        if own is None or not own.covered:
            return 0
        if own.covered >= own.chunks or self.refused is None:
            return own.covered
        return own.covered + len(self.refused.of(link.fingerprint()))

    def _older(
        self, primary: ProviderLink, spaces: Sequence[SpaceInfo], covered: int
    ) -> tuple[ProviderLink, SpaceInfo] | None:
        """Who made the best of the other spaces that cover more than ``covered`` chunks."""
        own = [primary.fingerprint(), *(link.fingerprint() for link in self.links)]
        better = [
            info
            for info in sorted(spaces, key=lambda info: -info.covered)
            if info.covered > covered and not any(space_of(one, [info]) for one in own)
        ]
        for info in better:
            link = self._former.get(info.space) or self._former_of([info])
            if link is not None:
                self._former[info.space] = link
                return link, info
        return None

    def _vector(
        self, link: ProviderLink, text: str, lengths: Mapping[int, str], deadline: Deadline
    ) -> bytes:
        key, digest = cache_key(link.fingerprint(), "query"), text_digest(text)
        if self.cache is not None:
            known = self.cache.get(key, [digest]).get(digest)
            if known is not None and len(known) in lengths:
                return known
        with link.watched("query"):
            vector = link.runner().one(text, purpose="query", deadline=deadline)
        if self.cache is not None and len(vector) in lengths:
            self.cache.put(key, {digest: vector})
        return vector


def cache_key(fingerprint: str, purpose: str) -> str:
    """The cache's key of a fingerprint: models embed queries and documents differently."""
    return f"{fingerprint}|{purpose}"


def _lengths(space: SpaceInfo, spaces: Sequence[SpaceInfo]) -> dict[int, str]:
    """By the bytes of a vector the space it lies in, of all that ``space``'s maker has filled.

    There are several while a server that changed its mind is followed.
    """
    fingerprint = fingerprint_of(space.space)
    return {
        4 * info.dims: info.space
        for info in spaces
        if info.covered and info.space == space_name(fingerprint, info.dims)
    }


def _own_space(link: ProviderLink, spaces: Sequence[SpaceInfo]) -> SpaceInfo | None:
    try:
        return space_of(link.fingerprint(), spaces)
    except UnavailableError:
        return None
