"""Existing configurations of the original, of both generations, with all that is not ours."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.load import load_settings
from commonplace.config.paths import config_paths
from commonplace.config.reports import check
from commonplace.config.search import ExtraPath
from commonplace.config.secret import Secret
from commonplace_qmd.settings import QmdSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.config.settings import Settings

DATA = os.path.join(os.path.dirname(__file__), "data")


def data(name: str) -> str:
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        return file.read()


def qmd_only(section: str) -> type | None:
    return QmdSettings if section == "memory.qmd" else None


@pytest.fixture
def older(
    write: Callable[[str, Any], str],
    env: dict[str, str],
    sections: Callable[[str], type | None],
) -> Callable[..., Settings]:
    write("original", data("openclaw.json"))
    return lambda **arguments: load_settings(**{"env": env, "sections": sections, **arguments})


@pytest.fixture
def newer(
    write: Callable[[str, Any], str],
    env: dict[str, str],
    sections: Callable[[str], type | None],
) -> Callable[..., Settings]:
    write("original", data("openclaw-newer.json5"))
    return lambda **arguments: load_settings(**{"env": env, "sections": sections, **arguments})


def test_the_older_generation_is_read_as_it_is(
    older: Callable[..., Settings], env: dict[str, str]
) -> None:
    settings = older()
    home = env["HOME"]
    assert settings.agent == "main"
    assert settings.workspace == f"{home}/clawd"
    assert settings.backends == ("qmd", "builtin")
    assert settings.citations == "on"
    assert settings.slot == "memory-core"
    assert settings.openclaw_dirs == (f"{home}/.openclaw",)
    assert settings.config_files == (f"{home}/.openclaw/openclaw.json",)
    search = settings.search
    assert (search.provider, search.model, search.fallback) == (
        "gemini",
        "gemini-embedding-001",
        "local",
    )
    assert search.sources == ("memory", "sessions")
    assert search.extra_paths == (
        ExtraPath(path="../team-docs"),
        ExtraPath(path="/srv/shared/notes"),
    )
    assert search.remote.api_key == Secret("${GEMINI_API_KEY}")
    assert (search.remote.batch.enabled, search.remote.batch.concurrency) == (True, 4)
    assert (search.chunking.strategy, search.chunking.tokens) == ("markdown", 400)
    assert (search.query.max_results, search.query.min_score) == (8, 0.3)
    hybrid = search.query.hybrid
    assert (hybrid.vector_weight, hybrid.text_weight) == pytest.approx((0.6, 0.4))
    mmr, decay = settings.plugin_config("mmr"), settings.plugin_config("temporal_decay")
    assert (mmr.enabled, mmr.lambda_, decay.half_life_days) == (True, 0.6, 45)
    assert settings.plugin_config("sessions").delta_messages == 25
    flush = settings.flush
    assert (flush.soft_threshold_tokens, flush.reserve_tokens_floor) == (6000, 24_000)
    assert flush.force_flush_transcript_bytes == 4 * 1024 * 1024
    assert flush.post_index_sync == "await"


def test_what_has_no_effect_is_warned_of_once_each(older: Callable[..., Settings]) -> None:
    warnings = older().warnings
    assert len(warnings) == 3
    assert [word for word in ("multimodal", "dreaming", "store.path") if word in str(warnings)] == [
        "multimodal",
        "dreaming",
        "store.path",
    ]


def test_our_index_is_never_among_the_originals_files(
    older: Callable[..., Settings], env: dict[str, str]
) -> None:
    settings = older()
    assert settings.index_path.startswith(f"{env['HOME']}/.local/state/commonplace/memory/main-")
    assert ".openclaw" not in settings.state_dir + settings.cache_dir


def test_another_agent_of_the_list(older: Callable[..., Settings], env: dict[str, str]) -> None:
    settings = older(agent="work-bot")
    assert settings.workspace == f"{env['HOME']}/work-notes"
    assert settings.search.query.max_results == 4
    assert settings.search.query.min_score == 0.3, "what it does not say stays"
    assert settings.search.extra_paths == (
        ExtraPath(path="../team-docs"),
        ExtraPath(path="/srv/shared/notes"),
        ExtraPath(path="handbook"),
    )
    assert "/memory/work-bot-" in settings.index_path
    assert older(agent="quiet").search.enabled is False


def test_the_section_of_qmd_goes_to_its_class(
    older: Callable[..., Settings], env: dict[str, str]
) -> None:
    qmd = older(agent="work-bot", sections=qmd_only).section_values["memory.qmd"]
    assert qmd.command == "qmd"
    assert qmd.search_mode == "vsearch"
    assert (qmd.update.interval, qmd.update.embed_interval) == (600, 5400)
    assert qmd.update.command_timeout_ms == 30_000, "0 stands for the default"
    assert qmd.limits.max_results == 12
    assert [path.path for path in qmd.paths] == [f"{env['HOME']}/vault", "docs"]
    assert [path.pattern for path in qmd.paths] == ["**/*.md", "**/*.markdown"]
    assert [rule.action for rule in qmd.scope.rules] == ["allow", "deny"]
    assert [path.name for path in qmd.extra_collections] == ["wiki"]


def test_the_sections_of_others_are_kept_as_they_are(older: Callable[..., Settings]) -> None:
    settings = older()
    assert settings.sections["plugins.entries.voice-call.config"]["provider"] == "twilio"
    openai = settings.providers["openai"]
    assert isinstance(openai, Mapping)
    assert openai["apiKey"] == "${OPENAI_API_KEY}"
    assert "openai.com" not in repr(settings.providers) + repr(openai)
    assert "twilio-not-real" not in repr(settings)


def test_the_newer_generation_is_read_as_it_is(
    newer: Callable[..., Settings], env: dict[str, str]
) -> None:
    settings = newer()
    assert settings.workspace == f"{env['HOME']}/notes"
    search = settings.search
    assert search.provider == "team-embeddings"
    assert (search.input_type, search.query_input_type) == ("passage", "query")
    assert search.sources == ("memory", "sessions")
    assert search.session_memory
    assert search.extra_paths[1] == ExtraPath(path="/srv/handbook", pattern="guide/**/*.md")
    assert (search.chunking.tokens, search.sync.watch_debounce_ms) == (300, 500)
    assert settings.warnings == ()
    research = newer(agent="research")
    assert research.workspace == f"{env['HOME']}/research"
    assert research.search.query.max_results == 12
    assert [extra.path for extra in research.search.extra_paths] == [
        "shared",
        "/srv/handbook",
        f"{env['HOME']}/papers",
    ]


def test_the_newer_spelling_counts_more_in_one_file(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write(
        "original",
        {
            "agents": {"defaults": {"memorySearch": {"query": {"maxResults": 2, "minScore": 0.1}}}},
            "memory": {"search": {"query": {"maxResults": 3}}},
        },
    )
    query = load().search.query
    assert (query.max_results, query.min_score) == (3, 0.1)


def test_where_the_original_is_looked_for(
    tmp_path: Path, env: dict[str, str], load: Callable[..., Settings]
) -> None:
    def say(folder: str, name: str, number: int) -> None:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        text = f"{{memory: {{search: {{query: {{maxResults: {number}}}}}}}}}"
        (tmp_path / folder / name).write_text(text)

    def number() -> int:
        found: int = load().search.query.max_results
        return found

    assert number() == 6
    say("home/.moltbot", "moltbot.json", 1)
    assert number() == 1
    say("home/.openclaw", "openclaw.json", 2)
    assert number() == 2
    say("state", "openclaw.json", 3)
    env["OPENCLAW_STATE_DIR"] = str(tmp_path / "state")
    assert number() == 3
    assert load().openclaw_dirs == (str(tmp_path / "state"),)
    say("other", "mine.json", 4)
    env["OPENCLAW_CONFIG_PATH"] = str(tmp_path / "other/mine.json")
    assert number() == 4
    env["OPENCLAW_CONFIG_PATH"] = str(tmp_path / "other/none.json")
    assert number() == 6, "as the original: a file that is not there says nothing"


def test_what_a_variable_names_and_is_not_there_is_warned_of(
    tmp_path: Path,
    env: dict[str, str],
    write: Callable[[str, Any], str],
    load: Callable[..., Settings],
) -> None:
    usual = write("original", {"memory": {"citations": "off"}})

    def original() -> tuple[str, bool]:
        return next((one.path, one.exists) for one in config_paths(env=env) if one.role != "user")

    assert original() == (usual, True)
    assert load().citations == "off"
    env["OPENCLAW_CONFIG_PATH"] = file = str(tmp_path / "zz.json")
    assert original() == (file, False)
    assert load().citations == "auto"
    said = f"OPENCLAW_CONFIG_PATH: there is no file {file}; no openclaw.json is read"
    assert load().warnings == (said,)
    assert check(env=env).warnings == (said,)
    assert load(config=write("named", {})).warnings == (), "where a file is named, it is not read"
    del env["OPENCLAW_CONFIG_PATH"]
    env["OPENCLAW_STATE_DIR"] = folder = str(tmp_path / "zzz")
    assert original() == (os.path.join(folder, "openclaw.json"), False)
    said = f"OPENCLAW_STATE_DIR: there is no folder {folder}; nothing is read from it"
    assert load().warnings == load(config={}).warnings == (said,)
    os.mkdir(folder)
    assert load().warnings == ()
    assert original() == (os.path.join(folder, "openclaw.json"), False)


def test_the_older_folder_as_a_link_to_the_newer_is_one_folder(
    tmp_path: Path, load: Callable[..., Settings]
) -> None:
    (tmp_path / "home/.openclaw").mkdir()
    (tmp_path / "home/.moltbot").symlink_to(tmp_path / "home/.openclaw")
    assert load().openclaw_dirs == (str(tmp_path / "home/.openclaw"),)


def test_an_include_is_not_followed_and_causes_a_warning(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    include = {"$include": "./other.json5"}
    write(
        "original",
        {"agents": {"defaults": {"memorySearch": include}, **include}, "memory": include},
    )
    warnings = load().warnings
    assert len(warnings) == 3
    assert all("not followed" in warning for warning in warnings)


def test_sections_that_are_not_ours_may_have_any_form(load: Callable[..., Settings]) -> None:
    config = {
        "models": "x",
        "session": 1,
        "plugins": {"slots": [], "entries": {"a": None, "b": {"config": 3}}},
        "agents": {"defaults": {"model": 1, "compaction": {"mode": 5}}},
    }
    settings = load(config=config)
    assert settings == load(config={})
