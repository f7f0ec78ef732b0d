from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from commonplace.testing import make_put, publish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace_sqlite.store import SqliteStore

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs rights of the POSIX kind")

OTHER_USER = 65_534

# Permissions do not bind the superuser, so the tested process changes its user, after it has
# imported everything, for Python itself may lie where other users cannot read it.
BEGINNING = """
import importlib, os, pkgutil, sys
import commonplace, commonplace_sqlite
from commonplace.errors import IndexReadOnlyError
from commonplace.testing import make_put, publish, write
for package in (commonplace, commonplace_sqlite):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
from commonplace_sqlite.store import SqliteStore
path, user = sys.argv[1], int(sys.argv[2])
if os.getuid() == 0:
    os.setgid(user)
    os.setuid(user)
store = SqliteStore(path)
"""

SCRIPT = (
    BEGINNING
    + """
print(sorted(document.path for document in store.documents()))
try:
    write(store, make_put("new.md", "ant"))
    print("written")
except IndexReadOnlyError as error:
    print("read-only:", "\\n" not in str(error))
except LookupError:
    publish(store, make_put("new.md", "ant"))
    print("made")
health = store.health(deep=True)
print(health.writable, health.problems, len(health.notices))
print(health.notices[0])
store.close()
"""
)


def as_another_user(path: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, path, str(OTHER_USER)],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    return ran.stdout.splitlines()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody can get to.

    It is not below pytest's own, which is closed to others: several processes run tests there, and
    what one of them opens and closes again would be closed to the others' tests.
    """
    with TemporaryDirectory() as own:
        os.chmod(own, 0o755)
        folder = Path(own, "state")
        if any(not one.stat().st_mode & 0o001 for one in folder.parents):
            pytest.skip(f"other users cannot get to {own}")
        folder.mkdir()
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def protect(folder: Path, mode: int = 0o444) -> None:
    for file in folder.iterdir():
        file.chmod(mode)
    folder.chmod(0o555)


@pytest.fixture
def index(folder: Path, open_store: Callable[..., SqliteStore]) -> str:
    path = str(folder / "index.sqlite")
    store = open_store(path)
    publish(store, make_put("a.md", "ant"))
    store.close()
    return path


@pytest.mark.slow
def test_a_read_only_index_is_searched(index: str, folder: Path) -> None:
    protect(folder)
    documents, written, health, notice = as_another_user(index)
    assert documents == "['a.md']"
    assert written == "read-only: True"
    assert health == "False () 1"
    assert notice.startswith("the index cannot be updated")


@pytest.mark.slow
def test_it_is_searched_while_its_owner_has_it_open(
    index: str, folder: Path, open_store: Callable[..., SqliteStore]
) -> None:
    owner = open_store(index)
    publish(owner, make_put("b.md", "bee"), identity="second")
    protect(folder)
    documents, written, _, _ = as_another_user(index)
    assert documents == "['b.md']"
    assert written == "read-only: True"
    assert {document.path for document in owner.documents()} == {"b.md"}


@pytest.mark.slow
def test_an_unreadable_index_is_replaced_in_memory(index: str, folder: Path) -> None:
    protect(folder, 0o000)
    documents, written, health, notice = as_another_user(index)
    assert (documents, written, health) == ("[]", "made", "True () 1")
    assert notice.startswith("the index is lost when this process ends")


@pytest.mark.slow
def test_a_log_that_cannot_be_read_back_is_no_index(index: str, folder: Path) -> None:
    """What is in the log is part of the index: without it the file may be of two minds."""
    (folder / "index.sqlite-wal").write_bytes(b"x" * 5_000)
    protect(folder)
    documents, written, _, _ = as_another_user(index)
    assert (documents, written) == ("[]", "made")


@pytest.mark.slow
def test_without_an_index_or_a_writable_folder_memory_is_used(folder: Path) -> None:
    folder.chmod(0o555)
    for path in (folder / "index.sqlite", folder / "deeper" / "index.sqlite"):
        documents, written, health, notice = as_another_user(str(path))
        assert (documents, written, health) == ("[]", "made", "True () 1")
        assert "Permission denied" in notice
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_a_damaged_index_that_cannot_be_moved_is_left(index: str, folder: Path) -> None:
    with open(index, "wb") as file:
        file.write(b"# no database\n" * 100)
    protect(folder)
    documents, written, health, _ = as_another_user(index)
    assert (documents, written, health) == ("[]", "made", "True () 1")
    with open(index, "rb") as file:
        assert file.read() == b"# no database\n" * 100


RECOVERING = (
    BEGINNING
    + """
for name in ("one.md", "two.md", "three.md"):
    try:
        write(store, make_put(name, "ant"))
        said = "written"
    except IndexReadOnlyError:
        said = "read-only"
    health = store.health()
    found = sorted(document.path for document in store.documents())
    print(said, health.writable, len(health.notices), ",".join(found), flush=True)
    sys.stdin.readline()
store.close()
"""
)


@pytest.mark.slow
def test_what_was_read_only_is_written_again_by_the_same_process(index: str, folder: Path) -> None:
    protect(folder)
    process = subprocess.Popen(
        [sys.executable, "-c", RECOVERING, index, str(OTHER_USER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    lines = [process.stdout.readline().split()]
    folder.chmod(0o777)
    for file in folder.iterdir():
        file.chmod(0o666)
    for _ in range(2):
        process.stdin.write("\n")
        process.stdin.flush()
        lines.append(process.stdout.readline().split())
    process.communicate("\n")
    assert process.returncode == 0
    assert lines == [
        ["read-only", "False", "1", "a.md"],
        ["written", "True", "0", "a.md,two.md"],
        ["written", "True", "0", "a.md,three.md,two.md"],
    ]


def test_a_folder_where_no_index_can_be_created_is_named(
    folder: Path, open_store: Callable[..., SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_store(str(folder / "deeper/index.sqlite")).health().notices == ()
    in_the_way = folder / "file"
    in_the_way.write_text("no folder")
    store = open_store(str(in_the_way / "deeper/index.sqlite"))
    assert store.health().notices == (
        f"the index cannot be created: {in_the_way} cannot be written",
    )
    # The superuser may write everywhere.
    monkeypatch.setattr(os, "access", lambda path, _mode: os.fspath(path) != str(folder))
    store = open_store(str(folder / "deeper/index.sqlite"))
    assert store.health().notices == (f"the index cannot be created: {folder} cannot be written",)
