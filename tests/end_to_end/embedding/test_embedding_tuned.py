"""``commonplace eval --tune`` where more notes match than a store counts words of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commonplace.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from tests.end_to_end.embedding.conftest import World

NAMES = ("walrus", "otter", "heron", "badger", "kestrel")


@pytest.mark.slow
def test_the_trust_is_tuned_on_ones_own_queries(
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    queries = []
    for number in range(100):
        name = NAMES[number % 5]
        world.write(
            f"memory/{number:03}.md", f"# Day {number}\n\nThe {name} saw harbour {number}.\n"
        )
        relevant = [{"path": f"memory/{number:03}.md", "startLine": 1, "endLine": 3}]
        if number < 20:
            query = f"{name} harbour {number}"
            queries.append({"id": f"q{number}", "query": query, "relevant": relevant})
    for number in range(5):  # near by vectors, and the last by words
        world.write(f"memory/far/{number}.md", "harbour " + "a of to in " * 40 + f"{number}\n")
    file = world.workspace.parent / "queries.jsonl"
    file.write_text("".join(json.dumps(query) + "\n" for query in queries), encoding="utf-8")
    search = {
        "provider": "openai",
        "remote": {
            "baseUrl": f"{world.vendor.url}/v1",
            "apiKey": "sekrit-0123456789-abcdef",
            "consent": "yes",
        },
    }
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"memory": {"search": search}}), encoding="utf-8")
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    given = ("--config", str(config), "--workspace", str(world.workspace), "--json")
    assert main(["eval", str(file), "--tune", *given]) == 0
    tuned = json.loads(capsys.readouterr().out)
    assert tuned["queries"] == 20
    by_trust = {row["trust"]: row["ndcg@10"] for row in tuned["weights"]}
    assert by_trust[16] > 0.9
    assert by_trust[tuned["best"]] == max(by_trust.values())
