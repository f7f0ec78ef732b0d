"""Whatever happens to a tree, a reader that looks at each report knows its last state."""

from __future__ import annotations

import os
import random
import shutil
import threading
from typing import TYPE_CHECKING

import pytest

from commonplace.model.documents import WatchedPath
from commonplace.sync.folders import stamps_of
from commonplace.sync.watcher import Watcher

pytest.importorskip("watchfiles")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# These wait for processes, disks and watchers: over a minute in all, for CI.
pytestmark = pytest.mark.slow

STEPS = 200
PATIENCE = 60.0


class Reader:
    """Looks at all documents at each report, as an index does."""

    def __init__(self, *places: WatchedPath, poll: bool) -> None:
        self._places = places
        self._read: dict[str, int] | None = None
        self._news = threading.Condition()
        self.watcher = Watcher(lambda: places, self._hear, poll_seconds=0.01, force_polling=poll)

    def _hear(self, _: frozenset[str]) -> None:
        with self._news:
            self._read, _folders = stamps_of(self._places)
            self._news.notify_all()

    def catches_up(self) -> bool:
        """Whether it has, in the end, read what there is now."""
        there, _ = stamps_of(self._places)
        with self._news:
            return self._news.wait_for(lambda: self._read == there, PATIENCE)


@pytest.fixture(params=["native", "polling"])
def reader(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Reader]:
    workspace = tmp_path / "workspace"
    reader = Reader(
        WatchedPath(str(workspace / "MEMORY.md"), recursive=False, suffix=".md"),
        WatchedPath(str(workspace / "memory"), suffix=".md"),
        WatchedPath(str(tmp_path / "extra" / "notes")),
        poll=request.param == "polling",
    )
    reader.watcher.start()
    yield reader
    reader.watcher.stop()


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_the_last_state_is_known(
    tmp_path: Path, reader: Reader, seed: int, request: pytest.FixtureRequest
) -> None:
    storm = Storm(tmp_path, random.Random(seed))
    for step in range(STEPS):
        storm.step()
        if step % 10 == 9:
            assert reader.catches_up(), (step, reader.watcher.state())
    assert reader.catches_up()
    assert storm.written > STEPS / 5
    assert reader.watcher.state().mode in request.node.name


class Storm:
    """Writes, deletes and moves files and folders by chance."""

    def __init__(self, base: Path, rng: random.Random) -> None:
        self._base = str(base)
        self._rng = rng
        self.written = 0

    def step(self) -> None:
        act = self._rng.choices(
            [self._write, self._make, self._move, self._delete, self._link], [8, 4, 4, 2, 1]
        )[0]
        act()

    def _path(self) -> str:
        top = self._rng.choice(
            ["workspace/memory", "workspace/memory", "workspace", "extra/notes", "extra", "out"]
        )
        names = self._rng.choices(["a", "b", "c", ".git", "venv"], [5, 5, 5, 1, 1], k=3)
        return os.path.join(self._base, top, *names[: self._rng.randrange(4)])

    def _write(self) -> None:
        name = self._rng.choice(["a.md", "b.md", "MEMORY.md", "c.txt"])
        folder = self._path()
        if self._rng.random() < 0.5:
            self._make(folder)
        if os.path.isdir(folder):
            self.written += 1
            with open(os.path.join(folder, name), "a", encoding="utf-8") as file:
                file.write("the ant\n")

    def _make(self, path: str = "") -> None:
        path = path or self._path()
        around = path
        while not os.path.lexists(around):
            around = os.path.dirname(around)
        if os.path.isdir(around):
            os.makedirs(path, exist_ok=True)

    def _move(self) -> None:
        source, target = self._path(), self._path()
        if os.path.lexists(source) and not os.path.lexists(target):
            parent = os.path.dirname(target)
            if os.path.isdir(parent) and not f"{target}/".startswith(f"{source}/"):
                os.rename(source, target)

    def _delete(self) -> None:
        path = self._path()
        if os.path.islink(path):
            os.unlink(path)
        elif os.path.isdir(path):
            shutil.rmtree(path)

    def _link(self) -> None:
        path = self._path()
        if not os.path.lexists(path) and os.path.isdir(os.path.dirname(path)):
            os.symlink(self._base, path)
