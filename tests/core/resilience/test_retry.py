"""A request is tried again when that may help, after as long as the server asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.http.errors import kind_of_status, message_of, retry_after_of
from commonplace.errors import DeadlineExceededError, ProviderError, ProviderErrorKind
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.resilience.retry import PASSING, RetryPolicy, with_retries

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: tuple[ProviderErrorKind, ...] = get_args(ProviderErrorKind)


def failing(*errors: ProviderError | None) -> tuple[Callable[[], str], list[int]]:
    """A call that fails so, one after the other, and how often it was made."""
    waiting, calls = list(errors), [0]

    def call() -> str:
        calls[0] += 1
        error = waiting.pop(0) if waiting else None
        if error is not None:
            raise error
        return "done"

    return call, calls


def error(kind: ProviderErrorKind = "unavailable", after: float | None = None) -> ProviderError:
    return ProviderError("no", provider="p", kind=kind, retry_after=after)


def policy(pauses: list[float], **given: float) -> RetryPolicy:
    return RetryPolicy(sleep=pauses.append, jitter=lambda: 1.0, **given)  # type: ignore[arg-type]  # attempts is an int


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_may_pass_is_tried_again(kind: ProviderErrorKind) -> None:
    call, calls = failing(error(kind), error(kind), error(kind), error(kind))
    with pytest.raises(ProviderError):
        with_retries(call, policy([]), deadline=NEVER)
    assert calls == [3 if kind in PASSING else 1]


def test_waits_double_up_to_the_longest() -> None:
    pauses: list[float] = []
    call, _ = failing(*[error()] * 7)
    assert with_retries(call, policy(pauses, attempts=8), deadline=NEVER) == "done"
    assert pauses == [0.5, 1, 2, 4, 8, 8, 8]


@given(st.floats(0.01, 120))
def test_a_server_s_own_delay_is_obeyed_to_the_letter(after: float) -> None:
    pauses: list[float] = []
    call, _ = failing(error("rate_limit", after))
    assert with_retries(call, policy(pauses), deadline=NEVER) == "done"
    assert pauses == [after]


@pytest.mark.parametrize("after", [120.1, 600.0, float("inf")])
def test_a_server_that_asks_for_too_long_is_left_alone(after: float) -> None:
    pauses: list[float] = []
    call, calls = failing(error("rate_limit", after))
    with pytest.raises(ProviderError):
        with_retries(call, policy(pauses), deadline=NEVER)
    assert (calls, pauses) == ([1], [])


def test_a_delay_of_nothing_is_no_delay_to_obey() -> None:
    pauses: list[float] = []
    call, _ = failing(error("rate_limit", 0.0), error("rate_limit", 0.0))
    assert with_retries(call, policy(pauses), deadline=NEVER) == "done"
    assert pauses == [0.5, 1.0]


def test_nothing_is_waited_for_past_the_deadline() -> None:
    pauses: list[float] = []
    call, calls = failing(error("rate_limit", 5.0))
    with pytest.raises(ProviderError) as caught:
        with_retries(call, policy(pauses), deadline=Deadline(5.0, lambda: 0.0))
    assert (caught.value.kind, calls, pauses) == ("rate_limit", [1], [])


def test_other_errors_go_through_at_once() -> None:
    def call() -> str:
        raise DeadlineExceededError("late")

    with pytest.raises(DeadlineExceededError):
        with_retries(call, policy([]), deadline=NEVER)


def test_jitter_only_shortens() -> None:
    pauses: list[float] = []
    for _ in range(50):
        call, _ = failing(error())
        with_retries(call, RetryPolicy(sleep=pauses.append), deadline=NEVER)
    assert all(0.375 <= pause <= 0.5 for pause in pauses)
    assert len(set(pauses)) > 1


DATE = 1445412480.0  # Wed, 21 Oct 2015 07:28:00 GMT


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "0"}, 0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "20", "retry-after": "7"}, 0.02),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7),
        ({"retry-after-ms": "nan", "retry-after": "7"}, 7),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 60),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}, 60),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00"}, 60),
        ({"retry-after": "Wed, 21 Oct 2015 07:26:00 GMT"}, 0),
        ({"retry-after": "Wed, 99 Oct 2015 07:26:00 GMT"}, None),
    ],
)
def test_a_delay_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_of(headers, clock=lambda: DATE - 60) == seconds


@pytest.mark.parametrize(
    ("date", "seconds"),
    [("Wed, 21 Oct 2015 07:27:30 GMT", 30), ("some day", 3600), ("", 3600)],
)
def test_a_date_is_counted_from_the_time_of_the_server(date: str, seconds: float) -> None:
    headers = {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT", "date": date}
    assert retry_after_of(headers, clock=lambda: DATE - 3600) == seconds


def test_an_infinite_delay_is_a_long_one() -> None:
    found = retry_after_of({"retry-after": "inf"})
    assert found is not None
    assert 86400 < found < float("inf")


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "date"]), st.text()))
def test_whatever_is_sent_as_a_delay_is_a_number_or_nothing(headers: dict[str, str]) -> None:
    found = retry_after_of(headers)
    assert found is None or 0 <= found < float("inf")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"),
        (401, "auth"),
        (402, "quota"),
        (403, "auth"),
        (404, "not_found"),
        (408, "unavailable"),
        (409, "unavailable"),
        (413, "too_large"),
        (422, "bad_request"),
        (429, "rate_limit"),
        (500, "unavailable"),
        (501, "not_found"),
        (529, "unavailable"),
    ],
)
def test_a_status_has_a_kind(status: int, kind: str) -> None:
    assert kind_of_status(status) == kind


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "words", "code": None}},
        {"error": "words"},
        {"error": 500, "message": "words"},
        {"error": {}, "message": "words"},
        {"error": {"code": 3}, "detail": "words"},
        {"message": {"detail": [{"loc": ["a"], "msg": "words"}]}},
        {"detail": [{"msg": "words"}, {"msg": "others"}]},
        [{"error": {"message": "words"}}],
        "  words\n",
    ],
)
def test_the_words_of_an_error_are_found(body: object) -> None:
    assert message_of(body) == "words"


@pytest.mark.parametrize("body", [None, 3, {}, [], "<html>words", {"error": None}, {"data": "x"}])
def test_no_words_are_made_up(body: object) -> None:
    assert message_of(body) == ""
