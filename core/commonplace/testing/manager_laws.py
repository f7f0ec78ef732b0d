"""What all laws of managers stand on, and those of time, threads, health and closing."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from hashlib import sha256
from itertools import count
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, cast

import pytest

from commonplace.errors import CommonplaceError, UnavailableError
from commonplace.files.roots import Roots, day_of, stamp_of
from commonplace.files.scan import scan
from commonplace.model.documents import Document, DocumentRef, RootFailure, ScanReport
from commonplace.model.search import Query
from commonplace.protocols.contexts import ManagerContext
from commonplace.resilience.deadline import NEVER
from commonplace.testing.base import EVERYWHERE, Workspace
from commonplace.testing.laws import Laws, law
from commonplace.testing.pressure import (
    LATE,
    answers_alike,
    cancelled_after,
    keeps_descriptors,
    same_elsewhere,
)
from commonplace.text.analyse import make_analyser
from commonplace.text.notes import note_facts
from commonplace.text.query import parse_query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from commonplace.model.reports import SyncReport
    from commonplace.model.search import Arm, Found, Where
    from commonplace.protocols.managers import MemoryManager


CAPABILITIES = frozenset(
    {"phrases", "exclusions", "paths", "dates", "tags", "lines", "cjk", "thai", "persistent"}
)
"""What an engine may be able to do.

``phrases`` and ``exclusions`` of a query, ``paths``, ``dates`` and ``tags`` of a filter, ``cjk``
(Chinese, Japanese, Korean) and ``thai``: words inside running text. ``lines``: a chunk says
where it stands.
``persistent``: the index is there for the next process that opens the same ``state_dir``.
"""


class PlainSource:
    """The source ``memory`` of a workspace, for tests of managers: it takes any text for UTF-8.

    Notes whose paths are ``refused`` cannot be read; what lies below ``hidden`` cannot be seen.
    """

    id = "memory"
    version = "plain"
    capabilities: frozenset[str] = frozenset()

    def __init__(self, workspace: str) -> None:
        self._roots = Roots(workspace)
        self.refused: set[str] = set()
        self.hidden = ""

    def scan(self) -> ScanReport:
        """All notes there are."""
        report = scan(self._roots, source=self.id)
        if not self.hidden:
            return report
        seen = tuple(ref for ref in report.documents if not ref.path.startswith(self.hidden))
        failed = RootFailure(self.hidden, "the folder cannot be read", self.id)
        return report._replace(documents=seen, failed_roots=(*report.failed_roots, failed))

    def read(self, ref: DocumentRef) -> Document | None:
        """The note, or ``None`` where it is gone."""
        if ref.path in self.refused:
            raise PermissionError(f"{ref.path}: permission denied")
        try:
            with open(ref.location, "rb") as file:
                stamp = stamp_of(os.fstat(file.fileno()))
                raw = file.read()
        except FileNotFoundError:
            return None
        text = raw.decode("utf-8", "replace")
        digest = sha256(raw).hexdigest()
        facts = note_facts(text)
        day = day_of(ref.path) or facts.day
        return Document(ref._replace(stamp=stamp), text, digest, day=day, tags=facts.tags)


class Letters:
    """A second source, of texts by path that others wrote."""

    id = "letters"
    version = "letters"
    capabilities: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def scan(self) -> ScanReport:
        """All texts there are."""
        refs = (
            DocumentRef(self.id, path, f"/letters/{path}", f"{len(text)} letters")
            for path, text in self.texts.items()
        )
        return ScanReport(tuple(refs), complete_roots=("",))

    def read(self, ref: DocumentRef) -> Document | None:
        """The text, as one of trust ``external``."""
        text = self.texts[ref.path]
        digest, tags = sha256(text.encode()).hexdigest(), note_facts(text).tags
        return Document(ref, text, digest, day=day_of(ref.path), trust="external", tags=tags)


class ManagerLaws(Laws):
    """What all laws of managers stand on."""

    subject: ClassVar[str] = "manager"

    capabilities: ClassVar[frozenset[str]] = CAPABILITIES
    """Those of :data:`CAPABILITIES` that the registration declares."""

    notes: Workspace
    """The workspace of the manager that a law is looking at."""

    source: PlainSource
    """Its notes, as the manager is given them."""

    letters: Letters
    """Its other source."""

    directory: str

    def open_manager(self, context: ManagerContext) -> MemoryManager:
        """Open the engine over ``context.workspace`` that keeps its state in ``state_dir``."""
        raise NotImplementedError(f"{type(self).__name__} has to define open_manager(context)")

    def declared(self, subject: Any) -> frozenset[str]:
        """What the class says, for a manager itself does not."""
        del subject
        return self.capabilities

    @contextmanager
    def opened(self) -> Iterator[MemoryManager]:
        """A manager over an empty workspace."""
        with TemporaryDirectory(prefix="commonplace-") as self.directory:
            self.notes = Workspace(f"{self.directory}/workspace")
            self.source, self.letters = PlainSource(self.notes.path), Letters()
            with self.opened_again() as manager:
                yield manager

    @contextmanager
    def opened_again(self, state_dir: str = "") -> Iterator[MemoryManager]:
        """A manager over this law's workspace, with its ``state_dir`` or another."""
        context = ManagerContext(
            workspace=self.notes.path,
            agent="main",
            state_dir=state_dir or f"{self.directory}/state",
            sources=(self.source, self.letters),
        )
        with closing(self.open_manager(context)) as manager:
            yield cast("MemoryManager", self.observed(manager))

    def put(self, *names: str, text: str = "the zebra") -> None:
        """Write the notes ``memory/{name}.md``, all of one text."""
        for name in names:
            self.notes.write(f"memory/{name}.md", text)

    def index(self, manager: MemoryManager, *names: str, text: str = "the zebra") -> None:
        """Write notes as :meth:`put` does, and update the index."""
        self.put(*names, text=text)
        maintain(manager)


def question(text: str, where: Where = EVERYWHERE) -> tuple[Query, Where]:
    """``text`` as the host asks it: filters in it come on top of ``where``."""
    parsed = parse_query(text)
    query = Query(text, make_analyser().query(parsed), " ".join(parsed.words))
    return query, parsed.where if where == EVERYWHERE else where


ANIMALS = ("zebra", "okapi", "walrus", "lynx")
"""Words that no analyser takes for each other."""

ANSWER_LIMIT = 50
"""More than there are chunks in these tests."""


def maintain(manager: MemoryManager, *, force: bool = False) -> SyncReport:
    """Update the index, however long it takes."""
    return manager.maintain(force=force, deadline=NEVER)


def ask(
    manager: MemoryManager, text: str, *, where: Where = EVERYWHERE, limit: int = ANSWER_LIMIT
) -> tuple[Arm, ...]:
    """What ``search`` answers, however long it takes."""
    query, where = question(text, where)
    return manager.search(query, where=where, limit=limit, deadline=NEVER)


def said(arms: Iterable[Arm]) -> list[tuple[str, str, tuple[Found, ...]]]:
    """Name, kind and hits of each arm: what has to be the same for the same question."""
    return [(arm.name, arm.kind, arm.found) for arm in arms]


def found(arms: Iterable[Arm]) -> list[Found]:
    """All that the arms found, arm by arm."""
    return [item for arm in arms for item in arm.found]


def paths(arms: Iterable[Arm]) -> set[str]:
    """The paths of all that the arms found."""
    return {item.chunk.path for item in found(arms)}


def finds(manager: MemoryManager, notes: Mapping[str, Collection[str]]) -> None:
    """Check that each word is found where it stands; ``notes`` are the words of each path.

    Arms that go by meaning may find more of ``notes``, arms of keywords may not.
    """
    for word in ANIMALS:
        arms = ask(manager, word)
        holding = {path for path, words in notes.items() if word in words}
        assert holding <= paths(arms), f"{word} is not found where it stands"
        assert paths(arms) <= set(notes), f"{word} is found in a note that is not there"
        for arm in arms:
            if arm.kind == "bm25":
                assert paths([arm]) == holding, f"{word} is found where it does not stand"


class LifetimeLaws(ManagerLaws):
    """``health``, deadlines, threads and ``close``."""

    @law()
    def test_a_search_without_time_is_an_error(self, manager: MemoryManager) -> None:
        """An expired or cancelled deadline raises ``UnavailableError``: no empty answer instead."""
        self.index(manager, "a")
        query, where = question("zebra", EVERYWHERE)
        for late in LATE.values():
            with pytest.raises(UnavailableError):
                manager.search(query, where=where, limit=5, deadline=late)
        assert paths(ask(manager, "zebra")) == {"memory/a.md"}

    @law()
    def test_a_search_that_is_cancelled_gives_all_or_an_error(self, manager: MemoryManager) -> None:
        """At whatever moment the caller gives up, no arm is cut short without a word."""
        self.put(*(f"n{number}" for number in range(20)))
        maintain(manager)
        query, where = question("zebra", EVERYWHERE)
        every = paths(ask(manager, "zebra"))
        for looks in (1, 2, 3, 5, 8, 13, 21, 1_000_000):
            try:
                arms = manager.search(
                    query, where=where, limit=ANSWER_LIMIT, deadline=cancelled_after(looks)
                )
            except UnavailableError:
                assert looks < 1_000_000
            else:
                assert paths(arms) == every or any(arm.note for arm in arms)

    @law()
    def test_threads_get_the_same_answers(self, manager: MemoryManager) -> None:
        """Searches from many threads answer as one does, also while ``maintain`` runs."""
        for number in range(8):
            self.notes.write(f"memory/{number}.md", "zebra " * (number + 1))
        maintain(manager)
        expected = ask(manager, "zebra")
        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(ask, manager, "zebra") for _ in range(32)]
            assert all(said(one.result()) == said(expected) for one in asked)
            maintaining = pool.submit(maintain, manager, force=True)
            asked = [pool.submit(ask, manager, "zebra") for _ in range(16)]
            maintaining.result()
            assert all(paths(one.result()) == paths(expected) for one in asked)

    @law()
    def test_each_thread_gets_its_own_answer(self, manager: MemoryManager) -> None:
        """Other questions, filters and limits from many threads at once: no answer crosses."""
        for number, word in enumerate(ANIMALS * 2):
            self.notes.write(f"memory/{number}.md", f"the {word} and another {word} {number}")
        maintain(manager)

        def asking(number: int) -> Callable[[], object]:
            limit = ANSWER_LIMIT if number % 2 else 1
            return lambda: said(ask(manager, ANIMALS[number % len(ANIMALS)], limit=limit))

        answers_alike(manager, [asking(number) for number in range(8)])

    @law()
    def test_no_file_is_left_open(self, manager: MemoryManager) -> None:
        """However often it searches, maintains, is opened and closed."""
        self.index(manager, "a")
        numbers = count()

        def use() -> None:
            self.put("b", text=f"the okapi {next(numbers)}")
            maintain(manager)
            ask(manager, "zebra")
            manager.pending()

        def open_and_close() -> None:
            with self.opened_again(f"{self.directory}/state-{next(numbers)}") as other:
                maintain(other)
                ask(other, "zebra")

        keeps_descriptors(use, times=8)
        keeps_descriptors(open_and_close, times=8)

    @law()
    def test_another_process_gives_the_same_answers(self, manager: MemoryManager) -> None:
        """Order and scores hang on no hash seed, no address, and nothing that a process made up."""
        for number, word in enumerate(ANIMALS * 3):
            self.notes.write(f"memory/{number}.md", f"the {word} and the zebra")
        same_elsewhere(self, manager, "_answers_of_a_new_one", self.notes.path)

    def _answers_of_a_new_one(self, workspace: str) -> object:
        with TemporaryDirectory(prefix="commonplace-") as self.directory:
            self.source, self.letters = PlainSource(workspace), Letters()
            self.notes = Workspace(workspace)
            with self.opened_again() as manager:
                maintain(manager)
                return [
                    (arm.name, item.chunk.path, item.chunk.text, round(item.score, 6))
                    for word in ANIMALS
                    for arm in ask(manager, word)
                    for item in arm.found
                ]

    @law()
    def test_health_is_reported_at_any_time(self, manager: MemoryManager) -> None:
        """``health``, deep too, never raises; a manager that is not available gives the reason."""
        self.put("a")
        for deep in (False, True):
            before = manager.health(deep=deep)
            assert before.available or before.reason
        maintain(manager)
        for deep in (False, True):
            health = manager.health(deep=deep)
            assert health.available
            if health.store is not None:
                assert (health.store.documents, health.store.problems) == (1, ())
        manager.close()
        closed = manager.health()
        assert not closed.available
        assert closed.reason

    @law()
    def test_a_closed_manager_does_not_answer(self, manager: MemoryManager) -> None:
        """Searching and maintaining raise a ``CommonplaceError``: nothing found would be a lie."""
        self.index(manager, "a")
        manager.close()
        asked: tuple[Callable[[], object], ...] = (
            lambda: ask(manager, "zebra"),
            lambda: maintain(manager),
            manager.pending,
        )
        for question_ in asked:
            with pytest.raises(CommonplaceError):
                question_()

    @law()
    def test_closing_twice_is_fine(self, manager: MemoryManager) -> None:
        """``close`` may be called again and again, also of a manager that never did anything."""
        for _ in range(3):
            manager.close()
