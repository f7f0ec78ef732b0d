"""Wrong command lines, generated and run: each must end in an error that is one for its user.

``python -m tests.faults.command_lines [--lines 5500] [--seed 1]`` runs so many in this process, in
a home of their own, and prints those that show a traceback or a bug.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import shlex
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from commonplace.cli import main
from commonplace.cli.context import plugin_host
from commonplace.cli.parser import BUILTIN
from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CODES = {0, 1, 2, 3, 130}
MOST_SECONDS = 3  # what runs until Ctrl-C gets one then
SERVING = {"watch", "mcp"}

OPTIONS = (
    *(
        "--workspace",
        "--config",
        "--agent",
        "--format",
        "--json",
        "--help",
        "-h",
        "-V",
        "--version",
    ),
    *("--query", "-n", "--max-results", "--min-score", "--session-key", "--timeout", "--wait"),
    *(
        "--explain",
        "--from",
        "--lines",
        "--force",
        "--yes",
        "--budget",
        "--file",
        "--fix",
        "--deep",
    ),
    *(
        "--verbose",
        "--poll",
        "--install",
        "--user",
        "--keep",
        "--since",
        "--source",
        "--tag",
        "--k",
    ),
    *(
        "--deep",
        "--limit",
        "--set",
        "--out",
        "--http",
        "--port",
        "--host",
        "--",
        "-",
        "--=",
        "-=",
        "---",
    ),
)
VALUES = (
    *(
        "",
        " ",
        "\t",
        "\n",
        "\0",
        "'",
        '"',
        "=",
        "==",
        "%s",
        "%",
        "{}",
        "{0}",
        "[",
        "[]",
        "null",
        "true",
    ),
    *(
        "0",
        "-1",
        "1",
        "3",
        "1e9",
        "1e999",
        "nan",
        "-inf",
        "inf",
        "1_000",
        "٣",
        "0x10",
        "9" * 5000,
        "1.5",
    ),
    *(
        "/",
        "/dev/null",
        "/dev/full",
        "/proc/self/mem",
        "..",
        "../..",
        "~",
        "~no-such-user/x",
        "C:\\x",
        "//h/s",
    ),
    *(
        "MEMORY.md",
        "MEMORY.md:3-1",
        "MEMORY.md#L0-L0",
        "MEMORY.md:99999999999999999999",
        "memory",
        "x.md:",
    ),
    *(
        "plain",
        "json",
        "md",
        "yaml",
        "main",
        "agent:main:x",
        "Main ",
        "..main",
        "bash",
        "zsh",
        "exit-codes",
    ),
    *(
        "\x1b]0;x\x07",
        "\x9b2J",
        "\u202e",
        "\udcff",
        "\ud800",
        "\U0001f9a6",
        "\u0301",
        "\ufeff",
        "日本語",
    ),
    *(
        "show",
        "check",
        "path",
        "set",
        "unset",
        "schema",
        "query.maxResults",
        "memory.backend",
        "a.b.c",
        ".",
    ),
    *(
        "after:",
        "before:x",
        "path:**/*[",
        "tag:",
        "-",
        "-x",
        '"',
        "source:nowhere",
        "OR",
        "-a -b",
        "after:0000",
    ),
    *("x" * 100_000, "../" * 2000, "a" * 300, "*a" * 30, "(" * 500, "{" * 500),
)


def lines(number: int, seed: int) -> Iterator[list[str]]:
    """So many command lines, most of them wrong."""
    chance = random.Random(seed)
    commands = [*BUILTIN, *plugin_host({}).ids("command"), "help", "serch", "", "-", "--json"]
    for _ in range(number):
        words = [chance.choice(commands)] if chance.random() < 0.95 else []
        for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 4, 6))):
            kind = chance.random()
            option, value = chance.choice(OPTIONS), chance.choice(VALUES)
            if kind < 0.4:
                words.append(value)
            elif kind < 0.6:
                words.append(option)
            elif kind < 0.75:
                words.append(f"{option}={value}")
            else:
                words += [option, value]
        if SERVING.intersection(words[:1]) and chance.random() < 0.95:
            words.insert(1, "--no-such-option")
        yield words


def fault_of(argv: Sequence[str]) -> str:
    """What is wrong with how ``argv`` ends; ``""`` if nothing is."""
    out, err = io.StringIO(), io.StringIO()
    signal.alarm(MOST_SECONDS)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(argv)
    except BaseException as error:  # noqa: BLE001 - any of them is what is looked for
        return f"raises {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    shown = out.getvalue() + err.getvalue()
    if code not in CODES:
        return f"ends with {code}"
    if "Traceback" in shown or "this is a bug in" in shown:
        return shown[-500:]
    if code not in (0, 3) and not shown:
        return f"ends with {code} and without a word"
    return ""


def _nothing() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO())


@contextlib.contextmanager
def home(folder: Path) -> Iterator[None]:
    """A home in ``folder`` and a workspace in it, from which nothing leads to this machine's."""
    copy_workspace(str(folder / "notes"))
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    set_ = {"HOME": str(folder), "COMMONPLACE_WORKSPACE": str(folder / "notes"), "TERM": "xterm"}

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before, where = signal.signal(signal.SIGALRM, interrupt), Path.cwd()
    os.chdir(folder)
    try:
        with patch.dict(os.environ, kept | set_, clear=True), patch("sys.stdin", _nothing()):
            yield
    finally:
        os.chdir(where)
        signal.signal(signal.SIGALRM, before)


def run() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=5500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory() as folder, home(Path(folder)):
        for argv in lines(args.lines, args.seed):
            if fault := fault_of(argv):
                faults += 1
                sys.stdout.write(f"{shlex.join(argv)[:300]!a}: {fault!a}\n")
    sys.stdout.write(f"{args.lines:,} command lines, {faults} end in a traceback or a bug\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(run())
