"""From a question as people type it to lines that QMD's keyword search can answer.

QMD joins all words of a line by AND, so that a natural question finds next to nothing. Several
lines are fused by rank, the first with double weight. Measured on 200 questions each of four sets
(nDCG@10): all words as one line 0.30, 0.12 and 0.53 on documents and 0.01 on notes; that line
without words that say little, then every pair of neighbours, then every word: 0.58, 0.64, 0.75 and
0.61, which is what an OR over the same index gives, or more. Ten lines are enough but for Chinese,
which would lose 0.07.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from commonplace.plugin import STOP_WORDS, DeclinedError, parse_query
from commonplace_qmd.engine import Line, QmdError
from commonplace_qmd.passages import by_turns, chunks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commonplace.plugin import Analyser, Deadline, KeywordQuery, Query, StoredChunk, Where
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.engine import Mode, Qmd, Row
    from commonplace_qmd.settings import QmdSettings

__all__ = [
    "Answer",
    "Asking",
    "Lines",
    "lines_of",
]


_MAX_WORDS = 24
_MAX_LINES = 10
"""As many as QMD's server takes; more need a process of their own."""
_INSTEAD = 'another backend can: memory.backend ["qmd", "builtin"]'

# QMD's index knows single letters of these, and phrases of them.
_HAN = (
    r"\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7a3\u1100-\u11ff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Written without spaces, and not taken apart by QMD: Thai, Lao, Burmese, Khmer.
_UNKNOWN = re.compile(r"[\u0e01-\u0edf\u1000-\u109f\u1780-\u17dd\ua9e0-\ua9ff\uaa60-\uaa7f]")
# Of Hebrew, Arabic, India's scripts and Tibet's; QMD takes them for borders of words.
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u0f18-\u0fbc"
_JOINED = rf"[^\W{_HAN}]|['’.:/@+#{_MARKS}-](?=['’.:/@+#{_MARKS}-]*[^\W{_HAN}])"
_PIECE = re.compile(rf"[{_HAN}]+|[^\W{_HAN}](?:{_JOINED})*")
_RUN = re.compile(f"[{_HAN}]")
_PART = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}][^\W{_HAN}]*")


class Lines(NamedTuple):
    """What to ask: ``lines`` for a typed query, best first; ``strict`` is the first as words."""

    lines: tuple[Line, ...]

    @property
    def strict(self) -> str:
        """All words at once, for ``qmd search``."""
        return self.lines[0].text


def lines_of(query: Query) -> Lines:
    """The lines for the keyword search of ``query``.

    Phrases are required where the analysed query requires them, and words like any others where it
    does not. Words behind a minus are left to whoever reads the passages: QMD would leave out the
    whole file in which such a word stands once.

    Raises :class:`~commonplace.errors.DeclinedError` for what QMD's keyword search would answer
    by an empty list whatever the notes hold.
    """
    parsed = parse_query(query.text)
    required = parsed.phrases if query.keyword.must else ()
    plain = parsed.words if query.keyword.must else (*parsed.words, *parsed.phrases)
    if _UNKNOWN.search(" ".join((*required, *plain))):
        raise DeclinedError(
            "QMD's keyword search does not know the words of Thai, Lao, Khmer and Burmese",
            hint=_INSTEAD,
        )
    phrases = tuple(dict.fromkeys(filter(None, map(_phrase, required))))
    words = _words(plain)
    if not (phrases or words):
        raise DeclinedError("nothing in this query is a word to QMD", hint=_INSTEAD)
    return Lines(tuple(Line("lex", " ".join((*phrases, *line))) for line in _ways(words)))


def _ways(words: list[str]) -> list[tuple[str, ...]]:
    """All words, then neighbours, then each alone; a single empty way where there are none.

    Where these are too many, the longest words come before the pairs, and the rest is left out;
    but not of scripts without spaces, whose pairs of letters say too little by themselves.
    """
    pairs = list(pairwise(words))
    ways = list(dict.fromkeys([tuple(words), *pairs, *((word,) for word in words)]))
    if len(ways) <= _MAX_LINES or any(map(_RUN.match, words)):
        return ways
    alone = [(word,) for word in sorted(words, key=len, reverse=True)]
    return list(dict.fromkeys([tuple(words), *alone, *pairs]))[:_MAX_LINES]


def _words(texts: Iterable[str]) -> list[str]:
    """The different words of ``texts`` as QMD's search takes them; without those saying little."""
    found: dict[str, bool] = {}
    for text in texts:
        for piece in _PIECE.findall(normalize("NFC", text)):
            says_little = all(part.lower() in STOP_WORDS for part in _PART.findall(piece))
            for word in _terms(piece):
                found.setdefault(word, says_little)
            if len(found) >= 4 * _MAX_WORDS:
                break
    kept = [word for word, says_little in found.items() if not says_little]
    return (kept if len(kept) >= 2 else list(found))[:_MAX_WORDS]


def _terms(piece: str) -> Iterator[str]:
    """A word by itself, what is joined by punctuation as a phrase, a run of letters in pairs."""
    if _RUN.match(piece):
        # A pair is a phrase of two single letters, as QMD indexes them.
        yield from (piece[at : at + 2] for at in range(max(1, len(piece) - 1)))
        return
    parts = _PART.findall(piece)
    if len(parts) == 1 and len(parts[0]) > 2:
        yield parts[0]  # QMD finds what begins with it, too
    elif parts:
        yield f'"{" ".join(parts)}"'


def _phrase(text: str) -> str:
    parts = _PART.findall(normalize("NFC", text))
    return f'"{" ".join(parts)}"' if parts else ""


_ROWS = 20
"""How deep QMD looks for each line of a query: with fewer rows in all, nothing was cut off."""
_DEEP = 1000


class Answer(NamedTuple):
    """``whole`` says that nothing of QMD's was cut off before it was filtered."""

    chunks: list[StoredChunk]
    plan: str
    whole: bool


class Asking:
    """One way to ask: ``search``, ``vsearch`` or ``query``, as configured."""

    def __init__(self, qmd: Qmd, config: QmdSettings, analyser: Analyser) -> None:
        self._qmd = qmd
        self._mode = config.search_mode
        self._size = config.limits.max_snippet_chars
        self._analyser = analyser

    def ask(
        self,
        query: Query,
        collections: Sequence[Collection],
        *,
        where: Where,
        narrowed: bool,
        limit: int,
        deadline: Deadline,
    ) -> Answer:
        """The best passages, best first, sources by turns; up to ``limit`` of each source.

        ``collections`` are those that may answer; ``narrowed`` says that there are others. Raises
        :class:`~commonplace.errors.DeclinedError` where QMD cannot tell whether there is nothing,
        and what the engine raises.
        """
        from commonplace.plugin import parse_query

        wanted = self._analyser.query(parse_query(query.text))
        if not query.keyword.must:
            wanted = wanted._replace(must=())
        read = _Reading(self._analyser, collections, wanted, where, self._size, limit)
        names = [collection.name for collection in collections] if narrowed else []
        if self._mode == "search":
            return self._by_words(query, read, names, deadline)
        return self._by_meaning(query, read, names, deadline)

    def _by_words(
        self, query: Query, read: _Reading, names: Sequence[str], deadline: Deadline
    ) -> Answer:
        lines = lines_of(query)
        asked = max(_ROWS, read.limit)
        rows = self._rows(lines.lines, names, asked, deadline)
        chunks = read.chunks(rows)
        plan = f"search: {len(lines.lines)} lines, {len(rows)} rows"
        # Of several lines none is looked for deeper than that, however many rows are asked for.
        whole = len(rows) < (asked if len(lines.lines) == 1 else _ROWS)
        if chunks or whole:
            return Answer(chunks, plan, whole)
        # What was asked for may lie below what QMD gave: once more, deeper, for all words at once.
        rows = self._qmd.search(
            "search", lines.strict, collections=names, limit=_DEEP, deadline=deadline
        )
        chunks = read.chunks(rows)
        whole = len(rows) < _DEEP and len(lines.lines) == 1
        if chunks or whole:
            return Answer(chunks, f"{plan}; {len(rows)} rows with all words", whole)
        raise DeclinedError(
            "QMD filters after searching: none of its best hits passes, and it looks no deeper",
            hint="ask for rarer words, or narrow the query less",
        )

    def _rows(
        self, lines: Sequence[Line], names: Sequence[str], limit: int, deadline: Deadline
    ) -> list[Row]:
        if len(lines) == 1:
            return self._qmd.search(
                "search", lines[0].text, collections=names, limit=limit, deadline=deadline
            )
        return self._qmd.search("query", lines, collections=names, limit=limit, deadline=deadline)

    def _by_meaning(
        self, query: Query, read: _Reading, names: Sequence[str], deadline: Deadline
    ) -> Answer:
        mode: Mode = "vsearch" if self._mode == "vsearch" else "query"
        text = query.words or query.text
        try:
            asked = max(_ROWS, read.limit)
            rows = self._qmd.search(mode, text, collections=names, limit=asked, deadline=deadline)
        except QmdError as error:
            if error.reason != "no_vectors":
                raise
            raise DeclinedError(
                "QMD has no vectors yet, and would answer by an empty list",
                hint="run `commonplace index`, which embeds, or set memory.qmd.searchMode to "
                "search",
            ) from error
        chunks = read.chunks(rows)
        if chunks or len(rows) < asked:
            return Answer(chunks, f"{mode}: {len(rows)} rows", whole=len(rows) < asked)
        raise DeclinedError(
            f"QMD filters after searching: none of its best {len(rows)} hits passes",
            hint="narrow the query less",
        )


class _Reading:
    """Turns rows into passages for one query."""

    def __init__(
        self,
        analyser: Analyser,
        collections: Sequence[Collection],
        query: KeywordQuery,
        where: Where,
        size: int,
        limit: int,
    ) -> None:
        self._analyser = analyser
        self._collections = collections
        self._query = query
        self._where = where
        self._size = size
        self.limit = limit

    def chunks(self, rows: Sequence[Row]) -> list[StoredChunk]:
        return by_turns(
            list(
                chunks_of(
                    rows,
                    self._collections,
                    query=self._query,
                    analyser=self._analyser,
                    where=self._where,
                    size=self._size,
                    most=self.limit,
                )
            )
        )
