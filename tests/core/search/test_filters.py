"""The filters of a query: paths as they may be typed, and filters without words."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory
from commonplace.model.search import KeywordQuery, Where
from commonplace.text.query import nothing_to_search_for, parse_query

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    folder = tmp_path / "notes"
    (folder / "memory" / "kitchen").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Us\n\nThe disk is big. #home/office\n")
    (folder / "memory" / "kitchen" / "granola.md").write_text("Oats, and a disk of dough.\n")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=str(folder), env=env) as memory:
        yield memory


def found(memory: Memory, query: str) -> list[str]:
    return sorted(hit.path for hit in memory.search(query).hits)


def test_paths_are_understood_as_they_are_typed(memory: Memory) -> None:
    folder, granola = memory.settings.workspace, "memory/kitchen/granola.md"
    for path in (granola, f"./{granola}", f"././/{granola}", f"{folder}/{granola}"):
        assert found(memory, f"path:{path} disk") == [granola]
        assert found(memory, f"-path:{path} disk") == ["MEMORY.md"]
    assert found(memory, "path:./memory disk") == [granola]
    assert found(memory, f"path:{folder}/memory/**/*.md disk") == [granola]
    for path in (".", "./", folder, f"{folder}/"):
        assert found(memory, f"path:{path} disk") == ["MEMORY.md", granola]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_linked_workspace_is_known_by_both_its_paths(memory: Memory, tmp_path: Path) -> None:
    real = memory.settings.workspace
    (tmp_path / "link").symlink_to(real)
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=str(tmp_path / "link"), env=env) as linked:
        for folder in (tmp_path / "link", real):
            assert found(linked, f"path:{folder}/MEMORY.md disk") == ["MEMORY.md"]


def test_an_extra_folder_is_known_by_its_absolute_path(tmp_path: Path) -> None:
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.md").write_text("The disk is big.\n")
    config = {"memory": {"search": {"extraPaths": ["../more"]}}}
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=str(tmp_path / "notes"), config=config, env=env) as memory:
        assert found(memory, f"path:{tmp_path}/more disk") == ["../more/a.md"]
        assert found(memory, f"path:{tmp_path}/less disk") == []


def test_paths_of_windows_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    import ntpath

    from commonplace.text import query

    monkeypatch.setattr(ntpath, "realpath", lambda path: path)
    windows = {"path": ntpath, "sep": "\\", "curdir": ".", "pardir": ".."}
    monkeypatch.setattr(query, "os", SimpleNamespace(**windows))
    for typed, path in (
        (r"C:\notes\memory\a.md", "memory/a.md"),
        (r".\memory", "memory"),
        (r"D:\other\a.md", "D:/other/a.md"),
    ):
        assert parse_query(f"path:{typed} x", None, r"C:\notes").where.paths == (path,)


@pytest.mark.parametrize(
    ("where", "command"),
    [
        (Where(tags=("bomtag",)), "commonplace list --tag bomtag"),
        (Where(tags=("two words",)), "commonplace list --tag 'two words'"),
        (
            Where(sources=frozenset({"memory"}), after="2026-01-01", before="2026-02-01"),
            "commonplace list --source memory --after 2026-01-01 --before 2026-02-01",
        ),
        (Where(tags=("a", "b")), ""),
        (Where(paths=("memory",)), ""),
        (Where(tags=("a",), not_tags=("b",)), ""),
        (Where(sources=frozenset({"memory", "sessions"})), ""),
        (Where(sources=frozenset(), tags=("a",)), ""),
    ],
)
def test_filters_alone_name_the_command_that_lists(where: Where, command: str) -> None:
    words = nothing_to_search_for("", KeywordQuery(()), where)
    assert words.startswith("the query has filters and no words: add a word to search for")
    assert words.endswith(f"list the notes: `{command}`" if command else "search for")
