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

CONFIG = {
    "memory": {"backend": ["whoosh"]},
    "plugins": {"entries": {"mbox": {"config": {"path": "letters.mbox"}}}},
    "agents": {"defaults": {"memorySearch": {"sources": ["memory", "mbox"]}}},
}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """Run the command line on a small workspace, and read what it says."""
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "MEMORY.md").write_text("# Keys #home\n\nThe key is at the bakery.\n")
    (tmp_path / "notes" / "memory" / "a.md").write_text("# Stove #home #kitchen\n\nIt is hot.\n")
    (tmp_path / "notes" / "letters.mbox").write_text(
        "From ada Sun Feb  1 10:00:00 2026\nMessage-ID: <1@example.org>\nFrom: Ada\n"
        "Subject: The locksmith\n\nHe comes on Friday.\n"
    )
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    env = {k: v for k, v in os.environ.items() if not k.startswith("COMMONPLACE_")}
    env["COMMONPLACE_STATE_DIR"] = str(tmp_path / "state")
    env["COMMONPLACE_CACHE_DIR"] = str(tmp_path / "cache")
    place = ("--workspace", str(tmp_path / "notes"), "--config", str(tmp_path / "config.json"))

    def call(verb: str, *arguments: str) -> Any:
        command = [sys.executable, "-m", "commonplace", verb, *arguments, *place, "--json"]
        done = subprocess.run(
            command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return call


def test_the_host_finds_what_it_offers() -> None:
    infos = PluginHost().plugins(load=True)
    ours = [info for info in infos if info.distribution == "commonplace-example-kinds"]
    assert {info.name for info in ours} == {"backend.whoosh", "source.mbox", "command.tagcount"}
    assert [info.state for info in ours] == ["loaded"] * 3


def test_a_mail_is_found_by_the_engine(run: Callable[..., Any]) -> None:
    run("index")
    found = run("search", "when does the locksmith come")
    assert found["backend"] == "whoosh"
    assert found["results"][0]["path"] == "mbox/1@example.org"


def test_the_command_counts_tags(run: Callable[..., Any]) -> None:
    assert run("tagcount", "--top", "1")["tags"] == [{"tag": "home", "notes": 2}]
