"""Filling a build's missing vectors: from the cache first, then request by request."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from commonplace.embedding.cache import text_digest
from commonplace.embedding.lengths import VectorLength
from commonplace.embedding.link import fingerprint_of, space_of, told
from commonplace.embedding.refused import RefusedText
from commonplace.embedding.service import cache_key
from commonplace.embedding.vectors import dims_of
from commonplace.errors import UnavailableError
from commonplace.model.reports import Embedding, Progress
from commonplace.resilience.lock import waited_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from commonplace.embedding.batching_work import BatchOutcome
    from commonplace.embedding.link import ProviderLink
    from commonplace.embedding.service import EmbeddingService
    from commonplace.model.reports import ProgressCallback
    from commonplace.model.store import Build
    from commonplace.protocols.stores import VectorStore
    from commonplace.resilience.deadline import Deadline

__all__ = ["fill_vectors"]

_GROUP = 2000
_EXCERPT = 40  # characters of a text of which nobody knows where it stands


def fill_vectors(
    service: EmbeddingService,
    store: VectorStore,
    build: Build,
    *,
    anew: bool = False,
    deadline: Deadline,
    progress: ProgressCallback | None = None,
    wait: float = 30.0,
    locate: Callable[[str], str] = lambda _: "",
) -> Embedding:
    """Embed what has no vector yet with the first provider.

    The fallback takes its place only if that fails and no other space covers anything, and then
    keeps it, until ``anew`` asks for the first one: what a space covers is not embedded in another
    because somebody failed, or recovered. Texts that have no vector then wait. Every finished
    request is kept at once, in cache and store. Never raises for a provider that fails; the report
    says why.

    A text that alone is refused is left out from then on, unless ``anew``; ``locate`` says where
    the chunk of a text stands. Where a provider gives vectors of another length than it did, the
    notes are embedded in a new space beside the old one, which goes when the new one covers them.
    """
    reasons: list[str] = []
    report = Embedding()
    for link in service.links if anew else ():
        # Whoever has mended something need not wait for any cool-down.
        link.hurry("document")
        link.hurry("query")
    if service.absent is not None:
        reasons.append(service.absent.reason)
        report = Embedding(service.absent.part, missing=store.health().chunks)
    for link in _chain(service, store, anew=anew):
        try:
            if link is service.standby and _covered_by_another(link, store):
                break
            filling = _Filling(service, link, store, build, wait)
            report = filling.run(deadline, progress, anew=anew, locate=locate)
        except UnavailableError as error:
            report = Embedding(link.id, missing=store.health().chunks, reason=told(error))
        if not report.reason or report.embedded:
            break
        reasons.append(report.reason)
    reasons.append(report.reason)
    return report._replace(reason="; ".join(dict.fromkeys(filter(None, reasons))))


def _chain(service: EmbeddingService, store: VectorStore, *, anew: bool) -> Sequence[ProviderLink]:
    """Who embeds, and who if that one fails."""
    primary, standby = service.primary, service.standby
    if primary is None or standby is None or anew:
        return service.links
    try:
        own = space_of(primary.fingerprint(), store.spaces())
        other = space_of(standby.fingerprint(), store.spaces())
    except UnavailableError:
        return service.links
    stood_in = not (own and own.covered) and other is not None and other.covered
    return (standby,) if stood_in else service.links


def _covered_by_another(link: ProviderLink, store: VectorStore) -> bool:
    spaces = store.spaces()
    own = space_of(link.fingerprint(), spaces)
    return not (own and own.covered) and any(info.covered for info in spaces)


class _Filling:
    """One link's filling of one build."""

    def __init__(
        self,
        service: EmbeddingService,
        link: ProviderLink,
        store: VectorStore,
        build: Build,
        wait: float,
    ) -> None:
        self._cache = service.cache
        self._link = link
        self._store = store
        self._build = build
        self._wait = wait
        self._fingerprint = link.fingerprint()
        self._key = cache_key(self._fingerprint, "document")
        self._ledger = service.ledger
        self._memory = service.refused
        self._refused: dict[str, RefusedText] = {}
        self._length = VectorLength(link, store.spaces(), service.ledger)
        self._embedded = self._cached = self._cut = self._batched = 0
        self._batch: BatchOutcome | None = None
        self._noted = False
        self._progress: ProgressCallback | None = None

    def run(
        self,
        deadline: Deadline,
        progress: ProgressCallback | None,
        *,
        anew: bool,
        locate: Callable[[str], str],
    ) -> Embedding:
        self._progress = progress
        before = self._link.requests
        reason = ""
        known = {} if anew or self._memory is None else self._memory.of(self._fingerprint)
        missing = self._missing()
        self._refused = {digest: known[digest] for digest, _ in missing if digest in known}
        try:
            self._fill(missing, deadline, progress, locate)
            if self._length.turned:
                self._fill(self._missing(), deadline, progress, locate)
        except UnavailableError as error:
            reason = told(error)
        left = sum(digest not in self._refused for digest, _ in self._missing()) if missing else 0
        if self._memory is not None:
            self._memory.keep(self._fingerprint, self._refused)
        if not left and not reason:
            self._drop_other_lengths()
        return Embedding(
            provider=self._link.id,
            embedded=self._embedded,
            cached=self._cached,
            cut=self._cut,
            requests=self._link.requests - before,
            missing=left,
            reason=reason,
            batched=self._batched,
            jobs=self._batch.begun if self._batch else 0,
            pending=self._batch.pending if self._batch else 0,
            batch_note=self._batch.note if self._batch else "",
            refused=tuple((said.place, said.reason) for said in self._refused.values()),
            note=self._length.note,
        )

    def _missing(self) -> list[tuple[str, str]]:
        missing = self._store.missing_vectors(self._build, self._length.space)
        return [item for item in missing if item[1].strip()]

    def _fill(
        self,
        missing: Sequence[tuple[str, str]],
        deadline: Deadline,
        progress: ProgressCallback | None,
        locate: Callable[[str], str],
    ) -> None:
        missing = [item for item in missing if item[0] not in self._refused]
        before = self._done
        turned = self._length.turned
        if self._length.doubtful and missing:
            # One text tells which space it is that lacks vectors: the server may be its old self.
            for _ in self._group(missing[:1], deadline, locate):
                pass
            if self._length.turned != turned:
                return
            missing = missing[1:]
        left = self._by_jobs(missing, deadline, progress)
        for group in _groups(left, _GROUP):
            for _ in self._group(group, deadline, locate):
                if progress is not None:
                    done = self._done - before
                    progress(Progress("Embedding notes", done, len(missing)))
            if self._length.turned != turned:
                return  # another space lacks other texts

    @property
    def _done(self) -> int:
        return self._embedded + self._cached

    def _by_jobs(
        self,
        missing: Sequence[tuple[str, str]],
        deadline: Deadline,
        progress: ProgressCallback | None,
    ) -> Sequence[tuple[str, str]]:
        """What batch jobs and the cache leave to be embedded at once."""
        batching = self._link.batching() if missing else None
        if batching is None or self._link.state("document").state == "open":
            return missing
        from commonplace.embedding.batching_work import Work

        left = [item for group in _groups(missing, _GROUP) for item in self._uncached(group)]
        # Jobs know a text by its digest, so that one asked for twice is sent once.
        texts = {text_digest(text).hex(): text for _, text in left}
        held: dict[str, list[str]] = {}
        for digest, text in left:
            held.setdefault(text_digest(text).hex(), []).append(digest)

        def keep(vectors: Mapping[str, bytes]) -> None:
            self._length.measured(vectors.values())
            if self._cache is not None:
                self._cache.put(self._key, {bytes.fromhex(i): v for i, v in vectors.items()})
            own = {digest: v for i, v in vectors.items() for digest in held.get(i, ())}
            self._put(own)
            self._embedded += len(own)
            self._batched += len(own)

        work = Work(
            texts=texts,
            key=self._key,
            limits=self._link.provider.limits,
            dims=self._length.dims,
            keep=keep,
            deadline=deadline,
            progress=progress,
        )
        self._batch = batching.run(work)
        self._link.hurry("document")  # what is left is asked for in another way, which may work
        self._cut += self._batch.cut
        plain = frozenset(self._batch.plain)
        return [item for item in left if text_digest(item[1]).hex() in plain]

    def _uncached(self, group: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """What of a group is not in the cache; the rest is put into the store."""
        digests = {digest: text_digest(text) for digest, text in group}
        cached = self._known(digests.values())
        self._put({d: cached[of] for d, of in digests.items() if of in cached})
        self._cached += sum(of in cached for of in digests.values())
        return [item for item in group if digests[item[0]] not in cached]

    def _group(
        self,
        group: Sequence[tuple[str, str]],
        deadline: Deadline,
        locate: Callable[[str], str],
    ) -> Iterator[None]:
        rest = self._uncached(group)
        yield
        digests = {digest: text_digest(text) for digest, text in rest}
        if not rest:
            return
        texts = [text for _, text in rest]
        dims = self._length.dims if self._length.confirmed else None
        with self._link.watched("document"):
            for result in self._link.runner().many(texts, dims=dims, deadline=deadline):
                vectors = {
                    rest[i][0]: v for i, v in zip(result.indices, result.vectors, strict=True)
                }
                self._length.measured(vectors.values())
                if self._cache is not None:
                    self._cache.put(self._key, {digests[d]: v for d, v in vectors.items()})
                self._put(vectors)
                self._embedded += len(vectors)
                self._cut += len(result.cut)
                for i, reason in result.refused:
                    digest, text = rest[i]
                    place = locate(text) or repr(" ".join(text.split())[:_EXCERPT])
                    self._refused[digest] = RefusedText(place, reason)
                yield

    def _known(self, digests: Collection[bytes]) -> dict[bytes, bytes]:
        """What the cache has, of the right length: a server may once have had another model."""
        if self._cache is None:
            return {}
        cached = self._cache.get(self._key, digests)
        dims = self._length.dims
        size = 4 * dims if dims is not None else len(next(iter(cached.values()), b""))
        return {digest: vector for digest, vector in cached.items() if len(vector) == size > 0}

    def _drop_other_lengths(self) -> None:
        """Nobody can make a query for them any more."""
        own = self._length.space
        spaces = self._store.spaces()
        if not any(info.space == own for info in spaces):
            return
        for info in spaces:
            if fingerprint_of(info.space) == self._fingerprint and info.space != own:
                with self._writing():
                    self._store.drop_space(info.space)

    def _writing(self) -> AbstractContextManager[object]:
        return waited_for(
            lambda seconds: self._store.writer(wait=seconds),
            wait=self._wait,
            progress=self._progress,
        )

    def _put(self, vectors: dict[str, bytes]) -> None:
        if not vectors:
            return
        length = self._length
        if length.dims is None:  # all of it from the cache
            length.dims = dims_of(next(iter(vectors.values())))
        with self._writing():
            self._store.put_vectors(self._build, length.space, length.dims, vectors)
        if not self._noted and self._ledger is not None and self._link.maker is not None:
            self._ledger.note(self._fingerprint, self._link.maker)
        self._noted = True


def _groups(items: Iterable[tuple[str, str]], size: int) -> Iterator[Sequence[tuple[str, str]]]:
    rest = iter(items)
    while group := list(islice(rest, size)):
        yield group
