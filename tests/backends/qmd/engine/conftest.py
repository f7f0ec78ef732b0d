"""A home for a QMD that is played by a script, and what happened in it."""

from __future__ import annotations

import json
import os
import select
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.resilience.deadline import Deadline
from commonplace_qmd.engine.client import Qmd
from commonplace_qmd.engine.values import QmdHome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FAKE = Path(__file__).parent.parent / "fake_qmd.py"
LONG = 60.0


class House:
    """A home, and the program that is played there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("config", "cache", "cwd", "bin"):
            (root / name).mkdir(parents=True)
        self.cwd = root / "cwd"
        self.home = QmdHome(
            config_dir=str(root / "config"),
            index_path=str(root / "index.sqlite"),
            cache_home=str(root / "cache"),
            cwd=str(self.cwd),
        )
        self.command = root / "bin" / "qmd"
        self.command.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {FAKE} "$@"\n')
        self.command.chmod(0o755)
        self.env = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "secret", "LANG": "C.UTF-8"}
        self._made: list[Qmd] = []

    def behave(self, **behaviour: dict[str, Any]) -> None:
        """Say what each command does."""
        (self.cwd / "behaviour.json").write_text(json.dumps(behaviour))

    def qmd(self, **options: Any) -> Qmd:
        """An engine of this home."""
        made = Qmd(str(self.command), self.home, env=self.env, **options)
        self._made.append(made)
        return made

    def notes(self, name: str) -> list[Any]:
        """The lines that the program wrote to a file."""
        file = self.cwd / name
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text().splitlines()]

    def calls(self) -> list[dict[str, Any]]:
        """The runs, in order, without the first of each engine, which asks for the version."""
        return [call for call in self.notes("calls.jsonl") if call["argv"] != ["--version"]]

    def commands(self) -> list[str]:
        """The commands that were run."""
        return [call["argv"][0] for call in self.calls()]

    def requests(self) -> list[dict[str, Any]]:
        """The arguments of what the server was asked."""
        asked = [r for r in self.notes("requests.jsonl") if r["method"] == "tools/call"]
        return [request["params"]["arguments"] for request in asked]

    def until_started(self) -> Deadline:
        """A deadline that passes as soon as the program is in the middle of it."""
        return Deadline(1.0, lambda: 2.0 if (self.cwd / "started").exists() else 0.5)

    def knows(self, *collections: str) -> None:
        """Make an index that has these collections."""
        with closing(sqlite3.connect(self.home.index_path)) as db, db:
            db.execute("CREATE TABLE IF NOT EXISTS store_collections (name TEXT PRIMARY KEY)")
            db.executemany("INSERT INTO store_collections VALUES (?)", [(c,) for c in collections])

    def indexed(self, *collections: str) -> None:
        """Make an index that has notes of these collections."""
        with closing(sqlite3.connect(self.home.index_path)) as db, db:
            db.execute("CREATE TABLE documents (collection TEXT)")
            db.executemany("INSERT INTO documents VALUES (?)", [(c,) for c in collections])

    def embedded(self, count: int = 1) -> None:
        """Make an index that has vectors."""
        with closing(sqlite3.connect(self.home.index_path)) as db, db:
            db.execute("CREATE TABLE content_vectors (hash TEXT)")
            db.execute("CREATE TABLE vectors_vec (hash_seq TEXT)")
            db.executemany(
                "INSERT INTO content_vectors VALUES (?)", [(str(n),) for n in range(count)]
            )

    def has_models(self, *names: str) -> None:
        """Put files that look like models where QMD keeps them."""
        folder = Path(self.home.models_dir)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / name).write_bytes(b"GGUF\0")

    def close(self) -> None:
        for made in self._made:
            made.close()


def wait_gone(pid: int) -> None:
    """Wait until a process has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ended, _, _ = select.select([handle], [], [], LONG)
    finally:
        os.close(handle)
    assert ended, f"process {pid} still runs"


@pytest.fixture
def gone() -> Callable[[int], None]:
    """Waits until a process has ended; fails if it does not."""
    return wait_gone


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A home whose program leaves nothing behind."""
    made = House(tmp_path / "house")
    yield made
    made.close()
    for call in made.notes("calls.jsonl"):
        wait_gone(call["pid"])
    for pid in made.notes("children"):
        wait_gone(pid)


@pytest.fixture
def long() -> Deadline:
    """More time than anything needs."""
    return Deadline.after(LONG)
