"""``commonplace config set`` and ``unset``: the user's own file, with its comments."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.json5 import parse_json5

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Run = Any

TEXT = """\
// mine
{
  agents: { // all of them
    defaults: {
      workspace: "~/notes", // here
      memorySearch: {
        query: { maxResults: 6 },
      },
    },
  },
}
"""


@pytest.fixture
def file(home: Path) -> Path:
    path = home / ".config" / "commonplace" / "config.json5"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT, encoding="utf-8")
    (home / "notes" / "memory").mkdir(parents=True)
    return path


def test_it_changes_the_value_and_nothing_else(run: Callable[..., Run], file: Path) -> None:
    ran = run("config", "set", "query.maxResults", "10")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"Set agents.defaults.memorySearch.query.maxResults to 10 (was 6) in {file}\n"
    )
    assert file.read_text("utf-8") == TEXT.replace("6", "10")
    again = run("config", "set", "memorySearch.query.maxResults", "10")
    assert "is 10 already" in again.out


def test_what_is_set_and_unset_leaves_the_same_bytes(run: Callable[..., Run], file: Path) -> None:
    data = b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()
    file.write_bytes(data)
    file.chmod(0o640)
    for key, value in (("query.minScore", "0.3"), ("memory.citations", "on"), ("store.path", "x")):
        assert run("config", "set", key, value).code == 0
        assert file.read_bytes() != data
        assert run("config", "unset", key).code == 0
        assert file.read_bytes() == data
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(file.parent) == [file.name]


def test_the_first_setting_makes_the_file(run: Callable[..., Run], home: Path) -> None:
    ran = run("config", "set", "workspace", "notes")
    path = home / ".config" / "commonplace" / "config.json5"
    text = path.read_text("utf-8")
    assert ran.code == 0
    assert text.startswith("// ")
    # A relative path is one from here, not from the folder of the file.
    assert parse_json5(text) == {"agents": {"defaults": {"workspace": str(home / "notes")}}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("query.maxResult", "3", "did you mean query.maxResults?"),
        ("maxResults", "3", "did you mean query.maxResults?"),
        ("memory.backnd", "qmd", "did you mean 'backend'?"),
        ("query.maxResults", "ten", "query.maxResults: must be a whole number"),
        ("query.maxResults", "0", "from 1 to 1000"),
        ("enabled", "yes", "must be true or false"),
        ("backend", "sqlit", "there is no backend 'sqlit'"),
        ("extraPaths", "~/more", """a list is written '["~/more"]'"""),
        ("ranking.chain", '["evidence"', """a list is written '["evidence"]'"""),
        ("citations", "null", "must be"),
        ("stateDir", "/x", "it is set by COMMONPLACE_STATE_DIR"),
        ("a..b", "1", "is no key"),
        ("agents.defaults.workspace.x", "1", "is no object"),
    ],
)
def test_what_does_not_fit_is_refused_and_the_file_unchanged(
    run: Callable[..., Run], file: Path, key: str, value: str, words: str
) -> None:
    ran = run("config", "set", key, value)
    assert ran.code != 0
    assert words in ran.err
    assert "fix: " in ran.err
    assert "Traceback" not in ran.err
    assert file.read_text("utf-8") == TEXT


def test_a_provider_that_is_not_there_is_only_doubted(run: Callable[..., Run], file: Path) -> None:
    ran = run("config", "set", "provider", "opnai")
    assert ran.code == 0
    assert "did you mean 'openai'?" in ran.err
    assert 'provider: "opnai"' in file.read_text("utf-8")


def test_a_secret_is_never_shown_and_a_reference_recommended(
    run: Callable[..., Run], file: Path
) -> None:
    ran = run("config", "set", "remote.apiKey", "sk-very-secret")
    assert ran.code == 0
    assert "sk-very-secret" not in ran.out + ran.err
    assert "config set remote.apiKey '${NAME}'" in ran.err
    ran = run("config", "set", "remote.apiKey", "${OPENAI_API_KEY}", "--json")
    assert ran.json["notes"] == []
    assert (ran.json["before"], ran.json["after"]) == ("(hidden)", "(hidden)")
    ran = run("config", "unset", "remote.apiKey")
    assert "OPENAI_API_KEY" not in ran.out
    assert file.read_text("utf-8") == TEXT


def test_a_key_that_is_not_there_is_not_unset(run: Callable[..., Run], file: Path) -> None:
    ran = run("config", "unset", "query.minScore")
    assert ran.code == 0
    assert "nothing was changed" in ran.out
    ran = run("config", "unset", "memory.bakend")
    assert ran.code != 0
    assert "did you mean 'backend'?" in ran.err
    assert file.read_text("utf-8") == TEXT


def test_a_workspaces_own_file_is_written_only_where_it_is_named(
    run: Callable[..., Run], file: Path, home: Path
) -> None:
    own = home / "notes" / "commonplace.json5"
    ran = run("config", "set", "--file", str(own), "query.maxResults", "3")
    assert ran.code == 0
    assert own.is_file()
    ran = run("config", "set", "query.maxResults", "4")
    assert ran.err == "", "the user's own file counts more"
    assert "maxResults: 4" in file.read_text("utf-8")
    assert "maxResults: 3" in own.read_text("utf-8")
    ran = run("config", "set", "--file", str(own), "provider", "openai")
    assert ran.code != 0
    assert "may only tune retrieval" in ran.err


def test_a_link_stays_a_link(run: Callable[..., Run], file: Path, home: Path) -> None:
    real = home / "dotfiles.json5"
    file.rename(real)
    file.symlink_to(real)
    assert run("config", "set", "query.maxResults", "10").code == 0
    assert file.is_symlink()
    assert "maxResults: 10" in real.read_text("utf-8")


def test_the_originals_files_are_never_written(run: Callable[..., Run], home: Path) -> None:
    original = home / ".openclaw" / "openclaw.json"
    original.parent.mkdir()
    original.write_text("{}", encoding="utf-8")
    ran = run("config", "set", "query.maxResults", "10", "--config", str(original))
    assert ran.code != 0
    assert "never written" in ran.err
    assert original.read_text("utf-8") == "{}"
    # What the error says instead, followed to the letter, is what counts.
    assert f"fix: leave out --config, now and later: {original} is found without it" in ran.err
    assert "--file" not in ran.err
    assert run("config", "set", "query.maxResults", "10").code == 0
    assert "10" in run("config", "show", "query.maxResults", "--workspace", str(home)).out


def test_an_original_elsewhere_is_named_by_its_variable(
    run: Callable[..., Run], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = home / "else where" / "openclaw.json"
    original.parent.mkdir()
    original.write_text('{ agents: { defaults: { workspace: "notes" } } }', encoding="utf-8")
    command = ["config", "set", "memory.recalls.trace", "true"]
    for option in (["--config", str(original)], ["--file", str(original)]):
        ran = run(*command, *option)
        assert ran.code != 0
        instead = f"fix: set OPENCLAW_CONFIG_PATH='{original}' instead of --config, now and later"
        assert (instead in ran.err) == (option[0] == "--config")
        assert ("fix: leave out --file: " in ran.err) == (option[0] == "--file")
    monkeypatch.setenv("COMMONPLACE_CONFIG", str(original))
    assert "instead of COMMONPLACE_CONFIG" in run(*command).err
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(original))
    assert "fix: unset COMMONPLACE_CONFIG, now and later" in run(*command).err
    monkeypatch.delenv("COMMONPLACE_CONFIG")
    assert run(*command).code == 0
    assert "true" in run("config", "show", "memory.recalls.trace").out
    assert str(original.parent / "notes") in run("config", "show", "workspace").out


def test_a_setting_of_one_agent_goes_where_the_agent_is(
    run: Callable[..., Run], file: Path
) -> None:
    ran = run("config", "set", "query.maxResults", "3", "--agent", "work")
    assert ran.code != 0
    assert "no agent 'work'" in ran.err
    whole = "agents.entries.work.memorySearch.query.maxResults"
    assert f"commonplace config --agent work set {whole} VALUE" in ran.err
    assert run("config", "--agent", "work", "set", whole, "3").code == 0
    assert " 3 " in run("config", "show", "query.maxResults", "--agent", "work").out
    assert " 6 " in run("config", "show", "query.maxResults", "--agent", "main").out
    file.write_text(TEXT, encoding="utf-8")
    ran = run("config", "set", "workspace", "~/work", "--agent", "work")
    assert "set agents.entries.work.workspace VALUE" in ran.err
    text = '{ agents: { list: [{ id: "main" }, { id: "work" }] } }'
    file.write_text(text, encoding="utf-8")
    assert run("config", "set", "query.maxResults", "3", "--agent", "work").code == 0
    assert parse_json5(file.read_text("utf-8"))["agents"]["list"][1] == {
        "id": "work",
        "memorySearch": {"query": {"maxResults": 3}},
    }
    assert run("config", "unset", "query.maxResults", "--agent", "work").code == 0
    assert file.read_text("utf-8") == text


DEFAULTS = "agents.defaults.memorySearch"


@pytest.mark.parametrize(
    ("newer", "older", "place"),
    [
        ("{}", "{remote: {baseUrl: 'http://localhost/v1'}}", DEFAULTS),
        ("{provider: 'openai'}", "{remote: {baseUrl: 'http://localhost/v1'}}", DEFAULTS),
        ("{remote: {}}", "{remote: {baseUrl: 'http://localhost/v1'}}", "memory.search"),
        ("{provider: 'openai'}", "{enabled: true}", "memory.search"),
    ],
)
def test_what_belongs_together_stays_in_one_section(
    run: Callable[..., Run], file: Path, newer: str, older: str, place: str
) -> None:
    text = f"{{memory: {{search: {newer}}}, agents: {{defaults: {{memorySearch: {older}}}}}}}"
    file.write_text(text, encoding="utf-8")
    ran = run("config", "set", "remote.apiKey", "${A_KEY}")
    assert ran.out.startswith(f"Set {place}.remote.apiKey to "), ran.err


OF_MAIN = "{agents: {entries: {main: {memory: {search: {query: {maxResults: 5}}}}}}}"
OF_ALL = "{memory: {search: {query: {maxResults: 5}}}}"


@pytest.mark.parametrize(
    ("text", "key", "value", "counts"),
    [
        (OF_ALL, f"{DEFAULTS}.query.maxResults", "6", "memory.search"),
        (OF_ALL, f"{DEFAULTS}.query", "{maxResults: 6}", "memory.search"),
        (OF_MAIN, "query.maxResults", "6", "agents.entries.main.memory.search"),
        (OF_MAIN, "memory.search.query.maxResults", "7", "agents.entries.main.memory.search"),
        (
            OF_MAIN,
            "agents.entries.main.memorySearch.query.maxResults",
            "7",
            "agents.entries.main.memory.search",
        ),
        (
            '{agents: {list: [{id: "main", memorySearch: {query: {maxResults: 5}}}]}}',
            "query.maxResults",
            "6",
            "agents.list[0].memorySearch",
        ),
    ],
)
def test_what_counts_more_in_the_same_file_is_named(
    run: Callable[..., Run], file: Path, text: str, key: str, value: str, counts: str
) -> None:
    file.write_text(text, encoding="utf-8")
    ran = run("config", "set", key, value)
    assert ran.code == 0
    assert " has no effect while " in ran.err
    assert f"query.maxResults has no effect while {counts}.query.maxResults (line 1) " in ran.err
    assert '"value": 5' in run("config", "show", "query.maxResults", "--json").out
    ran = run("config", "unset", key)
    assert f"{counts}.query.maxResults (line 1) counts now" in ran.err


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (OF_ALL, ["query.maxResults", "6"]),
        (OF_ALL, ["query", "{maxResults: 6}"]),
        (OF_MAIN, ["query.maxResults", "6", "--agent", "main"]),
        (OF_ALL, ["agents.entries.main.memorySearch.query.maxResults", "6"]),
        (OF_ALL, ["agents.entries.ops.memorySearch.query.maxResults", "6"]),
        (OF_MAIN, ["agents.entries.ops.memorySearch.query.maxResults", "6"]),
        (OF_ALL, ["query.minScore", "0.2"]),
        ('{memory: {search: {extraPaths: ["a"]}}}', [f"{DEFAULTS}.extraPaths", '["b"]']),
        ("{memory: {qmd: {limits: {timeoutMs: 9}}}}", ["memory.qmd.limits.timeoutMs", "10"]),
    ],
)
def test_what_is_set_where_it_counts_has_no_note(
    run: Callable[..., Run], file: Path, text: str, command: list[str]
) -> None:
    file.write_text(text, encoding="utf-8")
    assert run("config", "set", *command, "--json").json["notes"] == []


def test_a_setting_of_a_plugin_counts_more_among_those_of_searching(
    run: Callable[..., Run], file: Path
) -> None:
    file.write_text("{memory: {search: {store: {vector: {enabled: true}}}}}", encoding="utf-8")
    ran = run("config", "set", "memory.builtin.vector.enabled", "false")
    assert (
        "memory.builtin.vector.enabled has no effect while memory.search.store.vector.enabled"
        " (line 1) counts more"
    ) in ran.err
    ran = run("config", "set", "store.vector.enabled", "false")
    assert ran.err == ""


def test_a_damaged_file_is_named_with_its_line(run: Callable[..., Run], file: Path) -> None:
    file.write_text('{\n  memory: "x\n}\n', encoding="utf-8")
    ran = run("config", "set", "query.maxResults", "3")
    assert ran.code != 0
    assert f"{file}:2: " in ran.err
    assert file.read_text("utf-8") == '{\n  memory: "x\n}\n'


def test_show_takes_a_key(run: Callable[..., Run], file: Path) -> None:
    ran = run("config", "show", "query.maxResults")
    assert ran.out.split()[:2] == ["agents.defaults.memorySearch.query.maxResults", "6"]
    assert ran.out.count("\n") == 1
    assert len(run("config", "show", "hybrid", "--json").json["settings"]) > 3
    assert "did you mean query.maxResults?" in run("config", "show", "maxResult").err


@pytest.mark.parametrize("words", [["set"], ["set", "a"], ["unset"], ["path", "x"]])
def test_words_too_few_or_too_many_are_a_usage_error(
    run: Callable[..., Run], words: list[str]
) -> None:
    ran = run("config", *words)
    assert ran.code == 2
    assert "fix: commonplace config" in ran.err
