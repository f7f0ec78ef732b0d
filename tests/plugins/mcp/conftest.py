"""Fixtures of the MCP server's tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.sample import copy_workspace
from commonplace_mcp.surface import Surface

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

Json = dict[str, Any]
PREFIX = "io.modelcontextprotocol/"
META: Json = {PREFIX + "protocolVersion": "2026-07-28", PREFIX + "clientCapabilities": {}}


@pytest.fixture(scope="session")
def mcp_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the sample workspace, indexed, in ``notes``."""
    home = tmp_path_factory.mktemp("mcp")
    copy_workspace(str(home / "notes"))
    (home / "secret.md").write_text("the password is swordfish")
    with Memory.open(workspace=home / "notes", env=env_of(home)) as memory:
        memory.sync()
    return home


def env_of(home: Path) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("COMMONPLACE_")}
    folders = {"COMMONPLACE_STATE_DIR": "state", "COMMONPLACE_CACHE_DIR": "cache"}
    return (
        env | {name: str(home / folder) for name, folder in folders.items()} | {"HOME": str(home)}
    )


@pytest.fixture
def env(mcp_home: Path) -> Mapping[str, str]:
    return env_of(mcp_home)


@pytest.fixture
def command(mcp_home: Path) -> list[str]:
    """The command line of a server on the sample."""
    return [sys.executable, "-m", "commonplace", "mcp", "--workspace", str(mcp_home / "notes")]


@pytest.fixture
def surface(mcp_home: Path) -> Iterator[Surface]:
    """What a server offers, without one."""
    made = Surface(
        lambda agent: Memory.open(
            workspace=mcp_home / "notes", agent=agent or None, env=env_of(mcp_home)
        ),
        [""],
    )
    yield made
    made.close()


@pytest.fixture
def exchange(command: Sequence[str], env: Mapping[str, str]) -> Callable[..., list[Json]]:
    """Writes lines to a new server, closes its input, and gives back what it wrote."""

    def exchange(*lines: bytes | Json, options: Sequence[str] = ()) -> list[Json]:
        data = b"".join(
            line
            if isinstance(line, bytes)
            else json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n"
            for line in lines
        )
        ran = subprocess.run(
            [*command, *options], input=data, capture_output=True, env=env, check=False, timeout=60
        )
        assert ran.returncode == 0, ran.stderr.decode()
        assert ran.stderr == b""
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return exchange


def ask(id_: int | str, method: str, **params: object) -> Json:
    """A request of the newer era."""
    return {"id": id_, "method": method, "params": {"_meta": META, **params}}
