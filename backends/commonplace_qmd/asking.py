"""Asks QMD a query in the configured way, and tells an honest nothing from a blind one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import DeclinedError
from commonplace_qmd.engine import QmdError
from commonplace_qmd.mapping import by_turns, chunks_of
from commonplace_qmd.querying import lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.plugin import Analyser, Deadline, KeywordQuery, Query, StoredChunk, Where
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.engine import Line, Mode, Qmd, Row
    from commonplace_qmd.settings import QmdSettings

__all__ = ["Answer", "Asking"]

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
