"""Embedding a thousand notes through a server with latency, against one request a note.

Run it with ``python benchmarks/embedding.py [--notes 1000] [--latency 0.1] [--repeats 1]``. A
loopback server in OpenAI's form waits before each answer. A memory indexes the notes through it;
then the same texts are sent one by one at the same concurrency. Printed are requests, wall seconds
and their ratio, and how many requests a renamed folder, a rebuild and a lost index cost.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import statistics
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from commonplace import Memory
from commonplace.embedding.requests import RequestRunner
from commonplace.protocols.providers import ProviderContext
from commonplace.resilience.deadline import NEVER
from commonplace_openai.provider import OpenAIProvider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.protocols.providers import Limits

SEED = 7
DIMS = 384
SENTENCES = 6
MOST_REQUESTS = 120
MOST_SHARE = 0.2
WORDS = [
    "walrus",
    "seal",
    "harbour",
    "crane",
    "tide",
    "otter",
    "heron",
    "gale",
    "reef",
    "buoy",
    "anchor",
    "kelp",
    "dune",
    "fjord",
]


class Server(ThreadingHTTPServer):
    """Answers ``POST /v1/embeddings`` after ``latency`` seconds, and counts."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, latency: float) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.latency = latency
        self.texts: list[str] = []
        self.requests = 0
        self.counting = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def base(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    """One connection to it."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        """Embed what is asked for."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.counting:
            self.server.requests += 1
            self.server.texts += asked["input"]
        time.sleep(self.server.latency)
        data = [
            {"object": "embedding", "index": index, "embedding": vector_of(text)}
            for index, text in enumerate(asked["input"])
        ]
        body = json.dumps({"object": "list", "data": data, "model": asked["model"]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


def vector_of(text: str) -> list[float]:
    raw = hashlib.shake_128(text.encode()).digest(DIMS)
    return [byte - 127.5 for byte in raw]


class OneByOne(OpenAIProvider):
    """As its parent, but for a request a text."""

    @property
    def limits(self) -> Limits:
        """One text."""
        return evolve(super().limits, items=1)


def write_notes(workspace: Path, count: int) -> None:
    draw = random.Random(SEED)
    for number in range(count):
        text = " ".join(" ".join(draw.choices(WORDS, k=9)) + "." for _ in range(SENTENCES))
        path = workspace / "memory" / f"topic{number % 20}" / f"note{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")


def measured(root: Path, notes: int, latency: float) -> dict[str, float]:
    """One run: what it took, and what it would have taken one by one."""
    workspace = root / "workspace"
    write_notes(workspace, notes)
    env = {
        "HOME": str(root / "home"),
        "COMMONPLACE_STATE_DIR": str(root / "state"),
        "COMMONPLACE_CACHE_DIR": str(root / "cache"),
    }
    server = Server(latency)
    remote = {"baseUrl": server.base, "apiKey": "none"}
    config = {"memory": {"search": {"provider": "openai", "remote": remote}}}
    with Memory.open(workspace=workspace, config=config, env=env) as memory:
        began = time.perf_counter()
        report = memory.sync()
        ours = time.perf_counter() - began
        assert report.embedding is not None
        assert not report.embedding.missing, report.embedding.reason
        requests, texts = server.requests, list(server.texts)

        for number in range(20):
            os.rename(
                workspace / "memory" / f"topic{number}", workspace / "memory" / f"subject{number}"
            )
        memory.sync()
        renamed = server.requests - requests
        memory.sync(force=True)
        rebuilt = server.requests - requests - renamed
        path = memory.status().db_path
    for suffix in ("", "-wal", "-shm"):
        Path(path + suffix).unlink(missing_ok=True)
    before = server.requests
    with Memory.open(workspace=workspace, config=config, env=env) as memory:
        memory.sync()
    lost = server.requests - before

    theirs = one_by_one(server, texts[:notes])
    server.shutdown()
    server.server_close()
    return {
        "requests": requests,
        "seconds": ours,
        "seconds one by one": theirs,
        "ratio": ours / theirs,
        "after renaming every folder": renamed,
        "after index --force": rebuilt,
        "after losing the index": lost,
    }


def one_by_one(server: Server, texts: Sequence[str]) -> float:
    provider = OneByOne(ProviderContext(base_url=server.base, api_key="none"))
    began = time.perf_counter()
    for _ in RequestRunner("one by one", provider).many(texts, dims=None, deadline=NEVER):
        pass
    provider.close()
    return time.perf_counter() - began


def main() -> None:
    """Measure, print, and fail where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=0.1, help="seconds before each answer")
    parser.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()
    runs = []
    for _ in range(args.repeats):
        with tempfile.TemporaryDirectory() as folder:
            runs.append(measured(Path(folder), args.notes, args.latency))
    middle = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    print(f"{args.notes} notes, {args.latency * 1000:.0f} ms latency, {args.repeats} run(s)")
    for name, value in middle.items():
        print(f"  {name:<28} {value:.3f}" if value % 1 else f"  {name:<28} {value:.0f}")
    if middle["requests"] > MOST_REQUESTS or middle["ratio"] > MOST_SHARE:
        raise SystemExit(
            f"missed: at most {MOST_REQUESTS} requests and a ratio of {MOST_SHARE} are wanted"
        )


if __name__ == "__main__":
    main()
