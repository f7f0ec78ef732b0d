"""Laws about a store as a whole: its lease, its health, its end; and batches that fail."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from itertools import count
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args

import pytest

from commonplace.errors import CallerError, CommonplaceError, DeadlineExceededError, DeclinedError
from commonplace.model.chunks import DeleteDocument
from commonplace.model.plugins import STORE_ABILITIES
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.testing.base import (
    ALL,
    EVERYWHERE,
    WAIT,
    busy,
    fill,
    held,
    live_build,
    make_chunk,
    make_put,
    make_vector,
    nearest,
    publish,
    search,
    words,
)
from commonplace.testing.laws import Laws, law
from commonplace.testing.strategies import corpora

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.model.chunks import Change
    from commonplace.protocols.parts import CountingStore, Store, VectorStore, VocabularyStore
    from commonplace.testing.base import Corpus


_MOST_IMAGES = 40
_SEARCHES = {"keyword", "nearest", "holders"}


class StoreLaws(Laws):
    """What all laws of stores stand on."""

    subject: ClassVar[str] = "store"

    directory: str
    """The folder of the store that a law is looking at."""

    def open_store(self, directory: str) -> Store:
        """Open the store that lives in ``directory``."""
        raise NotImplementedError(f"{type(self).__name__} has to define open_store(directory)")

    def _empty_folder(self) -> str:
        """Another folder for a store, gone with this law's."""
        return mkdtemp(dir=os.path.dirname(self.directory))

    def before(self, subject: Any, call: str) -> None:
        """Let a store that is ``eventual`` find what was written, as the host does."""
        if call in _SEARCHES and "eventual" in subject.capabilities:
            subject.refresh(deadline=NEVER)

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """A store in an empty folder."""
        with TemporaryDirectory(prefix="commonplace-") as scratch:
            self.directory = f"{scratch}/store"
            os.mkdir(self.directory)
            with self.opened_again() as store:
                yield store

    @contextmanager
    def opened_again(self) -> Iterator[Store]:
        """The store of this law's folder, opened once more."""
        with closing(self.open_store(self.directory)) as store:
            yield cast("Store", self.observed(store))


class LifetimeLaws(StoreLaws):
    """``capabilities``, ``health``, deadlines, ``writer`` and ``close``."""

    @law()
    def test_capabilities_are_known_words(self, store: Store) -> None:
        """A store declares known capabilities only, and phrases only with keyword queries.

        Counts too; the methods of what is declared are there.
        """
        assert store.capabilities <= STORE_ABILITIES
        assert "keyword" in store.capabilities or "counts" not in store.capabilities
        named = {
            "vectors": "nearest",
            "counts": "holders",
            "eventual": "refresh",
            "lookup": "lookup",
            "holds": "holds",
            "days": "of_days",
            "vocabulary": "tokens_beginning",
        }
        assert all(hasattr(store, named[one]) for one in store.capabilities & set(named))
        assert store.capabilities, "a store that can do nothing"
        assert "keyword" in store.capabilities or "phrases" not in store.capabilities

    @law()
    def test_undeclared_keyword_queries_are_declined(self, store: Store) -> None:
        """Without the capability ``keyword`` a query raises ``DeclinedError``."""
        if "keyword" in store.capabilities:
            pytest.skip("the store declares keyword")
        publish(store, make_put("a.md", "ant"))
        with pytest.raises(DeclinedError):
            search(store, words("ant"))

    @law(corpus=corpora())
    def test_health_counts_what_is_there(self, store: Store, corpus: Corpus) -> None:
        """Documents and chunks of the live build, by source too; a deep check finds no fault."""
        publish(store, *corpus)
        documents = Counter(put.source for put in corpus)
        chunks = Counter({put.source: 0 for put in corpus})
        for put in corpus:
            chunks[put.source] += len(put.chunks)
        for health in (store.health(), store.health(deep=True)):
            assert (health.documents, health.chunks) == (documents.total(), chunks.total())
            assert Counter(dict(health.documents_by_source)) == documents
            assert Counter(dict(health.chunks_by_source)) == chunks
            assert health.problems == ()
            assert health.writable

    @law("keyword")
    def test_a_search_without_time_is_an_error(self, store: Store) -> None:
        """``DeadlineExceededError``, however quick the answer: the caller has stopped waiting."""
        publish(store, make_put("a.md", "ant"))
        late = Deadline(0.0, clock=lambda: 1.0)
        with pytest.raises(DeadlineExceededError):
            store.keyword(words("ant"), where=EVERYWHERE, limit=ALL, deadline=late)
        assert len(search(store, words("ant"))) == 1

    @law("keyword")
    def test_a_search_gives_all_or_an_error(self, store: Store) -> None:
        """A deadline that passes meanwhile never makes it shorter; the store works on."""
        publish(store, make_put("a.md", *["ant"] * 600))
        every = search(store, words("ant"))
        for steps in (*range(1, 20), 1_000_000):
            ticking = Deadline(float(steps), clock=count().__next__)
            try:
                answer = store.keyword(words("ant"), where=EVERYWHERE, limit=ALL, deadline=ticking)
            except DeadlineExceededError:
                assert steps < 1_000_000
            else:
                assert list(answer.found) == every

    @law()
    def test_a_closed_store_does_not_answer(self, store: Store) -> None:
        """All but ``capabilities`` and ``close`` raises: nothing found would be a lie."""
        build = publish(store, make_put("a.md", "ant"))
        store.close()

        def take_lease() -> None:
            with store.writer(wait=0):
                pass

        asked: dict[str, Callable[[], object]] = {
            "documents": lambda: list(store.documents()),
            "builds": store.builds,
            "health": store.health,
            "writer": take_lease,
            "put_documents": lambda: store.put_documents(build, [make_put("b.md", "ant")]),
            "open_build": lambda: store.open_build("new"),
            "activate": lambda: store.activate(build),
            "drop": lambda: store.drop(build),
        }
        if "keyword" in store.capabilities:
            asked["keyword"] = lambda: store.keyword(
                words("ant"), where=EVERYWHERE, limit=ALL, deadline=NEVER
            )
        if "counts" in store.capabilities:
            asked["holders"] = lambda: cast("CountingStore", store).holders(["ant"])
        if "vocabulary" in store.capabilities:
            vocabulary = cast("VocabularyStore", store)
            asked["tokens_beginning"] = lambda: vocabulary.tokens_beginning("ant", 9)
        if "vectors" in store.capabilities:
            vectors, east = cast("VectorStore", store), make_vector(1, 0, 0)
            asked |= {
                "spaces": vectors.spaces,
                "missing_vectors": lambda: list(vectors.missing_vectors(build, "space")),
                "put_vectors": lambda: vectors.put_vectors(build, "space", 3, {"0" * 64: east}),
                "drop_space": lambda: vectors.drop_space("space"),
                "nearest": lambda: nearest(vectors, east),
                "vectors": lambda: vectors.vectors("space", [1]),
            }
        answered = []
        for name, question in asked.items():
            try:
                question()
            except CommonplaceError:
                continue
            answered.append(name)
        assert answered == []

    @law()
    def test_closing_twice_is_fine(self, store: Store) -> None:
        """``close`` may be called again and again."""
        publish(store, make_put("a.md", "ant"))
        for _ in range(3):
            store.close()

    @law()
    def test_a_thread_may_take_its_lease_again(self, store: Store) -> None:
        """The lease is re-entrant, and held until its outermost holder lets go."""
        with store.writer(wait=0):
            with store.writer(wait=0):
                pass
            assert busy(store)

    @law()
    def test_one_thread_at_a_time_has_the_lease(self, store: Store) -> None:
        """Another one gets ``IndexBusyError`` until it is free, with ``wait=0`` at once."""
        assert not busy(store)
        with store.writer(wait=0):
            assert busy(store)
        assert not busy(store)

    @law()
    def test_an_error_lets_the_lease_go(self, store: Store) -> None:
        """The lease ends with its block, whatever ends that; the error comes through."""
        with pytest.raises(ZeroDivisionError), store.writer(wait=0):
            raise ZeroDivisionError
        assert not busy(store)

    @law()
    def test_who_waits_gets_the_lease(self, store: Store) -> None:
        """A writer that is willing to wait gets the lease when the other lets go."""
        asked = threading.Event()

        def wait_and_write() -> None:
            asked.set()
            publish(store, make_put("a.md", "ant"))

        with ThreadPoolExecutor(1) as pool:
            with store.writer(wait=0):
                waiting = pool.submit(wait_and_write)
                assert asked.wait(WAIT)
            waiting.result()
        assert set(held(store)) == {("memory", "a.md")}

    @law()
    def test_writing_needs_the_lease(self, store: Store) -> None:
        """Without it each call that writes is a ``CallerError``, and changes nothing."""
        live, build = publish(store, make_put("a.md", "ant")), fill(store, make_put("b.md", "ant"))
        for write in (
            lambda: store.put_documents(live, [make_put("c.md", "ant")]),
            lambda: store.open_build("another"),
            lambda: store.activate(build),
            lambda: store.drop(build),
        ):
            with pytest.raises(CallerError):
                write()
        assert {one.state for one in store.builds()} == {"live", "filling"}
        assert set(held(store)) == {("memory", "a.md")}

    @law()
    def test_reading_needs_no_lease(self, store: Store) -> None:
        """While one thread writes, another reads."""

        def read() -> int:
            store.health()
            store.builds()
            if "keyword" in store.capabilities:
                search(store, words("ant"))
            return len(held(store))

        publish(store, make_put("a.md", "ant"))
        with ThreadPoolExecutor(1) as pool, store.writer(wait=0):
            fill(store, make_put("b.md", "ant"))
            assert pool.submit(read).result(WAIT) == 1


class KillLaws(StoreLaws):
    """What a process leaves that is killed at any moment, by copies of its folder."""

    @law("persistent")
    def test_a_kill_at_any_step_leaves_all_or_nothing(self, store: Store) -> None:
        """Whichever file a batch or ``activate`` has just opened, written or renamed.

        What the next process finds in the folder is the old state or the new one.
        """
        publish(store, make_put("a.md", "ant"))
        live, states = live_build(store), [held(store)]
        with store.writer(wait=WAIT), self._images() as images:
            store.put_documents(live, [make_put("b.md", "bee"), DeleteDocument("memory", "a.md")])
        states.append(held(store))
        build = fill(store, make_put("c.md", "ant"))
        with store.writer(wait=WAIT), self._images() as others:
            store.activate(build)
        states.append(held(store))
        for image in (*images, *others):
            with closing(self.open_store(image)) as survivor:
                assert held(survivor) in (states[1:] if image in others else states[:2])

    @contextmanager
    def _images(self) -> Iterator[list[str]]:
        """Copies of the folder, one after each step of this thread that changes a file."""
        images: list[str] = []
        known, copies = _files(self.directory), self._empty_folder()

        def look(*step: object) -> None:
            nonlocal known
            # What opens, writes and renames files is not written in Python.
            now = _files(self.directory) if step[1] == "c_return" else known
            if now != known and len(images) < _MOST_IMAGES:
                known = now
                images.append(shutil.copytree(self.directory, f"{copies}/{len(images)}"))

        before = sys.getprofile()
        sys.setprofile(look)
        try:
            yield images
        finally:
            sys.setprofile(before)


def _files(directory: str) -> set[tuple[str, int, int]]:
    """All files, with their sizes and times."""
    found = set()
    for folder, _, names in os.walk(directory):
        for path in (os.path.join(folder, name) for name in names):
            with suppress(FileNotFoundError):
                about = os.stat(path)
                found.add((path, about.st_size, about.st_mtime_ns))
    return found


Poison = Literal["torn", "no change", "no text"]
"""The batch cannot be read to its end; its last element is no change; its last text has a lone
surrogate, which has no encoding, so that a store may refuse it or keep it."""


POISONS: tuple[Poison, ...] = get_args(Poison)


def poisoned(changes: Sequence[Change], poison: Poison) -> Sequence[Change]:
    """``changes``, and after them what makes them fail."""
    if poison == "torn":
        return _Torn(changes)
    if poison == "no change":
        return (*changes, cast("Change", object()))
    return (*changes, make_put("memory/surrogate.md", make_chunk("ant \ud800", body="ant")))


def succeeds(action: Callable[[], object]) -> bool:
    """Whether ``action`` returns, be it from whatever error."""
    with suppress(Exception):
        action()
        return True
    return False


class Watched(Sequence["Change"]):
    """A sequence that tells ``reading`` the place of each change before it is read."""

    def __init__(self, changes: Sequence[Change], reading: Callable[[int], object]) -> None:
        self._changes = changes
        self._reading = reading

    def __len__(self) -> int:
        return len(self._changes)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if 0 <= index < len(self):
            self._reading(index)
        return self._changes[index]


class _Torn(Watched):
    """A sequence that is one longer than what can be read of it."""

    def __init__(self, changes: Sequence[Change]) -> None:
        super().__init__(changes, self._tear)

    def __len__(self) -> int:
        return super().__len__() + 1

    def _tear(self, place: int) -> None:
        if place == len(self) - 1:
            raise OSError("this batch cannot be read to its end")
