"""The question to the user before a delete: who is asked, and which answer counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.plugins.mcp.conftest import PREFIX

from commonplace import Memory
from commonplace.cli.forms import suggesting
from commonplace.host.host import PluginHost
from commonplace_mcp.asking import SECONDS, Asking
from commonplace_mcp.protocol import Connection
from commonplace_mcp.surface import MissingCapabilityError, RefusedError, Surface

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CAN: dict[str, Any] = {"elicitation": {"form": {}}}
NOTE = "# Keys\n\n- Staging is on port 8471.\n- The spare key is at the bakery.\n"
CITED = "memory/keys.md#L4"
CALL: dict[str, Any] = {"name": "memory_forget", "arguments": {"citation": CITED}}
YES = {"forget": {"action": "accept", "content": {"forget": True}}}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "memory" / "keys.md").write_text(NOTE)
    return tmp_path / "notes"


@pytest.fixture
def surface(notes: Path) -> Iterator[Surface]:
    """A server's offer where agents may write."""
    env = {f"COMMONPLACE_{name}_DIR": str(notes.parent / name) for name in ("STATE", "CACHE")}
    config = {"memory": {"write": {"enabled": True}}}
    made = Surface(
        lambda agent: Memory.open(
            workspace=notes, agent=agent or None, config=config, env={**env, "HOME": str(notes)}
        ),
        [""],
        suggesting=lambda text, _: suggesting(
            text, {"--workspace": "/my notes"}, ("forget", "index", "config"), PluginHost, {}
        ),
    )
    yield made
    made.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def asking(surface: Surface, clock: Clock) -> Asking:
    return Asking(surface, clock)


def test_the_user_is_shown_the_lines_and_then_they_are_deleted(
    asking: Asking, surface: Surface, notes: Path
) -> None:
    asked, _ = asking.first(CALL, CAN)
    assert asked is not None
    assert asked["resultType"] == "input_required"
    form = asked["inputRequests"]["forget"]["params"]
    assert "spare key is at the bakery" in form["message"]
    assert "memory/keys.md, lines 4 to 4" in form["message"]
    again = {**CALL, "inputResponses": YES, "requestState": asked["requestState"]}
    answer, arguments = asking.first(again, CAN)
    assert answer is None
    done = surface.call("memory_forget", arguments, None)
    assert done["isError"] is False, done
    assert "commonplace undo" in done["content"][0]["text"]
    assert "bakery" not in (notes / "memory" / "keys.md").read_text()


def test_of_lines_that_moved_the_user_is_shown_those_that_are_meant(
    asking: Asking, surface: Surface, notes: Path
) -> None:
    file = notes / "memory" / "keys.md"
    file.write_text(NOTE.replace("# Keys\n\n", "# Keys\n\n- Allergic to penicillin.\n"))
    arguments = {"citation": CITED, "was": "- The spare key is at the bakery."}
    call = {"name": "memory_forget", "arguments": arguments}
    asked, _ = asking.first(call, CAN)
    assert asked is not None
    message = asked["inputRequests"]["forget"]["params"]["message"]
    assert "memory/keys.md, lines 5 to 5" in message
    assert message.endswith("\n\n- The spare key is at the bakery.")
    with pytest.raises(MissingCapabilityError, match=r"keys\.md#L5'$"):
        asking.first(call, {})
    again = {**call, "inputResponses": YES, "requestState": asked["requestState"]}
    answer, given = asking.first(again, CAN)
    assert answer is None
    done = surface.call("memory_forget", given, None)
    assert done["isError"] is False, done
    assert file.read_text() == ("# Keys\n\n- Allergic to penicillin.\n- Staging is on port 8471.\n")


def test_what_a_deleted_line_says_is_left_as_it_is(surface: Surface, notes: Path) -> None:
    file = notes / "memory" / "keys.md"
    file.write_text("# Keys\n\n- Then run: commonplace index\n")
    done = surface.call("memory_forget", {"citation": "memory/keys.md#L3"}, None)
    text = done["content"][0]["text"]
    assert "To undo it: commonplace undo" in text
    assert "- Then run: commonplace index\n" in text


@pytest.mark.parametrize(
    "answers",
    [
        {"forget": {"action": "decline"}},
        {"forget": {"action": "cancel"}},
        {"forget": {"action": "accept", "content": {"forget": False}}},
        {"forget": {"action": "accept", "content": {"forget": "true"}}},
        {"forget": {"action": "accept"}},
        {"forget": "accept"},
        {"other": {"action": "accept", "content": {"forget": True}}},
        {},
    ],
)
def test_anything_but_a_yes_is_a_no(asking: Asking, answers: Any) -> None:
    asked, _ = asking.first(CALL, CAN)
    assert asked is not None
    again = {**CALL, "inputResponses": answers, "requestState": asked["requestState"]}
    answer, arguments = asking.first(again, CAN)
    assert answer is not None
    assert answer["isError"] is True
    assert "did not agree" in answer["content"][0]["text"]
    assert arguments is None


def test_a_state_is_good_once_and_for_its_question_alone(
    asking: Asking, surface: Surface, clock: Clock, notes: Path
) -> None:
    def state() -> Any:
        asked, _ = asking.first(CALL, CAN)
        assert asked is not None
        return asked["requestState"]

    def refused(call: Any) -> bool:
        try:
            asking.first(call, CAN)
        except RefusedError as error:
            return error.data == {"reason": "invalid_request_state"}
        return False

    good = {**CALL, "inputResponses": YES, "requestState": state()}
    asking.first(good, CAN)
    assert refused(good), "it was used before"
    other = {**CALL, "arguments": {"citation": "memory/keys.md#L3"}}
    assert refused({**other, "inputResponses": YES, "requestState": state()}), "another line"
    wrong: Any
    for wrong in ("", "a.b.c", "a.1.c", 7, [], f"{state()}x", "ä.1.c", "a.1.c.d"):
        assert refused({**CALL, "inputResponses": YES, "requestState": wrong}), wrong
    assert not refused({**CALL, "inputResponses": YES}), "without a state the user is asked again"
    elsewhere = Asking(surface, clock)
    late = {**CALL, "inputResponses": YES, "requestState": state()}
    with pytest.raises(RefusedError):
        elsewhere.first(late, CAN)
    clock.now += SECONDS + 1
    assert refused(late), "it is too old"
    changed = {**CALL, "inputResponses": YES, "requestState": state()}
    (notes / "memory" / "keys.md").write_text(NOTE.replace("bakery", "harbour"))
    assert refused(changed), "the lines are others than the user saw"


@pytest.mark.parametrize(
    "capabilities", [None, {}, {"elicitation": {"url": {}}}, "all", {"roots": {}}]
)
def test_a_client_that_cannot_ask_is_refused_with_the_way_to_do_it(
    asking: Asking, capabilities: Any
) -> None:
    with pytest.raises(MissingCapabilityError) as caught:
        asking.first(CALL, capabilities)
    assert str(caught.value).endswith(
        "The user can run: commonplace forget --workspace '/my notes' 'memory/keys.md#L4'"
    )
    assert caught.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}


def test_the_older_form_of_the_capability_counts(asking: Asking) -> None:
    asked, _ = asking.first(CALL, {"elicitation": {}})
    assert asked is not None


@pytest.mark.parametrize(
    "call",
    [
        {"name": "memory_search", "arguments": {"query": "key"}},
        {"name": "memory_forget", "arguments": {"citation": "memory/none.md#L1"}},
        {"name": "memory_forget", "arguments": {"citation": "memory/keys.md#L99"}},
        {"name": "memory_forget", "arguments": {"citation": CITED, "was": "- It is gone."}},
        {"name": "memory_forget", "arguments": {"citation": CITED, "was": 3}},
        {"name": "memory_forget", "arguments": "all"},
        {"name": "memory_forget"},
        {},
    ],
)
def test_nothing_is_asked_where_nothing_would_be_deleted(asking: Asking, call: Any) -> None:
    answer, arguments = asking.first(call, None)
    assert answer is None
    assert arguments == call.get("arguments")


# --- in each era

ENVELOPE = {
    PREFIX + "protocolVersion": "2026-07-28",
    PREFIX + "clientCapabilities": CAN,
}


def answer_of(connection: Connection, method: str, **params: object) -> Any:
    return connection.answer({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def test_a_modern_client_is_asked(surface: Surface, notes: Path) -> None:
    connection = Connection(surface, lambda _: None)
    asked = answer_of(connection, "tools/call", _meta=ENVELOPE, **CALL)["result"]
    assert asked["resultType"] == "input_required"
    assert asked["_meta"]
    assert (notes / "memory" / "keys.md").read_text() == NOTE
    more = {"inputResponses": YES, "requestState": asked["requestState"]}
    done = answer_of(connection, "tools/call", _meta=ENVELOPE, **CALL, **more)["result"]
    assert done["resultType"] == "complete"
    assert not done["isError"], done
    assert "bakery" not in (notes / "memory" / "keys.md").read_text()
    again = answer_of(connection, "tools/call", _meta=ENVELOPE, **CALL, **more)
    assert again["result"]["isError"], "the line is gone"


def test_a_modern_client_that_cannot_ask_gets_the_error_of_the_protocol(surface: Surface) -> None:
    connection = Connection(surface, lambda _: None)
    meta = {**ENVELOPE, PREFIX + "clientCapabilities": {}}
    error = answer_of(connection, "tools/call", _meta=meta, **CALL)["error"]
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}
    ok = answer_of(connection, "tools/call", _meta=meta, name="memory_get", arguments={"path": "x"})
    assert "result" in ok


def test_an_older_client_is_warned_by_the_list_of_tools(surface: Surface, notes: Path) -> None:
    connection = Connection(surface, lambda _: None)
    answer_of(connection, "initialize", protocolVersion="2025-11-25", capabilities=CAN)
    listed = answer_of(connection, "tools/list")["result"]["tools"]
    hints = {tool["name"]: tool["annotations"]["destructiveHint"] for tool in listed}
    assert hints == {
        "memory_search": False,
        "memory_get": False,
        "memory_write": False,
        "memory_correct": True,
        "memory_forget": True,
    }
    assert not answer_of(connection, "tools/call", **CALL)["result"]["isError"]
    assert "bakery" not in (notes / "memory" / "keys.md").read_text()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # the SDK uses what Python deprecates
@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_asks_its_user(
    surface: Surface, notes: Path, mode: Any, yes: bool
) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    import asyncio

    import mcp_types as types
    from mcp.client import Client

    from commonplace_mcp.http import sdk_server

    seen = []

    async def ask_user(_: object, params: Any) -> Any:
        seen.append(params.message)
        return types.ElicitResult(action="accept", content={"forget": yes})

    async def use() -> Any:
        server = sdk_server(surface)
        callback: Any = ask_user
        async with Client(server, mode=mode, elicitation_callback=callback) as client:
            return await client.call_tool("memory_forget", {"citation": CITED})

    result = asyncio.run(use())
    asks = mode == "auto"
    assert len(seen) == asks
    assert result.is_error == (asks and not yes)
    assert ("bakery" in (notes / "memory" / "keys.md").read_text()) == (asks and not yes)
    if asks:
        assert "spare key is at the bakery" in seen[0]
