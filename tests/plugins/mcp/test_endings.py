"""Nothing remains of a server, however it ends: no process, no lock, no temporary file.

The rounds go through all endings at three moments each: at the start, after the list of tools, and
after a search. The slow test runs 50 of each ending, or as many as
``SOAK_ROUNDS`` says.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.plugins.mcp.conftest import ask, env_of

from commonplace import Memory
from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ENDINGS = ("end of input", "SIGINT", "SIGTERM", "parent killed")
ROUNDS = int(os.environ.get("SOAK_ROUNDS", "50"))
REQUESTS: tuple[dict[str, Any], ...] = (
    ask(1, "tools/list"),
    ask(2, "tools/call", name="memory_search", arguments={"query": "staging port"}),
)
PARENT = """
import os, signal, subprocess, sys
data, answers, command = sys.argv[1].encode(), int(sys.argv[2]), sys.argv[3:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(data)
server.stdin.flush()
for _ in range(answers):
    assert server.stdout.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


CLOSING = """
import os, signal, sys
from commonplace.cli import main
from commonplace_mcp.surface import Surface
close = Surface.close
def closed(self):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(os.getpid(), number)
    close(self)
    print("closed", file=sys.stderr)
Surface.close = closed
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with an indexed workspace, and a folder for temporary files of its own."""
    copy_workspace(str(tmp_path / "notes"))
    (tmp_path / "tmp").mkdir()
    with Memory.open(workspace=tmp_path / "notes", env=env_of(tmp_path)) as memory:
        memory.sync()
    return tmp_path


@pytest.mark.parametrize("ending", ["end of input", "SIGINT"])
def test_no_further_signal_cuts_off_what_is_closed(home: Path, ending: str) -> None:
    command = [sys.executable, "-c", CLOSING, "mcp", "--workspace", str(home / "notes")]
    assert one_round(command, env_of(home), ending, 1) == b"closed\n"


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.slow
def test_nothing_remains_of_a_server(home: Path, ending: str) -> None:
    rounds(home, [ending], 1, moments=[2])


@pytest.mark.slow
def test_nothing_remains_of_many_servers(home: Path) -> None:
    assert rounds(home, ENDINGS, ROUNDS, moments=range(3)) == len(ENDINGS) * ROUNDS


def rounds(home: Path, endings: Sequence[str], count: int, *, moments: Sequence[int]) -> int:
    """Run ``count`` rounds of each ending; how many were run in all.

    A moment is the number of requests that are answered before the end.
    """
    env = {**env_of(home), "TMPDIR": str(home / "tmp")}
    command = [sys.executable, "-m", "commonplace", "mcp", "--workspace", str(home / "notes")]
    ran = 0
    kept: set[str] | None = None
    for number in range(count):
        for ending in endings:
            answered = moments[number % len(moments)]
            errors = one_round(command, env, ending, answered)
            assert errors == b"" or answered == 0, errors
            assert held_locks(home) == [], (ending, answered)
            assert files_in(home / "tmp") == set(), (ending, answered)
            if answered == len(REQUESTS):  # the first such round has made the files that stay
                kept = files_in(home) if kept is None else kept
                assert files_in(home) <= kept, (ending, answered)
            ran += 1
    return ran


def one_round(command: Sequence[str], env: Mapping[str, str], ending: str, answered: int) -> bytes:
    """Start a server, end it after so many answers, and wait until none of its processes is left.

    Its processes inherit the pipe of standard error, whose end comes once all of them are gone.
    """
    data = "".join(
        json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in REQUESTS[:answered]
    )
    parent = [sys.executable, "-S", "-c", PARENT, data, str(answered)]
    killed = ending == "parent killed"
    started = subprocess.Popen(
        [*parent, *command] if killed else command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    )
    assert started.stdin is not None
    assert started.stdout is not None
    if not killed:
        started.stdin.write(data.encode())
        started.stdin.flush()
        for _ in range(answered):
            assert started.stdout.readline()
        if ending != "end of input":
            started.send_signal(signal.Signals[ending])
    _, errors = started.communicate(timeout=60)
    if killed:
        assert started.returncode == -signal.SIGKILL
    elif answered:
        assert started.returncode == 0
    return errors


def held_locks(home: Path) -> list[str]:
    """The files below the state that a process holds a lock of."""
    held = []
    for name in files_in(home / "state"):
        with open(home / "state" / name, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                held.append(name)
    return held


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
