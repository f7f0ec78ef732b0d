"""One of many processes that read and write one memory at once.

``python crowd.py reader|writer NUMBER SECONDS WORKSPACE`` says ``ready``, waits for a line, goes on
for so many seconds, and prints what it did as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = ("walrus", "heron", "otter", "pigeon", "quokka", "badger", "ibex", "zebu")
_EACH = 12  # notes of each writer


class Member:
    """What one process did: ``errors`` are exceptions, and answers that cannot be."""

    def __init__(self, number: int, workspace: Path) -> None:
        self.rng = random.Random(number)
        self.number, self.workspace = number, workspace
        self.memory = Memory.open(workspace=workspace)
        self.seconds: list[float] = []
        self.acknowledged = 0
        self.errors: list[str] = []

    def read(self) -> None:
        """Search for something that is always there, now and then in a memory of its own."""
        if self.rng.random() < 0.1:
            self.memory.close()
            self.memory = Memory.open(workspace=self.workspace)
        begun = time.perf_counter()
        found = self.memory.search(self.rng.choice(WORDS), max_results=200)
        self.seconds.append(time.perf_counter() - begun)
        if not any(hit.path == "MEMORY.md" for hit in found.hits):
            self.errors.append(f"what is always there was not found: {found.notes}")
        self.errors += [note for note in found.notes if "locked" in note or "aside" in note]

    def write(self) -> None:
        """Change a note; after a sync it must be found, and what stood there before must not."""
        name = f"n{self.rng.randrange(_EACH)}.md"
        note = self.workspace / f"memory/w{self.number}/{name}"
        note.parent.mkdir(exist_ok=True)
        old = note.read_text(encoding="utf-8").split()[-1] if note.exists() else ""
        token = f"token{self.number}x{self.acknowledged}"
        if old and self.rng.random() < 0.2:
            note.unlink()
            token = ""
        else:
            words = " ".join(self.rng.choices(WORDS, k=self.rng.randrange(5, 400)))
            note.write_text(f"# Note\n\n{words}\n\n{token}\n", encoding="utf-8")
        self.memory.sync()
        wanted = {f"memory/w{self.number}/{name}"} if token else set()
        for word, paths in ((token, wanted), (old, set())):
            if not word:
                continue
            found = self.memory.search(f'"{word}"')
            if (places := {hit.path for hit in found.hits}) != paths:
                self.errors.append(f"{word} was found in {places}, not {paths}: {found.notes}")
        self.acknowledged += 1

    def go_on(self, action: Callable[[], None], seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                action()
            except Exception as error:  # noqa: BLE001 - whatever it is, it must be reported
                self.errors.append(repr(error))


def main(role: str, number: str, seconds: str, workspace: str) -> None:
    member = Member(int(number), Path(workspace))
    member.memory.search("walrus")  # imports are not what is measured
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    member.go_on(member.read if role == "reader" else member.write, float(seconds))
    member.memory.close()
    done = {name: getattr(member, name) for name in ("seconds", "acknowledged", "errors")}
    sys.stdout.write(json.dumps(done))


if __name__ == "__main__":
    main(*sys.argv[1:])
