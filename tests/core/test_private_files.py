from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from commonplace.cli.streams import check_output, write_output
from commonplace.dirs import write_whole
from commonplace.errors import CallerError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

posix = pytest.mark.skipif(sys.platform == "win32", reason="who runs cannot be asked there")


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "new" / "a.json"
    for text in ("one", "two\nlines\n", "", "part \ud800 of a pair"):
        write_whole(str(file), text)
        assert file.read_bytes() == text.encode(errors="replace")
        assert os.listdir(file.parent) == ["a.json"]


@posix
def test_only_this_user_may_read_it(tmp_path: Path) -> None:
    write_whole(str(tmp_path / "a"), "x")
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0


def draft(process: int, digits: str = "0123abcd") -> str:
    return f".commonplace-{process}-{digits}.tmp"


@posix
def test_old_drafts_of_processes_that_have_ended_go_and_nothing_else(tmp_path: Path) -> None:
    ended = ended_process()
    gone = [draft(ended), draft(ended, "00000000")]
    old = [
        *("a.json.2", "a.json.20260801", "a.json.99999", f"a.json.{ended}", "a.json.bak", "1"),
        *(draft(os.getppid()), draft(ended, "0123abc"), draft(ended, "0123ABCD"), draft(0)),
        *(f"a.json{draft(ended)}", f"{draft(ended)}.md", f".commonplace-{ended}.draft"),
    ]
    for name in (*gone, *old):
        (tmp_path / name).write_text("old")
        os.utime(tmp_path / name, (1e9, 1e9))
    young = draft(ended, "89abcdef")
    (tmp_path / young).write_text("of another container, perhaps")
    folder, link = draft(ended, "11111111"), draft(ended, "22222222")
    (tmp_path / folder).mkdir()
    (tmp_path / link).symlink_to("a.json.bak")
    os.utime(tmp_path / folder, (1e9, 1e9))
    os.utime(tmp_path / link, (1e9, 1e9), follow_symlinks=False)
    write_whole(str(tmp_path / "a.json"), "new")
    assert sorted(os.listdir(tmp_path)) == sorted(["a.json", young, folder, link, *old])


def test_a_name_in_the_current_folder_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_whole("a.json", "new")
    assert os.listdir(tmp_path) == ["a.json"]


@posix
@pytest.mark.parametrize("planted", ["name.{pid}", ".commonplace-{pid}-00000000.tmp"])
def test_a_link_that_was_put_in_the_place_of_a_draft_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: str
) -> None:
    victim, file = tmp_path / "victim", tmp_path / "folder" / "name"
    victim.write_text("precious")
    victim.chmod(0o640)
    file.parent.mkdir()
    link = file.parent / planted.format(pid=os.getpid())
    link.symlink_to(victim)
    monkeypatch.setattr(os, "urandom", bytes)  # even where the name was guessed
    with contextlib.suppress(FileExistsError):
        write_whole(str(file), "new", mode=0o644)
    assert victim.read_text() == "precious"
    assert victim.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert not file.is_symlink()


@posix
def test_the_file_has_the_mode_that_is_asked_for(tmp_path: Path) -> None:
    write_whole(str(tmp_path / "a"), "x", mode=0o664)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o664


def test_threads_that_write_one_file_leave_it_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.json"
    met = threading.Barrier(2, timeout=30)

    def replace(draft: str, path: str, *, real: Callable[[str, str], None] = os.replace) -> None:
        met.wait()  # each has written its draft
        real(draft, path)
        assert file.read_text() in texts

    monkeypatch.setattr(os, "replace", replace)
    texts = ["a" * 100_000, "b" * 1_000]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(20):
            list(pool.map(lambda text: write_whole(str(file), text), texts))
    assert os.listdir(tmp_path) == ["a.json"]


def test_an_interrupted_write_leaves_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        write_whole(str(tmp_path / "a.json"), "new")
    assert os.listdir(tmp_path) == []


def test_a_failed_write_is_an_error_and_the_file_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(OSError, match="file"):
        write_whole(str(tmp_path / "file" / "a"), "new")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_whole(str(tmp_path / "folder"), "new")
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("step", ["open", "replace"])
def test_an_error_names_the_file_and_not_its_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(first: str, *_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", first)

    file = tmp_path / "a.json"
    file.write_text("old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(PermissionError) as raised:
        write_whole(str(file), "new")
    monkeypatch.undo()
    assert (raised.value.filename, raised.value.filename2) == (str(file), None)
    assert str(raised.value) == f"[Errno {errno.EACCES}] Permission denied: {str(file)!r}"
    assert "->" not in str(raised.value)
    assert os.listdir(tmp_path) == ["a.json"]


def test_an_output_replaces_only_an_earlier_one_and_goes_through_links(tmp_path: Path) -> None:
    def is_ours(first: bytes) -> bool:
        return first.startswith(b"ours")

    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to("file")
    for text in ("", "ours: 1\n"):
        file.write_text(text)
        check_output(str(link), "the report", is_ours)
    write_output(str(link), "ours: 2\n")
    assert (link.is_symlink(), file.read_text()) == (True, "ours: 2\n")
    file.write_text("theirs\n")
    with pytest.raises(CallerError, match="no earlier file of the report"):
        check_output(str(link), "the report", is_ours)
    with pytest.raises(CallerError, match="is a folder"):
        check_output(str(tmp_path), "the report", is_ours)
    with pytest.raises(UnavailableError, match="cannot be written"):
        write_output(str(file / "below"), "ours")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_an_output_is_written_into_a_pipe_not_in_its_place(tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        check_output(pipe, "the report", lambda _: False)
        write_output(pipe, "ours\n")
        assert os.read(reader, 99) == b"ours\n"
    finally:
        os.close(reader)
