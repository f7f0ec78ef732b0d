"""The warnings of a result are on what failed, not on what the query itself asks for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory, MemoryTools
from commonplace.host.failures import failed_scan
from commonplace.model.documents import RootFailure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.end_to_end.conftest import Sandbox


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "MEMORY.md").write_text("The staging server listens on port 8443.\n")
    (tmp_path / "notes" / "memory" / "ferry.md").write_text("The ferry leaves at noon.\n")
    with Memory.open(workspace=tmp_path / "notes", env={"HOME": str(tmp_path)}) as memory:
        memory.sync()
        yield memory


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("staging wombat", "no note has 'wombat'"),
        ("stagging server", "no note has 'stagging'"),
        ("wombat or walrus", "no note has 'wombat' or 'walrus'"),
        ("wombat path:memory", "no note has 'wombat'"),
        ('"staging port" server', "no note has the quoted words side by side"),
        ("git rebase --onto staging -i", ""),
        ("server -v --port", ""),
        ("server -8443", "-8443 is searched for as a number"),
        ("server -ferry.md", "-ferry.md leaves out text with these words"),
    ],
)
def test_none_is_on_the_words_of_a_query(memory: Memory, query: str, note: str) -> None:
    result = memory.search(query)
    assert any(one.startswith(note) for one in result.notes) or not note
    assert result.warnings == ()


def test_none_is_on_a_least_score(memory: Memory) -> None:
    result = memory.search("staging ferry", min_score=0.99)
    assert [note.partition(":")[0] for note in result.notes] == ["left out"]
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ("server after:2026-13-45", "after:2026-13-45 is not understood"),
        ("server source:letters", "there is no source 'letters' here"),
    ],
)
def test_one_is_on_a_filter_without_effect(memory: Memory, query: str, warning: str) -> None:
    result = memory.search(f"{query} wombat")
    (shown,) = result.warnings
    assert shown.startswith(warning)
    assert shown in result.notes
    assert len(result.notes) == 2


def test_one_is_on_what_a_plugin_adds(memory: Memory) -> None:
    result = memory.search("wombat")
    assert result.replace(notes=(*result.notes, "no note has 'x'")).warnings == ("no note has 'x'",)


def test_tools_and_commands_give_them_beside_all_notes(memory: Memory, sandbox: Sandbox) -> None:
    query = "server after:2026-13-45 wombat"
    data = MemoryTools(memory).call("memory_search", {"query": query}).data
    assert (len(data["notes"]), len(data["warnings"])) == (2, 1)
    sandbox.write("MEMORY.md", "The staging server.\n")
    for command in (("search",), ("why",)):
        facts = json.loads(sandbox.run(*command, query, "--json").went_well())
        (warning,) = facts["warnings"]
        assert warning.startswith("after:2026-13-45 is not understood")
        assert len(facts["notes"]) == 2


@pytest.mark.parametrize("label", ["the source 'letters'", "letters of a plugin"])
def test_a_source_that_failed_is_named_once(label: str) -> None:
    (failure,) = failed_scan("letters", label, OSError("the disk is away")).failed_roots
    assert failure.words("the workspace") == f"{label} failed: OSError: the disk is away"
    # A reason is never read to find out whether it names the source.
    folder = RootFailure("", "the source of the disk is away", "memory")
    assert folder.words("the workspace") == "the workspace: the source of the disk is away"
