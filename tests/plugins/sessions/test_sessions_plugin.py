from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, cast

import pytest

from commonplace.errors import PluginUnavailableError
from commonplace.plugin import PluginHost, Source, SourceContext
from commonplace_sessions import plugin
from commonplace_sessions.plugin import TranscriptSettings

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace.model.plugins import Registration


@pytest.fixture
def offered() -> dict[str, Registration[Any]]:
    host = PluginHost([], env={})
    host.register(plugin, name="sessions")
    return {id_: host.source(id_) for id_ in host.ids("source")}


def plant(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("{}")


def paths(source: Source) -> list[str]:
    return [ref.path for ref in source.scan().documents]


def test_the_sources_it_offers(offered: dict[str, Registration[Any]]) -> None:
    assert set(offered) == {"sessions", "claude-code", "codex"}
    assert all(each.summary and each.probe().available for each in offered.values())
    assert {each.config for each in offered.values()} == {TranscriptSettings}


def test_an_agent_sees_its_own_sessions_only(
    tmp_path: Path, offered: dict[str, Registration[Any]]
) -> None:
    plant(tmp_path, "agents/main/sessions/a.jsonl", "agents/work/sessions/b.jsonl", "c.jsonl")
    plant(tmp_path, "agents/d.jsonl", "ws/sessions/e.jsonl", "other/agents/main/sessions/f.jsonl")

    def found(agent: str, *dirs: Path, root: str | None = None) -> list[str]:
        config = TranscriptSettings(root=root) if root else None
        context = SourceContext(
            str(tmp_path / "ws"), agent, state_dirs=tuple(map(str, dirs)), config=config
        )
        source = offered["sessions"].factory(context)
        assert source.id == "sessions"
        return paths(source)

    assert found("main", tmp_path, tmp_path / "other") == ["sessions/a.jsonl"]
    assert found("work", tmp_path) == ["sessions/b.jsonl"]
    assert found("other", tmp_path) == []
    assert found("main") == ["sessions/e.jsonl"]
    assert found("main", tmp_path, root=str(tmp_path)) == ["sessions/c.jsonl"]


@pytest.mark.parametrize("agent", ["", ".", "..", "../main", "a/b", "a\\b", "c:", "a\0"])
def test_no_agent_can_leave_its_folder(agent: str, offered: dict[str, Registration[Any]]) -> None:
    context = SourceContext("/ws", agent, state_dirs=("/state",))
    with pytest.raises(PluginUnavailableError, match="cannot be the name of a folder") as caught:
        offered["sessions"].factory(context)
    assert "plugins.entries.sessions.config.root" in caught.value.hint


@pytest.mark.parametrize(
    ("id_", "home", "moved", "path"),
    [
        ("claude-code", ".claude/projects", "CLAUDE_CONFIG_DIR", "-home-ann/0123.jsonl"),
        ("codex", ".codex/sessions", "CODEX_HOME", "2026/01/31/rollout-1.jsonl"),
    ],
)
def test_the_folders_of_other_agents(
    id_: str,
    home: str,
    moved: str,
    path: str,
    tmp_path: Path,
    offered: dict[str, Registration[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(tmp_path / home, path, "notes.txt")
    plant(tmp_path / "elsewhere", path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for config in (
        None,
        TranscriptSettings(),
        TranscriptSettings(root=str(tmp_path / "elsewhere")),
    ):
        source = offered[id_].factory(SourceContext("/ws", "main", config=config))
        assert source.id == id_
        assert paths(source) == [f"{id_}/{path}"]
        (document,) = map(source.read, source.scan().documents)
        assert document is not None
        assert document.trust == "session"
    (tmp_path / home).parent.rename(tmp_path / "moved")
    monkeypatch.setenv(moved, str(tmp_path / "moved"))
    source = offered[id_].factory(SourceContext("/ws", "main"))
    assert paths(source) == [f"{id_}/{path}"]


def test_one_project_of_claude_code_can_be_named(
    tmp_path: Path, offered: dict[str, Registration[Any]]
) -> None:
    plant(tmp_path / "-home-ann", "0123.jsonl", "agent-9.jsonl", "0123/subagents/agent-8.jsonl")
    config = TranscriptSettings(root=str(tmp_path / "-home-ann"))
    source = offered["claude-code"].factory(SourceContext("/ws", "main", config=config))
    assert paths(source) == ["claude-code/0123.jsonl"]


def test_importing_the_plugin_imports_no_source() -> None:
    script = "import sys, commonplace_sessions.plugin; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    loaded = set(done.stdout.split())
    assert "commonplace_sessions.plugin" in loaded
    assert not {"commonplace_sessions.source", "commonplace_sessions.readers"} & loaded


def test_one_s_own_patterns_are_masked_and_belong_to_the_version(
    tmp_path: Path, offered: dict[str, Registration[Any]]
) -> None:
    folder = tmp_path / "ws/sessions"
    folder.mkdir(parents=True)
    record = {
        "type": "message",
        "message": {"role": "user", "content": "badge BADGE-123456 is mine"},
    }
    (folder / "a.jsonl").write_text(json.dumps(record) + "\n")

    def source(*patterns: str) -> Source:
        context = SourceContext(str(tmp_path / "ws"), "main", secret_patterns=patterns)
        return cast("Source", offered["sessions"].factory(context))

    masked, plain = source("BADGE-[0-9]+"), source()
    (ref,) = masked.scan().documents
    document = masked.read(ref)
    assert document is not None
    assert document.text == "User: badge *** is mine"
    assert masked.version != plain.version
