"""What a person typed, taken apart: words, quoted phrases, exclusions and filters."""

from __future__ import annotations

import re
from functools import cache

from commonplace.model.search import Where
from commonplace.model.tuples import NamedTuple

_CLOSING = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "＂": "＂"}
# Without one of these, a query is plain words: most are, and need no pattern compiled.
_MARKS_OF_OPERATORS = (*_CLOSING, "-", ":")


class ParsedQuery(NamedTuple):
    """A query taken apart.

    ``text`` is the query as typed. ``words`` are the stretches of plain text in it, each without
    quotes or operators inside; ``phrases`` the quoted texts, ``excluded`` those after a minus.
    """

    text: str
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    where: Where = Where()


def parse_query(text: str) -> ParsedQuery:
    """Take ``text`` apart; whatever is not clearly an operator is plain words. Raises nothing.

    - ``"these words"``: side by side, in this order. The quotes stand around whole words; a lone
      one, or one inside a word, is plain text, and so is an apostrophe.
    - ``-word``, ``-"these words"``: not these. Plain are ``a-b``, ``--flag``, ``-x`` and ``-1``.
    - ``path:memory/**/*.md``, ``path:"my notes"``; ``source:memory``; several of one kind add up.
    - ``after:2026-01-31``, ``before:2026-01``, ``before:2026``: inclusive, from the first or to the
      last day.
    """
    read = _Reader(text)
    at = 0
    operators = any(mark in text for mark in _MARKS_OF_OPERATORS)
    while operators and (match := _operator_pattern().search(text, at)):
        at = read.operator(match)
    return read.finish()


class _Reader:
    """The state of taking one query apart."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain_from = 0  # where the stretch of plain text began that is being read
        self._unclosed: set[str] = set()  # closing quotes of which no more will come
        self._words: list[str] = []
        self._phrases: list[str] = []
        self._excluded: list[str] = []
        self._paths: list[str] = []
        self._sources: list[str] = []
        self._after: list[str] = []
        self._before: list[str] = []

    def operator(self, match: re.Match[str]) -> int:
        """Read what looks like an operator; where to go on."""
        if match["quote"]:
            return self._quoted(match)
        if match["word"]:
            word = match["word"]
            if len(word) > 1 or not word.isascii():
                self._take(match.start(), match.end(), self._excluded, word)
        elif not self._filter(match):
            return match.start("value")  # plain words, in which another operator may stand
        return match.end()

    def finish(self) -> ParsedQuery:
        """What was read."""
        self._plain(len(self._text))
        where = Where(
            sources=frozenset(self._sources) or None,
            paths=tuple(self._paths),
            after=max(self._after, default=None),
            before=min(self._before, default=None),
        )
        if not (self._words or self._phrases) and where == Where():
            # Nothing but "-word": the user is looking for a flag.
            return ParsedQuery(self._text, words=tuple(self._excluded))
        return ParsedQuery(
            self._text, tuple(self._words), tuple(self._phrases), tuple(self._excluded), where
        )

    def _quoted(self, match: re.Match[str]) -> int:
        text, start = self._text, match.end()
        closing = _CLOSING[match["quote"]]
        if closing in self._unclosed:
            return start
        end = text.find(closing, start)
        if end < 0:
            self._unclosed.add(closing)
            return start
        after = end + 1
        if text[start:end].isspace() or end == start or text[after : after + 1].isalnum():
            return start
        taken = self._excluded if match["minus"] else self._phrases
        self._take(match.start(), after, taken, text[start:end])
        return after

    def _filter(self, match: re.Match[str]) -> bool:
        key, value = match["key"], match["value"].strip('"')
        taken = {
            "path": self._paths,
            "source": self._sources,
            "after": self._after,
            "before": self._before,
        }[key]
        if key in {"after", "before"}:
            value = _day(value, last=key == "before")
        elif key == "source" and not re.fullmatch(r"[\w.-]+", value):
            value = ""
        if not value.strip():
            return False
        self._take(match.start(), match.end(), taken, value)
        return True

    def _take(self, start: int, end: int, taken: list[str], value: str) -> None:
        self._plain(start)
        self._plain_from = end
        taken.append(value)

    def _plain(self, end: int) -> None:
        words = self._text[self._plain_from : end].strip()
        if words:
            self._words.append(words)


def _day(value: str, *, last: bool) -> str:
    """The ISO date of ``value``, or ``""``; a year or month means its first or last day."""
    match = re.fullmatch(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", value, re.ASCII)
    if not match:
        return ""
    year, month, day = match.groups()
    month = month or ("12" if last else "01")
    if year == "0000" or not 1 <= int(month) <= 12:
        return ""
    from calendar import monthrange  # only queries with dates pay for it

    days = monthrange(int(year), int(month))[1]
    day = day or (str(days) if last else "01")
    return f"{year}-{month}-{day}" if 1 <= int(day) <= days else ""


@cache
def _operator_pattern() -> re.Pattern[str]:
    # An operator stands at the start of the text, or after white space or an opening bracket.
    return re.compile(
        r"(?<![^\s(\[（])(?:"
        rf"(?P<minus>-?)(?P<quote>[{''.join(_CLOSING)}])"
        r"|-(?P<word>(?![\d_])\w\S*+)"
        r'|(?P<key>path|source|after|before):(?P<value>"[^"\n]*+"|[^\s"]\S*+)'
        r")"
    )
