"""All problems at once, each in words that help, at its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfoNotFoundError

import pytest

from commonplace.config.load import load_settings
from commonplace.config.reports import check
from commonplace.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.config.settings import Settings
    from commonplace.model.plugins import ConfigProblem

WRONG = """\
// Everything here is wrong.
{
  agents: {
    defaults: {
      memorySearch: {
        provder: "openai",
        query: { maxResults: 0,
          minScore: "high", hybrid: { mmr: true } },
        remote: {
          headers: { "X-A": 1,
                     "X-B": 2 },
        },
        extraPaths: [
          "fine",
          { path: "also fine" },
          7,
          { glob: "*.md" },
        ],
      },
      compaction: { memoryFlush: { soft: 1, forceFlushTranscriptBytes: "lots" }, mode: "any" },
    },
    list: [
      { id: "a", memorySearch: { chunking: { token: 5 } } },
    ],
  },
  memory: { backend: ["qmd", "qmd", "No Id"], citations: "of" },
  channels: { whatever: [] },
}
"""


def test_all_problems_of_a_file_are_reported_at_once_with_their_lines(
    write: Callable[[str, Any], str], problems: Callable[..., list[ConfigProblem]]
) -> None:
    path = write("user", WRONG)
    found = problems()
    assert {problem.file for problem in found} == {path}
    search = "agents.defaults.memorySearch"
    assert [(problem.line, problem.key) for problem in found] == [
        (6, f"{search}.provder"),
        (7, f"{search}.query.maxResults"),
        (8, f"{search}.query.minScore"),
        (8, f"{search}.query.hybrid.mmr"),
        (10, f"{search}.remote.headers.X-A"),
        (11, f"{search}.remote.headers.X-B"),
        (16, f"{search}.extraPaths[2]"),
        (17, f"{search}.extraPaths[3].glob"),
        (20, "agents.defaults.compaction.memoryFlush.soft"),
        (20, "agents.defaults.compaction.memoryFlush.forceFlushTranscriptBytes"),
        (23, "agents.list[0].memorySearch.chunking.token"),
        (26, "memory.backend[1]"),
        (26, "memory.backend[2]"),
        (26, "memory.citations"),
    ]


def test_problems_of_several_files_are_reported_together(
    write: Callable[[str, Any], str], problems: Callable[..., list[ConfigProblem]]
) -> None:
    bad = {"memory": {"search": {"enabled": 1}}}
    write("workspace", bad)  # costs that file alone
    paths = {write("original", "{"), write("user", bad)}
    assert {problem.file for problem in problems()} == paths
    assert len(problems(config=bad)) == 3


def test_the_error_is_one_line_and_says_how_many(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    path = write("user", WRONG)
    with pytest.raises(ConfigError) as caught:
        load()
    text = str(caught.value)
    assert text.startswith(f"{path}:6: agents.defaults.memorySearch.provder: ")
    assert text.endswith("(and 13 more)")
    assert "\n" not in text
    assert "config check" in caught.value.hint


@pytest.mark.parametrize(
    ("search", "hint"),
    [
        ({"provder": "x"}, "did you mean 'provider'?"),
        ({"extrapaths": []}, "did you mean 'extraPaths'?"),
        ({"query": {"maxResult": 1}}, "did you mean 'query.maxResults'?"),
        ({"maxResults": 1}, "did you mean 'query.maxResults'?"),
        ({"mmr": {"lamda": 1}}, "the keys here are"),
        ({"query": {"hybrid": {"mmr": {"lamda": 1}}}}, "did you mean 'query.hybrid.mmr.lambda'?"),
        ({"batch": {}}, "the keys here are"),
        ({"zzz": 1}, "the keys here are enabled, sources"),
    ],
)
def test_unknown_keys_come_with_a_suggestion(
    search: Any, hint: str, problems: Callable[..., list[ConfigProblem]]
) -> None:
    (problem,) = problems(config={"memory": {"search": search}})
    assert problem.message.startswith("is not a key here; ")
    assert hint in problem.message


@pytest.mark.parametrize(
    ("memory", "hint"),
    [
        ({"serach": {}}, "did you mean 'search'?"),
        ({"citation": "on"}, "did you mean 'citations'?"),
        ({"backnd": "qmd"}, "did you mean 'backend'?"),
        (
            {"foo": 1},
            "the keys here are backend, fallback, write, recalls, citations, links, search, qmd",
        ),
    ],
)
def test_unknown_keys_of_memory_itself(
    memory: Any, hint: str, problems: Callable[..., list[ConfigProblem]]
) -> None:
    (problem,) = problems(config={"memory": memory})
    assert hint in problem.message


def test_a_backend_may_have_a_section(load: Callable[..., Settings]) -> None:
    settings = load(config={"memory": {"lancedb": {"uri": "x"}, "backend": "lancedb"}})
    assert settings.backends == ("lancedb",)
    assert settings.sections["memory.lancedb"] == {"uri": "x"}


@pytest.mark.parametrize(
    ("backend", "chain"),
    [
        ("builtin", ("builtin",)),
        ("qmd", ("qmd", "builtin")),
        (["qmd"], ("qmd",)),
        (["a", "b_c", "d-e"], ("a", "b_c", "d-e")),
    ],
)
def test_the_chain_of_backends(
    backend: Any, chain: tuple[str, ...], load: Callable[..., Settings]
) -> None:
    assert load(config={"memory": {"backend": backend}}).backends == chain


@pytest.mark.parametrize("backend", [[], "", 1, None, ["a", 1], "Upper", {"a": 1}])
def test_what_is_no_chain(backend: Any, problems: Callable[..., list[ConfigProblem]]) -> None:
    assert problems(config={"memory": {"backend": backend}})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x", "not a string"),
        (True, "not true or false"),
        (None, "not null"),
        ([], "not a list"),
        ({}, "not an object"),
    ],
)
def test_faults_say_what_was_found_and_never_quote_it(
    value: Any, words: str, problems: Callable[..., list[ConfigProblem]]
) -> None:
    (problem,) = problems(config={"memory": {"search": {"query": {"maxResults": value}}}})
    assert problem.message == f"must be a whole number from 1 to 1000, {words}"


@pytest.mark.parametrize("section", ["agents", "memory"])
@pytest.mark.parametrize("value", [1, "x", [], None])
def test_sections_must_be_objects(
    section: str, value: Any, problems: Callable[..., list[ConfigProblem]]
) -> None:
    (problem,) = problems(config={section: value})
    assert (problem.key, problem.message[:17]) == (section, "must be an object")


@pytest.mark.parametrize(
    ("text", "size"),
    [("2mb", 2 << 20), ("2 MiB", 2 << 20), ("1.5k", 1536), ("7", 7), (0, 0), ("1 GB", 1 << 30)],
)
def test_sizes(text: Any, size: int, load: Callable[..., Settings]) -> None:
    flush = {"memoryFlush": {"forceFlushTranscriptBytes": text}}
    config = {"agents": {"defaults": {"compaction": flush}}}
    assert load(config=config).flush.force_flush_transcript_bytes == size


@pytest.mark.parametrize("text", ["", "mb", "-1", "2 pb", -1, 1.5, None, True, "1 2", "9" * 400])
def test_what_is_no_size(text: Any, problems: Callable[..., list[ConfigProblem]]) -> None:
    flush = {"memoryFlush": {"forceFlushTranscriptBytes": text}}
    assert problems(config={"agents": {"defaults": {"compaction": flush}}})


def test_the_defaults_of_the_flush(load: Callable[..., Settings]) -> None:
    flush = load().flush
    assert (flush.enabled, flush.soft_threshold_tokens) == (True, 4000)
    assert (flush.reserve_tokens_floor, flush.post_index_sync) == (20_000, "async")
    assert flush.force_flush_transcript_bytes == 2 * 1024 * 1024
    assert (flush.prompt, flush.system_prompt, flush.model) == (None, None, None)


def test_slots(load: Callable[..., Settings], problems: Callable[..., list[ConfigProblem]]) -> None:
    def slot(value: Any) -> Any:
        return {"plugins": {"slots": {"memory": value}}}

    assert load().slot == "memory-core"
    assert load(config=slot("none")).slot == "none"
    assert load(config=slot("none")).warnings == ()
    other = load(config=slot("memory-nowhere"))
    assert other.slot == "memory-nowhere"
    assert "'memory-nowhere' is not installed" in other.warnings[0]
    assert [problem.key for problem in problems(config=slot(False))] == ["plugins.slots.memory"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [("memorySerach", "memorySearch"), ("workspce", "workspace"), ("compacton", "compaction")],
)
def test_slips_beside_our_keys_are_warned_of(
    key: str, meant: str, load: Callable[..., Settings]
) -> None:
    (warning,) = load(config={"agents": {"defaults": {key: {}}}}).warnings
    assert f"did you mean {meant!r}?" in warning


# --- config check -------------------------------------------------------------------------------


def test_a_check_tells_and_does_not_raise(
    write: Callable[[str, Any], str],
    env: dict[str, str],
    workspace: str,
    sections: Callable[[str], type | None],
) -> None:
    path = write("user", WRONG)
    report = check(workspace=workspace, env=env, sections=sections)
    assert report.files == (path,)
    assert len(report.problems) == 14
    again = check(workspace=workspace, env=env, config={}, sections=sections)
    assert again.problems == report.problems


def test_a_check_of_nothing_wrong(env: dict[str, str], workspace: str) -> None:
    report = check(workspace=workspace, env=env)
    assert (report.files, report.problems, report.warnings) == ((), (), ())


def test_a_check_tells_of_a_workspace_that_is_not_there_and_of_faults_beside_it(
    write: Callable[[str, Any], str], env: dict[str, str]
) -> None:
    write("user", "{memory: {citations: 1}}")
    report = check(env=env)
    assert [problem.key for problem in report.problems] == ["memory.citations", ""]
    assert "no workspace" in report.problems[1].message
    assert report.hint


def test_a_check_tells_of_keys_that_stand_twice(
    write: Callable[[str, Any], str], env: dict[str, str], workspace: str
) -> None:
    write("user", "{channels: {a: 1, a: 2},\nmemory: {citations: 'on',\n\ncitations: 'off'}}")
    (_, warning) = check(workspace=workspace, env=env).warnings
    assert ":4: memory.citations: is in line 2 as well" in warning


@pytest.mark.parametrize(
    ("content", "key", "words"),
    [
        ({"agnets": {}}, "agnets", "did you mean 'agents'?"),
        ({"Memory": {}}, "Memory", "did you mean 'memory'?"),
        ({"gateway": {}}, "gateway", "the keys here are agents, memory, models"),
        ({"session": {"sendPolicy": {}}}, "session.sendPolicy", "has no effect"),
        ({"memory": {"qmd": {"mcporter": {"enabled": True}}}}, "memory.qmd.mcporter", "own server"),
        ({"memory": {"qmd": {"searchTool": "x"}}}, "memory.qmd.searchTool", "searchMode"),
    ],
)
def test_what_has_no_effect_in_ones_own_file_is_warned_of(
    content: dict[str, Any],
    key: str,
    words: str,
    write: Callable[[str, Any], str],
    load: Callable[..., Settings],
) -> None:
    path = write("user", content)
    (warning,) = load().warnings
    assert warning.startswith(f"{path}: {key}: ")
    assert words in warning
    (warning,) = load(config=content).warnings[:1]
    assert key in warning


@pytest.mark.parametrize(
    ("plugins", "key", "words"),
    [
        ({"deny": "ranker.mmr"}, "plugins.deny", "must be a list"),
        ({"allow": [1]}, "plugins.allow", "must be a list"),
        ({"enabled": "no"}, "plugins.enabled", "true or false"),
        ({"entries": {"mmr": {"enabled": 0}}}, "plugins.entries.mmr.enabled", "true or false"),
        ({"entries": {"mmr": {"config": 5}}}, "plugins.entries.mmr.config", "must be an object"),
        ({"entries": {"mmr": 5}}, "plugins.entries.mmr", "must be an object, not a number"),
    ],
)
def test_a_switch_of_plugins_in_a_wrong_form_is_a_problem(
    plugins: dict[str, Any],
    key: str,
    words: str,
    problems: Callable[..., list[ConfigProblem]],
) -> None:
    (problem,) = problems(config={"plugins": plugins})
    assert problem.key == key
    assert words in problem.message


def test_an_originals_file_may_have_keys_of_other_programs(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    path = write("original", {"gateway": {}, "session": {"sendPolicy": {}}, "provider": "x"})
    assert load().warnings == ()
    assert load(config=path).warnings == (), "also where it is named"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("Mars/X", "use one such as Europe/Berlin"),
        ("europe/Berln", "did you mean 'Europe/Berlin'?"),
    ],
)
def test_a_time_zone_that_does_not_exist_is_an_error(
    name: str, advice: str, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    file = tmp_path / "c.json5"
    file.write_text('{ memory: { search: {\n  query: { timeZone: "' + name + '" } } } }')
    given = {"config": str(file), "workspace": str(tmp_path / "notes")}
    env = {"HOME": str(tmp_path)}
    (problem,) = check(**given, env=env).problems  # type: ignore[arg-type]
    assert (problem.line, problem.key) == (2, "memory.search.query.timeZone")
    assert problem.message == f"there is no time zone {name!r}; {advice}"
    with pytest.raises(ConfigError, match=f"there is no time zone {name!r}"):
        load_settings(**given, env=env)  # type: ignore[arg-type]
    file.write_text("{ memory: { search: { query: { timeZone: 'Europe/Berlin' } } } }")
    report = check(**given, env=env)  # type: ignore[arg-type]
    assert (report.problems, report.warnings) == ((), ())


def test_where_no_time_zone_is_known_none_is_wrong(
    load: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(name: str) -> None:
        raise ZoneInfoNotFoundError(name)

    monkeypatch.setattr("zoneinfo.ZoneInfo", unknown)
    monkeypatch.setattr("zoneinfo.available_timezones", set)
    settings = load(config={"memory": {"search": {"query": {"timeZone": "Europe/Berlin"}}}})
    assert settings.search.query.time_zone == "Europe/Berlin"
    (warning,) = settings.warnings
    assert "this machine has no time zones: install the package tzdata" in warning


def test_the_problems_of_a_mapping_are_not_looked_for_in_a_file(
    load: Callable[..., Settings],
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(config={"memory": {"none": 1}})
    assert caught.value.hint == "correct the mapping that was given as config"
