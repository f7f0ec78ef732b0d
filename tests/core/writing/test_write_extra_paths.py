"""Notes of extra paths: those in the workspace can be changed, those outside are only read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory, PathNotAllowedError, WriteRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folders(workspace: Path, tmp_path: Path) -> Path:
    """A workspace with ``memory/``, ``kunden/``, ``docs/``, and a folder ``shared`` beside it."""
    for folder in (workspace / "memory", workspace / "kunden", workspace / "docs"):
        folder.mkdir()
    for path in ("kunden/siebert.md", "docs/guide.md", "../shared/rules.md"):
        note = workspace / path
        note.parent.mkdir(exist_ok=True)
        note.write_text(f"# {note.stem}\n\n- pays in 30 days\n- {note.stem} is in Graz\n")
    return tmp_path / "shared"


def _open(open_memory: Callable[..., Memory], *extra: str, **config: Any) -> Memory:
    return open_memory(search={"extraPaths": [*extra]}, **config)


@pytest.mark.parametrize("extra", [".", "kunden", "./"])
def test_a_note_in_the_workspace_is_corrected_and_forgotten(
    extra: str, folders: Path, workspace: Path, open_memory: Callable[..., Memory]
) -> None:
    memory = _open(open_memory, extra)
    memory.sync()
    (hit,) = (hit for hit in memory.search("siebert Graz").hits if "siebert" in hit.path)
    note = workspace / "kunden/siebert.md"
    before = note.read_bytes()
    writer = memory.writer(who="test")
    corrected = writer.correct("kunden/siebert.md#L3", "pays in 14 days")
    writer.forget("kunden/siebert#L4")
    assert note.read_text() == "# siebert\n\n- pays in 14 days\n"
    assert [one.path for one in writer.journal(path="kunden/siebert.md")] == [hit.path] * 2
    writer.undo("last")
    writer.undo(corrected)
    assert note.read_bytes() == before


def test_an_agent_may_correct_it_too(
    folders: Path, workspace: Path, open_memory: Callable[..., Memory]
) -> None:
    memory = _open(open_memory, ".", write={"enabled": True})
    agent = memory.writer(origin="agent", who="agent main")
    agent.correct("kunden/siebert.md#L3", "pays in 14 days")
    assert "14 days" in (workspace / "kunden/siebert.md").read_text()


@pytest.mark.parametrize("extra", ["../shared", "..", "{whole}"])
@pytest.mark.parametrize("origin", ["owner", "agent"])
def test_a_note_outside_the_workspace_is_only_read_and_the_refusal_says_so(
    extra: str, origin: Any, folders: Path, open_memory: Callable[..., Memory]
) -> None:
    memory = _open(open_memory, extra.format(whole=folders), write={"enabled": True})
    note = folders / "rules.md"
    before = note.read_bytes()
    assert memory.get("../shared/rules.md").trust == "external"
    writer = memory.writer(origin=origin, who="test")
    for path in ("../shared/rules.md#L3", f"{note}#L3"):
        with pytest.raises(WriteRefusedError, match="is outside the workspace") as refused:
            writer.correct(path, "pays in 14 days")
        assert refused.value.kind == "path"
        with pytest.raises(WriteRefusedError, match="is outside the workspace"):
            writer.forget(path)
    with pytest.raises(WriteRefusedError, match="is outside the workspace"):
        writer.change("../shared/new.md", lambda _: b"new", why="test")
    assert note.read_bytes() == before
    assert [entry.name for entry in folders.iterdir()] == ["rules.md"]


def test_a_folder_that_is_no_extra_path_stays_closed(
    folders: Path, open_memory: Callable[..., Memory]
) -> None:
    writer = _open(open_memory, "docs").writer(who="test")
    for path in ("kunden/siebert.md#L3", "../shared/rules.md#L3"):
        with pytest.raises(PathNotAllowedError):
            writer.correct(path, "pays in 14 days")


def test_all_of_the_workspace_is_its_own_and_a_folder_in_it_can_be_of_others(
    folders: Path, open_memory: Callable[..., Memory]
) -> None:
    whole = _open(open_memory, "docs", ".", "../shared")
    trusts = {path: whole.get(path).trust for path in ("kunden/siebert.md", "docs/guide.md")}
    assert trusts == {"kunden/siebert.md": "memory", "docs/guide.md": "memory"}
    assert whole.get("../shared/rules.md").trust == "external"
    whole.sync()
    for word, trust in (("siebert", "memory"), ("rules", "external"), ("guide", "memory")):
        assert whole.search(f"{word} Graz").hits[0].trust == trust
    assert _open(open_memory, "docs").get("docs/guide.md").trust == "external"
