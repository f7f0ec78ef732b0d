"""A plugin with a hook that cannot be loaded is named by whatever goes on without it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory, MemoryTools
from commonplace.host.discovery import EntryPoint, installed
from commonplace.host.host import PluginHost

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WHY = "plugin {kind}.odd of odd-parts 1.0 failed: "


@pytest.fixture
def opened(tmp_path: Path, add_module: Callable[[str, str], None]) -> Callable[..., Memory]:
    """Opens a memory with one plugin ``<kind>.odd``, whose module raises ``ImportError``."""
    add_module("uh_gone", "raise ImportError('no judge here')")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text("The tide turns at six.\n")

    def open_memory(kind: str, module: str = "uh_gone", **more: str) -> Memory:
        entry = EntryPoint(f"{kind}.odd", module, "odd-parts", "1.0", **more)
        return Memory.open(
            workspace=notes,
            env={"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")},
            host=host_with(entry),
            config={"memory": {"write": {"enabled": True}}},
        )

    return open_memory


def host_with(*entries: EntryPoint) -> PluginHost:
    """A host of the installed plugins and ``entries``."""
    return PluginHost([*installed(), *entries], env={})


def test_a_guard_that_cannot_be_imported_is_named_by_each_change(
    opened: Callable[..., Memory], caplog: pytest.LogCaptureFixture
) -> None:
    why = WHY.format(kind="write") + "ImportError: no judge here"
    with opened("write") as memory, caplog.at_level(logging.WARNING):
        first = memory.writer(who="test").remember("Mia drinks tea.")
        second = memory.writer(who="test").remember("Ines drives a van.")
        assert why in first.notes
        assert second.notes.count(why) == 1
        answer = MemoryTools(memory).call("memory_write", {"text": "Tom plays the flute."})
        assert not answer.failed
        assert why in answer.text
        assert why in answer.data["notes"]
        assert memory.status().notices.count(why) == 1
        assert memory.host.hook_failures == (why,)
    assert caplog.text.count(why) == 1


def test_a_guard_that_raises_is_named_by_the_receipt(
    opened: Callable[..., Memory], add_module: Callable[[str, str], None]
) -> None:
    add_module(
        "uh_raises",
        """
        from commonplace.plugin import hookimpl

        @hookimpl
        def commonplace_before_write(path):
            raise ValueError("no judge")
        """,
    )
    with opened("write", "uh_raises") as memory:
        (note,) = memory.writer(who="test").remember("Mia drinks tea.").notes
    assert note == (
        "the hook commonplace_before_write of uh_raises (odd-parts 1.0) failed: "
        "ValueError: no judge"
    )


@pytest.mark.parametrize("kind", ["query", "search"])
def test_every_search_without_its_hook_says_so(opened: Callable[..., Memory], kind: str) -> None:
    why = WHY.format(kind=kind) + "ImportError: no judge here"
    with opened(kind) as memory:
        for _ in range(2):
            result = memory.search("tide")
            assert result.hits
            assert result.notes.count(why) == 1


def test_a_prompt_without_its_section_is_made(opened: Callable[..., Memory]) -> None:
    why = WHY.format(kind="prompt") + "ImportError: no judge here"
    with opened("prompt") as memory:
        assert memory.recall().text
        assert memory.host.hook_failures == (why,)


@pytest.mark.parametrize("kind", ["query", "search", "prompt", "write", "events"])
def test_a_status_names_it_before_it_is_asked_for(opened: Callable[..., Memory], kind: str) -> None:
    with opened(kind) as memory:
        why = WHY.format(kind=kind) + "ImportError: no judge here"
        assert memory.status().notices.count(why) == 1


def test_a_guard_that_is_set_aside_is_named_too(opened: Callable[..., Memory]) -> None:
    with opened("write", api="9.0") as memory:
        (note,) = memory.writer(who="test").remember("Mia drinks tea.").notes
        assert note.startswith(WHY.format(kind="write") + "it needs version 9.0")
        assert memory.status().notices.count(note) == 1


def test_guards_that_claim_one_name_are_named(tmp_path: Path) -> None:
    host = host_with(*(EntryPoint("write.odd", "uh_gone", name) for name in ("one", "two")))
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    (tmp_path / "memory").mkdir()
    with Memory.open(workspace=tmp_path, env=env, host=host) as memory:
        notes = memory.writer(who="test").remember("Mia drinks tea.").notes
    assert [note.partition(":")[0] for note in notes] == [
        "plugin write.odd of one failed",
        "plugin write.odd of two failed",
    ]


def test_a_guard_that_is_switched_off_is_not_named() -> None:
    entry = EntryPoint("write.odd", "uh_gone", "odd-parts", "1.0")
    off = {"COMMONPLACE_DISABLE_PLUGINS": "write.odd"}
    host = PluginHost([entry], env=off)
    assert not host.listened["write"]
    assert host.hook_failures == ()
