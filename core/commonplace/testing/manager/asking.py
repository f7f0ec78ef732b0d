"""Short ways to have a manager work and to ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.resilience.deadline import NEVER
from commonplace.testing.driving import EVERYWHERE
from commonplace.testing.manager.law import question

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from commonplace.model.reports import SyncReport
    from commonplace.model.search import Arm, Found, Where
    from commonplace.protocols.managers import MemoryManager

__all__ = ["LIMIT", "WORDS", "ask", "finds", "found", "maintain", "paths", "said"]

WORDS = ("zebra", "okapi", "walrus", "lynx")
"""Words that no analyser takes for each other."""

LIMIT = 50
"""More than there are chunks in these tests."""


def maintain(manager: MemoryManager, *, force: bool = False) -> SyncReport:
    """Bring the index up to the files, however long it takes."""
    return manager.maintain(force=force, deadline=NEVER)


def ask(
    manager: MemoryManager, text: str, *, where: Where = EVERYWHERE, limit: int = LIMIT
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
    for word in WORDS:
        arms = ask(manager, word)
        holding = {path for path, words in notes.items() if word in words}
        assert holding <= paths(arms), f"{word} is not found where it stands"
        assert paths(arms) <= set(notes), f"{word} is found in a note that is not there"
        for arm in arms:
            if arm.kind == "bm25":
                assert paths([arm]) == holding, f"{word} is found where it does not stand"
