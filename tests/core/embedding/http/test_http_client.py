"""A request reaches its origin, keeps its deadline and its secrets, and fails in typed ways."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.http.client import RemoteClient
from commonplace.embedding.http.errors import ErrorInfo, redacted
from commonplace.errors import ProviderError
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SECRET = "sekrit-0123456789-abcdef"
BASE = "https://embeddings.test/v1"


class Seen:
    """Requests that a mocked network was given, and the client on it."""

    def __init__(self, answer: Callable[[httpx.Request], httpx.Response], **given: Any) -> None:
        self.requests: list[httpx.Request] = []

        def handle(request: httpx.Request) -> httpx.Response:
            request.read()
            self.requests.append(request)
            return answer(request)

        arguments = {"base_url": BASE, "defaults": {}, **given}
        base_url = arguments.pop("base_url")
        transport = httpx.MockTransport(handle)
        self.client = RemoteClient("vendor", base_url, transport=transport, **arguments)

    @property
    def last(self) -> httpx.Request:
        return self.requests[-1]


def ok(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"ok": True}, headers={"X-Thing": "1"})


def refusing(status: int, body: Any, **headers: str) -> Callable[[httpx.Request], httpx.Response]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(body, bytes):
        return lambda _: httpx.Response(status, content=body, headers=named)
    return lambda _: httpx.Response(status, json=body, headers=named)


def refused(seen: Seen, path: str = "embeddings") -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        seen.client.post(path, {}, deadline=NEVER)
    return caught.value


# --- what is sent -------------------------------------------------------------------------------


def test_json_goes_out_as_utf_8_and_comes_back_with_headers_in_lower_case() -> None:
    seen = Seen(ok)
    answer = seen.client.post("embeddings", {"input": ["Grüße 第三 🙂"]}, deadline=NEVER)
    assert (answer.body, answer.headers["x-thing"]) == ({"ok": True}, "1")
    assert seen.last.content == '{"input":["Grüße 第三 🙂"]}'.encode()
    assert seen.last.headers["content-type"] == "application/json"
    assert str(seen.last.url) == f"{BASE}/embeddings"


def test_half_a_character_is_no_reason_to_fail() -> None:
    seen = Seen(ok)
    seen.client.post("embeddings", {"input": ["a\ud83d b"]}, deadline=NEVER)
    assert json.loads(seen.last.content) == {"input": ["a? b"]}


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://h.test/v1/", "/embeddings", "https://h.test/v1/embeddings"),
        ("https://h.test", "embeddings", "https://h.test/embeddings"),
        ("https://h.test/d?v=1&w=2", "embeddings", "https://h.test/d/embeddings?v=1&w=2"),
        (" https://h.test:8080/v1 ", "a/b", "https://h.test:8080/v1/a/b"),
        ("https://h.test/v1#part", "a", "https://h.test/v1/a"),
    ],
)
def test_paths_are_joined_below_the_base(base: str, path: str, url: str) -> None:
    seen = Seen(ok, base_url=base)
    seen.client.post(path, {}, deadline=NEVER)
    assert str(seen.last.url) == url


@pytest.mark.parametrize(
    "base", ["", "h.test", "ftp://h.test", "http://", "http://[::1", "http://h:99999", "://"]
)
def test_a_base_that_is_no_url_is_reported(base: str) -> None:
    with pytest.raises(ProviderError) as caught:
        RemoteClient("vendor", base, defaults={})
    assert caught.value.kind == "not_found"
    assert "remote.baseUrl" in caught.value.hint


def test_a_password_in_a_base_that_is_no_url_is_not_reported() -> None:
    with pytest.raises(ProviderError) as caught:
        RemoteClient("vendor", f"ftp://user:{SECRET}@h.test", defaults={})
    assert SECRET not in str(caught.value)


def test_headers_of_the_user_win_whatever_their_case() -> None:
    defaults = {"Authorization": "Bearer default", "X-Client": "ours"}
    seen = Seen(ok, defaults=defaults, headers={"AUTHORIZATION": "Bearer own"})
    seen.client.post("a", {}, deadline=NEVER)
    assert seen.last.headers.get_list("authorization") == ["Bearer own"]
    assert seen.last.headers["x-client"] == "ours"


def test_a_content_type_of_the_user_wins_too() -> None:
    seen = Seen(ok, headers={"content-type": "application/json; v=2"})
    seen.client.post("a", {}, deadline=NEVER)
    assert seen.last.headers.get_list("content-type") == ["application/json; v=2"]


def test_credentials_in_the_base_url_become_a_header_and_are_seen_nowhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    base = f"https://user:{SECRET}@h.test/v1?code=abcdefgh"
    seen = Seen(
        refusing(400, {"message": f"{SECRET} abcdefgh"}),
        base_url=base,
        defaults={"Authorization": "Bearer of the vendor"},
    )
    error = refused(seen)
    assert seen.last.headers["authorization"].startswith("Basic ")
    assert seen.client.origin == "https://h.test/v1"
    logged = [record.getMessage() for record in caplog.records]
    for text in (str(seen.last.url), str(error), repr(error), *logged):
        assert SECRET not in text
    assert "abcdefgh" not in str(error)
    own = Seen(ok, base_url=base, headers={"authorization": "Bearer own"})
    own.client.post("a", {}, deadline=NEVER)
    assert own.last.headers.get_list("authorization") == ["Bearer own"]


def test_the_header_of_credentials_in_the_base_url_is_in_no_error() -> None:
    def repeating(request: httpx.Request) -> httpx.Response:
        return httpx.Response(401, text=f"what is {request.headers['authorization']}?")

    seen = Seen(repeating, base_url=f"https://user:{SECRET}@h.test/v1")
    error = refused(seen)
    scheme, _, credentials = seen.last.headers["authorization"].partition(" ")
    assert scheme == "Basic"
    assert credentials not in str(error)


def test_of_an_address_of_another_server_no_path_is_shown() -> None:
    client = Seen(refusing(500, "no")).client.bare("https://storage.test/token-in-path/file?s=1")
    with pytest.raises(ProviderError) as caught:
        client.fetch("GET", "https://storage.test/token-in-path/file?s=1", deadline=NEVER)
    assert str(caught.value) == "vendor: no (HTTP 500 from https://storage.test)"


# --- what comes back ----------------------------------------------------------------------------


def test_an_empty_answer_is_none() -> None:
    assert Seen(refusing(204, b"")).client.post("a", {}, deadline=NEVER).body is None


@pytest.mark.parametrize("body", [b"{", b"<html>", b'{"a": \xff}', b"[" * 200_000, b"not json"])
def test_what_is_no_json_is_a_protocol_error(body: bytes) -> None:
    assert refused(Seen(refusing(200, body))).kind == "protocol"


def test_a_page_instead_of_json_hints_at_the_base_url() -> None:
    assert "/v1" in str(refused(Seen(refusing(200, b" <!doctype html>"))))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed_and_carry_nothing(status: int) -> None:
    location = f"https://elsewhere.test/{SECRET}"
    seen = Seen(refusing(status, b"", location=location), secrets=(SECRET,))
    error = refused(seen)
    assert (error.kind, error.status, len(seen.requests)) == ("protocol", status, 1)
    assert "elsewhere.test" in str(error)
    assert SECRET not in str(error)


def test_an_error_says_status_request_and_delay() -> None:
    headers = {"x_request_id": "req-7", "retry_after": "9"}
    error = refused(Seen(refusing(429, {"error": {"message": "slow\n down"}}, **headers)))
    assert str(error) == "vendor: slow down (HTTP 429 from https://embeddings.test/v1/embeddings)"
    assert (error.kind, error.status, error.retry_after) == ("rate_limit", 429, 9)
    assert (error.provider, error.request_id) == ("vendor", "req-7")


def test_a_vendor_explains_its_own_errors() -> None:
    given: list[tuple[int, str, Any]] = []

    def explain(status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo | None:
        given.append((status, headers["x-more"], body))
        return ErrorInfo("quota", "no money", 5.0, "pay") if status == 429 else None

    error = refused(Seen(refusing(429, b"plain", X_More="1"), explain=explain))
    assert (error.kind, error.retry_after, error.hint) == ("quota", 5.0, "pay")
    assert refused(Seen(refusing(500, {"a": 1}, X_More="1"), explain=explain)).kind == "unavailable"
    assert given == [(429, "1", "plain"), (500, "1", {"a": 1})]


def test_long_words_are_cut_and_secrets_before_that() -> None:
    words = "x" * 290 + SECRET
    error = refused(Seen(refusing(400, {"message": words}), secrets=(SECRET,)))
    assert "sekrit" not in str(error)
    words, _, facts = str(error).rpartition(" (")
    assert len(words) < 310
    assert facts == "HTTP 400 from https://embeddings.test/v1/embeddings)"


@pytest.mark.parametrize(
    "given",
    [
        {"secrets": (SECRET,)},
        {"headers": {"X-Key": SECRET}},
        {"headers": {"Authorization": f"Bearer {SECRET}"}},
    ],
)
def test_no_secret_is_in_an_error_whatever_the_server_repeats(given: dict[str, Any]) -> None:
    body = {"error": {"message": f"what is {SECRET}?"}}
    seen = Seen(refusing(401, body, x_request_id=SECRET), **given)
    error = refused(seen)
    shown = [str(error), repr(error), repr(vars(error)), repr(seen.client), str(error.__context__)]
    assert not [text for text in shown if SECRET in text]


@pytest.mark.parametrize("value", ["smart “quotes”", "two\nlines", "nul\0", "é"])
def test_a_header_that_cannot_be_sent_is_reported_without_showing_it(value: str) -> None:
    with pytest.raises(ProviderError) as caught:
        Seen(ok, defaults={"Authorization": value})
    assert caught.value.kind == "auth"
    assert value not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@given(st.text(min_size=4, max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_a_secret_is_redacted_wherever_it_stands(secret: str, before: str, after: str) -> None:
    shown = redacted(before + secret + after, (secret,))
    assert secret not in shown or secret in "***"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abc***wxyz.",
        "Authorization: Bearer abcdefgh12345",
        "https://h/v1?key=abcdefgh12345",
        "https://h/v1?a=b&key=abcdefgh12345",
        "AIzaSyabcdefgh12345",
        "pa-abcdefgh12345",
        "upload_id=abcdefgh12345",
        "connect ECONNREFUSED http://me:abcdefgh12345@proxy.test:8080",
    ],
)
def test_what_looks_like_a_key_is_redacted_unknown(text: str) -> None:
    shown = redacted(text)
    assert "***" in shown
    assert not any(part in shown for part in ("abcdefgh", "wxyz"))


@pytest.mark.parametrize(
    ("said", "retry"), [("true", True), ("False", False), ("maybe", None), ("", None)]
)
def test_what_the_server_says_of_trying_again_is_kept(said: str, retry: bool | None) -> None:
    assert refused(Seen(refusing(503, {}, x_should_retry=said))).retry is retry
