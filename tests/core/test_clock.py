"""One clock, given to ``Memory.open``, says what "today" is wherever memory needs it."""

from __future__ import annotations

import asyncio
import inspect
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import AsyncMemory, FlushSession, Memory, MemoryTools, archive_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOW = datetime(2024, 2, 29, 23, 30, tzinfo=UTC).timestamp()  # a Thursday
LOGS = {"2024-02-21": "- The heron nests.", "2024-02-28": "- The egret nests."}


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    """What opens a memory whose logs are of February 2024, at the end of that month."""
    folder = tmp_path / "notes" / "memory"
    folder.mkdir(parents=True)
    for day, text in LOGS.items():
        (folder / f"{day}.md").write_text(f"# {day}\n\n{text}\n", "utf-8")
    env = {f"COMMONPLACE_{one}_DIR": str(tmp_path / one) for one in ("STATE", "CACHE")}
    search = {"query": {"timeZone": "UTC"}}
    config = {"memory": {"search": search, "write": {"enabled": True}}}
    env["HOME"] = str(tmp_path)
    return {"workspace": tmp_path / "notes", "config": config, "env": env, "clock": lambda: NOW}


@pytest.fixture
def memory(options: dict[str, Any]) -> Iterator[Memory]:
    with Memory.open(**options) as opened:
        yield opened


@pytest.mark.parametrize("query", ["nests after:last-week before:last-week", "nests last week"])
def test_last_week_is_the_week_before_the_clock(memory: Memory, query: str) -> None:
    first, *_ = memory.search(query).hits
    assert first.path == "memory/2024-02-21.md"


def test_an_asynchronous_memory_has_the_same_clock(options: dict[str, Any]) -> None:
    async def found() -> tuple[date, list[str]]:
        async with AsyncMemory.open(**options) as memory:
            hits = (await memory.search("nests after:yesterday")).hits
            return memory.today, [hit.path for hit in hits]

    assert asyncio.run(found()) == (date(2024, 2, 29), ["memory/2024-02-28.md"])
    assert "clock" in inspect.signature(AsyncMemory.open).parameters


def test_today_is_that_of_the_time_zone(options: dict[str, Any], memory: Memory) -> None:
    assert memory.today == date(2024, 2, 29)
    options["config"]["memory"]["search"] = {"query": {"timeZone": "Asia/Tokyo"}}
    with Memory.open(**options) as far:
        assert far.today == date(2024, 3, 1)


def test_a_prompt_has_the_logs_of_the_days_of_the_clock(memory: Memory) -> None:
    block = memory.recall().text
    assert "egret" in block
    assert "heron" not in block


def test_a_change_is_written_to_the_log_of_the_clocks_day(memory: Memory) -> None:
    writer = memory.writer(who="a test")
    receipt = writer.remember("Otters swim.")
    assert (receipt.path, receipt.when) == ("memory/2024-02-29.md", NOW)


def _by_tools(memory: Memory) -> str:
    return MemoryTools(memory).places.today


def _by_flush(memory: Memory) -> str:
    asked: list[str] = []

    def model(messages: Any, _: Any) -> dict[str, str]:
        asked.extend(str(message["content"]) for message in messages)
        return {"role": "assistant", "content": "NO_REPLY"}

    FlushSession(memory, model, window=200_000, seconds=None).compacting(
        [{"role": "user", "content": "Hello."}]
    )
    return next(text for text in asked if "Current time" in text)


def _by_archive(memory: Memory) -> str:
    said = [{"role": "user", "content": "The kiln is hot."}]
    return archive_session(memory, said, session_id="s1").path


@pytest.mark.parametrize("day", [_by_tools, _by_flush, _by_archive])
def test_what_is_made_of_a_memory_has_its_clock(
    memory: Memory, day: Callable[[Memory], str]
) -> None:
    assert "2024-02-29" in day(memory)
