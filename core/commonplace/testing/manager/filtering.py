"""Laws about phrases, excluded words and filters: kept, or declined, never overlooked."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import DeclinedError
from commonplace.model.search import Where
from commonplace.testing.builders import make_put
from commonplace.testing.manager.asking import ask, maintain, paths
from commonplace.testing.manager.law import ManagerLaws, law
from commonplace.testing.naive import passes

if TYPE_CHECKING:
    from commonplace.protocols.managers import MemoryManager

__all__ = ["FilterLaws"]

_DAYS = (None, "2025-12-31", "2026-01-30", "2026-01-31", "2026-02-01")
_NOTES: dict[str, str | None] = {
    "MEMORY.md": None,
    "memory/a.md": None,
    "memory/deep/er/a.md": None,
    "memory/2026-01-30.md": "2026-01-30",
    "memory/2026-01-31.md": "2026-01-31",
    "memory/deep/2026-02-01-trip.md": "2026-02-01",
}
_GLOBS = (*_NOTES, "memory", "memory/*", "memory/**", "*.md", "**/a.md", "memory/*/a.md", "no")


class FilterLaws(ManagerLaws):
    """``Where``, and the operators of a query."""

    def _spread(self, manager: MemoryManager) -> None:
        for name in _NOTES:
            self.notes.write(name, "the zebra is here")
        maintain(manager)

    @law("paths")
    def test_paths_restrict(self, manager: MemoryManager) -> None:
        """Found is what one of the globs matches, and nothing else."""
        self._spread(manager)
        for globs in (*((glob,) for glob in _GLOBS), *pairwise(_GLOBS)):
            self._agrees(manager, Where(paths=globs))

    @law("dates")
    def test_dates_restrict(self, manager: MemoryManager) -> None:
        """Found is what lies between the dates, both included; undated notes pass no date."""
        self._spread(manager)
        for after, before in product(_DAYS, repeat=2):
            self._agrees(manager, Where(after=after, before=before))

    @law()
    def test_sources_restrict(self, manager: MemoryManager) -> None:
        """Where other sources are asked for, nothing of this one is found."""
        self._spread(manager)
        assert paths(ask(manager, "zebra", where=Where(frozenset({"memory"})))) == set(_NOTES)
        assert paths(ask(manager, "zebra", where=Where(frozenset({"memory", "x"})))) == set(_NOTES)
        assert paths(ask(manager, "zebra", where=Where(frozenset({"elsewhere"})))) == set()
        assert paths(ask(manager, "zebra", where=Where(frozenset()))) == set()

    @law("paths")
    def test_a_filter_looks_past_better_matches(self, manager: MemoryManager) -> None:
        """Filters come before ranking: the one note that passes is found behind many better."""
        for number in range(30):
            self.notes.write(f"memory/many/{number}.md", "zebra zebra zebra")
        self.notes.write("memory/one.md", f"one zebra among {'other words ' * 40}")
        maintain(manager)
        for arm in ask(manager, "zebra", where=Where(paths=("memory/one.md",)), limit=1):
            assert paths([arm]) == {"memory/one.md"}

    @law()
    def test_undeclared_filters_are_declined(self, manager: MemoryManager) -> None:
        """Who cannot filter by path or date raises ``DeclinedError``.

        It does not answer as if there were no filter, nor that nothing was found.
        """
        self._spread(manager)
        for capability, where in (
            ("paths", Where(paths=("memory/a.md",))),
            ("dates", Where(after="2026-01-30")),
        ):
            if capability not in self.capabilities:
                with pytest.raises(DeclinedError):
                    ask(manager, "zebra", where=where)

    @law("phrases")
    def test_phrases_stand_side_by_side(self, manager: MemoryManager) -> None:
        """Found by ``"zebra okapi"`` is only what has these words next to each other, in order."""
        self.notes.write("memory/phrase.md", "a zebra okapi and more")
        self.notes.write("memory/turned.md", "an okapi zebra and more")
        self.notes.write("memory/apart.md", "a zebra and an okapi")
        maintain(manager)
        assert paths(ask(manager, '"zebra okapi"')) == {"memory/phrase.md"}
        assert paths(ask(manager, '"okapi walrus"')) == set()

    @law("exclusions")
    def test_excluded_words_are_not_there(self, manager: MemoryManager) -> None:
        """Found by ``zebra -okapi`` is nothing that has the word ``okapi``."""
        self.notes.write("memory/both.md", "a zebra and an okapi")
        self.notes.write("memory/one.md", "a zebra alone")
        maintain(manager)
        assert paths(ask(manager, "zebra -okapi")) == {"memory/one.md"}

    @law()
    def test_undeclared_operators_are_declined(self, manager: MemoryManager) -> None:
        """Who knows no phrases or no exclusions raises ``DeclinedError`` where they are asked."""
        self.notes.write("memory/both.md", "a zebra and an okapi")
        maintain(manager)
        for capability, text in (
            ("phrases", '"zebra okapi"'),
            ("exclusions", "zebra -okapi"),
        ):
            if capability not in self.capabilities:
                with pytest.raises(DeclinedError):
                    ask(manager, text)

    def _agrees(self, manager: MemoryManager, where: Where) -> None:
        expected = {path for path, day in _NOTES.items() if passes(make_put(path, day=day), where)}
        assert paths(ask(manager, "zebra", where=where)) == expected, where
