"""What a connection keeps and is limited to, and the instructions that it begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.plugins.mcp.conftest import ask, env_of
from tests.plugins.mcp.test_protocol import Client

from commonplace import Memory, UnavailableError
from commonplace_mcp.surface import RefusedError, Surface

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]


@pytest.fixture
def client(surface: Surface) -> Client:
    return Client(surface)


class TestSubscriptions:
    @pytest.mark.parametrize("known", [True, False])
    def test_what_no_subscription_wants_any_more_is_forgotten(
        self, client: Client, *, known: bool
    ) -> None:
        uris = ["memory://notes/MEMORY.md" if known else "memory://notes/memory/later.md"]
        for id_ in ("a", "b"):
            asked = ask(id_, "subscriptions/listen", notifications={"resourceSubscriptions": uris})
            assert client.connection.answer(asked) is None
        client.connection.cancelled("a")
        assert list(client.connection._seen) == uris
        client.connection.cancelled("b")
        assert client.connection._seen == {}

    def test_subscriptions_are_limited_together(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("commonplace_mcp.protocol.MOST_SUBSCRIPTIONS", 3)

        def listen(id_: str, *names: str) -> Json | None:
            uris = [f"memory://notes/memory/{name}.md" for name in names]
            wanted = {"resourceSubscriptions": uris}
            return client.connection.answer(ask(id_, "subscriptions/listen", notifications=wanted))

        assert listen("a", "1", "2", "2") is None
        refused = listen("b", "2", "3", "4")
        assert refused is not None
        assert refused["error"]["code"] == -32602
        assert "3 resources at a time, and this one has 2" in refused["error"]["message"]
        assert listen("b", "2", "3") is None  # the second is not counted twice
        assert listen("c") is None
        assert "3 streams at a time" in (listen("d") or {})["error"]["message"]
        client.connection.cancelled("a")
        assert listen("d", "4") is None
        assert [message["method"].rpartition("/")[2] for message in client.sent] == [
            "acknowledged"
        ] * 4

    def test_files_are_watched_once_that_has_succeeded(
        self, surface: Surface, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened = surface._open
        tries: list[str] = []

        def fails_once(agent: str) -> Memory:
            tries.append(agent)
            if len(tries) == 1:
                raise UnavailableError("the disk is away")
            return opened(agent)

        watched: list[Memory] = []

        def watch(memory: Memory) -> None:
            watched.append(memory)

        monkeypatch.setattr(surface, "_open", fails_once)
        monkeypatch.setattr(Memory, "watch", watch)
        with pytest.raises(RefusedError):
            surface.watch()
        surface.watch()
        surface.watch()
        assert len(watched) == 1


class TestInstructions:
    @pytest.mark.parametrize(
        ("key", "citations", "cited"),
        [
            ("", "auto", True),
            ("agent:main:slack:channel:c1", "auto", False),
            ("agent:main:slack:channel:c1", "on", True),
            ("", "off", False),
        ],
    )
    @pytest.mark.parametrize("writes", [True, False])
    def test_they_follow_the_chat_and_the_configuration(
        self, mcp_home: Path, key: str, citations: str, *, cited: bool, writes: bool
    ) -> None:
        config = {"memory": {"citations": citations, "write": {"enabled": writes}}}
        workspace = mcp_home / "notes"
        surface = Surface(
            lambda _: Memory.open(workspace=workspace, config=config, env=env_of(mcp_home)),
            [""],
            session_key=key,
        )
        client = Client(surface)
        text = client.ask("server/discover")["result"]["instructions"]
        shaken = Client(surface).bare("initialize")["result"]["instructions"]
        surface.close()
        assert text == shaken
        assert ("Cite what you use." in text) is cited
        assert ("memory_write" in text) is writes

    @pytest.mark.parametrize(("key", "cited"), [("", True), ("agent:main:slack:group:g", False)])
    def test_they_are_given_where_memory_cannot_be_opened(self, key: str, *, cited: bool) -> None:
        def fail(_: str) -> Memory:
            raise UnavailableError("the disk is away")

        text = Surface(fail, [""], session_key=key).instructions()
        assert ("Cite what you use." in text) is cited
        assert "memory_write" not in text
