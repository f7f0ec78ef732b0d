"""What all laws of embedding providers stand on, and those of identity: who made a vector."""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from math import fsum, sqrt
from threading import Thread
from typing import TYPE_CHECKING, ClassVar, Self, get_args

import pytest
from attrs import evolve
from hypothesis import settings as hypothesis_settings

from commonplace.embedding.vectors import checked, floats
from commonplace.errors import ProviderError
from commonplace.protocols.providers import ProviderContext, Purpose
from commonplace.resilience.deadline import Deadline
from commonplace.testing.base import watched_network
from commonplace.testing.laws import Laws, law
from commonplace.testing.pressure import elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace.protocols.providers import EmbeddingProvider


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


def _same_vectors(one: EmbeddingProvider, other: EmbeddingProvider) -> bool:
    try:
        return all(
            all(map(alike, embedded(one, TEXTS, purpose), embedded(other, TEXTS, purpose)))
            for purpose in ("query", "document")
        )
    except ProviderError:
        return False


class Refusing(ThreadingHTTPServer):
    """A server on this machine that gives one answer to whatever it is asked.

    ``asked`` are the methods and paths of the requests, ``heard`` all that their headers held.
    """

    daemon_threads = True

    def __init__(
        self, status: int, body: bytes = b"{}", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Refusal)
        self.answer = status, body, {"content-length": str(len(body)), **(headers or {})}
        self.asked: list[str] = []
        self.heard = ""

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self.server_port}"

    @contextmanager
    def running(self) -> Iterator[Self]:
        """The server, while it answers."""
        thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()


class _Refusal(BaseHTTPRequestHandler):
    server: Refusing

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.asked.append(f"{self.command} {self.path}")
        self.server.heard += f"{self.path}\n{self.headers}"
        status, body, headers = self.server.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True
        return False  # it is answered

    def log_message(self, *_: object) -> None:
        pass


class ProviderLaws(Laws):
    """What all laws of providers stand on."""

    hint: ClassVar[str] = "EmbeddingProvider in commonplace.plugin says what the host relies on"
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

        Override it to add models, lengths of vectors, and options of your own. A provider that
        sends texts to a server puts prefixes before them; of one that works on this machine it is
        not known what it takes, and those that change something are tried.
        """
        usual = self.context()
        prefixes = {
            "query prefix": evolve(usual, query_prefix="find: "),
            "document prefix": evolve(usual, document_prefix="keep: "),
        }
        if self.is_remote():
            return prefixes
        return self.changing({**prefixes, "dimensions": evolve(usual, dims=64)})

    def failures(self) -> Mapping[str, ProviderContext]:
        """Settings with which nothing can be embedded, by what is wrong with them.

        A provider that works on this machine needs no server. Override it for one to name settings
        of its own that cannot work.
        """
        usual = self.context()
        dead = {"no server listens": evolve(usual, base_url="http://127.0.0.1:9")}
        if self.is_remote():
            return dead
        return self.failing({**dead, "a model that there is not": evolve(usual, model="no-such")})

    def is_remote(self) -> bool:
        """Whether the provider declares that it sends texts to a server."""
        with self.opened() as provider:
            return "remote" in provider.capabilities

    def changing(self, candidates: Mapping[str, ProviderContext]) -> dict[str, ProviderContext]:
        """Those of ``candidates`` that make other vectors than the usual settings."""
        known = self._vectors(self.context())
        tried = {name: self._vectors(context) for name, context in candidates.items()}
        return {
            name: candidates[name]
            for name, vectors in tried.items()
            if vectors and not (len(vectors) == len(known) and all(map(alike, vectors, known)))
        }

    def failing(self, candidates: Mapping[str, ProviderContext]) -> dict[str, ProviderContext]:
        """Those of ``candidates`` with which there are no vectors, whatever is raised."""
        return {name: context for name, context in candidates.items() if not self._vectors(context)}

    def _vectors(self, context: ProviderContext) -> list[bytes]:
        """Vectors of a text for each purpose, none where ``context`` cannot work."""
        with suppress(Exception), closing(self.make_provider(context)) as provider:
            return [embedded(provider, TEXTS[:1], purpose)[0] for purpose in PURPOSES]
        return []

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


class IdentityLaws(ProviderLaws):
    """``fingerprint`` and whatever else is said before anything is embedded."""

    hint = "a fingerprint names all that decides a vector, by value, and nothing else"

    @law()
    def test_what_it_is_costs_no_network(self, provider: EmbeddingProvider) -> None:
        """All that is asked before a first ``embed`` is answered without a connection."""
        del provider
        with watched_network() as tried, self.opened() as fresh:
            assert fresh.fingerprint()
            assert fresh.model.strip()
            assert fresh.limits is not None
            assert fresh.concurrency
            assert isinstance(fresh.capabilities, frozenset)
            assert getattr(fresh, "host", "") is not None
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
            if not variants and "remote" not in provider.capabilities:
                pytest.skip("only its author knows which settings change vectors")
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
    def test_any_setting_that_changes_vectors_changes_the_fingerprint(
        self, provider: EmbeddingProvider
    ) -> None:
        """Other lengths and another model, tried whether they are declared as variants or not.

        Settings with which nothing can be embedded are left out; lengths count as other vectors.
        """
        usual = len(embedded(provider, TEXTS[:1])[0]) // 4
        context = self.context()
        tried = {
            f"dims {dims}": evolve(context, dims=dims) for dims in (usual // 2, usual - 1) if dims
        }
        tried["model"] = evolve(context, model=f"{context.model or provider.model}-2")
        tried["both prefixes"] = evolve(context, query_prefix="q: ", document_prefix="d: ")
        made = {provider.fingerprint(): ("usual", provider)}
        with ExitStack() as stack:
            for name, other_context in tried.items():
                with suppress(Exception):
                    other = stack.enter_context(closing(self.make_provider(other_context)))
                    embedded(other, TEXTS[:1])
                    known, like = made.setdefault(other.fingerprint(), (name, other))
                    same = known == name or _same_vectors(like, other)
                    if not same:
                        pytest.fail(f"{name} and {known} have other vectors and one fingerprint")

    @law()
    def test_another_process_gives_the_same(self, provider: EmbeddingProvider) -> None:
        """Fingerprint and vectors hang on no hash seed and no address: both are kept on disk."""
        fingerprint, vectors = self._of_a_new_one()
        for other, others in elsewhere(self, provider, "_of_a_new_one"):
            assert other == fingerprint
            assert all(map(alike, others, vectors))

    def _of_a_new_one(self) -> tuple[str, list[bytes]]:
        with self.opened() as provider:
            return provider.fingerprint(), embedded(provider, TEXTS)
