"""``commonplace doctor --fix`` fixes what it can, reports it, and changes no note."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from commonplace.cli.commands.doctor import Fixer
from commonplace.errors import UnavailableError
from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.core.cli.conftest import Ran

LONG_AGO = 1_700_000_000


@pytest.fixture(autouse=True)
def _notes_stay_as_they_are(workspace: str) -> Iterator[None]:
    def notes() -> dict[str, tuple[bytes, int, int]]:
        files = (path for path in Path(workspace).rglob("*") if path.is_file())
        return {
            str(path): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
            for path in files
        }

    before = notes()
    yield
    assert notes() == before


@pytest.fixture
def index(run: Callable[..., Ran], workspace: str) -> Path:
    run("index", "--workspace", workspace)
    return Path(run("status", "--workspace", workspace, "--json").json["dbPath"])


@pytest.fixture
def fix(run: Callable[..., Ran], workspace: str) -> Callable[..., Ran]:
    return lambda *arguments: run("doctor", "--fix", "--workspace", workspace, *arguments)


def tamper(index: Path, sql: str) -> None:
    connection = apsw.Connection(str(index), vfs=checked_vfs(""))
    connection.execute(sql)
    connection.close()


def states(index: Path) -> list[Any]:
    connection = apsw.Connection(str(index), vfs=checked_vfs(""))
    try:
        return [state for (state,) in connection.execute("SELECT state FROM build ORDER BY id")]
    finally:
        connection.close()


def test_nothing_is_fixed_where_there_is_no_problem(fix: Callable[..., Ran], index: Path) -> None:
    before = index.read_bytes()
    ran = fix("--quiet")
    assert (ran.code, ran.out) == (0, "nothing to fix\n")
    assert fix("--json").json["fixes"] == []
    assert index.read_bytes() == before


def test_a_first_index_is_made(fix: Callable[..., Ran]) -> None:
    ran = fix()
    assert ran.code == 0
    assert "         fixed: indexed 11 notes\n" in ran.out
    assert fix("--quiet").out == "nothing to fix\n"


def test_more_notes_than_a_search_brings_in_are_a_warning(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()

    def write(first: int, last: int) -> None:
        for number in range(first, last):
            (folder / f"{number}.md").write_text(f"Note {number}.\n", encoding="utf-8")

    write(0, 2)
    run("index", "--workspace", str(folder))
    write(2, 22)
    ran = run("doctor", "--workspace", str(folder))
    assert (ran.code, "warning" in ran.out) == (0, False)
    write(22, 23)
    ran = run("doctor", "--workspace", str(folder))
    assert ran.code == 0
    assert "2 notes, 2 chunks; 21 changes not indexed, too many for a search to bring in" in ran.out
    assert f"fix: `commonplace doctor --workspace {folder} --fix`: index them, as " in ran.out
    assert f"as `commonplace index --workspace {folder}` does\n" in ran.out
    assert "fixed: indexed 21 notes" in run("doctor", "--fix", "--workspace", str(folder)).out
    assert "warning" not in run("doctor", "--workspace", str(folder)).out


def test_an_inconsistent_index_is_rebuilt(
    fix: Callable[..., Ran], run: Callable[..., Ran], workspace: str, index: Path
) -> None:
    before = run("search", "--workspace", workspace, "server", "--json").json["results"]
    tamper(index, "DELETE FROM document_1 WHERE path LIKE 'memory/%'")
    deep = run("status", "--workspace", workspace, "--deep", "--json")
    assert deep.code == 1
    problems = [one for one in deep.json["findings"] if one["state"] == "problem"]
    assert {one["name"] for one in problems} >= {"check", "orphans"}
    assert problems[0]["hint"] == (
        f"`commonplace doctor --workspace {workspace} --fix`: "
        "rebuild the index beside the damaged one"
    )

    preview = fix("--dry-run", "--quiet")
    assert preview.code == 1
    assert "         would rebuild the index beside the damaged one\n" in preview.out
    assert states(index) == ["live"]

    ran = fix("--quiet")
    assert ran.code == 0, ran.out
    assert ran.out.count("fixed: ") == 1
    assert "fixed: rebuilt the index from 11 notes" in ran.out
    assert ran.out.endswith("checking again after the fixes:\nno problems left\n")
    assert run("status", "--workspace", workspace, "--deep").code == 0
    assert run("search", "--workspace", workspace, "server", "--json").json["results"] == before


def test_a_file_that_is_no_index_is_set_aside_and_rebuilt(
    fix: Callable[..., Ran], run: Callable[..., Ran], workspace: str, index: Path
) -> None:
    index.write_bytes(b"this is no database at all " * 4_000)
    ran = fix("--json")
    assert ran.code == 0, ran.out
    assert ran.json["ok"] is True
    assert [one["state"] for one in ran.json["fixes"]] == ["fixed"]
    assert run("search", "--workspace", workspace, "server", "--json").json["results"]
    (kept,) = index.parent.glob("*.damaged-*Z")
    assert kept.read_bytes().startswith(b"this is no database")


def test_each_fix_is_reported(fix: Callable[..., Ran], index: Path) -> None:
    tamper(
        index, "UPDATE build SET identity = replace(identity, ' workspace', ' forced=5 workspace')"
    )
    for number in range(3):
        Path(f"{index}.damaged-2026010{number}T000000Z").write_text("no index")
    left = index.parent / ".commonplace-999999999-0123abcd.tmp"
    left.write_text("{")
    os.utime(left, (LONG_AGO, LONG_AGO))
    torn = index.parent / "breakers" / "openai.query"
    torn.parent.mkdir(exist_ok=True, mode=0o700)
    torn.write_text("commonplace brea")
    if os.name == "posix":
        index.chmod(0o644)
        index.parent.chmod(0o755)
    ran = fix("--json")
    assert (ran.code, ran.json["ok"]) == (0, True)
    fixes = {one["name"]: one["text"] for one in ran.json["fixes"]}
    assert {one["state"] for one in ran.json["fixes"]} == {"fixed"}
    assert fixes.pop("set aside").startswith("deleted 2 damaged indexes, kept ")
    assert fixes.pop("leftovers") == "deleted 1 temporary files"
    assert fixes.pop("breakers") == "deleted 1 records of failures"
    if os.name == "posix":
        assert stat.S_IMODE(index.stat().st_mode) == 0o600
        assert stat.S_IMODE(index.parent.stat().st_mode) == 0o700
        assert fixes.pop("rights").endswith("readable for their owner alone")
        assert fixes.pop("folder").startswith("removed the access of other users")
    assert fixes == {}
    assert not left.exists()
    assert not torn.exists()
    assert len(list(index.parent.glob("*.damaged-*"))) == 1


def test_a_build_that_is_never_continued_is_dropped(
    fix: Callable[..., Ran], run: Callable[..., Ran], workspace: str, index: Path
) -> None:
    from commonplace_sqlite.store import SqliteStore

    store = SqliteStore(str(index))
    with store.writer(wait=0):
        store.open_build("keyword-1 tokenizer=analysed workspace=/other/else")
    store.close()
    status = run("status", "--workspace", workspace, "--deep")
    assert status.code == 0
    assert (
        f"`commonplace doctor --workspace {workspace} --fix`: drop the unfinished build"
        in status.out
    )
    assert "fixed: dropped a build of 0 notes" in fix("--quiet").out
    assert states(index) == ["live"]


def test_options_of_fix_need_it(run: Callable[..., Ran], workspace: str) -> None:
    for option in ("--dry-run", "--drop-unused"):
        ran = run("doctor", option, "--workspace", workspace)
        assert ran.code == 2
        assert f"{option} needs --fix" in ran.err


def test_quiet_leaves_out_what_is_well_in_json_too(
    run: Callable[..., Ran], workspace: str, index: Path
) -> None:
    assert run("doctor", "--quiet", "--json", "--workspace", workspace).json == {
        "schemaVersion": 1,
        "ok": True,
        "findings": [],
    }


def test_status_fails_where_nothing_can_be_searched_and_says_why_once(
    run: Callable[..., Ran], workspace: str, index: Path
) -> None:
    tamper(index, "PRAGMA user_version = 99")
    ran = run("status", "--workspace", workspace)
    assert ran.code == 1
    assert "Backend        builtin (not available)" in ran.out
    assert ran.out.count("a newer version of commonplace wrote the index") == 1
    assert run("status", "--workspace", workspace, "--json").code == 1


def test_a_fix_that_fails_is_reported_and_the_next_one_runs() -> None:
    from commonplace.model.documents import Finding, Fix

    def fail(error: Exception) -> Callable[[], str]:
        def run() -> str:
            raise error

        return run

    busy = UnavailableError("process 7 is writing the index", hint="try again when it is done")
    findings = [
        Finding("problem", "one", "x", Fix("do this", fail(busy))),
        Finding("problem", "two", "x", Fix("do that", fail(PermissionError(13, "not you")))),
        Finding("problem", "three", "x", Fix("do it", lambda: "done")),
        Finding("problem", "four", "x", Fix("do it", lambda: "done twice")),
        Finding("ok", "five", "x", Fix("drop it", lambda: "dropped", on_request=True)),
        Finding("problem", "six", "x"),
        Finding("problem", "seven", "x", Fix("do it yourself")),
    ]
    for unused in (False, True):
        fixer = Fixer(dry_run=False, drop_unused=unused)
        for finding in findings:
            fixer.fix(finding)
        assert fixer.results[:3] == [
            ("failed", "one", "process 7 is writing the index (try again when it is done)"),
            ("failed", "two", "[Errno 13] not you"),
            ("fixed", "three", "done"),
        ]
        assert fixer.results[3:] == ([("fixed", "five", "dropped")] if unused else [])


@pytest.mark.parametrize("fault", ["a missing folder", "an emptied workspace", "a note of bytes"])
def test_status_and_doctor_end_alike(
    run: Callable[..., Ran], tmp_path: Path, home: Path, fault: str
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    note = folder / "note.md"
    note.write_text("A kettle.\n", encoding="utf-8")
    run("index", "--workspace", str(folder))
    if fault == "a missing folder":
        config = home / ".config" / "commonplace" / "config.json5"
        config.parent.mkdir(parents=True)
        config.write_text('{ memory: { search: { extraPaths: ["../docs"] } } }', encoding="utf-8")
    elif fault == "an emptied workspace":
        note.unlink()
    else:
        (folder / "other.md").write_bytes(bytes(range(256)) * 9)
    doctor = run("doctor", "--workspace", str(folder))
    assert (doctor.code, doctor.out.count("problem  notes: ")) == (1, 1)
    for options in ([], ["--deep"], ["--json"]):
        assert run("status", "--workspace", str(folder), *options).code == 1


def test_a_provider_that_no_plugin_has_is_one_warning(
    run: Callable[..., Ran], workspace: str, home: Path
) -> None:
    run("index", "--workspace", workspace)
    config = home / ".config" / "commonplace" / "config.json5"
    config.parent.mkdir(parents=True)
    config.write_text('{ memory: { search: { provider: "bedrock" } } }', "utf-8")
    for command in (["config", "check"], ["doctor"]):
        ran = run(*command, "--workspace", workspace)
        (warning,) = (line for line in ran.out.splitlines() if line.startswith("warning"))
        assert "provider: there is no provider 'bedrock' (there is " in warning
    assert "there is no provider 'bedrock'" in run("status", "--workspace", workspace).out
