"""Fills a build's missing vectors: from the cache, by batch jobs, then request by request."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from attrs import define

from commonplace.embedding.cache import cache_key, text_digest
from commonplace.embedding.http.errors import describe
from commonplace.embedding.spaces import Filler, RefusedText, VectorLength, fingerprint_of, space_of
from commonplace.embedding.vectors import dims_of, sound
from commonplace.errors import IndexBusyError, IndexReadOnlyError, UnavailableError
from commonplace.model.reports import Embedding, Progress
from commonplace.resilience.deadline import NEVER, POLL_SECONDS
from commonplace.resilience.lock import waited_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from commonplace.embedding.batch.run import BatchOutcome
    from commonplace.embedding.guarded import GuardedProvider
    from commonplace.embedding.service import EmbeddingService
    from commonplace.model.documents import Build
    from commonplace.model.reports import ProgressCallback
    from commonplace.protocols.parts import VectorStore
    from commonplace.resilience.deadline import Deadline


_GROUP = 2000
_EXCERPT = 40  # characters of a text whose path is not found


def fill_vectors(
    service: EmbeddingService,
    store: VectorStore,
    build: Build,
    *,
    rebuild: bool = False,
    deadline: Deadline,
    progress: ProgressCallback | None = None,
    wait: float = 30.0,
    locate: Callable[[str], str] = lambda _: "",
) -> Embedding:
    """Embed what has no vector yet with the primary provider.

    The fallback replaces it only if it fails while no other space covers anything, and then stays
    until ``rebuild``: no failure or recovery alone is a reason to embed all in another space.
    Until then, texts without a vector wait. Every finished request is kept at once, in cache and
    store. Never raises for a provider that fails; the report has the reason.

    A text that is refused alone is left out from then on, unless ``rebuild``; ``locate`` finds the
    path of a text's chunk. If the provider's vectors change their length, the notes are embedded in
    a new space beside the old one, which is dropped when the new one covers them.
    """
    reasons: list[str] = []
    report = Embedding()
    for provider in service.providers if rebuild else ():
        # The user may have fixed something: no cool-down is waited for.
        provider.retry_now("document")
        provider.retry_now("query")
    if service.absent is not None:
        reasons.append(service.absent.reason)
        report = Embedding(provider=service.absent.part, missing=store.health().chunks)
    for provider in _chain(service, store, rebuild=rebuild):
        try:
            if provider is service.standby and _covered_by_another(provider, store):
                break
            filling = _Filling(service, provider, store, build, wait, deadline, progress, locate)
            report = filling.run(rebuild=rebuild)
            if filling.busy:  # so it is for another provider
                break
        except UnavailableError as error:
            report = Embedding(
                provider=provider.id, missing=store.health().chunks, reason=describe(error)
            )
        if not report.reason or report.embedded:
            break
        reasons.append(report.reason)
    reasons.append(report.reason)
    return report.replace(reason="; ".join(dict.fromkeys(filter(None, reasons))))


def fill_from_cache(
    service: EmbeddingService,
    store: VectorStore,
    build: Build,
    *,
    deadline: Deadline,
    wait: float = 30.0,
) -> int:
    """Store the missing vectors that the cache has of one provider; how many. Makes no request.

    What there is no time for until ``deadline`` is left to a later sync, but for the first texts. A
    failure is not reported: the next sync that embeds meets it again.
    """
    if service.cache is None or not (state := service.cache.state())[0]:
        return 0
    for provider in service.providers:
        with suppress(UnavailableError):
            filling = _Filling(service, provider, store, build, wait, deadline)
            if filled := filling.from_cache(state):
                return filled
    return 0


def _chain(
    service: EmbeddingService, store: VectorStore, *, rebuild: bool
) -> Sequence[GuardedProvider]:
    """The providers to try, in order."""
    primary, standby = service.primary, service.standby
    if primary is None or standby is None or rebuild:
        return service.providers
    try:
        own = space_of(primary.fingerprint(), store.spaces())
        other = space_of(standby.fingerprint(), store.spaces())
    except UnavailableError:
        return service.providers
    stood_in = not (own and own.covered) and other is not None and other.covered
    return (standby,) if stood_in else service.providers


def _covered_by_another(provider: GuardedProvider, store: VectorStore) -> bool:
    spaces = store.spaces()
    own = space_of(provider.fingerprint(), spaces)
    return not (own and own.covered) and any(info.covered for info in spaces)


@define(slots=False)
class _Filling:
    """Filling one build with one provider."""

    _service: EmbeddingService
    _provider: GuardedProvider
    _store: VectorStore
    _build: Build
    _wait: float
    _deadline: Deadline = NEVER
    _progress: ProgressCallback | None = None
    _locate: Callable[[str], str] = lambda _: ""

    def __attrs_post_init__(self) -> None:
        self._cache = self._service.cache
        self._fingerprint = self._provider.fingerprint()
        self._key = cache_key(self._fingerprint, "document")
        self._ledger = self._service.ledger
        self._memory = self._service.refused
        self._refused: dict[str, RefusedText] = {}
        self._length = VectorLength(self._provider, self._store.spaces(), self._ledger)
        self._embedded = self._cached = self._cut = self._batched = 0
        self._batch: BatchOutcome | None = None
        self._notice, self._noted, self.busy = "", False, False

    def run(self, *, rebuild: bool) -> Embedding:
        before = self._provider.requests
        reason = ""
        known = {} if rebuild or self._memory is None else self._memory.of(self._fingerprint)
        missing = self._missing()
        if not missing and self._service.turn is not None:
            self._service.turn.holder()  # a process that was killed left its name there
        self._refused = {digest: known[digest] for digest, _ in missing if digest in known}
        try:
            self._fill(missing)
            if self._length.changed:
                self._fill(self._missing())
        except UnavailableError as error:
            reason, self.busy = describe(error), isinstance(error, IndexBusyError)
        still = [one for one in self._missing() if one[0] not in self._refused] if missing else []
        if self._memory is not None:
            self._memory.keep(self._fingerprint, self._refused)
        if self._batch and self._batch.left and (batching := self._provider.batching()):
            batching.settle(self._batch.left, {text_digest(text).hex() for _, text in still})
        if not still and not reason:
            self._drop_other_lengths()
        return Embedding(
            provider=self._provider.id,
            embedded=self._embedded,
            cached=self._cached,
            cut=self._cut,
            requests=self._provider.requests - before,
            missing=len(still),
            reason=reason,
            batched=self._batched,
            jobs=self._batch.begun if self._batch else 0,
            pending=self._batch.pending if self._batch else 0,
            batch_note=self._batch.note if self._batch else "",
            refused=tuple((text.path, text.reason) for text in self._refused.values()),
            note="; ".join(filter(None, (self._notice, self._length.note))),
        )

    def from_cache(self, state: tuple[int, int]) -> int:
        """Store the missing vectors that the cache has, which is in ``state``; how many."""
        if self._service.asked_cache.get(self._length.space) == state:
            return 0
        for group in _groups(missing := self._missing(), _GROUP):
            self._uncached(group)
            if self._deadline.expired:
                return self._cached
        if len(missing) - self._cached > _GROUP:
            self._service.asked_cache[self._length.space] = state
        return self._cached

    def _missing(self) -> list[tuple[str, str]]:
        missing = self._store.missing_vectors(self._build, self._length.space)
        return [item for item in missing if item[1].strip()]

    def _fill(self, missing: Sequence[tuple[str, str]]) -> None:
        before = self._done
        missing = self._permitted([item for item in missing if item[0] not in self._refused])
        changed = self._length.changed
        if self._length.doubtful and missing:
            # One text, sent though it may be cached, shows which space lacks vectors: the server
            # may have changed back.
            self._embed_rest(missing[:1])
            if self._length.changed != changed:
                return
            missing = missing[1:]

        def report() -> None:
            if self._progress is not None:
                done, total = self._done - before, len(missing)
                self._progress(Progress(label="Embedding notes", completed=done, total=total))

        for group in _groups(self._by_jobs(missing), _GROUP):
            self._embed_group(group, on_progress=report)
            if self._length.changed != changed:
                return  # another space lacks other texts

    def _permitted(self, missing: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """``missing``; without cached texts where the user is notified or asked before sending."""
        gate = self._provider.gate
        if gate is None or gate.is_open():
            return missing
        if not self._length.doubtful:
            missing = self._all_uncached(missing)
        if missing:
            self._notice = gate.check(len(missing))
        return missing

    @property
    def _done(self) -> int:
        return self._embedded + self._cached

    def _by_jobs(self, missing: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """The texts that batch jobs and the cache leave to be embedded at once."""
        batching = self._provider.batching() if missing else None
        if batching is None or self._provider.state("document").state == "open":
            return missing
        from commonplace.embedding.batch.run import Work, embed_by_jobs

        left = self._all_uncached(missing)
        # Jobs know a text by its digest, so that one asked for twice is sent once.
        texts = {text_digest(text).hex(): text for _, text in left}
        chunks: dict[str, list[str]] = {}
        for digest, text in left:
            chunks.setdefault(text_digest(text).hex(), []).append(digest)

        def keep(vectors: Mapping[str, bytes]) -> None:
            own = {digest: v for i, v in vectors.items() for digest in chunks.get(i, ())}
            self._keep({bytes.fromhex(i): v for i, v in vectors.items()}, own)
            self._batched += len(own)

        work = Work(
            texts=texts,
            key=self._key,
            limits=self._provider.provider.limits,
            dims=self._length.dims,
            keep=keep,
            deadline=self._deadline,
            progress=self._progress,
        )
        self._batch = embed_by_jobs(batching, work)
        self._provider.retry_now("document")  # the rest takes another way, which may work
        self._cut += self._batch.cut
        plain = frozenset(self._batch.plain)
        return [item for item in left if text_digest(item[1]).hex() in plain]

    def _all_uncached(self, missing: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        return [item for group in _groups(missing, _GROUP) for item in self._uncached(group)]

    def _uncached(self, group: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """The texts of a group that are not in the cache; vectors of the others go to the store."""
        digests = {digest: text_digest(text) for digest, text in group}
        cached = self._known(digests.values())
        self._put({d: cached[of] for d, of in digests.items() if of in cached})
        self._cached += sum(of in cached for of in digests.values())
        return [item for item in group if digests[item[0]] not in cached]

    def _embed_group(
        self, group: Sequence[tuple[str, str]], on_progress: Callable[[], None] = lambda: None
    ) -> None:
        """Give all texts of a group their vectors, which are kept after each request."""
        rest = self._uncached(group)
        on_progress()
        if rest:
            with self._turn() as waited:
                if waited:
                    rest = self._uncached(self._still_missing(rest))
                    on_progress()
                self._embed_rest(rest, on_progress)

    def _embed_rest(
        self, rest: Sequence[tuple[str, str]], on_progress: Callable[[], None] = lambda: None
    ) -> None:
        """Send texts, whatever the cache has."""
        if not rest:
            return
        digests = {digest: text_digest(text) for digest, text in rest}
        texts = [text for _, text in rest]
        dims = self._length.dims if self._length.confirmed else None
        with self._provider.guarded("document"):
            runner = self._provider.runner()
            expected = self._length.expected
            results = runner.many(texts, dims=dims, expected=expected, deadline=self._deadline)
            for result in results:
                vectors = {
                    rest[i][0]: v for i, v in zip(result.indices, result.vectors, strict=True)
                }
                self._keep({digests[d]: v for d, v in vectors.items()}, vectors)
                self._cut += len(result.cut)
                for i, reason in result.refused:
                    digest, text = rest[i]
                    path = self._locate(text) or repr(" ".join(text.split())[:_EXCERPT])
                    self._refused[digest] = RefusedText(path, reason)
                on_progress()

    @contextmanager
    def _turn(self) -> Iterator[bool]:
        """Keep others from embedding the same notes; yields whether one was waited for.

        However long it takes, while it stores vectors. Without a lock file there is no wait.
        """
        lease, other = self._service.turn, Filler(self._store.spaces, self._progress)
        with ExitStack() as stack:
            while lease is not None and not self._deadline.expired:
                try:
                    stack.enter_context(lease.held(POLL_SECONDS if other.polls else 0))
                    break
                except IndexReadOnlyError:
                    break
                except IndexBusyError as error:
                    other.poll(error.holder)
            yield other.polls > 0

    def _still_missing(self, group: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Those of ``group`` that no other process has embedded in this index meanwhile."""
        if self._length.dims is None:
            self._length = VectorLength(self._provider, self._store.spaces(), self._ledger)
        missing = {digest for digest, _ in self._missing()}
        return [item for item in group if item[0] in missing]

    def _keep(self, by_text: Mapping[bytes, bytes], by_chunk: dict[str, bytes]) -> None:
        """Keep vectors that the provider has made, in the cache and in the store."""
        self._length.measured(by_text.values())
        if self._cache is not None:
            self._cache.put(self._key, by_text)
        self._put(by_chunk)
        self._embedded += len(by_chunk)

    def _known(self, digests: Collection[bytes]) -> dict[bytes, bytes]:
        if self._cache is None:
            return {}
        dims = self._length.dims
        return sound(self._cache.get(self._key, digests, dims=dims), dims)

    def _drop_other_lengths(self) -> None:
        """Drop the provider's spaces of other lengths: no query vector of theirs can be made."""
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
        if not self._noted and self._ledger is not None and self._provider.settings is not None:
            self._ledger.note(self._fingerprint, self._provider.settings)
        self._noted = True


def _groups(items: Sequence[tuple[str, str]], size: int) -> list[Sequence[tuple[str, str]]]:
    return [items[begin : begin + size] for begin in range(0, len(items), size)]
