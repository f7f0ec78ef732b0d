"""Four writers that are killed again and again, and a person's editor, on the same notes.

``python killed_writers.py FOLDER KILLS SEED`` writes what it found as JSON: ``lost`` lines that a
writer or the editor had been promised, ``half`` lines, lines that are there ``twice``, and where
the journal and the files ``differ``.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from commonplace import CommonplaceError, Memory
from commonplace.writing.notefile import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITERS = 4
PATHS = ("MEMORY.md", "memory/shared.md")


def signed(name: str) -> str:
    """A line that shows whether it is whole."""
    return f"- {name} {crc32(name.encode()):08x}"


def is_whole(line: str) -> bool:
    found = re.fullmatch(r"- (\S+) ([0-9a-f]{8})\n", line)
    return found is not None and line == signed(found[1]) + "\n"


def opened(folder: Path) -> Memory:
    env = {
        "HOME": str(folder),
        "COMMONPLACE_STATE_DIR": str(folder / "state"),
        "COMMONPLACE_CACHE_DIR": str(folder / "cache"),
    }
    return Memory.open(workspace=folder / "notes", env=env, config={"memory": {}})


def noted(log: int, *facts: object) -> None:
    os.write(log, json.dumps(facts).encode() + b"\n")


def appended(line: bytes, old: bytes | None) -> bytes:
    return (old or b"") + line


def write_until_killed(folder: Path, number: int, seed: int) -> None:
    """Add, delete and restore lines; every promise is noted once it is kept."""
    chance = random.Random(seed)
    log = os.open(folder / f"writer-{number}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    writer = opened(folder).writer(who=f"writer {number}")
    mine: list[tuple[str, str]] = []
    count = 0
    while True:
        action = chance.choice(["add", "add", "append", "delete", "restore"])
        if action in ("delete", "restore") and not mine:
            continue
        with suppress(CommonplaceError):
            if action in ("add", "append"):
                count += 1
                line, path = signed(f"w{number}-{seed}-{count}"), PATHS[action == "append"]
                noted(log, "try", line)
                if action == "add":
                    writer.remember(line, kind="entry")
                else:
                    writer.change(path, partial(appended, f"{line}\n".encode()), why="")
                noted(log, "there", line)
                mine.append((line, path))
                continue
            line, path = mine.pop(chance.randrange(len(mine)))
            noted(log, "try", line)
            lines = (folder / "notes" / path).read_text("utf-8").split("\n")
            receipt = writer.forget(f"{path}#L{lines.index(line) + 1}", was=line)
            noted(log, "gone", line)
            if action == "restore":
                noted(log, "try", line)
                writer.undo(receipt)
                noted(log, "there", line)
                mine.append((line, path))


def edit_until_ended(folder: Path) -> None:
    """A person who appends a line in place, and looks whether it is there."""
    log = os.open(folder / "editor", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    count = 0
    while True:
        time.sleep(0.02)
        path = folder / "notes" / PATHS[count % 2]
        count += 1
        line = signed(f"editor-{count}")
        while True:
            try:
                file = os.open(path, os.O_WRONLY | os.O_APPEND)
            except FileNotFoundError:
                time.sleep(0.02)
                continue
            os.write(file, f"{line}\n".encode())
            os.close(file)
            if f"{line}\n" not in path.read_text("utf-8"):
                time.sleep(0.3)  # a writer may be about to put it back
            if f"{line}\n" in path.read_text("utf-8"):
                break
        noted(log, "there", line)


def started(work: Any, *arguments: Any) -> int:
    process = os.fork()
    if process == 0:
        try:
            work(*arguments)
        except BaseException as error:  # noqa: BLE001 - printed, and the process ends
            sys.stderr.write(f"{error!r}\n")
        os._exit(1)
    return process


def promises(folder: Path) -> Iterator[tuple[str, str]]:
    """What was noted last of each line."""
    for log in (*folder.glob("writer-*"), *folder.glob("editor")):
        last: dict[str, str] = {}
        for row in log.read_text("utf-8").splitlines():
            state, line = json.loads(row)
            last[line] = state
        yield from last.items()


def run(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    (folder / "notes" / "memory").mkdir(parents=True)
    with opened(folder) as memory:
        memory.writer(who="first").remember(signed("first"), kind="entry")
    editor = started(edit_until_ended, folder)
    numbers = iter(range(kills + WRITERS + 1))
    running = [
        started(write_until_killed, folder, one, seed + next(numbers)) for one in range(WRITERS)
    ]
    for _ in range(kills):
        time.sleep(chance.uniform(0.005, 0.08))
        one = chance.randrange(WRITERS)
        os.kill(running[one], signal.SIGKILL)
        os.waitpid(running[one], 0)
        running[one] = started(write_until_killed, folder, one, seed + next(numbers))
    for process in (*running, editor):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return found(folder)


def found(folder: Path) -> dict[str, Any]:
    with opened(folder) as memory:
        receipts = memory.writer(who="last").journal()
    recorded: Counter[str] = Counter()
    for receipt in receipts:
        recorded.update(split_lines(receipt.after.text))
        recorded.subtract(split_lines(receipt.before.text))
    lines: Counter[str] = Counter()
    for path in map((folder / "notes").joinpath, PATHS):
        if path.exists():  # killed early, no one may have begun it
            lines.update(split_lines(path.read_bytes().decode()))
    text = {line: count for line, count in lines.items() if line.startswith("-")}
    edited = {f"{line}\n" for line, state in promises(folder) if line.startswith("- editor")}
    expected = {line: n for line, n in recorded.items() if n and line.startswith("-")}
    expected |= dict.fromkeys(edited, 1)
    # The line that the editor was writing when it ended is no promise.
    differ = {line for line in {*expected, *text} if expected.get(line, 0) != text.get(line, 0)}
    return {
        "lines": len(text),
        "changes": len(receipts),
        "edits": len(edited),
        "lost": sorted(
            line
            for line, state in promises(folder)
            if (state == "there" and f"{line}\n" not in text)
            or (state == "gone" and f"{line}\n" in text)
        ),
        "half": sorted(line for line in text if not is_whole(line)),
        "twice": sorted(line for line, count in text.items() if count > 1),
        "differ": sorted(line for line in differ if not line.startswith("- editor")),
        "left": sorted(
            file.name
            for file in (folder / "notes").rglob("*")
            if file.suffix in (".draft", ".part")
        ),
        "kept": len([*folder.rglob("*.kept/*")]),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
