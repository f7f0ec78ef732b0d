"""Attacks on the server: resources that lead outside, and thousands of calls, many wrong."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.plugins.mcp.conftest import ask, env_of

from commonplace import Memory
from commonplace.sample import copy_workspace
from commonplace_mcp.protocol import Connection
from commonplace_mcp.stdio import StdioServer
from commonplace_mcp.surface import Surface

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]
SECRET = "the password is swordfish"
MOST_MEGABYTES = 60

# What names that lead outside are made of; HOME stands for the folder above the workspace.
PIECES = [
    *("..", "../", "..%2f", "%2e%2e/", "%252e%252e/", "....//", "./", "/", "//", "%5c", "~", "."),
    *("%00", "%0a", "%c0%ae", "\u2025", "\uff0e\uff0e", "\u2215", "%ed%a0%80", "", "?x=1", "#L1"),
    *("memory", "memory/", "MEMORY.md", "MEMORY.md:1-9", "notes", "HOME", "HOME/secret.md"),
    *("secret.md", "etc/passwd", "/etc/passwd", "proc/self/environ", "link.md", "linked/secret.md"),
]
HOSTS = ["notes", "notes", "notes", "NOTES", "", "..", "notes%2f..", "other", "notes@notes"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with ways out, indexed, and secrets beside it."""
    home = tmp_path_factory.mktemp("attacked")
    copy_workspace(str(home / "notes"))
    (home / "outside").mkdir()
    for path in ("secret.md", "outside/secret.md"):
        (home / path).write_text(f"# Secret\n\n{SECRET}\n")
    (home / "notes" / "memory" / "link.md").symlink_to(home / "secret.md")
    (home / "notes" / "memory" / "linked").symlink_to(home / "outside")
    with Memory.open(workspace=home / "notes", env=env_of(home)) as memory:
        memory.sync()
    return home


@pytest.fixture
def connection(home: Path) -> Iterator[Connection]:
    """A connection to a server in this process."""
    surface = Surface(lambda _: Memory.open(workspace=home / "notes", env=env_of(home)), [""])
    yield Connection(surface, lambda _: None)
    surface.close()


@pytest.mark.parametrize("number", [500, pytest.param(4_000, marks=pytest.mark.slow)])
def test_no_resource_reads_anything_outside(
    home: Path, connection: Connection, number: int
) -> None:
    dice = random.Random(20261122)
    listed = connection.answer(ask(0, "resources/list"))
    assert listed is not None
    notes = {resource["uri"] for resource in listed["result"]["resources"]}
    read = 0
    for id_ in range(1, number + 1):
        path = "".join(dice.choices(PIECES, k=dice.randint(1, 6))).replace("HOME", str(home))
        uri = f"memory://{dice.choice(HOSTS)}/{path}"
        answer = connection.answer(ask(id_, "resources/read", uri=uri))
        assert answer is not None
        text = json.dumps(answer)
        assert SECRET not in text, uri
        assert "root:" not in text, uri
        if "result" in answer:
            read += 1
            assert uri in notes
    assert 0 < read < number / 2


def calls(number: int) -> Iterator[tuple[bytes, bool]]:
    """So many requests with ids, and whether each is wrong."""
    search: Json = {"query": "staging port", "maxResults": 1}
    wrong: list[Any] = [{"query": 7}, [], {"query": "DEEP"}]
    deep = b"[" * 900 + b"]" * 900
    for id_ in range(number):
        arguments = ([search] * 5 + wrong)[id_ % 8]
        request = line(ask(id_, "tools/call", name="memory_search", arguments=arguments))
        yield request.replace(b'"DEEP"', deep), arguments in wrong


def line(message: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process in /proc")
@pytest.mark.parametrize("number", [200, pytest.param(4_000, marks=pytest.mark.slow)])
def test_thousands_of_calls_at_once_are_answered_in_bounded_memory(home: Path, number: int) -> None:
    command = [sys.executable, "-m", "commonplace", "mcp", "--workspace", str(home / "notes")]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env_of(home)
    )
    assert server.stdin is not None
    assert server.stdout is not None
    asked = list(calls(number))

    def write() -> None:
        assert server.stdin is not None
        server.stdin.write(b"".join(request for request, _ in asked))
        server.stdin.flush()

    writer = threading.Thread(target=write, daemon=True)
    given_up = threading.Timer(600, server.kill)
    given_up.start()
    try:
        writer.start()
        answers = [json.loads(server.stdout.readline()) for _ in range(number)]
        with open(f"/proc/{server.pid}/status", encoding="ascii") as status:
            (peak,) = [int(row.split()[1]) for row in status if row.startswith("VmHWM")]
    finally:
        given_up.cancel()
        server.communicate(timeout=30)
    assert server.returncode == 0
    assert sorted(answer["id"] for answer in answers) == list(range(number))
    for answer in answers:
        result = answer["result"]
        failed = asked[answer["id"]][1]
        assert result["isError"] is failed
        assert ("What to do" if failed else "8471") in result["content"][0]["text"]
    assert peak < MOST_MEGABYTES * 1024


def test_half_a_character_becomes_the_mark_that_stands_for_it(surface: Surface) -> None:
    written = io.BytesIO()
    request = b'{"jsonrpc":"2.0","id":"\\ud83d!","method":"ping"}\n'
    StdioServer(surface, io.BytesIO(request), written).serve()
    assert json.loads(written.getvalue())["id"] == "\ufffd!"
