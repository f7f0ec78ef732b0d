"""What the command line shows of embeddings."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.end_to_end.embedding.conftest import World
    from tests.providers.fakes.loopback import Reply

    Run = Callable[..., tuple[str, str]]

KEY = "sekrit-0123456789-abcdef"


@pytest.fixture
def run(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process; what it printed, and what it said besides."""
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    config = world.root / "config.json5"
    remote = {"baseUrl": f"{world.vendor.url}/v1", "apiKey": KEY}

    def run_(*arguments: str, **search: Any) -> tuple[str, str]:
        settings = {"provider": "openai", "remote": remote, **search}
        config.write_text(json.dumps({"memory": {"search": settings}}), encoding="utf-8")
        main([*arguments, "--workspace", str(world.workspace), "--config", str(config)])
        printed = capsys.readouterr()
        assert KEY not in printed.out + printed.err
        return printed.out, printed.err

    return run_


def test_index_and_status_tell_who_embedded_how_much(run: Run) -> None:
    out, _ = run("index")
    assert "embeddings of openai: 3 texts by 1 request, 0 from the cache" in out
    out, _ = run("status")
    assert "openai (requested: openai)" in out
    assert "openai, 3 of 3 chunks embedded" in out
    assert "hybrid" in out
    facts = json.loads(run("status", "--json")[0])
    assert (facts["provider"]["id"], facts["searchMode"]) == ("openai", "hybrid")
    assert facts["providers"][0]["covered"] == 3
    assert facts["spaces"][0]["dims"] == 64


def test_search_explains_both_arms(run: Run) -> None:
    run("index")
    out, err = run("search", "walrus", "--explain")
    assert "  keyword: bm25 " in out
    assert "  vector: cosine " in out
    assert "query embedded by openai (text-embedding-3-small)" in err
    facts = json.loads(run("search", "walrus", "--explain", "--json")[0])
    assert [(arm["name"], arm["exact"]) for arm in facts["arms"]] == [
        ("keyword", True),
        ("vector", True),
    ]
    assert "arms" not in json.loads(run("search", "walrus", "--json")[0])


def test_a_search_says_that_some_notes_are_not_embedded(run: Run, world: World) -> None:
    run("index")
    world.write("memory/new.md", "# Heron\n\nA heron nests on the roof.\n")
    _, err = run("search", "walrus", sync={"embedUnasked": 0})
    assert err.count("1 of 4 chunks are not embedded yet") == 1


def test_a_failure_is_said_once(run: Run, world: World, reply: type[Reply]) -> None:
    run("index")
    world.vendor.always(reply(401, {"error": {"message": f"no such key {KEY}"}}))
    out, err = run("search", "walrus")
    assert "memory/2026-10-03.md" in out
    assert err.count("searched by keywords alone: openai: ") == 1
    assert err.count("no such key") == 1
    facts = json.loads(run("search", "walrus", "--json")[0])
    assert facts["provider"] is None
    assert (facts["fallback"]["part"], facts["fallback"]["by"]) == ("openai", "keywords alone")
    world.write("memory/new.md", "# New\n\nA heron nests on the roof.\n")
    _, err = run("index")
    assert "1 text not embedded yet: openai: " in err


@pytest.mark.parametrize("command", ["status", "doctor"])
def test_a_provider_that_cannot_be_is_reported_with_the_hint(run: Run, command: str) -> None:
    out, _ = run(command, remote={})
    assert out.count("no API key found") == 1
    assert "OPENAI_API_KEY" in out


def test_doctor_knows_what_is_not_embedded_yet(run: Run) -> None:
    out, _ = run("doctor", "--verbose")
    assert "provider openai, model text-embedding-3-small" in out
    run("index", provider="none")
    out, _ = run("doctor")
    assert "0 of 3 chunks embedded with openai" in out
    run("index")
    out, _ = run("doctor")
    assert "chunks embedded" not in out


@pytest.mark.parametrize(
    ("command", "requests"), [("status", 0), ("status --deep", 1), ("doctor", 1)]
)
def test_one_request_asks_whether_a_provider_answers(
    run: Run, world: World, command: str, requests: int
) -> None:
    run("index")
    before = world.asked()
    out, _ = run(*command.split(), "--verbose")
    assert world.asked() == before + requests
    assert ("answers in" in out) == bool(requests)
    assert "sqlite-vec" in out
