"""The server over HTTP: the official client in each era, and requests that are refused."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.plugins.mcp.conftest import META

from commonplace.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

pytest.importorskip("mcp", reason="the extra mcp is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # the SDK uses what Python deprecates
]

TOKEN = "a-token-of-enough-characters"
BODY: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {"_meta": META},
}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/list",
}


@contextmanager
def served(
    command: Sequence[str], env: Mapping[str, str], *options: str, logged: list[str] | None = None
) -> Iterator[str]:
    """The address of a server on a free port; it ends by a signal, with code 0.

    What it has written to standard error by then is added to ``logged``.
    """
    server = subprocess.Popen(
        [*command, "--http", "127.0.0.1:0", *options],
        env=env,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        line = server.stderr.readline()
        assert line.startswith("note: serving http://127.0.0.1:"), line
        yield line.removeprefix("note: serving ").partition(";")[0]
    finally:
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=30)
        if logged is not None:
            logged.append(err)
    assert server.returncode == 0, err


@pytest.fixture(scope="module")
def address(mcp_home: Any) -> Iterator[str]:
    from tests.plugins.mcp.conftest import env_of

    command = [sys.executable, "-m", "commonplace", "mcp", "--workspace", str(mcp_home / "notes")]
    with served(command, env_of(mcp_home)) as address:
        yield address


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_official_client_searches_and_reads(address: str, mode: Any) -> None:
    from mcp.client import Client

    async def use() -> None:
        client: Any
        async with Client(address, mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == ["memory_search", "memory_get"]
            found = await client.call_tool("memory_search", {"query": "which port is staging on"})
            assert "Source: MEMORY.md#L29-L33" in found.content[0].text
            assert found.structured_content is None
            read = await client.read_resource("memory://notes/MEMORY.md")
            assert "Skerry" in read.contents[0].text
            given = await client.get_prompt("recall", {"query": "spare key"})
            assert "Aud from the bakery" in given.messages[0].content.text

    asyncio.run(use())


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Host", "evil.example", 421),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://127.0.0.1.evil.example", 403),
        ("Origin", "http://localhost:3000", 200),
    ],
)
def test_a_web_page_elsewhere_is_refused(
    address: str, header: str, value: str, status: int
) -> None:
    answer = httpx.post(address, json=BODY, headers={**HEADERS, header: value})
    assert answer.status_code == status


def test_a_page_of_another_local_server_cannot_send_json_by_a_browser(address: str) -> None:
    """A browser asks first, as JSON is no type of a form, and nothing allows the page to."""
    origin = {"Origin": "http://localhost:3000"}
    asks = {
        **origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    first = httpx.options(address, headers=asks)
    assert not [name for name in first.headers if name.startswith("access-control-")]
    plain = {**HEADERS, **origin, "Content-Type": "text/plain"}
    assert httpx.post(address, json=BODY, headers=plain).status_code in (400, 415)


def test_with_a_token_only_its_bearer_is_answered(
    command: Sequence[str], env: Mapping[str, str]
) -> None:
    with served(command, {**env, "COMMONPLACE_MCP_TOKEN": TOKEN}) as address:
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            answer = httpx.post(address, json=BODY, headers={**HEADERS, **given})
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx.post(address, json=BODY, headers={**HEADERS, **right}).status_code == 200


def test_another_name_is_accepted_where_it_is_allowed(
    command: Sequence[str], env: Mapping[str, str]
) -> None:
    with served(command, env, "--allow-host", "memory.example") as address:
        for host, status in (("memory.example", 200), ("other.example", 421)):
            answer = httpx.post(address, json=BODY, headers={**HEADERS, "Host": host})
            assert answer.status_code == status


HELD = """
import sys, threading
from commonplace.cli import main
from commonplace_mcp.surface import Surface
entered = sys.argv.pop(1)
def held(self):
    open(entered, "w").close()
    threading.Event().wait()
Surface.tools = held
main()
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_a_call_that_still_runs_is_not_waited_for(
    command: Sequence[str], env: Mapping[str, str], tmp_path: Path
) -> None:
    entered = tmp_path / "entered"
    os.mkfifo(entered)
    holding = [sys.executable, "-c", HELD, str(entered), *command[3:]]
    with socket.socket() as client, served(holding, env) as address:
        place = httpx.URL(address)
        client.connect((place.host, place.port))
        body = json.dumps(BODY)
        headers = {**HEADERS, "Host": place.netloc.decode(), "Content-Type": "application/json"}
        headers["Content-Length"] = str(len(body))
        lines = ["POST /mcp HTTP/1.1", *(f"{key}: {one}" for key, one in headers.items())]
        client.sendall("\r\n".join([*lines, "", body]).encode())
        entered.read_text()


@pytest.mark.parametrize("newer", [True, False])
def test_a_client_that_goes_away_is_nothing_to_log(
    command: Sequence[str], env: Mapping[str, str], *, newer: bool
) -> None:
    logged: list[str] = []
    with served(command, env, logged=logged) as address:
        place = httpx.URL(address)
        with socket.create_connection((place.host, place.port or 0), timeout=30) as half:
            headers = {**HEADERS, "Host": place.netloc.decode(), "Content-Length": "500"}
            if not newer:
                del headers["MCP-Protocol-Version"]
            headers |= {"Content-Type": "application/json", "Expect": "100-continue"}
            lines = ["POST /mcp HTTP/1.1", *(f"{key}: {one}" for key, one in headers.items())]
            half.sendall("\r\n".join([*lines, "", "{"]).encode())
            assert half.recv(100).startswith(b"HTTP/1.1 100")  # its body is being read
        assert httpx.post(address, json=BODY, headers=HEADERS).status_code == 200
    assert logged == [""]


@pytest.mark.parametrize(
    ("options", "token", "words"),
    [
        (["--http", "0.0.0.0:0"], "", "a token is required"),
        (["--http", "127.0.0.1:0"], "short", "the token has 5 characters"),
        (["--http", "nonsense"], "", "no host and port"),
        (["--http", "127.0.0.1:99999"], "", "the port is more than 65535"),
        (["--http", "203.0.113.1:0"], TOKEN, "cannot listen on 203.0.113.1:0"),
    ],
)
def test_what_cannot_be_served_is_refused_with_a_way_out(
    options: list[str],
    token: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the handlers of this process stay
    monkeypatch.setenv("COMMONPLACE_MCP_TOKEN", token)
    assert main(["mcp", *options]) in {1, 2}
    shown = capsys.readouterr().err
    assert words in shown
    assert "fix: " in shown


@pytest.mark.parametrize("yes", [True, False])
def test_the_user_is_asked_over_http_before_a_delete(
    mcp_home: Any, tmp_path: Any, *, yes: bool
) -> None:
    import mcp_types as types
    from mcp.client import Client
    from tests.plugins.mcp.conftest import env_of

    (tmp_path / "notes" / "memory").mkdir(parents=True)
    note = tmp_path / "notes" / "memory" / "keys.md"
    note.write_text("- The spare key is at the bakery.\n")
    (tmp_path / "config.json5").write_text("{memory: {write: {enabled: true}}}")
    env = {**env_of(tmp_path), "COMMONPLACE_CONFIG": str(tmp_path / "config.json5")}
    command = [sys.executable, "-m", "commonplace", "mcp", "--workspace", str(tmp_path / "notes")]

    async def ask_user(_: object, params: Any) -> Any:
        assert "at the bakery" in params.message
        return types.ElicitResult(action="accept", content={"forget": yes})

    async def use(address: str) -> Any:
        callback: Any = ask_user
        async with Client(address, mode="auto", elicitation_callback=callback) as client:
            return await client.call_tool("memory_forget", {"citation": "memory/keys.md#L1"})

    with served(command, env) as address:
        result = asyncio.run(use(address))
    assert result.is_error is not yes
    assert ("bakery" in note.read_text()) is not yes
