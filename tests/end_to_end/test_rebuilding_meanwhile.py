"""A program that stays open answers from an old index, and rebuilds it in the background."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from commonplace import Memory
from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from tests.end_to_end.conftest import Sandbox

# These wait for processes, disks and watchers: over a minute in all, for CI.
pytestmark = pytest.mark.slow

NOTES = 120

# Kills itself when it opens its so manieth note.
AT_A_NOTE = """
import os, runpy, signal, sys
left = int(sys.argv.pop(1))

def watch(event, arguments):
    global left
    if event == "open" and str(arguments[0]).endswith(".md"):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(watch)
sys.argv[0] = "commonplace"
runpy.run_module("commonplace", run_name="__main__", alter_sys=True)
"""

# Files of this version, without a column and an index that the code reads ...
TO_OLDER = """
ALTER TABLE document_1 DROP COLUMN resume;
DROP INDEX chunk_document_1;
CREATE INDEX chunk_document_1 ON chunk_1 (document);
"""

# ... and a release whose schema is one version newer, with the step that adds them. Runs the
# program that its first argument names.
NEXT_VERSION = """
import runpy, sys
from commonplace_sqlite import schema

def add_growth(connection):
    for (build,) in connection.execute("SELECT id FROM build").fetchall():
        connection.execute(schema.of_build(
            "ALTER TABLE document_<n> ADD COLUMN resume NOT NULL DEFAULT ''; "
            "UPDATE document_<n> SET stamp = stamp; "
            "DROP INDEX chunk_document_<n>; "
            "CREATE INDEX chunk_document_<n> ON chunk_<n> (document, ordinal);",
            build,
        ))

schema.MIGRATIONS = (*schema.MIGRATIONS, add_growth)
schema.VERSION += 1
program = sys.argv.pop(1)
sys.argv[0] = program
if program == "commonplace":
    runpy.run_module(program, run_name="__main__", alter_sys=True)
else:
    runpy.run_path(program, run_name="__main__")
"""


@pytest.fixture
def filled(sandbox: Sandbox) -> Sandbox:
    sandbox.write_many(NOTES)
    sandbox.run("index").went_well()
    return sandbox


def tamper(index: Path, sql: str) -> None:
    connection = apsw.Connection(str(index), vfs=checked_vfs(""))
    connection.execute(sql)
    connection.close()


def version_of(index: Path) -> int:
    connection = apsw.Connection(str(index), vfs=checked_vfs(""))
    # Closing must not write the log back: the next process is to find it as it was left.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try:
        version: int = connection.pragma("user_version")
        return version
    finally:
        connection.close()


def test_searches_go_on_while_it_is_rebuilt_behind_them(filled: Sandbox) -> None:
    tamper(filled.index, "UPDATE build SET identity = replace(identity, 'keyword-', 'keyword-0.')")
    done = threading.Event()
    with Memory.open(
        workspace=filled.workspace, env=filled.env, on_sync=lambda _: done.set()
    ) as memory:
        first = memory.search("walrus", max_results=200)
        assert len(first.hits) > NOTES / 2
        # How many are done in the time that a search has is this machine's affair.
        assert 0 < first.stale <= NOTES + 3
        assert first.notes[0].startswith("rebuilding the index (")
        assert done.wait(60)
        last = memory.search("walrus", max_results=200)
        assert [hit.citation for hit in last.hits] == [hit.citation for hit in first.hits]
        assert (last.stale, last.notes) == (0, ())
        assert memory.status(deep=True).problems == ()


def test_a_rebuild_that_is_killed_is_continued(filled: Sandbox) -> None:
    before = filled.notes()
    answer = filled.run("search", "walrus").went_well()
    tamper(filled.index, "DELETE FROM document_1 WHERE path LIKE '%n0001.md'")
    for moment in (3, 100):
        killed = filled.run("doctor", "--fix", program=("-c", AT_A_NOTE, str(moment)))
        assert killed.code == -signal.SIGKILL
    fixed = json.loads(filled.run("doctor", "--fix", "--json").went_well())
    assert fixed["ok"] is True
    assert [one["name"] for one in fixed["fixes"]] == ["index"]
    assert filled.run("search", "walrus").went_well() == answer
    assert filled.notes() == before
    assert filled.derived() == ["index", "index.chunking", "index.lock"]


def test_a_file_of_an_older_schema_is_migrated_whenever_that_is_killed(filled: Sandbox) -> None:
    answer = filled.run("search", "walrus").went_well()
    index = filled.index
    tamper(index, TO_OLDER)
    older = index.read_bytes()
    counts = filled.root / "counts.json"
    killable = str(Path(__file__).parent.parent / "faults" / "killable.py")
    plain = ("-c", NEXT_VERSION, "commonplace")
    next_version = version_of(index) + 1
    left_older = 0
    for moment in range(1, 100):
        for suffix in ("-wal", "-shm"):
            Path(f"{index}{suffix}").unlink(missing_ok=True)
        index.write_bytes(older)
        program = ("-c", NEXT_VERSION, killable, "write", str(moment), str(counts))
        ran = filled.run("search", "walrus", program=program)
        assert ran.code in (0, -signal.SIGKILL), ran.err
        left_older += version_of(index) < next_version
        assert filled.run("search", "walrus", program=plain).went_well() == answer
        assert version_of(index) == next_version
        deep = json.loads(filled.run("status", "--deep", "--json", program=plain).went_well())
        assert (deep["problems"], deep["files"]) == ([], NOTES + 3)
        assert not list(index.parent.glob("*.damaged-*"))
        if ran.code == 0:
            break
    assert ran.code == 0, "never done"
    assert left_older > 3, "it was hardly ever killed before it was done"
