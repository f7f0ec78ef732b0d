"""The protocol of analysers, and how one is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from commonplace.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.model.chunks import Terms
    from commonplace.model.search import KeywordQuery
    from commonplace.text.query import ParsedQuery


class Analyser(Protocol):
    """Turns chunks and queries into the terms by which a keyword index matches them.

    The same text always gives the same terms. A term holds no white space. Time is linear in the
    length of what is analysed, whatever it holds, and nothing raises.
    """

    @property
    def id(self) -> str:
        """Name and version; changes whenever the terms of any text would."""
        ...

    @property
    def terms(self) -> str:
        """The kind of terms: an index of one kind cannot answer queries of another."""
        ...

    def chunk(self, text: str, *, heading: Sequence[str] = (), title: str = "") -> Terms:
        """The terms of a chunk of ``text`` under ``heading`` in a document called ``title``."""
        ...

    def query(self, parsed: ParsedQuery) -> KeywordQuery:
        """The terms of a query, bounded in number however long it is."""
        ...

    def spans(self, text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Where in ``text`` which of its terms stand: (start, end, terms).

        Starts never decrease; spans may overlap. The terms are those of ``body`` and ``extra``.
        """
        ...

    def matches(self, text: str, wanted: frozenset[str]) -> list[tuple[int, int, frozenset[str]]]:
        """Those of :meth:`spans` with some of ``wanted``, each with these: (start, end, terms).

        A search calls it for the text of each hit, so it must take much less time than
        :meth:`spans`.
        """
        ...


def make_analyser(name: str = "standard") -> Analyser:
    """The analyser called ``name``: ``standard``, ``unicode61`` or ``trigram``.

    Raises :class:`~commonplace.errors.ConfigError` for any other name.
    """
    if name == "standard":
        from commonplace.text.standard import StandardAnalyser

        return StandardAnalyser()
    if name == "unicode61":
        from commonplace.text.original import WordAnalyser

        return WordAnalyser()
    if name == "trigram":
        from commonplace.text.original import TrigramAnalyser

        return TrigramAnalyser()
    raise ConfigError(
        f"there is no analyser called {name!r}",
        hint="choose standard, unicode61 or trigram",
    )
