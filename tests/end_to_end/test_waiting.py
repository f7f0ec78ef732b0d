"""A process that waits to write reports the process it waits for, and does not wait for ever."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import IndexBusyError
from commonplace.memory import Memory
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.end_to_end.conftest import Sandbox

    from commonplace.model.reports import Progress

WRITER = """
import sys
from commonplace_sqlite.store import SqliteStore
store = SqliteStore(sys.argv[1])
with store.writer(wait=0):
    print("writing", flush=True)
    sys.stdin.readline()
store.close()
"""
A_LITTLE = 1.05
"""Seconds: a little longer than people wait in silence."""


@contextmanager
def writing(sandbox: Sandbox, index: str = "") -> Iterator[subprocess.Popen[str]]:
    """Another process that writes the sandbox's index until it is written a line to."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(index or sandbox.index)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        yield process
        if process.poll() is None:
            process.communicate("\n")


@pytest.mark.slow
def test_a_sync_says_for_whom_it_waits_and_then_does_its_work(sandbox: Sandbox) -> None:
    sandbox.run_here("index").went_well()
    new = sandbox.write("memory/new.md", "A platypus.\n")
    labels: list[str] = []
    with writing(sandbox) as process, _memory(sandbox) as memory:

        def progress(now: Progress) -> None:
            labels.append(now.label)
            if now.label.startswith("waiting"):
                process.communicate("\n")

        assert memory.sync(progress=progress).added == 1
        waited = [label for label in labels if label.startswith("waiting")]
        assert waited == [f"waiting for process {process.pid}, which is writing the index"]
    new.unlink()


@pytest.mark.slow
def test_it_does_not_wait_for_ever(sandbox: Sandbox) -> None:
    sandbox.run_here("index").went_well()
    new = sandbox.write("memory/new.md", "A platypus.\n")
    with writing(sandbox) as process, _memory(sandbox) as memory:
        with pytest.raises(IndexBusyError) as caught:
            memory._backends().maintain(deadline=NEVER, wait=A_LITTLE)
        assert str(process.pid) in str(caught.value)
        assert re.search(r"has been writing the index for [1-9]\d* s", str(caught.value))
        assert caught.value.hint
    new.unlink()


def test_a_search_waits_for_half_of_its_time_where_it_has_no_index_yet(sandbox: Sandbox) -> None:
    sandbox.write("memory/new.md", "A platypus.\n")
    with _memory(sandbox) as memory, writing(sandbox, memory.settings.index_path) as process:
        began = time.monotonic()
        with pytest.raises(IndexBusyError, match=f"process {process.pid}"):
            memory.search("platypus", timeout=1)
        assert 0.4 < time.monotonic() - began < 10


def test_a_hit_as_it_was_is_not_said_to_be_missing(sandbox: Sandbox) -> None:
    note = sandbox.write("memory/new.md", "A platypus.\n")
    sandbox.run_here("index").went_well()
    note.write_text("A platypus and its young.\n", encoding="utf-8")
    with writing(sandbox):
        ran = sandbox.run("search", "platypus")
    assert "new.md" in ran.went_well()
    assert "1 changed note may not be in this answer as it is now: process " in ran.err


def test_status_tells_of_a_writer_when_it_looks_deep(sandbox: Sandbox) -> None:
    sandbox.run_here("index").went_well()
    with writing(sandbox) as process:
        assert f"process {process.pid} " in sandbox.run("status", "--deep").went_well()


def _memory(sandbox: Sandbox) -> Memory:
    return Memory.open(workspace=sandbox.workspace, env=sandbox.env)
