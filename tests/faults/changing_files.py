"""A workspace whose files change in all the ways files do, and every text they ever had."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


class ChangingFiles:
    """Files by their paths as an index names them, relative to ``workspace``.

    ``versions`` are the texts that ever stood at a path, ``closed`` what cannot be read just now.
    What cannot be done, since nothing is there or it is closed, is not done.
    """

    def __init__(self, root: Path) -> None:
        self.workspace = root / "workspace"
        self.openclaw = root / "openclaw"
        self.versions: dict[str, set[str]] = {}
        self.closed: dict[Path, int] = {}
        self._said = 0
        (self.workspace / "memory").mkdir(parents=True)
        # Where transcripts are is found out when a memory is opened.
        (self.openclaw / "agents/main/sessions").mkdir(parents=True)

    def put(self, path: str, text: str) -> None:
        """Make a file, or write it again."""
        if self._is_open(path):
            target = self.workspace / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            self._learn(path)

    def pick(self, number: int) -> str:
        """The path of one of the files that are there; ``""`` if there is none."""
        there = [path for path in sorted(self.versions) if self._is_there(path)]
        return there[number % len(there)] if there else ""

    def replace(self, path: str, text: str) -> None:
        """As an editor saves: a new file takes the place of the old one."""
        if self._is_there(path):
            (self.workspace / "new.txt").write_text(text, encoding="utf-8")
            os.replace(self.workspace / "new.txt", self.workspace / path)
            self._learn(path)

    def append(self, path: str, line: str) -> None:
        if self._is_there(path):
            with (self.workspace / path).open("a", encoding="utf-8") as file:
                file.write(f"\n{line}")
            self._learn(path)

    def exchange(self, path: str, words: Sequence[str], word: str, *, keep_time: bool) -> None:
        """Put ``word`` in the place of all ``words`` of its length, so that the size stays."""
        if not self._is_there(path):
            return
        target = self.workspace / path
        before, text = target.stat(), target.read_text(encoding="utf-8")
        for old in words:
            if len(old) == len(word):
                text = text.replace(old, word)
        self.put(path, text)
        assert target.stat().st_size == before.st_size
        if keep_time:
            os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))

    def touch(self, path: str, seconds: int) -> None:
        """Set the times of a file to so many seconds from now."""
        if self._is_there(path):
            then = time.time_ns() + seconds * 10**9
            os.utime(self.workspace / path, ns=(then, then))

    def delete(self, path: str) -> None:
        if self._is_there(path):
            (self.workspace / path).unlink()

    def rename(self, path: str, other: str) -> None:
        if self._is_there(path) and self._is_open(other):
            (self.workspace / other).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.workspace / path, self.workspace / other)
            self._learn(other)

    def rename_folder(self, path: str, other: str) -> None:
        """Move a folder with all that it holds, also out of memory or into it."""
        old, new = self.workspace / path, self.workspace / other
        inside = old.resolve() in new.resolve().parents
        if self.closed or not old.is_dir() or new.exists() or inside:
            return
        new.parent.mkdir(parents=True, exist_ok=True)
        old.rename(new)
        for file in new.rglob("*.md"):
            self._learn(os.path.relpath(file, self.workspace))

    def close(self, path: str) -> None:
        """Take away the right to read a file or folder."""
        target = self.workspace / path
        if self._is_open(path) and target.exists():
            self.closed[target] = target.stat().st_mode
            target.chmod(0)

    def open_all(self) -> None:
        """Let everything be read again."""
        for path, mode in reversed(self.closed.items()):
            with suppress(FileNotFoundError):
                path.chmod(mode)
        self.closed.clear()

    def say(self, text: str) -> None:
        """Add a message to the transcript of a session."""
        self._said += 1
        transcript = self.openclaw / "agents/main/sessions/one.jsonl"
        said = {"role": "user", "content": f"{text} {self._said}"}
        with transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"type": "message", "message": said}) + "\n")

    def texts(self, below: Sequence[str]) -> dict[str, str]:
        """What stands now in every file whose path begins with one of ``below``."""
        return {
            path: (self.workspace / path).read_text(encoding="utf-8")
            for path in self.versions
            if path.startswith(tuple(below)) and self._is_there(path)
        }

    def _learn(self, path: str) -> None:
        text = (self.workspace / path).read_text(encoding="utf-8")
        self.versions.setdefault(path, set()).add(text)

    def _is_there(self, path: str) -> bool:
        return self._is_open(path) and (self.workspace / path).is_file()

    def _is_open(self, path: str) -> bool:
        target = self.workspace / path
        return not self.closed.keys() & {target, *target.parents}


class Meddler:
    """Does something when a file is opened for reading, between the scan and the reading.

    There is one for a process, since it can never be taken away.
    """

    def __init__(self) -> None:
        self._left = 0
        self._act: Callable[[], None] = self.rest
        sys.addaudithook(self._hear)

    def at(self, number: int, act: Callable[[], None]) -> None:
        """Do ``act`` once, when the ``number``-th note or transcript is opened from now on."""
        self._left, self._act = number, act

    def rest(self) -> None:
        """Do nothing any more."""
        self._left = 0

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._left and event == "open" and str(arguments[0]).endswith((".md", ".jsonl")):
            self._left -= 1
            if not self._left:
                self._act()
