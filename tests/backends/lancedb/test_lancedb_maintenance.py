"""Indexes, compaction and old versions; and searches of tables that have them."""

from __future__ import annotations

import contextlib
import os
import re
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from commonplace.errors import IndexUnavailableError
from commonplace.model.chunks import DeleteDocument
from commonplace.model.search import KeywordQuery, Where
from commonplace.resilience.deadline import NEVER
from commonplace.testing import make_chunk, make_put, publish, search, write
from commonplace.testing.base import (
    EVERYWHERE,
    WAIT,
    attach,
    digests,
    held,
    make_vector,
    nearest,
    places,
    scored,
    words,
)
from commonplace_lancedb import maintenance
from commonplace_lancedb.errors import ConflictError
from commonplace_lancedb.rows import read
from commonplace_lancedb.snapshot import Snapshot
from commonplace_lancedb.vector_index import CANDIDATES, UNMEASURED, Measured, measured_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commonplace.model.chunks import PutDocument
    from commonplace_lancedb.store import LanceStore

pytestmark = pytest.mark.slow


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Maintenance is due at every opportunity."""
    for name, value in {"_LOOSE_ROWS": 0, "_MOST_FRAGMENTS": 0, "_SCALAR_FROM": 1}.items():
        monkeypatch.setattr(maintenance, name, value)


def rows(store: LanceStore, condition: str) -> int:
    number: int = store._database.table().count_rows(condition)
    return number


def indexes(store: LanceStore) -> dict[str, Any]:
    snapshot = store._database.latest()
    assert snapshot is not None
    return snapshot.indexes()


@pytest.mark.usefixtures("eager")
def test_maintenance_indexes_every_row_and_deletes_dead_ones(store: LanceStore) -> None:
    publish(store, *(make_put(f"{number}.md", "ant", "bee") for number in range(20)))
    write(store, *(make_put(f"{number}.md", "cat") for number in range(10)))
    write(store, *(DeleteDocument("memory", f"{number}.md") for number in range(5)))
    assert rows(store, "kind = 'dead'") == 0
    found = indexes(store)
    assert {"source", "path", "id", "terms"} <= found.keys()
    assert {index.num_unindexed_rows for index in found.values()} == {0}
    assert len(search(store, words("cat"))) == 5
    assert len(search(store, words("ant"))) == 10
    assert store.health(deep=True).problems == ()


def test_a_table_of_few_rows_is_left_alone_until_there_are_many_files(store: LanceStore) -> None:
    publish(store, make_put("a.md", "ant"))
    assert set(indexes(store)) == {"terms"}
    for number in range(40):
        write(store, make_put(f"{number}.md", "ant"))
    stats = store._database.table().stats()
    assert stats["fragment_stats"]["num_fragments"] <= 33
    assert len(search(store, words("ant"))) == 41


@pytest.mark.usefixtures("eager")
def test_old_versions_are_deleted(
    store: LanceStore, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import timedelta

    monkeypatch.setattr(maintenance, "_KEPT", timedelta(milliseconds=1))
    for number in range(5):
        publish(store, make_put("a.md", f"ant{number}"), identity=str(number))
    table = store._database.table()
    # Commits of the last millisecond are kept, however many these are.
    assert len(table.list_versions()) <= table.version / 4
    assert len(search(store, words("ant4"))) == 1
    assert os.path.isdir(folder)


@pytest.mark.usefixtures("eager")
def test_rows_of_a_build_that_were_left_behind_are_found(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, make_put("a.md", "ant"), identity="old")
    with monkeypatch.context() as patched:
        # Killed between the commit that drops a build and the one that deletes its rows.
        patched.setattr(maintenance, "forget_builds", lambda *_: None)
        patched.setattr(maintenance, "tidy", lambda *_, **__: None)
        build = publish(store, make_put("b.md", "ant"), identity="new")
    assert rows(store, "kind = 'doc'") == 2
    assert set(held(store)) == {("memory", "b.md")}
    write(store, make_put("c.md", "ant"))
    assert rows(store, "kind = 'doc'") == 2
    assert rows(store, f"kind = 'doc' AND build <> {build.id}") == 0


def test_maintenance_that_conflicts_is_left_to_others(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hinder(*_: Any) -> None:
        raise ConflictError

    monkeypatch.setattr(maintenance, "_tidy", hinder)
    publish(store, make_put("a.md", "ant"))
    assert len(search(store, words("ant"))) == 1


def test_each_writer_waits_for_a_while_of_its_own_and_longer_once_it_was_hindered(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = iter([1.2, 1.4])
    patience = maintenance.Patience(lambda *_: next(drawn))
    assert patience.times == 1.2

    def hinder(*_: Any) -> None:
        raise ConflictError

    publish(store, make_put("a.md", "ant"))
    with monkeypatch.context() as patched:
        patched.setattr(maintenance, "_tidy", hinder)
        assert not maintenance.tidy(store._database, index_vectors_from=9, patience=patience)
    assert patience.times == 1.5
    for _ in range(20):
        patience.hindered()
    assert patience.times == 3.0
    maintenance.tidy(store._database, index_vectors_from=9, patience=patience)
    assert patience.times == 3.0, "nothing was due"
    monkeypatch.setattr(maintenance, "_MOST_FRAGMENTS", 0)
    maintenance.tidy(store._database, index_vectors_from=9, patience=patience)
    assert patience.times == 1.4


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Maintenance is that of a bucket, where the last files alone are merged most of the time."""
    monkeypatch.setattr(maintenance, "_is_far", lambda _: True)
    monkeypatch.setattr(maintenance, "_MOST_FRAGMENTS", 4)


def files(store: LanceStore) -> int:
    number: int = store._database.table().stats()["fragment_stats"]["num_fragments"]
    return number


@pytest.mark.usefixtures("far")
def test_in_a_bucket_the_last_files_are_merged_and_no_index_is_made_again(
    open_store: Callable[..., LanceStore],
) -> None:
    store, other = open_store(), open_store("other")
    puts = [make_put(f"{number}.md", "ant", f"n{number}") for number in range(20)]
    build = publish(store, *puts)
    publish(other, make_put("theirs.md", "ant"))
    store._database.table().optimize()
    before = {name: index.index_uuid for name, index in indexes(store).items()}
    attach(store, build, "space", dict.fromkeys(digests(puts[:5]), make_vector(1, 0, 0)))
    most = 0
    for number in range(6):
        write(store, make_put(f"{number}.md", "ant new"), DeleteDocument("memory", "19.md"))
        write(other, make_put(f"{number}.md", "ant"))
        most = max(most, files(store))
    assert most <= 8
    assert {name: index.index_uuid for name, index in indexes(store).items()} == before
    assert rows(store, "kind = 'dead'") <= 6
    assert len(search(store, words("new"), limit=50)) == 6
    assert len(search(store, words("ant"), limit=50)) == 19
    assert len(search(other, words("ant"), limit=50)) == 7
    assert store.health(deep=True).problems == other.health(deep=True).problems == ()


@pytest.mark.usefixtures("far")
def test_what_is_written_while_files_are_merged_stays_written(
    open_store: Callable[..., LanceStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = open_store(), open_store()
    puts = [make_put(f"{number}.md", "ant", f"n{number}") for number in range(6)]
    build = publish(store, *puts)
    store._database.table().optimize()
    for number in range(3):
        write(store, make_put(f"{number}.md", "ant bee"))
    whole = read

    def late(*arguments: Any) -> Any:
        found = whole(*arguments)
        # These rows have been read, and are not written yet.
        write(other, make_put("0.md", "ant cat"), DeleteDocument("memory", "1.md"))
        attach(other, build, "space", dict.fromkeys(digests(puts[3:]), make_vector(1, 0, 0)))
        attach(other, build, "space", _new("2.md", make_vector(0, 1, 0)))
        return found

    monkeypatch.setattr(maintenance, "tidy", lambda *_, **__: "")
    monkeypatch.setattr(maintenance, "read", late)
    with contextlib.suppress(ConflictError):
        maintenance._merge_last(store._database, 4)
    fresh = open_store()
    assert len(search(fresh, words("cat"))) == 1
    assert ("memory", "1.md") not in held(fresh)
    assert len(held(fresh)) == 5
    assert places(nearest(fresh, make_vector(0, 1, 0), limit=1).found)[0][1] == "2.md"
    assert fresh.health(deep=True).problems == ()


def _new(path: str, vector: bytes) -> dict[str, bytes]:
    return dict.fromkeys(digests([make_put(path, "ant bee")]), vector)


@pytest.mark.usefixtures("far")
def test_where_the_last_files_cannot_be_merged_all_are(
    store: LanceStore,
) -> None:
    publish(store, make_put("0.md", "ant"))
    table = store._database.table()
    table.optimize()
    assert not maintenance._merge_last(store._database, 4), "every row is in the index"
    write(store, make_put("1.md", "ant"))
    assert not maintenance._merge_last(store._database, 0), "too many files are left"
    assert maintenance._merge_last(store._database, 4)


def test_a_large_table_in_a_bucket_may_have_more_files() -> None:
    assert maintenance.most_files(1_000_000) == 32
    assert maintenance.most_files(10, 1.0) == maintenance.most_files(20_000, 1.0) == 64
    assert maintenance.most_files(80_000, 1.5) == 192


def test_failing_maintenance_fails_no_write_and_is_reported(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise IndexUnavailableError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(maintenance, "_tidy", fail)
        publish(store, make_put("a.md", "ant"))
    assert len(search(store, words("ant"))) == 1
    assert store.health().notices == ("the table could not be tidied: the disk is full",)
    write(store, make_put("b.md", "ant"))
    assert store.health().notices == ()


def test_equal_matches_are_in_order_however_many(store: LanceStore) -> None:
    """More than are scored at first: the first by path may be the last that Lance names."""
    publish(store, *(make_put(f"{number:04}.md", "ant", "ant") for number in range(999, -1, -1)))
    found = search(store, words("ant"), limit=3)
    assert places(found) == [
        ("memory", "0000.md", 1),
        ("memory", "0000.md", 2),
        ("memory", "0001.md", 1),
    ]
    assert search(store, words("ant"), limit=10**9)[:3] == found


def test_many_matches_are_filtered_and_have_their_phrases(store: LanceStore) -> None:
    crowd = [make_put(f"crowd/{number}.md", "ant bee", "bee ant") for number in range(700)]
    lone = make_put("lone/it's.md", "ant cat bee", "cat ant bee", source="sessions")
    publish(store, *crowd, lone)
    for where in (
        Where(paths=("lone",)),
        Where(paths=("lone/it's.md",)),
        Where(paths=("*/it?s.md",)),
        Where(sources=frozenset({"sessions"})),
    ):
        found = search(store, words("ant"), where)
        assert [path for _, path, _ in places(found)] == ["lone/it's.md"] * 2
    phrase = KeywordQuery(should=("ant", "bee"), must=(("ant", "bee"),))
    assert len(search(store, phrase)) == 701
    without = KeywordQuery(should=("ant",), must=(("bee",),), must_not=(("ant", "bee"),))
    assert len(search(store, without)) == 701
    assert search(store, words("ant"), Where(paths=("*/none.md",))) == []


def test_a_frequent_token_is_counted_in_a_sample(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from commonplace_lancedb import keyword

    publish(store, *(make_put(f"{n}.md", "ant x", f"bee{n % 7} x") for n in range(600)))
    exact = scored(search(store, words("ant", "bee0"), limit=2_000))
    for name, value in {"_SAMPLE": 400, "_COUNTED": 50}.items():
        monkeypatch.setattr(keyword, name, value)
    write(store, make_put("later.md", "cat"))
    sampled = scored(search(store, words("ant", "bee0"), limit=2_000))
    assert sampled.keys() == exact.keys()
    # A third of the build is sampled; the counts of half of it and of a twelfth are close enough.
    assert max(sampled.values()) == pytest.approx(max(exact.values()), rel=0.25)


def corpus(count: int) -> list[PutDocument]:
    return [
        make_put(
            f"{number:04}.md", *(make_chunk(f"n{number} {line}", line=line) for line in (1, 2))
        )
        for number in range(count)
    ]


def random_vectors(names: Iterable[str], dims: int) -> dict[str, bytes]:
    random = Random(7)
    return {name: make_vector(*(random.gauss(0, 1) for _ in range(dims))) for name in names}


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("dims", [16, 12])
def test_many_vectors_get_an_index_and_the_plan_names_it(
    open_store: Callable[..., LanceStore], monkeypatch: pytest.MonkeyPatch, dims: int
) -> None:
    store = open_store(vector_index_rows=1_000)
    exact = open_store(vector_index_rows=10**9)
    documents = corpus(600)
    build = publish(store, *documents)
    vectors = random_vectors(digests(documents), dims)
    attach(store, build, "space", vectors, dims=dims)
    assert any(column.startswith("v_") for column in indexes(store))
    compared = []
    whole = Snapshot.nearest

    def counting(*args: Any, **kwargs: Any) -> Any:
        rows = whole(*args, **kwargs)
        compared.append((kwargs["index"], rows.num_rows))
        return rows

    monkeypatch.setattr(Snapshot, "nearest", counting)
    nearest(store, next(iter(vectors.values())), limit=10)
    assert compared == [(measured(store), CANDIDATES)]
    recalled = 0
    for query in list(vectors.values())[:10]:
        found, true = nearest(store, query, limit=10), nearest(exact, query, limit=10)
        assert (found.exact, true.exact) == (False, True)
        assert re.fullmatch(
            r"IVF index, \d+ probes, scored again: finds (0\.99\d|1\.000) of the ten nearest",
            found.plan,
        )
        scores = [hit.score for hit in found.found]
        assert scores == sorted(scores, reverse=True)
        assert found.found[0] == true.found[0]
        recalled += len(scored(found.found).keys() & scored(true.found).keys())
    assert recalled >= 97
    every = nearest(store, next(iter(vectors.values())), limit=5_000)
    assert (len(every.found), every.plan) == (1_200, "every vector")
    one, some = Where(paths=("0007.md",)), Where(not_paths=("0007.md",))
    assert len(nearest(store, next(iter(vectors.values())), one).found) == 2
    filtered = nearest(store, next(iter(vectors.values())), some, limit=5)
    assert filtered.plan.endswith("without a filter")
    write(store, make_put("new.md", make_chunk("n0 1", line=9)))
    first = next(iter(vectors.values()))
    assert places(nearest(store, first, limit=2).found)[1][1] == "new.md"


def measured(store: LanceStore) -> Measured | None:
    snapshot = store._database.latest()
    assert snapshot is not None
    (field,) = (one for one in snapshot.schema() if one.name.startswith("v_"))
    return measured_of(field)


@pytest.mark.usefixtures("eager")
def test_an_index_is_built_again_when_there_are_twice_the_vectors(
    open_store: Callable[..., LanceStore],
) -> None:
    store = open_store(vector_index_rows=1_000)
    documents = corpus(1_300)
    vectors = random_vectors(digests(documents), 16)
    build = publish(store, *documents[:600])
    attach(store, build, "space", vectors, dims=16)
    first = measured(store)
    assert first is not None
    assert (first.rows, first.recall >= 0.99) == (1_200, True)
    assert first.refined in {1, 2, 4, 6}
    write(store, *documents[600:700])
    attach(store, build, "space", vectors, dims=16)
    assert measured(store) == first
    write(store, *documents[700:])
    attach(store, build, "space", vectors, dims=16)
    again = measured(store)
    assert again is not None
    assert again.rows == 2_600


@pytest.mark.usefixtures("eager")
def test_an_index_that_finds_too_few_is_not_used(
    open_store: Callable[..., LanceStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = Measured(40, 0.9, 9, 6)
    monkeypatch.setattr("commonplace_lancedb.vector_index._measure", lambda *_: few)
    store = open_store(vector_index_rows=1_000)
    documents = corpus(600)
    build = publish(store, *documents)
    vectors = random_vectors(digests(documents), 16)
    attach(store, build, "space", vectors, dims=16)
    assert measured(store) == few
    answer = nearest(store, next(iter(vectors.values())), limit=10)
    assert (answer.exact, answer.plan) == (True, "every vector")


def test_a_namespace_of_a_few_vectors_of_a_table_looks_into_more_parts() -> None:
    index = Measured(40, 0.995, 100_000, 2)
    assert index.of_part(100_000) == index.of_part(150_000) == index
    assert index.of_part(30_000).probes == 160
    assert UNMEASURED.of_part(60_000) == UNMEASURED
    assert "not measured" in UNMEASURED.plan(filtered=True)


def test_what_was_measured_is_read_from_the_column_of_an_older_table_too() -> None:
    class Field:
        metadata: ClassVar = {b"commonplace:index": b"40 0.9950 100000"}

    assert measured_of(Field()) == Measured(40, 0.995, 100_000, 6)
    Field.metadata = {b"commonplace:index": Measured(40, 0.995, 100_000, 2).text.encode()}
    assert measured_of(Field()) == Measured(40, 0.995, 100_000, 2)


def test_equally_near_vectors_are_in_order_however_many(store: LanceStore) -> None:
    documents = corpus(300)
    build = publish(store, *reversed(documents))
    attach(store, build, "space", dict.fromkeys(digests(documents), make_vector(1, 0, 0)))
    answer = store.nearest("space", make_vector(1, 1, 0), where=EVERYWHERE, limit=3, deadline=NEVER)
    assert places(answer.found) == [
        ("memory", "0000.md", 1),
        ("memory", "0000.md", 2),
        ("memory", "0001.md", 1),
    ]
    assert answer.exact


def test_a_damaged_count_is_a_finding(store: LanceStore) -> None:
    publish(store, make_put("a.md", "ant", "bee"), make_put("b.md", "ant"))
    with store.writer(wait=WAIT):
        store._database.table().delete("kind = 'chunk' AND path = 'a.md'")
    problems = store.health(deep=True).problems
    assert any("another number of chunks" in line for line in problems)
    assert any("counts are wrong" in line for line in problems)
