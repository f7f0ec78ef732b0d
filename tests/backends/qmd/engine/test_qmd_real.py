"""QMD itself, as npm installs it: what the played one is taken from must still hold."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import DeclinedError
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.resilience.lock import Lease
from commonplace_qmd.engine.commands import Runs, run
from commonplace_qmd.engine.installation import environment, locate
from commonplace_qmd.engine.values import (
    Line,
    QmdError,
    QmdTimeoutError,
    Row,
    UnknownCollectionError,
    UpdateCounts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.backends.qmd.engine.conftest import House

    from commonplace_qmd.engine.client import Qmd

pytestmark = pytest.mark.qmd

NAMES = [
    "Mixed Case Name.md",
    "under_score_file.md",
    "v1.2.3-notes.md",
    "a&b (copy) [x].md",
    "100%25.md",
    "emoji-\N{ZEBRA FACE}.md",
    "日本語.md",
    "sub folder/deep.md",
    unicodedata.normalize("NFD", "café.md"),
]


class Real:
    """A home with notes in two collections."""

    def __init__(self, house: House, command: str) -> None:
        self.house = house
        house.command = Path(command)
        self.notes = house.root / "notes"
        self.write("mem/router.md", "# Router\n\nzebra\nThe router has VLAN 10.\n")
        self.write("mem/thai.md", "# Trip\n\nวันนี้มีประชุมที่กรุงเทพ\n\nहिन्दी தமிழ்\n")
        self.write("mem/menu.md", "# Menu\n\nLunch at the café.\n")
        self.write("root/MEMORY.md", "# Memory\n\nThe spare key is with Ana.\n")
        self.configure("mem", "root")

    def write(self, name: str, text: str) -> None:
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def configure(self, *names: str, **options: object) -> None:
        collections = {
            name: {"path": str(self.notes / name), "pattern": "**/*.md", **options}
            for name in names
        }
        text = json.dumps({"collections": collections})  # which is YAML, too
        (self.house.root / "config" / "index.yml").write_text(text)

    def qmd(self, **options: Any) -> Qmd:
        return self.house.qmd(**options)


@pytest.fixture(scope="session")
def command() -> str:
    """The real program."""
    given = os.environ.get("COMMONPLACE_QMD_COMMAND", "")
    if given:
        return given
    missing = "COMMONPLACE_QMD_COMMAND is not set: .ci/qmd installs QMD and prints it"
    if os.environ.get("COMMONPLACE_REQUIRE_QMD"):
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture
def real(house: House, command: str) -> Real:
    return Real(house, command)


@pytest.fixture
def updated(real: Real) -> Iterator[Qmd]:
    """An engine that has indexed the notes."""
    qmd = real.qmd()
    qmd.update(deadline=NEVER)
    yield qmd
    qmd.close()


def search(qmd: Qmd, query: str, *collections: str, limit: int = 6) -> list[Row]:
    return qmd.search(
        "search", query, collections=collections or ("mem", "root"), limit=limit, deadline=NEVER
    )


def both_ways(qmd: Qmd, query: str, *collections: str) -> list[Row]:
    """What a process finds; a server must find the same."""
    cold = search(qmd, query, *collections)
    assert qmd.warm(deadline=NEVER)
    warm = search(qmd, query, *collections)
    assert [row[:2] for row in warm] == [row[:2] for row in cold]
    return cold


def test_it_is_started_directly(command: str) -> None:
    program = locate(command, os.environ)
    assert program.version
    assert [os.path.basename(part) for part in program.argv] == ["node", "qmd.js"]


def test_status_and_update_count(real: Real) -> None:
    qmd = real.qmd()
    assert qmd.probe().available
    assert qmd.status(deadline=NEVER).documents == 0
    assert qmd.update(deadline=NEVER) == UpdateCounts(4, 0, 0, 0, 4)
    real.write("mem/router.md", "# Router\n\nreplaced\n")
    (real.notes / "mem" / "menu.md").unlink()
    assert qmd.update(deadline=NEVER) == UpdateCounts(0, 1, 2, 1, 3)
    status = qmd.status(deadline=NEVER)
    assert (status.documents, status.vectors, status.pending) == (3, 0, 3)
    assert status.version.startswith("2.")


def test_a_row_is_read_whole(updated: Qmd) -> None:
    (row,) = search(updated, "router vlan")
    assert 0 <= row.score < 1
    assert row._replace(score=0.0) == Row(collection="mem", path="router.md", score=0.0, line=4)


def test_both_ways_tell_the_same_rows(updated: Qmd) -> None:
    (cold,) = search(updated, "zebra", "mem")
    assert updated.warm(deadline=NEVER)
    (warm,) = search(updated, "zebra", "mem")
    assert warm._replace(score=cold.score) == cold


def test_names_come_back_as_they_are_on_disk(real: Real) -> None:
    for name in NAMES:
        real.write(f"mem/{name}", "# T\n\nxylophone\n")
    qmd = real.qmd()
    qmd.update(deadline=NEVER)
    cold = search(qmd, "xylophone", "mem", limit=20)
    assert sorted(row.path for row in cold) == sorted(NAMES)
    assert qmd.warm(deadline=NEVER)
    warm = search(qmd, "xylophone", "mem", limit=20)
    assert sorted(row.path for row in warm) == sorted(NAMES)


@pytest.mark.parametrize("query", ["ประชุม", "हिन्दी", "தமிழ்", "???", "-zebra"])
def test_words_that_qmd_does_not_find_are_declined(updated: Qmd, query: str) -> None:
    with pytest.raises(DeclinedError):
        search(updated, query)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("cafe", ["menu.md"]),
        ("--json -n spare", ["MEMORY.md"]),  # without "json" and "n"
        ('"spare key', ["MEMORY.md"]),
        ('"spare key"', ["MEMORY.md"]),
        ("spare -ana", []),
        ("lex: spare\nkey", []),
        ("spare\nkey", ["MEMORY.md"]),
    ],
)
def test_a_query_is_only_a_query(updated: Qmd, query: str, found: list[str]) -> None:
    assert [row.path for row in both_ways(updated, query)] == found


def test_an_unknown_collection_is_no_empty_answer(updated: Qmd) -> None:
    for warm in (False, True):
        if warm:
            assert updated.warm(deadline=NEVER)
        with pytest.raises(UnknownCollectionError) as caught:
            search(updated, "zebra", "mem", "nope")
        assert caught.value.collections == ("nope",)


def test_one_collection_is_not_crowded_out_by_another(real: Real) -> None:
    for n in range(700):
        real.write(f"root/{n}.md", "# Flaky flaky flaky\n\nflaky flaky flaky flaky\n")
    real.write("mem/hit.md", "# Long\n\n" + "other words " * 300 + "flaky\n")
    qmd = real.qmd()
    qmd.update(deadline=NEVER)
    assert [row.path for row in both_ways(qmd, "flaky", "mem")] == ["hit.md"]


def test_a_server_sees_what_another_process_indexes(real: Real, updated: Qmd) -> None:
    assert updated.warm(deadline=NEVER)
    search(updated, "zebra")
    real.write("mem/new.md", "# New\n\nquokka\n")
    real.qmd().update(deadline=NEVER)
    assert [row.path for row in search(updated, "quokka")] == ["new.md"]


def test_a_new_collection_is_found_in(real: Real, updated: Qmd) -> None:
    assert updated.warm(deadline=NEVER)
    search(updated, "zebra")
    real.write("more/note.md", "# More\n\nquokka\n")
    real.configure("mem", "root", "more")
    updated.update(deadline=NEVER)
    assert [row.path for row in search(updated, "quokka", "more")] == ["note.md"]
    assert updated.warm(deadline=NEVER)
    assert [row.path for row in search(updated, "quokka", "more")] == ["note.md"]


def test_typed_lines_are_searched_without_models(updated: Qmd) -> None:
    lines = [Line("lex", "spare key"), Line("lex", "nothing like it"), Line("vec", "a key?")]
    for limit in (6, 40):  # the server, and a process
        rows = updated.search(
            "query", lines, collections=["mem", "root"], limit=limit, deadline=NEVER
        )
        assert [row.path for row in rows] == ["MEMORY.md"]


def test_where_no_collection_is_a_default_one_all_are_ranked_together(real: Real) -> None:
    """Of several that are named, each has its first before any has its second."""
    real.configure("mem", "root", includeByDefault=False)
    for n in range(4):
        real.write(f"mem/{n}.md", "# Quokka\n\n" + "quokka " * (8 - n) + "\n")
    real.write("root/MEMORY.md", "# Memory\n\n" + "other words " * 200 + "quokka\n")
    qmd = real.qmd()
    qmd.update(deadline=NEVER)

    def order(*collections: str) -> list[str]:
        rows = qmd.search(
            "query", [Line("lex", "quokka")], collections=collections, limit=6, deadline=NEVER
        )
        return [row.path for row in rows]

    together = order()
    assert together[-1] == "MEMORY.md"
    assert len(together) == 5
    assert qmd.warm(deadline=NEVER)
    assert order() == order("mem", "root") == together


def test_what_needs_a_model_is_refused_at_once(updated: Qmd) -> None:
    for mode, reason in (("vsearch", "no_vectors"), ("query", "no_models")):
        with pytest.raises(QmdError) as caught:
            updated.search(
                mode,  # type: ignore[arg-type]  # one of the modes
                "key",
                collections=["mem"],
                limit=3,
                deadline=NEVER,
            )
        assert caught.value.reason == reason
    with pytest.raises(QmdError) as caught:
        updated.embed(deadline=NEVER)
    assert caught.value.reason == "no_models"


def test_two_first_updates_at_once_are_both_well(real: Real, tmp_path: Path) -> None:
    """Each under the lock that the callers share, which QMD's process inherits."""
    got: list[UpdateCounts] = []

    def update(qmd: Qmd, lease: Lease) -> None:
        with lease.held(wait=120.0):
            assert lease.descriptor is not None
            got.append(qmd.update(deadline=NEVER, holding=(lease.descriptor,)))

    threads = [
        threading.Thread(target=update, args=(real.qmd(), Lease(str(tmp_path / "update.lock"))))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counts.added for counts in got) == [0, 4]


def test_a_deadline_holds_and_leaves_no_process(real: Real) -> None:
    with pytest.raises(QmdTimeoutError):
        real.qmd().update(deadline=Deadline.after(0.05))


def test_the_launcher_is_ended_with_its_child(
    real: Real, command: str, gone: Callable[[int], None]
) -> None:
    real.qmd().update(deadline=NEVER)
    env = environment(real.house.home, os.environ, endpoint="http://127.0.0.1:9/")
    env["PATH"] = f"{os.path.dirname(command)}{os.pathsep}{env['PATH']}"
    pids = real.house.root / "pids"
    hook = f"echo $$ >> {pids}; exec sleep 600"
    config = {"mem": {"path": str(real.notes / "mem"), "update": hook}}
    text = json.dumps({"collections": config})
    (real.house.root / "config" / "index.yml").write_text(text)
    ended = run(
        [command, "update"],
        env=env,
        cwd=real.house.home.cwd,
        deadline=Deadline(1.0, lambda: 2.0 if pids.exists() and pids.read_text() else 0.0),
        runs=Runs(),
        cap=100_000,
    )
    assert ended.why == "timeout"
    gone(int(pids.read_text()))


def test_the_server_ends_when_we_are_killed(
    real: Real, updated: Qmd, gone: Callable[[int], None]
) -> None:
    program = """
import os, sys
from commonplace.resilience.deadline import NEVER
from commonplace_qmd.engine.client import Qmd
from commonplace_qmd.engine.values import QmdHome
qmd = Qmd(sys.argv[1], QmdHome(*sys.argv[2:]), env=os.environ)
assert qmd.warm(deadline=NEVER)
print(qmd._resident._server.pid, flush=True)
sys.stdin.read()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(real.house.command), *real.house.home],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    gone(pid)
