"""Wrong arguments of the Python API are errors of the caller that name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace import CallerError, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text("# Team\n\nThe staging server: port 8443.\n")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=tmp_path / "notes", env=env) as opened:
        yield opened


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda memory: memory.search("staging", max_results=0), "max_results"),
        (lambda memory: memory.search("staging", min_score=float("nan")), "min_score"),
        (lambda memory: memory.search("staging", sources="memory"), "sources"),
        (lambda memory: memory.search(None), "query"),
        (lambda memory: memory.get(None), "path"),
        (lambda memory: memory.get("MEMORY.md", start=0), "start"),
        (lambda memory: memory.get("MEMORY.md", lines=-1), "lines"),
        (lambda memory: memory.recall(budget=10), "budget"),
        (lambda memory: memory.recall(query=3), "query"),
    ],
)
def test_a_wrong_argument_is_named(
    memory: Memory, call: Callable[[Memory], object], name: str
) -> None:
    with pytest.raises(CallerError, match=f"^{name} must be "):
        call(memory)


def test_more_tags_than_a_store_can_take_are_no_failure(memory: Memory) -> None:
    tags = " ".join(f"-tag:t{number}" for number in range(900))
    result = memory.search(f"staging {tags}")
    assert result.hits
    assert "more than 100 filters" in " ".join(result.notes)
