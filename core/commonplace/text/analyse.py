"""The protocol of analysers, and how one is chosen."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from commonplace.errors import ConfigError
from commonplace.model.search import KeywordQuery

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.model.chunks import Terms
    from commonplace.model.search import Phrase
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
        return RawAnalyser(name)
    raise ConfigError(
        f"there is no analyser called {name!r}",
        hint="choose standard, unicode61 or trigram",
    )


_MAX_TERMS = 256
_MAX_PHRASES = 16
_MAX_PHRASE = 32


class RawAnalyser:
    """See :class:`commonplace.text.analyse.Analyser`.

    The body of a chunk is its raw text. A query asks for all of its runs of letters, numbers and
    underscores; combining marks are taken to be part of their letter.
    """

    def __init__(self, tokenizer: str) -> None:
        self.id = f"{tokenizer}-1"
        self.tokenizer: str | None = tokenizer

    def chunk(self, text: str, *, heading: Sequence[str] = (), title: str = "") -> Terms:
        """The raw text; heading and title were not indexed."""
        from commonplace.model.chunks import Terms

        del heading, title
        return Terms(text)

    def query(self, parsed: ParsedQuery) -> KeywordQuery:
        """All runs and all phrases, none of what the query excludes."""
        runs = dict.fromkeys(run for segment in parsed.words for run in _runs(segment))
        must: list[Phrase] = [(run,) for run in islice(runs, _MAX_TERMS)]
        must += _phrases(parsed.phrases)
        return KeywordQuery(
            should=tuple(dict.fromkeys(run for phrase in must for run in phrase)),
            must=tuple(must),
            must_not=tuple(_phrases(parsed.excluded)),
        )

    def spans(self, text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """The runs of ``text``."""
        for match in _pattern(text).finditer(text):
            yield match.start(), match.end(), (_folded(match.group()),)


def _phrases(texts: Sequence[str]) -> list[Phrase]:
    found = (tuple(islice(_runs(text), _MAX_PHRASE)) for text in texts[:_MAX_PHRASES])
    return [phrase for phrase in found if phrase]


def _runs(text: str) -> Iterator[str]:
    for match in _pattern(text).finditer(text):
        yield _folded(match.group())


def _folded(run: str) -> str:
    """``run`` in lower case, if that is as long (that of the Turkish I is not, nor is FTS5's)."""
    lower = run.lower()
    return lower if len(lower) == len(run) else run


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(r"\w++") if text.isascii() else _wide_pattern()


@cache
def _wide_pattern() -> re.Pattern[str]:
    from commonplace.text.tokens import MARKS

    return re.compile(rf"\w[\w{MARKS}]*+")
