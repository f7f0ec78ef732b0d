from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from commonplace.files.globs import GitIgnored
from commonplace.files.left_out import holds_notes, left_out
from commonplace.files.roots import Roots, find_roots, is_too_wide
from commonplace.files.scan import scan
from commonplace.model.documents import NOTE_RULES, NoteRules
from commonplace.model.reports import LeftOut

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


@pytest.fixture
def put(folder: Path) -> Callable[..., None]:
    def put(*paths: str, text: str = "a note") -> None:
        for path in paths:
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    return put


def found(folder: Path, *extra: str, rules: NoteRules = NOTE_RULES) -> set[str]:
    return {ref.path for ref in scan(find_roots(str(folder), extra, rules)).documents}


def test_a_folder_without_memory_is_taken_as_it_is(folder: Path, put: Callable[..., None]) -> None:
    put("a.md", "deep/er/b.md", "c.markdown", "d.txt", "e.MD", "f.md.bak", ".hidden.md")
    put(*(f"{name}/x.md" for name in (".obsidian", ".git", ".trash", "node_modules", "venv")))
    put("deep/__pycache__/x.md", "deep/site-packages/x.md")
    assert found(folder) == {"a.md", "deep/er/b.md", "c.markdown", ".hidden.md"}
    assert found(folder, rules=NoteRules(text=True)) - found(folder) == {"d.txt"}


@pytest.mark.parametrize("own", ["MEMORY.md", "memory.md", "memory/x.md"])
def test_one_with_memory_has_that_and_what_is_configured(
    folder: Path, put: Callable[..., None], own: str
) -> None:
    put(own, "a.md", "docs/b.md", "docs/c.markdown")
    assert found(folder) == {own}
    assert found(folder, "docs") == {own, "docs/b.md", "docs/c.markdown"}
    assert found(folder, ".") == {own, "a.md", "docs/b.md", "docs/c.markdown"}


def test_links_are_not_followed_out_of_a_folder_taken_as_it_is(
    folder: Path, put: Callable[..., None], tmp_path: Path
) -> None:
    put("a.md")
    (tmp_path / "secret.md").write_text("secret")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "linked").symlink_to(tmp_path)
    report = scan(find_roots(str(folder)))
    assert [ref.path for ref in report.documents] == ["a.md"]
    assert report.skipped_symlinks == 2
    both = Roots(str(folder), [".", "*.md"])
    assert scan(both).skipped_symlinks == 2
    (folder / "memory").mkdir()
    (folder / "memory/link.md").symlink_to(tmp_path / "secret.md")
    assert scan(find_roots(str(folder), ["."])).skipped_symlinks == 3  # each once
    (folder / "memory/link.md").unlink()
    (folder / "memory").rmdir()
    (folder / "memory").symlink_to(tmp_path)
    report = scan(find_roots(str(folder)))
    assert report.documents == ()
    assert [failure.root for failure in report.failed_roots] == ["memory"]


def test_what_is_left_out_is_counted_and_said(folder: Path, put: Callable[..., None]) -> None:
    put("MEMORY.md", "memory/a.md", *(f"b/{number}.md" for number in range(3)), "c.txt")
    put(".obsidian/x.md", "node_modules/x.md")
    counted = left_out(str(folder), (), NOTE_RULES)
    assert (counted.searched, counted.notes, counted.texts) == (2, 3, 1)
    assert counted.folders == (".obsidian", "node_modules")
    notes, texts, folders = counted.sentences()
    assert notes.startswith(
        "looked for MEMORY.md and memory/**/*.md; 3 other .md files were ignored; to search them: "
        'put { memory: { search: { extraPaths: ["."] } } } into '
    )
    assert "1 .txt file was ignored" in texts
    assert "notes: { text: true }" in texts
    assert folders.endswith(": .obsidian, node_modules")
    everything = left_out(str(folder), ["."], NoteRules(text=True))
    assert (everything.searched, everything.notes, everything.texts) == (6, 0, 0)


def test_a_workspace_without_notes_says_what_was_looked_for(
    folder: Path, put: Callable[..., None]
) -> None:
    put("list.txt")
    first, second = left_out(str(folder), (), NOTE_RULES).nothing_found()
    assert first == f"there are no notes yet: looked for all .md and .markdown files in {folder}"
    assert "notes: { text: true }" in second
    (folder / "memory").mkdir()
    put("a.md")
    first, _ = left_out(str(folder), (), NOTE_RULES).nothing_found()
    assert first.startswith("there are no notes yet: looked for MEMORY.md and memory/**/*.md; 1 o")


def test_names_that_end_in_capitals_are_counted(folder: Path, put: Callable[..., None]) -> None:
    put("memory/a.md", "memory/b.MD", "c.Markdown", "d.mdx")
    counted = left_out(str(folder), (), NOTE_RULES)
    assert (counted.searched, counted.notes, counted.capitals) == (1, 0, 2)
    (line,) = counted.sentences()
    assert line.startswith("2 files were ignored, as the name ends in capitals (.MD, .Markdown)")
    (folder / "memory/a.md").unlink()
    assert line in left_out(str(folder), (), NOTE_RULES).nothing_found()


def test_counting_ends(
    folder: Path, put: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.files.left_out._MOST_ENTRIES", 5)
    put("MEMORY.md", *(f"{number}.md" for number in range(20)))
    counted = left_out(str(folder), (), NOTE_RULES)
    assert counted.at_least
    assert "at least" in counted.sentences()[0]


def test_the_home_folder_is_never_taken_as_a_whole(
    tmp_path: Path, folder: Path, put: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    put("a.md", "notes/b.md", ".cache/c.md")
    for wide in (folder, tmp_path, tmp_path.parent, tmp_path.anchor):
        assert is_too_wide(str(wide))
    assert not is_too_wide(str(folder / "notes"))
    assert found(folder) == set()
    assert found(folder / "notes") == {"b.md"}
    counted = left_out(str(folder), (), NOTE_RULES)
    assert counted.too_wide
    assert "name a folder in it with --workspace" in counted.sentences()[0]
    put("memory/x.md")
    assert found(folder) == {"memory/x.md"}


def test_whether_a_folder_holds_notes_is_found_out_soon(
    folder: Path, put: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    put("a.py", "node_modules/x.md", ".git/x.md")
    assert not holds_notes(str(folder))
    put("deep/er/b.markdown")
    assert holds_notes(str(folder))
    monkeypatch.setattr("commonplace.files.left_out._MOST_FOR_ONE", 3)
    assert not holds_notes(str(folder))
    assert not holds_notes(str(folder / "nowhere"))


IGNORING = {
    ".gitignore": "drafts/\n*.tmp.md\n/top.md\n!keep.tmp.md\nsub/*\n!sub/seen.md\n# comment\n\n",
    "a/.gitignore": "only-here.md\n!b.tmp.md\n",
}
PATHS = (
    *("note.md", "top.md", "a/top.md", "x.tmp.md", "keep.tmp.md", "drafts/x.md", "a/drafts/y.md"),
    *("a/only-here.md", "only-here.md", "a/b.tmp.md", "sub/hidden.md", "sub/seen.md"),
    *("drafts/keep.tmp.md", "a/deep/only-here.md"),
)


def test_gitignore_is_read_as_git_does(folder: Path, put: Callable[..., None]) -> None:
    for path, text in IGNORING.items():
        put(path, text=text)
    put(*PATHS)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    asked = subprocess.run(
        ["git", "-C", str(folder), "check-ignore", "--no-index", *PATHS],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )
    kept = set(PATHS) - set(asked.stdout.split())
    assert found(folder, rules=NoteRules(gitignore=True)) == kept
    counted = left_out(str(folder), (), NoteRules(gitignore=True))
    assert (counted.searched, counted.notes) == (len(kept), 0)
    assert counted.ignored == len(PATHS) - len(kept)
    assert "as git ignores them" in counted.sentences()[0]


def test_gitignore_files_around_count_up_to_the_repository(
    tmp_path: Path, folder: Path, put: Callable[..., None]
) -> None:
    (tmp_path / ".gitignore").write_text("secret.md\n")
    put("secret.md", "memory/secret.md", "docs/secret.md")
    assert not GitIgnored(str(folder))("secret.md")
    (tmp_path / ".git").mkdir()
    assert GitIgnored(str(folder))("secret.md")
    rules = NoteRules(gitignore=True)
    # What lies below memory/ is the agent's own, and often kept out of git for that.
    assert found(folder, "docs", rules=rules) == {"memory/secret.md"}


def test_the_root_of_a_disk_is_named_as_it_is_typed() -> None:
    (line,) = LeftOut(looked_for="notes", workspace="/", notes=1).sentences()
    assert line.endswith(" into /commonplace.json5")
