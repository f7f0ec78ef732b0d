"""Commands that messages suggest act on the memory that the command line named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli.context import given_options
from commonplace.cli.forms import suggesting

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.core.cli.conftest import Ran

GIVEN = {"--workspace": "my notes", "--agent": "main"}
ADDED = "--workspace 'my notes' --agent main"


class Plugins:
    """A host that knows one command."""

    def ids(self, _: str) -> list[str]:
        return ["dream"]


def suggested(text: str) -> str:
    host: Any = Plugins
    return suggesting(text, GIVEN, ("index", "config", "init", "get"), host)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("run `commonplace index --force`", f"run `commonplace index {ADDED} --force`"),
        (
            "set it (commonplace config set a b)",
            f"set it (commonplace config {ADDED} set a b)",
        ),
        ("see it again: commonplace dream", f"see it again: commonplace dream {ADDED}"),
        ("commonplace get a --workspace b", "commonplace get --agent main a --workspace b"),
        ("name a folder: commonplace init ~/notes", "name a folder: commonplace init ~/notes"),
        ("process 7 (commonplace index) writes", "process 7 (commonplace index) writes"),
        ("did you mean commonplace index?", "did you mean commonplace index?"),
        ("commonplace index --help", "commonplace index --help"),
        ("commonplace finds notes by words", "commonplace finds notes by words"),
        ("/usr/bin/commonplace index", "/usr/bin/commonplace index"),
        ("the commonplace index is old", "the commonplace index is old"),
        ('it says "redo it: commonplace index"', 'it says "redo it: commonplace index"'),
        ("it has “redo it: commonplace index”", "it has “redo it: commonplace index”"),
        ("correct it with commonplace get", f"correct it with commonplace get {ADDED}"),
        (
            "it is old; commonplace index updates it",
            f"it is old; commonplace index {ADDED} updates it",
        ),
        (
            "commonplace index, or commonplace get x --workspace y",
            f"commonplace index {ADDED}, or commonplace get --agent main x --workspace y",
        ),
        ("commonplace get a --workspace=b", "commonplace get --agent main a --workspace=b"),
    ],
)
def test_a_command_has_the_options_that_say_whose_memory_is_meant(text: str, shown: str) -> None:
    assert suggested(text) == shown


def test_what_else_must_be_done_is_a_sentence_of_its_own_behind_one(tmp_path: Path) -> None:
    config = tmp_path / "openclaw.json"
    config.write_text("{}")
    host: Any = Plugins
    env = {"HOME": str(tmp_path)}
    texts = [
        suggesting(text, {"--config": str(config)}, ("config",), host, env)
        for text in ("do: commonplace config set a 1", "do: commonplace config set a 1.")
    ]
    way = f"set OPENCLAW_CONFIG_PATH={config} instead of --config, now and later: then what"
    assert texts[0].startswith(f"do: commonplace config set a 1; {way}")
    assert texts[1].startswith(f"do: commonplace config set a 1. S{way[1:]}")
    assert texts[1].endswith(" counts more.")


def test_the_options_are_found_where_the_command_line_is_not_valid() -> None:
    argv = [
        "--config=c.json5",
        "search",
        "--workspace",
        "a",
        "--workspace",
        "b",
        "--",
        "--agent",
        "x",
    ]
    assert given_options(argv) == {"--config": "c.json5", "--workspace": "b"}
    assert given_options(["search", "--workspace"]) == {}


def test_errors_notes_and_checks_suggest_what_acts_on_the_same_memory(
    run: Callable[..., Ran], workspace: str, tmp_path: Path
) -> None:
    config = tmp_path / "my own.json5"
    config.write_text("{}", encoding="utf-8")
    whose = ["--workspace", workspace, "--config", str(config)]
    added = f"--workspace {workspace} --config '{config}'"
    assert (
        f"fix: commonplace recall {added} --budget 500"
        in run("recall", *whose, "--budget", "3").err
    )
    remembered = run("remember", *whose, "The kettle is blue")
    assert f"commonplace undo {added} " in remembered.err
    undo = remembered.err[remembered.err.index("undo ") :].split()
    assert run("undo", *whose, undo[-1]).code == 0
    assert f"commonplace undo {added} " not in run("remember", "x", "--workspace", workspace).err


def test_a_change_of_the_configuration_is_one_that_can_be_made(
    run: Callable[..., Ran], workspace: str, home: Path
) -> None:
    original = home / ".openclaw" / "openclaw.json"
    original.parent.mkdir()
    text = f'{{ agents: {{ defaults: {{ workspace: "{workspace}" }} }} }}'
    original.write_text(text, encoding="utf-8")
    for question, setting in ((["why", "kettle"], "trace"), (["dream"], "enabled")):
        note = run(*question, "--config", str(original), "--agent", "main").err
        change = f"commonplace config set memory.recalls.{setting} true"
        assert f": {change}; leave out --config, now and later: {original} is found" in note
        assert run(*change.split()[1:]).code == 0
        assert "recalls" in run(*question, "--config", str(original)).err
    assert "recalls" not in run("why", "kettle").err


def test_a_setting_of_memory_is_not_changed_for_one_agent(
    run: Callable[..., Ran], workspace: str
) -> None:
    whose = ["--workspace", workspace, "--agent", "main"]
    note = run("why", "kettle", *whose).err
    change = f"commonplace config --workspace {workspace} set memory.recalls.trace true"
    assert change in note
    assert run(*change.split()[1:]).code == 0
    assert "memory.recalls.trace" not in run("why", "kettle", *whose).err


def test_hints_of_results_in_json_suggest_what_acts_on_the_same_memory(
    run: Callable[..., Ran], workspace: str
) -> None:
    whose = ["--workspace", workspace, "--json"]
    findings = json.loads(run("doctor", *whose).out)
    hints = [one["hint"] for one in findings["findings"]]
    assert f"`commonplace doctor --workspace {workspace} --fix`: index the notes" in hints
    Path(workspace, "memory", "said.md").write_text("notes: commonplace index\n", encoding="utf-8")
    found = json.loads(run("search", "notes", *whose).out)
    assert found["results"][0]["snippet"] == "notes: commonplace index"
