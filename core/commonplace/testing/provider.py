"""The laws of embedding providers: vectors, limits, threads, deadlines, failures."""

from __future__ import annotations

from contextlib import closing, suppress
from functools import partial
from itertools import combinations, product
from secrets import token_hex
from threading import Event
from typing import TYPE_CHECKING, cast, get_args

import pytest
from attrs import evolve
from hypothesis import strategies as st

from commonplace.embedding.vectors import checked
from commonplace.errors import DeadlineExceededError, ProviderError, ProviderErrorKind
from commonplace.testing.base import watched_network
from commonplace.testing.laws import law
from commonplace.testing.pressure import LATE, at_once

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.protocols.providers import (
        BatchProvider,
        EmbeddingProvider,
        ProviderContext,
        RemoteProvider,
    )


from commonplace.testing.provider_laws import (
    KEY,
    PURPOSES,
    TEXTS,
    IdentityLaws,
    ProviderLaws,
    Refusing,
    alike,
    embedded,
    soon,
)

_ODD = (
    *("0", "\0", "nul \0 in the middle", "\u0301", "e\u0301\u0301\u0301", "\u202eevil"),
    *("\ufeff\u200b mark", "\ud800 half a pair", "\U0001f468\u200d\U0001f469\u200d\U0001f467"),
    *("\x01\x02\x7f", '{"input": ["no"]}', "<|endoftext|> [CLS] </s>"),
    *("caf\u00e9 and cafe\u0301", "\n\n\ttabs\r\n"),
)
Refused = tuple[int, bytes, "Mapping[str, str]"]
_KINDS = frozenset(get_args(ProviderErrorKind))
_MAY_PASS = frozenset({"rate_limit", "unavailable", "timeout"})
_WAIT = {"retry-after": "7"}
_MESSAGE = b'{"error": {"message": "no"}, "message": "no"}'
_REFUSALS: dict[str, tuple[Refused, frozenset[str]]] = {
    "400": ((400, _MESSAGE, {}), _KINDS - _MAY_PASS),
    "401": ((401, _MESSAGE, {}), frozenset({"auth"})),
    "404": ((404, _MESSAGE, {}), frozenset({"not_found"})),
    "413": ((413, _MESSAGE, {}), frozenset({"too_large"})),
    "429": ((429, _MESSAGE, _WAIT), frozenset({"rate_limit", "quota"})),
    "500": ((500, b"<html>no</html>", {}), frozenset({"unavailable"})),
    "503": ((503, _MESSAGE, _WAIT), frozenset({"unavailable", "rate_limit"})),
    "a page instead of vectors": ((200, b"<html>sign in</html>", {}), _KINDS),
    "an empty object": ((200, b"{}", {}), _KINDS),
    "an answer that is cut off": ((200, b'{"da', {"content-length": "400"}), _KINDS),
}
"""By what a server does, its status, body and headers, and the kinds that this may be."""

_POLLS = 200
_POLL_SECONDS = 0.02
_MOST = 2_048
_UNLIMITED = 200  # texts where a provider knows no limit
_LONG = 25_000  # tokens, where a provider knows no limit


def _unless_refused(provider: EmbeddingProvider, texts: list[str]) -> list[bytes] | None:
    """The vectors, or ``None`` where the texts are said to be at fault."""
    try:
        return embedded(provider, texts)
    except ProviderError as error:
        if error.kind in {"bad_request", "too_large", "protocol"}:
            return None
        raise


class EmbeddingProviderConformance(IdentityLaws):
    """The laws of embedding providers: subclass it, and name the class ``Test...``.

    ``make_provider(context)`` builds the provider, as a registration's factory does. If it needs a
    server or a model, ``context()`` names one on this machine: no law uses the network.
    ``variants()`` and ``failures()`` may add settings that change vectors, and settings that cannot
    work: of a provider without the capability ``remote`` the usual ones are tried. ``settings`` are
    Hypothesis's.
    """

    hint = ProviderLaws.hint

    @law(count=st.integers(1, 9))
    def test_a_vector_for_each_text(self, provider: EmbeddingProvider, count: int) -> None:
        """As many as there are texts, all of one length, of finite numbers, none of length 0."""
        texts = [f"{TEXTS[number % len(TEXTS)]} {number}" for number in range(count)]
        vectors = embedded(provider, texts)
        assert len({len(vector) for vector in vectors}) == 1

    @law(order=st.permutations(range(len(TEXTS))))
    def test_vectors_come_in_the_order_of_the_texts(
        self, provider: EmbeddingProvider, order: list[int]
    ) -> None:
        """A text has the same vector wherever it stands, and whatever stands beside it."""
        usual = embedded(provider, TEXTS)
        turned = embedded(provider, [TEXTS[at] for at in order])
        assert all(alike(usual[at], vector) for at, vector in zip(order, turned, strict=True))

    @law()
    def test_a_text_alone_has_the_same_vector(self, provider: EmbeddingProvider) -> None:
        """As in a batch, and in a batch that holds it twice."""
        together = embedded(provider, TEXTS)
        for text, vector in zip(TEXTS, together, strict=True):
            assert alike(embedded(provider, (text,))[0], vector)
        twice = embedded(provider, [TEXTS[0], TEXTS[1], TEXTS[0]])
        assert alike(twice[0], twice[2])

    @law()
    def test_the_same_text_has_the_same_vector_again(self, provider: EmbeddingProvider) -> None:
        """From the same provider later, and from another one with the same settings."""
        first = embedded(provider, TEXTS)
        again = embedded(provider, list(TEXTS))
        assert all(map(alike, first, again))
        with self.opened() as other:
            assert all(map(alike, first, embedded(other, TEXTS)))

    @law()
    def test_other_texts_have_other_vectors(self, provider: EmbeddingProvider) -> None:
        """A vector tells texts apart."""
        vectors = embedded(provider, TEXTS)
        assert not any(alike(one, other) for one, other in combinations(vectors, 2))

    @law()
    def test_queries_and_documents_lie_in_one_space(self, provider: EmbeddingProvider) -> None:
        """Both purposes are served, by vectors of one length."""
        (query,) = embedded(provider, TEXTS[:1], "query")
        (document,) = embedded(provider, TEXTS[:1], "document")
        assert len(query) == len(document)
        assert alike(query, embedded(provider, TEXTS, "query")[0])

    @law()
    def test_a_request_may_be_as_large_as_declared(self, provider: EmbeddingProvider) -> None:
        """As many texts as ``limits.items`` says are taken at once, and kept in order."""
        limits = provider.limits
        count = min(limits.items or _UNLIMITED, _MOST)
        count = min(count, (limits.tokens or _MOST * 8) // 8, (limits.bytes or _MOST * 16) // 16)
        texts = [f"note {number}" for number in range(count)]
        vectors = embedded(provider, texts)
        parts = [texts[at : at + 97] for at in range(0, count, 97)]
        turned = [vector for part in parts for vector in embedded(provider, part)]
        assert all(map(alike, vectors, turned))

    @law()
    def test_a_text_is_embedded_to_its_end(self, provider: EmbeddingProvider) -> None:
        """As long as ``limits`` let it be: texts that differ in their last quarter differ.

        A text of more tokens than a model takes is cut, so that ``item_tokens`` must say so.
        """
        limits = provider.limits
        known = (limits.item_tokens, limits.tokens, limits.bytes and limits.bytes // 4)
        most = min(limit or _LONG for limit in known)
        begin = "the ant " * (most // 4)
        ends = ("and a bee " * (most // 14), "ten cats. " * (most // 14))
        one, other = (_unless_refused(provider, [begin + end]) for end in ends)
        if one is not None and other is not None:
            assert not alike(one[0], other[0]), f"of {most} tokens the end is not seen"

    @law()
    def test_an_odd_text_is_embedded_or_refused(self, provider: EmbeddingProvider) -> None:
        """It has a vector or a ``ProviderError``, and the texts beside it have their vectors."""
        usual = embedded(provider, TEXTS[:2])
        for odd in _ODD:
            beside = _unless_refused(provider, [TEXTS[0], odd, TEXTS[1]])
            if beside is not None:
                assert alike(beside[0], usual[0]), repr(odd)
                assert alike(beside[2], usual[1]), repr(odd)
        assert all(map(alike, usual, embedded(provider, TEXTS[:2])))

    @law()
    def test_a_text_too_long_is_embedded_or_refused(self, provider: EmbeddingProvider) -> None:
        """It is ``too_large``, or cut by the provider itself; the next text is embedded."""
        usual = embedded(provider, TEXTS[:1])
        _unless_refused(provider, ["the ant " * 30_000])
        assert alike(usual[0], embedded(provider, TEXTS[:1])[0])

    @law()
    def test_requests_at_once_do_not_meet(self, provider: EmbeddingProvider) -> None:
        """As many threads as ``concurrency`` allows get each their own vectors."""
        if provider.concurrency == 1:
            pytest.skip("the provider takes one request at a time")
        usual = embedded(provider, TEXTS)
        threads = min(provider.concurrency, 16)
        asked = [partial(embedded, provider, [TEXTS[at % len(TEXTS)]]) for at in range(threads)]
        for at, answers in enumerate(at_once(provider, asked)):
            assert all(alike(usual[at % len(TEXTS)], answer[0]) for answer in answers)

    @law()
    def test_limits_can_be_kept(self, provider: EmbeddingProvider) -> None:
        """Every limit that is known lets at least one text through; times are above 0."""
        limits = provider.limits
        for most in (limits.items, limits.tokens, limits.bytes, limits.item_tokens):
            assert most is None or most >= 1
        if limits.tokens is not None and limits.item_tokens is not None:
            assert limits.item_tokens <= limits.tokens
        assert limits.query_seconds > 0
        assert limits.request_seconds > 0
        assert limits.wait_seconds > 0
        assert provider.concurrency >= 1

    @law()
    def test_declared_batch_jobs_are_there(self, provider: EmbeddingProvider) -> None:
        """``batches()`` is there if the capability is declared, and costs no network."""
        assert isinstance(provider.capabilities, frozenset)
        assert provider.capabilities <= {"batches", "remote"}
        assert ("batches" in provider.capabilities) == hasattr(provider, "batches")
        if "batches" in provider.capabilities:
            with watched_network() as tried:
                assert min(cast("BatchProvider", provider).batches().limits) > 0
            assert tried == []

    @law()
    def test_a_batch_job_gives_the_vectors_of_embed(self, provider: EmbeddingProvider) -> None:
        """Each line is answered once, by the vector that its text has as a document.

        The job is found by its name, and may be cleaned up twice. The law is skipped where the
        server has no batch jobs, or is not done after some seconds.
        """
        if "batches" not in provider.capabilities:
            pytest.skip("the provider does not declare batches")
        jobs = cast("BatchProvider", provider).batches()
        texts = {f"line-{7 - at}": text for at, text in enumerate(TEXTS)}
        name = f"conformance-{token_hex(8)}"
        try:
            job = jobs.submit(name, texts, deadline=soon())
        except ProviderError as error:
            if error.status in {404, 405, 501}:
                pytest.skip("the server has no batch jobs")
            raise
        assert jobs.find(name, deadline=soon()), "it is not found by its name"
        assert jobs.find(f"{name}-2", deadline=soon()) is None, "another name finds it, too"
        for _ in range(_POLLS):
            if (state := jobs.poll(job, deadline=soon())).state != "running":
                break
            Event().wait(_POLL_SECONDS)
        else:
            pytest.skip("the job is still running")
        assert state.state == "done", state.reason
        lines = list(jobs.collect(job, deadline=soon()))
        assert sorted(line.custom_id for line in lines) == sorted(texts)
        for line in lines:
            assert line.vector is not None, f"{line.custom_id}: {line.error}"
            vector = checked([line.vector], count=1, dims=None, provider="under test")[0]
            usual = embedded(provider, [texts[line.custom_id]])[0]
            assert alike(vector, usual), f"{line.custom_id} has the vector of another text"
        for _ in range(2):
            jobs.clean(job, deadline=soon())

    @law()
    def test_a_refusal_has_its_kind(self, provider: EmbeddingProvider) -> None:
        """Only what may pass by itself is of a kind that is tried again, and no answer is a crash.

        A server on this machine answers with 401 (``auth``), 404 (``not_found``), 413
        (``too_large``), 429 (``rate_limit`` or ``quota``), 5xx (``unavailable``), and with what is
        no answer. ``retry_after`` is what the server asks for. The request is made once: trying
        again is the host's.
        """
        self._need_requests(provider)
        for name, ((status, body, headers), kinds) in _REFUSALS.items():
            with Refusing(status, body, headers).running() as server:
                error = self._error(name, self._at(server))
            assert error.kind in kinds, f"{name} is of kind {error.kind!r}"
            if headers is _WAIT:
                assert error.retry_after == 7, f"{name}: retry_after is {error.retry_after}"
            if error.kind in _MAY_PASS:
                assert len(set(server.asked)) == len(server.asked), f"{name}: it was asked again"

    @law()
    def test_the_key_stays_with_its_server(self, provider: EmbeddingProvider) -> None:
        """A server that sends requests on to another one gives no key away."""
        self._need_requests(provider)
        key = self.context().api_key
        if not key:
            pytest.skip("the provider has no key")
        with Refusing(200).running() as other:
            there = {"location": f"{other.url}/elsewhere"}
            with Refusing(307, b"", there).running() as server:
                self._error("a server that redirects", self._at(server))
                if key not in server.heard:
                    pytest.skip("no key is sent to base_url")
        assert key not in other.heard, "the key was sent on to another server"

    def _need_requests(self, provider: EmbeddingProvider) -> None:
        if "remote" not in provider.capabilities:
            pytest.skip("the provider asks no server")
        with Refusing(500).running() as server:
            with suppress(Exception), closing(self.make_provider(self._at(server))) as asking:
                embedded(asking, TEXTS[:1])
            if not server.asked:
                pytest.skip("base_url is not the address that is asked")

    def _at(self, server: Refusing) -> ProviderContext:
        return evolve(self.context(), base_url=server.url, transport=None)

    @law()
    def test_where_texts_go_is_declared(self, provider: EmbeddingProvider) -> None:
        """``remote`` if a connection is made to embed a text; ``host`` names it without the key."""
        assert ("remote" in provider.capabilities) == hasattr(provider, "host")
        with watched_network() as tried, self.opened() as fresh, suppress(ProviderError):
            embedded(fresh, TEXTS[:1])
        assert not tried or "remote" in provider.capabilities, tried
        if "remote" in provider.capabilities:
            host = cast("RemoteProvider", provider).host
            assert not host or ("://" in host and KEY not in host)

    @law()
    def test_without_time_nothing_is_asked(self, provider: EmbeddingProvider) -> None:
        """Expired or cancelled is ``DeadlineExceededError`` or ``timeout``; nothing is asked."""
        del provider
        with watched_network() as tried, self.opened() as fresh:
            for purpose, late in product(PURPOSES, LATE.values()):
                with pytest.raises((ProviderError, DeadlineExceededError)) as raised:
                    fresh.embed(TEXTS[:1], purpose=purpose, deadline=late)
                assert getattr(raised.value, "kind", "timeout") == "timeout"
        assert tried == []

    @law()
    def test_what_fails_says_so(self, provider: EmbeddingProvider) -> None:
        """Settings that cannot work raise a ``ProviderError`` of one line, with name and kind."""
        del provider
        for name, error in self._errors().items():
            assert error.provider.strip(), name
            assert error.kind in get_args(ProviderErrorKind), name
            assert str(error).strip(), name
            assert "\n" not in str(error) + error.hint, name

    @law()
    def test_no_error_holds_the_key(self, provider: EmbeddingProvider) -> None:
        """Not in its words, nor in what it was raised from."""
        del provider
        key = self.context().api_key
        if not key:
            pytest.skip("the provider has no key")
        for name, error in self._errors().items():
            texts: list[str] = []
            waiting: list[BaseException | None] = [error]
            while waiting:
                one = waiting.pop()
                if one is not None:
                    texts += [str(one), repr(one), repr(one.args), repr(vars(one))]
                    waiting += [one.__cause__, one.__context__]
            assert not any(key in text for text in texts), name

    @law()
    def test_closing_twice_is_fine(self, provider: EmbeddingProvider) -> None:
        """``close`` may be called again and again, also where nothing was ever embedded."""
        for _ in range(3):
            provider.close()
        with self.opened() as other:
            other.embed(TEXTS[:1], purpose="document", deadline=soon())
            for _ in range(3):
                other.close()

    def _errors(self) -> dict[str, ProviderError]:
        failures = self.failures()
        if not failures and not self.is_remote():
            pytest.skip("only its author knows which settings cannot work")
        assert failures, "there is always something that can fail"
        return {name: self._error(name, context) for name, context in failures.items()}

    def _error(self, name: str, context: ProviderContext) -> ProviderError:
        try:
            with closing(self.make_provider(context)) as broken:
                broken.embed(TEXTS[:1], purpose="document", deadline=soon())
        except ProviderError as error:
            return error
        pytest.fail(f"{name}: there are vectors all the same")
