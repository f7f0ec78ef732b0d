from __future__ import annotations

import errno
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commonplace.dirs import write_whole

if TYPE_CHECKING:
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


@posix
def test_drafts_of_processes_that_have_ended_go_and_nothing_else(tmp_path: Path) -> None:
    kept = ["a.json.bak", f"a.json.{os.getppid()}", f"b.json.{ended_process()}", "a.json.", "1"]
    for name in (*kept, f"a.json.{ended_process()}", f"a.json.{10**30}"):
        (tmp_path / name).write_text("old")
    write_whole(str(tmp_path / "a.json"), "new")
    assert sorted(os.listdir(tmp_path)) == sorted(["a.json", *kept])


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
