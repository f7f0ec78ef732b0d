"""Anthropic's own tool for files gives the same answers, and leaves the same files.

It differs where it raises an exception, follows a link, or leaves new folders after a refusal.
"""

from __future__ import annotations

import os
import shutil
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.core.tools.memory_commands import CASES, FEW, M, fill, sequence
from tests.core.tools.test_memory_files import files_of, tree_of

from commonplace import Memory, MemoryFiles

if TYPE_CHECKING:
    from pathlib import Path

SEQUENCES = int(os.environ.get("COMMONPLACE_SEQUENCES", "2000"))
"""How many random sequences are compared; docs/memory-tool.md has the result of 10,000."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def anthropic() -> Any:
    """The module of Anthropic's SDK that holds its memory tools."""
    return pytest.importorskip("anthropic.tools.memory", reason="the extra sdks is not installed")


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def ask(tool: Any, command: dict[str, Any]) -> tuple[str, bool, bool]:
    """The text of the answer, whether it is an error, and whether an exception got out."""
    from anthropic.lib.tools import ToolError

    try:
        return tool.call(command), False, False
    except ToolError as error:
        return str(error.content), True, False
    except Exception as error:  # noqa: BLE001 - its defect
        return repr(error), True, True


def without_sizes_of_folders(text: str, path: str) -> str:
    """A listing without what depends on the file system."""
    if not text.startswith("Here're the files"):
        return text
    lines = [line.split("\t", 1) for line in text.split("\n")[1:]]
    return "\n".join(
        name if name.endswith("/") or name == path else f"{size} {name}" for size, name in lines
    )


def made_like(folder: Path, model: Path) -> None:
    """Take away from ``folder`` what is not in ``model``."""
    known = tree_of(model) if model.exists() else {}
    for name in sorted(tree_of(folder), reverse=True):
        if name not in known:
            path = folder / name
            path.rmdir() if path.is_dir() else path.unlink()


@pytest.mark.parametrize(("command", "answer"), CASES, ids=range(len(CASES)))
def test_the_table_holds(
    tmp_path: Path, anthropic: Any, command: dict[str, Any], answer: str
) -> None:
    tool = anthropic.BetaLocalFilesystemMemoryTool(str(tmp_path))
    fill(tmp_path / "memories")
    assert ask(tool, command)[0] == answer


def test_random_sequences_agree(tmp_path: Path, anthropic: Any) -> None:
    counts = {"commands": 0, "refused": 0, "exceptions": 0}
    env = {f"COMMONPLACE_{name}_DIR": str(tmp_path / name) for name in ("STATE", "CACHE")}
    config = {"memory": {"write": {"enabled": True}}}
    (tmp_path / "ours").mkdir()
    with Memory.open(
        workspace=tmp_path / "ours", config=config, env={**env, "HOME": str(tmp_path)}
    ) as memory:
        for seed in range(SEQUENCES):
            compare(seed, tmp_path, memory, anthropic, counts)
            shutil.rmtree(tmp_path / "STATE", ignore_errors=True)  # a journal for each sequence
    assert counts["refused"] > counts["exceptions"] > SEQUENCES // 10
    assert counts["commands"] - counts["refused"] > counts["commands"] // 4


def compare(
    seed: int, tmp_path: Path, memory: Memory, anthropic: Any, counts: dict[str, int]
) -> None:
    """One sequence with both tools, on folders that hold a few files, or nothing."""
    random = Random(seed)
    theirs, ours = tmp_path / "theirs" / "memories", tmp_path / "ours" / "memory"
    tool = anthropic.BetaLocalFilesystemMemoryTool(str(theirs.parent))
    ours.mkdir()
    if seed % 4:
        fill(theirs, FEW)
        fill(ours, FEW)
    files = MemoryFiles(memory)
    for step, command in enumerate(sequence(random, random.randint(1, 20))):
        where = f"seed {seed}, step {step}: {command}"
        text, failed, raised = ask(tool, command)
        answer = files.call(command)
        counts["commands"] += 1
        counts["refused"] += failed
        counts["exceptions"] += raised
        assert answer.failed == failed, f"{where}: {answer.text!r} for {text!r}"
        if raised:  # ours refuses; theirs may have left an empty file or new folders
            made_like(theirs, ours)
        elif " needs " not in answer.text:  # what lacks a field is refused before it is looked at
            path = str(command.get("path"))
            assert without_sizes_of_folders(answer.text, path) == without_sizes_of_folders(
                text, path
            ), where
        if failed and command.get("command") == "rename":  # theirs leaves the folders of the target
            made_like(theirs, ours)
        assert tree_of(ours) == tree_of(theirs), where
    shutil.rmtree(theirs)
    shutil.rmtree(ours)


@pytest.mark.skipif(os.name == "nt", reason="making links needs a right there")
def test_theirs_deletes_the_target_of_a_link_and_ours_refuses(
    tmp_path: Path, anthropic: Any
) -> None:
    tool = anthropic.BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))
    theirs, ours = tmp_path / "theirs" / "memories", tmp_path / "ours" / "memory"
    for folder in (theirs, ours):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "target.md").write_text("kept?\n")
        (folder / "link.md").symlink_to("target.md")
    command = {"command": "delete", "path": f"{M}/link.md"}
    assert ask(tool, command)[0].startswith("Successfully deleted")
    assert not (theirs / "target.md").exists()
    assert files_of(ours.parent).call(command).failed
    assert (ours / "target.md").read_text() == "kept?\n"
