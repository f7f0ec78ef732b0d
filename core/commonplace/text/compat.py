"""Analysers that leave the words to the store's own tokenizer, as the original did."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from commonplace.model.search import KeywordQuery

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.model.chunks import Terms
    from commonplace.model.search import Phrase
    from commonplace.text.query import ParsedQuery

__all__ = ["RawAnalyser"]

_MAX_TERMS = 256
_MAX_PHRASES = 16
_MAX_PHRASE = 32
_RUN = re.compile(r"\w++")


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
    return _RUN if text.isascii() else _wide_pattern()


@cache
def _wide_pattern() -> re.Pattern[str]:
    from commonplace.text.scripts import MARKS

    return re.compile(rf"\w[\w{MARKS}]*+")
