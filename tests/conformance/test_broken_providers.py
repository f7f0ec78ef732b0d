from __future__ import annotations

import socket
import threading
from contextlib import suppress
from hashlib import shake_128
from itertools import count
from math import nan
from typing import TYPE_CHECKING, Literal

import pytest
from attrs import evolve

from commonplace.errors import ProviderError
from commonplace.protocols.providers import Limits
from commonplace.resilience.deadline import NEVER
from commonplace.testing import EmbeddingProviderConformance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.protocols.providers import ProviderContext
    from commonplace.resilience.deadline import Deadline

Purpose = Literal["query", "document"]
Vectors = list[list[float]]


class Sound:
    """What is broken below: it keeps every law as it is."""

    limits = Limits(items=16, tokens=100_000, item_tokens=1000)
    capabilities: frozenset[str] = frozenset({"remote"})
    host = "https://sound.test"
    concurrency = 4

    def __init__(self, context: ProviderContext) -> None:
        self.context = context
        self.calls = count()

    @property
    def model(self) -> str:
        return self.context.model or "sound"

    @property
    def dims(self) -> int:
        return self.context.dims or 8

    def fingerprint(self) -> str:
        return f"{self.prompts()} {shake_128(repr(self.context.headers).encode()).hexdigest(8)}"

    def prompts(self) -> str:
        return (
            f"sound {self.model} {self.dims} {self.prefix('query')!r} {self.prefix('document')!r}"
        )

    def prefix(self, purpose: Purpose) -> str:
        given = self.context.query_prefix if purpose == "query" else self.context.document_prefix
        return given or ""

    def embed(self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline) -> Vectors:
        if deadline.expired:
            raise self.error("timeout", "no time was left")
        if (self.context.base_url or "").endswith(":9"):
            raise self.error("unavailable", "no server listens")
        if len(texts) > 16 or any(len(text) > 10_000 for text in texts):
            raise self.error("too_large", "too much")
        return self.vectors([self.prefix(purpose) + text for text in texts], purpose)

    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        raw = shake_128(f"{self.model} {text}".encode("utf-8", "replace")).digest(self.dims)
        return [byte - 127.5 for byte in raw]

    def error(
        self, kind: Literal["timeout", "unavailable", "too_large"], message: str
    ) -> ProviderError:
        return ProviderError(message, provider="sound", kind=kind)

    def close(self) -> None:
        pass


class LosesAVector(Sound):
    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        return super().vectors(texts, purpose)[:4]


class GivesNoNumbers(Sound):
    def vector(self, text: str) -> list[float]:
        return [nan, *super().vector(text)[1:]]


class GivesAnyLength(Sound):
    def vector(self, text: str) -> list[float]:
        return super().vector(text)[: 6 + len(text) % 3]


class SortsTheTexts(Sound):
    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        return super().vectors(sorted(texts), purpose)


class MixesTheBatch(Sound):
    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        made = super().vectors(texts, purpose)
        sums = [sum(column) / 2 for column in zip(*made, strict=True)]
        return [[a + b for a, b in zip(one, sums, strict=True)] for one in made]


class AddsNoise(Sound):
    def vector(self, text: str) -> list[float]:
        first, *rest = super().vector(text)
        return [first + 10 * next(self.calls), *rest]


class ForgetsTheText(Sound):
    def vector(self, text: str) -> list[float]:
        return super().vector("")


class ShortensQueries(Sound):
    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        return [one[: 4 if purpose == "query" else 8] for one in super().vectors(texts, purpose)]


class TakesFewerThanItSays(Sound):
    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        if len(texts) > 10:
            raise self.error("too_large", "too many")
        return super().vectors(texts, purpose)


class FailsForHalfAPair(Sound):
    def vector(self, text: str) -> list[float]:
        return super().vector(text.encode().decode())


class SkipsWhatHasNoLetters(Sound):
    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        kept = [text for text in texts if text.isprintable()]
        kept += ["padding"] * (len(texts) - len(kept))
        return super().vectors(kept, purpose)


class BreaksOnLongTexts(Sound):
    def embed(self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline) -> Vectors:
        if any(len(text) > 100_000 for text in texts):
            raise OverflowError("text too long")
        return super().embed(texts, purpose=purpose, deadline=deadline)


class KnowsOneThread(Sound):
    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        if threading.current_thread() is not threading.main_thread():
            texts = ["of another thread"] * len(texts)
        return super().vectors(texts, purpose)


class AsksWhoItIs(Sound):
    def fingerprint(self) -> str:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", 9), timeout=1).close()
        return super().fingerprint()


class CountsCalls(Sound):
    def vector(self, text: str) -> list[float]:
        next(self.calls)
        return super().vector(text)

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} {self.calls!r}"


class ForgetsThePrefixes(Sound):
    def fingerprint(self) -> str:
        return f"sound {self.model} {self.dims}"


class ForgetsTheModel(Sound):
    def fingerprint(self) -> str:
        return super().fingerprint().replace(f" {self.model} ", " ")


class IgnoresThePrefixes(Sound):
    def prefix(self, purpose: Purpose) -> str:
        return ""


class IgnoresTheLength(Sound):
    def vector(self, text: str) -> list[float]:
        return [*super().vector(text), 1.0]


class ShowsItsKey(Sound):
    def __repr__(self) -> str:
        return f"Sound({self.context.api_key!r})"


class HasAFingerprintOfItsKey(Sound):
    def fingerprint(self) -> str:
        return f"{super().fingerprint()} {hash(self.context.api_key)}"


class LetsNothingThrough(Sound):
    limits = Limits(items=0)


class NeverIsLate(Sound):
    def embed(self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline) -> Vectors:
        return super().vectors(list(texts), purpose)


class FailsInItsOwnWords(Sound):
    def error(self, kind: object, message: str) -> ProviderError:
        raise ConnectionError(message)


class GivesZerosWhereItFails(Sound):
    def embed(self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline) -> Vectors:
        try:
            return super().embed(texts, purpose=purpose, deadline=deadline)
        except ProviderError as error:
            if error.kind == "unavailable":
                return [[0.0] * self.dims for _ in texts]
            raise


class TellsItsKey(Sound):
    def error(
        self, kind: Literal["timeout", "unavailable", "too_large"], message: str
    ) -> ProviderError:
        return super().error(kind, f"{message} ({self.context.api_key})")


class HandsItsKeyOn(Sound):
    def error(
        self, kind: Literal["timeout", "unavailable", "too_large"], message: str
    ) -> ProviderError:
        error = super().error(kind, message)
        error.__cause__ = ValueError(f"Bearer {self.context.api_key}")
        return error


class ClosesOnce(Sound):
    closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True


class ForgetsTheHeaders(Sound):
    def fingerprint(self) -> str:
        return self.prompts()


class ShowsTheHeaders(Sound):
    def fingerprint(self) -> str:
        return f"{self.prompts()} {self.context.headers!r}"


class SendsUndeclared(Sound):
    capabilities = frozenset()

    def __getattribute__(self, name: str) -> object:
        if name == "host":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", 9)).close()
        return super().vectors(texts, purpose)


class HidesItsHost(Sound):
    host = "somewhere"


class DeclaresJobsItLacks(Sound):
    capabilities = frozenset({"batches", "remote"})


class HidesItsJobs(Sound):
    def batches(self) -> None:
        pass


class ForgetsTheLength(Sound):
    def prompts(self) -> str:
        return f"sound {self.model} {self.prefix('query')!r} {self.prefix('document')!r}"


class TakesAsManyAsComes(Sound):
    """Knows no limit; what is broken below is so for more texts than others send."""

    limits = Limits()

    def embed(self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline) -> Vectors:
        parts = [texts[at : at + 16] for at in range(0, len(texts), 16)]
        return [
            one
            for part in parts
            for one in super(TakesAsManyAsComes, self).embed(
                part, purpose=purpose, deadline=deadline
            )
        ]


class RepeatsItself(TakesAsManyAsComes):
    def embed(self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline) -> Vectors:
        made = super().embed(texts[:100], purpose=purpose, deadline=deadline)
        return [made[at % 100] for at in range(len(texts))]


class CutsTexts(Sound):
    def vector(self, text: str) -> list[float]:
        return super().vector(text[:1_500])


class SharesItsTexts(Sound):
    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        self.texts = texts
        return [self.vector(text) for text in self.texts]


class SeesTimeAlone(Sound):
    def embed(self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline) -> Vectors:
        deadline = NEVER if deadline.cancelled else deadline
        return super().embed(texts, purpose=purpose, deadline=deadline)


class IsNamedByHash(Sound):
    def prompts(self) -> str:
        return f"{super().prompts()} {hash(self.model) % 1000}"


class IsNamedByAddress(Sound):
    def prompts(self) -> str:
        return f"{super().prompts()} {id(Sound)}"


class EmbedsByHash(Sound):
    def vector(self, text: str) -> list[float]:
        return super().vector(f"{hash(text)}")


class NamesItsSettingsAnyhow(Sound):
    def prompts(self) -> str:
        return " ".join({super().prompts(), "sound", "and", "proper", "anyhow"})


BROKEN: list[tuple[type[Sound], str]] = [
    (LosesAVector, "test_a_vector_for_each_text"),
    (GivesNoNumbers, "test_a_vector_for_each_text"),
    (GivesAnyLength, "test_a_vector_for_each_text"),
    (SortsTheTexts, "test_vectors_come_in_the_order_of_the_texts"),
    (MixesTheBatch, "test_a_text_alone_has_the_same_vector"),
    (AddsNoise, "test_the_same_text_has_the_same_vector_again"),
    (ForgetsTheText, "test_other_texts_have_other_vectors"),
    (ShortensQueries, "test_queries_and_documents_lie_in_one_space"),
    (TakesFewerThanItSays, "test_a_request_may_be_as_large_as_declared"),
    (FailsForHalfAPair, "test_an_odd_text_is_embedded_or_refused"),
    (SkipsWhatHasNoLetters, "test_an_odd_text_is_embedded_or_refused"),
    (BreaksOnLongTexts, "test_a_text_too_long_is_embedded_or_refused"),
    (KnowsOneThread, "test_requests_at_once_do_not_meet"),
    (AsksWhoItIs, "test_what_it_is_costs_no_network"),
    (CountsCalls, "test_the_fingerprint_stays"),
    (ForgetsThePrefixes, "test_other_vectors_have_another_fingerprint"),
    (ForgetsTheModel, "test_other_vectors_have_another_fingerprint"),
    (IgnoresThePrefixes, "test_variants_are_variants"),
    (IgnoresTheLength, "test_a_length_asked_for_is_given"),
    (ShowsItsKey, "test_a_key_is_no_part_of_it"),
    (HasAFingerprintOfItsKey, "test_a_key_is_no_part_of_it"),
    (ForgetsTheHeaders, "test_headers_are_a_part_of_it"),
    (ShowsTheHeaders, "test_headers_are_a_part_of_it"),
    (SendsUndeclared, "test_where_texts_go_is_declared"),
    (HidesItsHost, "test_where_texts_go_is_declared"),
    (LetsNothingThrough, "test_limits_can_be_kept"),
    (DeclaresJobsItLacks, "test_declared_batch_jobs_are_there"),
    (HidesItsJobs, "test_declared_batch_jobs_are_there"),
    (NeverIsLate, "test_without_time_nothing_is_asked"),
    (FailsInItsOwnWords, "test_what_fails_says_so"),
    (GivesZerosWhereItFails, "test_what_fails_says_so"),
    (TellsItsKey, "test_no_error_holds_the_key"),
    (HandsItsKeyOn, "test_no_error_holds_the_key"),
    (ClosesOnce, "test_closing_twice_is_fine"),
    (ForgetsTheLength, "test_any_setting_that_changes_vectors_changes_the_fingerprint"),
    (RepeatsItself, "test_a_request_may_be_as_large_as_declared"),
    (CutsTexts, "test_a_text_is_embedded_to_its_end"),
    (SharesItsTexts, "test_requests_at_once_do_not_meet"),
    (SeesTimeAlone, "test_without_time_nothing_is_asked"),
    (IsNamedByHash, "test_another_process_gives_the_same"),
    (IsNamedByAddress, "test_another_process_gives_the_same"),
    (EmbedsByHash, "test_another_process_gives_the_same"),
    (NamesItsSettingsAnyhow, "test_another_process_gives_the_same"),
]


class Bench(EmbeddingProviderConformance):
    def __init__(self, broken: type[Sound]) -> None:
        self.broken = broken

    def make_provider(self, context: ProviderContext) -> Sound:
        return self.broken(context)

    def variants(self) -> Mapping[str, ProviderContext]:
        usual = self.context()
        return {
            **super().variants(),
            "model": evolve(usual, model="other"),
            "dims": evolve(usual, dims=6),
        }


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_the_law_catches(broken: type[Sound], law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(broken), law, lambda: broken.__name__) == "broken"


WORKS_HERE = [
    (ForgetsTheLength, "test_other_vectors_have_another_fingerprint"),
    (ForgetsThePrefixes, "test_other_vectors_have_another_fingerprint"),
    (IgnoresTheLength, "test_a_length_asked_for_is_given"),
    (FailsInItsOwnWords, "test_what_fails_says_so"),
    (GivesZerosWhereItFails, "test_what_fails_says_so"),
    (TellsItsKey, "test_no_error_holds_the_key"),
]


@pytest.mark.parametrize(("broken", "law"), WORKS_HERE)
def test_the_law_catches_one_that_works_on_this_machine(
    broken: type[Sound], law: str, judge: Callable[..., str]
) -> None:
    """Of it the settings are tried that are known to no author of a test."""

    class Plain(EmbeddingProviderConformance):
        def make_provider(self, context: ProviderContext) -> Sound:
            provider = broken(context)
            provider.capabilities = frozenset()
            return provider

    assert judge(Plain(), law, lambda: broken.__name__) == "broken"


@pytest.mark.parametrize("law", sorted({law for _, law in BROKEN}))
def test_what_is_broken_here_was_sound_before(law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(Sound), law, lambda: "", 8) == "kept"
