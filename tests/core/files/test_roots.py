from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from attrs import frozen

from commonplace.errors import WorkspaceError
from commonplace.files.roots import ExtraRoot, Roots, check_workspace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("configured", "stored"),
    [
        ("docs", "docs"),
        ("./docs/", "docs"),
        ("docs/../notes", "notes"),
        ("../notes", "../notes"),
        ("../../far/notes.md", "../../far/notes.md"),
        ("/elsewhere/notes", "../../elsewhere/notes"),
        ("/a/ws/docs", "docs"),
        (".", ""),
        ("/a/ws", ""),
        ("..", ".."),
        ("/", "../.."),
        ("~/notes", "../../home/user/notes"),
        ("  docs  ", "docs"),
    ],
)
def test_roots_are_stored_relative_to_the_workspace(
    configured: str, stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/user")
    (extra,) = Roots("/a/ws", [configured]).extra
    assert extra.stored == stored
    assert extra.own == (not stored)  # the workspace is its own, whatever names it


def test_the_workspaces_own_roots_come_first() -> None:
    roots = Roots("/a/ws", ["docs", ExtraRoot("../x", "*.md")])
    assert [(root.stored, root.own) for root in roots.all] == [
        ("MEMORY.md", True),
        ("memory.md", True),
        ("memory", True),
        ("docs", False),
        ("../x", False),
    ]


def test_any_value_with_path_and_pattern_is_a_configured_path() -> None:
    @frozen
    class Configured:
        path: str
        pattern: str | None = None

    (extra,) = Roots("/a/ws", [Configured("docs", "*.md")]).extra
    assert extra.below("/a/ws/docs/x.md") == "x.md"
    assert extra.below("/a/ws/docs/deep/x.md") is None


def test_blank_and_repeated_extra_paths_are_left_out() -> None:
    roots = Roots("/a/ws", ["", "  ", "docs", "docs", ExtraRoot("docs"), ExtraRoot("docs", "*")])
    assert len(roots.extra) == 2


def test_a_nul_makes_an_extra_path_unusable() -> None:
    roots = Roots("/a/ws", ["do\0cs", "docs"])
    assert roots.unusable == ("do\0cs",)
    assert [root.stored for root in roots.extra] == ["docs"]


def test_roots_look_nothing_up(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert Roots(str(missing), ["also-missing"]).workspace == str(missing)
    assert not missing.exists()


def test_a_relative_workspace_becomes_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Roots("ws").workspace == str(tmp_path / "ws")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Roots("~/ws").workspace == str(tmp_path / "ws")


@pytest.mark.parametrize(
    ("location", "below"),
    [
        ("/a/ws/memory/x.md", "x.md"),
        ("/a/ws/memory/deep/x.md", "deep/x.md"),
        ("/a/ws/memory/.hidden.md", ".hidden.md"),
        ("/a/ws/memory", None),
        ("/a/ws/memory2/x.md", None),
        ("/a/ws/memory.md", None),
        ("/a/ws/x.md", None),
        ("/a/ws/memory/.git/x.md", None),
        ("/a/ws/memory/.dreams/x.md", None),
        ("/a/ws/memory/deep/node_modules/x.md", None),
    ],
)
def test_what_the_memory_folder_admits(location: str, below: str | None) -> None:
    memory = Roots("/a/ws").own[2]
    assert memory.below(location.replace("/", os.sep)) == below


def test_a_hidden_extra_root_is_fine_a_hidden_folder_in_it_is_not() -> None:
    (extra,) = Roots("/a/ws", ["/home/me/.notes"]).extra
    assert extra.below("/home/me/.notes/x.md") == "x.md"
    assert extra.below("/home/me/.notes/.trash/x.md") is None
    (everything,) = Roots("/a/ws", ["/"]).extra
    assert everything.below("/etc/x.md") == "etc/x.md"


def test_a_missing_workspace_may_be_on_a_disk_and_its_command_is_quoted(tmp_path: Path) -> None:
    missing = str(tmp_path / "my notes")
    with pytest.raises(WorkspaceError) as caught:
        check_workspace(missing)
    assert caught.value.hint == (
        f"if it is on another disk, mount it; else create it (mkdir -p '{missing}/memory'); "
        "or pass another one (--workspace, or workspace= in Python)"
    )
