"""Damaged, newer and foreign index files, and full disks: the notes are never touched."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import apsw
import pytest

from commonplace import Memory
from commonplace.errors import IndexUnavailableError
from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.end_to_end.conftest import Sandbox
    from tests.faults.faulty_vfs import FaultyVFS

# These wait for processes, disks and watchers: over a minute in all, for CI.
pytestmark = pytest.mark.slow

# As much as a file may grow; Python itself gets an error, not a signal.
LIMITED = """
import os, resource, sys
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
os.execv(sys.executable, [sys.executable, "-m", "commonplace", *sys.argv[2:]])
"""


@pytest.fixture(autouse=True)
def _notes_stay_as_they_are(sandbox: Sandbox) -> Iterator[None]:
    before = sandbox.notes()
    yield
    after = sandbox.notes()
    assert {path: after[path] for path in before} == before


def cut(share: float) -> Callable[[Path], None]:
    def damage(index: Path) -> None:
        index.write_bytes(index.read_bytes()[: int(index.stat().st_size * share)])

    return damage


def overwrite(start: float, end: float) -> Callable[[Path], None]:
    def damage(index: Path) -> None:
        content = bytearray(index.read_bytes())
        place = slice(int(len(content) * start), int(len(content) * end))
        content[place] = b"\xaa" * len(content[place])
        index.write_bytes(content)

    return damage


def garbage(index: Path) -> None:
    index.write_bytes(b"This is not an index, it is a letter to my aunt.\n" * 2_000)


def foreign(index: Path) -> None:
    index.unlink()
    connection = sqlite3.connect(index)
    with connection:
        connection.execute("CREATE TABLE aunt (letter TEXT)")
        connection.execute("INSERT INTO aunt VALUES ('dear')")
    connection.close()


def words(index: Path) -> None:
    """The words of the keyword index, which nothing but a query by keyword looks at."""
    connection = sqlite3.connect(index)
    sql = "SELECT rootpage FROM sqlite_schema WHERE name LIKE 'fts%data'"
    pages = [page for (page,) in connection.execute(sql)]
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    content = bytearray(index.read_bytes())
    for page in pages:
        content[(page - 1) * size + 200 : page * size] = b"\xaa" * (size - 200)
    index.write_bytes(content)


DAMAGES = {
    "garbage": garbage,
    "foreign": foreign,
    "cut in half": cut(0.5),
    "cut within a page": cut(0.7001),
    "header": overwrite(0, 0.0002),
    "first page": overwrite(0.0005, 0.04),
    "all but the first page": overwrite(0.05, 1),
    "end": overwrite(0.6, 1),
    "words": words,
}


CASES = [
    *((name, ("search", "walrus")) for name in DAMAGES),
    *((name, ("index",)) for name in ("garbage", "cut in half", "end", "words")),
    *((name, ("index", "--force")) for name in ("header", "end", "words")),
]


@pytest.mark.parametrize(("name", "command"), CASES, ids=str)
def test_a_damaged_index_is_set_aside_and_rebuilt(
    sandbox: Sandbox, name: str, command: tuple[str, ...]
) -> None:
    sandbox.write_many(10)
    expected = sandbox.run("search", "walrus").went_well()
    assert expected.count("many/") > 3
    DAMAGES[name](sandbox.index)
    left = sandbox.index.read_bytes()
    ran = sandbox.run(*command)
    ran.went_well()
    if command[0] == "search":
        assert ran.out == expected
    healed = sandbox.run("search", "walrus")
    assert healed.went_well() == expected
    # What the damage was in may not have been looked at before the search.
    said = ran.err or healed.err
    (aside,) = [path for path in sandbox.index.parent.iterdir() if is_aside(path)]
    assert "the index was " in said
    assert f"it was set aside as {aside}" in said
    if "--force" not in command:  # which begins to write
        assert aside.read_bytes() == left
    assert sandbox.run("status", "--deep").code == 0


def is_aside(path: Path) -> bool:
    return ".damaged-" in path.name and not path.name.endswith(("-wal", "-shm"))


def test_an_empty_file_becomes_the_index(sandbox: Sandbox) -> None:
    sandbox.run("index").went_well()
    sandbox.index.write_bytes(b"")
    ran = sandbox.run("search", "walrus")
    assert "2026-10-03.md" in ran.went_well()
    assert ran.err == ""


def test_a_folder_in_place_of_the_index(sandbox: Sandbox) -> None:
    sandbox.run("index").went_well()
    index = sandbox.index
    index.unlink()
    index.mkdir()
    for command in (("search", "walrus"), ("index",)):
        assert str(index) in sandbox.run(*command).failed_well()
    assert list(index.iterdir()) == []


def test_an_index_of_a_newer_version_is_refused_and_left_alone(sandbox: Sandbox) -> None:
    sandbox.run("index").went_well()
    connection = apsw.Connection(str(sandbox.index), vfs=checked_vfs(""))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = sandbox.index.read_bytes()
    for command in (("search", "walrus"), ("index",), ("index", "--force")):
        said = sandbox.run(*command).failed_well()
        assert "a newer version of commonplace wrote the index" in said
        assert "update commonplace" in said
    status = sandbox.run("status")
    assert (status.code, status.err) == (1, "")
    assert status.out.count("a newer version") == 1
    assert "update commonplace" in status.out
    assert "not available" in status.out
    doctor = sandbox.run("doctor", "--quiet")
    assert doctor.code == 1
    assert "update commonplace" in doctor.out
    assert sandbox.index.read_bytes() == before
    assert sandbox.run("get", "MEMORY.md").went_well()


def test_a_disk_without_room_for_an_index(sandbox: Sandbox) -> None:
    sandbox.write_many(40)
    for most in (0, 1_000, 20_000, 60_000, 120_000):
        program = ("-c", LIMITED, str(most))
        assert str(sandbox.state) in sandbox.run("index", program=program).failed_well()
        # Nothing is indexed, so that "no matches" would be a lie.
        assert str(sandbox.state) in sandbox.run("search", "walrus", program=program).failed_well()
    assert "43 added" in sandbox.run("index").went_well()
    assert sandbox.derived() == ["index", "index.chunking", "index.lock"]


def test_a_disk_that_is_full_still_answers_from_the_index(sandbox: Sandbox) -> None:
    sandbox.write_many(20)
    sandbox.run("index").went_well()
    expected = sandbox.run("search", "walrus").went_well()
    program = ("-c", LIMITED, "40000")
    again = sandbox.run("search", "walrus", program=program)
    assert again.went_well() == expected
    assert again.err == ""
    sandbox.run("index", "--force", program=program).failed_well()
    new = sandbox.write("memory/new.md", "A platypus.\n" * 3_000)
    late = sandbox.run("search", "walrus", program=program)
    assert late.went_well() == expected
    assert "1 changed note may not be in this answer as it is now: the index " in late.err
    sandbox.run("index", program=program).failed_well()
    new.unlink()
    ran = sandbox.run("search", "walrus")
    assert ran.went_well() == expected
    assert ran.err == ""
    assert sandbox.run("status", "--deep").code == 0


def test_a_memory_on_a_failing_disk_raises_and_goes_on_when_it_is_well(
    sandbox: Sandbox, faulty_vfs: FaultyVFS, monkeypatch: pytest.MonkeyPatch
) -> None:
    from commonplace_sqlite.store import SqliteStore

    defaults = SqliteStore.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "vfs", faulty_vfs.name)
    sandbox.write_many(25)
    with Memory.open(workspace=sandbox.workspace, env=sandbox.env) as memory:
        faulty_vfs.fail(1, "full", lasting=True)
        for action in (memory.sync, lambda: memory.search("walrus")):
            with pytest.raises(IndexUnavailableError, match="disk is full") as caught:
                action()
            assert caught.value.hint
        assert memory.get("MEMORY.md").total_lines == 3
        assert faulty_vfs.heal()
        expected = memory.search("walrus")
        assert len(expected.hits) == 6
        sandbox.write("memory/new.md", "A platypus.\n")
        faulty_vfs.fail(1, "full", lasting=True)
        late = memory.search("walrus")
        assert (late.hits, late.stale) == (expected.hits, 1)
        assert "the disk is full" in late.notes[-1]
        faulty_vfs.heal()
        assert memory.search("platypus").hits[0].path == "memory/new.md"
        assert memory.status(deep=True).problems == ()
