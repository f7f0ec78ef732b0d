"""``commonplace watch`` as a process: what it says, and how it ends."""

from __future__ import annotations

import json
import signal
import threading
import time
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from tests.end_to_end.conftest import Sandbox

pytestmark = pytest.mark.slow

PATIENCE = 60.0
QUICK = ("--config", "config.json5")


class Watching:
    """A process that watches, and the lines it has written."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.out: list[str] = []
        self.err: list[str] = []
        self._heard: SimpleQueue[None] = SimpleQueue()
        for stream, lines in ((process.stdout, self.out), (process.stderr, self.err)):
            assert stream is not None
            threading.Thread(target=self._read, args=(stream, lines), daemon=True).start()

    def _read(self, stream: Any, lines: list[str]) -> None:
        for line in stream:
            lines.append(line.rstrip("\n"))
            self._heard.put(None)

    def until(self, holds: Callable[[], object]) -> None:
        give_up = time.monotonic() + PATIENCE
        while not holds():
            left = give_up - time.monotonic()
            assert left > 0, (self.out, self.err)
            try:
                self._heard.get(timeout=left)
            except Empty:
                continue

    def watches(self) -> bool:
        return any("watching " in line or '"watching"' in line for line in [*self.err, *self.out])

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def watching(sandbox: Sandbox, *arguments: str) -> Iterator[Watching]:
    config = sandbox.root / "config.json5"
    config.write_text("{memory: {search: {sync: {watchDebounceMs: 30}}}}")
    process = sandbox.start("watch", "--config", str(config), *arguments)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        yield Watching(process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def test_it_syncs_follows_and_ends(sandbox: Sandbox) -> None:
    with watching(sandbox) as seen:
        seen.until(seen.watches)
        assert seen.out[0].startswith("notes: 3 added; ")
        sandbox.write("memory/new.md", "A narwhal.\n")
        seen.until(lambda: any("1 added  memory/new.md" in line for line in seen.out))
        (sandbox.workspace / "memory/new.md").unlink()
        seen.until(lambda: any("1 removed  memory/new.md" in line for line in seen.out))
        assert seen.end(signal.SIGINT) == 130
        seen.until(lambda: any("interrupted; nothing is lost" in line for line in seen.err))
        assert not any("Traceback" in line for line in seen.err)
    assert json.loads(sandbox.run("status", "--json").went_well())["stale"] == 0


def test_with_json_each_line_is_an_object(sandbox: Sandbox) -> None:
    with watching(sandbox, "--json") as seen:
        seen.until(seen.watches)
        sandbox.write("memory/new.md", "A narwhal.\n")
        seen.until(lambda: '"sync"' in seen.out[-1])
        assert seen.end(signal.SIGINT) == 130
        seen.until(lambda: '"ended"' in seen.out[-1])
    start, watch, sync, ended = (json.loads(line) for line in seen.out)
    assert (start["event"], start["report"]["added"]) == ("start", 3)
    assert (watch["event"], watch["mode"]) == ("watching", "native")
    assert (sync["reasons"], sync["report"]["added"]) == (["watch"], 1)
    assert sync["paths"] == [str(sandbox.workspace / "memory/new.md")]
    assert ended == {"schemaVersion": 1, "event": "ended"}
    assert seen.err == []


def test_it_ends_well_when_the_system_asks_for_it(sandbox: Sandbox) -> None:
    with watching(sandbox, "--quiet", "--poll") as seen:
        seen.until(seen.watches)
        assert any(" by polling" in line for line in seen.err)
        assert seen.end(signal.SIGTERM) == 0
        assert seen.out == []


def test_nothing_to_wait_for_is_said_at_once(sandbox: Sandbox) -> None:
    config = sandbox.root / "config.json5"
    config.write_text("{memory: {search: {sync: {watch: false}}}}")
    ran = sandbox.run("watch", "--config", str(config))
    assert "watching is switched off in the configuration" in ran.failed_well()


def test_status_of_another_process_sees_it_as_long_as_it_runs(sandbox: Sandbox) -> None:
    def watchers() -> list[dict[str, Any]]:
        found = json.loads(sandbox.run("status", "--json").went_well())["watchers"]
        assert isinstance(found, list)
        return found

    with watching(sandbox) as seen:
        seen.until(seen.watches)
        (watcher,) = watchers()
        assert watcher["pid"] == seen.process.pid
        assert watcher["program"] == "commonplace watch"
        assert f"by process {seen.process.pid} (commonplace watch) since 20" in (
            sandbox.run("status").went_well()
        )
    assert watchers() == [], "it was killed"
    assert not list(sandbox.state.rglob("*.watch-*"))


def test_two_configurations_of_one_index_do_not_undo_each_other(sandbox: Sandbox) -> None:
    other = sandbox.root / "other.json5"
    other.write_text("{memory: {search: {chunking: {tokens: 40}}}}")
    differs = "chunking.tokens is 200 here and 40 in the index"
    with watching(sandbox) as seen:
        seen.until(seen.watches)
        note = sandbox.run("search", "walrus", "--config", str(other)).err
        assert "chunking.tokens is 40 here and 200 in the index" in note
        cut_again = json.loads(sandbox.run("index", "--json", "--config", str(other)).went_well())
        assert (cut_again["updated"], cut_again["warnings"]) == (3, [])
        sandbox.write("memory/new.md", "A narwhal.\n")
        seen.until(lambda: any("1 added  memory/new.md" in line for line in seen.out))
        seen.until(lambda: any(differs in line for line in seen.err))
        assert not any("updated" in line for line in seen.out), "it gives way"
    again = json.loads(sandbox.run("index", "--json", "--config", str(other)).went_well())
    assert (again["updated"], again["unchanged"]) == (0, 4)
    mine = json.loads(sandbox.run("index", "--json").went_well())
    assert (mine["updated"], mine["unchanged"]) == (0, 4)
    assert any(differs in line for line in mine["warnings"])
    assert json.loads(sandbox.run("index", "--force", "--json").went_well())["warnings"] == []
    theirs = json.loads(sandbox.run("index", "--json", "--config", str(other)).went_well())
    assert theirs["updated"] == 0
    assert any("--force" in line for line in theirs["warnings"])
