"""From words to a command."""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING, Any

import pytest

import commonplace
from commonplace.cli.parser import BUILTIN, builtin_command, command_parser

if TYPE_CHECKING:
    from collections.abc import Callable

Run = Any


def test_version(run: Callable[..., Run]) -> None:
    ran = run("--version")
    assert (ran.code, ran.out) == (0, f"commonplace {commonplace.__version__}\n")


@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_help_names_every_command(run: Callable[..., Run], word: str) -> None:
    ran = run(word)
    assert ran.code == 0
    assert ran.err == ""
    for name in BUILTIN:
        assert f"  {name} " in ran.out


def test_nothing_at_all_is_a_usage_error_with_help(run: Callable[..., Run]) -> None:
    ran = run()
    assert ran.code == 2
    assert ran.out == ""
    assert "commands:" in ran.err


def test_json_without_a_command_is_an_error_in_json(run: Callable[..., Run]) -> None:
    for words in (("--json",), ("--workspace", "notes", "--format", "json")):
        ran = run(*words)
        assert (ran.code, ran.err) == (2, "")
        assert ran.json["error"]["message"] == "no command is named"


def test_a_common_option_without_its_value_is_not_unknown(run: Callable[..., Run]) -> None:
    ran = run("--workspace")
    assert ran.code == 2
    assert "--workspace needs a value" in ran.err


@pytest.mark.parametrize("name", BUILTIN)
def test_help_of_a_command_shows_its_examples(run: Callable[..., Run], name: str) -> None:
    ran = run(name, "--help")
    assert ran.code == 0
    command = builtin_command(name)
    assert command.name == name
    assert command.examples
    for example in command.examples:
        assert example in ran.out
        assert example.startswith(f"commonplace {name}")
    assert run("help", name) == ran


@pytest.mark.parametrize("name", BUILTIN)
def test_examples_can_be_parsed_as_they_stand(name: str) -> None:
    import shlex

    command = builtin_command(name)
    for example in command.examples:
        words = itertools.takewhile(lambda word: word not in {"|", ">", "<"}, shlex.split(example))
        command_parser(command).parse_args([*words][2:])


@pytest.mark.parametrize("name", BUILTIN)
def test_every_command_takes_the_common_options(name: str) -> None:
    required = {
        "search": ["q"],
        "get": ["p"],
        "remember": ["t"],
        "correct": ["p#L1", "t"],
        "forget": ["p#L1"],
        "eval": ["t"],
        "config": ["show"],
        "completion": ["bash"],
    }.get(name, [])
    args = command_parser(builtin_command(name)).parse_args(
        [*required, "--workspace", "w", "--config", "c", "--agent", "a", "--json"]
    )
    assert (args.workspace, args.config, args.agent, args.json) == ("w", "c", "a", True)


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["serach", "x"], "did you mean commonplace search?"),
        (["statsu"], "did you mean commonplace status?"),
        (["zzz"], "commonplace --help lists"),
        (["--versoin"], "commonplace --help lists"),
        (["search", "x", "--max-result", "3"], "did you mean --max-results?"),
        (["search", "deploy", "-staging"], 'quote the query: "words -staging"'),
        pytest.param(
            ["search", "-heron"],
            'after --: commonplace search -- "-word"',
            marks=pytest.mark.skipif(
                sys.version_info >= (3, 12, 3), reason="argparse takes it for -h here, and helps"
            ),
        ),
        (["index", "-q"], "commonplace index --help"),
        (["search", "-zebra"], 'quote the query: "words -zebra"'),
        (["search", "-cat"], 'quote the query: "words -cat"'),
        (["search", "x", "--max-results", "0"], "commonplace search --help"),
        (["search", "x", "--min-score", "1.5"], "commonplace search --help"),
        (["search"], "commonplace search"),
        (["search", "  "], "commonplace search"),
        (["get"], "commonplace get --help"),
        (["get", "MEMORY.md", "--from", "x"], "commonplace get --help"),
    ],
)
def test_a_mistyped_command_line_is_explained(
    run: Callable[..., Run], argv: list[str], hint: str
) -> None:
    ran = run(*argv)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("commonplace: ")
    assert "\n  fix: " in ran.err
    assert hint in ran.err
    assert "Traceback" not in ran.err


def test_a_wrong_number_is_named_in_words(run: Callable[..., Run]) -> None:
    ran = run("search", "x", "--max-results", "none")
    assert (
        "argument -n/--max-results: must be a whole number from 1 to 1,000, not 'none'" in ran.err
    )


def test_usage_errors_are_json_too(run: Callable[..., Run]) -> None:
    ran = run("serach", "--json")
    assert ran.code == 2
    assert ran.err == ""
    assert ran.json["error"]["type"] == "UsageError"
    assert "serach" in ran.json["error"]["message"]
    assert ran.json["error"]["hint"] == "did you mean commonplace search?"


def test_json_behind_two_dashes_is_a_word_of_the_query(run: Callable[..., Run]) -> None:
    ran = run("search", "--workspace", "/does/not/exist", "--", "--json")
    assert ran.code == 1
    assert ran.out == ""


def test_common_options_may_stand_before_the_command(run: Callable[..., Run]) -> None:
    for argv in (
        ["--workspace", "/does/not/exist", "--json", "search", "x"],
        ["--workspace=/does/not/exist", "--json", "search", "x"],
    ):
        ran = run(*argv)
        assert ran.code == 1
        assert ran.json["error"]["type"] == "WorkspaceError"
