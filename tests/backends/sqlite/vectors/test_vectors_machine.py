from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import apsw
import numpy as np
import pytest

from commonplace.errors import DeadlineExceededError
from commonplace.protocols.contexts import StoreContext
from commonplace.resilience.deadline import Deadline
from commonplace.testing import live_build, make_put, publish, write
from commonplace.testing.base import EVERYWHERE, WAIT, attach, make_vector, nearest
from commonplace_sqlite.plugin import SqliteSettings, VectorSettings, make_store
from commonplace_sqlite.schema import checked_vfs
from commonplace_sqlite.vectors import codes, matrix, searching
from commonplace_sqlite.vectors.searching import Extension, installed

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.documents import Build
    from commonplace_sqlite.store import SqliteStore
    from commonplace_sqlite.vectors.searching import VectorSearch

    Plans = dict[str, tuple[str, Callable[[], VectorSearch]]]


def _vectors(**settings: Any) -> SqliteSettings:
    return SqliteSettings(vector=VectorSettings(**settings))


EAST, NORTH = make_vector(1, 0, 0), make_vector(0, 1, 0)


@pytest.fixture
def filled(store: SqliteStore) -> SqliteStore:
    put = make_put("a.md", "ant", "bee")
    build = publish(store, put)
    vectors = dict(zip((c.digest for c in put.chunks), (EAST, NORTH), strict=True))
    attach(store, build, "space", vectors)
    return store


def test_sqlite_vec_is_found_without_being_imported() -> None:
    code = (
        "import sys, apsw; from commonplace_sqlite.vectors.searching import Extension;"
        "assert Extension().load(apsw.Connection(':memory:'));"
        "assert not {'sqlite_vec', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("ask", "forbidden"),
    [
        ("store.keyword(KeywordQuery(('ant',)), where=Where(), limit=9, deadline=NEVER)", ""),
        ("store.nearest('space', v, where=Where(), limit=9, deadline=NEVER)", "simsimd"),
    ],
)
def test_a_first_search_imports_no_numpy(
    filled: SqliteStore, path: str, ask: str, forbidden: str
) -> None:
    """A search for words does not even look for it; one for vectors does without."""
    filled.close()
    code = (
        "import sys\n"
        "from commonplace.resilience.deadline import NEVER\n"
        "from commonplace.model.search import KeywordQuery, Where\n"
        "from commonplace_sqlite.store import SqliteStore\n"
        f"store = SqliteStore({path!r}); v = {EAST!r}\n"
        "assert store.spaces()\n"
        f"assert {ask}\n"
        f"assert not {{'numpy', 'sqlite_vec'}} & set(sys.modules)\n"
        f"assert {forbidden!r} == 'simsimd' or 'simsimd' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_extension_can_be_configured_by_path(filled: SqliteStore, path: str) -> None:
    spec = installed("sqlite_vec")
    assert spec is not None
    (folder,) = cast("list[str]", spec.submodule_search_locations)
    filled.close()
    store = cast(
        "SqliteStore",
        make_store(StoreContext(path=path, config=_vectors(extension_path=f"{folder}/vec0"))),
    )
    assert store.health().notices == ()
    assert Extension(path=f"{folder}/vec0").load(apsw.Connection(":memory:"))
    store.close()


def test_an_extension_that_cannot_be_loaded_is_reported_and_not_needed(
    filled: SqliteStore, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codes, "_trusted_simsimd", lambda: None)
    before = nearest(filled, EAST)
    assert before.plan == "sqlite-vec"
    filled.close()
    wrong = tmp_path / "wrong.so"
    wrong.write_bytes(b"no library")
    store = cast(
        "SqliteStore",
        make_store(StoreContext(path=path, config=_vectors(extension_path=str(wrong)))),
    )
    after = nearest(store, EAST)
    assert (after.found, after.exact, after.plan) == (before.found, True, "float32")
    (notice,) = store.health().notices
    assert "without sqlite-vec" in notice
    assert str(wrong) in notice
    store.close()


def test_an_extension_that_is_switched_off_is_no_news(
    filled: SqliteStore, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codes, "_trusted_simsimd", lambda: None)
    filled.close()
    store = cast("SqliteStore", make_store(StoreContext(path=path, config=_vectors(enabled=False))))
    assert nearest(store, EAST).plan == "float32"
    assert store.health().notices == ()
    store.close()


def test_what_is_not_installed_is_reported_if_there_are_vectors(
    open_store: Callable[..., SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "installed", lambda _: None)
    store = open_store()
    build = publish(store, make_put("a.md", "ant"))
    assert store.health().notices == ()
    ((digest, _),) = store.missing_vectors(build, "space")
    attach(store, build, "space", {digest: EAST})
    slow, plain = sorted(store.health().notices)
    assert "numpy is not installed" in slow
    assert "sqlite-vec is not installed" in plain


def test_a_numpy_that_is_too_old_is_not_used(
    filled: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(np, "vecdot")  # as before 2.0
    before, *later = [nearest(filled, EAST) for _ in range(3)]
    assert [answer.found for answer in later] == [before.found] * 2
    (notice,) = filled.health().notices
    assert "numpy is older than 2.0" in notice


def test_a_kernel_that_miscalculates_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        @staticmethod
        def cdist(_: memoryview, rows: memoryview, **kind: str) -> Any:
            assert kind["metric"] == "dot"
            count = len(rows.tolist())
            return memoryview(bytes(8 * count)).cast("d", shape=[1, count])

    assert codes.Kernels().simsimd is not None
    monkeypatch.setitem(sys.modules, "simsimd", Wrong)
    assert codes.Kernels().simsimd is None


@pytest.mark.parametrize("plan", ["numpy in memory", "numpy and PCA bounds"])
def test_what_is_kept_in_memory_follows_the_file(
    store: SqliteStore, open_store: Callable[..., SqliteStore], exact_plans: Plans, plan: str
) -> None:
    """Of another writer too: documents replaced, removed and added, a build in its place."""
    _, make_search = exact_plans[plan]
    reader = open_store()
    reader._search = make_search()
    publish(store, *(make_put(f"{n}.md", f"one {n}", f"two {n}") for n in range(40)))
    for turn, number in enumerate((*range(40), 3, 5, 3)):
        with store.writer(wait=WAIT):
            build = live_build(store)
            revised = make_put(f"{number}.md", *(f"three {number} {i}" for i in range(turn % 4)))
            store.put_documents(build, [revised])
        texts = dict(store.missing_vectors(build, "space"))
        vectors = {d: make_vector(1, len(text), int(text.split()[1])) for d, text in texts.items()}
        attach(store, build, "space", vectors)
        answer = nearest(reader, EAST)
        assert answer.plan == "int8 in memory" or not turn
        assert answer.found == nearest(store, EAST).found
    publish(store, make_put("new.md", "three 3 0"), identity="second")
    assert len(nearest(reader, EAST).found) == 1


def test_an_update_that_the_deadline_cuts_off_is_made_again(
    store: SqliteStore, exact_plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    store._search = exact_plans["numpy in memory"][1]()
    monkeypatch.setattr(matrix, "_BATCH", 1)
    append = matrix.Matrix._append

    def late(self: matrix.Matrix, slabs: Any) -> None:
        append(self, slabs)
        raise apsw.InterruptError("the deadline")

    def embed(build: Build) -> None:
        missing = store.missing_vectors(build, "space")
        attach(store, build, "space", {digest: EAST for digest, _ in missing})

    build = publish(store, make_put("a.md", "ant"))
    embed(build)
    assert [nearest(store, EAST).plan for _ in range(2)][-1] == "int8 in memory"
    write(store, make_put("b.md", "bee"), make_put("c.md", "cat"))
    embed(build)
    with monkeypatch.context() as patch:
        patch.setattr(matrix.Matrix, "_append", late)
        with pytest.raises(DeadlineExceededError):
            nearest(store, EAST)
    for _ in range(2):
        assert [hit.chunk.path for hit in nearest(store, EAST).found] == ["a.md", "b.md", "c.md"]


def test_a_file_that_replaces_another_is_noticed(
    store: SqliteStore, open_store: Callable[..., SqliteStore], path: str, exact_plans: Plans
) -> None:
    store._search = exact_plans["numpy in memory"][1]()
    for vector in (EAST, NORTH):
        other = open_store()
        put = make_put("a.md", "ant")
        attach(other, publish(other, put), "space", {put.chunks[0].digest: vector})
        other.close()
        for _ in range(2):
            (score,) = [hit.score for hit in nearest(store, EAST).found]
            assert score == (vector == EAST)
        for suffix in ("", "-wal", "-shm"):
            Path(path + suffix).unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["simsimd from file", "numpy in memory", "sqlite-vec", "python"])
def test_every_plan_keeps_its_deadline(filled: SqliteStore, exact_plans: Plans, name: str) -> None:
    filled._search = exact_plans[name][1]()
    for _ in range(2):
        nearest(filled, EAST)
    ticks = iter([0.0] * 2 + [2.0] * 1_000)
    with pytest.raises(DeadlineExceededError):
        filled.nearest(
            "space",
            EAST,
            where=EVERYWHERE,
            limit=1,
            deadline=Deadline(1.0, clock=lambda: next(ticks)),
        )


def test_a_deep_check_finds_what_is_derived_wrongly(filled: SqliteStore, path: str) -> None:
    assert filled.health(deep=True).problems == ()
    connection = apsw.Connection(path, vfs=checked_vfs(""))
    connection.execute("DELETE FROM code_1")
    connection.execute("UPDATE slab_1 SET document = 99, count = 7")
    connection.close()
    problems = filled.health(deep=True).problems
    assert len(problems) == 3
