"""Providers that are broken in what they ask a server, and in their batch jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import httpx
import pytest
from tests.conformance.test_broken_providers import BROKEN as BROKEN_OTHERWISE
from tests.conformance.test_broken_providers import Bench, Purpose, Sound, Vectors

from commonplace.errors import ProviderError
from commonplace.protocols.providers import BatchLimits, BatchLine, BatchState
from commonplace.testing import EmbeddingProviderConformance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from commonplace.errors import ProviderErrorKind
    from commonplace.resilience.deadline import Deadline


class Asks(Sound):
    """Asks the server that ``base_url`` names, if there is one, and has only errors for answers."""

    kinds: ClassVar[Mapping[int, ProviderErrorKind]] = {
        401: "auth",
        404: "not_found",
        413: "too_large",
        429: "rate_limit",
        500: "unavailable",
        503: "unavailable",
    }

    def vectors(self, texts: list[str], purpose: Purpose) -> Vectors:
        if url := self.context.base_url:
            self.read(self.response(url))
        return super().vectors(texts, purpose)

    def response(self, url: str) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.context.api_key}"}
        try:
            return httpx.post(f"{url}/embed", headers=headers, json={})
        except httpx.HTTPError:
            raise self.refused("unavailable") from None

    def read(self, response: httpx.Response) -> None:
        kind: ProviderErrorKind = "protocol" if response.status_code == 200 else "bad_request"
        seconds = response.headers.get("retry-after")
        raise self.refused(self.kinds.get(response.status_code, kind), seconds)

    def refused(self, kind: ProviderErrorKind, seconds: str | None = None) -> ProviderError:
        wait = float(seconds) if seconds else None
        return ProviderError("no", provider="sound", kind=kind, retry_after=wait)


class GivesUpWhereItShouldWait(Asks):
    kinds: ClassVar[Mapping[int, ProviderErrorKind]] = {**Asks.kinds, 429: "bad_request"}


class TriesAWrongKeyAgain(Asks):
    kinds: ClassVar[Mapping[int, ProviderErrorKind]] = {**Asks.kinds, 401: "unavailable"}


class ForgetsHowLongToWait(Asks):
    def refused(self, kind: ProviderErrorKind, seconds: str | None = None) -> ProviderError:
        return super().refused(kind)


class TakesAnyPageForAnAnswer(Asks):
    def read(self, response: httpx.Response) -> None:
        if response.status_code == 200:
            response.json()["data"]
        super().read(response)


class BreaksWhereTheAnswerIsCutOff(Asks):
    def response(self, url: str) -> httpx.Response:
        return httpx.post(f"{url}/embed", json={})


class AsksAgainByItself(Asks):
    def response(self, url: str) -> httpx.Response:
        first = super().response(url)
        return super().response(url) if first.status_code == 503 else first


class SendsItsKeyOn(Asks):
    def response(self, url: str) -> httpx.Response:
        headers = {"x-api-key": str(self.context.api_key)}
        try:
            return httpx.post(f"{url}/embed", headers=headers, json={}, follow_redirects=True)
        except httpx.HTTPError:
            raise self.refused("unavailable") from None


class Jobs:
    """Jobs that are done at once, with the vectors of the provider."""

    limits = BatchLimits()

    def __init__(self, provider: HasJobs) -> None:
        self.provider = provider
        self.held: dict[str, dict[str, str]] = {}

    def submit(self, name: str, lines: Mapping[str, str], *, deadline: Deadline) -> str:
        self.held[name] = dict(lines)
        return name

    def find(self, name: str, *, deadline: Deadline) -> str | None:
        return name if name in self.held else None

    def poll(self, job: str, *, deadline: Deadline) -> BatchState:
        return BatchState("done")

    def collect(self, job: str, *, deadline: Deadline) -> Iterator[BatchLine]:
        prefix = self.provider.prefix("document")
        for id_, text in self.held[job].items():
            yield BatchLine(id_, self.provider.vector(prefix + text))

    def cancel(self, job: str, *, deadline: Deadline) -> None:
        pass

    def clean(self, job: str, *, deadline: Deadline) -> None:
        self.held.pop(job, None)


class HasJobs(Sound):
    capabilities = frozenset({"batches", "remote"})
    jobs: type[Jobs] = Jobs

    def batches(self) -> Jobs:
        return self.jobs(self)


class SortsTheLines(HasJobs):
    class jobs(Jobs):  # noqa: N801 - it takes the place of the attribute
        def submit(self, name: str, lines: Mapping[str, str], *, deadline: Deadline) -> str:
            texts = dict(zip(sorted(lines), lines.values(), strict=True))
            return super().submit(name, texts, deadline=deadline)


class LosesALine(HasJobs):
    class jobs(Jobs):  # noqa: N801 - as above
        def collect(self, job: str, *, deadline: Deadline) -> Iterator[BatchLine]:
            yield from list(super().collect(job, deadline=deadline))[:-1]


class FindsNoJob(HasJobs):
    class jobs(Jobs):  # noqa: N801 - as above
        def find(self, name: str, *, deadline: Deadline) -> str | None:
            return None


class FindsAnyJob(HasJobs):
    class jobs(Jobs):  # noqa: N801 - as above
        def find(self, name: str, *, deadline: Deadline) -> str | None:
            return next(iter(self.held), None)


class CleansOnce(HasJobs):
    class jobs(Jobs):  # noqa: N801 - as above
        def clean(self, job: str, *, deadline: Deadline) -> None:
            del self.held[job]


BROKEN: list[tuple[type[Sound], str]] = [
    (GivesUpWhereItShouldWait, "test_a_refusal_has_its_kind"),
    (TriesAWrongKeyAgain, "test_a_refusal_has_its_kind"),
    (ForgetsHowLongToWait, "test_a_refusal_has_its_kind"),
    (TakesAnyPageForAnAnswer, "test_a_refusal_has_its_kind"),
    (BreaksWhereTheAnswerIsCutOff, "test_a_refusal_has_its_kind"),
    (AsksAgainByItself, "test_a_refusal_has_its_kind"),
    (SendsItsKeyOn, "test_the_key_stays_with_its_server"),
    (SortsTheLines, "test_a_batch_job_gives_the_vectors_of_embed"),
    (LosesALine, "test_a_batch_job_gives_the_vectors_of_embed"),
    (FindsNoJob, "test_a_batch_job_gives_the_vectors_of_embed"),
    (FindsAnyJob, "test_a_batch_job_gives_the_vectors_of_embed"),
    (CleansOnce, "test_a_batch_job_gives_the_vectors_of_embed"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_the_law_catches(broken: type[Sound], law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(broken), law, lambda: broken.__name__) == "broken"


@pytest.mark.parametrize("law", sorted({law for _, law in BROKEN}))
def test_what_is_broken_here_was_sound_before(law: str, judge: Callable[..., str]) -> None:
    sound = HasJobs if "job" in law else Asks
    assert judge(Bench(sound), law, lambda: "", 8) == "kept"


def test_every_law_can_fail(all_laws: Callable[[type], set[str]]) -> None:
    caught = {law for _, law in (*BROKEN, *BROKEN_OTHERWISE)}
    assert caught == all_laws(EmbeddingProviderConformance)
