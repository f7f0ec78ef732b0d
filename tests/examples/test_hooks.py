"""The examples of hooks time searches, correct queries and refuse changes, in few lines."""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace import CallerError, Memory, PluginHost, WriteRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

FOLDER = Path(__file__).parents[2] / "examples" / "commonplace_example_hooks"
NAMES = ("timing", "spelling", "guard")
CONFIG = {"memory": {"backend": "inmemory", "write": {"enabled": True}}}


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Imports an example; what was imported is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield lambda name: importlib.import_module(f"commonplace_example_hooks.{name}")
    for name in [name for name in sys.modules if name.startswith("commonplace_example_hooks")]:
        del sys.modules[name]


@pytest.fixture
def opened(
    load: Callable[[str], ModuleType], tmp_path: Path
) -> Callable[[str], tuple[Memory, ModuleType]]:
    """Opens a memory of two notes with one of the examples."""
    for name, text in {
        "MEMORY.md": "# Ants\n\nThe ant.\n",
        "memory/m.md": "The meeting.\n",
    }.items():
        (tmp_path / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / name).write_text(text)

    def opened(name: str) -> tuple[Memory, ModuleType]:
        host, module = PluginHost(), load(name)
        host.register(module, name=name)
        env = {"HOME": str(tmp_path)}
        return Memory.open(workspace=tmp_path / "notes", config=CONFIG, env=env, host=host), module

    return opened


def test_they_are_short_and_behind_entry_points(load: Callable[[str], ModuleType]) -> None:
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    modules = set(project["entry-points"]["commonplace"].values())
    for name in NAMES:
        text = (FOLDER / "commonplace_example_hooks" / f"{name}.py").read_text()
        assert len(text.splitlines()) < 30
        assert load(name).__name__ in modules


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_them_as_they_are(name: str) -> None:
    page = (FOLDER.parents[1] / "docs" / "plugins.md").read_text(encoding="utf-8")
    text = (FOLDER / "commonplace_example_hooks" / f"{name}.py").read_text(encoding="utf-8")
    assert f"```python\n{text}```\n" in page


def test_every_search_is_timed_once_even_one_that_fails(
    opened: Callable[[str], tuple[Memory, ModuleType]],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, timing = opened("timing")
    monkeypatch.setattr(timing, "SLOW", -1.0)
    with memory:
        assert [hit.path for hit in memory.search("ant").hits] == ["MEMORY.md"]
        assert memory.search("meeting").hits
        assert len(timing.seconds) == 2
        assert all(taken > 0 for taken in timing.seconds)
        assert "for a query of 7 characters" in caplog.text

    with pytest.raises(CallerError, match="closed"):
        memory.search("ant")
    assert len(timing.seconds) == 3


def test_spelling_is_corrected_and_filters_stay(
    opened: Callable[[str], tuple[Memory, ModuleType]],
) -> None:
    memory, _ = opened("spelling")
    with memory:
        assert [hit.path for hit in memory.search("meting").hits] == ["memory/m.md"]
        assert memory.search("meting path:other").hits == ()
        assert memory.host.rewrite_query('workshp "meting" -calender') == (
            'workshop "meting" -calender'
        )


def test_changes_are_refused_with_a_reason(
    opened: Callable[[str], tuple[Memory, ModuleType]],
) -> None:
    memory, guard = opened("guard")
    with memory:
        agent = memory.writer(origin="agent", who="test")
        assert agent.remember("The bee.").path.startswith("memory/")
        with pytest.raises(WriteRefusedError, match="at most 2000 characters"):
            agent.remember("x" * (guard.MOST + 1))
        assert memory.writer(who="test").remember("y" * (guard.MOST + 1)).path
