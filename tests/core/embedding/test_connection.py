"""A provider's client is made when it is needed, with the credentials that belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from commonplace.embedding.http.client import Answer
from commonplace.embedding.http.endpoint import Connection, Endpoint, read_vectors
from commonplace.errors import ProviderError
from commonplace.protocols.providers import ProviderContext
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Sequence

KEY = "sekrit-0123456789-abcdef"


class Network:
    """Remembers requests, and answers with their headers' names."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    def connection(self, *, wanted: str = "", **given: Any) -> Connection:
        def handle(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            return httpx.Response(200, json={})

        context = ProviderContext(transport=httpx.MockTransport(handle), **given)
        endpoint = Endpoint("vendor", "https://embeddings.test/v1")
        return Connection("vendor", endpoint, context, explain=lambda *_: None, wanted=wanted)

    def authorization(self, connection: Connection) -> str | None:
        connection().post("x", {}, deadline=NEVER)
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
    assert network.authorization(network.connection(**given)) == sent


def test_a_key_that_is_wanted_and_missing_is_said(network: Network) -> None:
    connection = network.connection(wanted="set VENDOR_KEY")
    with pytest.raises(ProviderError, match="vendor: no API key found") as caught:
        connection()
    assert (caught.value.kind, caught.value.hint) == ("auth", "set VENDOR_KEY")
    own = network.connection(wanted="set VENDOR_KEY", headers={"Authorization": "Basic x"})
    assert network.authorization(own) == "Basic x"


def test_one_client_serves_until_it_is_closed(network: Network) -> None:
    connection = network.connection()
    first = connection()
    assert connection() is first
    connection.close()
    connection.close()
    assert connection() is not first


def test_a_length_that_was_not_asked_for_is_an_error(network: Network) -> None:
    client = network.connection()()
    answer = Answer([[1.0, 2.0]], {"x-request-id": "r"})
    for dims in (None, 2):
        vectors = read_vectors(client, answer, list, dims=dims, hint="x")
        assert vectors == [[1.0, 2.0]]
    with pytest.raises(
        ProviderError, match="3 dimensions were asked for, and 2 came back"
    ) as found:
        read_vectors(client, answer, list, dims=3, hint="x")
    assert (found.value.kind, found.value.hint, found.value.request_id) == ("protocol", "x", "r")


def test_what_cannot_be_read_is_an_error_in_the_reader_s_words(network: Network) -> None:
    def read(_: object) -> list[Sequence[float]]:
        raise ValueError("the answer holds nothing")

    client = network.connection()()
    with pytest.raises(ProviderError, match="vendor: the answer holds nothing") as found:
        read_vectors(client, Answer(None, {"x-request-id": "r"}), read, dims=None, hint="x")
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
