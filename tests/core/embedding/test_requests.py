"""Many texts through one provider: every vector once, nothing more sent than was needed."""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Literal

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.requests import RequestRunner
from commonplace.embedding.vectors import floats
from commonplace.errors import (
    DeadlineExceededError,
    PluginUnavailableError,
    ProviderError,
    ProviderErrorKind,
    UnavailableError,
)
from commonplace.protocols.providers import Limits
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.resilience.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POLICY = RetryPolicy(sleep=lambda _: None, jitter=lambda: 1.0)


class Scripted:
    """A provider whose answers a function makes."""

    model = "scripted"
    capabilities: frozenset[str] = frozenset()

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
def test_every_text_gets_its_vector_once_and_cuts_are_reported(
    texts: list[str], limit: Limits
) -> None:
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


def test_leaving_early_does_not_wait_for_a_server_that_is_silent() -> None:
    begun, given_up = threading.Event(), threading.Event()

    def silent(texts: list[str]) -> list[list[float]]:
        if texts == ["first"]:
            assert begun.wait(30)
            return vectors_of(texts)
        begun.set()
        deadline = provider.deadlines[-1]
        for _ in range(500):  # at most 5 s
            if deadline.expired:
                given_up.set()
                raise failure("timeout")
            threading.Event().wait(0.01)
        return vectors_of(texts)

    provider = Scripted(silent, Limits(items=1))
    results = runner(provider, concurrency=2).many(["first", "second"], dims=None, deadline=NEVER)
    assert isinstance(results, Generator)
    assert next(results).indices == (0,)
    results.close()  # as where the user presses Ctrl-C
    assert given_up.is_set()


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
    assert caught.value.kind == "protocol"
    assert provider.sent in ([["text"]], [["text"], ["memory"]])  # was it that text?


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


Refusal = Literal["bad_request", "protocol", "too_large"]


def picky(
    bad: frozenset[str], kind: Refusal | Literal["length"] = "bad_request"
) -> Callable[[list[str]], Any]:
    """Answers that are refused where a request holds one of ``bad``."""

    def answer(texts: list[str]) -> list[list[float]]:
        found = next((text for text in texts if text in bad), None)
        if found is None:
            return vectors_of(texts)
        if kind == "protocol":
            return [[0.0, 0.0] if text in bad else vector_of(text) for text in texts]
        if kind == "length":
            return [[*vector_of(text), *[1.0] * (text in bad)] for text in texts]
        raise ProviderError(f"not {found}", provider="p", kind=kind)

    return answer


@given(
    texts=st.lists(st.text("abc", min_size=1, max_size=4), max_size=40, unique=True),
    data=st.data(),
    items=st.integers(1, 50),
    kind=st.sampled_from(["bad_request", "protocol", "length"]),
    known=st.booleans(),
)
def test_texts_that_are_refused_keep_no_other_from_being_embedded(
    texts: list[str], data: st.DataObject, items: int, kind: Any, known: bool
) -> None:
    bad = frozenset(data.draw(st.sets(st.sampled_from(texts)))) if texts else frozenset()
    provider = Scripted(picky(bad, kind), Limits(items=items), concurrency=1)
    expected = 2 if known or kind == "length" else None
    runs = list(runner(provider, 1).many(texts, dims=None, expected=expected, deadline=NEVER))
    embedded = {texts[i]: v for run in runs for i, v in zip(run.indices, run.vectors, strict=True)}
    refused = {texts[i]: reason for run in runs for i, reason in run.refused}
    assert set(embedded) == set(texts) - bad
    assert all(is_direction_of(vector, text) for text, vector in embedded.items())
    assert set(refused) == bad
    assert all(refused.values())
    if len(bad) == 1:  # the whole request, a harmless one or two, and two for each halving
        requests = -(-len(texts) // items) + (kind == "length")
        assert len(provider.sent) <= requests + 1 + 2 * min(items, len(texts)).bit_length()


@pytest.mark.parametrize("wrong", [[0.0, 0.0], [float("nan"), 1.0], [], None, ["no", "number"]])
def test_only_texts_without_a_valid_vector_are_paid_for_again(wrong: Any) -> None:
    bad = {"text 3", "text 9"}
    provider = Scripted(
        lambda texts: [wrong if text in bad else vector_of(text) for text in texts], concurrency=1
    )
    texts = [f"text {number}" for number in range(16)]
    (run,) = runner(provider).many(texts, dims=None, deadline=NEVER)
    assert run.indices == tuple(i for i, text in enumerate(texts) if text not in bad)
    assert all(map(is_direction_of, run.vectors, (texts[i] for i in run.indices)))
    assert [i for i, _ in run.refused] == [3, 9]
    assert provider.sent == [texts, ["text 3"], ["text 9"]]


@pytest.mark.parametrize(
    ("last", "raised"), [("auth", ProviderError), ("timeout", DeadlineExceededError)]
)
@pytest.mark.parametrize("halved", [True, False])
def test_what_a_failure_later_in_a_request_leaves_is_not_paid_for_again(
    halved: bool, last: ProviderErrorKind, raised: type[Exception]
) -> None:
    now = [0.0]

    def answer(texts: list[str]) -> Any:
        if len(provider.sent) == 1:
            if halved:
                raise failure("too_large")
            return [[0.0, 0.0] if text == "text 2" else vector_of(text) for text in texts]
        if halved and len(provider.sent) == 2:
            return vectors_of(texts)
        now[0] += 10.0 * (last == "timeout")
        raise failure(last)

    provider = Scripted(answer, concurrency=1)
    texts = [f"text {number}" for number in range(4)]
    runs = runner(provider).many(texts, dims=None, deadline=Deadline(6.0, lambda: now[0]))
    done: dict[int, bytes] = {}
    with pytest.raises(raised):
        done.update(pair for run in runs for pair in zip(run.indices, run.vectors, strict=True))
    assert list(done) == ([0, 1] if halved else [0, 1, 3])
    assert all(is_direction_of(vector, texts[i]) for i, vector in done.items())


def test_a_provider_that_gives_one_vector_a_request_is_paid_little_more() -> None:
    count = 1_200
    provider = Scripted(lambda texts: [[1.0, 1.0], *[[0.0, 0.0]] * (len(texts) - 1)], concurrency=1)
    texts = [f"text {number}" for number in range(count)]
    (run,) = runner(provider).many(texts, dims=None, deadline=NEVER)
    assert sorted(run.indices) == [*range(count)]
    assert sum(map(len, provider.sent)) <= count * count.bit_length()


def test_a_text_that_was_cut_and_gets_no_vector_counts_as_refused_alone() -> None:
    provider = Scripted(
        lambda texts: [[0.0, 0.0] if text[0] == "b" else [1.0, 1.0] for text in texts],
        Limits(item_tokens=2),
    )
    (run,) = runner(provider).many(["a" * 20, "b" * 20, "c"], dims=None, deadline=NEVER)
    assert (run.indices, run.cut, [i for i, _ in run.refused]) == ((0, 2), (0,), [1])


@pytest.mark.parametrize("kind", ["bad_request", "protocol", "too_large"])
def test_a_provider_that_refuses_everything_is_asked_twice_and_named(kind: Refusal) -> None:
    def answer(texts: list[str]) -> Any:
        if kind == "protocol":
            return "what?"
        raise failure(kind)

    provider = Scripted(answer, concurrency=1)
    texts = [f"text {i}" for i in range(8)]
    with pytest.raises(ProviderError) as caught:
        list(runner(provider).many(texts, dims=2, deadline=NEVER))
    assert caught.value.kind == kind
    if kind != "too_large":
        assert provider.sent == [texts, ["memory"]]


def test_a_server_that_answers_only_the_first_of_many_is_asked_one_by_one() -> None:
    provider = Scripted(lambda texts: vectors_of(texts[:1]), concurrency=1)
    texts = ["a", "bb", "ccc"]
    (run,) = runner(provider).many(texts, dims=2, deadline=NEVER)
    assert (run.indices, run.refused) == ((0, 1, 2), ())
    assert all(map(is_direction_of, run.vectors, texts))


def test_a_query_that_is_refused_says_nothing_of_the_provider() -> None:
    provider = Scripted(picky(frozenset({"bad"})))
    with pytest.raises(UnavailableError, match="refuses these words: not bad") as caught:
        runner(provider).one("bad", purpose="query", deadline=NEVER)
    assert not isinstance(caught.value, ProviderError)
    assert provider.sent == [["bad"], ["memory"]]


def test_a_provider_that_refuses_every_query_is_to_blame() -> None:
    provider = Scripted(picky(frozenset({"bad", "memory"})))
    with pytest.raises(ProviderError, match="not bad"):
        runner(provider).one("bad", purpose="query", deadline=NEVER)


def test_a_text_too_large_however_short_is_refused_alone() -> None:
    provider = Scripted(picky(frozenset({"bad", "b", "ba"}), "too_large"), concurrency=1)
    (run,) = runner(provider).many(["good", "bad"], dims=2, deadline=NEVER)
    assert run.indices == (0,)
    assert run.refused == ((1, "not bad"),)


def test_what_hangs_is_not_left_to_hang_again() -> None:
    now = [0.0]

    def answer(_: list[str]) -> Any:
        now[0] += 120.0
        raise failure("timeout")

    provider = Scripted(answer, Limits(items=1, request_seconds=120.0), concurrency=1)
    deadline = Deadline.after(1e6, lambda: now[0])
    with pytest.raises(ProviderError) as caught:
        list(runner(provider).many(["a", "b"], dims=None, deadline=deadline))
    assert caught.value.kind == "timeout"
    assert now[0] == 120.0


def test_all_attempts_at_a_request_share_its_time_whatever_ends_them() -> None:
    """A server that trickles bytes and breaks off must not hold an update three times as long."""
    now = [0.0]

    def answer(_: list[str]) -> Any:
        left = provider.deadlines[-1].remaining()
        now[0] += min(50.0, left)
        raise failure("unavailable" if left > 50 else "timeout")

    provider = Scripted(answer, Limits(request_seconds=120.0))
    deadline = Deadline.after(1e6, lambda: now[0])
    with pytest.raises(ProviderError) as caught:
        list(runner(provider).many(["a"], dims=None, deadline=deadline))
    assert (now[0], caught.value.kind) == (120.0, "timeout")


def test_waits_that_a_server_asks_for_are_not_counted_as_its_requests_time() -> None:
    now = [0.0]

    def answer(texts: list[str]) -> Any:
        if len(provider.sent) < 3:
            raise ProviderError("slow down", provider="p", kind="rate_limit", retry_after=90.0)
        return vectors_of(texts)

    def sleep(seconds: float) -> None:
        now[0] += seconds

    provider = Scripted(answer, Limits(request_seconds=120.0))
    running = RequestRunner("p", provider, policy=RetryPolicy(sleep=sleep))
    deadline = Deadline.after(1e6, lambda: now[0])
    (done,) = running.many(["a"], dims=None, deadline=deadline)
    assert (done.indices, round(now[0])) == ((0,), 180)


def test_what_times_out_soon_is_tried_again() -> None:
    now = [0.0]

    def answer(_: list[str]) -> Any:
        now[0] += 5.0
        raise failure("timeout")

    provider = Scripted(answer, Limits(request_seconds=120.0))
    deadline = Deadline.after(1e6, lambda: now[0])
    with pytest.raises(ProviderError):
        list(runner(provider).many(["a"], dims=None, deadline=deadline))
    assert len(provider.sent) == 3


def test_nothing_is_begun_after_the_deadline_and_no_provider_is_blamed() -> None:
    now = [0.0]

    def answer(texts: list[str]) -> Any:
        now[0] += 4.0
        return vectors_of(texts)

    provider = Scripted(answer, Limits(items=1), concurrency=1)
    runs = runner(provider).many(list("abcd"), dims=None, deadline=Deadline(6.0, lambda: now[0]))
    done: list[int] = []
    with pytest.raises(DeadlineExceededError):
        done.extend(index for run in runs for index in run.indices)
    assert done == [0, 1]


def test_a_request_that_the_deadline_cuts_short_is_no_fault_of_the_provider() -> None:
    now = [0.0]

    def answer(_: list[str]) -> Any:
        now[0] += 6.0
        raise failure("timeout")

    provider = Scripted(answer, Limits(items=1), concurrency=1)
    with pytest.raises(DeadlineExceededError):
        list(runner(provider).many(["a"], dims=None, deadline=Deadline(6.0, lambda: now[0])))


@pytest.mark.parametrize(
    ("kind", "retry", "asked"),
    [("bad_request", True, 3), ("unavailable", False, 1), ("unavailable", None, 3)],
)
def test_what_the_server_says_of_trying_again_counts(
    kind: ProviderErrorKind, retry: bool | None, asked: int
) -> None:
    def answer(_: list[str]) -> Any:
        raise ProviderError("no", provider="p", kind=kind, retry=retry)

    provider = Scripted(answer)
    with pytest.raises(ProviderError):
        runner(provider).one("text", purpose="query", deadline=NEVER)
    assert provider.sent.count(["text"]) == asked


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


@pytest.mark.parametrize("wanted", [True, False])
def test_the_traceback_of_a_provider_is_shown_to_who_asks_for_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, wanted: bool
) -> None:
    monkeypatch.setenv("COMMONPLACE_DEBUG", "1" if wanted else "")

    def answer(texts: list[str]) -> list[list[float]]:
        raise RuntimeError("no room for sk-aaaabbbbccccdddd")

    with pytest.raises(ProviderError) as caught:
        runner(Scripted(answer)).one("text", purpose="query", deadline=NEVER)
    assert "COMMONPLACE_DEBUG=1" in caught.value.hint
    shown = capsys.readouterr().err
    assert ("RuntimeError: no room for ***" in shown and "in answer" in shown) is wanted
    assert bool(shown) is wanted
    assert "sk-aaaa" not in shown


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
