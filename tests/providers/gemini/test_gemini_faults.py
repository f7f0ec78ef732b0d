"""What gemini makes of servers that refuse, fail, dawdle and lie."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import pytest

from commonplace.errors import ProviderError
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_gemini.provider import GeminiProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RPC = "type.googleapis.com/google.rpc."
AUTH = {"@type": f"{RPC}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
BLOCKED = {"@type": f"{RPC}ErrorInfo", "reason": "API_KEY_HTTP_REFERRER_BLOCKED"}
VECTOR = [0.6, 0.8]


def refusal(code: int, name: str, *details: Any, message: str = "No.") -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": name, "details": list(details)}}


def delay(text: Any) -> dict[str, Any]:
    return {"@type": f"{RPC}RetryInfo", "retryDelay": text}


def quota(name: str) -> dict[str, Any]:
    return {"@type": f"{RPC}QuotaFailure", "violations": [{"quotaId": name}]}


Purpose = Literal["query", "document"]


@pytest.fixture
def google(fake: Callable[[str], Any]) -> Any:
    return fake("gemini")


@pytest.fixture
def make(google: Any, key: str) -> Iterator[Callable[..., GeminiProvider]]:
    made: list[GeminiProvider] = []

    def provider(**context: Any) -> GeminiProvider:
        kept = {"base_url": f"{google.url}/v1beta", "api_key": key, **context}
        made.append(GeminiProvider(ProviderContext(**kept)))
        return made[-1]

    yield provider
    for one in made:
        one.close()


@pytest.fixture
def failing(make: Any, runner: Any, reported: Any, key: str) -> Callable[..., ProviderError]:
    """Asks for a query, gives the error, and makes sure that it shows no key."""

    def ask(seconds: float = 600, purpose: Purpose = "query", **context: Any) -> ProviderError:
        provider = make(**context)
        with suppress(ProviderError):
            provider.client()  # its first use loads certificates, which is not to be timed
        with pytest.raises(ProviderError) as caught:
            runner(provider).one("where?", purpose=purpose, deadline=Deadline.after(seconds))
        assert key not in reported(caught.value, provider, caught.value.hint)
        assert caught.value.provider in ("gemini", "under test")
        return caught.value

    return ask


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, refusal(401, "UNAUTHENTICATED"), "auth"),
        (403, refusal(403, "PERMISSION_DENIED"), "auth"),
        (403, refusal(403, "PERMISSION_DENIED", BLOCKED), "auth"),
        (400, refusal(400, "INVALID_ARGUMENT", AUTH), "auth"),
        (400, refusal(400, "INVALID_ARGUMENT", message="API key expired. Renew it."), "auth"),
        (400, refusal(400, "FAILED_PRECONDITION", message="User location."), "auth"),
        (400, refusal(400, "INVALID_ARGUMENT", message="Unknown name."), "bad_request"),
        (400, refusal(400, "OUT_OF_RANGE"), "bad_request"),
        (404, refusal(404, "NOT_FOUND"), "not_found"),
        (501, refusal(501, "UNIMPLEMENTED"), "not_found"),
        (404, b"<html>Not Found</html>", "not_found"),
        (403, b"", "auth"),
        (403, b'{"error": "no"}', "auth"),
        (400, [refusal(400, "INVALID_ARGUMENT", AUTH)], "auth"),
        (400, {"error": {"code": "x", "message": 5, "status": [], "details": 7}}, "bad_request"),
        (429, refusal(429, "RESOURCE_EXHAUSTED", quota("EmbedContentRequestsPerDay")), "quota"),
        (
            429,
            refusal(429, "RESOURCE_EXHAUSTED", quota("XPerDayPerProject-Free"), delay("23s")),
            "quota",
        ),
        (413, refusal(413, "INVALID_ARGUMENT"), "too_large"),
        (413, b"<html>too large</html>", "too_large"),
        (
            400,
            refusal(400, "INVALID_ARGUMENT", message="Request payload size exceeds the limit"),
            "too_large",
        ),
        (
            400,
            refusal(
                400,
                "INVALID_ARGUMENT",
                message="The input token count is 3000 but the model supports up to 2048.",
            ),
            "too_large",
        ),
        (200, refusal(403, "PERMISSION_DENIED"), "auth"),
        (200, [refusal(400, "INVALID_ARGUMENT", AUTH)], "auth"),
        (200, refusal(429, "RESOURCE_EXHAUSTED", quota("RequestsPerDay")), "quota"),
        (302, b"", "protocol"),
        (200, b'{"embedding": {"val', "protocol"),
        (200, b"<!doctype html><html></html>", "protocol"),
        (200, b"", "protocol"),
        (200, b"[]", "protocol"),
        (200, {"embedding": None}, "protocol"),
        (200, {"embedding": {}}, "protocol"),
        (200, {"embedding": {"values": []}}, "protocol"),
        (200, {"embedding": {"values": "abc"}}, "protocol"),
        (200, {"embedding": {"values": ["0.1", "x"]}}, "protocol"),
        (200, {"embedding": {"values": [0, 0, 0]}}, "protocol"),
        (200, b'{"embedding": {"values": [0.5, NaN]}}', "protocol"),
        (200, b'{"embedding": {"values": [0.5, 1e999]}}', "protocol"),
        (200, {"embeddings": [{"values": VECTOR}]}, "protocol"),
    ],
)
@pytest.mark.slow
def test_what_will_not_pass_is_asked_once(
    google: Any, reply: Any, failing: Any, status: int, body: Any, kind: str
) -> None:
    google.always(reply(status, body))
    assert failing().kind == kind
    # After a refusal a harmless text is tried: is it these words, or the settings?
    assert len(google.requests) == 1 + (kind == "bad_request")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, refusal(429, "RESOURCE_EXHAUSTED"), "rate_limit"),
        (429, refusal(429, "RESOURCE_EXHAUSTED", delay("soon"), delay(7), 5), "rate_limit"),
        (429, refusal(429, "RESOURCE_EXHAUSTED", quota("RequestsPerMinute")), "rate_limit"),
        (408, refusal(408, "CANCELLED"), "unavailable"),
        (500, refusal(500, "INTERNAL"), "unavailable"),
        (500, b"", "unavailable"),
        (502, b"<html>Bad Gateway</html>", "unavailable"),
        (503, refusal(503, "UNAVAILABLE", message="The model is overloaded."), "unavailable"),
        (504, refusal(504, "DEADLINE_EXCEEDED"), "unavailable"),
        (200, refusal(503, "UNAVAILABLE"), "unavailable"),
        (200, {"error": {"message": "upstream"}}, "unavailable"),
    ],
)
def test_what_may_pass_is_asked_three_times(
    google: Any, reply: Any, failing: Any, runner: Any, status: int, body: Any, kind: str
) -> None:
    google.always(reply(status, body))
    assert failing().kind == kind
    assert len(google.requests) == 3
    assert runner.pauses == [0.5, 1.0]


@pytest.mark.parametrize(
    ("details", "headers", "pauses"),
    [
        ([delay("23s")], {}, [23.0, 23.0]),
        ([quota("RequestsPerMinute"), delay("0.5s")], {}, [0.5, 0.5]),
        ([delay("7s")], {"retry-after": "90"}, [7.0, 7.0]),
        ([], {"retry-after": "9"}, [9.0, 9.0]),
        ([delay("600s")], {}, []),
        ([], {"retry-after": "600"}, []),
        ([], {"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, []),
    ],
)
def test_the_delay_asked_for_is_kept_up_to_two_minutes(
    google: Any,
    reply: Any,
    failing: Any,
    runner: Any,
    details: list[Any],
    headers: dict[str, str],
    pauses: list[float],
) -> None:
    google.always(reply(429, refusal(429, "RESOURCE_EXHAUSTED", *details), headers))
    assert failing(purpose="document").kind == "rate_limit"
    assert runner.pauses == pauses
    assert len(google.requests) == len(pauses) + 1


def test_a_delay_beyond_the_deadline_is_not_waited_for(
    google: Any, reply: Any, failing: Any, runner: Any
) -> None:
    google.always(reply(429, refusal(429, "RESOURCE_EXHAUSTED", delay("23s"))))
    error = failing(seconds=10)
    assert (error.kind, error.retry_after, runner.pauses) == ("rate_limit", 23.0, [])


def test_a_fault_that_passes_is_forgotten(google: Any, make: Any, reply: Any, runner: Any) -> None:
    google.script(reply(500, b""))
    provider = make(dims=128)
    runner(provider).one("where?", purpose="query", deadline=Deadline.after(60))
    assert len(google.requests) == 2


@pytest.mark.parametrize("manner", ["hang", "drip", "drip-head"])
def test_a_deadline_is_kept_against_servers_that_dawdle(
    google: Any, reply: Any, failing: Any, manner: str
) -> None:
    body = {"embedding": {"values": VECTOR * 100}}
    google.always(reply(200, body, manner=manner))
    assert failing(seconds=0.2).kind == "timeout"
    assert len(google.requests) == 1


def test_a_connection_reset_in_the_middle_is_tried_again(
    google: Any, reply: Any, failing: Any
) -> None:
    google.always(reply(200, {"embedding": {"values": VECTOR * 100}}, manner="reset"))
    assert failing().kind == "unavailable"
    assert len(google.requests) == 3


def test_too_many_vectors_are_refused(google: Any, make: Any, runner: Any) -> None:
    google.twist = lambda body: {"embeddings": (body["embeddings"] * 2)[:3]}
    with pytest.raises(ProviderError, match="3 vectors came back for 2 texts") as caught:
        list(runner(make()).many(["a", "b"], dims=None, deadline=Deadline.after(60)))
    assert caught.value.kind == "protocol"
    assert len(google.requests) == 2


def test_where_many_become_one_vector_texts_are_sent_one_by_one(
    google: Any, make: Any, runner: Any
) -> None:
    google.twist = lambda body: {"embeddings": (body["embeddings"] * 2)[:1]}
    (run,) = runner(make()).many(["a", "b"], dims=None, deadline=Deadline.after(60))
    assert (run.indices, run.refused) == ((0, 1), ())
    assert len(set(run.vectors)) == 2


def test_vectors_fused_or_of_two_lengths_are_refused(
    google: Any, reply: Any, make: Any, runner: Any
) -> None:
    google.always(reply(200, {"embeddings": [{"values": VECTOR}, {"values": [1.0]}]}))
    with pytest.raises(ProviderError) as caught:
        list(runner(make()).many(["a", "b"], dims=None, deadline=Deadline.after(60)))
    assert caught.value.kind == "protocol"


def test_a_redirect_takes_no_key_elsewhere(
    google: Any, fake: Any, reply: Any, failing: Any
) -> None:
    elsewhere = fake("gemini")
    google.always(reply(307, b"", {"location": f"{elsewhere.url}/v1beta/models/x:embedContent"}))
    assert failing().kind == "protocol"
    assert len(google.requests) == 1
    assert elsewhere.requests == []


def test_a_server_that_repeats_the_key_does_not_get_it_into_words(
    google: Any, reply: Any, failing: Any, key: str
) -> None:
    body = refusal(400, "INVALID_ARGUMENT", AUTH, message=f"API key not valid: {key}")
    google.always(reply(400, body))
    assert "API key not valid: ***" in str(failing())
    google.always(reply(200, f"<html>{key}</html>".encode()))
    failing()
    google.always(reply(500, key.encode()))
    assert "***" in str(failing())


def test_a_wrong_key_is_reported_as_such(google: Any, failing: Any) -> None:
    google.vendor.key = "another"
    error = failing()
    assert (error.kind, error.status) == ("auth", 400)
    assert "key" in error.hint


@pytest.mark.parametrize("odd", ["sekrit-schlüssel", "sekrit\nkey", "sekrit“key”"])
def test_a_key_that_no_header_may_hold_is_reported_without_it(
    google: Any, failing: Any, odd: str
) -> None:
    error = failing(api_key=odd)
    assert error.kind == "auth"
    assert odd not in f"{error!r} {error.__cause__!r} {error.__context__!r}"
    assert google.requests == []


def test_a_missing_server_and_an_insecure_connection_are_reported(
    google: Any, failing: Any
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        missing = f"http://127.0.0.1:{taken.getsockname()[1]}/v1beta"
        assert failing(base_url=missing).kind == "unavailable"
    insecure = google.url.replace("http://", "https://")
    assert failing(base_url=f"{insecure}/v1beta").kind == "unavailable"


def test_a_broken_proxy_is_reported(failing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{taken.getsockname()[1]}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        assert failing(base_url="http://gemini.invalid/v1beta").kind == "unavailable"


def test_a_text_too_large_for_the_server_is_cut_and_reported(
    google: Any, reply: Any, make: Any, runner: Any
) -> None:
    google.script(reply(413, b""))
    provider = make(dims=128)
    text = "a" * 100
    (done,) = runner(provider).many([text], dims=128, deadline=Deadline.after(60))
    assert done.cut == (0,)
    sent = [json.loads(one.body)["requests"][0]["content"]["parts"] for one in google.requests]
    assert sent == [[{"text": text}], [{"text": text[:50]}]]


def test_what_a_closed_provider_is_asked_it_answers_again(google: Any, make: Any) -> None:
    provider = make(dims=128)
    for _ in range(2):
        provider.embed(["a"], purpose="query", deadline=Deadline.after(60))
        provider.close()
    assert len(google.requests) == 2
