"""Items of a LangGraph store as notes; the SDK itself is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory, MemoryTools
from commonplace_adapters.langgraph_items import put_item, read_item, search_items

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LANGGRAPH = "memory/langgraph"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "notes" / LANGGRAPH).mkdir(parents=True)
    env = {f"COMMONPLACE_{name}_DIR": str(tmp_path / name) for name in ("STATE", "CACHE")}
    with Memory.open(workspace=tmp_path / "notes", env=env) as opened:
        yield opened


@pytest.mark.parametrize("key", ["k", "a/b", "..", "\ud800", "x```y", "é", "50%"])
def test_an_item_of_any_key_comes_back(memory: Memory, key: str) -> None:
    tools, writer = MemoryTools(memory), memory.writer(who="test")
    value: dict[str, Any] = {"text": "a\n```\n\nb", "list": [1, None, "\ud83d"]}
    put_item(writer, key, value)
    assert list(read_item(tools, key)) == [(key, value, None)]
    put_item(writer, key, None)
    assert list(read_item(tools, key)) == []
    put_item(writer, key, None)  # which is not there: no error


def test_what_a_person_made_of_an_item_is_a_note(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "notes" / LANGGRAPH / "deep.md"
    for body in ("[" * 100_000, "{", "[]"):
        file.write_text(f"# deep\n\n```json\n{body}\n```\n")
        ((key, value, _),) = read_item(MemoryTools(memory), "deep")
        assert key == value["path"] == f"{LANGGRAPH}/deep.md"


def test_a_page_far_behind_is_searched_for(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "notes/memory/a.md").write_text("# Ferry\n\nThe ferry leaves at noon.\n")
    ((key, _, _),) = search_items(MemoryTools(memory), "ferry", 5_000)
    assert key.startswith("memory/a.md#L")
