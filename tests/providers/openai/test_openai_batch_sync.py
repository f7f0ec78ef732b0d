"""A memory whose notes are embedded by batch jobs, from the files to the answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOTES = 120


@pytest.fixture
def openai(fake: Callable[[str], Any]) -> Any:
    loopback = fake("openai")
    loopback.vendor.batches.polls = 0
    return loopback


@pytest.fixture
def opened(tmp_path: Path, openai: Any, key: str) -> Iterator[Callable[..., Memory]]:
    notes = tmp_path / "workspace" / "memory"
    notes.mkdir(parents=True)
    for number in range(NOTES):
        (notes / f"note-{number}.md").write_text(f"# Note {number}\n\nThe otter number {number}.\n")
    memories: list[Memory] = []

    def open_(**batch: Any) -> Memory:
        for memory in memories:
            memory.close()
        remote: dict[str, Any] = {"baseUrl": f"{openai.url}/v1", "apiKey": key}
        if batch:
            remote["batch"] = {"enabled": True, "pollIntervalMs": 0, **batch}
        search = {"provider": "openai", "remote": remote}
        config = tmp_path / "config.json"
        config.write_text(json.dumps({"agents": {"defaults": {"memorySearch": search}}}))
        env = {
            "HOME": str(tmp_path / "home"),
            "COMMONPLACE_STATE_DIR": str(tmp_path / "state"),
            "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache"),
        }
        memories.append(Memory.open(workspace=tmp_path / "workspace", config=config, env=env))
        return memories[-1]

    yield open_
    for memory in memories:
        memory.close()


def paths(openai: Any) -> list[str]:
    return [request.path.partition("?")[0] for request in openai.requests]


def kept(tmp_path: Path) -> list[bytes]:
    return [path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file()]


def test_jobs_are_off_until_they_are_asked_for(opened: Callable[..., Memory], openai: Any) -> None:
    done = opened().sync().embedding
    assert done is not None
    assert (done.embedded, done.batched, done.jobs, done.batch_note) == (NOTES, 0, 0, "")
    assert set(paths(openai)) == {"/v1/embeddings"}


def test_a_first_sync_embeds_by_a_job_and_a_search_finds(
    opened: Callable[..., Memory], openai: Any
) -> None:
    memory = opened(wait=True)
    done = memory.sync().embedding
    assert done is not None
    assert (done.embedded, done.batched, done.jobs, done.missing) == (NOTES, NOTES, 1, 0)
    assert (done.requests, done.reason, done.batch_note) == (0, "", "")
    assert "/v1/embeddings" not in paths(openai)
    assert openai.vendor.batches.files == {}
    assert memory.search("otter number 7").hits
    assert paths(openai)[-1] == "/v1/embeddings", "a query is asked at once"


def test_a_job_outlives_the_process_that_began_it(
    opened: Callable[..., Memory], openai: Any, tmp_path: Path, key: str
) -> None:
    memory = opened(wait=False)
    done = memory.sync().embedding
    assert done is not None
    assert (done.embedded, done.pending, done.missing) == (0, NOTES, NOTES)
    assert f"{NOTES} texts wait for 1 batch job of openai" in memory.status().notices
    assert "later sync" in done.batch_note
    assert not any(key.encode() in content for content in kept(tmp_path))
    done = opened(wait=False).sync().embedding
    assert done is not None
    assert (done.batched, done.jobs, done.missing) == (NOTES, 0, 0)
    assert paths(openai).count("/v1/files") == 1
    asked = len(openai.requests)
    opened(wait=False).sync()
    assert len(openai.requests) == asked, "nothing is left to be done"


def test_lines_that_fail_are_embedded_at_once(opened: Callable[..., Memory], openai: Any) -> None:
    batches = openai.vendor.batches
    original = batches._answer
    batches._answer = lambda line, batch: (
        (400, {"error": {"message": "this one not"}})
        if "number 11" in line["body"]["input"]
        else original(line, batch)
    )
    done = opened(wait=True).sync().embedding
    assert done is not None
    assert (done.embedded, done.missing) == (NOTES, 0)
    assert done.embedded - done.batched == 11
    assert "this one not" in done.batch_note


def test_a_server_without_jobs_embeds_as_ever(opened: Callable[..., Memory], openai: Any) -> None:
    openai.vendor.batches._of_files = lambda *_: None
    done = opened(wait=True).sync().embedding
    assert done is not None
    assert (done.embedded, done.batched, done.missing, done.reason) == (NOTES, 0, 0, "")
    assert done.batch_note == "batch jobs are off for now: openai offers none here"
    assert paths(openai).count("/v1/files") == 1
