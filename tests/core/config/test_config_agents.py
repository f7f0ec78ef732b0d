"""Several agents: which one is meant, what it may override, and where its notes are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.load import load_settings
from commonplace.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.config.settings import Settings
    from commonplace.model.plugins import ConfigProblem


def listed(*agents: Any, **defaults: Any) -> dict[str, Any]:
    return {"agents": {"defaults": defaults, "list": list(agents)}}


@pytest.mark.parametrize(
    ("agents", "meant"),
    [
        ([], "main"),
        ([{"id": "work"}, {"id": "home"}], "work"),
        ([{"id": "work"}, {"id": "home", "default": True}], "home"),
        ([{"id": "work", "default": True}, {"id": "home", "default": True}], "work"),
        ([{"id": "work"}, {"id": "main"}], "work"),
        ([{"id": "Work Bot"}], "work-bot"),
    ],
)
def test_the_default_agent(agents: list[Any], meant: str, load: Callable[..., Settings]) -> None:
    assert load(config=listed(*agents)).agent == meant


@pytest.mark.parametrize("default", ["main", "ops", None])
@pytest.mark.parametrize("form", ["entries", "list"])
def test_a_setting_for_an_agent_in_ones_own_file_does_not_make_it_the_default_one(
    default: str | None,
    form: str,
    write: Callable[[str, Any], str],
    load: Callable[..., Settings],
    env: dict[str, str],
) -> None:
    agents = [{"id": "main", "workspace": "/main"}, {"id": "ops", "workspace": "/ops"}]
    write("original", listed(*({**one, "default": one["id"] == default} for one in agents)))
    said = {"memory": {"search": {"query": {"maxResults": 2}}}}
    own = {"entries": {"ops": said}} if form == "entries" else {"list": [{"id": "ops", **said}]}
    path = write("user", {"agents": own})
    meant = default or "main"
    assert (load().agent, find(env)) == (meant, f"/{meant}")
    assert load(agent="ops").search.query.max_results == 2
    assert load(config={"agents": own}).agent == meant
    assert load(config=path).agent == "ops", "there is no other in what is read"


def test_the_nearest_document_that_flags_an_agent_says_which_is_the_default_one(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write("original", listed({"id": "main"}, {"id": "ops", "default": True}, {"id": "home"}))
    assert load().agent == "ops"
    write("user", {"agents": {"entries": {"home": {"default": True}}}})
    assert load().agent == "home"
    write("user", {"agents": {"entries": {"ops": {"default": False}}}})
    assert load().agent == "main"


def test_an_agent_is_named_by_argument_else_by_the_environment(
    env: dict[str, str], load: Callable[..., Settings]
) -> None:
    config = listed({"id": "a"}, {"id": "b"}, {"id": "c"})
    env["COMMONPLACE_AGENT"] = "B"
    assert load(config=config).agent == "b"
    assert load(config=config, agent="c").agent == "c"


def test_an_unlisted_agent_is_an_error_with_a_suggestion(load: Callable[..., Settings]) -> None:
    config = listed({"id": "work"}, {"id": "home"})
    with pytest.raises(ConfigError, match="no agent 'wrok'") as caught:
        load(config=config, agent="wrok")
    assert "did you mean 'work'?" in caught.value.hint
    assert "home" in caught.value.hint


def test_main_always_exists(load: Callable[..., Settings]) -> None:
    assert load(config=listed({"id": "work"}), agent="main").agent == "main"


def test_without_a_list_a_host_names_agents_as_it_likes(load: Callable[..., Settings]) -> None:
    settings = load(agent="user-42")
    assert "/memory/user-42-" in settings.index_path


@pytest.mark.parametrize("agent", ["../x", "a/b", "a b", "a.b", "é", "-a", "a" * 65, "a\n", "CON:"])
def test_an_id_that_cannot_be_a_files_name_is_refused(
    agent: str, load: Callable[..., Settings]
) -> None:
    if agent == "a\n":
        assert load(agent=agent).agent == "a", "white space around it is dropped"
        return
    with pytest.raises(ConfigError, match="cannot be the id"):
        load(agent=agent)


def test_each_agent_has_an_index_of_its_own(
    tmp_path: Path, env: dict[str, str], load: Callable[..., Settings]
) -> None:
    env["COMMONPLACE_STATE_DIR"] = str(tmp_path / "state")
    of_a, of_b = load(agent="a").index_path, load(agent="b").index_path
    assert of_a.startswith(str(tmp_path / "state/memory/a-"))
    assert of_a.endswith(".sqlite")
    assert of_b != of_a
    assert load(agent="a", workspace=str(tmp_path / "elsewhere")).index_path != of_a
    config = {"memory": {"search": {"store": {"path": "~/{agentId}/{agentId}.db"}}}}
    assert load(agent="a", config=config).index_path == f"{env['HOME']}/a/a.db"


@pytest.mark.parametrize("there", [True, False])
def test_a_store_inside_the_originals_folder_is_not_used(
    tmp_path: Path,
    load: Callable[..., Settings],
    there: bool,
) -> None:
    if there:
        (tmp_path / "home/.openclaw").mkdir()
    config = {"memory": {"search": {"store": {"path": "~/.openclaw/memory/{agentId}.sqlite"}}}}
    settings = load(config=config)
    assert settings.index_path.startswith(f"{settings.state_dir}/memory/main-")
    (warning,) = settings.warnings
    assert "store.path" in warning


def test_a_store_named_by_a_copy_of_the_originals_file_is_not_used(
    tmp_path: Path, load: Callable[..., Settings]
) -> None:
    text = '{memory: {search: {store: {path: "/srv/claw/{agentId}.sqlite"}}}}'
    for name in ("openclaw.json", "mine.json5"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    settings = load(config=str(tmp_path / "openclaw.json"))
    assert settings.index_path.startswith(f"{settings.state_dir}/memory/main-")
    assert load(config=str(tmp_path / "mine.json5")).index_path == "/srv/claw/main.sqlite"


def test_an_agent_overrides_field_by_field(load: Callable[..., Settings]) -> None:
    config = listed(
        {
            "id": "a",
            "memorySearch": {"query": {"hybrid": {"mmr": {"lambda": 0.2}}}, "extraPaths": ["c"]},
        },
        {"id": "b"},
        memorySearch={
            "query": {"maxResults": 9, "hybrid": {"mmr": {"enabled": True, "lambda": 0.4}}},
            "extraPaths": ["a", "b"],
        },
    )
    settings = load(config=config, agent="a")
    assert settings.search.query.max_results == 9
    mmr = settings.plugin_config("mmr")
    assert (mmr.enabled, mmr.lambda_) == (True, 0.2)
    paths = [extra.path for extra in load(config=config, agent="a").search.extra_paths]
    assert paths == ["a", "b", "c"]
    assert load(config=config, agent="b").plugin_config("mmr").lambda_ == 0.4


def test_problems_of_every_agent_are_reported(problems: Callable[..., list[ConfigProblem]]) -> None:
    config = listed(
        {"id": "a"},
        {"id": "b", "memorySearch": {"enabled": 1}, "workspace": 5},
        {"name": "no id"},
        "c",
    )
    assert [problem.key for problem in problems(config=config, agent="a")] == [
        "agents.list[1].workspace",
        "agents.list[1].memorySearch.enabled",
        "agents.list[2].id",
        "agents.list[3]",
    ]


def test_an_agent_that_stands_twice(load: Callable[..., Settings]) -> None:
    config = listed(
        {"id": "a", "memorySearch": {"query": {"maxResults": 1}}},
        {"id": "A", "memorySearch": {"query": {"maxResults": 2}}},
    )
    settings = load(config=config)
    assert settings.search.query.max_results == 1
    assert "twice" in settings.warnings[0]


# --- where the notes are ------------------------------------------------------------------------


def find(env: dict[str, str], **arguments: Any) -> str:
    found: str = load_settings(env=env, **arguments).workspace
    return found


def test_the_workspace_by_argument_environment_agent_defaults(
    tmp_path: Path, env: dict[str, str]
) -> None:
    config = listed({"id": "a", "workspace": "/own"}, {"id": "b"}, workspace="~/common")
    assert find(env, config=config) == "/own"
    assert find(env, config=config, agent="b") == f"{env['HOME']}/common"
    env["COMMONPLACE_WORKSPACE"] = "~/from-env"
    assert find(env, config=config) == f"{env['HOME']}/from-env"
    assert find(env, config=config, workspace="here") == str(tmp_path / "elsewhere/here")
    assert find(env, workspace="~") == env["HOME"]


def test_a_workspace_in_a_file_starts_from_the_files_folder(
    env: dict[str, str], write: Callable[[str, Any], str]
) -> None:
    path = write("user", {"agents": {"defaults": {"workspace": "notes"}}})
    assert find(env) == os.path.join(os.path.dirname(path), "notes")


def test_an_agents_own_workspace_counts_more_than_a_nearer_files_common_one(
    env: dict[str, str], write: Callable[[str, Any], str]
) -> None:
    write("user", {"agents": {"defaults": {"workspace": "/common"}}})
    write("original", listed({"id": "main"}, {"id": "work", "workspace": "/own"}))
    assert find(env, agent="work") == "/own"
    assert find(env) == "/common"


@pytest.mark.parametrize("folder", ["home/common/work", "home/.openclaw/workspace-work"])
def test_the_originals_folders_of_further_agents(
    folder: str, tmp_path: Path, env: dict[str, str]
) -> None:
    (tmp_path / "home/.openclaw").mkdir()
    config = listed({"id": "main"}, {"id": "work"}, workspace="~/common")
    assert find(env, config=config, agent="work") == f"{env['HOME']}/common"
    (tmp_path / folder).mkdir(parents=True)
    assert find(env, config=config, agent="work") == str(tmp_path / folder)
    assert find(env, config=config, agent="main") == f"{env['HOME']}/common"


def test_where_nothing_is_configured(tmp_path: Path, env: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="no workspace is configured") as caught:
        find(env)
    assert "COMMONPLACE_WORKSPACE" in caught.value.hint
    assert "commonplace demo" in caught.value.hint
    (tmp_path / "elsewhere/memory").mkdir()
    assert find(env) == str(tmp_path / "elsewhere")
    (tmp_path / "home/.openclaw/workspace").mkdir(parents=True)
    assert find(env) == str(tmp_path / "home/.openclaw/workspace")


def test_memory_md_makes_the_current_folder_a_workspace(
    tmp_path: Path, env: dict[str, str]
) -> None:
    (tmp_path / "elsewhere/MEMORY.md").write_text("")
    assert find(env) == str(tmp_path / "elsewhere")
