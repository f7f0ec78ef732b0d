"""Reading the files of a configuration: JSON5, its errors, and what is no plain file."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.json5 import UnreadableError, parse_json5, read_text
from commonplace.config.load import load_settings
from commonplace.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.config.settings import Settings
    from commonplace.model.plugins import ConfigProblem


def test_json5_is_understood() -> None:
    assert parse_json5("{a: 'x', /* y */ \"b\": [1, .5, +2, 0xF,], // z\n}") == {
        "a": "x",
        "b": [1, 0.5, 2, 15],
    }


@pytest.mark.parametrize("text", ["", "  \n", "// nothing yet\n", "/* nothing */"])
def test_a_blank_file_says_nothing(text: str) -> None:
    assert parse_json5(text) == {}


def test_of_a_key_that_stands_twice_the_last_counts_in_either_form() -> None:
    assert parse_json5('{"a": 1, "a": 2}') == parse_json5("{a: 1, a: 2}") == {"a": 2}


@pytest.mark.parametrize("text", ["{a: 1e999}", "{a: '\\ud800'}", "[" * 300 + "]" * 300])
def test_what_only_the_parser_refuses_is_a_fault_all_the_same(text: str) -> None:
    with pytest.raises(UnreadableError):
        parse_json5("// JSON5\n" + text)


@pytest.mark.parametrize("role", ["user", "original", "named"])
def test_a_syntax_error_is_reported_with_line_column_and_hint(
    role: str, write: Callable[[str, Any], str], problems: Callable[..., list[ConfigProblem]]
) -> None:
    path = write(role, "{\n  memory: {\n    citations: 'on'\n    backend: 'builtin' } }")
    (problem,) = problems(config=path if role == "named" else None)
    assert (problem.file, problem.line, problem.key) == (path, 3, "")
    assert problem.message == "column 20: a comma is missing; add one here"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{ a: 0,5 }", "a number has a point, no comma: write 0.5"),
        ("{ a: -12,75, b: 1 }", "a number has a point, no comma: write -12.75"),
        ("{ a: „/x“ }", "these are typographic quotes; write straight ones"),
        ("{ a: “/x” }", "these are typographic quotes; write straight ones"),
        ("{ „a“: 1 }", "these are typographic quotes; write straight ones"),
    ],
)
def test_habits_of_other_languages_are_named(text: str, said: str) -> None:
    with pytest.raises(UnreadableError, match=said):
        parse_json5(text)


@pytest.mark.parametrize("text", ['{ a: "„x“ 0,5" }', "{ a: [0,5] }", "{ a: 0,\n b: 5 }"])
def test_what_is_right_is_read(text: str) -> None:
    assert "a" in parse_json5(text)


def test_a_file_that_is_no_object_is_a_fault(
    write: Callable[[str, Any], str], problems: Callable[..., list[ConfigProblem]]
) -> None:
    write("user", "[1]")
    (problem,) = problems()
    assert problem.message == "must be an object, not a list"


def test_a_file_that_is_not_utf8_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "latin.json5"
    path.write_bytes(b"{\n a: '\xe9' }")
    with pytest.raises(UnreadableError, match="UTF-8") as caught:
        read_text(str(path))
    assert caught.value.line == 2


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf{}")
    assert read_text(str(path)) == "{}"


def test_a_named_file_that_is_missing_is_a_fault(
    problems: Callable[..., list[ConfigProblem]], env: dict[str, str]
) -> None:
    (by_argument,) = problems(config="nowhere.json5")
    assert by_argument.message.startswith("cannot be read")
    env["COMMONPLACE_CONFIG"] = "nowhere.json5"
    (by_variable,) = problems()
    assert by_variable == by_argument


def test_the_hint_on_a_missing_file_is_to_name_another_one(
    workspace: str, env: dict[str, str]
) -> None:
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        load_settings(workspace=workspace, config="nowhere.json5", env=env)
    assert "COMMONPLACE_CONFIG" in caught.value.hint


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes are POSIX's")
@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_a_workspace_file_must_be_a_plain_file(
    kind: str, workspace: str, tmp_path: Path, refused: Callable[[], list[ConfigProblem]]
) -> None:
    path = f"{workspace}/commonplace.json5"
    target = tmp_path / "target.json5"
    if kind == "link":
        target.write_text("{}")
    if "link" in kind:
        os.symlink(target, path)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        os.mkdir(path)
    (problem,) = refused()
    assert problem.file == path
    assert problem.message


def test_config_files_names_the_files_that_were_read(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    read = (write("workspace", "{}"), write("user", "{}"), write("original", "{}"))
    assert set(load().config_files) == set(read)


def test_nothing_of_the_text_stays_in_the_error(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write("user", "{memory: {search: {remote: {apiKey: 'sk-very-secret' oops }}}}")
    with pytest.raises(ConfigError) as caught:
        load()
    chain: BaseException | None = caught.value
    while chain is not None:
        assert "sk-very-secret" not in repr(vars(chain)) + repr(chain.args)
        chain = chain.__cause__ or chain.__context__
