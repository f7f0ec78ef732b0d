"""Commands as they end with a QMD of many moods."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import DeadlineExceededError, IndexBusyError, UnavailableError
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.resilience.lock import Lease
from commonplace_qmd.engine.values import (
    QmdError,
    QmdStatus,
    QmdTimeoutError,
    Row,
    UnknownCollectionError,
    UpdateCounts,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.backends.qmd.engine.conftest import House

    from commonplace_qmd.engine.client import Qmd

THROWN = """file:///x/dist/store.js:9
    this.no.such(thing);
            ^

TypeError: no such thing
    at file:///x/dist/store.js:9:14
"""
HIT = """[
  {
    "docid": "#a381a4",
    "score": 0,
    "file": "qmd://mem/dup 1.md",
    "line": 3,
    "title": "Dup",
    "snippet": "@@ -2,3 @@ (1 before, 0 after)\\n\\nzebra duplicate body\\n"
  }
]
"""
ROW = Row("mem", "dup 1.md", 0.0, 3)
NOT_FOUND = "Collection not found: mem\n"
TRACE = (
    "file:///x/qmd.js:12\n    throw e\nSqliteError: database is locked\n    code: 'SQLITE_BUSY'\n"
)
STATUS = """QMD Status

Index: /x/index.sqlite
Size:  3.9 MB

Documents
  Total:    1000 files indexed
  Vectors:  12 embedded
  Pending:  7 need embedding (run 'qmd embed')
  Updated:  2m ago

Collections
  mem (qmd://mem/)
    Pattern:  **/*.md
    Files:    5 (updated 2m ago)
"""
UPDATED = """Updating 2 collection(s)...

[1/2] mem (**/*.md)
Collection: /x/memory (**/*.md)

Indexed: 20 new, 1 updated, 2 unchanged, 3 removed
Cleaned up 1 orphaned content hash(es)

[2/2] root (MEMORY.md)
Collection: /x (MEMORY.md)

Indexed: 1 new, 0 updated, 5 unchanged, 0 removed

✓ All collections updated.

Run 'qmd embed' to update embeddings (19 unique hashes need vectors)
"""


def search(qmd: Qmd, deadline: Deadline, **options: Any) -> list[Row]:
    return qmd.search(
        "search", "zebra", **{"collections": ["mem"], "limit": 6, "deadline": deadline, **options}
    )


def test_a_search_is_asked_for_as_qmd_can_read_it(house: House, long: Deadline) -> None:
    house.behave(search={"stdout": HIT})
    qmd = house.qmd()
    assert qmd.search(
        "search", '-x "a" --json', collections=["mem", "root"], limit=60, deadline=long
    ) == [ROW]
    (call,) = house.calls()
    wanted = ["search", "--json", "-n", "300", "-c", "mem", "-c", "root", "--", '-x "a" --json']
    assert call["argv"] == wanted


def test_everything_of_qmds_is_in_its_home(house: House, long: Deadline) -> None:
    house.behave(search={"stdout": "[]"})
    search(house.qmd(), long)
    (call,) = house.calls()
    assert call["cwd"] == house.home.cwd
    env = call["env"]
    assert env["QMD_CONFIG_DIR"] == house.home.config_dir
    assert env["INDEX_PATH"] == house.home.index_path
    assert env["XDG_CACHE_HOME"] == house.home.cache_home
    assert env["QMD_SQLITE_BUSY_TIMEOUT"] == "2000"
    assert env["NO_COLOR"] == "1"
    assert env["PWD"] == house.home.cwd
    assert env["HF_ENDPOINT"].startswith("http://127.0.0.1:")
    assert "OPENAI_API_KEY" not in env


def test_rows_are_cut_to_what_was_asked_for(house: House, long: Deadline) -> None:
    house.behave(search={"stdout": HIT.replace("[", "[" + HIT.strip()[1:-1] + ",", 1)})
    assert search(house.qmd(), long, limit=1) == [ROW]


@pytest.mark.parametrize(
    ("indexed", "asked"),
    [
        (["mem", "mem"], "6"),
        (["mem", "root"], "6"),
        (["mem"], "6"),
        (["mem", "root", "else"], "200"),
        ([], "200"),
    ],
)
def test_more_rows_are_asked_for_where_others_could_crowd_them_out(
    house: House, long: Deadline, indexed: list[str], asked: str
) -> None:
    house.behave(search={"stdout": "[]"})
    house.indexed(*indexed)
    search(house.qmd(), long, collections=["mem", "root"])
    assert house.calls()[0]["argv"][3] == asked


def test_a_row_of_another_collection_is_left_out(house: House, long: Deadline) -> None:
    house.behave(search={"stdout": HIT})
    assert search(house.qmd(), long, collections=["root"]) == []


def test_no_rows_asked_for_are_nothing_found_without_running(house: House, long: Deadline) -> None:
    assert search(house.qmd(), long, limit=0) == []
    assert house.calls() == []


def test_where_no_collection_is_named_all_may_answer(house: House, long: Deadline) -> None:
    house.behave(search={"stdout": HIT})
    house.indexed("mem", "root")
    assert search(house.qmd(), long, collections=()) == [ROW]
    assert house.calls()[0]["argv"] == ["search", "--json", "-n", "6", "--", "zebra"]


def test_an_unknown_collection_has_an_error_of_its_own(house: House, long: Deadline) -> None:
    house.behave(search={"stderr": NOT_FOUND, "code": 1})
    with pytest.raises(UnknownCollectionError) as caught:
        search(house.qmd(), long)
    assert caught.value.collections == ("mem",)
    assert caught.value.reason == "unknown_collection"


def test_a_hang_is_a_timeout_and_ends(house: House) -> None:
    house.behave(search={"do": "hang"})
    with pytest.raises(QmdTimeoutError) as caught:
        search(house.qmd(), house.until_started())
    assert isinstance(caught.value, DeadlineExceededError)
    assert caught.value.reason == "timeout"


def test_no_time_left_runs_nothing(house: House) -> None:
    with pytest.raises(QmdTimeoutError):
        search(house.qmd(), Deadline.after(0.0))
    assert house.calls() == []


@pytest.mark.parametrize(
    ("script", "reason", "words"),
    [
        ({"do": "segv"}, "wrong_runtime", "older than 22"),
        ({"code": 139}, "wrong_runtime", "older than 22"),
        ({"do": "die", "stdout": HIT[:50]}, "crash", "by signal 9"),
        ({"code": 1, "stderr": "Error: kaputt\n"}, "crash", "with status 1: Error: kaputt"),
        ({"code": 1, "stderr": THROWN}, "crash", "with status 1: TypeError: no such thing$"),
        ({"code": 1, "stdout": HIT}, "crash", "with status 1"),
        ({"code": 1, "stderr": "SqliteError: file is not a database"}, "crash", "is damaged"),
        ({"code": 1, "stderr": TRACE}, "locked", "locked"),
        ({"code": 0}, "bad_json", "nothing"),
        ({"stdout": HIT[:-5]}, "bad_json", "no list"),
        ({"stdout": "Usage: qmd ..."}, "bad_json", "Usage"),
        ({"do": "flood"}, "output_cap", "too much"),
    ],
)
def test_every_failure_is_an_error_and_never_nothing(
    house: House, long: Deadline, script: dict[str, Any], reason: str, words: str
) -> None:
    house.behave(search=script)
    with pytest.raises(QmdError, match=words) as caught:
        search(house.qmd(), long)
    assert caught.value.reason == reason
    assert isinstance(caught.value, UnavailableError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "said",
    [
        "Error: 401 Incorrect API key provided: sk-proj-abcdefgh12345",
        "Error: connect http://me:abcdefgh12345@proxy.test:8080",
        "GET https://hub.test/model?key=abcdefgh12345\nError: not there",
    ],
)
@pytest.mark.parametrize("stream", ["stderr", "stdout"])
def test_no_key_that_it_quotes_is_shown(
    house: House, long: Deadline, said: str, stream: str
) -> None:
    house.behave(search={"code": 1 if stream == "stderr" else 0, stream: said})
    with pytest.raises(QmdError) as caught:
        search(house.qmd(), long)
    assert "abcdefgh12345" not in str(caught.value) + caught.value.output
    if stream == "stderr":
        assert "***" in caught.value.output


def test_the_token_that_models_are_fetched_with_is_not_passed_on(
    house: House, long: Deadline
) -> None:
    house.env["HF_TOKEN"] = "plain words of mine"
    house.behave(embed={"stdout": "Done!"})
    house.has_models("hf_ggml-org_embeddinggemma-300M-Q8_0.gguf")
    house.qmd().embed(deadline=long)
    assert "plain words of mine" not in house.calls()[0]["env"].values()


def test_a_launcher_that_leaves_a_child_behind_still_answers(house: House, long: Deadline) -> None:
    house.behave(search={"do": "orphan", "stdout": HIT})
    assert search(house.qmd(), long) == [ROW]


def test_a_program_that_was_removed_is_looked_for_again(house: House, long: Deadline) -> None:
    house.behave(search={"stdout": "[]"})
    qmd = house.qmd()
    search(qmd, long)
    house.command.unlink()
    with pytest.raises(QmdError) as caught:
        search(qmd, long)
    assert caught.value.reason == "not_installed"
    assert not qmd.probe().available


def test_a_program_that_cannot_be_run_is_reported(house: House, long: Deadline) -> None:
    house.command.write_text("#!/nowhere/node\n")
    with pytest.raises(QmdError, match="cannot be started") as caught:
        search(house.qmd(), long)
    assert caught.value.reason == "not_installed"


def test_probing_runs_nothing(house: House) -> None:
    assert house.qmd().probe().available
    assert house.calls() == []


def test_status_is_read(house: House, long: Deadline) -> None:
    house.behave(status={"stdout": STATUS}, **{"--version": {"stdout": "qmd 2.8.3 (facd35e)\n"}})
    assert house.qmd().status(deadline=long) == QmdStatus("2.8.3", 1000, 12, 7)


def test_a_version_is_asked_for_once(house: House, long: Deadline) -> None:
    house.behave(search={"stdout": "[]"}, **{"--version": {"stdout": "something else\n"}})
    qmd = house.qmd(resident=False)
    assert search(qmd, long) == []
    assert search(qmd, long) == []
    asked = [call["argv"][0] for call in house.notes("calls.jsonl")]
    assert asked == ["--version", "search", "search"]


def test_a_version_that_is_too_old_is_not_asked_for_more(house: House, long: Deadline) -> None:
    house.behave(**{"--version": {"stdout": "qmd 2.1.0\n"}})
    qmd = house.qmd(resident=False)
    for _ in range(2):
        with pytest.raises(QmdError) as caught:
            search(qmd, long)
        assert caught.value.reason == "wrong_version"
    assert house.calls() == []


def test_a_status_that_says_nothing_is_an_error(house: House, long: Deadline) -> None:
    house.behave(status={"stdout": "fine\n"})
    with pytest.raises(QmdError) as caught:
        house.qmd().status(deadline=long)
    assert caught.value.reason == "bad_json"


def test_an_update_counts_over_all_collections(house: House, long: Deadline) -> None:
    house.behave(update={"stdout": UPDATED})
    assert house.qmd().update(deadline=long) == UpdateCounts(21, 1, 7, 3, 19)


def test_an_update_of_no_collections_counts_nothing(house: House, long: Deadline) -> None:
    house.behave(update={"stdout": "No collections found. Run 'qmd collection add .'\n"})
    assert house.qmd().update(deadline=long) == UpdateCounts(0, 0, 0, 0, 0)


def test_an_update_that_does_not_say_what_it_did_is_an_error(house: House, long: Deadline) -> None:
    house.behave(update={"stdout": "ok\n"})
    with pytest.raises(QmdError, match="no counts"):
        house.qmd().update(deadline=long)


def test_the_update_of_a_killed_process_keeps_others_from_writing(
    house: House, tmp_path: Path, gone: Callable[[int], None]
) -> None:
    house.behave(update={"do": "hang"})
    lock = str(tmp_path / "writer.lock")
    program = """
import os, sys
from commonplace.resilience.deadline import NEVER
from commonplace.resilience.lock import Lease
from commonplace_qmd.engine.client import Qmd
from commonplace_qmd.engine.values import QmdHome
lease = Lease(sys.argv[1])
with lease.held(0):
    qmd = Qmd(sys.argv[2], QmdHome(*sys.argv[3:]), env=os.environ)
    qmd.update(deadline=NEVER, holding=[lease.descriptor])
"""
    argv = [sys.executable, "-c", program, lock, str(house.command), *house.home]
    with subprocess.Popen(argv) as ours:
        while not house.notes("started"):
            with suppress(subprocess.TimeoutExpired):
                ours.wait(timeout=0.01)
        ours.kill()
    (left,) = house.notes("started")
    with pytest.raises(IndexBusyError), Lease(lock).held(0):
        pass
    os.kill(left, 9)
    gone(left)
    with Lease(lock).held(60):
        pass


def test_reading_is_free_during_an_update(house: House, long: Deadline) -> None:
    house.behave(search={"stdout": "[]"}, update={"do": "hang"})
    qmd = house.qmd()
    errors: list[str] = []

    def update() -> None:
        try:
            qmd.update(deadline=NEVER)
        except QmdError as error:
            errors.append(error.reason)

    thread = threading.Thread(target=update)
    thread.start()
    while not house.notes("started"):
        thread.join(0.01)
    assert search(qmd, long) == []
    qmd.close()
    thread.join()
    assert errors == ["closed"]


def test_after_closing_nothing_runs(house: House, long: Deadline) -> None:
    qmd = house.qmd()
    qmd.close()
    qmd.close()
    with pytest.raises(QmdError) as caught:
        search(qmd, long)
    assert caught.value.reason == "closed"
    assert house.calls() == []


def test_embedding_needs_its_model_and_never_fetches_it(house: House, long: Deadline) -> None:
    house.behave(embed={"stdout": "Done!"})
    with pytest.raises(QmdError) as caught:
        house.qmd().embed(deadline=long)
    assert caught.value.reason == "no_models"
    assert house.calls() == []
    house.has_models("hf_ggml-org_embeddinggemma-300M-Q8_0.gguf")
    house.qmd().embed(deadline=long)
    assert house.calls()[0]["env"]["HF_ENDPOINT"].startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Another embed process is already running. Skipping.\n", "locked"),
        ("✓ Done! Embedded 3 chunks\n⚠ 2 chunks still failed after retries\n", "crash"),
    ],
)
def test_an_embedding_that_only_looks_done_is_an_error(
    house: House, long: Deadline, said: str, reason: str
) -> None:
    house.has_models("embeddinggemma-300M-Q8_0.gguf")
    house.behave(embed={"stdout": said})
    with pytest.raises(QmdError) as caught:
        house.qmd().embed(deadline=long)
    assert caught.value.reason == reason
