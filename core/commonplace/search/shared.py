"""A search for a chat of several people: what they may not see is as if it were not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from commonplace.config.defaults import TRANSCRIPTS
from commonplace.errors import counted
from commonplace.model.tools import PRIVATE_PATHS, is_private

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.index.syncing import Freshness
    from commonplace.model.search import Arm, Fallback, Query, Where

    class Searched(Protocol):
        """A search under way: of the only backend, along a chain, or for a chat of several."""

        backend: str
        fallback: Fallback | None
        freshness: Freshness

        def update(self) -> None:
            """Update the index, where that is quick or there is none yet."""
            ...

        def ask(self, query: Query, *, where: Where, limit: int) -> tuple[Arm, ...]:
            """Return the ranked lists of the backend that can answer."""
            ...

        def ask_again(self, query: Query, *, where: Where, limit: int) -> tuple[Arm, ...]:
            """Return further ranked lists of the backend that answered."""
            ...


class SharedSearch:
    """A search for a chat that is not direct, to which private documents are as if not there.

    They are left out before anything is ranked, folded, joined or counted. So are notes that
    would give them away: which words no note has, and which files could not be read.
    """

    def __init__(self, search: Searched) -> None:
        self._search = search
        self._hidden_sources = frozenset((TRANSCRIPTS,))
        self._copy()

    def update(self) -> None:
        """Update the index, where that is quick or there is none yet."""
        self._search.update()
        self._copy()

    def ask(self, query: Query, *, where: Where, limit: int) -> tuple[Arm, ...]:
        """Return the ranked lists of what may be seen."""
        arms = self._search.ask(query, where=self._narrowed(where), limit=limit)
        self._copy()
        seen = tuple(map(_as_seen, arms))
        # Conversations of a plugin, of whose source nothing else is found: they fill the lists.
        hidden = _sources(arms, "session") - _sources(seen) - self._hidden_sources
        if not hidden:
            return seen
        self._hidden_sources |= hidden
        return self.ask(query, where=where, limit=limit)

    def ask_again(self, query: Query, *, where: Where, limit: int) -> tuple[Arm, ...]:
        """Return further ranked lists of what may be seen."""
        arms = self._search.ask_again(query, where=self._narrowed(where), limit=limit)
        return tuple(map(_as_seen, arms))

    def _copy(self) -> None:
        self.backend, self.fallback = self._search.backend, self._search.fallback
        self.freshness = _unnamed(self._search.freshness)

    def _narrowed(self, where: Where) -> Where:
        paths = (*where.not_paths, *sorted(PRIVATE_PATHS))
        sources = where.not_sources | self._hidden_sources
        return where._replace(not_paths=paths, not_sources=sources)


def _as_seen(arm: Arm) -> Arm:
    found = tuple([item for item in arm.found if not is_private(item.chunk.path, item.chunk.trust)])
    # Words are counted in all chunks.
    return arm._replace(found=found, unknown=frozenset(), holders=None, tokens_beginning=None)


def _sources(arms: Iterable[Arm], *trusts: str) -> frozenset[str]:
    chunks = [item.chunk for arm in arms for item in arm.found]
    return frozenset([chunk.source for chunk in chunks if not trusts or chunk.trust in trusts])


def _unnamed(fresh: Freshness) -> Freshness:
    """How many files could not be read, instead of which: names show what there is."""
    if not fresh.naming:
        return fresh
    unread = counted(len(fresh.naming), "note or folder", "notes or folders")
    notes = [note for note in fresh.notes if note not in fresh.naming]
    return fresh._replace(notes=(f"{unread} could not be read", *notes), naming=())
