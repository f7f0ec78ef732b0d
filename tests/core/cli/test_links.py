"""Where the citations on a terminal lead to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.cli.forms import FILE, editor_url, filled, url_of
from commonplace.cli.terminal import Style
from commonplace.config.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VSCODE = "vscode://file/{path}:{line}"


@pytest.mark.parametrize(
    ("env", "template"),
    [
        ({}, FILE),
        ({"EDITOR": "vi"}, FILE),
        ({"EDITOR": "code"}, VSCODE),
        ({"EDITOR": "/usr/local/bin/code --wait"}, VSCODE),
        ({"EDITOR": r"C:\Tools\Code.exe -w"}, VSCODE),
        ({"VISUAL": "zed", "EDITOR": "code"}, "zed://file/{path}:{line}"),
        ({"VISUAL": "vim", "EDITOR": "code"}, FILE),
        ({"TERM_PROGRAM": "vscode"}, VSCODE),
        ({"EDITOR": "code", "SSH_CONNECTION": "1 2 3 4"}, FILE),
    ],
)
def test_the_editor_is_taken_from_the_environment(env: dict[str, str], template: str) -> None:
    assert editor_url(env) == template


@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
@pytest.mark.parametrize(
    ("template", "url"),
    [
        (VSCODE, "vscode://file/a%20b/c.md:7"),
        ("x://open?file={path}&line={line}", "x://open?file=/a%20b/c.md&line=7"),
        ("file:///{path}", "file:///a%20b/c.md"),
        ("odd:{path}{unknown}", "odd:/a%20b/c.md{unknown}"),
    ],
)
def test_a_template_is_filled(template: str, url: str) -> None:
    assert filled(template, "/a b/c.md", 7) == url


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_a_url_is_harmless_whatever_a_file_is_called(name: str) -> None:
    url = filled(VSCODE, f"/notes/{name}", 1)
    assert url.isascii()
    assert url.isprintable()
    assert " " not in url
    if os.sep == "/":
        assert unquote(url) == f"vscode://file/notes/{name}:1"


def test_only_files_that_are_there_are_linked(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    settings = Settings(
        workspace=str(tmp_path), agent="main", state_dir="/s", cache_dir="/c", index_path="/i"
    )
    assert url_of(settings, "a.md", 1, {"EDITOR": "code"}).endswith("/a.md:1")
    assert url_of(settings, "sessions/one.jsonl", 1, {"EDITOR": "code"}) == ""
    assert url_of(settings.evolve(links="off"), "a.md", 1, {"EDITOR": "code"}) == ""
    assert url_of(settings.evolve(links="ed:{path}"), "a.md", 1, {}).startswith("ed:")


def test_text_is_a_link_only_where_links_are_shown() -> None:
    assert Style(colour=True, links=True).link("a", "x:y") == "\x1b]8;;x:y\x1b\\a\x1b]8;;\x1b\\"
    assert Style(colour=True, links=True).link("a", "") == "a"
    assert Style(colour=True).link("a", "x:y") == "a"


@pytest.mark.parametrize(
    ("links", "good"),
    [
        ("auto", True),
        ("off", True),
        ("vscode://file/{path}:{line}", True),
        ("vscode", False),
        ("file:///notes", False),
        ("x:{path}\u0007", False),
        ("", False),
    ],
)
def test_the_setting_is_checked(
    run: Callable[..., object], workspace: str, tmp_path: Path, links: str, good: bool
) -> None:
    from json import dumps

    config = tmp_path / "some.json5"
    config.write_text(dumps({"memory": {"links": links}}), encoding="utf-8")
    ran = run("config", "check", "--workspace", workspace, "--config", str(config))
    assert (ran.code == 0) is good  # type: ignore[attr-defined]


def test_a_workspace_cannot_set_what_links_open(run: Callable[..., object], workspace: str) -> None:
    with open(os.path.join(workspace, "commonplace.json5"), "w", encoding="utf-8") as file:
        file.write('{ memory: { links: "evil://{path}" } }')
    ran = run("config", "check", "--workspace", workspace)
    assert "memory.links" in ran.out + ran.err  # type: ignore[attr-defined]
    shown = run("config", "show", "--workspace", workspace)
    assert "evil" not in shown.out  # type: ignore[attr-defined]
