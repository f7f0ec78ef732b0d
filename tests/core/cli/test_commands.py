"""The commands, each on the sample workspace."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Run = Any


# --- search -------------------------------------------------------------------------------------


def test_search_prints_score_path_lines_and_snippet(run: Callable[..., Run], indexed: str) -> None:
    ran = run("search", "--workspace", indexed, "ERR_STALE_HARMONICS")
    assert ran.code == 0
    score, place = ran.out.splitlines()[0].split(" ")
    assert 0 < float(score) <= 1
    path, _, lines = place.partition("#L")
    assert path in {"memory/2026-10-07.md", "memory/projects/tide-api.md"}
    assert lines.partition("-L")[0].isdigit()
    assert "ERR_STALE_HARMONICS" in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("why did the sign go blank at night?", "memory/2026-10-12.md"),
        ("传感器的交货期要多久？", "memory/projects/sensor-supplier.md"),
        ("函館の見積書はいつまで", "memory/projects/hakodate.md"),
        ("max harmonics age", "memory/projects/tide-api.md"),
        ("who keeps the spare key", "MEMORY.md"),
    ],
)
def test_search_finds_in_every_language(
    run: Callable[..., Run], indexed: str, query: str, path: str
) -> None:
    ran = run("search", "--workspace", indexed, "--json", "-n", "3", query)
    assert ran.code == 0
    paths = [hit["path"] for hit in ran.json["results"]]
    assert path in paths
    assert len(paths) <= 3


def test_search_takes_words_without_quotes_and_the_option_of_the_original(
    run: Callable[..., Run], indexed: str
) -> None:
    quoted = run("search", "--workspace", indexed, "--json", "spare key").json
    assert run("search", "--workspace", indexed, "--json", "spare", "key").json == quoted
    assert run("search", "--workspace", indexed, "--json", "--query", "spare key").json == quoted
    assert (
        run("search", "other", "--workspace", indexed, "--json", "--query", "spare key").json
        == quoted
    )


def test_search_result_in_json_is_cited(run: Callable[..., Run], indexed: str) -> None:
    hit = run("search", "--workspace", indexed, "--json", "printer Tórshavn").json["results"][0]
    assert {"path", "startLine", "endLine", "score", "snippet", "source", "citation"} <= set(hit)
    assert hit["citation"].startswith(f"{hit['path']}#L{hit['startLine']}")
    assert hit["source"] == "memory"


def test_search_explains_itself(run: Callable[..., Run], indexed: str) -> None:
    plain = run("search", "--workspace", indexed, "--explain", "spare key")
    assert "  keyword: bm25 " in plain.out
    hit = run("search", "--workspace", indexed, "--explain", "--json", "spare key").json["results"][
        0
    ]
    assert hit["explain"]["steps"][-1]["after"] == pytest.approx(hit["score"])
    assert sum(part["amount"] for part in hit["explain"]["parts"]) == pytest.approx(hit["score"])


def test_search_names_the_filters_that_a_hit_passed(run: Callable[..., Run], indexed: str) -> None:
    query = "key path:** -source:nowhere -tag:none"
    ran = run("search", "--workspace", indexed, "--explain", "--query", query)
    assert "  passed: path:** -source:nowhere -tag:none\n" in ran.out


@pytest.mark.parametrize(
    ("query", "passed"),
    [
        ('"spare key" -batch', '"spare key" -batch'),
        ('key -"pool exhausted" -"-1" path:**', 'path:** -"pool exhausted" -"-1"'),
        ("“spare key”", '"spare key"'),
    ],
)
def test_search_names_the_quoted_and_the_excluded_words_that_a_hit_passed(
    query: str, passed: str, run: Callable[..., Run], indexed: str
) -> None:
    ran = run("search", "--workspace", indexed, "--explain", "--query", query)
    assert f"  passed: {passed}\n" in ran.out
    facts = run("search", "--workspace", indexed, "--explain", "--json", "--query", query).json
    assert " ".join(facts["results"][0]["explain"]["filters"]) == passed


def test_what_no_note_has_side_by_side_is_no_filter(run: Callable[..., Run], indexed: str) -> None:
    ran = run(
        "search", "--workspace", indexed, "--explain", "--query", '"key spare zyxwvut" -batch'
    )
    assert "  passed: -batch\n" in ran.out


def test_search_leaves_out_what_scores_too_little(run: Callable[..., Run], indexed: str) -> None:
    ran = run("search", "--workspace", indexed, "--min-score", "1", "spare key")
    assert ran.code == 0
    assert ran.out == ""
    assert "note: no matches" in ran.err


def test_search_without_a_match_is_no_failure(run: Callable[..., Run], indexed: str) -> None:
    ran = run("search", "--workspace", indexed, "zyxwvut")
    assert (ran.code, ran.out, ran.err) == (
        0,
        "",
        "note: no matches\nnote: no note has 'zyxwvut'\n",
    )
    assert run("search", "--workspace", indexed, "zyxwvut", "--json").json["results"] == []


def test_search_knows_a_note_that_was_just_written(run: Callable[..., Run], indexed: str) -> None:
    with open(os.path.join(indexed, "memory", "2026-10-15.md"), "w", encoding="utf-8") as note:
        note.write("# Thursday\n\nThe heron ate the anemometer.\n")
    ran = run("search", "--workspace", indexed, "anemometer", "--json")
    assert [hit["path"] for hit in ran.json["results"]] == ["memory/2026-10-15.md"]


# --- get ----------------------------------------------------------------------------------------


def test_get_prints_a_note_as_it_stands_in_its_file(
    run: Callable[..., Run], workspace: str
) -> None:
    ran = run("get", "--workspace", workspace, "MEMORY.md")
    with open(os.path.join(workspace, "MEMORY.md"), encoding="utf-8") as note:
        assert ran.out == note.read()
    assert (ran.code, ran.err) == (0, "")


def test_get_prints_some_lines(run: Callable[..., Run], workspace: str) -> None:
    path = "memory/2026-10-05.md"
    ran = run("get", "--workspace", workspace, path, "--from", "3", "--lines", "2")
    assert ran.out == "## Morning round\n\n"
    assert ran.err == f"note: {path}: lines 3 to 4 of 17\n"
    assert run("get", "--workspace", workspace, f"{path}#L3-L4").out == ran.out
    as_json = run("get", "--workspace", workspace, path, "--from", "3", "--lines", "2", "--json")
    assert as_json.json == {
        "schemaVersion": 1,
        "agent": "main",
        "workspace": workspace,
        "path": path,
        "text": "## Morning round\n",
        "startLine": 3,
        "endLine": 4,
        "totalLines": 17,
        "trust": "memory",
    }


def test_get_past_the_end_says_so(run: Callable[..., Run], workspace: str) -> None:
    ran = run("get", "--workspace", workspace, "memory/2026-10-05.md", "--from", "900")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "note: memory/2026-10-05.md has 17 lines\n"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("memory/2026-10-31.md", "NoteNotFoundError"),
        ("../secret.md", "PathNotAllowedError"),
        ("/etc/passwd", "PathNotAllowedError"),
    ],
)
def test_get_refuses_with_a_hint(
    run: Callable[..., Run], workspace: str, path: str, kind: str
) -> None:
    ran = run("get", "--workspace", workspace, path)
    assert ran.code == 1
    assert ran.out == ""
    head, hint = ran.err.splitlines()
    assert head.startswith("commonplace: ")
    assert hint.startswith("  fix: ")
    error = run("get", "--workspace", workspace, path, "--json").json["error"]
    assert error == {
        "type": kind,
        "message": head.removeprefix("commonplace: "),
        "hint": hint.removeprefix("  fix: "),
    }


# --- index, status ------------------------------------------------------------------------------


def test_index_says_what_it_did(run: Callable[..., Run], workspace: str) -> None:
    ran = run("index", "--workspace", workspace)
    assert ran.code == 0
    head, summary = ran.out.splitlines()
    assert head == "Memory index updated (main)."
    assert summary.startswith("notes: 11 added; ")
    again = run("index", "--workspace", workspace, "--json").json
    assert (again["added"], again["unchanged"], again["filesRead"]) == (0, 11, 0)
    forced = run("index", "--workspace", workspace, "--force", "--json").json
    assert (forced["added"], forced["rebuilt"]) == (11, True)


def test_index_names_the_agent(run: Callable[..., Run], workspace: str) -> None:
    ran = run("index", "--workspace", workspace, "--agent", "scout")
    assert ran.out.startswith("Memory index updated (scout).")


def test_index_speaks_of_links_it_did_not_follow(run: Callable[..., Run], workspace: str) -> None:
    os.symlink("/etc/hostname", os.path.join(workspace, "memory", "link.md"))
    ran = run("index", "--workspace", workspace)
    assert "note: 1 symbolic link not followed" in ran.err


def test_status_tells_of_a_sync_of_its_own(run: Callable[..., Run], workspace: str) -> None:
    ran = run("status", "--workspace", workspace, "--index")
    (line,) = [line for line in ran.out.splitlines() if "Last sync" in line]
    assert line.endswith("(demand): 11 added, 0 updated, 0 removed")
    sync = run("status", "--workspace", workspace, "--index", "--json").json["sync"]
    assert (sync["watching"], sync["last"]["reasons"]) == ("off", ["demand"])
    assert run("status", "--workspace", workspace, "--json").json["sync"] is None


def test_status_before_and_after(run: Callable[..., Run], workspace: str) -> None:
    before = run("status", "--workspace", workspace, "--json").json
    assert (before["files"], before["stale"], before["dirty"]) == (0, 11, True)
    after = run("status", "--workspace", workspace, "--index", "--json").json
    assert (after["files"], after["stale"], after["dirty"]) == (11, 0, False)
    assert after["sourceCounts"] == [{"source": "memory", "files": 11, "chunks": after["chunks"]}]
    assert after["backend"] == "builtin"
    assert after["workspace"] == workspace
    assert after["problems"] == []


def test_status_for_people(run: Callable[..., Run], workspace: str) -> None:
    run("index", "--workspace", workspace)
    ran = run("status", "--workspace", workspace, "--deep")
    assert ran.code == 0
    assert ran.out.startswith("Memory of main\n")
    shown, _, checks = ran.out.partition("  Checks\n")
    facts = dict(line.strip().split("  ", 1) for line in shown.splitlines()[1:])
    assert facts["Indexed"].strip().startswith("11 notes, ")
    assert facts["Workspace"].strip() == workspace
    assert facts["Changed since"].strip() == "0 notes"
    assert "  ok       integrity check  the file is sound\n" in checks
    assert {line.split()[0] for line in checks.splitlines()} == {"ok"}


# --- doctor, plugins, config --------------------------------------------------------------------


def test_doctor_finds_nothing_wrong(run: Callable[..., Run], workspace: str) -> None:
    run("index", "--workspace", workspace)
    report = run("doctor", "--workspace", workspace, "--json")
    assert report.json["ok"] is True
    assert report.code == 0
    names = [finding["name"] for finding in report.json["findings"]]
    for name in ("python", "sqlite", "configuration", "index folder", "notes", "plugins", "index"):
        assert name in names
    assert {finding["state"] for finding in report.json["findings"]} == {"ok"}
    text = run("doctor", "--workspace", workspace)
    assert (text.code, text.out) == (0, f"{len(names)} checks passed\n")
    every = run("doctor", "--workspace", workspace, "--verbose")
    assert "ok       notes: 11 notes in" in every.out
    assert every.out.count("ok       ") == len(names)
    assert every.out.endswith(f"\n{len(names)} checks passed\n")
    assert run("doctor", "--workspace", workspace, "--quiet").out == ""


def test_doctor_shows_the_command_that_indexes_changed_notes(
    run: Callable[..., Run], workspace: str
) -> None:
    run("index", "--workspace", workspace)
    with open(os.path.join(workspace, "memory", "new.md"), "w", encoding="utf-8") as file:
        file.write("A narwhal.\n")
    ran = run("doctor", "--workspace", workspace, "--verbose")
    assert ran.code == 0
    assert (
        f"; 1 change for the next search or `commonplace index --workspace {workspace}`\n"
        in ran.out
    )
    assert "fix: " not in ran.out


def test_doctor_shows_problems_first_and_no_fix_for_what_is_well(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "some.json5"
    config.write_text("{ memory: { dreaming: {}, backnd: 1 } }", encoding="utf-8")
    argv = ("doctor", "--workspace", workspace, "--config", str(config))
    first, *_ = run(*argv).out.splitlines()
    assert first.startswith("problem  configuration: ")
    config.write_text("{ memory: { dreaming: {} } }", encoding="utf-8")
    ran = run(*argv, "--verbose")
    states = [line.split()[0] for line in ran.out.splitlines()[:-1] if line[0] != " "]
    assert states == sorted(states, key=["problem", "warning", "ok"].index)
    assert states[:2] == ["warning", "warning"]
    passed = states.count("ok")
    assert ran.out.endswith(f"\n2 warnings, {passed} checks passed\n")
    findings = run(*argv, "--json").json["findings"]
    assert [one["hint"] for one in findings if one["state"] == "ok"] == [""] * passed


def test_doctor_says_once_what_keeps_many_notes_from_being_read(
    run: Callable[..., Run], indexed: str
) -> None:
    for number in range(7):
        with open(os.path.join(indexed, "memory", f"old-{number}.md"), "wb") as note:
            note.write("これは日本語のメモです。".encode("shift-jis"))
    ran = run("doctor", "--workspace", indexed)
    assert ran.out.count("could not be read") == 1
    assert "memory/old-0.md and 6 more notes could not be read: it is neither UTF-8" in ran.out


def test_doctor_and_status_name_a_note_that_cannot_be_read(
    run: Callable[..., Run], indexed: str
) -> None:
    with open(os.path.join(indexed, "memory", "old.md"), "wb") as note:
        note.write("これは日本語のメモです。".encode("shift-jis"))
    reason = "it is neither UTF-8 nor UTF-16 nor Western European text"
    for _ in range(2):
        ran = run("doctor", "--workspace", indexed)
        assert ran.code == 1
        assert f"notes: memory/old.md could not be read: {reason}" in ran.out
        shown = run("status", "--workspace", indexed).out
        assert f"Not read       memory/old.md: {reason}" in shown
        assert "Changed since  0 notes" in shown
        status = run("status", "--workspace", indexed, "--json").json
        (unreadable,) = status["unreadable"]
        assert unreadable["path"] == "memory/old.md"
        assert unreadable["reason"].startswith(reason)
        assert (status["stale"], status["dirty"]) == (0, False)
        assert run("index", "--workspace", indexed).code == 3


def test_doctor_warns_of_a_disk_that_is_nearly_full(
    run: Callable[..., Run], workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(workspace)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=19_000_000))
    ran = run("doctor", "--workspace", workspace)
    assert ran.code == 0
    assert "is on a disk with only 19.0 MB free\n         fix: free some space\n" in ran.out
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=20_000_000))
    assert "is writable\n" in run("doctor", "--workspace", workspace, "--verbose").out


def test_doctor_warns_of_a_workspace_without_notes(run: Callable[..., Run], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = run("doctor", "--workspace", str(empty))
    assert ran.code == 0
    assert "warning  notes: no notes in" in ran.out
    assert "         fix: write a note (a .md file) there" in ran.out


def test_doctor_fails_for_a_missing_workspace(run: Callable[..., Run], tmp_path: Path) -> None:
    ran = run("doctor", "--workspace", str(tmp_path / "nowhere"))
    assert ran.code == 1
    assert "problem  workspace: " in ran.out
    assert "fix: if it is on another disk, mount it; else create it" in ran.out


def test_doctor_shows_every_fault_of_a_configuration(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "bad.json5"
    config.write_text(
        '{ memory: { backnd: "x" },\n agents: { defaults: { memorySearch: { enabled: 3 } } } }',
        encoding="utf-8",
    )
    ran = run("doctor", "--workspace", workspace, "--config", str(config), "--json")
    assert ran.code == 1
    faults = [finding for finding in ran.json["findings"] if finding["state"] == "problem"]
    assert [finding["name"] for finding in faults] == ["configuration", "configuration"]
    assert "bad.json5:1" in faults[0]["text"]
    assert "bad.json5:2" in faults[1]["text"]


def test_doctor_names_what_no_plugin_offers_and_looks_on(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "unknown.json5"
    search = '{ sources: ["memory", "diary"] }'
    config.write_text(
        "{ agents: { defaults: { memorySearch: " + search + " } } }", encoding="utf-8"
    )
    ran = run("doctor", "--workspace", workspace, "--config", str(config), "--json")
    assert ran.code == 1
    faults = [finding for finding in ran.json["findings"] if finding["state"] == "problem"]
    assert [finding["name"] for finding in faults] == ["configuration"]
    assert "diary" in faults[0]["text"]
    assert "notes" in [finding["name"] for finding in ran.json["findings"]]


def test_doctor_warns_of_each_thing_once(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "some.json5"
    config.write_text("{ memory: { dreaming: {} } }", encoding="utf-8")
    run("index", "--workspace", workspace)
    ran = run("doctor", "--workspace", workspace, "--config", str(config), "--json")
    warnings = [
        finding["text"] for finding in ran.json["findings"] if finding["state"] == "warning"
    ]
    assert len(warnings) == 1
    assert "dreaming" in warnings[0]


def test_doctor_names_the_fallback_backend(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "some.json5"
    config.write_text('{ memory: { backend: "qmd" } }', encoding="utf-8")
    ran = run("doctor", "--workspace", workspace, "--config", str(config), "--quiet")
    assert ran.code == 0
    assert ran.out.startswith("warning  backend: builtin is active in place of qmd: ")


def test_doctor_names_a_damaged_index(run: Callable[..., Run], workspace: str) -> None:
    run("index", "--workspace", workspace)
    path = run("status", "--workspace", workspace, "--json").json["dbPath"]
    with open(path, "r+b") as index:
        index.write(b"this is no database at all " * 40)
    ran = run("doctor", "--workspace", workspace, "--json")
    states = {finding["state"] for finding in ran.json["findings"] if finding["name"] == "index"}
    assert states & {"warning", "problem"}


def test_plugins_are_listed_without_being_loaded(run: Callable[..., Run]) -> None:
    listed = {info["name"]: info for info in run("plugins", "--no-probe", "--json").json["plugins"]}
    assert listed["backend.builtin"]["state"] == "available"
    assert listed["backend.builtin"]["distribution"] == "commonplace"
    assert listed["backend.builtin"]["ready"] is None
    assert "  builtin         installed\n" in run("plugins", "--no-probe").out


def test_plugins_say_what_they_are_for_and_whether_they_are_ready(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_API_KEYS"))]:
        monkeypatch.delenv(name)
    ran = run("plugins")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "Backends: where the index is"
    assert "Rankers: how results are ordered" in lines
    assert (
        "  builtin         ready      chunks, keyword index and vectors in one SQLite file" in lines
    )
    place = next(number for number, line in enumerate(lines) if line.startswith("  mistral "))
    assert "not ready  Mistral's mistral-embed" in lines[place]
    assert lines[place + 1].strip() == "no API key found"
    assert lines[place + 2].strip().startswith("fix: set MISTRAL_API_KEY")
    monkeypatch.setenv("MISTRAL_API_KEY", "a-key-that-is-none")
    ready = {info["name"]: info["ready"] for info in run("plugins", "--json").json["plugins"]}
    assert ready["provider.mistral"]
    assert not ready["provider.voyage"]


def test_plugins_name_the_libraries_that_are_missing_and_how_to_get_them(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "watchfiles" else find(name)
    )
    assert "  watchfiles  notice of changed notes" in run("plugins").out
    (missing,) = run("plugins", "--json").json["missingExtras"]
    assert "commonplace[watch]" in missing["install"]


def test_a_plugin_can_be_switched_off(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMONPLACE_DISABLE_PLUGINS", "backend.inmemory")
    listed = {info["name"]: info["state"] for info in run("plugins", "--json").json["plugins"]}
    assert listed["backend.inmemory"] == "disabled"


def test_config_show_has_values_and_origins(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "mine.json5"
    config.write_text(
        "{ agents: { defaults: { memorySearch: { query: { maxResults: 9 } } } } }", encoding="utf-8"
    )
    argv = ("config", "show", "--workspace", workspace, "--config", str(config))
    shown = {item["key"]: item for item in run(*argv, "--json").json["settings"]}
    key = "agents.defaults.memorySearch.query.maxResults"
    assert shown[key]["value"] == 9
    assert shown[key]["origin"] == f"{config}:1"
    (line,) = [line for line in run(*argv, "--changed").out.splitlines() if line.startswith(key)]
    assert line.split() == [key, "9", "hits", f"{config}:1"]


def test_config_check_reports_everything_at_once(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "bad.json5"
    config.write_text(
        '{ memory: { backnd: "x" },\n agents: { defaults: { memorySearch: { enabled: 3 } } } }',
        encoding="utf-8",
    )
    argv = ("config", "check", "--workspace", workspace, "--config", str(config))
    ran = run(*argv)
    assert ran.code == 2
    assert ran.out.count("problem  ") == 2
    assert f"{config}:2" in ran.out
    report = run(*argv, "--json")
    assert report.code == 2
    assert [problem["line"] for problem in report.json["problems"]] == [1, 2]


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        (
            '{ qmd: { comand: "x" } }',
            "memory.qmd.comand: is not a key here; did you mean 'command'?",
        ),
        ('{ qmd: "yes" }', "memory.qmd: must be an object, not a string"),
        ("{ lancedb: { uri: 5 } }", "memory.lancedb.uri: must be a string"),
    ],
)
def test_config_check_and_doctor_read_the_sections_of_plugins(
    run: Callable[..., Run], workspace: str, tmp_path: Path, section: str, problem: str
) -> None:
    config = tmp_path / "bad.json5"
    config.write_text(f"{{ memory: {section} }}", encoding="utf-8")
    for command, code in ((("config", "check"), 2), (("doctor",), 1)):
        ran = run(*command, "--workspace", workspace, "--config", str(config))
        assert ran.code == code
        assert f"{config}:1: {problem}" in ran.out


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        (
            'memory: { backend: "qdm" }',
            "memory.backend: there is no backend 'qdm' (did you mean 'qmd'? there is builtin, ",
        ),
        (
            'memory: { backend: ["qdm", "builtin"] }',
            "memory.backend: there is no backend 'qdm' (did you mean 'qmd'?",
        ),
        (
            'agents: { defaults: { memorySearch: { sources: ["memory", "session"] } } }',
            "agents.defaults.memorySearch.sources: there is no source 'session' (did you mean",
        ),
        (
            'agents: { defaults: { memorySearch: { ranking: { chain: ["weigted"] } } } }',
            "agents.defaults.memorySearch.ranking.chain: there is no ranker 'weigted'",
        ),
    ],
)
def test_config_check_knows_the_installed_plugins(
    run: Callable[..., Run], workspace: str, tmp_path: Path, section: str, problem: str
) -> None:
    config = tmp_path / "bad.json5"
    config.write_text(f"{{\n{section} }}", encoding="utf-8")
    ran = run("config", "check", "--workspace", workspace, "--config", str(config))
    assert ran.code == 2
    assert f"problem  {config}:2: {problem}" in ran.out
    assert "1 problem found" in ran.err
    assert "warning" not in ran.out


def test_config_check_warns_of_a_provider_that_no_plugin_offers(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "bad.json5"
    config.write_text(
        '{ agents: { defaults: { memorySearch: { provider: "opnai", fallback: "none" } } } }',
        encoding="utf-8",
    )
    ran = run("config", "check", "--workspace", workspace, "--config", str(config))
    assert ran.code == 0
    assert "there is no provider 'opnai' (did you mean 'openai'?" in ran.out


def test_config_check_of_what_is_switched_off_says_by_what(
    run: Callable[..., Run], workspace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "mine.json5"
    config.write_text('{ memory: { backend: "inmemory" } }', encoding="utf-8")
    argv = ("config", "check", "--workspace", workspace, "--config", str(config))
    assert run(*argv).code == 0
    monkeypatch.setenv("COMMONPLACE_DISABLE_PLUGINS", "backend.inmemory")
    assert "switched off by COMMONPLACE_DISABLE_PLUGINS" in run(*argv).out


def test_config_show_has_the_sections_of_plugins(
    run: Callable[..., Run], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "mine.json5"
    config.write_text(
        '{ memory: { backend: ["lancedb", "builtin"],\nlancedb: { uri: "s3://me:pw@a/b", '
        'apiKey: "sk-1234567890abcdef" } } }',
        encoding="utf-8",
    )
    argv = ("config", "show", "--workspace", workspace, "--config", str(config))
    ran = run(*argv, "--changed")
    (line,) = [line for line in ran.out.splitlines() if line.startswith("memory.lancedb.uri")]
    assert line.split() == ["memory.lancedb.uri", '"s3://a/b"', f"{config}:2"]
    assert "memory.lancedb.apiKey" in ran.out
    assert "sk-1234567890abcdef" not in ran.out
    assert "memory.lancedb.region" not in ran.out
    assert "memory.lancedb.region" in run(*argv).out


def test_config_check_of_nothing_is_right(run: Callable[..., Run], workspace: str) -> None:
    ran = run("config", "check", "--workspace", workspace)
    assert (ran.code, ran.out) == (0, "ok       no file, defaults only\n")


def test_config_needs_no_workspace(run: Callable[..., Run], home: Path) -> None:
    assert run("config", "set", "query.maxResults", "10").code == 0
    shown = run("config", "show", "--json")
    assert shown.code == 0
    settings = {one["key"]: one for one in shown.json["settings"]}
    assert settings["agents.defaults.memorySearch.query.maxResults"]["value"] == 10
    assert settings["workspace"]["value"] is settings["indexPath"]["value"] is None
    assert settings["workspace"]["origin"].startswith("not set: name the folder of your notes ")
    checked = run("config", "check")
    assert checked.code == 0
    assert "warning  workspace: not set: name the folder of your notes " in checked.out
    assert "ok       " in checked.out
    (home / "commonplace.json5").write_text("{ nonsense: ", encoding="utf-8")
    assert run("config", "check").code == 0, "a file of no workspace is read"
    assert "no workspace is configured" in run("doctor").out


@pytest.mark.parametrize("word", ["get", "list", "view"])
def test_config_get_is_answered_with_show(run: Callable[..., Run], word: str) -> None:
    ran = run("config", word, "query.maxResults")
    assert ran.code == 2
    assert "did you mean 'show'?" in ran.err


def test_config_path_and_schema(
    run: Callable[..., Run], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = run("config", "path", "--json").json["paths"]
    assert all(path["path"].startswith(str(home)) and not path["exists"] for path in paths)
    assert "missing" in run("config", "path").out
    notes = home / "my-notes"
    notes.mkdir()
    (notes / "commonplace.json5").write_text("{}", encoding="utf-8")
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(notes))
    own = run("config", "path", "--json").json["paths"][-1]
    assert own == {
        "role": "workspace", "path": str(notes / "commonplace.json5"), "exists": True
    }  # fmt: skip
    schema = run("config", "schema").json
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "agents" in schema["properties"]


@pytest.mark.parametrize("command", ["search x", "index", "status", "get MEMORY.md"])
@pytest.mark.parametrize(
    "config",
    [
        "{ agents: { defaults: { memorySearch: { enabled: false } } } }",
        '{ plugins: { slots: { memory: "none" } } }',
    ],
    ids=["disabled", "slot none"],
)
def test_memory_that_is_switched_off_is_no_failure(
    run: Callable[..., Run], workspace: str, tmp_path: Path, command: str, config: str
) -> None:
    file = tmp_path / "off.json5"
    file.write_text(config, encoding="utf-8")
    argv = (*command.split(), "--workspace", workspace, "--config", str(file))
    ran = run(*argv)
    assert (ran.code, ran.out) == (0, "Memory search disabled.\n")
    setting = "plugins.slots.memory" if "none" in config else "memorySearch.enabled"
    others = {"plugins.slots.memory", "memorySearch.enabled"} - {setting}
    assert ran.err.startswith(f"note: set {setting} to ")
    assert not any(other in ran.err for other in others)
    assert run(*argv, "--json").json == {
        "schemaVersion": 1,
        "disabled": True,
        "results": [],
    }
    assert "warning  memory: memory search is switched off" in run("doctor", *argv[-4:]).out


@pytest.mark.parametrize("command", ["remember tea", "forget MEMORY.md#L1", "undo"])
def test_a_change_fails_where_memory_is_switched_off(
    run: Callable[..., Run], workspace: str, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "off.json5"
    file.write_text("{ memory: { search: { enabled: false } } }", encoding="utf-8")
    ran = run(*command.split(), "--workspace", workspace, "--config", str(file))
    assert (ran.code, ran.out) == (1, "")
    assert "nothing is written" in ran.err
    assert "fix: set memorySearch.enabled to true" in ran.err


# --- demo ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("elsewhere", [False, True])
def test_demo_shows_three_searches_and_what_can_be_tried_works(
    run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    import shlex

    if elsewhere:
        monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(tmp_path / "elsewhere"))
    folder = tmp_path / "demo folder"
    ran = run("demo", "--into", str(folder))
    assert ran.code == 0
    assert ran.err == ""
    assert ran.out.count("\ncommonplace search ") == 3
    tries = [line.strip() for line in ran.out.splitlines() if line.startswith("  commonplace")]
    tries = [line for line in tries if "--workspace DIR" not in line]
    assert len(tries) == 4
    for line in tries:
        again = run(*shlex.split(line)[1:])
        assert (again.code, bool(again.out)) == (0, True), line
    assert str(folder) in ran.out


def test_demo_makes_a_place_of_its_own_and_leaves_the_users_alone(
    run: Callable[..., Run], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    facts = run("demo", "--json").json
    assert os.path.dirname(facts["folder"]) == str(tmp_path)
    assert facts["kept"] is os.path.exists(facts["folder"]) is False
    assert facts["index"]["added"] == 11
    assert [len(search["results"]) for search in facts["searches"]] == [2, 2, 2]
    left = [str(path) for path in home.rglob("*") if path.is_file() and ".cache" not in path.parts]
    assert left == []


def test_demo_cleans_up_unless_its_files_are_to_be_kept(
    run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    ran = run("demo")
    assert ran.code == 0
    assert "commonplace demo --keep" in ran.out
    assert list(place.iterdir()) == []
    kept = run("demo", "--keep", "--json").json
    assert kept["kept"]
    assert os.path.isdir(kept["folder"])


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_demo_cleans_up_when_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    import signal

    from commonplace.memory import Memory

    def interrupted(*_: object, **__: object) -> None:
        assert list(tmp_path.glob("commonplace-demo-*/workspace/MEMORY.md"))
        raise error

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Memory, "search", interrupted)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert main(["demo"]) == (130 if error is KeyboardInterrupt else 1)
    assert list(tmp_path.glob("commonplace-demo-*")) == []
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_demo_does_not_write_into_a_folder_in_use(run: Callable[..., Run], workspace: str) -> None:
    ran = run("demo", "--into", workspace)
    assert ran.code == 1
    assert "is not empty" in ran.err


def test_demo_names_a_file_that_cannot_be_its_folder(
    run: Callable[..., Run], tmp_path: Path
) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n")
    ran = run("demo", "--into", str(tmp_path / "notes.md"))
    assert ran.code == 1
    assert "notes.md cannot be used" in ran.err
    assert "fix: name a folder that does not exist" in ran.err


def test_demo_goes_into_a_folder_of_the_home(
    run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--into=~/demo").code == 0  # as bash leaves it
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in ("demo", "~")) == [
        "demo"
    ]
