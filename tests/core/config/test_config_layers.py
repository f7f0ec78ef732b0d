"""Which place counts more, and what a workspace's own file may say."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.reports import check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.config.settings import Settings
    from commonplace.model.plugins import ConfigProblem


def results(number: int) -> dict[str, Any]:
    return {"memory": {"search": {"query": {"maxResults": number}}}}


def test_the_nearer_place_counts_more(
    env: dict[str, str], write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    def number(**arguments: Any) -> int:
        found: int = load(**arguments).search.query.max_results
        return found

    write("original", results(1))
    assert number() == 1
    write("user", results(2))
    assert number() == 2
    env["COMMONPLACE_CONFIG"] = write("named", results(3))
    assert number() == 3
    write("workspace", results(4))
    assert number() == 3, "a workspace's own file overrides nothing that its user has set"
    assert number(config=results(5)) == 5, "an argument counts most"


def test_what_a_nearer_place_does_not_say_the_farther_one_does(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write("original", {"memory": {"citations": "on", **results(1)["memory"]}})
    write("user", {"memory": {"backend": ["inmemory", "builtin"]}})
    write("workspace", {"memory": {"search": {"query": {"minScore": 0.1}}}})
    settings = load(config={"memory": {"search": {"model": "m"}}})
    assert settings.citations == "on"
    assert settings.backends == ("inmemory", "builtin")
    assert settings.search.query.max_results == 1
    assert settings.search.query.min_score == 0.1
    assert settings.search.model == "m"


def test_a_nearer_files_defaults_count_more_than_a_farther_ones_agent(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    search = results(1)["memory"]["search"]
    write("original", {"agents": {"list": [{"id": "main", "memorySearch": search}]}})
    write("user", results(2))
    assert load().search.query.max_results == 2


def test_a_named_file_stands_in_for_the_users_and_the_originals(
    env: dict[str, str], write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write("original", {"memory": {"citations": "on"}})
    write("user", results(2))
    named = write("named", "{}")
    assert load(config=named).config_files == (named,)
    assert load(config=named).search.query.max_results == 6
    env["COMMONPLACE_CONFIG"] = named
    assert load().citations == "auto"


def test_extra_paths_add_up(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write("original", {"memory": {"search": {"extraPaths": ["a", "b"]}}})
    write("user", {"memory": {"search": {"extraPaths": ["c", "a"]}}})
    write("workspace", {"memory": {"search": {"extraPaths": ["d"]}}})
    assert [extra.path for extra in load().search.extra_paths] == ["d", "a", "b", "c"]


def test_sections_of_plugins_are_laid_over_one_another(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write("original", {"memory": {"mine": {"a": 1, "b": {"c": 2, "d": 3}}}})
    write("user", {"memory": {"mine": {"b": {"d": 4}}}})
    assert load().sections["memory.mine"] == {"a": 1, "b": {"c": 2, "d": 4}}


@pytest.mark.parametrize("variable", ["COMMONPLACE_STATE_DIR", "COMMONPLACE_CACHE_DIR"])
def test_folders_by_the_environment(
    variable: str, tmp_path: Path, env: dict[str, str], load: Callable[..., Settings]
) -> None:
    env[variable] = "folder"
    settings = load()
    found = settings.state_dir if "STATE" in variable else settings.cache_dir
    assert found == str(tmp_path / "elsewhere/folder"), "absolute, whatever it was"


def test_a_blank_variable_is_not_set(env: dict[str, str], load: Callable[..., Settings]) -> None:
    before = load()
    for name in ("STATE_DIR", "CACHE_DIR", "CONFIG", "AGENT", "WORKSPACE"):
        env[f"COMMONPLACE_{name}"] = "  "
    assert load() == before


# --- a workspace's own file ---------------------------------------------------------------------


def test_a_workspace_may_tune(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write(
        "workspace",
        {
            "$schema": "https://example.test/schema.json",
            "memory": {"citations": "off", "search": {"chunking": {"strategy": "lines"}}},
            "agents": {
                "defaults": {
                    "memorySearch": {
                        "query": {"maxResults": 3, "hybrid": {"mmr": {"enabled": True}}},
                        "ranking": {"profile": "compat"},
                        "sync": {"watchDebounceMs": 10, "intervalMinutes": 5},
                    }
                }
            },
        },
    )
    settings = load()
    assert settings.citations == "off"
    assert settings.search.chunking.strategy == "lines"
    assert settings.search.query.max_results == 3
    assert settings.search.ranking.profile == "compat"


@pytest.mark.parametrize(
    "search",
    [
        {"remote": {"baseUrl": "https://evil.test"}},
        {"remote": {"apiKey": "x"}},
        {"remote": {"headers": {"X": "y"}}},
        {"remote": {"batch": {"enabled": True}}},
        {"provider": "openai"},
        {"fallback": "openai"},
        {"model": "m"},
        {"local": {"modelPath": "m.gguf"}},
        {"local": {"modelCacheDir": "models"}},
        {"store": {"path": "i.db"}},
        {"store": {"vector": {"extensionPath": "vec0.so"}}},
        {"sources": ["memory"]},
        {"experimental": {"sessionMemory": True}},
        {"enabled": False},
        {"ranking": {"chain": []}},
        {"cache": {"enabled": False}},
        {"qmd": {"extraCollections": [{"path": "a"}]}},
        {"extraPaths": ["/etc"]},
        {"extraPaths": ["../other"]},
        {"extraPaths": ["~/secrets"]},
        {"extraPaths": [{"path": "a/../../b"}]},
    ],
)
@pytest.mark.parametrize("spelling", ["older", "newer"])
def test_a_workspace_may_name_nothing_that_reaches_out(
    search: dict[str, Any],
    spelling: str,
    write: Callable[[str, Any], str],
    refused: Callable[[], list[ConfigProblem]],
) -> None:
    newer = {"memory": {"search": search}}
    path = write(
        "workspace",
        newer if spelling == "newer" else {"agents": {"defaults": {"memorySearch": search}}},
    )
    (problem,) = refused()
    assert problem.file == path
    assert "a workspace's own file may" in problem.message


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ({"memory": {"backend": "qmd"}}, "memory.backend"),
        ({"memory": {"qmd": {"command": "rm"}}}, "memory.qmd"),
        ({"memory": {"mine": {"url": "x"}}}, "memory.mine"),
        ({"agents": {"defaults": {"workspace": "/"}}}, "agents.defaults.workspace"),
        ({"agents": {"defaults": {"compaction": {}}}}, "agents.defaults.compaction"),
        ({"agents": {"list": [{"id": "a"}]}}, "agents.list"),
        ({"agents": {"entries": {"a": {}}}}, "agents.entries"),
        ({"plugins": {"slots": {"memory": "none"}}}, "plugins"),
        ({"models": {"providers": {"openai": {"baseUrl": "https://evil.test"}}}}, "models"),
        ({"session": {}}, "session"),
        ({"anything": 1}, "anything"),
    ],
)
def test_a_workspace_has_no_other_sections(
    content: dict[str, Any],
    key: str,
    write: Callable[[str, Any], str],
    refused: Callable[[], list[ConfigProblem]],
) -> None:
    write("workspace", content)
    (problem,) = refused()
    assert problem.key == key
    assert "a workspace's own file may" in problem.message


def test_a_workspace_cannot_reach_out_by_a_link(
    workspace: str,
    tmp_path: Path,
    write: Callable[[str, Any], str],
    refused: Callable[[], list[ConfigProblem]],
) -> None:
    os.symlink(tmp_path / "home", f"{workspace}/docs")
    write("workspace", {"memory": {"search": {"extraPaths": ["docs"]}}})
    (problem,) = refused()
    assert "outside" in problem.message


def test_a_workspace_cannot_read_the_environment(
    env: dict[str, str], write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    env["SECRET_NAME"] = "hush"
    write("workspace", {"memory": {"search": {"extraPaths": ["${SECRET_NAME}"]}}})
    assert load().search.extra_paths[0].path == "${SECRET_NAME}"
    assert "hush" not in repr(load())


def search_of(text: str) -> dict[str, Any]:
    *keys, last = text.split("=", maxsplit=1)[0].split(".")
    found: Any = {last: json.loads(text.split("=")[1])}
    for key in reversed(keys):
        found = {key: found}
    return {"memory": {"search": found}}


@pytest.mark.parametrize(
    "value",
    [
        "query.maxResults=1e21",
        "query.maxResults=101",
        "query.minScore=1",
        'query.timeZone="Nowhere/Land"',
        "query.hybrid.candidateMultiplier=0",
        "query.hybrid.mmr.lambda=2",
        "query.hybrid.recency.halfLifeDays=" + "9" * 400,
        "query.hybrid.temporalDecay.halfLifeDays=1e300",
        "chunking.tokens=1",
        "chunking.tokens=1e9",
        "chunking.overlap=1e9",
        'chunking.strategy="nowhere"',
        "sync.watchDebounceMs=1e12",
        "sync.intervalMinutes=1e12",
        "sync.sessions.deltaBytes=1e12",
        "sync.sessions.deltaMessages=0",
        "extraPaths=" + json.dumps([f"p{number}" for number in range(101)]),
    ],
)
def test_no_value_of_a_workspace_breaks_searches_or_makes_them_expensive(
    value: str,
    write: Callable[[str, Any], str],
    refused: Callable[[], list[ConfigProblem]],
    load: Callable[..., Settings],
) -> None:
    before = load()
    write("workspace", search_of(value))
    (problem,) = refused()
    assert problem.key == f"memory.search.{value.partition('=')[0]}"
    after = load()
    assert after.search == before.search
    assert after.config_files == ()


def test_what_a_workspace_repeats_is_half_of_a_piece_at_most(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write("workspace", {"memory": {"search": {"chunking": {"tokens": 100, "overlap": 99}}}})
    assert load().search.chunking.overlap == 50
    write("workspace", {"memory": {"search": {"chunking": {"tokens": 100}}}})
    write("user", {"memory": {"search": {"chunking": {"overlap": 150}}}})
    assert load().search.chunking.overlap == 50
    write("user", {"memory": {"search": {"chunking": {"tokens": 200, "overlap": 150}}}})
    assert load().search.chunking.overlap == 150, "what the user has set himself"


def test_one_fault_costs_a_workspace_its_file_and_nothing_else(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write("user", results(9))
    path = write("workspace", {"memory": {"citations": "off", "serch": 1, "search": {"x": 1}}})
    settings = load()
    assert settings.citations == "auto"
    assert settings.search.query.max_results == 9
    assert settings.ignored.startswith(f"{path}:4: memory.serch: ")
    assert " (and 1 more); this file has no effect" in settings.ignored
    assert settings.warnings == (settings.ignored,)
    report = check(workspace=settings.workspace, env={"HOME": "/nowhere"})
    assert len(report.problems) == 2, "a check lists all of them"


def test_thousands_of_faults_are_read_no_further_than_the_twentieth(
    write: Callable[[str, Any], str],
    refused: Callable[[], list[ConfigProblem]],
    load: Callable[..., Settings],
) -> None:
    write("workspace", "{" + ",".join(f"a{number}:1" for number in range(7000)) + "}")
    assert len(refused()) == 20
    write("workspace", json.dumps({"memory": {"search": {"extraPaths": [[]] * 100}}}))
    assert len(refused()) == 20
    write("workspace", "{" + ",".join(f"a{number}:1" for number in range(30_000)) + "}")
    (problem,) = refused()
    assert problem.message == "is larger than 64 KiB; this cannot be meant"
    began = time.process_time()
    load()
    assert time.process_time() - began < 0.2


def test_a_syntax_error_in_a_workspace_is_reported_with_its_place(
    write: Callable[[str, Any], str], refused: Callable[[], list[ConfigProblem]]
) -> None:
    path = write("workspace", "{\n  memory: {\n    citations: 'on'\n    backend: 'builtin' } }")
    (problem,) = refused()
    assert str(problem) == f"{path}:3: column 20: a comma is missing; add one here"
