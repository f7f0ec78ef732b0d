"""Laws about time, threads, health, and a manager's end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import CommonplaceError, UnavailableError
from commonplace.resilience.deadline import Deadline
from commonplace.testing.driving import EVERYWHERE
from commonplace.testing.manager.asking import ask, maintain, paths, said
from commonplace.testing.manager.law import ManagerLaws, law, question

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.protocols.managers import MemoryManager

__all__ = ["LifetimeLaws"]


class LifetimeLaws(ManagerLaws):
    """``health``, deadlines, threads and ``close``."""

    @law()
    def test_a_search_without_time_is_an_error(self, manager: MemoryManager) -> None:
        """A deadline that has passed raises ``UnavailableError``; nothing found would be a lie."""
        self.notes.write("memory/a.md", "the zebra")
        maintain(manager)
        late = Deadline(0.0, clock=lambda: 1.0)
        query, where = question("zebra", EVERYWHERE)
        with pytest.raises(UnavailableError):
            manager.search(query, where=where, limit=5, deadline=late)
        assert paths(ask(manager, "zebra")) == {"memory/a.md"}

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
    def test_health_is_told_at_any_time(self, manager: MemoryManager) -> None:
        """``health`` never raises, at the surface or deep.

        A manager that works is available, one that is closed is not; who is not says why.
        """
        self.notes.write("memory/a.md", "the zebra")
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
        """Once closed, searching and maintaining raise a ``CommonplaceError``.

        An empty answer would be taken for an empty memory.
        """
        self.notes.write("memory/a.md", "the zebra")
        maintain(manager)
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
