"""No link is followed and nothing irregular is opened, by either way of opening."""

from __future__ import annotations

import os
import socket
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import PathNotAllowedError
from commonplace.files import reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and kinds of POSIX")


@pytest.fixture(params=["stepwise", "compared"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_STEPWISE", request.param == "stepwise")


@pytest.fixture
def base(workspace: Path, plant: Callable[..., None]) -> Path:
    plant("memory/a.md", "memory/deep/er/b.md", "../outside/a.md", "../outside/er/b.md")
    return workspace


def content(base: Path, path: str) -> str:
    opened = reading.open_below(str(base), path.split("/"))
    with open(opened, encoding="utf-8") as stream:
        return stream.read()


def test_regular_files_are_opened(base: Path) -> None:
    assert content(base, "memory/a.md") == "memory/a.md"
    assert content(base, "memory/deep/er/b.md") == "memory/deep/er/b.md"
    assert content(base / "memory", "a.md") == "memory/a.md"


def test_the_base_may_be_behind_links(base: Path) -> None:
    (base.parent.parent / "link").symlink_to(base.parent)
    assert content(base.parent.parent / "link/ws", "memory/a.md") == "memory/a.md"


@pytest.mark.parametrize(
    "path", ["memory/none.md", "memory/none/a.md", "none/a.md", "memory/deep/none.md"]
)
def test_what_is_not_there_is_not_found(base: Path, path: str) -> None:
    with pytest.raises(FileNotFoundError):
        content(base, path)


@pytest.mark.parametrize(
    "path",
    [
        "memory/file.md",
        "memory/link/a.md",
        "memory/link/none.md",
        "memory/link/er/b.md",
        "memory/inside/er/b.md",
        "memory/dangling.md",
        "memory/loop/a.md",
        "memory/self.md",
        "memory/deep",
        "memory/a.md/below.md",
        "memory/pipe.md",
        "memory/socket.md",
        "memory/nul\0.md",
        "memory/lone\ud800.md",
        "memory/" + "x" * 300 + ".md",
    ],
)
def test_links_and_what_is_not_a_file_are_refused(
    base: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = base / "memory"
    (memory / "file.md").symlink_to("a.md")
    (memory / "link").symlink_to("../../outside")
    (memory / "inside").symlink_to("deep")
    (memory / "dangling.md").symlink_to("nowhere.md")
    (memory / "loop").symlink_to(".")
    (memory / "self.md").symlink_to("self.md")
    os.mkfifo(memory / "pipe.md")
    monkeypatch.chdir(memory)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        with pytest.raises(PathNotAllowedError):
            content(base, path)


def test_devices_are_refused_unopened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = os.open

    def watched(path: str, *args: int, **kwargs: int) -> int:
        opened.append(path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", watched)
    with pytest.raises(PathNotAllowedError):
        reading.open_below("/", ["dev", "null"])
    assert not {"null", "/dev/null"} & set(opened)


def test_no_parts_are_no_file(base: Path) -> None:
    with pytest.raises(PathNotAllowedError):
        reading.open_below(str(base), [])


class Swap:
    """Puts a link where a folder or a file is, just before the ``at``-th opening."""

    def __init__(self, victim: Path, target: Path, at: int, *, back: bool) -> None:
        self._victim = victim
        self._aside = victim.with_name("aside")
        self._target = target
        self._countdown = at
        self._back = back
        self._open = os.open

    def __call__(self, path: str, flags: int, *, dir_fd: int | None = None) -> int:
        self._countdown -= 1
        if self._countdown != 0:
            return self._open(path, flags, dir_fd=dir_fd)
        self._victim.rename(self._aside)
        self._victim.symlink_to(self._target)
        try:
            return self._open(path, flags, dir_fd=dir_fd)
        finally:
            if self._back:
                self._victim.unlink()
                self._aside.rename(self._victim)


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("back", [True, False])
@pytest.mark.parametrize(
    ("victim", "target"), [("memory/deep", "outside"), ("memory/deep/er/b.md", "outside/er/b.md")]
)
def test_a_link_put_there_in_between_is_not_followed(
    base: Path, monkeypatch: pytest.MonkeyPatch, at: int, back: bool, victim: str, target: str
) -> None:
    swap = Swap(base / victim, base.parent / target, at, back=back)
    monkeypatch.setattr(os, "open", swap)
    try:
        opened = reading.open_below(str(base), ["memory", "deep", "er", "b.md"])
    except (PathNotAllowedError, FileNotFoundError):
        return
    monkeypatch.undo()
    with open(opened, encoding="utf-8") as stream:
        assert stream.read() == "memory/deep/er/b.md"


def test_racing_a_thread_that_swaps_a_folder_for_a_link(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_STEPWISE", True)  # the other way does not promise this
    folder, aside, link = base / "memory/deep", base / "memory/aside", base / "memory/link"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            folder.rename(aside)
            folder.symlink_to("../../outside")
            folder.rename(link)
            aside.rename(folder)
            link.unlink()

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        read = refused = 0
        for _ in range(2_000):
            try:
                text = content(base, "memory/deep/er/b.md")
            except (PathNotAllowedError, FileNotFoundError):
                refused += 1
            else:
                read += 1
                assert text == "memory/deep/er/b.md"
            if read > 200 and refused > 200:
                break
    finally:
        stop.set()
        swapper.join()
    assert read + refused > 0
