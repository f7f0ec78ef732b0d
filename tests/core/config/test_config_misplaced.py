"""Keys on a wrong level, or misspelt: none has no effect in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.settings import FallbackSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.settings import Settings
    from commonplace.model.plugins import ConfigProblem

QUERY = {"query": {"maxResults": 3}}


@pytest.mark.parametrize(
    ("content", "key", "place"),
    [
        ({"provider": "openai"}, "provider", "memory.search.provider"),
        ({"memorySearch": {"provider": "openai"}}, "memorySearch", "memory.search"),
        ({"search": {"provider": "openai"}}, "search", "memory.search"),
        ({"query": {"maxResults": 3}}, "query", "memory.search.query"),
        ({"extraPaths": ["a"]}, "extraPaths", "memory.search.extraPaths"),
    ],
)
def test_a_setting_that_stands_at_the_top_is_refused(
    content: dict[str, Any],
    key: str,
    place: str,
    write: Callable[[str, Any], str],
    problems: Callable[..., list[ConfigProblem]],
) -> None:
    (by_mapping,) = problems(config=content)
    write("user", content)
    (by_file,) = problems()
    for problem in (by_mapping, by_file):
        assert problem.key == key
        assert problem.message == f"has no effect here; put it into {place}"


@pytest.mark.parametrize(
    ("content", "key", "place"),
    [
        ({"memory": QUERY}, "memory.query", "memory.search.query"),
        ({"memory": {"provider": "none"}}, "memory.provider", "memory.search.provider"),
        ({"memory": {"memorySearch": QUERY}}, "memory.memorySearch", "memory.search"),
        ({"agents": {"memorySearch": QUERY}}, "agents.memorySearch", "memory.search"),
        (
            {"agents": {"defaults": QUERY}},
            "agents.defaults.query",
            "agents.defaults.memorySearch.query",
        ),
        (
            {"agents": {"defaults": {"search": QUERY}}},
            "agents.defaults.search",
            "agents.defaults.memorySearch",
        ),
        (
            {"agents": {"defaults": {"memory": {"search": QUERY}}}},
            "agents.defaults.memory.search",
            "memory.search",
        ),
        (
            {"agents": {"list": [{"id": "a", **QUERY}]}},
            "agents.list[0].query",
            "agents.list[0].memorySearch.query",
        ),
        (
            {"agents": {"entries": {"a": QUERY}}},
            "agents.entries.a.query",
            "agents.entries.a.memorySearch.query",
        ),
    ],
)
def test_a_setting_of_searching_on_a_wrong_level_is_refused(
    content: dict[str, Any],
    key: str,
    place: str,
    write: Callable[[str, Any], str],
    problems: Callable[..., list[ConfigProblem]],
) -> None:
    (by_mapping,) = problems(config=content)
    write("user", content)
    (by_file,) = problems()
    for problem in (by_mapping, by_file):
        assert problem.key == key
        assert problem.message == f"has no effect here; put it into {place}"


def test_a_backend_may_be_called_as_a_setting_of_searching(load: Callable[..., Settings]) -> None:
    def classes(section: str) -> type | None:
        return FallbackSettings if section == "memory.cache" else None

    config = {"memory": {"backend": "cache", "cache": {"standby": "warm"}}}
    assert load(config=config, sections=classes).section_values["memory.cache"].standby == "warm"


def test_what_agents_have_besides_is_no_setting_of_searching(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    shared = {"model": {"primary": "a/b"}, "experimental": {"localModelLean": True}}
    compaction = {"mode": "safeguard", "reserveTokens": 5000, "keepRecentTokens": 20_000}
    agents = {"defaults": {**shared, "compaction": compaction}, "list": [{"id": "a", **shared}]}
    write("user", {"agents": agents})
    assert load().warnings == ()


def test_in_an_originals_file_the_newer_spelling_in_the_defaults_is_warned_of(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    path = write("original", {"agents": {"defaults": {"memory": {"search": QUERY}, **QUERY}}})
    (warning,) = load().warnings
    assert warning == (
        f"{path}: agents.defaults.memory.search: has no effect here; put it into memory.search"
    )


@pytest.mark.parametrize(
    ("agents", "key", "meant"),
    [
        ({"default": {}}, "agents.default", "defaults"),
        ({"entires": {}}, "agents.entires", "entries"),
        (
            {"defaults": {"compaction": {"memoryflush": {}}}},
            "agents.defaults.compaction.memoryflush",
            "memoryFlush",
        ),
        (
            {"defaults": {"compaction": {"reserveTokenFloor": 1}}},
            "agents.defaults.compaction.reserveTokenFloor",
            "reserveTokensFloor",
        ),
    ],
)
def test_slips_in_agents_and_in_the_compaction_are_warned_of(
    agents: Any, key: str, meant: str, load: Callable[..., Settings]
) -> None:
    (warning,) = load(config={"agents": agents}).warnings
    assert f" {key}: " in warning
    assert f"did you mean {meant!r}?" in warning
