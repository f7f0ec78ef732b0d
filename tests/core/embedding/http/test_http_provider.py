"""The base of HTTP providers: its client and credentials, and the length of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from commonplace.embedding.http.provider import Endpoint, HttpProvider
from commonplace.errors import ProviderError
from commonplace.protocols.providers import ProviderContext
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Sequence

KEY = "sekrit-0123456789-abcdef"


class Vendor(HttpProvider):
    name = "vendor"
    dims_hint = "x"


class BrokenVendor(Vendor):
    def read(self, *_: object) -> list[Sequence[float]]:
        raise ValueError("the answer holds nothing")


class Network:
    """Remembers requests, and answers all with one vector of two dimensions."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    def provider(
        self, kind: type[Vendor] = Vendor, *, wanted: str = "", **given: Any
    ) -> HttpProvider:
        def handle(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            body = {"data": [{"embedding": [1.0, 2.0]}]}
            return httpx.Response(200, json=body, headers={"x-request-id": "r"})

        context = ProviderContext(transport=httpx.MockTransport(handle), **given)
        endpoint = Endpoint("vendor", "https://embeddings.test/v1")
        return kind(context, endpoint, "m", wanted=wanted)

    def authorization(self, provider: HttpProvider) -> str | None:
        provider.client().post("x", {}, deadline=NEVER)
        found: str | None = self.requests[-1].headers.get("authorization")
        return found


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"api_key": KEY}, f"Bearer {KEY}"),
        ({"api_key": f" {KEY}\n"}, f"Bearer {KEY}"),
        ({}, None),
        ({"api_key": "  "}, None),
        ({"api_key": KEY, "headers": {"AUTHORIZATION": "Basic x"}}, "Basic x"),
        ({"headers": {"authorization": "Basic x"}}, "Basic x"),
    ],
)
def test_the_key_goes_into_its_header_unless_the_user_has_one(
    network: Network, given: dict[str, Any], sent: str | None
) -> None:
    assert network.authorization(network.provider(**given)) == sent


def test_a_key_that_is_wanted_and_missing_is_said(network: Network) -> None:
    provider = network.provider(wanted="set VENDOR_KEY")
    with pytest.raises(ProviderError, match="vendor: no API key found") as caught:
        provider.client()
    assert (caught.value.kind, caught.value.hint) == ("auth", "set VENDOR_KEY")
    own = network.provider(wanted="set VENDOR_KEY", headers={"Authorization": "Basic x"})
    assert network.authorization(own) == "Basic x"


def test_one_client_serves_until_it_is_closed(network: Network) -> None:
    provider = network.provider()
    first = provider.client()
    assert provider.client() is first
    provider.close()
    provider.close()
    assert provider.client() is not first


def test_a_length_that_was_not_asked_for_is_an_error(network: Network) -> None:
    for dims in (None, 2):
        vectors = network.provider(dims=dims).embed(["a"], purpose="query", deadline=NEVER)
        assert [list(vector) for vector in vectors] == [[1.0, 2.0]]
    with pytest.raises(
        ProviderError, match="3 dimensions were asked for, and 2 came back"
    ) as found:
        network.provider(dims=3).embed(["a"], purpose="query", deadline=NEVER)
    assert (found.value.kind, found.value.hint, found.value.request_id) == ("protocol", "x", "r")


def test_what_cannot_be_read_is_an_error_in_the_reader_s_words(network: Network) -> None:
    with pytest.raises(ProviderError, match="vendor: the answer holds nothing") as found:
        network.provider(BrokenVendor).embed(["a"], purpose="query", deadline=NEVER)
    assert (found.value.kind, found.value.request_id) == ("protocol", "r")
    assert "x" not in found.value.hint


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, {"query": "q: ", "document": "d: "}),
        ({"query_prefix": ""}, {"query": "", "document": "d: "}),
        ({"document_prefix": "own: "}, {"query": "q: ", "document": "own: "}),
    ],
)
def test_a_prefix_of_the_configuration_wins_even_if_it_is_empty(
    given: dict[str, Any], found: dict[str, str]
) -> None:
    assert ProviderContext(**given).prefixes("q: ", "d: ") == found
    assert ProviderContext().prefixes() == {"query": "", "document": ""}
