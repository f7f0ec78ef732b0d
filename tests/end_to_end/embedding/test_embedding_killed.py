"""A process that is killed while it embeds loses what was under way, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.end_to_end.embedding.conftest import World

ANSWERED = 3


def test_a_kill_loses_at_most_what_was_under_way(world: World) -> None:
    for number in range(300):
        world.write(f"memory/n{number}.md", f"# Note {number}\n\nThe walrus met seal {number}.\n")
    vendor = world.vendor
    answered: list[Any] = []
    full = threading.Event()
    counting = threading.Lock()

    def few_then_none(body: Any) -> Any:
        with counting:
            if len(answered) < ANSWERED:
                answered.append(body)
                return body
        full.set()
        vendor.hang()
        return body

    vendor.twist = few_then_none
    config = world.root / "config.json5"
    remote = {"baseUrl": f"{vendor.url}/v1", "apiKey": "sekrit-0123456789-abcdef"}
    settings = {"memory": {"search": {"provider": "openai", "remote": remote}}}
    config.write_text(json.dumps(settings), encoding="utf-8")
    arguments = ["index", "--workspace", str(world.workspace), "--config", str(config)]
    process = subprocess.Popen(
        [sys.executable, "-m", "commonplace", *arguments],
        env={**os.environ, **world.env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert full.wait(60)
    finally:
        process.kill()
        process.wait()
    vendor.release()
    vendor.twist = None
    sent = len(vendor.requests)
    kept = sum(len(body["data"]) for body in answered)

    memory = world.open()
    assert memory.status().chunks == 303  # text was searchable before anything was embedded
    covered = memory.status().spaces[0].covered
    largest = max(len(body["data"]) for body in answered)
    assert kept - largest <= covered <= kept
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.missing, report.embedding.reason) == (0, "")
    again = sum(len(request.json["input"]) for request in vendor.requests[sent:])
    assert 303 - kept <= again <= 303 - kept + largest
