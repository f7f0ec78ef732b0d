"""The distribution is found by its entry points, and chosen by its names in a configuration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.plugin import PluginHost

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DISTRIBUTION = "commonplace-example-milvus"

CONFIG = {
    "memory": {"backend": "milvus"},
    "plugins": {"entries": {"pinned": {"config": {"lift": 0.5}}}},
    "agents": {
        "defaults": {
            "memorySearch": {"provider": "ngrams", "ranking": {"chain": ["weighted", "pinned"]}}
        }
    },
}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """Run the command line on a small workspace, and read what it says."""
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "MEMORY.md").write_text("# Keys\n\nThe spare key is at the bakery.\n")
    (tmp_path / "notes" / "memory" / "2026-10-05.md").write_text(
        "# Keys again #pinned\n\nThe key of the workshop is lost. The locksmith comes on Friday.\n"
    )
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    env = {k: v for k, v in os.environ.items() if not k.startswith("COMMONPLACE_")}
    env["COMMONPLACE_STATE_DIR"] = str(tmp_path / "state")
    env["COMMONPLACE_CACHE_DIR"] = str(tmp_path / "cache")
    place = ("--workspace", str(tmp_path / "notes"), "--config", str(tmp_path / "config.json"))

    def call(verb: str, *arguments: str) -> Any:
        where = () if verb == "plugins" else place
        command = [sys.executable, "-m", "commonplace", verb, *arguments, *where, "--json"]
        done = subprocess.run(
            command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return call


def test_the_host_finds_what_it_offers() -> None:
    host = PluginHost()
    ours = {info.name: info for info in host.plugins() if info.distribution == DISTRIBUTION}
    assert set(ours) == {"backend.milvus", "provider.ngrams", "ranker.pinned"}
    assert host.backend("milvus").registration.probe().available
    loaded = [info for info in host.plugins(load=True) if info.distribution == DISTRIBUTION]
    assert [info.state for info in loaded] == ["loaded"] * 3


def test_the_command_line_lists_it(run: Callable[..., Any]) -> None:
    said = run("plugins")
    text = json.dumps(said)
    assert text.count(DISTRIBUTION) == 3
    assert "failed" not in {plugin["state"] for plugin in said["plugins"]}


def test_a_search_is_served_by_it(run: Callable[..., Any]) -> None:
    run("index")
    found = run("search", "the lokcsmith came", "--explain")
    assert (found["backend"], found["provider"]) == ("milvus", "ngrams")
    best = found["results"][0]
    assert best["path"] == "memory/2026-10-05.md"
    assert "pinned by #pinned" in json.dumps(best)
    status = run("status")
    assert status["backend"] == "milvus"
