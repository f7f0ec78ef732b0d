"""``--format``: one option for the form of any result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commonplace._version import __version__
from commonplace.cli.forms import code, hits_as_markdown, quoted
from commonplace.model.search import Hit, SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.core.cli.conftest import Ran


def test_the_version_has_a_short_option(run: Callable[..., Ran]) -> None:
    assert run("-V").out == run("--version").out == f"commonplace {__version__}\n"


@pytest.mark.parametrize(
    "line", [("--version", "--json"), ("--json", "--version"), ("-V", "--format", "json")]
)
def test_the_version_is_json_where_that_is_wanted(
    run: Callable[..., Ran], line: tuple[str, ...]
) -> None:
    assert run(*line).json == {"schemaVersion": 1, "version": __version__}


@pytest.mark.parametrize(
    "command", [("status",), ("doctor",), ("get", "MEMORY.md"), ("search", "x")]
)
def test_json_is_the_short_form_of_a_format(
    run: Callable[..., Ran], indexed: str, command: tuple[str, ...]
) -> None:
    where = ("--workspace", indexed)
    short = run(*command, *where, "--json").json
    for ran in (
        run(*command, *where, "--format", "json"),
        run(*command, *where, "--format=json"),
        run("--format", "json", *command, *where),
    ):
        assert ran.json.keys() == short.keys()


def test_errors_are_json_too(run: Callable[..., Ran], workspace: str) -> None:
    for form in (("--format", "json"), ("--format=json",)):
        ran = run("get", "--workspace", workspace, "nothing.md", *form)
        assert ran.json["error"]["type"] == "PathNotAllowedError"


def test_plain_is_what_a_pipe_gets(run: Callable[..., Ran], indexed: str) -> None:
    argv = ("search", "--workspace", indexed, "spare key")
    assert run(*argv, "--format", "plain").out == run(*argv).out


def test_a_form_that_a_command_lacks_is_refused_with_those_it_has(run: Callable[..., Ran]) -> None:
    ran = run("doctor", "--format", "md")
    assert ran.code == 2
    assert "plain" in ran.err
    assert "json" in ran.err


def test_search_as_markdown(run: Callable[..., Ran], indexed: str) -> None:
    found = run("search", "--workspace", indexed, "spare key", "-n", "2", "--json").json["results"]
    shown = run("search", "--workspace", indexed, "spare key", "-n", "2", "--format", "md").out
    for hit in found:
        assert f"### `{hit['citation']}`" in shown
        for line in hit["snippet"].strip("\n").split("\n"):
            assert f"> {line}".rstrip() in shown.split("\n")


def test_get_and_status_as_markdown(run: Callable[..., Ran], indexed: str) -> None:
    ran = run("get", "--workspace", indexed, "memory/2026-10-07:3-4", "--format", "md")
    assert ran.out.startswith("### `memory/2026-10-07.md#L3-L4`\n\n> ## ")
    status = run("status", "--workspace", indexed, "--deep", "--format", "md").out
    assert status.startswith("## Memory of main\n\n- **Workspace**: ")
    assert "- **ok: orphans**: none" in status


def test_markdown_stays_what_it_is() -> None:
    assert code("a.md:1-2") == "`a.md:1-2`"
    assert code("a`b``.md") == "```a`b``.md```"
    assert code("`a") == "`` `a ``"
    assert quoted("# a\n\n```\nb\n```\n") == "> # a\n>\n> ```\n> b\n> ```"
    hit = Hit(
        path="a.md",
        start_line=1,
        end_line=2,
        score=0.5,
        snippet="x\x1b[2J",
        source="s",
        heading=("A *b*",),
    )
    shown = hits_as_markdown(SearchResult(hits=(hit,), backend="b"))
    assert shown == "### `a.md#L1-L2` (0.50)\n\nA \\*b\\*\n\n> x\ufffd[2J\n"


def test_what_get_reads_is_what_search_prints(run: Callable[..., Ran], indexed: str) -> None:
    shown = run("search", "--workspace", indexed, "spare key", "-n", "1").out
    citation = shown.splitlines()[0].split(" ")[1]
    hit = run("search", "--workspace", indexed, "spare key", "-n", "1", "--json").json["results"][0]
    texts = [
        run("get", "--workspace", indexed, asked).out
        for asked in (citation, citation.replace(".md", ""), hit["citation"])
    ]
    assert texts[0] == texts[1] == texts[2]
    assert len(texts[0].splitlines()) == hit["endLine"] - hit["startLine"] + 1
    facts = run("get", "--workspace", indexed, citation, "--json").json
    assert json.dumps(facts["text"]) == json.dumps(texts[0][:-1])
