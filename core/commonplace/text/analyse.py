"""The protocol of analysers, how one is chosen, and where text may be cut."""

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


# Format characters that are a cluster of their own (Control in UAX 29).
_CONTROLS = frozenset("\u00ad\u200b\u200e\u200f\u2060\ufeff")
# Letters that lean on what follows (Prepend) ...
_PREPENDED = frozenset(
    "\u0d4e\u1cf5\u1cf6\U000111c2\U000111c3\U000113d1\U0001193f\U00011941\U00011a3a\U00011d46\U00011f02"
    "\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89"
)
# ... and on what precedes (Extend, SpacingMark) without being marks.
_LEANING = frozenset(
    "\u0e33\u0eb3\u1cf5\u1cf6\uff9e\uff9f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
)
# Controls and separators of lines: a cluster ends on both sides.
_ENDS = frozenset({"Cc", "Zl", "Zp"})
# How far back a conjunct is looked for; with more marks than that it is taken for one.
_LOOK_BACK = 32


def is_boundary(text: str, index: int, start: int = 0) -> bool:
    """Whether ``text`` may be cut before ``index``.

    True only where a grapheme cluster (UAX 29) surely ends, so that a Unicode version newer than
    this Python's would agree; some true boundaries between rare characters are called False.
    ``start`` is a known boundary, such as the last cut: nothing before it is looked at.
    """
    if index <= start or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before < "\u0300" and after < "\u0300" and "\u00ad" not in {before, after}:
        return before != "\r" or after != "\n"
    from unicodedata import category

    kind_before, kind_after = category(before), category(after)
    if kind_before in _ENDS or kind_after in _ENDS or before in _CONTROLS or after in _CONTROLS:
        return True  # not CR LF, which are both below U+0300
    if (
        kind_after[0] in "MC"
        or kind_before in {"Cf", "Cn", "Cs"}
        or after in _LEANING
        or before in _PREPENDED
        or _is_hangul_joint(before, after)
    ):
        return False
    if "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff":
        return _flag_letters_before(text, index, start) % 2 == 0
    return not _may_be_conjunct(text, index, start)


def floor_boundary(text: str, index: int, lower: int = 0) -> int:
    """The largest place in ``lower..index`` where ``text`` may be cut, ``lower`` if there is none.

    ``lower`` is a known boundary, such as the last cut. Time is linear in ``index - lower``.
    """
    index = min(index, len(text))
    while index > lower and not is_boundary(text, index, lower):
        index -= 1
    return max(index, lower)


def _is_hangul_joint(before: str, after: str) -> bool:
    if "\u1160" <= after <= "\u11ff" or "\ud7b0" <= after <= "\ud7ff":
        return True  # a vowel or final consonant
    if "\U00016d60" <= after <= "\U00016d6f":
        return True  # Kirat Rai vowels, which newer versions of UAX 29 treat alike
    return "\u1100" <= before <= "\u115f" or "\ua960" <= before <= "\ua97c"


def _flag_letters_before(text: str, index: int, start: int) -> int:
    at = index
    while at > start and "\U0001f1e6" <= text[at - 1] <= "\U0001f1ff":
        at -= 1
    return index - at


def _may_be_conjunct(text: str, index: int, start: int) -> bool:
    """Whether the marks before ``index`` hold a virama that ties the next consonant to the last."""
    from unicodedata import category, combining

    for at in range(index - 1, max(start, index - _LOOK_BACK) - 1, -1):
        char = text[at]
        if combining(char) == 9 or char in _PREPENDED:
            return True
        kind = category(char)
        if kind[0] != "M" and kind != "Cf" and char not in _LEANING:
            return kind == "Cn"
    return index - start > _LOOK_BACK
