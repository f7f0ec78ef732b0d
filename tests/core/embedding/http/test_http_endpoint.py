"""A base URL is one and the same however it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.http.provider import Endpoint
from commonplace.errors import ProviderError


@pytest.mark.parametrize(
    ("url", "origin", "whole"),
    [
        ("https://h.test/v1", "https://h.test/v1", "https://h.test/v1"),
        (" HTTPS://H.Test:443/V1/ ", "https://h.test/V1", "https://h.test/V1"),
        ("http://h:80", "http://h", "http://h"),
        ("http://h:443//", "http://h:443", "http://h:443"),
        ("http://u:p%40@h/v1?a=b#c", "http://h/v1", "http://u:p%40@h/v1?a=b"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("https://h/v1/embeddings/", "https://h/v1", "https://h/v1"),
        ("https://h/v1/embeddings?v=2", "https://h/v1", "https://h/v1?v=2"),
    ],
)
def test_forms_of_one_url(url: str, origin: str, whole: str) -> None:
    endpoint = Endpoint("p", url, drop=("/embeddings",))
    assert (endpoint.origin, endpoint.url) == (origin, whole)


def test_a_url_without_a_path_may_get_one() -> None:
    assert Endpoint("p", "https://h/", root="/v1").origin == "https://h/v1"
    assert Endpoint("p", "https://h/v2", root="/v1").origin == "https://h/v2"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "h",
        "h:80/v1",
        "ftp://h",
        "//h",
        "http:/h",
        "http://",
        "http://:80",
        "http://h:x",
        "http://h:70000",
    ],
)
def test_what_is_no_url_is_reported(url: str) -> None:
    with pytest.raises(ProviderError) as caught:
        Endpoint("p", url)
    assert (caught.value.kind, caught.value.provider) == ("not_found", "p")


def test_no_credential_of_an_invalid_url_is_reported() -> None:
    with pytest.raises(ProviderError) as caught:
        Endpoint("p", "ftp://user:sekrit@h?key=sekrit")
    assert "sekrit" not in str(caught.value)


@given(st.text(max_size=40))
def test_any_text_is_an_endpoint_or_a_typed_error(text: str) -> None:
    try:
        endpoint = Endpoint("p", f"http://{text}")
    except ProviderError:
        return
    assert endpoint.origin.startswith("http://")


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("[::1]", True),
        ("10.1.2.3", True),
        ("192.168.0.9", True),
        ("[fd00::1]", True),
        ("ollama", True),
        ("gpu.local", True),
        ("api.example.com", False),
        ("8.8.8.8", False),
        ("[2001:4860:4860::8888]", False),
        ("1.2.3.4.5", False),
    ],
)
def test_whether_a_host_is_near(host: str, local: bool) -> None:
    assert Endpoint("p", f"http://{host}:1/v1").is_local is local


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("LOCALHOST", True),
        ("api.localhost", True),
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("[::1]", True),
        ("10.1.2.3", False),
        ("192.168.0.9", False),
        ("gpu", False),
        ("gpu.local", False),
        ("127.0.0.1.example.com", False),
        ("127.0.0.1.5", False),
        ("localhost.example.com", False),
        ("notlocalhost", False),
    ],
)
def test_whether_a_host_is_this_machine(host: str, loopback: bool) -> None:
    assert Endpoint("p", f"http://{host}:1/v1").is_loopback is loopback


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("https://user:pw@host.test/v1/x?key=k", "https://host.test"),
        ("https://host.test:443/v1", "https://host.test"),
        ("http://host.test:8080", "http://host.test:8080"),
        ("http://host.test/host.test/v1", "http://host.test"),
        ("http://[::1]:1/v1", "http://[::1]:1"),
    ],
)
def test_the_server_of_an_address(url: str, server: str) -> None:
    assert Endpoint("p", url).server == server
