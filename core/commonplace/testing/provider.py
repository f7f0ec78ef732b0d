"""The laws of embedding providers: vectors, identity, failures."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import combinations
from math import fsum, sqrt
from typing import TYPE_CHECKING, ClassVar, cast, get_args

import pytest
from attrs import evolve
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from commonplace.embedding.vectors import checked, floats
from commonplace.errors import DeadlineExceededError, ProviderError, ProviderErrorKind
from commonplace.protocols.providers import ProviderContext, Purpose
from commonplace.resilience.deadline import Deadline
from commonplace.testing.base import Laws, law, watched_network

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace.protocols.providers import BatchProvider, EmbeddingProvider, RemoteProvider


KEY = "conformance-key-0123456789"
"""Stands in for a secret: no error, name or fingerprint may hold it."""

TEXTS = (
    "the ant carries a leaf",
    "where is the code of the door?",
    "\u8766\u87fb\u306f\u8449\u3092\u904b\u3076",
    "a list:\n- one\n- two\n",
    "\u05e9\u05dc\u05d5\u05dd \U0001f41c",
)

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


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


_ODD = (
    *("0", "\0", "nul \0 in the middle", "\u0301", "e\u0301\u0301\u0301", "\u202eevil"),
    *("\ufeff\u200b mark", "\ud800 half a pair", "\U0001f468\u200d\U0001f469\u200d\U0001f467"),
    *("\x01\x02\x7f", '{"input": ["no"]}', "<|endoftext|> [CLS] </s>"),
    *("caf\u00e9 and cafe\u0301", "\n\n\ttabs\r\n"),
)
_MOST = 2_048


def _unless_refused(provider: EmbeddingProvider, texts: list[str]) -> list[bytes] | None:
    """The vectors, or ``None`` where the texts are said to be at fault."""
    try:
        return embedded(provider, texts)
    except ProviderError as error:
        if error.kind in {"bad_request", "too_large", "protocol"}:
            return None
        raise


def _same_vectors(one: EmbeddingProvider, other: EmbeddingProvider) -> bool:
    try:
        return all(
            all(map(alike, embedded(one, TEXTS, purpose), embedded(other, TEXTS, purpose)))
            for purpose in ("query", "document")
        )
    except ProviderError:
        return False


class EmbeddingProviderConformance(Laws):
    """The laws of embedding providers: subclass it, and name the class ``Test...``.

    ``make_provider(context)`` builds the provider, as a registration's factory does. If it needs a
    server or a model, ``context()`` names one on this machine: no law uses the network.
    ``variants()`` and ``failures()`` may add settings that change vectors, and settings that cannot
    work. ``settings`` are Hypothesis's.
    """

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
        return {"no server listens": evolve(self.context(), base_url="http://127.0.0.1:9")}

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
        count = min(provider.limits.items or 64, _MOST)
        texts = [f"note {number}" for number in range(count)]
        vectors = embedded(provider, texts)
        for at in {0, count // 2, count - 1}:
            assert alike(vectors[at], embedded(provider, [texts[at]])[0])

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
        with ThreadPoolExecutor(min(provider.concurrency, 16)) as pool:
            asked = [
                (at % len(TEXTS), pool.submit(embedded, provider, [TEXTS[at % len(TEXTS)]]))
                for at in range(24)
            ]
            assert all(alike(usual[at], one.result()[0]) for at, one in asked)

    @law()
    def test_what_it_is_costs_no_network(self, provider: EmbeddingProvider) -> None:
        """All that is asked before a first ``embed`` is answered without a connection."""
        del provider
        with watched_network() as tried, self.opened() as fresh:
            assert fresh.fingerprint()
            assert fresh.model.strip()
            assert fresh.limits is not None
            assert fresh.concurrency
        assert tried == []

    @law()
    def test_the_fingerprint_stays(self, provider: EmbeddingProvider) -> None:
        """One line, the same before and after embedding, and for every provider of its settings."""
        before = provider.fingerprint()
        assert before.strip()
        assert "\n" not in before
        embedded(provider, TEXTS[:1])
        assert provider.fingerprint() == before
        with self.opened() as other:
            assert other.fingerprint() == before

    @law()
    def test_other_vectors_have_another_fingerprint(self, provider: EmbeddingProvider) -> None:
        """Whatever changes vectors changes the fingerprint: all variants differ.

        Vectors of equal fingerprints are compared with each other; a search among vectors of
        another model gives nonsense, and nothing shows it.
        """
        del provider
        with self.all_variants() as variants:
            for (name, one), (other_name, other) in combinations(variants.items(), 2):
                if one.fingerprint() == other.fingerprint():
                    assert _same_vectors(one, other), f"{name} and {other_name} have the same one"

    @law()
    def test_variants_are_variants(self, provider: EmbeddingProvider) -> None:
        """They make other vectors; else the law about fingerprints would check nothing."""
        with self.all_variants() as variants:
            del variants["usual"]
            assert variants
            for name, variant in variants.items():
                assert not _same_vectors(provider, variant), f"{name} changes nothing"

    @law()
    def test_a_length_asked_for_is_given(self, provider: EmbeddingProvider) -> None:
        """Where settings ask for a length of vectors, vectors are of that length or refused."""
        del provider
        with self.all_variants() as variants:
            contexts = {"usual": self.context(), **self.variants()}
            for name, variant in variants.items():
                dims = contexts[name].dims
                if dims is not None:
                    assert len(embedded(variant, TEXTS[:1])[0]) == 4 * dims, name

    @law()
    def test_a_key_is_no_part_of_it(self, provider: EmbeddingProvider) -> None:
        """Neither fingerprint nor ``repr`` hold the key, and with another one they are the same."""
        key = self.context().api_key or ""
        for text in (provider.fingerprint(), repr(provider), provider.model):
            assert not key or key not in text
        context = evolve(self.context(), api_key=f"other-{key[::-1]}")
        with closing(self.make_provider(context)) as other:
            assert other.fingerprint() == provider.fingerprint()

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
    def test_headers_are_a_part_of_it(self, provider: EmbeddingProvider) -> None:
        """Gateways choose the model by a header: with another it is another, and shows no value."""
        if "remote" not in provider.capabilities:
            pytest.skip("the provider sends no headers")
        fingerprints = {provider.fingerprint()}
        for value in (f"one-{KEY}", f"two-{KEY}"):
            context = evolve(self.context(), headers={"X-Route": value})
            with closing(self.make_provider(context)) as other:
                fingerprints.add(other.fingerprint())
        assert len(fingerprints) == 3
        assert KEY not in "".join(fingerprints)

    @law()
    def test_without_time_nothing_is_asked(self, provider: EmbeddingProvider) -> None:
        """A passed deadline is ``DeadlineExceededError`` or kind ``timeout``; nothing is asked."""
        del provider
        late = Deadline(0.0, clock=lambda: 1.0)
        with watched_network() as tried, self.opened() as fresh:
            for purpose in PURPOSES:
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
        assert self.failures(), "there is always something that can fail"
        return {name: self._error(name, context) for name, context in self.failures().items()}

    def _error(self, name: str, context: ProviderContext) -> ProviderError:
        try:
            with closing(self.make_provider(context)) as broken:
                broken.embed(TEXTS[:1], purpose="document", deadline=soon())
        except ProviderError as error:
            return error
        pytest.fail(f"{name}: there are vectors all the same")
