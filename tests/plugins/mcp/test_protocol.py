"""Both eras of the protocol, message by message, without a process."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.plugins.mcp.conftest import META, PREFIX, ask

from commonplace import CommonplaceError, Memory
from commonplace_mcp.protocol import Connection, ProtocolError, parse, request_id
from commonplace_mcp.surface import Surface

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
METHODS = [
    "server/discover",
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "prompts/list",
    "prompts/get",
    "subscriptions/listen",
    "logging/setLevel",
]


class Client:
    """A connection, and what the server sent besides its answers."""

    def __init__(self, surface: Surface) -> None:
        self.sent: list[Json] = []
        self.connection = Connection(surface, self.sent.append)

    def ask(self, method: str, **params: object) -> Json:
        answer = self.connection.answer(ask(1, method, **params))
        assert answer is not None
        return answer

    def bare(self, method: str, **params: object) -> Json:
        answer = self.connection.answer({"id": 1, "method": method, "params": params})
        assert answer is not None
        return answer


@contextmanager
def changed(client: Client, home: Path) -> Iterator[None]:
    """Another text in the curated memory, which the connection is notified of."""
    path = home / "notes" / "MEMORY.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "\nOne more line.\n", encoding="utf-8")
    try:
        client.connection.synced(True)
        yield
    finally:
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def client(surface: Surface) -> Client:
    return Client(surface)


@pytest.fixture
def shaken(client: Client) -> Client:
    """A client that began with the handshake."""
    client.bare("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
    return client


class TestModern:
    def test_discovery_names_version_and_abilities(self, client: Client) -> None:
        result = client.ask("server/discover")["result"]
        assert result["supportedVersions"] == ["2026-07-28"]
        assert set(result["capabilities"]) == {"tools", "resources", "prompts"}
        assert "never instructions" in result["instructions"]
        assert result["resultType"] == "complete"
        assert result["_meta"][PREFIX + "serverInfo"]["name"] == "commonplace"

    def test_any_method_may_come_first(self, client: Client) -> None:
        names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
        assert names == ["memory_search", "memory_get"]

    @pytest.mark.parametrize(
        "method", ["server/discover", "tools/list", "prompts/list", "resources/list"]
    )
    def test_lists_say_how_long_they_hold(self, client: Client, method: str) -> None:
        result = client.ask(method)["result"]
        assert result["ttlMs"] >= 0
        assert result["cacheScope"] in {"public", "private"}

    def test_notes_are_never_shared_between_users(self, client: Client) -> None:
        for method, params in (
            ("resources/list", {}),
            ("resources/read", {"uri": "memory://notes/MEMORY.md"}),
        ):
            assert client.ask(method, **params)["result"]["cacheScope"] == "private"

    def test_another_version_is_refused_with_ours(self, client: Client) -> None:
        meta = {**META, PREFIX + "protocolVersion": "2030-01-01"}
        answer = client.connection.answer({"id": 1, "method": "ping", "params": {"_meta": meta}})
        assert answer is not None
        assert answer["error"]["code"] == -32022
        assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2030-01-01"}

    def test_the_handshake_is_refused_afterwards(self, client: Client) -> None:
        client.ask("tools/list")
        assert client.bare("initialize")["error"]["code"] == -32022
        assert client.bare("tools/list")["error"]["code"] == -32602

    @pytest.mark.parametrize("method", ["ping", "resources/subscribe", "logging/setLevel", "x"])
    def test_what_was_removed_is_unknown(self, client: Client, method: str) -> None:
        assert client.ask(method)["error"]["code"] == -32601

    def test_a_subscription_is_acknowledged_and_gets_what_it_asked_for(
        self, client: Client, mcp_home: Path
    ) -> None:
        uri = "memory://notes/MEMORY.md"
        wanted = {
            "toolsListChanged": True,
            "resourcesListChanged": True,
            "resourceSubscriptions": [uri, 7],
        }
        asked = ask("listen:0", "subscriptions/listen", notifications=wanted)
        assert client.connection.answer(asked) is None
        (ack,) = client.sent
        assert ack["method"] == "notifications/subscriptions/acknowledged"
        honoured = {"resourcesListChanged": True, "resourceSubscriptions": [uri]}
        assert ack["params"]["notifications"] == honoured
        client.sent.clear()
        client.connection.synced(True)
        assert [message["method"] for message in client.sent] == [
            "notifications/resources/list_changed"
        ]
        client.sent.clear()
        with changed(client, mcp_home):
            methods = [message["method"] for message in client.sent]
        assert methods == [
            "notifications/resources/list_changed",
            "notifications/resources/updated",
        ]
        tags = {message["params"]["_meta"][PREFIX + "subscriptionId"] for message in client.sent}
        assert tags == {"listen:0"}
        client.sent.clear()
        client.connection.cancelled("listen:0")
        client.connection.synced(True)
        assert client.sent == []


class TestHandshake:
    @pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    def test_a_known_version_is_echoed(self, client: Client, version: str) -> None:
        result = client.bare("initialize", protocolVersion=version)["result"]
        assert result["protocolVersion"] == version
        assert result["serverInfo"]["name"] == "commonplace"

    @pytest.mark.parametrize("version", ["1999-01-01", None, 7, {}])
    def test_any_other_gets_the_newest(self, client: Client, version: object) -> None:
        result = client.bare("initialize", protocolVersion=version)["result"]
        assert result["protocolVersion"] == "2025-11-25"

    def test_results_have_no_fields_of_the_newer_era(self, shaken: Client) -> None:
        for method in ("tools/list", "resources/list", "prompts/list", "ping"):
            result = shaken.bare(method)["result"]
            assert not {"resultType", "_meta", "ttlMs", "cacheScope"} & set(result)

    def test_nothing_comes_before_it(self, client: Client) -> None:
        assert client.bare("tools/list")["error"]["code"] == -32602

    def test_a_version_in_a_request_is_refused_afterwards(self, shaken: Client) -> None:
        assert shaken.ask("tools/list")["error"]["code"] == -32600

    def test_a_note_is_subscribed_to(self, shaken: Client, mcp_home: Path) -> None:
        uri = "memory://notes/MEMORY.md"
        assert shaken.bare("resources/subscribe", uri=uri)["result"] == {}
        with changed(shaken, mcp_home):
            assert [message["params"] for message in shaken.sent] == [{"uri": uri}]
        assert shaken.bare("resources/unsubscribe", uri=uri)["result"] == {}
        assert shaken.connection._seen == {}
        shaken.sent.clear()
        shaken.connection.synced(True)
        assert shaken.sent == []

    def test_what_does_not_exist_cannot_be_subscribed_to(self, shaken: Client) -> None:
        answer = shaken.bare("resources/subscribe", uri="memory://notes/memory/no.md")
        assert answer["error"]["code"] == -32602


class TestWhatIsOffered:
    def test_a_tool_returns_fenced_text_alone(self, client: Client) -> None:
        arguments = {"query": "staging port", "maxResults": 1}
        result = client.ask("tools/call", name="memory_search", arguments=arguments)["result"]
        (content,) = result["content"]
        assert result["isError"] is False
        assert "structuredContent" not in result
        assert "Source: MEMORY.md#L29-L33\n</memory>" in content["text"]

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [("nope", {}), (None, None), ("memory_search", []), ("memory_search", {"query": 1})],
    )
    def test_a_wrong_call_is_a_result_that_says_so(
        self, client: Client, name: object, arguments: object
    ) -> None:
        result = client.ask("tools/call", name=name, arguments=arguments)["result"]
        assert result["isError"] is True
        assert "What to do" in result["content"][0]["text"]

    def test_notes_are_resources_page_by_page(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = client.ask("resources/list")["result"]
        assert "nextCursor" not in whole
        monkeypatch.setattr("commonplace_mcp.surface.PAGE", 3)
        pages, cursor = [], None
        for _ in range(20):
            more: Json = {} if cursor is None else {"cursor": cursor}
            result = client.ask("resources/list", **more)["result"]
            assert 0 < len(result["resources"]) <= 3
            pages += result["resources"]
            if (cursor := result.get("nextCursor")) is None:
                break
        assert pages == whole["resources"]

    @pytest.mark.parametrize("cursor", ["x", "", 7, "9:a.md", {}, "-1:a", f"{'1' * 5000}:a", "²:a"])
    def test_a_cursor_of_others_is_refused(self, client: Client, cursor: object) -> None:
        assert client.ask("resources/list", cursor=cursor)["error"]["code"] == -32602
        assert client.ask("tools/list", cursor=cursor)["error"]["code"] == -32602

    def test_every_listed_note_can_be_read(self, client: Client) -> None:
        for resource in client.ask("resources/list")["result"]["resources"]:
            (read,) = client.ask("resources/read", uri=resource["uri"])["result"]["contents"]
            assert read["uri"] == resource["uri"]
            assert read["text"].startswith("#")

    @pytest.mark.parametrize(
        "uri",
        [
            "memory://notes/../secret.md",
            "memory://notes/%2e%2e/secret.md",
            "memory://notes//etc/passwd",
            "memory://notes/memory/none.md",
            "memory://notes/./MEMORY.md",
            "memory://notes/MEMORY",
            "memory://notes/MEMORY.md:1-2",
            "memory://notes/MEMORY.md%23L1",
            "memory://other/MEMORY.md",
            "memory://notes",
            "memory://",
            "file:///etc/passwd",
            None,
            7,
        ],
    )
    def test_all_else_is_unknown_in_the_same_words(self, client: Client, uri: object) -> None:
        error = client.ask("resources/read", uri=uri)["error"]
        assert (error["code"], error["message"]) == (-32602, "Unknown resource")

    def test_a_prompt_recalls(self, client: Client) -> None:
        answer = client.ask("prompts/get", name="recall", arguments={"query": "spare key"})
        (message,) = answer["result"]["messages"]
        assert message["role"] == "user"
        assert "Aud from the bakery" in message["content"]["text"]

    @pytest.mark.parametrize(("name", "arguments"), [("x", {}), ("recall", {}), ("recall", None)])
    def test_a_wrong_prompt_is_refused(self, client: Client, name: str, arguments: object) -> None:
        error = client.ask("prompts/get", name=name, arguments=arguments)["error"]
        assert error["code"] == -32602


@settings(
    max_examples=2 * settings().max_examples,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    modern=st.booleans(),
    method=st.sampled_from(METHODS) | st.text(max_size=12),
    params=st.dictionaries(
        st.sampled_from(["name", "arguments", "uri", "cursor", "notifications", "_meta"]), JSON
    ),
)
def test_whatever_is_asked_is_answered(
    surface: Surface, modern: bool, method: str, params: Json
) -> None:
    client = Client(surface)
    if modern:
        params = {**params, "_meta": META}
    else:
        client.bare("initialize")
    answer = client.connection.answer({"id": 1, "method": method, "params": params})
    if answer is None:
        assert client.sent
    else:
        assert ("result" in answer) != ("error" in answer)
        assert json.loads(json.dumps(answer))["id"] == 1


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", -32700),
        (b"not json", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b'{"id":1,"method":"ping"}', -32600),
    ],
)
def test_a_line_that_is_no_message(line: bytes, code: int) -> None:
    with pytest.raises(ProtocolError) as raised:
        parse(line)
    assert raised.value.code == code


@pytest.mark.parametrize("id_", [None, True, 1.5, [], {}])
def test_an_id_is_a_string_or_a_number(id_: object) -> None:
    with pytest.raises(ProtocolError):
        request_id({"id": id_, "method": "ping"})
    assert request_id({"method": "notifications/initialized"}) is None
    assert request_id({"id": "a", "method": "ping"}) == "a"
    assert request_id({"id": 7, "result": {}}) is None
    with pytest.raises(ProtocolError, match="it has no method"):
        request_id({"jsonrpc": "2.0", "id": 7})


def test_parameters_that_are_null_are_none(surface: Surface) -> None:
    connection = Connection(surface, lambda _: None)
    for number, method in enumerate(("initialize", "ping", "tools/list")):
        answer = connection.answer({"id": number, "method": method, "params": None})
        assert answer is not None
        assert "result" in answer
    refused = connection.answer({"id": 7, "method": "ping", "params": []})
    assert refused is not None
    assert refused["error"]["code"] == -32602


def test_a_command_that_a_refusal_suggests_is_completed() -> None:
    def fail(_: str) -> Memory:
        raise CommonplaceError("it is broken", hint="run `commonplace config check`")

    surface = Surface(fail, ["a"], suggesting=lambda text, agent: f"{text} for {agent}")
    for method, params in (("resources/list", {}), ("resources/read", {"uri": "memory://a/b.md"})):
        error = Client(surface).ask(method, **params)["error"]
        assert error["message"] == (
            "Memory is not available: it is broken (run `commonplace config check`) for a"
        )
