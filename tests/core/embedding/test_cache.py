"""The embedding cache keeps what it is given, within its bound, and never fails its caller."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import closing
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding import cache as cache_module
from commonplace.embedding.cache import EmbeddingCache, text_digest

if TYPE_CHECKING:
    from pathlib import Path

A, B, C = (text_digest(text) for text in "abc")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_what_was_put_is_got_by_another_handle(tmp_path: Path) -> None:
    path = str(tmp_path / "deep" / "embeddings.sqlite")
    one = EmbeddingCache(path)
    one.put("f", {A: b"1111"})
    one.close()
    other = EmbeddingCache(path)
    assert other.get("f", [A, B]) == {A: b"1111"}
    assert other.get("another fingerprint", [A]) == {}
    other.close()


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = str(tmp_path / "deep" / "embeddings.sqlite")
    cache = EmbeddingCache(path)
    cache.put("f", {A: b"1111"})
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    cache.close()


def test_the_least_recently_used_goes_first_and_reading_is_use(tmp_path: Path) -> None:
    cache = EmbeddingCache(str(tmp_path / "e.sqlite"), max_entries=2, clock=Clock())
    cache.put("f", {A: b"1111"})
    cache.put("f", {B: b"2222"})
    assert cache.get("f", [A])
    cache.put("f", {C: b"3333"})
    assert set(cache.get("f", [A, B, C])) == {A, C}
    assert cache.count() == 2
    cache.close()


def test_after_a_clock_was_set_back_what_is_new_is_not_the_first_to_go() -> None:
    d = text_digest("d")
    now = [5000.0]
    cache = EmbeddingCache(":memory:", max_entries=2, clock=lambda: now[0])
    cache.put("f", {A: b"1111"})
    now[0] = 5001.0
    cache.put("f", {B: b"1111"})
    now[0] = 1000.0
    before = cache.state()
    cache.put("f", {C: b"1111"})
    assert cache.get("f", [C]) == {C: b"1111"}
    assert cache.count() == 2
    assert cache.state() != before, "a full cache shows that it has other vectors"
    cache.get("f", [B])
    cache.put("f", {d: b"1111"})
    assert set(cache.get("f", [A, B, C, d])) == {B, d}


def test_a_damaged_file_is_thrown_away_and_filled_again(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    path.write_bytes(b"this is no database, and long enough to be read as one" * 100)
    cache = EmbeddingCache(str(path))
    assert cache.get("f", [A]) == {}
    assert "is not used" in cache.trouble
    cache.put("f", {A: b"1111"})
    assert cache.get("f", [A]) == {A: b"1111"}
    assert cache.trouble == ""
    cache.close()


def test_a_place_where_nothing_can_be_kept_is_said_and_survived(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = EmbeddingCache(str(tmp_path / "file" / "e.sqlite"))
    cache.put("f", {A: b"1111"})
    assert cache.get("f", [A]) == {}
    assert "is not used" in cache.trouble
    cache.close()


@pytest.mark.slow
def test_a_file_that_another_process_has_locked_is_said_and_survived(tmp_path: Path) -> None:
    path = str(tmp_path / "e.sqlite")
    cache = EmbeddingCache(path)
    cache.put("f", {A: b"1111"})
    code = (
        "import apsw, sys\n"
        "connection = apsw.Connection(sys.argv[1])\n"
        "connection.execute('BEGIN IMMEDIATE')\n"
        "print('locked', flush=True)\n"
        "sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        cache.put("f", {B: b"2222"})
        assert cache.trouble.endswith("is not used: another process is writing it")
        assert cache.get("f", [A, B]) == {A: b"1111"}
        assert cache.trouble == ""
        other.communicate("\n")
    cache.put("f", {B: b"2222"})
    assert cache.count() == 2
    cache.close()


def test_a_file_that_two_open_at_once_keeps_what_the_first_one_puts_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "e.sqlite")
    first = EmbeddingCache(path)
    begun: list[int] = []

    class Overtaken(apsw.Connection):
        """Between its look at the version and all that follows, the first one opens the file."""

        def execute(self, statements: str, *given: Any, **options: Any) -> Any:
            found = super().execute(statements, *given, **options)
            if not begun and statements == "PRAGMA user_version":
                begun.append(1)
                version = found.get
                with monkeypatch.context() as patch:
                    patch.setattr("commonplace.embedding.cache.apsw.Connection", real)
                    first.put("f", {A: b"1111"})
                return SimpleNamespace(get=version)
            return found

    real = apsw.Connection
    with monkeypatch.context() as patch:
        patch.setattr("commonplace.embedding.cache.apsw.Connection", Overtaken)
        second = EmbeddingCache(path)
        assert second.get("f", [A]) == {A: b"1111"}
    assert begun
    assert first.count() == 1
    first.close()
    second.close()


def test_a_table_of_no_version_is_begun_again(tmp_path: Path) -> None:
    path = str(tmp_path / "e.sqlite")
    with closing(apsw.Connection(path)) as older:
        older.execute("CREATE TABLE embedding (text, vector)")
    cache = EmbeddingCache(path)
    cache.put("f", {A: b"1111"})
    assert cache.get("f", [A]) == {A: b"1111"}
    cache.close()


def test_a_file_of_an_older_version_is_begun_again_and_that_is_said_once(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    with closing(apsw.Connection(str(path))) as older:
        older.execute("CREATE TABLE embedding (fingerprint, digest, vector, used_at)")
        older.execute("INSERT INTO embedding VALUES ('f', ?, zeroblob(100000), 5)", (A,))
        older.execute("PRAGMA user_version = 1")
    with closing(EmbeddingCache(str(path))) as cache:
        assert cache.get("f", [A]) == {}
        assert "it was of an older version of commonplace, and is filled again" in cache.trouble
        cache.put("f", {A: b"1111"})
        assert cache.trouble == ""
        assert cache.get("f", [A], dims=1) == {A: b"1111"}
    assert path.stat().st_size < 100_000


def test_a_file_of_an_older_version_is_deleted_without_moving_its_vectors(tmp_path: Path) -> None:
    path = str(tmp_path / "e.sqlite")
    with closing(apsw.Connection(path)) as older:
        older.execute("CREATE TABLE embedding (fingerprint, digest, vector, used_at)")
        older.execute("PRAGMA user_version = 1")
        with closing(EmbeddingCache(path)) as mine, closing(EmbeddingCache(path)) as theirs:
            older.execute("BEGIN IMMEDIATE")  # its process writes meanwhile: no lock is waited for
            assert (mine.count(), theirs.count()) == (0, 0)
            mine.put("f", {A: b"1111"})
            assert theirs.get("f", [A]) == {A: b"1111"}


@pytest.mark.parametrize("readonly", [False, True])
def test_a_file_of_a_newer_version_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, readonly: bool
) -> None:
    path = tmp_path / "e.sqlite"
    with closing(apsw.Connection(str(path))) as newer:
        newer.execute("CREATE TABLE embedding (fingerprint, digest, vector)")
        newer.execute("INSERT INTO embedding VALUES ('f', ?, 'paid for')", (A,))
        newer.execute("PRAGMA user_version = 99")
    if readonly:
        flags = apsw.SQLITE_OPEN_READONLY
        opened = partial(apsw.Connection, flags=flags)
        monkeypatch.setattr("commonplace.embedding.cache.apsw.Connection", opened)
    before = path.read_bytes()
    cache = EmbeddingCache(str(path))
    cache.put("f", {B: b"2222"})
    assert cache.get("f", [A]) == {}
    assert cache.faults() == ()
    assert cache.trouble.endswith("is not used: it belongs to a newer version of commonplace")
    cache.close()
    assert path.read_bytes() == before


def test_a_damaged_file_that_another_process_has_replaced_is_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "e.sqlite"
    one, other = EmbeddingCache(str(path)), EmbeddingCache(str(path))
    one.put("f", {A: b"1111"})
    one.close()
    assert other.get("f", []) == {}, "which opens the file and reads none of the vectors"
    size = path.stat().st_size
    with path.open("r+b") as file:  # all pages but the first, which has the schema
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    again = EmbeddingCache(str(path))
    assert again.get("f", [A]) == {}, "which deletes the file"
    again.put("f", {B: b"2222"})
    with monkeypatch.context() as patch:  # in the moment after the other has looked at the file
        real, before = cache_module._file_id, [other._file]
        patch.setattr(cache_module, "_file_id", lambda path: before.pop() if before else real(path))
        assert other.get("f", [A]) == {}
    assert "is not used" in other.trouble
    assert other.get("f", [B]) == again.get("f", [B]) == {B: b"2222"}
    again.close()
    other.close()


def test_what_is_put_after_another_process_has_deleted_the_file_is_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "e.sqlite")
    one, other = EmbeddingCache(path), EmbeddingCache(path)
    one.put("f", {A: b"1111"})
    other.discard()
    one.put("f", {B: b"2222"})
    assert other.get("f", [A, B]) == {B: b"2222"}
    one.close()
    other.close()


def test_a_file_that_cannot_be_written_any_more_still_answers(tmp_path: Path) -> None:
    cache = EmbeddingCache(str(tmp_path / "e.sqlite"), max_entries=9)
    cache.put("f", {A: b"1111"})
    assert cache._connection is not None

    denied = apsw.SQLITE_UPDATE
    cache._connection.authorizer = lambda what, *_: apsw.SQLITE_DENY if what == denied else 0
    assert cache.get("f", [A]) == {A: b"1111"}
    assert cache.trouble == ""
    cache.close()


def test_a_path_that_sqlite_cannot_be_given_is_said_and_survived(tmp_path: Path) -> None:
    cache = EmbeddingCache(str(tmp_path / "\udcff" / "e.sqlite"))
    cache.put("f", {A: b"1111"})
    assert cache.get("f", [A]) == {}
    assert "is not used" in cache.trouble
    cache.close()


def test_a_write_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    path = str(tmp_path / "e.sqlite")
    for _ in range(2):  # made, and opened again
        cache = EmbeddingCache(path)
        cache.put("f", {A: b"1111"})
        assert cache._connection is not None
        normal = 1
        assert cache._connection.pragma("synchronous") == normal
        cache.close()


def test_a_closed_cache_knows_nothing(tmp_path: Path) -> None:
    cache = EmbeddingCache(str(tmp_path / "e.sqlite"))
    cache.put("f", {A: b"1111"})
    cache.close()
    cache.close()
    assert cache.get("f", [A]) == {}


@given(st.dictionaries(st.binary(min_size=32, max_size=32), st.binary(min_size=4, max_size=8)))
def test_any_number_of_vectors_comes_back(vectors: dict[bytes, bytes]) -> None:
    cache = EmbeddingCache(":memory:")
    cache.put("f", vectors)
    assert cache.get("f", list(vectors)) == vectors
    cache.close()
