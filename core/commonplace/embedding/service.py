"""Query vectors from a provider, its fallback or the cache; and the status of the providers."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.embedding.cache import cache_key, text_digest
from commonplace.embedding.spaces import lengths_of, mismatch_words, space_name, space_of
from commonplace.errors import UnavailableError, counted
from commonplace.model.reports import ProviderState
from commonplace.model.search import Fallback
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commonplace.embedding.cache import EmbeddingCache
    from commonplace.embedding.guarded import GuardedProvider
    from commonplace.embedding.spaces import RefusedTexts, SpaceLedger
    from commonplace.model.documents import SpaceInfo
    from commonplace.resilience.breaker import BreakerState
    from commonplace.resilience.deadline import Deadline
    from commonplace.resilience.lock import Lease

    MayAnswer = tuple[GuardedProvider, SpaceInfo | None, Fallback | None]

KEYWORDS = "keywords alone"
"""Stands for the provider where no provider can embed the query."""

_STATES = {"closed": "ready", "open": "failing", "half-open": "probing"}


class QueryVector(NamedTuple):
    """A query's vector, its space, and the provider and model that made it.

    Of the index's ``chunks``, ``lacking`` have no vector in that space and could have one.
    """

    vector: bytes
    space: str
    provider: str
    model: str
    fallback: Fallback | None = None
    lacking: int = 0
    chunks: int = 0


class ActiveProvider(NamedTuple):
    """The provider that embeds; ``answers`` says whether its vectors can be searched."""

    provider: str | None = None
    model: str | None = None
    fallback: Fallback | None = None
    answers: bool = False


class EmbeddingService:
    """A primary provider and its fallback, each with vectors in a space of its own.

    ``providers`` are those that could be built; ``absent`` is the reason if the primary could not,
    and then the first is the fallback. ``former`` builds the provider of a space made under earlier
    settings, which ``ledger`` keeps; ``refused`` are texts not to be sent again. Who holds ``turn``
    embeds the notes of the index, and others wait, so that no text is embedded twice.
    """

    def __init__(
        self,
        providers: Sequence[GuardedProvider],
        cache: EmbeddingCache | None,
        *,
        absent: Fallback | None = None,
        former: Callable[[Sequence[SpaceInfo]], GuardedProvider | None] = lambda _: None,
        ledger: SpaceLedger | None = None,
        refused: RefusedTexts | None = None,
        turn: Lease | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.providers = tuple(providers)
        self.cache = cache
        self.absent = absent
        self.ledger = ledger
        self.refused = refused
        self.turn = turn
        self.asked_cache: dict[str, tuple[int, int]] = {}
        """The state of the cache when it lacked most texts that a space lacks: a search does not
        ask again for all of them until it has others."""
        self._former_of = former
        self._former: dict[str, GuardedProvider] = {}
        self._since = clock()

    @property
    def primary(self) -> GuardedProvider | None:
        """The provider that was asked for, if it could be built."""
        return self.providers[0] if self.providers and self.absent is None else None

    @property
    def standby(self) -> GuardedProvider | None:
        """The fallback, if there is one."""
        return next((one for one in self.providers if one is not self.primary), None)

    def query(
        self, text: str, spaces: Sequence[SpaceInfo], *, deadline: Deadline
    ) -> QueryVector | Fallback:
        """The vector of ``text`` from the first provider that has one in a space of the index.

        Without any, why not.
        """
        failed = self.absent
        for provider, space, excuse in self.candidates(spaces):
            if space is None:
                failed = failed or excuse
                continue
            names = lengths_of(space, spaces)
            try:
                vector = self._vector(provider, text, space, names, deadline)
                lacking = max(0, space.chunks - self._covered(provider, space))
            except UnavailableError as error:
                failed = failed or self._failure(provider, error)
                continue
            if not vector:
                reason = f"{provider.id} returned a zero vector for the query"
                return Fallback(part="", reason=reason, since=0.0, by=KEYWORDS)
            name = names.get(len(vector))
            if name is None:
                words = mismatch_words(provider.id, len(vector) // 4, space)
                seen = self.mismatch(provider, space, spaces)
                failed = failed or seen or self._excuse(provider, words)
                continue
            fallback = failed.replace(by=provider.id) if failed is not None else None
            return QueryVector(
                vector, name, provider.id, provider.model, fallback, lacking, space.chunks
            )
        return failed or Fallback(part="", reason="no embedding provider", since=0.0, by=KEYWORDS)

    def only_lacks_notes(self, spaces: Sequence[SpaceInfo]) -> bool:
        """Whether the primary works, as far as is known, and nothing is embedded yet."""
        primary = self.primary
        if primary is None or any(info.covered for info in spaces):
            return False
        return primary.state().since is None

    def may_embed_unasked(self) -> bool:
        """Whether the user named the primary, has agreed to it, or it is on this machine."""
        gate = self.primary.gate if self.primary is not None else None
        return gate is None or gate.is_open() or (gate.named and not gate.refusal)

    def candidates(self, spaces: Sequence[SpaceInfo]) -> Iterator[MayAnswer]:
        """The providers that may answer a query, in order, each with its space or why it may not.

        The primary may as soon as anything is embedded in its space; before it, the model of
        earlier settings, while that covers more; the fallback only if its space covers every chunk,
        since the others would be hidden. Makes no request.
        """
        for provider, find in ((self.primary, self._of_primary), (self.standby, self._of_standby)):
            if provider is None:
                continue
            try:
                options = tuple(find(provider, spaces))
            except UnavailableError as error:
                options = ((provider, None, self._failure(provider, error)),)
            yield from options

    def _of_primary(
        self, primary: GuardedProvider, spaces: Sequence[SpaceInfo]
    ) -> Iterator[MayAnswer]:
        own = space_of(primary.fingerprint(), spaces)
        covered = self._covered(primary, own)
        former = self._older(primary, spaces, covered)
        if former is not None:
            chunks = former[1].chunks
            same = former[0].model == primary.model
            way = "as the settings say now" if same else f"with {primary.model}"
            words = f"{covered} of {counted(chunks, 'chunk is', 'chunks are')} embedded {way} yet"
            yield primary, None, self._excuse(primary, words)
            yield (*former, None)
        if covered:
            yield primary, own, None
        elif former is None:
            yield primary, None, self._nothing_of(primary)

    def _of_standby(
        self, standby: GuardedProvider, spaces: Sequence[SpaceInfo]
    ) -> Iterator[MayAnswer]:
        own = _own_space(standby, spaces)
        if own is not None and self._covered(standby, own) >= own.chunks > 0:
            yield standby, own, None
        elif self.primary is None:
            words = f"{standby.id} has not embedded every note"
            yield standby, None, self._excuse(standby, words)

    def mismatch(
        self, provider: GuardedProvider, space: SpaceInfo | None, spaces: Sequence[SpaceInfo]
    ) -> Fallback | None:
        """Why vectors of ``provider`` cannot be compared with the index, as was last seen."""
        seen = self.ledger.mismatch(space, spaces) if self.ledger and space else None
        if seen is None or space is None:
            return None
        words = mismatch_words(provider.id, seen[0], space)
        return self._excuse(provider, words, seen[1] or None)

    def close(self) -> None:
        """Close providers and cache; closing twice is fine."""
        for provider in (*self.providers, *self._former.values()):
            provider.close()
        if self.cache is not None:
            self.cache.close()

    def _excuse(
        self, provider: GuardedProvider, reason: str, since: float | None = None
    ) -> Fallback:
        """Why ``provider`` does not answer, since this service began unless it says when."""
        since = self._since if since is None else since
        return Fallback(part=provider.id, reason=reason, since=since, by=KEYWORDS)

    def _failure(self, provider: GuardedProvider, error: UnavailableError) -> Fallback:
        from commonplace.embedding.http.errors import describe

        state = provider.state("query")
        return self._excuse(provider, state.reason or describe(error), state.since)

    def _nothing_of(self, provider: GuardedProvider) -> Fallback:
        """Why nothing is embedded with ``provider``, as far as is known."""
        words = f"nothing is embedded with {provider.id} yet"
        if provider.refusal:
            return self._excuse(provider, f"{words}: {provider.refusal}", None)
        state = provider.state("document")
        reason = words if state.since is None else f"{words}: {state.reason}"
        return self._excuse(provider, reason, state.since)

    def _covered(self, provider: GuardedProvider, own: SpaceInfo | None) -> int:
        """How many chunks ``own`` covers, refused ones included."""
        if own is None or not own.covered:
            return 0
        if own.covered >= own.chunks or self.refused is None:
            return own.covered
        return own.covered + len(self.refused.of(provider.fingerprint()))

    def _older(
        self, primary: GuardedProvider, spaces: Sequence[SpaceInfo], covered: int
    ) -> tuple[GuardedProvider, SpaceInfo] | None:
        """The best other space that covers more than ``covered`` chunks, with its provider."""
        own = {primary.fingerprint()}
        for other in self.providers:
            with suppress(UnavailableError):
                own.add(other.fingerprint())
        better = [
            info
            for info in sorted(spaces, key=lambda info: -info.covered)
            if info.covered > covered and not any(space_of(one, [info]) for one in own)
        ]
        for info in better:
            provider = self._former.get(info.space) or self._former_of([info])
            if provider is not None:
                self._former[info.space] = provider
                return provider, info
        return None

    def _vector(
        self,
        provider: GuardedProvider,
        text: str,
        space: SpaceInfo,
        lengths: Mapping[int, str],
        deadline: Deadline,
    ) -> bytes:
        """The query's vector; empty for one of length zero, which is no failure."""
        key, digest = cache_key(provider.fingerprint(), "query"), text_digest(text)
        if self.cache is not None:
            from commonplace.embedding.vectors import sound

            known = sound(self.cache.get(key, [digest]), None).get(digest)
            if known is not None and len(known) in lengths:
                return known

        def ask(deadline: Deadline, pauses: Deadline) -> bytes:
            vector = provider.query(text, deadline=deadline, pauses=pauses)
            if vector and self.ledger is not None:
                self.ledger.note_length(provider.fingerprint(), len(vector) // 4)
            if len(vector) in lengths:
                provider.compared("")
                if self.cache is not None:
                    self.cache.put(key, {digest: vector})
            elif vector:
                provider.compared(mismatch_words(provider.id, len(vector) // 4, space))
            return vector

        return provider.waited(ask, deadline)


def active_provider(service: EmbeddingService, spaces: Sequence[SpaceInfo]) -> ActiveProvider:
    """The provider that would answer a query now, and what it stands in for. Makes no request."""
    failed = service.absent
    excuse: Fallback | None = None
    for provider, space, why_not in service.candidates(spaces):
        if space is None:
            excuse = excuse or why_not
            continue
        state = provider.state("query")
        if state.state != "closed" or provider.refusal:
            failed = failed or _failing(provider, state)
            continue
        if mismatch := service.mismatch(provider, space, spaces):
            failed = failed or mismatch
            continue
        fallback = failed or excuse
        if fallback is not None:
            fallback = fallback.replace(by=provider.id)
        return ActiveProvider(provider.id, provider.model, fallback, answers=True)
    for provider in service.providers:
        state = provider.state()
        if state.state != "closed" or provider.refusal:
            failed = failed or _failing(provider, state)
        elif not any(info.covered for info in spaces):
            fallback = failed.replace(by=provider.id) if failed else None
            return ActiveProvider(provider.id, provider.model, fallback)
    failed = failed or excuse
    return ActiveProvider(fallback=failed.replace(by=KEYWORDS) if failed else None)


def _failing(provider: GuardedProvider, state: BreakerState) -> Fallback:
    reason = provider.refusal or state.reason
    return Fallback(part=provider.id, reason=reason, since=state.since or 0.0)


def provider_states(
    service: EmbeddingService, spaces: Sequence[SpaceInfo], chunks: int
) -> tuple[ProviderState, ...]:
    """Every configured provider, the primary first. ``chunks`` is how many there are to cover."""
    states = []
    if (absent := service.absent) is not None:
        states.append(
            ProviderState(
                id=absent.part,
                role="primary",
                state="unusable",
                reason=absent.reason,
                since=absent.since,
            )
        )
    for provider in service.providers:
        role = "primary" if provider is service.primary else "fallback"
        states.append(_state_of(service, provider, role, spaces, chunks))
    return tuple(states)


def _state_of(
    service: EmbeddingService,
    provider: GuardedProvider,
    role: str,
    spaces: Sequence[SpaceInfo],
    chunks: int,
) -> ProviderState:
    state = provider.state()
    try:
        fingerprint = provider.fingerprint()
        space = space_of(fingerprint, spaces)
        model, _ = provider.model, provider.provider.limits
    except UnavailableError as error:
        from commonplace.embedding.http.errors import describe

        reason = describe(error)
        return ProviderState(
            id=provider.id, role=role, state="unusable", chunks=chunks, reason=reason
        )
    work = "documents" if provider.state("query").since is None else "queries"
    shown, reason, since = _STATES[state.state], state.reason, state.since
    if since is None and (mismatch := service.mismatch(provider, space, spaces)):
        shown, reason, since = "failing", mismatch.reason, mismatch.since
        work = "queries"
    return ProviderState(
        id=provider.id,
        role=role,
        state="unusable" if provider.refusal else shown,
        model=model,
        space=space_name(fingerprint, space.dims) if space else "",
        covered=space.covered if space else 0,
        chunks=chunks,
        reason=provider.refusal or reason,
        since=since,
        work="" if since is None else work,
        retry_in=state.retry_in,
    )


def _own_space(provider: GuardedProvider, spaces: Sequence[SpaceInfo]) -> SpaceInfo | None:
    try:
        return space_of(provider.fingerprint(), spaces)
    except UnavailableError:
        return None
