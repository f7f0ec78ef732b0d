"""What a search is given: checked, and the query taken apart."""

from __future__ import annotations

import os
import re
from functools import cache, cached_property
from math import inf
from time import time
from typing import TYPE_CHECKING, NoReturn

from commonplace.errors import CallerError
from commonplace.model.search import MOST_RESULTS, QueryNote, Where
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date


LONGEST_QUERY = 10_000
"""Characters of a query that are searched for."""

MOST_FILTERS = 100
"""Filters of a query that have an effect."""

MOST_PHRASES = 16
"""Quoted texts of a query that have an effect; and as many excluded ones."""

_MOST_BITS = 1023
"""Any whole number of so many bits can be made a float."""


def check_search(
    limit: object, min_score: object, sources: object, timeout: object, **texts: object
) -> None:
    """Check the arguments of a search; ``limit`` is the one called ``max_results``.

    Raises :class:`~commonplace.errors.CallerError` naming the argument that is wrong.
    """
    check_texts(**texts)
    check_numbers(1, MOST_RESULTS, max_results=limit)
    check_shares(min_score=min_score)
    if timeout is not None and not (_is_number(timeout) and timeout > 0):  # type: ignore[operator]  # it is a number
        _refuse("timeout", "a number of seconds above 0", timeout)
    if isinstance(timeout, int) and timeout.bit_length() > _MOST_BITS:
        _refuse("timeout", "a number of seconds that a float can hold", timeout)
    if sources is not None and not (_are_names(sources) and sources):
        _refuse("sources", "a list of one text or more, or left out", sources)


def check_texts(**values: object) -> None:
    """Raise :class:`~commonplace.errors.CallerError` for the first that is no text."""
    for name, value in values.items():
        if not isinstance(value, str):
            _refuse(name, "a text", value)


def check_memory(memory: object) -> None:
    """Raise :class:`~commonplace.errors.CallerError` unless it is a memory whose calls block."""
    if not hasattr(memory, "settings"):
        raise CallerError(
            f"memory must be a Memory, not {type(memory).__name__}",
            hint="of an AsyncMemory pass its .memory, and call what it makes by asyncio.to_thread",
        )


def check_optional_texts(**values: object) -> None:
    """Raise :class:`~commonplace.errors.CallerError` for the first that is no text or ``None``."""
    for name, value in values.items():
        if value is not None and not isinstance(value, str):
            _refuse(name, "a text, or left out", value)


def check_shares(**values: object) -> None:
    """Raise :class:`~commonplace.errors.CallerError` unless each is ``None`` or from 0 to 1."""
    for name, value in values.items():
        if value is not None and not (_is_number(value) and 0 <= value <= 1):  # type: ignore[operator]  # it is a number
            _refuse(name, "a number from 0 to 1", value)


def check_numbers(low: int, high: float = inf, /, **values: object) -> None:
    """Raise :class:`~commonplace.errors.CallerError` unless each is ``None`` or an int in range."""
    for name, value in values.items():
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (is_whole and low <= value <= high):  # type: ignore[operator]  # it is a number
            limits = f"of at least {low}" if high == inf else f"from {low} to {high:,}"
            _refuse(name, f"a whole number {limits}", value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_names(value: object) -> bool:
    # Of one text, the letters would be taken for names.
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        return False
    names: Iterable[object] = value
    return not hasattr(value, "__next__") and all(isinstance(name, str) for name in names)


def _refuse(name: str, wanted: str, value: object) -> NoReturn:
    try:
        shown = repr(value)
    except ValueError:  # a number of thousands of digits
        shown = f"that {type(value).__name__}"
    shown = shown if len(shown) <= 40 else f"{shown[:40]}…"
    raise CallerError(f"{name} must be {wanted}, not {shown}")


_CLOSING = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "＂": "＂"}
# Without one of these, a query is plain words: most are, and need no pattern compiled.
_MARKS_OF_OPERATORS = (*_CLOSING, "-", ":", "：", "OR")


class ParsedQuery(NamedTuple):
    """A query taken apart.

    ``text`` is the query as typed. ``words`` are the stretches of plain text in it, each without
    quotes or operators inside; ``phrases`` the quoted texts, ``excluded`` those after a minus.
    ``notes`` say which filters were not understood, and have no effect, or another than it seems.
    """

    text: str
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    where: Where = Where()
    notes: tuple[str, ...] = ()


def parse_query(
    text: str, today: Callable[[], date] | None = None, workspace: str = ""
) -> ParsedQuery:
    """Take ``text`` apart; whatever is not clearly an operator is plain words. Raises nothing.

    - ``"these words"``: side by side, in this order. The quotes stand around whole words; a lone
      one, or one inside a word, is plain text, and so is an apostrophe.
    - ``-word``, ``-"these words"``: not these. Plain are ``a-b``, ``--flag``, ``-x`` and ``-1``; of
      ``-8450`` a note says so.
    - ``path:memory/**/*.md``, ``path:"my notes"``; ``source:memory``; several of one kind add up.
      ``-path:drafts``, ``-source:sessions``: not these. Paths may begin with ``./`` or with the
      ``workspace``, an absolute path, where it is given.
    - ``tag:work`` or ``tag:#work``: notes that have it or, as ``work/port``, one below it; several
      must all be there. ``-tag:work``: notes without.
    - ``after:2026-01-31``, ``before:2026-Q3``, ``after:last-week``, ``after:7d``: inclusive, from
      the first or to the last day; see :func:`commonplace.text.dates.days_of`. ``today`` is the
      user's day, the system's if it is not given.
    - ``OR`` between words changes nothing: any of them will do. Next to a phrase it makes that one
      of several that will do.
    - A query of exclusions alone has no words.

    Of a longer text its first :data:`LONGEST_QUERY` characters count, and of more filters the
    first :data:`MOST_FILTERS`.
    """
    reader = _Reader(text[:LONGEST_QUERY], today, workspace)
    if len(text) > LONGEST_QUERY:
        reader.note(f"the query has {len(text):,} characters; its first {LONGEST_QUERY:,} count")
        text = text[:LONGEST_QUERY]
    at = 0
    operators = any(mark in text for mark in _MARKS_OF_OPERATORS)
    while operators and (match := _operator_pattern().search(text, at)):
        at = reader.operator(match)
    return reader.finish()


def shown_filters(
    where: Where, phrases: Sequence[str] = (), excluded: Sequence[str] = ()
) -> tuple[str, ...]:
    """The filters of ``where``, quoted and excluded words as they are typed: ``path:memory/**``."""
    dates = (("after", where.after), ("before", where.before))
    kinds: tuple[tuple[str, Iterable[str]], ...] = (
        *(("path", where.paths), ("-path", where.not_paths)),
        *(("source", where.sources or ()), ("-source", where.not_sources)),
        *(("tag", where.tags), ("-tag", where.not_tags)),
        *((key, (day,)) for key, day in dates if day),
    )
    return (
        *(f"{key}:{value}" for key, values in kinds for value in sorted(values)),
        *(f'"{phrase}"' for phrase in phrases[:MOST_PHRASES]),
        *(f"-{text}" if text.isalpha() else f'-"{text}"' for text in excluded[:MOST_PHRASES]),
    )


class _Reader:
    """The state of taking one query apart."""

    def __init__(self, text: str, today: Callable[[], date] | None, workspace: str) -> None:
        self._text, self._workspace = text, workspace
        self._today = today
        self._plain_from = 0  # where the stretch of plain text that is being read began
        self._unclosed: set[str] = set()  # closing quotes of which no more will come
        self._words: list[str] = []
        self._phrases: list[str] = []
        self._excluded: list[str] = []
        self._notes: list[str] = []
        self._last: list[str] = []  # the list to which something was added last
        self._paths, self._not_paths = list[str](), list[str]()
        self._sources, self._not_sources = list[str](), list[str]()
        self._after, self._before = list[str](), list[str]()
        self._tags, self._not_tags = list[str](), list[str]()
        self._filters = 0

    def note(self, text: str) -> None:
        """Tell the user of something that has no effect, or another one than it seems."""
        self._notes.append(text)

    def operator(self, match: re.Match[str]) -> int:
        """Read what looks like an operator. Returns where to go on."""
        if match["quote"]:
            return self._quoted(match)
        if match["or"]:
            self._either_way(match)
        elif match["key"]:
            self._filter(match)
        elif number := match["number"]:
            text = f'-{number} is searched for as a number: -"{number}" leaves it out'
            self.note(QueryNote(text))
        else:
            word = match["word"]
            if len(word) > 1 or not word.isascii():
                self._take(match.start(), match.end(), self._excluded, word)
                if note := _left_out_by(word, command=self._is_command):
                    self.note(QueryNote(f"-{word} {note}"))
        return match.end()

    @cached_property
    def _is_command(self) -> bool:
        parts = self._text.split()
        return any(part.startswith(("--", "./", "/", "~/")) for part in parts)

    def finish(self) -> ParsedQuery:
        """What was read."""
        self._plain(len(self._text))
        where = Where(
            sources=frozenset(self._sources) or None,
            paths=tuple(self._paths),
            after=max(self._after, default=None),
            before=min(self._before, default=None),
            not_paths=tuple(self._not_paths),
            not_sources=frozenset(self._not_sources),
            tags=tuple(dict.fromkeys(self._tags)),
            not_tags=tuple(dict.fromkeys(self._not_tags)),
        )
        if where.after and where.before and where.after > where.before:
            span = f"after:{where.after} and before:{where.before}"
            self.note(QueryNote(f"{span} leave no day between them: nothing can be found"))
        if ":" in self._text or "NOT " in self._text or "AND " in self._text:
            from commonplace.text.alternatives import of_other_searches

            self._notes += map(QueryNote, of_other_searches(self._text))
        words, phrases, excluded = map(tuple, (self._words, self._phrases, self._excluded))
        return ParsedQuery(self._text, words, phrases, excluded, where, tuple(self._notes))

    def _either_way(self, match: re.Match[str]) -> None:
        """Read ``OR``: nothing beside it must be there, not even a phrase."""
        between = self._text[self._plain_from : match.start()]
        rest = self._text[match.end() :].strip()
        if not rest or not (between.strip() or self._words or self._phrases):
            return  # nothing to choose between
        self._plain(match.start())
        self._plain_from = match.end()
        if not between.strip() and self._phrases and self._last is self._phrases:
            self._words.append(self._phrases.pop())

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
        texts = self._excluded if match["minus"] else self._phrases
        before = self._text[: match.start()].rstrip()
        if texts is self._phrases and self._plain_from == len(before) and before.endswith("OR"):
            texts = self._words
        self._take(match.start(), after, texts, text[start:end])
        return after

    def _filter(self, match: re.Match[str]) -> None:
        key, minus, typed = match["key"], match["no"], match["value"]
        value = typed.strip('"')
        self._filters += 1
        if self._filters > MOST_FILTERS:
            words = f"the query has more than {MOST_FILTERS} filters; the others were left out"
            self._take(match.start(), match.end(), [], "")
            if self._filters == MOST_FILTERS + 1:
                self.note(words)
            return
        if key == "path" and value.strip():
            values = self._not_paths if minus else self._paths
            value = _stored_path(value, self._workspace)
        elif key == "source" and re.fullmatch(r"[\w.-]+", value):
            values = self._not_sources if minus else self._sources
        elif key in {"after", "before"} and not minus and (day := self._day(value, key)):
            values, value = (self._after if key == "after" else self._before), day
        elif key == "tag" and (tag := _tag(value)):
            values, value = (self._not_tags if minus else self._tags), tag
        else:
            values, value = self._notes, _not_understood(minus, key, typed)
        self._take(match.start(), match.end(), values, value)

    def _day(self, value: str, key: str) -> str:
        from commonplace.text.dates import days_of, today_at

        days = days_of(value, self._today() if self._today else today_at(time()))
        if days is None:
            return ""
        first, last = days
        return (last if key == "before" else first).isoformat()

    def _take(self, start: int, end: int, values: list[str], value: str) -> None:
        self._plain(start)
        self._plain_from = end
        self._last = values
        values.append(value)

    def _plain(self, end: int) -> None:
        words = self._text[self._plain_from : end].strip()
        if words:
            self._words.append(words)


def _stored_path(path: str, workspace: str) -> str:
    """A path as documents are stored: ``./a`` and ``/workspace/a`` are ``a``, ``.`` is all."""
    if workspace and os.path.isabs(path):
        path = _relative(path, workspace)
    path = path.replace(os.sep, "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return "**" if path in ("", os.curdir) else path


def _relative(path: str, workspace: str) -> str:
    """An absolute ``path`` relative to ``workspace``, which may be named by its real path, too."""
    try:
        below = [os.path.relpath(path, base) for base in (workspace, os.path.realpath(workspace))]
    except ValueError:  # on another drive nothing is relative
        return path
    return next((inside for inside in below if inside.split(os.sep)[0] != os.pardir), below[0])


def _tag(value: str) -> str:
    from commonplace.text.notes import folded_tag  # few searches name a tag

    return folded_tag(value)


def _left_out_by(word: str, *, command: bool) -> str:
    if word.lower().endswith((".md", ".markdown")):
        path = word if "/" in word else f"**/{word}"
        return f"leaves out text with these words, -path:{path} the file"
    if command:
        return f'excludes pieces with "{word}"; to search for it, quote it: "-{word}"'
    return ""


def _not_understood(minus: str, key: str, value: str) -> str:
    note = f"{minus}{key}:{value} is not understood, and was left out"
    if key == "source":
        return f"{note}: a source is one word, such as memory"
    if key in {"path", "tag"}:
        return note
    if minus:
        return f"{note}: use {'before' if key == 'after' else 'after'}: instead"
    from commonplace.text.dates import EXAMPLES

    return f"{note}; these are: {EXAMPLES}"


@cache
def _operator_pattern() -> re.Pattern[str]:
    # An operator stands at the start of the text, or after white space or an opening bracket.
    return re.compile(
        r"(?<![^\s(\[（])(?:"
        rf"(?P<minus>-?)(?P<quote>[{''.join(_CLOSING)}])"
        r'|(?P<no>-?)(?P<key>path|source|after|before|tag)[:：](?P<value>"[^"\n]*+"|[^\s"]\S*+)'
        # Not what only options of commands have: -Xmx4g, -target=x.
        r"|-(?P<word>(?![\d_]|\S*[=@]|X[A-Za-z]++\d)\w\S*+)"
        r"|-(?P<number>\d{3,})(?=[\s)\]）]|$)"
        r"|(?P<or>OR)(?=\s)"
        r")"
    )
