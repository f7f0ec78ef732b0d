from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import IndexUnavailableError
from commonplace.index.simple_store import Contents, SimpleStore, StoredBuild
from commonplace.model.search import Where
from commonplace.resilience.deadline import NEVER
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import held, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from commonplace.index.simple_store import StoredRow
    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build


class Kept(SimpleStore):
    """Keeps its contents in a variable, and fails to save when it is full."""

    def __init__(self) -> None:
        super().__init__(location="here")
        self.kept: Mapping[int, StoredBuild] = {}
        self.released = 0
        self.full = False

    def load(self) -> Mapping[int, StoredBuild]:
        return self.kept

    def save(self, builds: Mapping[int, StoredBuild]) -> None:
        if self.full:
            raise IndexUnavailableError("no space left")
        self.kept = builds

    def release(self) -> None:
        self.released += 1


def test_what_cannot_be_saved_changes_nothing() -> None:
    store = Kept()
    publish(store, make_put("a.md", "ant"))
    store.full = True
    with pytest.raises(IndexUnavailableError, match="no space left"):
        write(store, make_put("b.md", "ant"))
    assert set(held(store)) == {("memory", "a.md")}
    assert len(search(store, words("ant"))) == 1


def test_ids_are_not_given_twice_by_default() -> None:
    assert len({Kept().new_id() for _ in range(1_000)}) == 1_000


def test_a_store_is_released_once() -> None:
    store = Kept()
    store.close()
    store.close()
    assert store.released == 1
    with pytest.raises(IndexUnavailableError, match="closed"):
        store.builds()


def test_health_shows_the_location() -> None:
    assert Kept().health().location == "here"


def test_a_store_without_load_and_save_is_refused_at_first_use() -> None:
    store = SimpleStore()
    with pytest.raises(NotImplementedError):
        store.builds()
    with pytest.raises(NotImplementedError):
        store.save({})


class Deferred(Contents):
    """What a build holds, read when it is asked for."""

    def __init__(self, store: InTables, build: int) -> None:
        super().__init__()
        self.store, self.build = store, build

    @property
    def documents(self) -> Mapping[tuple[str, str], Any]:
        assert self.store.moments, "read outside of a moment"
        return self.store.tables.get(self.build, Contents()).documents

    def candidates(self, tokens: Collection[str]) -> Iterable[StoredRow]:
        self.store.asked.append(set(tokens))
        return [row for row in self.rows() if not row.counts.keys().isdisjoint(tokens)]


class InTables(Kept):
    """Keeps what builds hold apart from them."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[int, Contents] = {}
        self.moments = 0
        self.asked: list[set[str]] = []

    @contextmanager
    def moment(self) -> Iterator[None]:
        self.moments += 1
        yield
        self.moments -= 1

    def load(self) -> Mapping[int, StoredBuild]:
        return {id_: StoredBuild(one.build, Deferred(self, id_)) for id_, one in self.kept.items()}

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        before = self.tables.get(build.id, Contents())
        self.tables[build.id] = before.after(changes, self.new_id)


def test_a_store_of_tables_answers_as_one_in_memory() -> None:
    in_memory, in_tables = Kept(), InTables()
    puts = [make_put(f"{name}.md", "ant bee", "cat", day=day) for name, day in _DAYS.items()]
    answers = []
    for store in (in_memory, in_tables):
        publish(store, *puts, make_put("z.md", "dog"))
        found = store.keyword(words("ant", "cat"), where=Where(), limit=4, deadline=NEVER)
        answers.append(
            (
                [(one.chunk.path, one.chunk.start_line, one.score) for one in found.found],
                (found.chunks, found.holders),
                store.holders(["bee", "dog", "emu"]),
                store.health().documents_by_source,
                store.health().chunks,
                set(held(store)),
            )
        )
        assert store.keyword(words(), where=Where(), limit=4, deadline=NEVER).found == ()
    assert answers[0] == answers[1]
    assert in_tables.asked == [{"ant", "cat"}, {"bee", "dog", "emu"}, set()]
    assert in_tables.moments == 0


_DAYS = {"a": None, "b": "2026-01-02", "c": "2026-03-04"}
