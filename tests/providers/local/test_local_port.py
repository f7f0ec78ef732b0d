"""An engine opens a port of its own accord: no other program may use the model through it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from commonplace.resilience.deadline import NEVER
from commonplace_local.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_local.provider import LocalProvider

LISTENING = "0A"
ASKED = [
    ("POST", "/v1/embeddings", {"input": "a"}),
    ("POST", "/embedding", {"content": "a"}),
    ("POST", "/tokenize", {"content": "a"}),
    ("GET", "/props", None),
    ("GET", "/v1/models", None),
]


def ports_of(pid: int) -> list[tuple[str, int]]:
    """Where a process listens, by (address in hexadecimal, port)."""
    links = [link.readlink() for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    sockets = {str(link)[8:-1] for link in links if str(link).startswith("socket:[")}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == LISTENING and rest[5] in sockets:
                address, _, port = local.partition(":")
                found.append((address, int(port, 16)))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks for ports in /proc")
def test_a_port_that_the_engine_opens_is_of_this_machine_and_wants_a_key(
    local: Callable[..., LocalProvider], tiny_gguf: Path
) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    provider = local(tiny_gguf, options={"engine": "xllamacpp"})
    provider.embed(["a"], purpose="document", deadline=NEVER)
    assert provider._running._keeper is not None
    child = provider._running._keeper._child
    assert isinstance(child, Worker)
    ports = ports_of(child.pid)
    assert ports, "it opens none: then this is no test of anything, and the key may go"
    for address, port in ports:
        assert address == "0100007F"  # 127.0.0.1
        for method, path, body in ASKED:
            for headers in ({}, {"authorization": "Bearer none"}):
                answer = httpx.request(
                    method, f"http://127.0.0.1:{port}{path}", json=body, headers=headers
                )
                assert answer.status_code == 401, path
