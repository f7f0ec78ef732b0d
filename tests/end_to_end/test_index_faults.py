"""Disks, clocks, rights and files that misbehave: nothing is lost, and the index is whole after."""

from __future__ import annotations

import os
import time
import unicodedata
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.errors import UnavailableError
from commonplace.index.manager import IndexedMemoryManager
from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Sandbox
    from tests.faults.faulty_vfs import Fault, FaultyVFS
    from tests.faults.index_rows import IndexRows

    Opener = Callable[..., Memory]
    Rights = Callable[[], AbstractContextManager[None]]

# These wait for processes, disks and watchers: over a minute in all, for CI.
pytestmark = pytest.mark.slow


@pytest.fixture
def opener(sandbox: Sandbox) -> Opener:
    return partial(Memory.open, workspace=sandbox.workspace, env=sandbox.env)


@pytest.fixture
def rights_hold(load: Callable[[str], Any]) -> Rights:
    found: Rights = load("faults/rights.py").rights_hold
    return found


@pytest.fixture
def is_whole(sandbox: Sandbox, index_rows: Callable[[Path], IndexRows]) -> Callable[[], None]:
    """Sees that the index is as one made from scratch."""
    numbers = count()

    def check() -> None:
        scratch = sandbox.root / f"scratch{next(numbers)}"
        env = {**sandbox.env, "COMMONPLACE_STATE_DIR": str(scratch)}
        with Memory.open(workspace=sandbox.workspace, env=env) as memory:
            memory.sync()
        (rebuilt,) = (scratch / "memory").glob("*.sqlite")
        unlike = index_rows(sandbox.index).unlike(index_rows(rebuilt))
        assert not unlike, unlike

    return check


@pytest.fixture
def faulty(faulty_vfs: FaultyVFS, monkeypatch: pytest.MonkeyPatch) -> FaultyVFS:
    """The disk of every index that is opened now."""
    defaults = SqliteStore.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "vfs", faulty_vfs.name)
    return faulty_vfs


def places(memory: Memory, query: str) -> set[str]:
    return {hit.path for hit in memory.search(query, max_results=50).hits}


@pytest.mark.parametrize("force", [False, True], ids=["changes", "rebuild and activation"])
@pytest.mark.parametrize("fault", ["full", "io", "short"])
def test_a_disk_that_fails_at_any_write(
    sandbox: Sandbox,
    opener: Opener,
    faulty: FaultyVFS,
    is_whole: Callable[[], None],
    fault: Fault,
    force: bool,
) -> None:
    with opener() as memory:
        memory.sync()
        for at in count(1):
            animal = f"animal{at}x"
            sandbox.write("memory/2026-10-03.md", f"# Friday\n\nMia saw an {animal}.\n")
            faulty.fail(at, fault)
            with suppress(UnavailableError):
                memory.sync(force=force)
            came = faulty.heal()
            assert "MEMORY.md" in places(memory, "staging server")
            assert places(memory, animal) == {"memory/2026-10-03.md"}
            memory.sync()
            assert memory.status(deep=True).problems == ()
            if not came:
                break
        assert at > 5, "nothing much was written"
    is_whole()


@pytest.mark.parametrize(
    "force",
    [
        pytest.param(False, id="changes"),
        pytest.param(True, id="rebuild"),
    ],
)
def test_a_disk_that_fails_for_good_at_any_write(
    sandbox: Sandbox,
    opener: Opener,
    faulty: FaultyVFS,
    is_whole: Callable[[], None],
    force: bool,
) -> None:
    with opener() as memory:
        memory.sync()
    for at in count(1):
        sandbox.write("memory/2026-10-03.md", f"# Friday\n\nMia saw an animal{at}x.\n")
        with opener() as memory:
            faulty.fail(at, "short", lasting=True)
            with suppress(UnavailableError):
                memory.sync(force=force)
            with suppress(UnavailableError):  # what was committed may not be readable any more
                assert "MEMORY.md" in places(memory, "staging server")
        came = faulty.heal()
        with opener() as memory:
            assert places(memory, f"animal{at}x") == {"memory/2026-10-03.md"}
            assert memory.status(deep=True).problems == ()
            memory.sync()
        if not came:
            break
    assert at > 5, "nothing much was written"
    is_whole()


def test_a_clock_that_goes_backwards(
    sandbox: Sandbox,
    opener: Opener,
    is_whole: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offset = 0
    defaults = IndexedMemoryManager.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "clock_ns", lambda: time.time_ns() + offset)
    with opener() as memory:
        memory.sync()
        for hours in (-1, -24, 5, 0, -24 * 365 * 60):
            offset = hours * 3_600 * 10**9
            # Written at once, and again within the tick of the clock, with times put back.
            for animal in ("heron", "otter"):
                sandbox.write("memory/new.md", f"An {animal}.\n")
                assert places(memory, animal) >= {"memory/new.md"}
            assert places(memory, "heron") == set()
            memory.sync(force=hours == 5)
    is_whole()


def test_an_edit_that_keeps_size_and_time(
    sandbox: Sandbox, opener: Opener, is_whole: Callable[[], None]
) -> None:
    note = sandbox.write("memory/new.md", "An aardvark came.\n")
    with opener() as memory:
        memory.sync()
        before = note.stat()
        note.write_text("An anteater came.\n", encoding="utf-8")
        os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
        after = note.stat()
        assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        assert places(memory, "anteater") == {"memory/new.md"}
        assert places(memory, "aardvark") == set()
    is_whole()


@pytest.mark.parametrize("closed", ["memory", "memory/projects", "memory/projects/otter.md"])
def test_what_is_half_readable_is_kept(
    sandbox: Sandbox, opener: Opener, rights_hold: Rights, is_whole: Callable[[], None], closed: str
) -> None:
    target = sandbox.workspace / closed
    with opener() as memory:
        memory.sync()
        mode = target.stat().st_mode
        target.chmod(0)
        try:
            with rights_hold():
                if os.access(target, os.R_OK, effective_ids=True):
                    pytest.skip("this user cannot be refused anything here")
                for force in (False, True):
                    report = memory.sync(force=force)
                    assert (report.removed, report.rebuilt) == (0, False)
                    assert report.failed_roots or report.unreadable
                assert "MEMORY.md" in places(memory, "staging server")
                assert memory.status().files == 3
        finally:
            target.chmod(mode)
        report = memory.sync()
        assert (report.added, report.updated, report.removed) == (0, 0, 0)
        assert places(memory, "otter") == {"memory/projects/otter.md"}
    is_whole()


def test_a_disk_that_is_away_and_comes_back(
    sandbox: Sandbox, opener: Opener, is_whole: Callable[[], None]
) -> None:
    away = sandbox.root / "away"
    with opener() as memory:
        memory.sync()
        for force in (False, True):
            sandbox.workspace.rename(away)
            sandbox.workspace.mkdir()  # where it is mounted
            report = memory.sync(force=force)
            assert (report.removed, report.rebuilt, report.hidden) == (0, False, 3)
            for query in ("walrus", "zebra"):  # an empty answer would say that nothing is known
                with pytest.raises(UnavailableError, match="disk may not be mounted"):
                    memory.search(query)
            sandbox.workspace.rmdir()
            with pytest.raises(UnavailableError, match="No such file"):
                memory.search("walrus")
            away.rename(sandbox.workspace)
            report = memory.sync()
            assert (report.added, report.updated, report.removed) == (0, 0, 0)
            assert places(memory, "walrus") == {"memory/2026-10-03.md"}
    is_whole()


@pytest.mark.parametrize("times", [1, 2, 10_000], ids=["once", "twice", "always"])
def test_a_file_that_changes_while_it_is_read(
    sandbox: Sandbox,
    opener: Opener,
    is_whole: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    times: int,
) -> None:
    note = sandbox.write("memory/new.md", "# Log\n\nplatypus\n")
    read, lines = os.read, count(1)

    def read_and_write(opened: int, size: int) -> bytes:
        data = read(opened, size)
        if os.path.samestat(os.fstat(opened), note.stat()) and (line := next(lines)) <= times:
            with note.open("a", encoding="utf-8") as file:
                file.write(f"line{line}x\n")
        return data

    with opener() as memory:
        monkeypatch.setattr(os, "read", read_and_write)
        memory.sync()
        assert places(memory, "platypus") == {"memory/new.md"}
        memory.sync()
        monkeypatch.undo()
        written = note.read_text(encoding="utf-8").split()[-1]
        assert places(memory, written) == {"memory/new.md"}
        memory.sync()
    is_whole()


NAMES = {
    "newline": ("a\nb.md", "a\n\nb.md", "\n.md"),
    "emoji": ("🦭.md", "👩‍👩‍👧.md", "🏳️‍🌈 flag.md"),
    "twins": (unicodedata.normalize("NFC", "Zoë.md"), unicodedata.normalize("NFD", "Zoë.md")),
    "case twins": ("note.md", "Note.md", "NOTE.md"),
    "spaces": (" .md", "a  b.md", " a.md", "\t.md"),
    "signs": ("#L3.md", "a#L1-L2.md", "*.md", "[x].md", "'\".md", "%00.md", "\\.md", "-.md"),
    "right to left": ("שלום.md", "\u202eold.md"),
    "long": (f"{'x' * 252}.md",),
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_names_that_are_odd(
    sandbox: Sandbox, opener: Opener, is_whole: Callable[[], None], names: tuple[str, ...]
) -> None:
    for number, name in enumerate(names):
        sandbox.write(f"memory/{name}", f"platypus number{number}x\n")
    there = {f"memory/{name}" for name in os.listdir(sandbox.workspace / "memory")}
    if len(there) < 2 + len(names):
        pytest.skip("this disk takes some of these names for the same")
    with opener() as memory:
        assert places(memory, "platypus") == {f"memory/{name}" for name in names}
        for number, name in enumerate(names):
            assert places(memory, f"number{number}x") == {f"memory/{name}"}
            assert memory.get(f"memory/{name}").text == f"platypus number{number}x"
        first = sandbox.workspace / "memory" / names[0]
        first.write_text("echidna\n", encoding="utf-8")
        assert places(memory, "echidna") == {f"memory/{names[0]}"}
        first.unlink()
        assert places(memory, "echidna") == set()
        assert places(memory, "platypus") == {f"memory/{name}" for name in names[1:]}
        memory.sync()
    is_whole()
