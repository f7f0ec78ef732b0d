"""Indexing that is killed, interrupted, or done twice at once loses nothing and needs no repair."""

from __future__ import annotations

import json
import random
import signal
from typing import TYPE_CHECKING

import apsw
import pytest

from commonplace.model.search import KeywordQuery, Where
from commonplace.resilience.deadline import NEVER
from commonplace_sqlite.schema import checked_vfs
from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.end_to_end.conftest import Sandbox

    from commonplace.model.documents import StoredDocument
    from commonplace.model.search import StoredChunk

# These wait for processes, disks and watchers: over a minute in all, for CI.
pytestmark = pytest.mark.slow

NOTES = 300

# Sends itself a signal when it opens its so manieth note: between two, before a batch, after one.
AT_A_NOTE = """
import os, runpy, sys
number, left = int(sys.argv.pop(1)), int(sys.argv.pop(1))

def watch(event, arguments):
    global left
    if event == "open" and str(arguments[0]).endswith(".md"):
        left -= 1
        if not left:
            os.kill(os.getpid(), number)

sys.addaudithook(watch)
sys.argv[0] = "commonplace"
runpy.run_module("commonplace", run_name="__main__", alter_sys=True)
"""

# Kills itself in place of its so manieth write to a file of SQLite's: within a transaction, between
# two, or while the log is written back.
AT_A_WRITE = """
import os, runpy, signal, sys
import apsw
left, usual = int(sys.argv.pop(1)), apsw.vfs_names()[0]

class File(apsw.VFSFile):
    def __init__(self, name, flags):
        super().__init__(usual, name, flags)

    def xWrite(self, data, offset):
        global left
        left -= 1
        if not left:
            super().xWrite(bytes(data)[: len(bytes(data)) // 2], offset)
            os.kill(os.getpid(), signal.SIGKILL)
        super().xWrite(data, offset)

class Disk(apsw.VFS):
    def __init__(self):
        super().__init__("disk", usual, makedefault=True)

    def xOpen(self, name, flags):
        return File(name, flags)

disk = Disk()
sys.argv[0] = "commonplace"
try:
    runpy.run_module("commonplace", run_name="__main__", alter_sys=True)
finally:
    print("writes left:", left, file=sys.stderr)
"""


@pytest.fixture(autouse=True)
def _notes_stay_as_they_are(sandbox: Sandbox) -> Iterator[None]:
    sandbox.write_many(NOTES)
    before = sandbox.notes()
    yield
    assert sandbox.notes() == before


def rows(index: Path) -> tuple[list[StoredDocument], list[StoredChunk]]:
    """All that an index holds: its documents, and its chunks with their scores for a word."""
    store = SqliteStore(str(index))
    try:
        assert store.health(deep=True).problems == ()
        assert [build.state for build in store.builds()] == ["live"]
        # The stem of one word stands beside it: one of the indexes is by words as they are written.
        query = KeywordQuery(should=("walrus", "walru", "team", "otter"))
        found = store.keyword(query, where=Where(), limit=10_000, deadline=NEVER).found
        assert len(found) == store.health().chunks
        return (
            sorted(store.documents()),
            sorted(hit.chunk._replace(id=f"{hit.score:.6f}") for hit in found),
        )
    finally:
        store.close()


def rows_from_scratch(sandbox: Sandbox) -> tuple[list[StoredDocument], list[StoredChunk]]:
    whole = sandbox.root / "whole"
    sandbox.run("index", COMMONPLACE_STATE_DIR=str(whole)).went_well()
    (index,) = whole.glob("memory/*.sqlite")
    return rows(index)


def goes_on(sandbox: Sandbox) -> None:
    """A search needs no repair by hand; the next run makes what one from scratch makes."""
    search = sandbox.run("search", "walrus", "-n", "20")
    assert search.went_well().count("memory/many/") == 20
    sandbox.run("index").went_well()
    assert rows(sandbox.index) == rows_from_scratch(sandbox)
    assert sandbox.derived() == ["index", "index.chunking", "index.lock"]


def moments(seed: int, most: int, count: int) -> list[int]:
    return [1, *sorted(random.Random(seed).sample(range(2, most), count))]


@pytest.mark.parametrize("moment", moments(1, NOTES, 3))
def test_killed_at_a_note(sandbox: Sandbox, moment: int) -> None:
    program = ("-c", AT_A_NOTE, str(int(signal.SIGKILL)), str(moment))
    assert sandbox.run("index", program=program).code == -signal.SIGKILL
    goes_on(sandbox)


@pytest.mark.parametrize("moment", moments(2, 60, 4))
def test_killed_in_the_middle_of_a_write(sandbox: Sandbox, moment: int) -> None:
    ran = sandbox.run("index", program=("-c", AT_A_WRITE, str(moment)))
    assert ran.code == -signal.SIGKILL, ran.err
    goes_on(sandbox)


def cut_short(sandbox: Sandbox, moment: int, *arguments: str) -> None:
    program = ("-c", AT_A_NOTE, str(int(signal.SIGKILL)), str(moment))
    assert sandbox.run(*arguments, program=program).code == -signal.SIGKILL


def test_killed_during_a_rebuild(sandbox: Sandbox) -> None:
    sandbox.run("index").went_well()
    before = sandbox.run("search", "walrus").went_well()
    for moment in (5, 250, 30):
        cut_short(sandbox, moment, "index", "--force")
        again = sandbox.run("search", "walrus")
        assert again.went_well() == before
        assert again.err == ""
    report = json.loads(sandbox.run("index", "--force", "--json").went_well())
    assert report["rebuilt"] is True
    assert 0 < report["filesRead"] < NOTES / 2, "begun again"
    goes_on(sandbox)


@pytest.mark.parametrize("config", ["{profile: 'compat'}", "{}"], ids=["tokenizer", "chunker"])
def test_killed_while_a_setting_rebuilds_all(sandbox: Sandbox, config: str) -> None:
    sandbox.run("index").went_well()
    file = sandbox.root / "config.json5"
    chunking = "{strategy: 'lines'}"
    file.write_text(f"{{memory: {{search: {{ranking: {config}, chunking: {chunking}}}}}}}")
    sandbox.env |= {"COMMONPLACE_CONFIG": str(file)}
    cut_short(sandbox, 250, "index")
    if config == "{}":
        meanwhile = sandbox.run("search", "walrus", "--json")
        assert len(json.loads(meanwhile.went_well())["results"]) == 6
        assert 0 < json.loads(meanwhile.out)["stale"] < NOTES
        assert "rebuilding the index (" in meanwhile.out
    report = json.loads(sandbox.run("index", "--json").went_well())
    assert report["rebuilt"] is (config != "{}")
    assert 0 < report["filesRead"] < NOTES / 2, "begun again"
    goes_on(sandbox)


def test_killed_while_an_index_of_an_older_format_is_rebuilt(sandbox: Sandbox) -> None:
    sandbox.run("index").went_well()
    before = sandbox.run("search", "walrus").went_well()
    connection = apsw.Connection(str(sandbox.index), vfs=checked_vfs(""))
    connection.execute("UPDATE build SET identity = replace(identity, 'keyword-', 'keyword-0.')")
    connection.close()
    cut_short(sandbox, 250, "index")
    meanwhile = sandbox.run("search", "walrus")
    assert meanwhile.went_well() == before
    assert "rebuilding the index (" in meanwhile.err
    assert "rebuilding the index (" in sandbox.run("status").went_well()
    report = json.loads(sandbox.run("index", "--json").went_well())
    assert report["rebuilt"] is True
    assert 0 < report["filesRead"] < NOTES / 2, "begun again"
    goes_on(sandbox)


@pytest.mark.parametrize("moment", moments(3, 60, 3))
def test_killed_in_the_middle_of_a_write_of_a_rebuild(sandbox: Sandbox, moment: int) -> None:
    sandbox.run("index").went_well()
    before = sandbox.run("search", "walrus").went_well()
    ran = sandbox.run("index", "--force", program=("-c", AT_A_WRITE, str(moment)))
    assert ran.code == -signal.SIGKILL, ran.err
    again = sandbox.run("search", "walrus")
    assert (again.went_well(), again.err) == (before, "")
    sandbox.run("index", "--force").went_well()
    goes_on(sandbox)


@pytest.mark.parametrize("moment", [1, 150, NOTES])
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["first", "again"])
def test_interrupted_by_the_keyboard(sandbox: Sandbox, moment: int, force: tuple[str, ...]) -> None:
    if force:
        sandbox.run("index").went_well()
    program = ("-c", AT_A_NOTE, str(int(signal.SIGINT)), str(moment))
    ran = sandbox.run("index", *force, program=program)
    assert (ran.code, ran.out) == (130, "")
    assert ran.err == "commonplace: interrupted; nothing is lost, the same command continues\n"
    sandbox.run("index", *force).went_well()
    goes_on(sandbox)


def test_what_a_rebuild_left_behind_is_kept_for_a_day(sandbox: Sandbox) -> None:
    sandbox.run("index").went_well()
    program = ("-c", AT_A_NOTE, str(int(signal.SIGINT)), "250")
    assert sandbox.run("index", "--force", program=program).code == 130
    new = sandbox.write("memory/new.md", "A new walrus.\n")
    assert "1 added" in sandbox.run("index").went_well()
    store = SqliteStore(str(sandbox.index))
    assert [build.state for build in store.builds()] == ["live", "filling"]
    store.close()
    connection = apsw.Connection(str(sandbox.index), vfs=checked_vfs(""))
    connection.execute("UPDATE build SET identity = replace(identity, ' forced=', ' forced=1')")
    connection.close()
    sandbox.write("memory/new.md", "A newer walrus.\n")
    assert "1 updated" in sandbox.run("index").went_well()
    goes_on(sandbox)
    new.unlink()


def test_two_at_once_do_the_work_of_one(sandbox: Sandbox) -> None:
    running = [sandbox.start("index") for _ in range(2)]
    said = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    assert [err for _, err in said] == ["", ""]
    goes_on(sandbox)


def test_a_search_beside_a_writer_answers_and_says_what_is_missing(sandbox: Sandbox) -> None:
    sandbox.run("index").went_well()
    writer = SqliteStore(str(sandbox.index))
    with writer.writer(wait=0):
        before = sandbox.run("search", "walrus")
        assert before.went_well().count("memory/many/") == 6
        assert before.err == ""
        new = sandbox.write("memory/new.md", "A platypus.\n")
        late = sandbox.run("search", "platypus")
        assert "no matches" in late.err + late.went_well()
        assert "1 changed note may not be in this answer as it is now: process " in late.err
        assert "writing the index" in late.err
    writer.close()
    assert "new.md" in sandbox.run("search", "platypus").went_well()
    new.unlink()
