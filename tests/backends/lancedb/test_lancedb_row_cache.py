"""A process that starts from rows on disk answers as the table does, whatever became of either."""

from __future__ import annotations

import os
import shutil
import time
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.model.chunks import DeleteDocument
from commonplace.model.search import KeywordQuery, Where
from commonplace.protocols.contexts import StoreContext
from commonplace.resilience.deadline import NEVER
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import (
    attach,
    digests,
    live_build,
    make_vector,
    nearest,
    places,
    words,
)
from commonplace.testing.base import held as documents_of
from commonplace_lancedb import maintenance, row_cache, rows, sealed
from commonplace_lancedb.plugin import make_store
from commonplace_lancedb.row_cache import RowCache
from commonplace_lancedb.settings import LanceSettings, location_of
from commonplace_lancedb.store import LanceStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

loaded_rows = pytest.importorskip(
    "commonplace_lancedb.loaded_rows", reason="needs the extra lancedb"
)
pytestmark = pytest.mark.slow

PLENTY = 1_000_000_000
EAST, NORTH = make_vector(1, 0, 0), make_vector(0, 1, 0)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "lancedb"


@pytest.fixture
def process(
    lancedb_installed: None, folder: str, cache: Path
) -> Iterator[Callable[..., LanceStore]]:
    """Opens stores as a process that starts does: with nothing in memory, and the files of it."""
    opened: list[LanceStore] = []

    def make(name: str = "main", most_bytes: int = PLENTY, **settings: Any) -> LanceStore:
        config = LanceSettings(**{"uri": folder, **settings})
        location = location_of(f"{folder}/{name}.sqlite", config)
        kept = RowCache(location, str(cache), most_bytes)
        opened.append(LanceStore(location, held_bytes=PLENTY, row_cache=kept))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


def fill(store: LanceStore, count: int = 20) -> None:
    puts = [make_put(f"{number}.md", f"ant n{number}") for number in range(count)]
    build = publish(store, *puts)
    attach(store, build, "space", dict.fromkeys(digests(puts), EAST))


def use(store: LanceStore) -> int:
    """Ask for words and vectors, so that all columns are read; how many hold the word ant."""
    assert nearest(store, EAST, limit=1).exact
    return len(search(store, words("ant"), limit=1_000))


def set_back(folder: str, saved: Path, *open_stores: LanceStore) -> None:
    """Close the stores, and put what was saved in the place of their tables."""
    for store in open_stores:
        store.close()
    shutil.rmtree(folder)
    shutil.copytree(saved, folder)


def files(cache: Path) -> set[str]:
    """The endings of the files of rows."""
    return {path.suffix for path in cache.iterdir() if "-" in path.name}


def test_a_process_that_starts_reads_from_the_table_what_is_new(
    process: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    cache: Path,
    read: list[tuple[int, tuple[str, ...]]],
) -> None:
    other = open_store()
    fill(other)
    assert use(process()) == 20
    assert {".rows", ".texts"} < files(cache)
    assert len(files(cache)) == 3
    read.clear()
    assert use(process()) == 20
    assert read == [(1, ("id", "revision"))], "one row tells that the table is the same"
    read.clear()
    write(other, make_put("new.md", "ant cat"), DeleteDocument("memory", "3.md"))
    later = process()
    assert use(later) == 20
    assert places(search(later, words("cat")))[0][1] == "new.md"
    assert "3.md" not in {path for _, path in documents_of(later)}
    assert max(number for number, _ in read) < 10
    assert later.health(deep=True).problems == ()


def test_a_vector_that_was_put_again_is_the_new_one(
    process: Callable[..., LanceStore], open_store: Callable[..., LanceStore]
) -> None:
    other = open_store()
    fill(other)
    use(process())
    attach(other, live_build(other), "space", {digests([make_put("7.md", "ant n7")])[0]: NORTH})
    first, second, *_ = nearest(process(), NORTH, limit=5).found
    assert first.chunk.path == "7.md"
    assert (first.score, second.score) == pytest.approx((1.0, 0.0))


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def of_another_format(path: Path) -> None:
    data = path.read_bytes()
    at = len(data) - sealed._SEAL.size
    name, _, crc, length = sealed._SEAL.unpack(data[at:])
    path.write_bytes(data[:at] + sealed._SEAL.pack(name, sealed.FORMAT + 1, crc, length))


def of_other_rows(path: Path) -> None:
    table, notes = sealed.read(str(path))
    sealed.write(str(path), table.slice(1), {**notes, "stem": b"another"})


HARM = [(harm, "*.rows") for harm in (cut_off, empty, flip, of_another_format)]
HARM += [(harm, which) for harm in (cut_off, flip, of_other_rows) for which in ("*.texts", "*.v_*")]


@pytest.mark.parametrize(("harm", "which"), HARM)
def test_what_is_not_whole_is_not_used(
    process: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    cache: Path,
    harm: Callable[[Path], None],
    which: str,
) -> None:
    fill(open_store())
    use(process())
    (path,) = cache.glob(which)
    # As another process would: not in the pages that this one has mapped.
    copy = path.with_suffix(f"{path.suffix}.copy")
    shutil.copy(path, copy)
    harm(copy)
    copy.replace(path)
    after = process()
    assert use(after) == 20
    assert after.health(deep=True).problems == ()
    assert use(process()) == 20
    assert len(files(cache)) == 3, "what is not whole was read and written again"


def test_rows_of_another_table_are_not_used(
    process: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    folder: str,
) -> None:
    first = open_store()
    publish(first, make_put("old.md", "ant"), make_put("older.md", "ant"))
    assert len(search(process(), words("ant"))) == 2
    first.close()
    shutil.rmtree(folder)
    another = open_store()
    publish(another, make_put("new.md", "ant"), make_put("newer.md", "ant bee"))
    after = process()
    assert {place[1] for place in places(search(after, words("ant")))} == {"new.md", "newer.md"}
    assert documents_of(after).keys() == documents_of(another).keys()


@pytest.mark.parametrize("more", [0, 1, 2, 4])
def test_rows_of_what_was_undone_are_not_used(
    process: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    folder: str,
    tmp_path: Path,
    more: int,
) -> None:
    writer = open_store()
    fill(writer, 5)
    others = open_store("others")
    publish(others, make_put("theirs.md", "ant"))
    shutil.copytree(folder, tmp_path / "saved")
    write(writer, make_put("undone.md", "ant"))
    write(others, make_put("more.md", "ant"), make_put("most.md", "ant"))
    assert use(process()) == 6
    set_back(folder, tmp_path / "saved", writer, others)
    again = open_store()
    for number in range(more):
        write(again, make_put(f"again{number}.md", "ant"))
    after = process()
    assert documents_of(after).keys() == documents_of(again).keys()
    assert use(after) == 5 + more
    assert use(process()) == 5 + more


def test_rows_in_the_place_of_what_others_undid_are_found(
    process: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    folder: str,
    tmp_path: Path,
) -> None:
    writer, others = open_store(), open_store("others")
    fill(writer, 5)
    publish(others, make_put("theirs.md", "ant"))
    shutil.copytree(folder, tmp_path / "saved")
    write(others, *(make_put(f"more{number}.md", "ant") for number in range(5)))
    assert use(process()) == 5
    set_back(folder, tmp_path / "saved", writer, others)
    again = open_store()
    write(again, make_put("again.md", "ant"))
    write(again, make_put("again too.md", "ant"))
    assert use(process()) == 7


def test_the_addresses_of_other_rows_are_not_taken_for_the_same(
    process: Callable[..., LanceStore], open_store: Callable[..., LanceStore]
) -> None:
    fill(open_store(), 5)
    store = process()
    use(store)
    loader, table = store._database._loader, store._database.table()
    kept: Any = loader
    mine = kept._loaded
    assert mine.continued(table) is not None
    # Now as if all of them had been written by other commits.
    seen = mine.witness
    mine.int_column("revision")[:] += 1
    mine.witness = seen._replace(revision=seen.revision + 1)
    assert mine.continued(table) is None
    mine.witness = None
    assert mine.continued(table) is None


def test_what_lies_beyond_the_last_row_that_is_the_same_is_new(
    process: Callable[..., LanceStore], open_store: Callable[..., LanceStore]
) -> None:
    mine, others = open_store(), open_store("others")
    fill(mine, 5)
    publish(others, make_put("theirs.md", "ant"))
    store = process()
    use(store)
    kept: Any = store._database._loader
    before = kept._loaded
    write(mine, make_put("new.md", "ant"))
    table = open_store()._database.table()
    # As if all that is new had been rows of others, in a history of the table that was undone.
    before.all_addresses = rows.addresses_of(table, None)
    before.witness = None
    later = before.continued(table)
    ids = later.take(later.positions(None, "doc"), ("path",))["path"].to_pylist()
    assert "new.md" in ids


def test_rows_of_others_are_neither_read_nor_found(process: Callable[..., LanceStore]) -> None:
    mine, theirs = process("mine"), process("theirs")
    fill(mine, 3)
    fill(theirs, 9)
    assert (use(mine), use(theirs)) == (3, 9)
    assert (use(process("mine")), use(process("theirs"))) == (3, 9)


def test_where_there_is_no_room_nothing_is_written(
    process: Callable[..., LanceStore], open_store: Callable[..., LanceStore], cache: Path
) -> None:
    fill(open_store())
    assert use(process(most_bytes=100)) == 20
    assert files(cache) == set()


def test_what_was_used_least_recently_makes_room(
    process: Callable[..., LanceStore], open_store: Callable[..., LanceStore], cache: Path
) -> None:
    for number, name in enumerate(("old", "older", "new")):
        fill(open_store(name))
        use(process(name))
        # The clock of a file system may be too coarse to tell them apart.
        lock = max(cache.glob("*.lock"), key=lambda path: path.stat().st_mtime)
        os.utime(lock, (number, number) if name != "old" else (9, 9))
    whole = sum(path.stat().st_size for path in cache.iterdir())
    before = {path.name for path in cache.glob("*.rows")}
    fill(open_store("another"))
    assert use(process("another", most_bytes=int(whole * 1.1))) == 20
    after = {path.name for path in cache.glob("*.rows")}
    assert len(before & after) == 2
    assert len(after - before) == 1


def test_where_no_file_can_be_written_all_is_read_from_the_table(
    process: Callable[..., LanceStore], open_store: Callable[..., LanceStore], cache: Path
) -> None:
    fill(open_store())
    cache.parent.mkdir(parents=True)
    cache.write_text("a file in the place of the folder", "utf-8")
    assert use(process()) == 20


def test_who_cannot_wait_for_another_process_reads_for_itself(
    process: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(open_store())
    first, second = process(), process()
    monkeypatch.setattr(row_cache, "_WAIT", 0.0)
    reading: Any = first._database._loader
    with reading._row_cache._lease.held(0):
        assert use(second) == 20
        assert files(cache) == set(), "who has the turn writes"
    assert use(first) == 20
    assert len(files(cache)) == 3


def test_rows_are_written_again_once_much_is_new_and_they_are_old(
    process: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_cache, "_LONG_TAIL", 2)
    other = open_store()
    fill(other)
    use(process())
    (before,) = cache.glob("*.rows")
    write(other, make_put("new.md", "ant"))
    assert use(process()) == 21
    assert list(cache.glob("*.rows")) == [before], "they are large, and new enough"
    old = time.time() - 2 * row_cache._AGE
    os.utime(before, (old, old))
    again = process()
    assert use(again) == 21
    (after,) = cache.glob("*.rows")
    assert after != before
    assert len(files(cache)) == 3
    assert use(again) == use(process()) == 21


def test_what_a_killed_process_left_goes_after_an_hour(
    process: Callable[..., LanceStore], open_store: Callable[..., LanceStore], cache: Path
) -> None:
    fill(open_store())
    cache.mkdir(parents=True)
    draft, young = cache / "0123-7-ab.rows.99999", cache / "0123-8-ab.rows.99999"
    for path in (draft, young):
        path.write_bytes(b"half")
    os.utime(draft, (0, 0))
    use(process())
    assert not draft.exists()
    assert young.exists()


def test_only_the_user_may_read_the_files(
    process: Callable[..., LanceStore], open_store: Callable[..., LanceStore], cache: Path
) -> None:
    fill(open_store())
    use(process())
    if os.name == "posix":
        assert {path.stat().st_mode & 0o077 for path in (cache, *cache.iterdir())} == {0}


def test_rows_of_a_bucket_alone_are_on_disk(lancedb_installed: None, tmp_path: Path) -> None:
    def caches(cache_dir: str = str(tmp_path), **settings: Any) -> bool:
        config = LanceSettings(**settings)
        made: Any = make_store(StoreContext("main.sqlite", config=config, cache_dir=cache_dir))
        loader = made._database._loader
        return loader is not None and loader._row_cache is not None

    assert caches(uri="s3://bucket/x")
    assert not caches(uri=str(tmp_path))
    assert not caches(uri="db://name")
    assert not caches(uri="s3://bucket/x", cache_megabytes=0)
    assert not caches(uri="s3://bucket/x", held_megabytes=0)
    assert not caches("", uri="s3://bucket/x")


NAMES = "ant", "bee", "cat", "dog", "elk"


class Team:
    """Two writers, one of another namespace, and a reader, by chance; the bucket may be set back.

    ``start`` makes a process, with rows on disk in ``cache``, and ``plain`` one that holds nothing.
    """

    def __init__(
        self, chance: Random, start: Callable[..., LanceStore], plain: Callable[..., LanceStore]
    ) -> None:
        self.chance, self.start, self.plain = chance, start, plain
        self.open()
        puts = (make_put(f"{number}.md", self.text(), self.text()) for number in range(30))
        publish(self.writers[0], *puts)

    def open(self) -> None:
        self.writers = [self.plain(), self.start()]
        self.other, self.reader = self.start("other"), self.start()

    def text(self) -> str:
        return " ".join(self.chance.choices(NAMES, k=self.chance.randint(1, 6)))

    def unit(self) -> bytes:
        return make_vector(*(self.chance.gauss(0, 1) for _ in range(3)))

    def path(self) -> str:
        return f"{self.chance.randrange(40)}.md"

    def change(self) -> None:
        day = self.chance.choice([None, "2026-01-02"])
        put = make_put(self.path(), self.text(), day=day)
        gone = DeleteDocument("memory", self.path())
        change = put if self.chance.random() < 0.8 else gone
        write(self.chance.choice(self.writers), change)

    def embed(self) -> None:
        writer = self.chance.choice(self.writers)
        missing = [one for one, _ in writer.missing_vectors(live_build(writer), "space")]
        some = self.chance.sample(missing, min(3, len(missing)))
        if some:
            attach(writer, live_build(writer), "space", {one: self.unit() for one in some})

    def beside(self) -> None:
        publish(self.other, make_put(self.path(), self.text()), identity=f"{self.chance.random()}")

    def damage(self, cache: Path) -> None:
        there = sorted(cache.glob("*-*"))
        for one in self.chance.sample(there, min(1, len(there))):
            broken = one.read_bytes()[: self.chance.randrange(1 + one.stat().st_size)]
            one.unlink()  # others have its pages
            one.write_bytes(broken)

    def set_back(self, folder: str, saved: Path) -> None:
        if not saved.exists():
            shutil.copytree(folder, saved)
            return
        for store in (*self.writers, self.other, self.reader):
            store.close()
        shutil.rmtree(folder)
        shutil.move(saved, folder)
        self.open()

    def restart(self) -> None:
        self.reader = self.start()

    def compare(self) -> None:
        plain, reader = self.plain(), self.reader
        query, vector = words(*self.chance.sample(NAMES, 2)), self.unit()
        where = self.chance.choice([Where(), Where(paths=("1*.md",)), Where(after="2026-01-01")])
        assert asked(reader, query, where) == asked(plain, query, where)
        found, same = nearest(reader, vector, where), nearest(plain, vector, where)
        assert places(found.found) == places(same.found)
        assert documents_of(reader) == documents_of(plain)


@pytest.mark.parametrize("seed", range(6))
def test_from_disk_and_from_the_table_the_same_is_found(
    process: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
    cache: Path,
    tmp_path: Path,
    seed: int,
) -> None:
    chance = Random(seed)
    monkeypatch.setattr(maintenance, "_MOST_FRAGMENTS", chance.randint(1, 12))
    far = seed % 2 == 0  # then the last files alone are merged most of the time
    monkeypatch.setattr(maintenance, "_is_far", lambda _: far)
    monkeypatch.setattr(maintenance, "_LOOSE_ROWS", chance.choice([0, 2_000]))
    monkeypatch.setattr(loaded_rows, "_TAIL", chance.choice([0, 10, 5_000]))
    monkeypatch.setattr(loaded_rows, "_PARTS", chance.choice([1, 3, 24]))
    monkeypatch.setattr(row_cache, "_LONG_TAIL", chance.choice([0, 10, 2_000]))
    monkeypatch.setattr(row_cache, "_AGE", chance.choice([0.0, 600.0]))
    team = Team(chance, process, open_store)
    for _ in range(30):
        steps = [team.change] * 4 + [team.embed, team.beside, team.restart, team.restart]
        steps.append(lambda: team.damage(cache))
        steps.append(lambda: team.set_back(folder, tmp_path / "saved"))
        chance.choice(steps)()
        if chance.random() < 0.7:
            team.compare()
    assert process().health(deep=True).problems == ()


def asked(store: LanceStore, query: KeywordQuery, where: Where) -> Any:
    return store.keyword(query, where=where, limit=20, deadline=NEVER)
