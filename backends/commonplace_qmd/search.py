"""One search of an agent's memory: the query in QMD's form, and an answer that can be trusted.

QMD joins all words of a line by AND, so that a natural question finds next to nothing. Several
lines are fused by rank, the first with double weight. Measured on 200 questions each of four sets
(nDCG@10): all words as one line 0.30, 0.12 and 0.53 on documents and 0.01 on notes; that line
without stop words, then every pair of neighbours, then every word: 0.58, 0.64, 0.75 and 0.61, which
is what an OR over the same index gives, or more. Ten lines are enough except for Chinese, which
would lose 0.07.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING
from unicodedata import normalize

from commonplace.plugin import STOP_WORDS, Arm, DeclinedError, Found, parse_query
from commonplace_qmd.engine.values import Line, QmdError
from commonplace_qmd.passages import by_turns, passages_of, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.plugin import Analyser, Deadline, Query, StoredChunk, Where
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.engine.client import Qmd
    from commonplace_qmd.engine.values import Row
    from commonplace_qmd.settings import QmdSettings

    Ask = Callable[..., list[Row]]
    Try = tuple[list[Row], str, bool]
    """The rows of a search, what it was, and whether QMD cut off none of them."""


_ROWS = 20
"""The rows that QMD takes for each line of a query: with fewer in all, it cut off none."""
_DEEP = 1000
_MAX_WORDS = 24
_MAX_LINES = 10
"""As many as QMD's server accepts; more need a process each."""
_INSTEAD = 'another backend can: memory.backend ["qmd", "builtin"]'

# QMD indexes these letter by letter.
_HAN = (
    r"\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7a3\u1100-\u11ff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Written without spaces, and not segmented by QMD: Thai, Lao, Burmese, Khmer.
_UNSEGMENTED = re.compile(r"[\u0e01-\u0edf\u1000-\u109f\u1780-\u17dd\ua9e0-\ua9ff\uaa60-\uaa7f]")
# Of Hebrew, Arabic, Indic scripts and Tibetan; QMD takes them for word boundaries.
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u0f18-\u0fbc"
_JOINED = rf"[^\W{_HAN}]|['’.:/@+#{_MARKS}-](?=['’.:/@+#{_MARKS}-]*[^\W{_HAN}])"
_PIECE = re.compile(rf"[{_HAN}]+|[^\W{_HAN}](?:{_JOINED})*")
_RUN = re.compile(f"[{_HAN}]")
_PART = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}][^\W{_HAN}]*")


def lines_of(query: Query) -> tuple[Line, ...]:
    """The lines of a typed query for the keyword search of ``query``, the strictest first.

    Phrases are required if the analysed query requires them, and words like any others if not.
    Excluded words are checked in the passages: QMD would exclude the whole file.

    Raises :class:`~commonplace.plugin.DeclinedError` for a query that QMD's keyword search would
    answer with an empty list whatever the notes hold.
    """
    parsed = parse_query(query.text)
    required = parsed.phrases if query.keyword.must else ()
    plain = parsed.words if query.keyword.must else (*parsed.words, *parsed.phrases)
    if _UNSEGMENTED.search(" ".join((*required, *plain))):
        raise DeclinedError(
            "QMD's keyword search cannot segment Thai, Lao, Khmer and Burmese", hint=_INSTEAD
        )
    phrases = tuple(dict.fromkeys(filter(None, map(_phrase, required))))
    words = _words(plain)
    if not (phrases or words):
        raise DeclinedError("QMD finds no word in this query", hint=_INSTEAD)
    return tuple(Line("lex", " ".join((*phrases, *line))) for line in _ways(words))


def _ways(words: list[str]) -> list[tuple[str, ...]]:
    """All words, then neighbours, then each alone; one empty tuple if there are no words.

    If these are too many, the longest words come before the pairs, and the rest is dropped, except
    in scripts without spaces, where one pair of letters alone has too little meaning.
    """
    pairs = list(pairwise(words))
    ways = list(dict.fromkeys([tuple(words), *pairs, *((word,) for word in words)]))
    if len(ways) <= _MAX_LINES or any(map(_RUN.match, words)):
        return ways
    alone = [(word,) for word in sorted(words, key=len, reverse=True)]
    return list(dict.fromkeys([tuple(words), *alone, *pairs]))[:_MAX_LINES]


def _words(texts: Iterable[str]) -> list[str]:
    """The distinct words of ``texts`` in QMD's syntax, without stop words if two others remain."""
    found: dict[str, bool] = {}
    for text in texts:
        for piece in _PIECE.findall(normalize("NFC", text)):
            is_stop_word = all(part.lower() in STOP_WORDS for part in _PART.findall(piece))
            for word in _terms(piece):
                found.setdefault(word, is_stop_word)
            if len(found) >= 4 * _MAX_WORDS:
                break
    kept = [word for word, is_stop_word in found.items() if not is_stop_word]
    return (kept if len(kept) >= 2 else list(found))[:_MAX_WORDS]


def _terms(piece: str) -> Iterator[str]:
    """A word as it is, words joined by punctuation as a phrase, a run of letters in pairs."""
    if _RUN.match(piece):
        # A pair is a phrase of two single letters, as QMD indexes them.
        yield from (piece[at : at + 2] for at in range(max(1, len(piece) - 1)))
        return
    parts = _PART.findall(piece)
    if len(parts) == 1 and len(parts[0]) > 2:
        yield parts[0]  # QMD matches it as a prefix
    elif parts:
        yield f'"{" ".join(parts)}"'


def _phrase(text: str) -> str:
    parts = _PART.findall(normalize("NFC", text))
    return f'"{" ".join(parts)}"' if parts else ""


class Searcher:
    """Searches by ``searchMode``, and tells a true empty answer from one that proves nothing."""

    def __init__(self, qmd: Qmd, config: QmdSettings, analyser: Analyser) -> None:
        self._qmd = qmd
        self._mode = config.search_mode
        self._limits = config.limits
        self._analyser = analyser

    def search(
        self,
        query: Query,
        collections: Sequence[Collection],
        *,
        where: Where,
        narrowed: bool,
        limit: int,
        deadline: Deadline,
    ) -> Arm:
        """The ``limit`` best passages, best first, sources by turns; the score is 1 / rank.

        ``narrowed`` means that there are other collections. Raises
        :class:`~commonplace.plugin.DeclinedError` if QMD cannot tell whether there is nothing, and
        what the engine raises.
        """
        wanted = self._analyser.query(parse_query(query.text))
        if not query.keyword.must:
            wanted = wanted._replace(must=())

        def chunks_of(rows: Sequence[Row]) -> list[StoredChunk]:
            found = passages_of(
                rows,
                collections,
                query=wanted,
                analyser=self._analyser,
                where=where,
                size=self._limits.max_snippet_chars,
                limit=limit,
            )
            return by_turns(list(found))

        names = [collection.name for collection in collections] if narrowed else []
        ask = partial(self._qmd.search, collections=names, deadline=deadline)
        tries = self._by_words if self._mode == "search" else self._by_meaning
        count = 0
        for rows, plan, complete in tries(query, ask, max(_ROWS, limit)):
            chunks, count = chunks_of(rows), len(rows)
            if chunks or complete:
                kept = within(chunks[:limit], self._limits.max_injected_chars)
                found = tuple(Found(chunk, 1 / rank) for rank, chunk in enumerate(kept, 1))
                return Arm("qmd", "opaque", found, exact=complete, plan=plan)
        raise DeclinedError(
            f"QMD filters after searching: none of its best {count} hits passes the filters",
            hint="use rarer words, or fewer filters",
        )

    def _by_words(self, query: Query, ask: Ask, limit: int) -> Iterator[Try]:
        lines = lines_of(query)
        first, one = lines[0].text, len(lines) == 1
        rows = ask("search", first, limit=limit) if one else ask("query", lines, limit=limit)
        plan = f"search: {len(lines)} lines, {len(rows)} rows"
        # For each of several lines QMD takes no more rows than that, whatever the limit.
        yield rows, plan, len(rows) < (limit if one else _ROWS)
        # The wanted rows may rank below: search again, deeper, for all words at once.
        rows = ask("search", first, limit=_DEEP)
        yield rows, f"{plan}; {len(rows)} rows with all words", one and len(rows) < _DEEP

    def _by_meaning(self, query: Query, ask: Ask, limit: int) -> Iterator[Try]:
        try:
            rows = ask(self._mode, query.words or query.text, limit=limit)
        except QmdError as error:
            if error.reason != "no_vectors":
                raise
            raise DeclinedError(
                "QMD has no vectors yet, and would return an empty list",
                hint="run `commonplace index`, which embeds, or set memory.qmd.searchMode to "
                "search",
            ) from error
        yield rows, f"{self._mode}: {len(rows)} rows", len(rows) < limit
