"""Many texts through one provider: every vector once, nothing more sent than was needed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from commonplace.deadline import NEVER, Deadline
from commonplace.embedding.requests import RequestRunner
from commonplace.embedding.retry import RetryPolicy
from commonplace.embedding.vectors import floats
from commonplace.errors import (
    DeadlineExceededError,
    PluginUnavailableError,
    ProviderError,
    ProviderErrorKind,
)
from commonplace.spec import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POLICY = RetryPolicy(sleep=lambda _: None, jitter=lambda: 1.0)


class Scripted:
    """A provider whose answers a function makes."""

    model = "scripted"

    def __init__(
        self,
        answer: Callable[[list[str]], Any],
        limits: Limits | None = None,
        *,
        concurrency: int = 4,
    ) -> None:
        self.answer = answer
        self.limits = limits or Limits()
        self.concurrency = concurrency
        self.sent: list[list[str]] = []
        self.deadlines: list[Deadline] = []

    def fingerprint(self) -> str:
        return "scripted"

    def embed(
        self, texts: Sequence[str], *, purpose: Literal["query", "document"], deadline: Deadline
    ) -> Any:
        self.sent.append(list(texts))
        self.deadlines.append(deadline)
        return self.answer(list(texts))

    def close(self) -> None:
        pass


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0]


def vectors_of(texts: list[str]) -> list[list[float]]:
    return [vector_of(text) for text in texts]


def failure(kind: ProviderErrorKind) -> ProviderError:
    return ProviderError("no", provider="p", kind=kind)


def runner(provider: Scripted, concurrency: int = 4) -> RequestRunner:
    return RequestRunner("p", provider, policy=POLICY, concurrency=concurrency)


def is_direction_of(vector: bytes, text: str) -> bool:
    first, second = floats(vector)
    return first == pytest.approx(second * len(text), rel=1e-5)


limits = st.builds(
    Limits,
    items=st.none() | st.integers(1, 4),
    tokens=st.none() | st.integers(1, 30),
    item_tokens=st.none() | st.integers(1, 10),
)


@given(st.lists(st.text("ab ", min_size=1, max_size=40), max_size=20), limits)
def test_every_text_gets_its_vector_once_and_cuts_are_told(texts: list[str], limit: Limits) -> None:
    provider = Scripted(vectors_of, limit)
    running = runner(provider)
    seen: dict[int, bytes] = {}
    cut: set[int] = set()
    for run in running.many(texts, dims=2, deadline=NEVER):
        assert not seen.keys() & set(run.indices)
        seen.update(zip(run.indices, run.vectors, strict=True))
        cut.update(run.cut)
    assert seen.keys() == set(range(len(texts)))
    for index, text in enumerate(texts):
        assert is_direction_of(seen[index], text) or index in cut
    assert running.requests == len(provider.sent)


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_a_request_of_too_many_is_halved_until_it_fits(most: int) -> None:
    def answer(texts: list[str]) -> list[list[float]]:
        if len(texts) > most:
            raise failure("too_large")
        return vectors_of(texts)

    texts = ["a" * number for number in range(1, 12)]
    (run,) = runner(Scripted(answer)).many(texts, dims=None, deadline=NEVER)
    assert run.indices == tuple(range(11))
    assert run.cut == ()
    assert all(is_direction_of(v, t) for v, t in zip(run.vectors, texts, strict=True))


def test_a_text_too_long_alone_is_cut_and_only_that_one() -> None:
    def answer(texts: list[str]) -> list[list[float]]:
        if any(len(text) > 50 for text in texts):
            raise failure("too_large")
        return vectors_of(texts)

    provider = Scripted(answer)
    (run,) = runner(provider).many(["short", "x" * 300, "other"], dims=None, deadline=NEVER)
    assert run.cut == (1,)
    assert len(run.vectors) == 3
    assert ["x" * 37] in provider.sent


def test_a_text_that_is_refused_however_short_is_an_error() -> None:
    def answer(_: list[str]) -> list[list[float]]:
        raise failure("too_large")

    provider = Scripted(answer)
    with pytest.raises(ProviderError) as caught:
        runner(provider).one("x" * 100, purpose="query", deadline=NEVER)
    assert caught.value.kind == "too_large"
    assert [len(sent[0]) for sent in provider.sent] == [100, 50, 25, 12]


def test_a_cut_never_leaves_a_blank_text() -> None:
    def answer(texts: list[str]) -> list[list[float]]:
        assert all(text.strip() for text in texts)
        if len(texts[0]) > 60:
            raise failure("too_large")
        return vectors_of(texts)

    assert runner(Scripted(answer)).one(" " * 90 + "x" * 10, purpose="query", deadline=NEVER)


@pytest.mark.parametrize(("own", "asked", "expected"), [(1, 8, 1), (8, 3, 3), (2, 8, 2)])
def test_no_more_requests_run_at_once_than_either_side_allows(
    own: int, asked: int, expected: int
) -> None:
    running, most = 0, 0
    lock = threading.Lock()
    meeting = threading.Barrier(expected)

    def answer(texts: list[str]) -> list[list[float]]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        meeting.wait(10)  # as many as may meet do meet
        with lock:
            running -= 1
        return vectors_of(texts)

    provider = Scripted(answer, Limits(items=1), concurrency=own)
    list(runner(provider, asked).many(["text"] * (4 * expected), dims=None, deadline=NEVER))
    assert most == expected


def test_an_error_stops_new_requests_and_what_is_under_way_is_still_given() -> None:
    failed = threading.Event()

    def answer(texts: list[str]) -> list[list[float]]:
        if texts == ["bad"]:
            failed.set()
            raise failure("auth")
        assert failed.wait(10)
        return vectors_of(texts)

    provider = Scripted(answer, Limits(items=1), concurrency=2)
    runs = runner(provider, 2).many(["good", "bad", *["never"] * 20], dims=None, deadline=NEVER)
    given_indices: list[int] = []
    with pytest.raises(ProviderError) as caught:
        given_indices.extend(index for run in runs for index in run.indices)
    assert caught.value.kind == "auth"
    assert 0 in given_indices
    assert len(provider.sent) <= 3


def test_leaving_early_sends_no_more() -> None:
    provider = Scripted(vectors_of, Limits(items=1), concurrency=1)
    runs = runner(provider, 1).many(["text"] * 50, dims=None, deadline=NEVER)
    next(runs)
    runs.close()  # type: ignore[attr-defined]  # a generator is what it is
    assert len(provider.sent) <= 2


def test_nothing_asked_is_nothing_sent() -> None:
    provider = Scripted(vectors_of)
    assert list(runner(provider).many([], dims=None, deadline=NEVER)) == []
    assert provider.sent == []


@pytest.mark.parametrize(
    "vectors",
    [
        [],
        [[1.0, 2.0], [1.0, 2.0]],
        [[]],
        [[0.0, 0.0]],
        [[float("nan"), 1.0]],
        [[float("-inf"), 1.0]],
        [[1.0, 2.0, 3.0]],
        [None],
        [["one", "two"]],
        [[[1.0, 2.0]]],
        [[10**400, 1]],
        None,
    ],
)
def test_what_is_no_vector_is_a_protocol_error_and_not_asked_for_again(vectors: Any) -> None:
    provider = Scripted(lambda _: vectors)
    with pytest.raises(ProviderError) as caught:
        list(runner(provider).many(["text"], dims=2, deadline=NEVER))
    assert (caught.value.kind, len(provider.sent)) == ("protocol", 1)


def test_requests_that_ran_at_once_must_agree_on_dimensions() -> None:
    provider = Scripted(
        lambda texts: [[1.0] * len(text) for text in texts], Limits(items=1), concurrency=1
    )
    runs = runner(provider).many(["ab", "ab", "abc", "ab"], dims=None, deadline=NEVER)
    given_vectors: list[bytes] = []
    with pytest.raises(ProviderError) as caught:
        given_vectors.extend(vector for run in runs for vector in run.vectors)
    assert caught.value.kind == "protocol"
    assert [len(vector) for vector in given_vectors] == [8, 8]


def test_halves_must_agree_on_dimensions() -> None:
    def answer(texts: list[str]) -> list[list[float]]:
        if len(texts) > 1:
            raise failure("too_large")
        return [[1.0] * len(texts[0])]

    with pytest.raises(ProviderError) as caught:
        list(runner(Scripted(answer)).many(["ab", "abc"], dims=None, deadline=NEVER))
    assert caught.value.kind == "protocol"


def test_limits_that_a_provider_learns_are_used_at_once() -> None:
    def answer(texts: list[str]) -> list[list[float]]:
        provider.limits = evolve(provider.limits, items=2 * len(texts))
        return vectors_of(texts)

    provider = Scripted(answer, Limits(items=1), concurrency=1)
    runs = list(runner(provider).many(["text"] * 40, dims=None, deadline=NEVER))
    assert sorted(index for run in runs for index in run.indices) == list(range(40))
    sizes = [len(sent) for sent in provider.sent]
    assert sizes[0] == 1
    assert max(sizes) >= 8


def test_retries_count_as_requests() -> None:
    waiting = [failure("unavailable"), failure("rate_limit")]

    def answer(texts: list[str]) -> list[list[float]]:
        if waiting:
            raise waiting.pop()
        return vectors_of(texts)

    running = runner(Scripted(answer))
    assert running.one("text", purpose="query", deadline=NEVER)
    assert running.requests == 3


def test_a_deadline_that_a_provider_lets_out_is_a_time_out() -> None:
    def answer(_: list[str]) -> Any:
        raise DeadlineExceededError("late")

    with pytest.raises(ProviderError) as caught:
        runner(Scripted(answer)).one("text", purpose="query", deadline=NEVER)
    assert caught.value.kind == "timeout"


def test_one_request_may_take_what_the_provider_s_limits_say() -> None:
    limit = Limits(items=1, query_seconds=3.0, request_seconds=7.0)
    provider = Scripted(vectors_of, limit, concurrency=1)
    running = runner(provider)
    for seconds, expected in ((100.0, (3.0, 7.0)), (1.0, (1.0, 1.0))):
        provider.deadlines.clear()
        deadline = Deadline(seconds, lambda: 0.0)
        running.one("text", purpose="query", deadline=deadline)
        list(running.many(["text"], dims=None, deadline=deadline))
        assert tuple(given.remaining() for given in provider.deadlines) == expected


@pytest.mark.parametrize(
    ("raised", "kind", "words"),
    [
        (KeyError("tops3cret"), "protocol", "p: the provider itself failed with KeyError"),
        (PluginUnavailableError("no engine"), "unavailable", "no engine"),
        (DeadlineExceededError("too slow"), "timeout", "too slow"),
    ],
)
def test_whatever_a_provider_raises_is_an_error_of_the_provider_s(
    raised: Exception, kind: str, words: str
) -> None:
    def answer(texts: list[str]) -> list[list[float]]:
        raise raised

    with pytest.raises(ProviderError) as caught:
        runner(Scripted(answer)).one("text", purpose="query", deadline=NEVER)
    assert (caught.value.kind, str(caught.value)) == (kind, words)


def test_all_attempts_at_a_query_share_its_time() -> None:
    def answer(texts: list[str]) -> list[list[float]]:
        now[0] += 15.0
        raise failure("timeout")

    now = [0.0]
    provider = Scripted(answer, Limits(query_seconds=20.0))
    deadline = Deadline.after(300.0, lambda: now[0])
    with pytest.raises(ProviderError):
        runner(provider).one("text", purpose="query", deadline=deadline)
    assert now[0] == 30.0  # the second attempt ran out of it
