"""Watching whole trees, as macOS and Windows do, tells the same as watching folders one by one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.model.documents import WatchedPath
from commonplace.sync.folders import FolderTrees
from commonplace.sync.native import native_events
from commonplace.sync.watcher import WatchDeps

pytest.importorskip("watchfiles")

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_tree_holds_all_folders_below_it(tmp_path: Path) -> None:
    base = str(tmp_path.resolve())
    folders = [f"{base}/a", f"{base}/a/b", f"{base}/a/b/c/d", f"{base}/ab", f"{base}/x/y"]
    assert FolderTrees(folders).tops == [f"{base}/a", f"{base}/ab", f"{base}/x/y"]
    assert FolderTrees([*folders, "/"]).tops == ["/"]
    assert FolderTrees([]).tops == []


def test_what_changed_is_called_as_the_folders_are(tmp_path: Path) -> None:
    real = tmp_path.resolve() / "real"
    (real / "deep").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(real)
    trees = FolderTrees([str(link), f"{link}/deep", str(real)])
    assert trees.tops == [str(real)]
    assert trees.names_of(f"{real}/deep/a.md") == [f"{link}/deep/a.md"]
    assert trees.names_of(f"{real}/new/a.md") == [f"{link}/new/a.md", f"{real}/new/a.md"]
    assert trees.names_of(str(real)) == [str(link), str(real)]
    assert trees.names_of("/elsewhere/a.md") == ["/elsewhere/a.md"]
    assert FolderTrees(["/"]).names_of("/a.md") == ["/a.md"]


def test_a_workspace_that_is_a_link_is_watched_as_a_tree(
    tmp_path: Path, watch: Callable[..., Any]
) -> None:
    (tmp_path / "real" / "memory").mkdir(parents=True)
    workspace = tmp_path / "workspace"
    workspace.symlink_to(tmp_path / "real")
    memory = workspace / "memory"
    recorder = watch(
        WatchedPath(str(workspace / "MEMORY.md"), recursive=False, suffix=".md"),
        WatchedPath(str(memory), suffix=".md"),
        deps=WatchDeps(events=partial(native_events, trees=True)),
    )
    assert recorder.state().mode == "native"
    recorder.hears(lambda: (workspace / "MEMORY.md").write_text("x"), str(workspace / "MEMORY.md"))
    recorder.hears(lambda: (memory / "a.md").write_text("the ant"), str(memory / "a.md"))
    (memory / ".git").mkdir()
    (memory / ".git" / "a.md").write_text("the ant")
    (workspace / "node_modules").mkdir()
    (workspace / "node_modules" / "a.md").write_text("the ant")
    deep = memory / "new" / "deep"
    recorder.hears(lambda: deep.mkdir(parents=True), str(deep.parent))
    recorder.hears_in_the_end(lambda: (deep / "a.md").write_text("the ant"), str(deep / "a.md"))
    assert not any(
        "node_modules" in path or ".git" in path for path in set().union(*recorder.calls)
    )
