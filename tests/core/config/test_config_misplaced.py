"""What cannot work: keys on a wrong level or misspelt, and values; all of it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.settings import FallbackSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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


# --- values that are taken, and cannot work ------------------------------------------------------


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("$HOME/notes", "$HOME/notes: $HOME is not replaced; write ${HOME}"),
        ("$HOME/../xp", "$HOME/../xp: $HOME is not replaced; write ${HOME}"),
        ("/xp/*.md", '/xp/*.md is taken as a path; write {path: "/xp", pattern: "*.md"}'),
        ("a/**/b?.md", 'a/**/b?.md is taken as a path; write {path: "a", pattern: "**/b?.md"}'),
        ("/*", '/* is taken as a path; write {path: "/", pattern: "*"}'),
        ("*.md", '*.md is taken as a path; write {path: ".", pattern: "*.md"}'),
    ],
)
def test_a_path_that_looks_like_another_form_is_taken_with_a_warning(
    extra: str, words: str, load: Callable[..., Settings]
) -> None:
    for value in (extra, {"path": extra}):
        settings = load(config={"memory": {"search": {"extraPaths": [value]}}})
        (warning,) = settings.warnings
        assert warning == f"config argument: memory.search.extraPaths: {words}"
        assert [one.path for one in settings.search.extra_paths] == [extra]


@pytest.mark.parametrize(
    ("pattern", "text", "words"),
    [
        ("**/*.txt", False, "set notes.text to true as well"),
        ("*.org", True, "notes end in .md, .markdown or .txt"),
        ("**/*.txt", True, ""),
        ("**/*.md", False, ""),
        ("*.{md,txt}", False, ""),
        ("archive.2024", False, ""),
        ("a.b/*", False, ""),
    ],
)
def test_a_pattern_that_no_note_can_match_is_warned_of(
    pattern: str, text: bool, words: str, load: Callable[..., Settings]
) -> None:
    search = {"extraPaths": [{"path": "x", "pattern": pattern}], "notes": {"text": text}}
    said = f"memorySearch.extraPaths: the pattern {pattern!r} matches no note: {words}"
    assert load(config={"memory": {"search": search}}).warnings == ((said,) if words else ())


def test_a_path_of_pythons_is_a_path(tmp_path: Path, load: Callable[..., Settings]) -> None:
    extra = [tmp_path / "a", {"path": tmp_path / "b", "pattern": "*.md"}]
    search = {"extraPaths": extra, "store": {"path": tmp_path / "index.db"}}
    settings = load(config={"memory": {"search": search}})
    assert [one.path for one in settings.search.extra_paths] == [
        str(tmp_path / "a"),
        str(tmp_path / "b"),
    ]
    assert settings.index_path == str(tmp_path / "index.db")


@pytest.mark.parametrize("source", ["exec", "file"])
def test_a_secret_in_a_store_that_cannot_be_asked_is_warned_of(
    source: str, write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    key = {"source": source, "provider": "vault", "id": "value"}
    content = {
        "memory": {"search": {"remote": {"apiKey": key}}},
        "models": {"providers": {"openai": {"apiKey": key}}},
    }
    path = write("user", content)
    first, second = sorted(load().warnings)
    assert first.startswith(f"{path}: memory.search.remote.apiKey: cannot be used: ")
    assert second.startswith(f"{path}: models.providers.openai.apiKey: cannot be used: ")
    assert 'write "${NAME}"' in first
    assert "vault" not in first + second


@pytest.mark.parametrize(
    ("providers", "key", "words"),
    [
        ([], "", "must be an object, not a list"),
        ({"openai": {"apiKey": 5}}, ".openai.apiKey", "must be a string, or an object"),
        ({"openai": {"baseUrl": {"a": 1}}}, ".openai.baseUrl", "must be an address, a string"),
        ({"openai": {"headers": ["a"]}}, ".openai.headers", "must be an object of names"),
    ],
)
def test_the_form_of_a_provider_is_warned_of_in_ones_own_file_alone(
    providers: Any,
    key: str,
    words: str,
    write: Callable[[str, Any], str],
    load: Callable[..., Settings],
) -> None:
    original = write("original", {"models": {"providers": providers}})
    assert load().warnings == load(config=original).warnings == ()
    path = write("user", {"models": {"providers": providers}})
    (warning,) = load().warnings
    assert warning.startswith(f"{path}: models.providers{key}: {words}")
