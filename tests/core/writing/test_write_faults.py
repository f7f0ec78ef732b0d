"""A full disk or an end at any step, other programs in between, and what is no plain file."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self
from unittest import mock

import pytest

from commonplace import CommonplaceError, Memory, PathNotAllowedError, UnavailableError, Writer
from commonplace.errors import WriteRefusedError
from commonplace.writing import changing, replacing
from commonplace.writing.journal import Journal, JournalError, damage_of
from commonplace.writing.replacing import Folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

WRITES = ("write", "fsync", "mkdir", "link", "open")
ALL = (*WRITES, "rename", "replace", "unlink", "fchmod")


class Ended(BaseException):
    """The process ends: nothing that follows is done either."""


class Disk:
    """Fails the n-th call ``once``, all from there (``full``), or ends the process (``dead``)."""

    def __init__(self, mode: str, number: int) -> None:
        self.calls = 0
        self.mode = mode
        self.number = number

    def call(self, name: str, real: Callable[..., Any], *args: Any, **named: Any) -> Any:
        if name in ("open", "unlink") and str(args[0]).endswith((".lock", ".pid")):
            return real(*args, **named)  # the system unlocks what an ended process had locked
        creates = name != "open" or args[1] & os.O_CREAT
        if self.mode != "dead" and (not creates or name not in WRITES):
            return real(*args, **named)
        self.calls += 1
        if self.calls < self.number or (self.mode == "once" and self.calls > self.number):
            return real(*args, **named)
        if self.mode == "dead":
            raise Ended
        if name == "write":
            real(args[0], bytes(args[1])[: len(args[1]) // 2])  # what still fits
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def __enter__(self) -> Self:
        self.stack = ExitStack()
        for name in ALL:
            real = getattr(os, name)

            def call(*args: Any, _name: str = name, _real: Any = real, **named: Any) -> Any:
                return self.call(_name, _real, *args, **named)

            self.stack.enter_context(mock.patch.object(os, name, call))
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()


def files(workspace: Path) -> dict[str, bytes]:
    return {
        file.relative_to(workspace).as_posix(): file.read_bytes()
        for file in workspace.rglob("*")
        if file.is_file()
    }


CHANGES: dict[str, Callable[[Writer], Any]] = {
    "create": lambda writer: writer.remember("a ferry"),
    "replace": lambda writer: writer.correct("memory/a.md#L2", "2"),
    "delete": lambda writer: writer.change("memory/a.md", lambda _: None, why=""),
}


QUICK = {("replace", "dead"), ("create", "full")}
FAULTS = [(change, mode) for change in CHANGES for mode in ("once", "full", "dead")]


@pytest.mark.parametrize(
    ("change", "mode"),
    [pytest.param(*fault, marks=() if fault in QUICK else pytest.mark.slow) for fault in FAULTS],
)
def test_a_fault_at_any_step_leaves_the_notes_whole_and_the_journal_true(
    change: str, mode: str, open_memory: Callable[..., Memory], workspace: Path
) -> None:
    (workspace / "memory").mkdir()
    note = workspace / "memory" / "a.md"
    note.write_bytes(b"one\ntwo\n")
    before = files(workspace)
    writer = open_memory().writer(who="test")
    for number in range(1, 200):
        with Disk(mode, number) as disk:
            try:
                receipt = CHANGES[change](writer)
            except (CommonplaceError, Ended):
                receipt = None
        if disk.calls < number:
            assert receipt is not None
            break
        later = files(workspace)
        recorded = writer.journal()  # the next writer, or reader, settles what was left
        after = files(workspace)
        assert all(name.startswith("memory/.commonplace-") for name in later.keys() ^ after.keys())
        made = [one for one in recorded if one.action != "undo" and not undone(recorded, one.id)]
        assert bool(made) == (after != before), f"call {number}: the journal says something else"
        if receipt is not None:
            assert made
        if made:
            writer.undo(made[0])
        assert files(workspace) == before
        writer.remember("anything")
        writer.undo("last")
        assert files(workspace) == before, f"call {number}: something was left"
    else:
        pytest.fail("it never came to its end")
    assert number > 5


def undone(recorded: Any, id_: str) -> bool:
    return any(one.undoes == id_ for one in recorded)


def test_a_full_disk_is_named(writer: Writer, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("one\n")
    with Disk("full", 1), pytest.raises(UnavailableError, match="No space left") as failed:
        writer.remember("two", kind="entry")
    assert "free some space" in failed.value.hint
    assert files(workspace) == {"MEMORY.md": b"one\n"}


@pytest.mark.parametrize("number", [1, 2, 3], ids=["lock", "open", "write"])
def test_a_full_disk_of_the_state_is_not_taken_for_that_of_the_notes(
    writer: Writer, workspace: Path, number: int
) -> None:
    (workspace / "MEMORY.md").write_text("one\n")
    if number > 1:  # then the folder of the lock is there
        writer.remember("two", kind="entry")
    was = files(workspace)
    with Disk("full", number), pytest.raises(UnavailableError, match="No space left") as failed:
        writer.remember("three", kind="entry")
    assert str(failed.value).startswith("MEMORY.md is unchanged, as the journal ")
    assert ".jsonl cannot be written" in str(failed.value)
    assert failed.value.hint.startswith("free some space on the disk of the state folder")
    assert files(workspace) == was


# --- other programs -------------------------------------------------------------------------------


def save(path: Path, data: bytes) -> None:
    """As editors do: beside it, and renamed."""
    draft = path.with_suffix(".tmp")
    draft.write_bytes(data)
    draft.replace(path)


@pytest.fixture(params=["write_draft", "swap"])
def between(request: pytest.FixtureRequest) -> Callable[[Callable[[], None]], Any]:
    """Runs something once, before a step of the next change."""
    real = getattr(Folder, request.param)

    def patch(action: Callable[[], None]) -> Any:
        waiting = [action]

        def step(self: Folder, *args: Any, **named: Any) -> Any:
            if waiting:
                waiting.pop()()
            return real(self, *args, **named)

        return mock.patch.object(Folder, request.param, step)

    return patch


def test_what_another_program_saves_meanwhile_is_kept(
    between: Callable[..., Any], writer: Writer, workspace: Path
) -> None:
    note = workspace / "MEMORY.md"
    note.write_bytes(b"one\ntwo\nthree\n")
    with between(lambda: save(note, b"zero\none\ntwo\nthree\nfour\n")):
        receipt = writer.correct("MEMORY.md#L2", "2")
    assert note.read_bytes() == b"zero\none\n2\nthree\nfour\n"
    assert receipt.before.start == 3
    assert len(writer.journal()) == 1
    assert [*files(workspace)] == ["MEMORY.md"]
    writer.undo(receipt)
    assert note.read_bytes() == b"zero\none\ntwo\nthree\nfour\n"


def saved_before_swap(note: Path, then: Callable[[], object]) -> Any:
    """Another program saves the note before it is swapped for the draft; ``then`` runs after."""
    real = Folder.swap
    times: list[str] = []

    def swap(self: Folder, draft: str, name: str) -> bool:
        times.append(name)
        if len(times) > 1:
            return real(self, draft, name)
        save(note, b"zero\none\n")
        swapped = real(self, draft, name)
        then()
        return swapped

    return mock.patch.object(Folder, "swap", swap)


def built_upon(note: Path) -> Any:
    """As above, and the other program adds to what it finds."""
    return saved_before_swap(note, lambda: save(note, note.read_bytes() + b"three\n"))


def test_a_change_that_another_program_has_built_upon_is_made_once(
    writer: Writer, workspace: Path, tmp_path: Path
) -> None:
    note = workspace / "MEMORY.md"
    note.write_bytes(b"one\n")
    with built_upon(note):
        receipt = writer.change("MEMORY.md", lambda old: (old or b"") + b"two\n", why="")
    assert note.read_bytes() == b"one\ntwo\nthree\n"
    assert list(writer.journal()) == [receipt]
    (kept,) = (tmp_path / "state" / "memory" / "journals").glob("*.kept/*")
    assert kept.read_bytes() == b"zero\none\n"
    assert [*files(workspace)] == ["MEMORY.md"]


def test_what_is_saved_before_a_note_is_deleted_is_not_lost(
    writer: Writer, workspace: Path
) -> None:
    """What the other program wrote is in our draft alone then."""
    note = workspace / "MEMORY.md"
    note.write_bytes(b"one\n")
    with saved_before_swap(note, note.unlink):
        receipt = writer.change("MEMORY.md", lambda old: (old or b"") + b"two\n", why="")
    assert note.read_bytes() == b"zero\none\ntwo\n"
    assert list(writer.journal()) == [receipt]
    assert [*files(workspace)] == ["MEMORY.md"]


def test_a_change_that_stays_is_not_said_to_be_none_where_its_mark_fails(
    writer: Writer, workspace: Path
) -> None:
    note = workspace / "MEMORY.md"
    note.write_bytes(b"one\n")

    def full(*_: object) -> None:
        raise JournalError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with built_upon(note), mock.patch.object(Journal, "done", full):
        receipt = writer.change("MEMORY.md", lambda old: (old or b"") + b"two\n", why="")
    assert note.read_bytes() == b"one\ntwo\nthree\n"
    assert list(writer.journal()) == [receipt]  # the next one to look marks it
    assert [*files(workspace)] == ["MEMORY.md"]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EIO])
def test_a_change_stays_undecided_until_its_folder_can_be_read(
    writer: Writer, workspace: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    (workspace / "MEMORY.md").write_bytes(b"# Memory\n")
    fail = mock.Mock(side_effect=JournalError(errno.ENOSPC, "No space left", "j"))
    with mock.patch.object(Journal, "done", fail):
        made = writer.remember("a ferry", kind="log")  # whose mark is left to the next writer
    opened = replacing.opened_folder

    def unreadable(path: str, parts: Sequence[str], *, make: bool) -> Any:
        if list(parts) == ["memory"]:
            raise OSError(code, os.strerror(code))
        return opened(path, parts, make=make)

    with monkeypatch.context() as patched:
        patched.setattr(changing, "opened_folder", unreadable)
        assert writer.journal() == []
        with pytest.raises(UnavailableError, match=f"{made.path} cannot be read") as failed:
            writer.remember("two", kind="entry")
        assert made.path in failed.value.hint
    assert files(workspace)["MEMORY.md"] == b"# Memory\n"
    assert [one.id for one in writer.journal()] == [made.id]
    writer.undo(made)
    assert made.path not in files(workspace)


def test_lines_that_another_program_changes_meanwhile_are_refused_with_both_versions(
    between: Callable[..., Any], writer: Writer, workspace: Path
) -> None:
    note = workspace / "MEMORY.md"
    note.write_bytes(b"one\ntwo\nthree\n")
    with (
        between(lambda: save(note, b"one\nTWO!\nthree\n")),
        pytest.raises(WriteRefusedError, match=r"it was 'two\\n', now it is 'TWO!'") as refused,
    ):
        writer.correct("MEMORY.md#L2", "2")
    assert refused.value.kind == "changed"
    assert note.read_bytes() == b"one\nTWO!\nthree\n"
    assert list(writer.journal()) == []


def test_a_note_that_another_program_deletes_meanwhile_stays_deleted(
    between: Callable[..., Any], writer: Writer, workspace: Path
) -> None:
    note = workspace / "MEMORY.md"
    note.write_bytes(b"one\ntwo\n")
    with between(note.unlink), pytest.raises(WriteRefusedError, match="there is no note"):
        writer.correct("MEMORY.md#L2", "2")
    assert files(workspace) == {}


def test_a_note_that_another_program_creates_meanwhile_is_kept(
    writer: Writer, workspace: Path
) -> None:
    note = workspace / "MEMORY.md"
    real = Folder.create

    def create(self: Folder, draft: str, name: str) -> None:
        if not note.exists():
            note.write_bytes(b"- mine\n")
        real(self, draft, name)

    with mock.patch.object(Folder, "create", create):
        writer.remember("yours", kind="entry")
    assert note.read_bytes() == b"- mine\n- yours\n"


def test_a_file_that_changes_all_the_time_is_given_up(writer: Writer, workspace: Path) -> None:
    note = workspace / "MEMORY.md"
    note.write_bytes(b"one\n")
    real = Folder.write_draft

    def write_draft(self: Folder, *args: Any, **named: Any) -> None:
        save(note, note.read_bytes() + b"more\n")
        real(self, *args, **named)

    with (
        mock.patch.object(Folder, "write_draft", write_draft),
        pytest.raises(UnavailableError, match="changed faster than it can be written"),
    ):
        writer.remember("yours", kind="entry")
    assert b"yours" not in note.read_bytes()


def test_without_a_swap_of_files_a_change_is_made_all_the_same(
    writer: Writer, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.writing.replacing._exchange", lambda: None)
    monkeypatch.setattr(os, "link", mock.Mock(side_effect=OSError(errno.EPERM, "no links")))
    receipts = [writer.remember("one", kind="entry"), writer.remember("two", kind="entry")]
    assert (workspace / "MEMORY.md").read_bytes() == b"# Memory\n\n- one\n- two\n"
    for receipt in reversed(receipts):
        writer.undo(receipt)
    assert files(workspace) == {}


# --- what is no plain file ------------------------------------------------------------------------


@pytest.mark.parametrize("stepwise", [True, False], ids=["stepwise", "compared"])
def test_no_folder_is_made_behind_a_link_or_below_a_file(
    writer: Writer,
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    stepwise: bool,
) -> None:
    monkeypatch.setattr(replacing, "_STEPWISE", stepwise)
    makedirs = os.makedirs

    def of_windows(name: str, *, exist_ok: bool) -> None:
        try:
            makedirs(name, exist_ok=exist_ok)
        except NotADirectoryError as error:  # which it says of no folder below a file
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from error

    monkeypatch.setattr(os, "makedirs", of_windows)
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "memory").mkdir()
    (workspace / "memory" / "link").symlink_to(outside)
    (workspace / "memory" / "file").write_bytes(b"theirs\n")
    for folder in ("link", "link/inner", "file", "file/inner"):
        with pytest.raises(WriteRefusedError, match="is no folder of the workspace"):
            writer.change(f"memory/{folder}/a.md", lambda _: b"x\n", why="")
    assert list(outside.iterdir()) == []
    writer.change("memory/new/inner/a.md", lambda _: b"x\n", why="")
    assert (workspace / "memory/new/inner/a.md").read_bytes() == b"x\n"


def test_nothing_is_written_through_a_link(writer: Writer, workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "MEMORY.md").write_bytes(b"theirs\n")
    (workspace / "MEMORY.md").symlink_to(outside / "MEMORY.md")
    (workspace / "memory").symlink_to(outside)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: writer.remember("x", kind="entry"),
        lambda: writer.remember("x"),
        lambda: writer.forget("MEMORY.md#L1"),
        lambda: writer.change("memory/MEMORY.md", lambda _: None, why=""),
    )
    for call in calls:
        with pytest.raises((WriteRefusedError, PathNotAllowedError)) as refused:
            call()
        assert "link" in refused.value.hint
    assert [*files(outside).values()] == [b"theirs\n"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_folders_and_devices_are_no_notes(writer: Writer, workspace: Path) -> None:
    (workspace / "MEMORY.md").mkdir()
    (workspace / "memory").mkdir()
    os.mkfifo(workspace / "memory" / "a.md")
    with pytest.raises(WriteRefusedError, match=r"MEMORY\.md is a folder"):
        writer.remember("x", kind="entry")
    with pytest.raises(WriteRefusedError, match=r"a\.md is no regular file"):
        writer.change("memory/a.md", lambda _: b"x", why="")
    (workspace / "memory" / "sub").write_text("a file")
    with pytest.raises(WriteRefusedError, match="sub is no folder"):
        writer.change("memory/sub/b.md", lambda _: b"x", why="")


def test_a_read_only_workspace_or_state_folder_is_named(
    writer: Writer, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "MEMORY.md").write_bytes(b"one\n")
    real = os.open

    def read_only(path: Any, flags: int, *args: Any, **named: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return real(path, flags, *args, **named)

    with (
        mock.patch.object(os, "open", read_only),
        pytest.raises(UnavailableError, match="Read-only file system"),
    ):
        writer.remember("x", kind="entry")
    (tmp_path / "state" / "memory").mkdir(parents=True, exist_ok=True)
    assert files(workspace) == {"MEMORY.md": b"one\n"}


def test_bytes_that_are_no_text_are_left_alone(writer: Writer, workspace: Path) -> None:
    note = workspace / "MEMORY.md"
    for data in (b"a\0b", b"\xff\xfe\x00"):
        note.write_bytes(data)
        with pytest.raises(WriteRefusedError, match="is no text") as refused:
            writer.remember("x", kind="entry")
        assert refused.value.kind == "not_text"
        assert note.read_bytes() == data


def test_a_half_line_of_the_journal_is_skipped(
    writer: Writer, workspace: Path, tmp_path: Path
) -> None:
    first = writer.remember("one")
    (journal,) = (tmp_path / "state" / "memory" / "journals").glob("*.jsonl")
    for torn in (b'{"id":"half', b"\xff\xfe", b'{"done":1}', b"[1]\n{}"):
        with journal.open("ab") as file:
            file.write(torn)
        second = writer.remember("two")
        assert [one.id for one in writer.journal(limit=1)] == [second.id]
        writer.undo(second)
    writer.undo(first)
    assert files(workspace) == {}


def damage(journal: Path, action: str) -> int:
    """Fill the last line of this action with zeros, as a bad disk does; returns its number."""
    lines = journal.read_bytes().split(b"\n")
    (at, *_) = [at for at, line in enumerate(lines) if f'"{action}"'.encode() in line][::-1]
    lines[at] = b"\0" * len(lines[at])
    journal.write_bytes(b"\n".join(lines))
    return at + 1


def test_a_damaged_journal_is_named_and_raises_no_trust(
    open_memory: Callable[..., Memory], workspace: Path, tmp_path: Path
) -> None:
    memory = open_memory(write={"enabled": True})
    writer = memory.writer(who="test")
    first = writer.remember("Tea at four", kind="entry")
    session = memory.writer(origin="session", who="session")
    coffee = session.remember("Coffee at five", kind="entry").citation
    assert writer.origin_of(coffee) == "session"
    (journal,) = (tmp_path / "state" / "memory" / "journals").glob("*.jsonl")
    line = damage(journal, "remember")
    before = files(workspace)

    with pytest.raises(WriteRefusedError, match=f"line {line} of the journal cannot") as refused:
        writer.undo("last")
    assert refused.value.kind == "undone"
    assert "by its id" in refused.value.hint
    assert files(workspace) == before
    assert writer.origin_of(coffee) == "external"
    assert [one.id for one in writer.journal()] == [first.id]
    named = damage_of(memory.settings.state_dir, memory.settings.workspace)
    assert named.startswith(f"line {line} of the journal {journal} cannot be read: changes of ")
    # What is written after it can be taken back.
    writer.remember("Milk at six", kind="entry")
    writer.undo("last")
    assert files(workspace) == before
    writer.undo(first)
    assert "Tea" not in (workspace / "MEMORY.md").read_text()


@pytest.mark.parametrize(
    "line", [b"\xff\xfe", b"[1]", b"{}", b'{"done":[]}', b'{"before":1}', b"["]
)
def test_whole_lines_that_are_no_records_are_damage(
    writer: Writer, memory: Memory, tmp_path: Path, line: bytes
) -> None:
    writer.remember("one")
    (journal,) = (tmp_path / "state" / "memory" / "journals").glob("*.jsonl")
    with journal.open("ab") as file:
        file.write(line + b"\n")
    assert "line 4 of the journal" in damage_of(
        memory.settings.state_dir, memory.settings.workspace
    )


def test_half_lines_are_no_damage(writer: Writer, memory: Memory, tmp_path: Path) -> None:
    writer.remember("one")
    (journal,) = (tmp_path / "state" / "memory" / "journals").glob("*.jsonl")
    for torn in (b'{"id":"half', b"\0" * 100, b'{"done":"x"}'):
        with journal.open("ab") as file:
            file.write(torn)
        assert damage_of(memory.settings.state_dir, memory.settings.workspace) == ""
        second = writer.remember("two")
        assert damage_of(memory.settings.state_dir, memory.settings.workspace) == ""
        assert writer.undo("last").undoes == second.id


def test_nothing_is_written_where_a_disk_may_not_be_mounted(
    open_memory: Callable[..., Memory], workspace: Path, tmp_path: Path
) -> None:
    (workspace / "MEMORY.md").write_text("The lighthouse keeper is Aldous.\n")
    memory = open_memory(backend="builtin")
    writer = memory.writer(who="test")
    assert memory.search("lighthouse").hits
    away = workspace.rename(tmp_path / "away")
    workspace.mkdir()
    for write in (writer.remember, writer.preview().remember):
        with pytest.raises(UnavailableError, match="its disk may not be mounted") as caught:
            write("The fog horn sounds thrice.")
        assert "memory/" in caught.value.hint
    assert not list(workspace.iterdir())
    # The owner deleted them, and says so as the hint tells.
    (workspace / "memory").mkdir()
    writer.remember("The fog horn sounds thrice.")
    workspace.rename(tmp_path / "new")
    away.rename(workspace)
    assert memory.search("lighthouse").hits
    writer.remember("The fog horn sounds thrice.")
