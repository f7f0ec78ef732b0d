"""A guarded provider: left alone while it fails, tried again, reported when that changes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.guarded import GuardedProvider
from commonplace.embedding.spaces import fingerprint_of, space_name, space_of
from commonplace.errors import IndexBusyError, ProviderError, UnavailableError
from commonplace.model.documents import SpaceInfo
from commonplace.protocols.providers import Limits
from commonplace.resilience.bounded_call import Worker
from commonplace.resilience.breaker import CircuitBreaker
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Provider:
    """One that says what it is."""

    model = "m"
    limits = Limits()
    capabilities: frozenset[str] = frozenset()
    concurrency = 1

    def __init__(self) -> None:
        self.closed = 0

    def fingerprint(self) -> str:
        return "p m"

    def embed(
        self, texts: Sequence[str], *, purpose: str, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        return [[1.0, 0.0] for _ in texts]

    def close(self) -> None:
        self.closed += 1


class Watched:
    """A link, its clock, and what was heard of it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.heard: list[tuple[str, str | None]] = []
        self.provider = Provider()
        breakers = [
            CircuitBreaker(clock=lambda: self.now, monotonic=lambda: self.now) for _ in range(2)
        ]
        self.link = GuardedProvider(
            "p",
            self.provider,
            breakers[0],
            indexing=breakers[1],
            changed=lambda id_, reason: self.heard.append((id_, reason)),
        )

    def fail(self, purpose: str = "query", retry_after: float | None = None) -> None:
        with pytest.raises(ProviderError), self.link.guarded(purpose):  # type: ignore[arg-type]  # one of the two
            raise ProviderError(
                "no", provider="p", kind="auth", retry_after=retry_after, hint="say please"
            )

    def succeed(self, purpose: str = "query") -> None:
        with self.link.guarded(purpose):  # type: ignore[arg-type]  # one of the two
            pass


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_it_shows_its_provider_and_closes_it(watched: Watched) -> None:
    assert watched.link.model == "m"
    assert watched.link.fingerprint() == "p m"
    watched.link.close()
    assert watched.provider.closed == 1


def test_while_it_fails_it_is_left_alone_and_says_why_and_since_when(watched: Watched) -> None:
    watched.fail()
    state = watched.link.state("query")
    assert (state.state, state.since) == ("open", 1000.0)
    assert state.reason == "no. Fix: say please"
    watched.now += 29
    with pytest.raises(ProviderError, match="left alone after failing: no"):
        watched.succeed()
    assert watched.link.state().since == 1000.0
    watched.now += 1
    watched.succeed()
    assert watched.link.state().state == "closed"


def test_queries_and_documents_fail_apart(watched: Watched) -> None:
    watched.fail("document")
    watched.succeed("query")
    assert watched.link.state("query").state == "closed"
    assert watched.link.state("document").state == "open"
    assert watched.link.state().state == "open"


def test_both_ends_of_a_failure_are_reported_once(watched: Watched) -> None:
    watched.fail("query")
    watched.fail("document")
    reason = "no. Fix: say please"
    assert watched.heard == [("p", reason)]
    watched.now += 30
    watched.succeed("query")
    assert len(watched.heard) == 1  # documents still fail
    watched.succeed("document")
    assert watched.heard == [("p", reason), ("p", None)]


def test_documents_that_are_embedded_end_a_failure_of_queries(watched: Watched) -> None:
    watched.fail("query", retry_after=3600)
    watched.succeed("document")
    assert (watched.link.state().state, watched.link.state().since) == ("closed", None)
    assert watched.heard[1:] == [("p", None)]


@pytest.mark.parametrize("error", [IndexBusyError("busy"), UnavailableError("x"), KeyError("y")])
def test_errors_of_other_parts_are_not_counted(watched: Watched, error: Exception) -> None:
    with pytest.raises(type(error)), watched.link.guarded("document"):
        raise error
    assert watched.link.state().state == "closed"
    watched.fail("document")
    watched.now += 30
    with pytest.raises(type(error)), watched.link.guarded("document"):
        raise error
    assert watched.link.state().state == "half-open"  # the probe showed nothing: the next one may


@pytest.mark.parametrize(("asked", "pause"), [(600.0, 600.0), (5.0, 30.0), (5e9, 3600.0)])
def test_a_pause_that_is_asked_for_is_kept_up_to_an_hour(
    watched: Watched, asked: float, pause: float
) -> None:
    watched.fail(retry_after=asked)
    watched.now += pause - 1
    assert watched.link.state().state == "open"
    watched.now += 1
    assert watched.link.state().state == "half-open"


@given(st.text(), st.integers(1, 5000))
def test_a_space_is_named_by_fingerprint_and_length(fingerprint: str, dims: int) -> None:
    assert fingerprint_of(space_name(fingerprint, dims)) == fingerprint


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "a#8", "b"]), st.integers(1, 9), st.integers(0, 9)),
        max_size=8,
    )
)
def test_the_best_covered_space_of_its_own_is_found_and_no_other_s(
    held: list[tuple[str, int, int]],
) -> None:
    spaces = [SpaceInfo(space_name(f, dims), dims, covered, 9) for f, dims, covered in held]
    found = space_of("a", spaces)
    own = [covered for fingerprint, _, covered in held if fingerprint == "a"]
    assert (found is None) == (not own)
    if found is not None:
        assert fingerprint_of(found.space) == "a"
        assert found.covered == max(own)


class Impatient(Watched):
    """A link whose time is over as soon as a query waits; its request ends when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []
        self.answer = threading.Event()
        breaker = CircuitBreaker(clock=lambda: self.now, monotonic=lambda: self.now)
        self.link = GuardedProvider(
            "p", self.provider, breaker, worker=Worker("p-query", wait=self.wait)
        )

    def wait(self, _: threading.Event, seconds: float) -> bool:
        self.waited.append(seconds)
        return False

    def ask(self, seconds: float) -> ProviderError:
        def slow(_: Deadline, _pauses: Deadline) -> str:
            with self.link.guarded("query"):
                self.answer.wait()
            return "late"

        with pytest.raises(ProviderError) as caught:
            self.link.waited(slow, Deadline.after(seconds, lambda: self.now))
        return caught.value


@pytest.fixture
def impatient() -> Iterator[Impatient]:
    made = Impatient()
    yield made
    made.answer.set()


def test_a_query_is_waited_for_two_seconds(impatient: Impatient) -> None:
    error = impatient.ask(25)
    assert impatient.waited == [2.0]
    assert (error.kind, str(error)) == ("timeout", "p: no answer came within 2 s")
    assert "query.embeddingSeconds" in error.hint
    assert impatient.link.state("query").state == "open"


def test_an_answer_that_comes_late_shows_that_the_provider_works(impatient: Impatient) -> None:
    impatient.ask(25)
    impatient.answer.set()
    for thread in threading.enumerate():
        if thread.name == "commonplace-p-query":
            thread.join()
    assert impatient.link.state("query").state == "closed"


def test_a_time_too_short_for_any_provider_is_no_failure_of_this_one(impatient: Impatient) -> None:
    error = impatient.ask(0.5)
    assert impatient.waited == [0.5]
    assert "query.embeddingSeconds" not in error.hint  # it is not what ended the wait
    assert impatient.link.state("query").state == "closed"


def test_a_time_that_is_configured_is_left_to_the_request() -> None:
    watched = Watched()
    link = GuardedProvider("p", watched.provider, CircuitBreaker(), query_seconds=3)
    deadline = Deadline.after(25, lambda: 0.0)
    assert link.waited(lambda given, _: given, deadline) is deadline


def test_a_failure_is_named_where_another_attempt_would_come_too_late() -> None:
    """A server that asks for a pause has not kept silent for two seconds."""

    class Busy(Provider):
        calls = 0

        def embed(
            self, texts: Sequence[str], *, purpose: str, deadline: Deadline
        ) -> Sequence[Sequence[float]]:
            self.calls += 1
            raise ProviderError("slow down", provider="p", kind="rate_limit", retry_after=3.0)

    provider = Busy()
    link = GuardedProvider("p", provider, CircuitBreaker())

    def ask(given: Deadline, pauses: Deadline) -> bytes:
        return link.query("text", deadline=given, pauses=pauses)

    with pytest.raises(ProviderError, match="slow down"):
        link.waited(ask, Deadline.after(25, lambda: 0.0))
    assert provider.calls == 1
    assert link.state("query").reason == "slow down"
