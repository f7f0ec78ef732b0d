"""What voyage makes of servers that refuse, fail, dawdle and lie."""

from __future__ import annotations

import base64
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import pytest

from commonplace.errors import ProviderError
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_voyage.provider import VoyageProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UNPAID = (
    "You have not yet added your payment method in the billing page and will have reduced rate"
    " limits of 3 RPM and 10K TPM."
)
NO_MODEL = "Model voyage-9 is not supported. Supported models are ['voyage-4']."


def packed(*numbers: float) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def item(embedding: Any, **more: Any) -> dict[str, Any]:
    return {"object": "embedding", "embedding": embedding, **more}


def answer(*items: Any) -> dict[str, Any]:
    return {"object": "list", "model": "voyage-4-large", "data": list(items)}


Purpose = Literal["query", "document"]


@pytest.fixture
def vendor(fake: Callable[[str], Any]) -> Any:
    return fake("voyage")


@pytest.fixture
def make(vendor: Any, key: str) -> Iterator[Callable[..., VoyageProvider]]:
    made: list[VoyageProvider] = []

    def provider(**context: Any) -> VoyageProvider:
        kept = {"base_url": f"{vendor.url}/v1", "api_key": key, **context}
        made.append(VoyageProvider(ProviderContext(**kept)))
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
        return caught.value

    return ask


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"detail": "Provided API key is invalid."}, "auth"),
        (403, {"detail": "IP address not allowed."}, "auth"),
        (403, b"<html>Forbidden</html>", "auth"),
        (402, {"detail": "No credit."}, "quota"),
        (404, {"detail": "Not Found"}, "not_found"),
        (400, {"detail": NO_MODEL}, "not_found"),
        (400, {"detail": "Argument 'output_dimension' is not valid."}, "bad_request"),
        (400, {"detail": "Argument 'input_type' is not valid."}, "bad_request"),
        (400, b"", "bad_request"),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "bad_request"),
        (400, {"detail": "Your batch has 130000 tokens. Please lower it."}, "too_large"),
        (400, {"detail": "The max allowed tokens per submitted batch is 120000."}, "too_large"),
        (400, {"detail": "The example has too many tokens for its context."}, "too_large"),
        (400, {"detail": "The batch size limit is 1000."}, "too_large"),
        (400, {"detail": "The input list is over the maximum length."}, "too_large"),
        (413, b"<html>Request Entity Too Large</html>", "too_large"),
        (301, b"", "protocol"),
        (200, b'{"object": "list", "data": [{"emb', "protocol"),
        (200, b"<!doctype html><html></html>", "protocol"),
        (200, b"", "protocol"),
        (200, b"[]", "protocol"),
        (200, answer(), "protocol"),
        (200, {"data": None}, "protocol"),
        (200, answer(None), "protocol"),
        (200, answer(item(None)), "protocol"),
        (200, answer(item([])), "protocol"),
        (200, answer(item("")), "protocol"),
        (200, answer(item("not base64!")), "protocol"),
        (200, answer(item(packed(1.0)[:-4])), "protocol"),
        (200, answer(item(["a", "b"])), "protocol"),
        (200, answer(item(packed(0.0, 0.0))), "protocol"),
        (200, answer(item(packed(0.5, float("nan")))), "protocol"),
        (200, answer(item(packed(0.5, float("inf")))), "protocol"),
        (200, answer(item(packed(0.5, 0.5), index=1)), "protocol"),
        (200, answer(item(packed(0.5, 0.5), index="0")), "protocol"),
        (200, answer(item(packed(0.5, 0.5), index=0), item(packed(0.5, 0.5))), "protocol"),
    ],
)
@pytest.mark.slow
def test_what_will_not_pass_is_asked_once(
    vendor: Any, reply: Any, failing: Any, status: int, body: Any, kind: str
) -> None:
    vendor.always(reply(status, body))
    assert failing().kind == kind
    # After a refusal a harmless text is tried: is it these words, or the settings?
    assert len(vendor.requests) == 1 + (kind == "bad_request")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"detail": "You have exceeded your rate limit."}, "rate_limit"),
        (429, {"detail": "The limit is 10000 tokens per minute."}, "rate_limit"),
        (429, b"<html></html>", "rate_limit"),
        (500, {"detail": "Internal error"}, "unavailable"),
        (502, b"<html>Bad Gateway</html>", "unavailable"),
        (503, b"", "unavailable"),
        (504, {"detail": "timed out"}, "unavailable"),
        (200, {"detail": "upstream failed"}, "unavailable"),
        (200, {"error": {"message": "upstream failed"}}, "unavailable"),
    ],
)
def test_what_may_pass_is_asked_three_times(
    vendor: Any, reply: Any, failing: Any, runner: Any, status: int, body: Any, kind: str
) -> None:
    vendor.always(reply(status, body))
    assert failing().kind == kind
    assert len(vendor.requests) == 3
    assert runner.pauses == [0.5, 1.0]


@pytest.mark.parametrize(
    ("detail", "headers", "pauses"),
    [
        ("Slow down.", {"retry-after": "9"}, [9.0, 9.0]),
        ("Slow down.", {"retry-after": "600"}, []),
        ("Slow down.", {"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, []),
        (UNPAID, {}, [20.0, 20.0]),
        (UNPAID, {"retry-after": "30"}, [30.0, 30.0]),
    ],
)
def test_the_delay_asked_for_is_kept_up_to_two_minutes(
    vendor: Any,
    reply: Any,
    failing: Any,
    runner: Any,
    detail: str,
    headers: dict[str, str],
    pauses: list[float],
) -> None:
    vendor.always(reply(429, {"detail": detail}, headers))
    error = failing(purpose="document")
    assert error.kind == "rate_limit"
    assert ("payment" in error.hint) == (detail == UNPAID)
    assert runner.pauses == pauses
    assert len(vendor.requests) == len(pauses) + 1


def test_a_delay_beyond_the_deadline_is_not_waited_for(
    vendor: Any, reply: Any, failing: Any, runner: Any
) -> None:
    vendor.always(reply(429, {"detail": UNPAID}))
    error = failing(seconds=10)
    assert (error.kind, error.retry_after, runner.pauses) == ("rate_limit", 20.0, [])


def test_a_fault_that_passes_is_forgotten(vendor: Any, make: Any, reply: Any, runner: Any) -> None:
    vendor.script(reply(500, b""))
    runner(make()).one("where?", purpose="query", deadline=Deadline.after(60))
    assert len(vendor.requests) == 2


@pytest.mark.parametrize("manner", ["hang", "drip", "drip-head"])
def test_a_deadline_is_kept_against_servers_that_dawdle(
    vendor: Any, reply: Any, failing: Any, manner: str
) -> None:
    vendor.always(reply(200, answer(item([0.6, 0.8] * 100)), manner=manner))
    assert failing(seconds=0.2).kind == "timeout"
    assert len(vendor.requests) == 1


def test_a_connection_reset_in_the_middle_is_tried_again(
    vendor: Any, reply: Any, failing: Any
) -> None:
    vendor.always(reply(200, answer(item([0.6, 0.8] * 100)), manner="reset"))
    assert failing().kind == "unavailable"
    assert len(vendor.requests) == 3


def test_too_many_vectors_are_refused(vendor: Any, make: Any, runner: Any) -> None:
    vendor.twist = lambda body: {**body, "data": (body["data"] * 2)[:3]}
    with pytest.raises(ProviderError, match="3 vectors came back for 2 texts") as caught:
        list(runner(make()).many(["a", "b"], dims=None, deadline=Deadline.after(60)))
    assert caught.value.kind == "protocol"
    assert len(vendor.requests) == 2


def test_where_many_become_one_vector_texts_are_sent_one_by_one(
    vendor: Any, make: Any, runner: Any
) -> None:
    vendor.twist = lambda body: {**body, "data": (body["data"] * 2)[:1]}
    (run,) = runner(make()).many(["a", "b"], dims=None, deadline=Deadline.after(60))
    assert (run.indices, run.refused) == ((0, 1), ())
    assert len(set(run.vectors)) == 2


@pytest.mark.parametrize("indices", [(0, 0), (1, 2), (0, None), (True, 0)])
def test_indices_that_name_no_text_or_one_twice_are_refused(
    vendor: Any, make: Any, indices: tuple[Any, Any]
) -> None:
    def twisted(body: Any) -> Any:
        pairs = zip(body["data"], indices, strict=True)
        return {**body, "data": [{**held, "index": index} for held, index in pairs]}

    vendor.twist = twisted
    with pytest.raises(ProviderError, match="indices") as caught:
        make().embed(["a", "b"], purpose="document", deadline=Deadline.after(60))
    assert caught.value.kind == "protocol"


def test_a_length_other_than_the_one_asked_for_is_refused(
    vendor: Any, make: Any, reply: Any
) -> None:
    vendor.script(reply(200, answer(item(packed(*[0.1] * 1024), index=0))))
    with pytest.raises(ProviderError, match="256 dimensions were asked for, and 1024") as caught:
        make(dims=256).embed(["a"], purpose="query", deadline=Deadline.after(60))
    assert caught.value.kind == "protocol"
    assert caught.value.hint


def test_lengths_that_change_between_requests_are_refused(
    vendor: Any, make: Any, reply: Any, runner: Any
) -> None:
    vendor.always(reply(200, answer(item(packed(0.6, 0.8), index=0))))
    with pytest.raises(ProviderError) as caught:
        list(runner(make()).many(["a"], dims=1024, deadline=Deadline.after(60)))
    assert caught.value.kind == "protocol"


def test_a_text_whose_vector_alone_has_another_length_is_refused_alone(
    vendor: Any, make: Any, reply: Any, runner: Any
) -> None:
    vendor.script(reply(200, answer(item(packed(0.6, 0.8), index=0))))
    (result,) = runner(make()).many(["a"], dims=1024, deadline=Deadline.after(60))
    assert result.indices == ()
    assert [at for at, _ in result.refused] == [0]


def test_a_redirect_takes_no_key_elsewhere(
    vendor: Any, fake: Any, reply: Any, failing: Any
) -> None:
    elsewhere = fake("voyage")
    vendor.always(reply(307, b"", {"location": f"{elsewhere.url}/v1/embeddings"}))
    assert failing().kind == "protocol"
    assert len(vendor.requests) == 1
    assert elsewhere.requests == []


def test_a_server_that_repeats_the_key_does_not_get_it_into_words(
    vendor: Any, reply: Any, failing: Any, key: str
) -> None:
    vendor.always(reply(401, {"detail": f"Provided API key {key} is invalid."}))
    assert "API key *** is invalid" in str(failing())
    vendor.always(reply(200, f"<html>{key}</html>".encode()))
    failing()
    vendor.always(reply(200, answer(item(key))))
    failing()


def test_a_wrong_key_is_reported_as_such(vendor: Any, failing: Any) -> None:
    vendor.vendor.key = "another"
    error = failing()
    assert (error.kind, error.status) == ("auth", 401)
    assert "key" in error.hint


def test_a_key_that_no_header_may_hold_is_reported_without_it(vendor: Any, failing: Any) -> None:
    error = failing(api_key="sekrit-schlüssel")
    assert error.kind == "auth"
    assert "schlüssel" not in f"{error!r} {error.__cause__!r} {error.__context__!r}"
    assert vendor.requests == []


def test_a_missing_server_and_an_insecure_connection_are_reported(
    vendor: Any, failing: Any
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        missing = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        assert failing(base_url=missing).kind == "unavailable"
    insecure = vendor.url.replace("http://", "https://")
    assert failing(base_url=f"{insecure}/v1").kind == "unavailable"


def test_a_broken_proxy_is_reported(failing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{taken.getsockname()[1]}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        assert failing(base_url="http://voyage.invalid/v1").kind == "unavailable"


def test_what_a_closed_provider_is_asked_it_answers_again(vendor: Any, make: Any) -> None:
    provider = make()
    for _ in range(2):
        provider.embed(["a"], purpose="query", deadline=Deadline.after(60))
        provider.close()
    assert len(vendor.requests) == 2
