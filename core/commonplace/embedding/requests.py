"""Many texts through one provider: packed, at once, halved where too large, retried, checked."""

from __future__ import annotations

from contextlib import contextmanager
from math import inf
from operator import add
from threading import Event, Lock
from typing import TYPE_CHECKING, NamedTuple

from attrs import define

from commonplace.embedding.http.errors import SEE_TRACEBACK, show_traceback
from commonplace.embedding.vectors import checked, dims_of
from commonplace.errors import CallerError, DeadlineExceededError, ProviderError, UnavailableError
from commonplace.graphemes import is_boundary
from commonplace.resilience.retry import RetryPolicy, with_retries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from commonplace.protocols.providers import EmbeddingProvider, Limits, Purpose
    from commonplace.resilience.deadline import Deadline


_SHORTEST_CUT = 16
_HARMLESS = "memory"
_OF_A_TEXT = frozenset({"bad_request", "protocol", "too_large"})
"""Kinds of error that may be due to what a text says, and not to provider or settings."""


class Embedded(NamedTuple):
    """The vectors of a run of texts: ``indices`` into what was asked, ``cut`` those shortened.

    ``refused`` are (index, reason) of texts that the provider will not embed, though it does
    others.
    """

    indices: tuple[int, ...]
    vectors: tuple[bytes, ...]
    cut: tuple[int, ...] = ()
    refused: tuple[tuple[int, str], ...] = ()


@define(eq=False)
class _Trial:
    """A run of texts, and what it has shown of the provider.

    ``works`` says that it embeds anything at all; ``dims`` is how long its vectors are, as far as
    that is known. ``pauses`` bounds the waits between attempts.
    """

    deadline: Deadline
    dims: int | None = None
    pauses: Deadline | None = None
    works: bool = False


class RequestRunner:
    """Drives one provider; safe to share between threads. ``requests`` counts what was sent.

    ``query_seconds`` are in place of the provider's own.
    """

    def __init__(
        self,
        name: str,
        provider: EmbeddingProvider,
        *,
        policy: RetryPolicy | None = None,
        concurrency: int = 4,
        query_seconds: float | None = None,
    ) -> None:
        self.name = name
        self.provider = provider
        self.requests = 0
        self._query_seconds = query_seconds
        self._counting = Lock()
        self._policy = policy or RetryPolicy()
        self._concurrency = max(1, min(concurrency, provider.concurrency))

    def one(
        self, text: str, *, purpose: Purpose, deadline: Deadline, pauses: Deadline | None = None
    ) -> bytes:
        """The vector of one text; a query's within ``query_seconds``, all attempts together.

        A failure is raised where another attempt could only begin after ``pauses``.
        Raises :class:`~commonplace.errors.ProviderError`, and a plain
        :class:`~commonplace.errors.UnavailableError` where it refuses this text and no others.
        """
        if purpose == "query":
            deadline = deadline.sooner(self._seconds("query"))
        trial = _Trial(deadline, pauses=pauses)
        try:
            return next(self._run({0: text}, purpose, trial)).vectors[0]
        except ProviderError as error:
            if error.kind != "bad_request" or not self._works(trial):
                raise
            raise UnavailableError(f"it refuses these words: {error}") from error

    def many(
        self,
        texts: Sequence[str],
        *,
        dims: int | None,
        expected: int | None = None,
        deadline: Deadline,
    ) -> Iterator[Embedded]:
        """The vectors of documents, request by request as each finishes, in any order.

        Several requests run at once. ``dims`` is how long vectors must be, if that is known; if
        not, the first to come back decide. ``expected`` is how long they were before. After an
        error no new request begins; those under way are waited for and given, then it is raised.
        Where the caller stops before, as by Ctrl-C, those under way are given up. A text that is
        refused where others are not is no error: the request is halved until that text
        is alone. A text whose vector has another length than those of others counts as refused.

        Raises :class:`~commonplace.errors.ProviderError`, and
        :class:`~commonplace.errors.DeadlineExceededError` where it is ``deadline`` that ran out.
        """
        from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

        runs = self._packed(texts)
        stopped = Event()
        trial = _Trial(deadline.or_when(stopped.is_set), dims or expected)
        failure: BaseException | None = None
        with ThreadPoolExecutor(self._concurrency, thread_name_prefix="embed") as pool:
            under_way: set[Future[tuple[Embedded, BaseException | None]]] = set()
            try:
                while True:
                    while failure is None and len(under_way) < self._concurrency:
                        run = None if deadline.expired else next(runs, None)
                        if run is None:
                            break
                        part = {index: texts[index] for index in run}
                        under_way.add(pool.submit(self._finished, part, trial))
                    if not under_way:
                        break
                    done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    for result, error in [future.result() for future in done]:
                        strange = self._strange(result, dims)
                        failure = failure or error or strange
                        if strange is None and any(result):
                            dims = dims or next(map(dims_of, result.vectors), None)
                            yield result
            except BaseException:
                stopped.set()  # the pool waits for its threads, however long a server is silent
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        if failure is None and next(runs, None) is not None:
            failure = _no_time()
        if failure is not None:
            raise failure

    def _packed(self, texts: Sequence[str]) -> Iterator[range]:
        """Runs of indices; a provider that learns its limits changes them on the way."""
        begin = 0
        while begin < len(texts):
            limits = self.provider.limits
            for run in pack(texts[begin:], limits):
                yield range(begin + run.start, begin + run.stop)
                end = begin + run.stop
                if self.provider.limits != limits:
                    break
            begin = end

    def _strange(self, result: Embedded, dims: int | None) -> ProviderError | None:
        """What is wrong where requests that ran at once, or halves of one, differ in length."""
        lengths = {dims_of(vector) for vector in result.vectors} | ({dims} if dims else set())
        if len(lengths) <= 1:
            return None
        words = " and of ".join(str(length) for length in sorted(lengths))
        return self._wrong(f"vectors of {words} dimensions came back")

    def _wrong(self, words: str) -> ProviderError:
        return ProviderError(f"{self.name}: {words}", provider=self.name, kind="protocol")

    def _finished(
        self, texts: dict[int, str], trial: _Trial
    ) -> tuple[Embedded, BaseException | None]:
        """What came back for documents, all of which was paid for; and what ended that early."""
        whole = Embedded((), ())
        try:
            for part in self._run(texts, "document", trial):
                whole = Embedded(*map(add, whole, part))
        except BaseException as error:  # noqa: BLE001 - raised where the requests are waited for
            return whole, error
        return whole, None

    def _run(self, texts: dict[int, str], purpose: Purpose, trial: _Trial) -> Iterator[Embedded]:
        """One request; in halves, down to one text and then a shorter one, if it is too large."""
        limits = self.provider.limits
        sent = [cut_to_fit(text, limits) for text in texts.values()]
        cut = {i for (i, whole), text in zip(texts.items(), sent, strict=True) if text != whole}
        try:
            vectors = self._send(sent, purpose, trial)
            if purpose == "document":
                self._check_length(vectors, trial)
        except ProviderError as error:
            if error.kind == "too_large" and len(sent) > 1:
                yield from self._halves(texts, purpose, trial)
            elif error.kind == "too_large" and len(sent[0]) > _SHORTEST_CUT:
                shorter = dict.fromkeys(texts, sent[0].lstrip()[: len(sent[0]) // 2])
                for half in self._run(shorter, purpose, trial):
                    yield half._replace(cut=half.indices)
            elif purpose == "query" or error.kind not in _OF_A_TEXT or not self._works(trial):
                raise
            elif len(sent) > 1:
                yield from self._halves(texts, purpose, trial)
            else:
                yield Embedded((), (), refused=tuple((i, str(error)) for i in texts))
            return
        trial.works = True
        # All that came back was paid for: only texts without a valid vector are sent again; in
        # halves, as a provider may give one for each request.
        pairs = {i: vector for i, vector in zip(texts, vectors, strict=True) if vector}
        yield Embedded(tuple(pairs), tuple(pairs.values()), tuple(i for i in pairs if i in cut))
        if rest := {i: text for i, text in texts.items() if i not in pairs}:
            send = self._run if len(rest) == 1 else self._halves
            yield from send(rest, purpose, trial)

    def _halves(self, texts: dict[int, str], purpose: Purpose, trial: _Trial) -> Iterator[Embedded]:
        pairs = list(texts.items())
        for half in (pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :]):
            yield from self._run(dict(half), purpose, trial)

    def _works(self, trial: _Trial) -> bool:
        """Whether the texts are at fault: the provider then takes others, or a harmless one."""
        if not trial.works:
            try:
                trial.dims = self._usual_length(trial)
            except UnavailableError:
                return False
            trial.works = True
        return True

    def _check_length(self, vectors: Sequence[bytes], trial: _Trial) -> None:
        """Raise where ``vectors`` have another length than others, due to what their texts say.

        It is due to the server if the vector of a harmless text has not the known length, either.
        """
        dims = dims_of(max(vectors, key=len))
        if trial.dims not in {None, dims}:
            usual = self._usual_length(trial)
            trial.works = True
            if usual == trial.dims:
                words = f"a vector of {dims} dimensions came back, others have {usual}"
                raise self._wrong(words)
        trial.dims = dims

    def _usual_length(self, trial: _Trial) -> int:
        """How long the vector of a harmless text is."""
        return dims_of(self._send([_HARMLESS], "document", trial)[0])

    def _send(self, texts: list[str], purpose: Purpose, trial: _Trial) -> list[bytes]:
        """Their vectors, at least one of them valid; ``b""`` for others."""
        deadline = trial.deadline
        # All attempts together, without the waits between: what hangs is not left to do so thrice.
        left = self._seconds(purpose)

        def call() -> list[bytes]:
            nonlocal left
            with self._counting:
                self.requests += 1
            own = deadline.sooner(left)
            given = own.remaining()
            try:
                vectors = self._asked(texts, purpose, own)
            except ProviderError as error:
                left -= given - own.remaining()
                if own.expired:
                    error.retry = False
                raise
            try:
                return checked(vectors, count=len(texts), dims=None, provider=self.name, some=True)
            except (TypeError, ValueError, OverflowError) as error:
                raise self._wrong("the response contains no valid vectors") from error

        try:
            return with_retries(call, self._policy, deadline=deadline, pauses=trial.pauses)
        except DeadlineExceededError as error:
            raise ProviderError(str(error), provider=self.name, kind="timeout") from error
        except ProviderError as error:
            if purpose == "document" and error.kind == "timeout" and deadline.expired:
                # So short a time is no failure of the provider.
                raise _no_time() from error
            raise

    def _seconds(self, purpose: Purpose) -> float:
        limits = self.provider.limits
        if purpose == "document":
            return limits.request_seconds
        return limits.query_seconds if self._query_seconds is None else self._query_seconds

    def _asked(
        self, texts: list[str], purpose: Purpose, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        secrets: tuple[str, ...] = getattr(self.provider, "secrets", ())
        with provider_errors(self.name, part_of(self.provider), secrets):
            return self.provider.embed(texts, purpose=purpose, deadline=deadline)


def part_of(provider: EmbeddingProvider) -> str:
    """What messages name as failed where the code of ``provider`` does."""
    part: str = getattr(provider, "part", "the provider itself")
    return part


@contextmanager
def provider_errors(provider: str, part: str, secrets: Iterable[str] = ()) -> Iterator[None]:
    """Turn every failure of a provider's code into an error of ``provider``.

    Errors of the caller and of the deadline pass through. ``part`` names the code that failed.
    """
    try:
        yield
    except (CallerError, ProviderError, DeadlineExceededError):
        raise
    except UnavailableError as error:
        raise ProviderError(
            str(error), provider=provider, kind="unavailable", hint=error.hint
        ) from error
    except BaseException as error:
        show_traceback(error, secrets)
        # Without its message, which may hold a key.
        raise ProviderError(
            f"{provider}: {part} failed with {type(error).__name__}",
            provider=provider,
            kind="protocol",
            hint=SEE_TRACEBACK,
        ) from error


def _no_time() -> DeadlineExceededError:
    return DeadlineExceededError("there was no time to embed the rest")


_ASCII_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """A number of tokens that the true one seldom passes.

    ASCII counts a token for three characters (English prose has about four), everything else one a
    character, which is what CJK costs and more than Cyrillic or accented letters do.
    """
    ascii_ = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return -(-ascii_ // _ASCII_PER_TOKEN) + len(text) - ascii_


def fits(text: str, limits: Limits) -> bool:
    """Whether ``text`` alone may be sent."""
    tokens = min(limits.item_tokens or inf, limits.tokens or inf)
    return estimate_tokens(text) <= tokens and _bytes(text) <= (limits.bytes or inf)


def pack(texts: Sequence[str], limits: Limits) -> Iterator[range]:
    """Runs of indices of ``texts``, in order, each within ``limits``: one request each.

    A text that alone passes a limit stands alone; the caller cuts it first (:func:`cut_to_fit`).
    """
    begin = 0
    tokens = size = 0
    for index, text in enumerate(texts):
        more_tokens, more_size = estimate_tokens(text), _bytes(text)
        full = (
            index - begin >= (limits.items or inf)
            or tokens + more_tokens > (limits.tokens or inf)
            or size + more_size > (limits.bytes or inf)
        )
        if full and index > begin:
            yield range(begin, index)
            begin, tokens, size = index, 0, 0
        tokens += more_tokens
        size += more_size
    if begin < len(texts):
        yield range(begin, len(texts))


def cut_to_fit(text: str, limits: Limits) -> str:
    """``text``, or as much of its start as may be sent, cut at a grapheme border."""
    if fits(text, limits):
        return text
    low, high = 0, len(text)
    while low < high:  # the longest prefix that fits
        middle = (low + high + 1) // 2
        if fits(text[:middle], limits):
            low = middle
        else:
            high = middle - 1
    for end in range(low, max(low - 200, 0), -1):
        if is_boundary(text, end):
            return text[:end]
    return text[: max(low, 1)]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
