"""Collections: their names, their folders, their files, and how QMD is configured for them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.files.roots import ExtraRoot
from commonplace.files.scan import scan_root
from commonplace.protocols.contexts import ManagerContext
from commonplace_qmd.collections import (
    collections_of,
    find_changes,
    index_yml,
    literal,
    scan_collection,
    wanted_by,
)
from commonplace_qmd.settings import QmdPath, QmdSettings

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace_qmd.collections import Collection


def context(workspace: Path, *extra: str | ExtraRoot, agent: str = "Main") -> ManagerContext:
    return ManagerContext(
        workspace=str(workspace), agent=agent, state_dir="/s", sources=(), extra_paths=extra
    )


def made(
    workspace: Path, *extra: str | ExtraRoot, exported: str | None = None, **config: object
) -> tuple[Collection, ...]:
    settings = QmdSettings(**config)  # type: ignore[arg-type]  # of many types
    return collections_of(context(workspace, *extra), settings, exported)


def test_the_default_ones(tmp_path: Path) -> None:
    one, two = made(tmp_path)
    assert (one.name, one.pattern, one.stored("")) == ("memory-root-main", "{MEMORY,memory}.md", "")
    assert (two.name, two.pattern, two.stored("")) == ("memory-dir-main", "**/*.md", "memory/")
    assert (one.location, two.location) == (
        os.path.realpath(tmp_path),
        os.path.realpath(tmp_path) + "/memory",
    )
    assert {one.trust, two.trust} == {"memory"}
    assert made(tmp_path, include_default_memory=False) == ()


def test_names_are_plain_and_no_two_share_one(tmp_path: Path) -> None:
    paths = (
        QmdPath(path="/one", name="Shared Notes!"),
        QmdPath(path="/two", name="shared notes!"),
        QmdPath(path="three", name="Shared"),
        QmdPath(path="/four"),
        QmdPath(path="/five", name="***"),
    )
    found = made(tmp_path, include_default_memory=False, paths=paths)
    assert [each.name for each in found] == [
        "shared-notes",
        "shared-notes-2",
        "shared-main",  # inside a workspace, agents may have folders of one name
        "custom-4-main",
        "collection",
    ]


def test_one_folder_with_one_pattern_is_one_collection(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    found = made(
        tmp_path,
        "memory",
        str(tmp_path / "memory/"),
        ExtraRoot("memory", "*.txt"),
        " ",
        "bad\0path",
    )
    assert [(each.name, each.pattern) for each in found[2:]] == [("custom-3-main", "*.txt")]


def test_a_file_is_its_folder_and_its_name(tmp_path: Path) -> None:
    (tmp_path / "a [1],{b}.md").write_text("x")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "b.md").write_text("x")
    inside, beyond = made(
        tmp_path, "a [1],{b}.md", str(outside / "b.md"), include_default_memory=False
    )
    assert (inside.location, inside.pattern) == (os.path.realpath(tmp_path), "a ?1???b?.md")
    assert [ref.path for ref in scan_collection(inside, str(tmp_path)).report.documents] == [
        "a [1],{b}.md"
    ]
    assert (beyond.root.stored, beyond.stored("b.md")) == (
        "qmd/custom-2-main",
        "qmd/custom-2-main/b.md",
    )


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("**/*.md", ["a.md", "b/c.md"], ["a.txt"]),
        ("a.md,*.txt", ["a.md", "x.txt"], ["b.md", "a.md,x.org"]),
        ("{a,b}.md", ["a.md", "b.md"], ["c.md"]),
        ("docs/**/*.{md,txt}, *.org", ["docs/x/a.txt", "b.org"], ["a.txt"]),
        ("[a,b].md", ["a.md", ",.md"], ["c.md"]),
    ],
)
def test_patterns_are_read_as_qmd_reads_them(pattern: str, yes: list[str], no: list[str]) -> None:
    wanted = wanted_by(pattern)
    assert [path for path in (*yes, *no) if wanted(path)] == yes


@given(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=20))
def test_a_literal_pattern_wants_its_own_file(name: str) -> None:
    if name.strip() == name and not name.startswith("."):
        assert wanted_by(literal(name))(name)


def test_files_as_qmd_finds_them(tmp_path: Path) -> None:
    for path in (
        "a.md",
        "b/c.md",
        "b/d.txt",
        ".hidden.md",
        ".git/x.md",
        "build/x.md",
        "b/vendor/y.md",
        "venv/z.md",
        "dist/only.txt",
    ):
        file = tmp_path / "memory" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    os.symlink(tmp_path / "memory/a.md", tmp_path / "memory/link.md")
    os.symlink(tmp_path / "memory/b", tmp_path / "memory/linked")
    _, memory = made(tmp_path)
    scan = scan_collection(memory, str(tmp_path))
    assert [ref.path for ref in scan.report.documents] == ["memory/a.md", "memory/b/c.md"]
    assert sorted(scan.skipped) == ["memory/b/vendor", "memory/build"]
    assert scan.report.skipped_symlinks == 2
    assert scan.report.failed_roots == ()
    assert scan.complete


def test_a_folder_behind_a_link_is_refused_and_reported(tmp_path: Path) -> None:
    workspace, elsewhere = tmp_path / "workspace", tmp_path / "elsewhere"
    workspace.mkdir()
    elsewhere.mkdir()
    (elsewhere / "a.md").write_text("x")
    os.symlink(elsewhere, workspace / "memory")
    os.symlink(elsewhere, tmp_path / "link")
    collections = made(workspace, str(tmp_path / "link"), str(elsewhere))
    found = find_changes(collections, str(workspace), {})
    failures = found.report().failed_roots
    assert [failed.root for failed in failures] == ["memory", "qmd/custom-1-main"]
    assert all("symbolic link" in failed.reason for failed in failures)
    assert found.incomplete == {"memory-dir-main", "custom-1-main"}
    assert len(found.plan.read) == 1, "by its own name it is found"


def test_a_folder_that_cannot_be_listed_keeps_its_collection_from_an_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory/deep").mkdir(parents=True)
    (tmp_path / "memory/a.md").write_text("x")
    _, memory = made(tmp_path)
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).rstrip("/").endswith("deep"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    defaults = cast("dict[str, object]", scan_root.__kwdefaults__)
    monkeypatch.setitem(defaults, "scandir", refusing)
    found = find_changes([memory], str(tmp_path), {})
    assert [(failed.root, failed.reason) for failed in found.report().failed_roots] == [
        ("memory/deep", "Permission denied")
    ]
    assert found.incomplete == {"memory-dir-main"}
    assert found.size == 0, "it must not be updated"


def test_nothing_in_a_name_or_path_can_mean_more_to_yaml(tmp_path: Path) -> None:
    folder = tmp_path / 'a: "b"\n# {c}'
    folder.mkdir()
    (collection,) = made(folder, ".", include_default_memory=False)
    text = index_yml([collection], retired=["old"], empty_folder="/empty")
    first, second = text.splitlines()[2:]
    ignored = ["**/__pycache__/**", "**/venv/**"]
    path = f'{os.path.realpath(tmp_path)}/a: "b"\n# {{c}}'
    assert json.loads(f"{{{first}}}") == {
        collection.name: {"path": path, "pattern": "**/*.md", "ignore": ignored}
    }
    assert second == '  "old": {"path": "/empty", "pattern": "*.md"}'
    assert index_yml([]) == "# Written by commonplace; changes are overwritten.\ncollections: {}\n"


def test_a_folder_without_memory_is_one_collection(tmp_path: Path) -> None:
    (tmp_path / "ws" / "deep").mkdir(parents=True)
    (tmp_path / "ws" / "deep" / "a.md").write_text("a note")
    context = ManagerContext(str(tmp_path / "ws"), "main", str(tmp_path / "state"), ())
    (collection,) = collections_of(context, QmdSettings(), None)
    assert (collection.pattern, collection.stored("deep/a.md")) == (
        "**/*.{md,markdown}",
        "deep/a.md",
    )
    (tmp_path / "ws" / "memory").mkdir()
    patterns = [one.pattern for one in collections_of(context, QmdSettings(), None)]
    assert patterns == ["{MEMORY,memory}.md", "**/*.md"]
