"""The seam of text analysis: what every analyser does, and how to get one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from commonplace.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.model.chunks import Terms
    from commonplace.model.search import KeywordQuery
    from commonplace.text.query import ParsedQuery

__all__ = ["Analyser", "make_analyser", "title_of"]


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
    def tokenizer(self) -> str | None:
        """The tokenizer that a store must apply itself; ``None`` where terms come ready-made."""
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


def make_analyser(name: str = "standard") -> Analyser:
    """The analyser called ``name``: ``standard``, ``unicode61`` or ``trigram``.

    Raises :class:`~commonplace.errors.ConfigError` for any other name.
    """
    if name == "standard":
        from commonplace.text.standard import StandardAnalyser

        return StandardAnalyser()
    if name in {"unicode61", "trigram"}:
        from commonplace.text.compat import RawAnalyser

        return RawAnalyser(name)
    raise ConfigError(
        f"there is no analyser called {name!r}",
        hint="choose standard, unicode61 or trigram",
    )


def title_of(path: str) -> str:
    """The words of a document's stored path that say what it is about; may be ``""``.

    Left out are the ``memory`` that all notes lie under, the extension, and dates: of
    ``memory/2026-01-31-deploy.md`` there is left ``deploy``.
    """
    folders, _, name = path.rpartition("/")
    stem, _, extension = name.rpartition(".")
    parts = [*filter(None, folders.split("/")), stem if stem and extension else name]
    if parts[0].lower() == "memory":
        del parts[0]
    words = (re.sub(r"^\d{4}-\d\d(?:-\d\d)?+(?![0-9A-Za-z])[-_ .]*", "", part) for part in parts)
    return " ".join(word for word in words if word)
