"""``status`` groups the states of a search's parts, and shows every configured agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace_sqlite.vectors.codes import Kernels
from commonplace_sqlite.vectors.searching import VectorSearch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Run = Any


def test_the_groups_have_the_states_of_the_parts(run: Callable[..., Run], indexed: str) -> None:
    status = run("status", "--workspace", indexed, "--json").json
    assert status["fts"] == {"enabled": True, "state": "ready", "reason": ""}
    assert status["cache"]["state"] in {"ready", "unused"}
    assert status["batch"]["state"] == "disabled"
    assert status["vector"]["library"] == "sqlite-vec"
    assert status["vector"]["loaded"] == (status["vector"]["loadError"] == "")
    assert bool(status["vector"]["version"]) == status["vector"]["loaded"]
    assert (status["provider"]["id"], status["provider"]["state"]) == (None, "unused")


def test_a_provider_without_its_key_is_unusable_for_that_reason(
    run: Callable[..., Run], indexed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    config = tmp_path / "openai.json5"
    config.write_text("{memory: {search: {provider: 'openai'}}}")
    group = run("status", "--workspace", indexed, "--config", str(config), "--json").json[
        "provider"
    ]
    assert (group["id"], group["requested"], group["state"]) == (None, "openai", "unusable")
    assert "key" in group["reason"]


def test_what_is_switched_off_or_cannot_be_loaded_is_said(tmp_path: Path) -> None:
    missing = VectorSearch(extension_path=str(tmp_path / "none"), kernels=Kernels()).support()
    assert not missing.loaded
    assert "sqlite-vec cannot be loaded from" in missing.reason
    assert missing.plan
    off = VectorSearch(extension=False).support()
    assert (off.enabled, off.loaded, off.reason) == (False, False, "")


def test_status_and_doctor_say_why_sqlite_vec_is_not_in_use(
    run: Callable[..., Run], indexed: str, tmp_path: Path
) -> None:
    config = tmp_path / "off.json5"
    config.write_text("{memory: {search: {store: {vector: {enabled: false}}}}}")
    given = ("--workspace", indexed, "--config", str(config))
    assert "sqlite-vec not loaded (switched off); searched by" in run("status", *given).out
    assert "sqlite-vec not loaded" in run("doctor", "--verbose", *given).out


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A configuration of three agents; the workspace of the last is missing."""
    for name in ("ann", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "MEMORY.md").write_text(f"A note of {name}.\n")
    listed = [{"id": name, "workspace": str(tmp_path / name)} for name in ("ann", "bob", "cid")]
    config = tmp_path / "agents.json5"
    config.write_text(json.dumps({"agents": {"list": listed}}))
    monkeypatch.delenv("COMMONPLACE_WORKSPACE", raising=False)
    return str(config)


def test_without_an_agent_all_are_shown(run: Callable[..., Run], agents: str) -> None:
    ran = run("status", "--config", agents)
    heads = [line for line in ran.out.splitlines() if line.startswith("Memory of ")]
    assert heads == ["Memory of ann", "Memory of bob", "Memory of cid"]
    assert "not available: the workspace" in ran.out
    assert ran.code == 1
    status = run("status", "--config", agents, "--json").json
    assert [one["agent"] for one in status["agents"]] == ["ann", "bob", "cid"]
    assert status["agent"] == "ann"
    assert not status["agents"][2]["available"]


def test_a_named_agent_is_shown_alone(run: Callable[..., Run], agents: str) -> None:
    status = run("status", "--config", agents, "--agent", "bob", "--json").json
    assert status["agent"] == "bob"
    assert "agents" not in status


def test_verbose_shows_folders_and_what_is_off(run: Callable[..., Run], agents: str) -> None:
    given = ("status", "--config", agents, "--agent", "ann")
    plain, verbose = run(*given).out, run(*given, "--verbose").out
    for words in ("State folder", "Cache folder", "Keyword search", "Batch jobs"):
        assert words in verbose
        assert words not in plain


def test_the_settings_list_all_agents(agents: str) -> None:
    with Memory.open(config=agents, agent="ann") as memory:
        assert memory.settings.agents == ("ann", "bob", "cid")
