"""What a new user gets wrong: each is reported in a line, with its hint, and nothing is lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commonplace import ConfigError, Memory, WorkspaceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.end_to_end.conftest import Sandbox

COMMANDS = (("index",), ("search", "walrus"), ("get", "MEMORY.md"), ("status",))

# Root may do everything: it has to give that up before it can be refused anything.
HUMBLE = """
import ctypes, os, sys
if os.geteuid() == 0:
    for capability in (1, 2, 3):  # reading and writing, listing, and owning what is not its own
        if ctypes.CDLL(None).prctl(24, capability, 0, 0, 0):
            sys.exit("cannot give up a capability")
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.fixture(scope="module")
def humble(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """What Python is to run so that the rights of files hold for this user too."""
    folder = tmp_path_factory.mktemp("closed")
    folder.chmod(0)
    program = ("-c", HUMBLE, "-c", f"import os; os.listdir({str(folder)!r})")
    tried = subprocess.run([sys.executable, *program], capture_output=True, text=True, check=False)
    folder.chmod(0o700)
    if "PermissionError" not in tried.stderr:
        pytest.skip("this user cannot be refused anything here")
    return ("-c", HUMBLE, "-m", "commonplace")


@pytest.fixture(autouse=True)
def _notes_stay_as_they_are(sandbox: Sandbox) -> Iterator[None]:
    before = sandbox.notes()
    yield
    after = sandbox.notes()
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_workspace_that_is_missing(sandbox: Sandbox, command: tuple[str, ...]) -> None:
    sandbox.workspace /= "nowhere"
    said = sandbox.run(*command).failed_well()
    assert "does not exist" in said
    assert f"mkdir -p {sandbox.workspace}/memory" in said
    assert not sandbox.workspace.exists()
    sandbox.workspace = sandbox.root / "workspace"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_file_in_place_of_a_workspace(sandbox: Sandbox, command: tuple[str, ...]) -> None:
    folder, sandbox.workspace = sandbox.workspace, sandbox.workspace / "MEMORY.md"
    said = sandbox.run_here(*command).failed_well()
    assert "is not a folder" in said
    assert "--workspace" in said
    sandbox.workspace = folder


def test_an_empty_workspace_says_what_to_write(sandbox: Sandbox) -> None:
    folder, sandbox.workspace = sandbox.workspace, sandbox.root / "empty"
    sandbox.workspace.mkdir()
    for command in ("index", "search"):
        ran = sandbox.run_here(command, *(["walrus"] if command == "search" else []))
        ran.went_well()
        assert "write MEMORY.md or memory/*.md" in ran.err
        assert "disk" not in ran.err
    assert list(sandbox.workspace.iterdir()) == []
    sandbox.workspace = folder


def test_a_workspace_that_is_empty_all_at_once_forgets_nothing(sandbox: Sandbox) -> None:
    sandbox.run_here("index").went_well()
    folder = sandbox.workspace.rename(sandbox.root / "unmounted")
    sandbox.workspace.mkdir()
    for command, code in ((("search", "walrus"), 1), (("index",), 3)):
        ran = sandbox.run_here(*command)
        assert ran.code == code
        assert "2026-10-03.md" not in ran.out
        assert "its disk may not be mounted" in ran.err
        assert "no notes yet" not in ran.err
    sandbox.workspace.rmdir()
    folder.rename(sandbox.workspace)
    again = sandbox.run_here("search", "walrus")
    assert "2026-10-03.md" in again.went_well()
    assert again.err == ""
    assert "3 unchanged; 0 chunks" in sandbox.run_here("index").went_well()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_workspace_that_cannot_be_read(
    sandbox: Sandbox, humble: tuple[str, ...], command: tuple[str, ...]
) -> None:
    sandbox.workspace.chmod(0)
    try:
        said = sandbox.run(*command, program=humble).failed_well()
        doctor = sandbox.run("doctor", "--quiet", program=humble)
    finally:
        sandbox.workspace.chmod(0o755)
    assert "cannot be read: Permission denied" in said
    assert doctor.code == 1
    assert "problem  workspace: " in doctor.out
    assert doctor.err == ""


@pytest.mark.parametrize("closed", ["memory", "memory/2026-10-03.md"])
def test_where_nothing_can_be_read_it_is_not_said_that_there_is_nothing(
    sandbox: Sandbox, humble: tuple[str, ...], closed: str
) -> None:
    folder, sandbox.workspace = sandbox.workspace, sandbox.root / "closed"
    (sandbox.workspace / "memory").mkdir(parents=True)
    (sandbox.workspace / "memory/2026-10-03.md").write_text("A walrus.\n")
    (sandbox.workspace / closed).chmod(0)
    try:
        index = sandbox.run("index", program=humble)
        search = sandbox.run("search", "walrus", program=humble)
    finally:
        (sandbox.workspace / closed).chmod(0o755)
        sandbox.workspace = folder
    assert (index.code, "none could be read" in index.out) == (3, True), index
    for ran in (index, search):
        assert f"note: {closed}" in ran.err.replace("'", "")
        assert "Permission denied" in ran.err
        assert "no notes yet" not in ran.err


def test_an_answer_names_a_few_notes_that_cannot_be_read_and_index_all(
    sandbox: Sandbox, humble: tuple[str, ...]
) -> None:
    closed = [sandbox.workspace / f"memory/closed{number}.md" for number in range(12)]
    for path in closed:
        path.write_text("A walrus.\n")
        path.chmod(0)
    whole = f"`commonplace index --workspace {sandbox.workspace}` names all"
    more = f"note: 7 more could not be read: {whole}\n"
    try:
        index = sandbox.run("index", program=humble)
        # On a busy machine a search has no time to try all of them.
        searches = (sandbox.run("search", "walrus", program=humble) for _ in range(20))
        search = next(one for one in searches if more in one.err)
    finally:
        for path in closed:
            path.unlink()
    assert index.err.count("could not be read: Permission denied") == 12
    assert search.err.count("could not be read: Permission denied") == 5
    sandbox.run_here("index").went_well()


def test_folders_and_notes_that_cannot_be_read_are_named(
    sandbox: Sandbox, humble: tuple[str, ...]
) -> None:
    closed, note = sandbox.workspace / "memory/projects", sandbox.workspace / "MEMORY.md"
    closed.chmod(0)
    note.chmod(0)
    try:
        index = sandbox.run("index", program=humble)
        search = sandbox.run("search", "walrus", program=humble)
        refused = sandbox.run("get", "MEMORY.md", program=humble).failed_well()
    finally:
        closed.chmod(0o755)
        note.chmod(0o644)
    assert (index.code, "1 added" in index.out) == (3, True), index
    assert "2026-10-03.md" in search.went_well()
    for ran, name in ((index, "MEMORY.md"), (search, "'MEMORY.md'")):
        assert f"note: {name} could not be read: Permission denied\n" in ran.err
        assert "note: memory/projects" in ran.err
    assert "MEMORY.md cannot be read: Permission denied" in refused
    # A search waits for this as long as a busy machine allows.
    sandbox.run_here("index").went_well()
    assert "otter.md" in sandbox.run_here("search", "otter").went_well()


def test_the_python_face_raises_the_same(sandbox: Sandbox) -> None:
    folder = sandbox.workspace
    for workspace, kind in (
        (folder / "nowhere", WorkspaceError),
        (folder / "MEMORY.md", WorkspaceError),
        ("a\0b", ConfigError),
    ):
        with pytest.raises(kind) as caught:
            Memory.open(workspace=workspace, env=sandbox.env)
        assert caught.value.hint
        assert "\n" not in str(caught.value)


def test_a_state_folder_that_cannot_be_made_keeps_the_index_in_memory(
    sandbox: Sandbox, humble: tuple[str, ...]
) -> None:
    sandbox.state.mkdir(mode=0o555)
    search = sandbox.run("search", "walrus", program=humble)
    assert "2026-10-03.md" in search.went_well()
    assert "lost when this process ends" in search.err
    for more in ((), ("--json",)):
        index = sandbox.run("index", *more, program=humble)
        assert index.code == 1
        assert "Permission denied" in index.out + index.err
        assert "COMMONPLACE_STATE_DIR" in index.out + index.err
    assert list(sandbox.state.iterdir()) == []


def test_a_state_folder_that_cannot_be_written_still_answers(
    sandbox: Sandbox, humble: tuple[str, ...]
) -> None:
    sandbox.run_here("index").went_well()
    kept = sandbox.index.read_bytes()
    for path in (sandbox.index, sandbox.index.parent, sandbox.state):
        path.chmod(path.stat().st_mode & 0o555)
    before = sandbox.run("search", "walrus", program=humble)
    assert "2026-10-03.md" in before.went_well()
    assert before.err == ""
    sandbox.write("memory/new.md", "A second walrus.\n")
    after = sandbox.run("search", "walrus", program=humble)
    assert "2026-10-03.md" in after.went_well()
    assert "1 changed note may not be in this answer as it is now: " in after.err
    assert "cannot be written" in after.err
    assert "run `commonplace index`" not in after.err  # it would fail
    assert "cannot be written" in sandbox.run("index", program=humble).failed_well()
    assert "cannot be written" in sandbox.run("status", program=humble).went_well()
    assert sandbox.index.read_bytes() == kept


FAULTY = {
    "a typo": ("{ memory: {\n  serach: {} } }", ":2: memory.serach: ", "did you mean 'search'?"),
    "a wrong value": ("{ memory: { backend: 3 } }", ":1: memory.backend: ", ""),
    "not JSON5": ("{ memory: [", ":1: ", "ends too early"),
    "another language": ("memory:\n  backend: builtin\n", ":1: ", ""),
    "a list": ("[]", ":1: ", "must be an object"),
    "not text": (b"\xff\xfe\x00", ":1: ", "is not UTF-8"),
}


@pytest.mark.parametrize(("text", "where", "what"), FAULTY.values(), ids=FAULTY)
def test_a_configuration_that_is_wrong(
    sandbox: Sandbox, text: str | bytes, where: str, what: str
) -> None:
    file = sandbox.root / "commonplace.json5"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    for command in COMMANDS:
        said = sandbox.run_here(*command, "--config", str(file)).failed_well(2)
        assert f"{file}{where}" in said
        assert what in said
        assert f"commonplace config --config {file} --workspace {sandbox.workspace} check" in said
    assert not sandbox.state.exists()


def test_a_configuration_that_is_not_there_or_a_folder(sandbox: Sandbox) -> None:
    for name, reason in (("nowhere", "No such file"), ("workspace", "Is a directory")):
        said = sandbox.run_here("search", "x", "--config", str(sandbox.root / name)).failed_well(2)
        assert reason in said


USAGE = {
    "command": (("serch", "x"), "did you mean commonplace search?"),
    "far off": (("zzzzz",), "commonplace --help"),
    "option": (("search", "x", "--max-result", "3"), "did you mean --max-results?"),
    "no option": (("--wat",), "commonplace --help"),
    "value": (("search", "x", "-n", "0"), "--help"),
    "score": (("search", "x", "--min-score", "2"), "--help"),
    "no value": (("search", "x", "-n"), "--help"),
    "no query": (("search",), "commonplace search "),
    "empty query": (("search", ""), "commonplace search "),
    "blank query": (("search", "  ", "\t"), "commonplace search "),
    "minus": (("search", "walrus", "-seal"), "quote the query"),
    "no path": (("get",), "--help"),
    "line": (("get", "MEMORY.md", "--from", "zero"), "--help"),
}


@pytest.mark.parametrize(("arguments", "hint"), USAGE.values(), ids=USAGE)
def test_a_command_line_that_cannot_be_understood(
    sandbox: Sandbox, arguments: tuple[str, ...], hint: str
) -> None:
    # --workspace is put after the arguments, where an option without a value would take it.
    if arguments[-1] in {"-n", "--wat"}:
        process = subprocess.run(
            [sys.executable, "-m", "commonplace", *arguments],
            env=sandbox.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 2
        assert hint in process.stderr
        assert "Traceback" not in process.stderr
    else:
        assert hint in sandbox.run_here(*arguments).failed_well(2)
    assert not sandbox.state.exists()


FORBIDDEN = (
    "/etc/passwd",
    "../secret.md",
    "memory/../secret.md",
    "memory/link.md",
    "secret.md",
    "memory/a.txt",
    "",
    "C:\\notes\\a.md",
    "memory/\u202e.exe",
)


def test_paths_that_memory_may_not_read_are_all_refused_alike(sandbox: Sandbox) -> None:
    sandbox.write("secret.md", "No.\n")
    sandbox.write("memory/a.txt", "No.\n")
    os.symlink(sandbox.workspace / "secret.md", sandbox.workspace / "memory/link.md")
    said = [sandbox.run_here("get", path).failed_well().splitlines() for path in FORBIDDEN]
    assert len({refusal for refusal, _ in said}) == 1
    assert "path not allowed" in said[0][0]
    for path, (_, fix) in zip(FORBIDDEN, said, strict=True):
        assert "secret" not in fix
        if path == "memory/link.md":  # that it is one is all that is said of it
            assert "memory/link.md is a symbolic link" in fix
            continue
        # What is suggested is a note that memory may read.
        assert re.search(r"memory/2026-\S+\.md|MEMORY\.md", fix), fix
    assert "there is no note" in sandbox.run_here("get", "memory/missing.md").failed_well()


def test_a_pipe_that_is_closed_early_is_no_failure(sandbox: Sandbox) -> None:
    sandbox.write_many(300)
    sandbox.run_here("index").went_well()
    process = sandbox.start("search", "walrus", "--json", "-n", "200", "--explain")
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline() == "{\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.wait() == 0


# Run by a shell, as Python's own subprocess module cannot close a stream of a child. With each is
# how many lines are said of what failed.
CLOSED = {
    ">&-": 0,
    "2>&-": 0,
    "<&-": 0,
    ">&- 2>&- <&-": 0,
    ">/dev/full": 1,
    "--json >/dev/full": 1,
    "--config /nowhere --json >/dev/full": 2,
}


@pytest.mark.parametrize(("how", "lines"), CLOSED.items(), ids=CLOSED)
def test_streams_that_are_closed_or_full(sandbox: Sandbox, how: str, lines: int) -> None:
    sandbox.run_here("index").went_well()
    command = f'"$0" -m commonplace search walrus --workspace "$1" {how}'
    process = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, str(sandbox.workspace)],
        env=sandbox.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == (2 if "/nowhere" in how else min(lines, 1))
    assert len(process.stderr.splitlines()) == lines
    assert "Traceback" not in process.stderr
    assert "walrus" in sandbox.run_here("search", "walrus").went_well()


@pytest.mark.parametrize("bytes_", [b"", b"\xff\x00" * 500, b"{}", b"[1"], ids=range(4))
def test_a_damaged_cache_is_rebuilt(sandbox: Sandbox, bytes_: bytes) -> None:
    expected = sandbox.run("search", "walrus").went_well()
    files = [path for path in (sandbox.root / "cache").rglob("*") if path.is_file()]
    assert files
    for file in files:
        file.write_bytes(bytes_)
    again = sandbox.run("search", "walrus")
    assert again.went_well() == expected
    assert again.err == ""
