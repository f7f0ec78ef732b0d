"""Looks into the SQLite file that QMD keeps, for what its commands do not tell honestly."""

from __future__ import annotations

import re
import unicodedata
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from commonplace.plugin import Deadline, DeclinedError, NamedTuple
from commonplace_qmd.engine.values import (
    Line,
    QmdError,
    QmdTimeoutError,
    RefusedError,
    read_results,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from commonplace_qmd.engine.commands import Commands
    from commonplace_qmd.engine.server import Resident, Server
    from commonplace_qmd.engine.values import LineKind, Mode, ModelKind, QmdHome, Row

__all__ = [
    "Plan",
    "Searching",
    "as_document",
    "cleaned",
    "crowded",
    "has_vector_table",
    "has_vectors",
    "has_words",
    "is_findable",
    "known_collections",
    "no_models",
    "plain",
    "plan",
]


_BUSY_SECONDS = 1.0


def known_collections(index_path: str) -> frozenset[str]:
    """The collections that a resident QMD knows of; empty where that cannot be read."""
    return frozenset(str(row[0]) for row in _rows(index_path, "SELECT name FROM store_collections"))


def crowded(index_path: str, collections: Collection[str]) -> bool:
    """Whether the index has, or may have, notes of others than ``collections``."""
    rows = _rows(index_path, "SELECT DISTINCT collection FROM documents")
    return not rows or not {str(row[0]) for row in rows}.issubset(collections)


def has_vectors(index_path: str) -> bool:
    """Whether anything is embedded: without, QMD answers "nothing found" to a vector search."""
    return bool(_rows(index_path, "SELECT 1 FROM content_vectors LIMIT 1"))


def has_vector_table(index_path: str) -> bool:
    """Whether QMD would load its model to search vectors, of which there may be none."""
    return bool(_rows(index_path, "SELECT 1 FROM sqlite_master WHERE name = 'vectors_vec'"))


def _rows(index_path: str, query: str) -> list[tuple[Any, ...]]:
    import sqlite3

    try:
        uri = f"file:{quote(index_path)}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.Error:  # no file, no such table in this version, or somebody holds it
        return []


_TYPED = re.compile(r"\A(lex|vec|hyde|intent|expand):", re.IGNORECASE)
_TERM = re.compile(r"""(-?)(?:"([^"]*)"?|([^\s"]+))""")
_WORD = re.compile(r"\w")
# Written without blanks, and not taken apart: a word is found only where a run of them starts.
_UNPARTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff]")
_NEGATION = re.compile(r"(^|\s)-+(?=[\w\"])")


def plain(query: str) -> str:
    """A query on one line that is not taken for a typed document."""
    return _TYPED.sub(r"\1 :", " ".join(_printable(query).split()))


def cleaned(line: Line) -> Line:
    """A line that QMD does not refuse: quotes in pairs, no exclusions from meanings."""
    return line._replace(text=" ".join(_line_text(line.kind, _printable(line.text)).split()))


def as_document(lines: Sequence[Line]) -> str:
    """The typed document of cleaned lines."""
    return "\n".join(f"{line.kind}: {line.text}" for line in lines)


def has_words(text: str) -> bool:
    """Whether a ``lex`` line asks for a word; one of signs and exclusions finds nothing, ever."""
    return any(
        _WORD.search(phrase or term)
        for excluded, phrase, term in _TERM.findall(text)
        if not excluded
    )


def is_findable(text: str) -> bool:
    """Whether QMD finds the words of ``text`` wherever they stand.

    It leaves out marks that do not melt into a letter, as the vowels of many scripts are, and does
    not part Thai, Lao, Khmer and Burmese into words.
    """
    whole = unicodedata.normalize("NFC", text)
    return not _UNPARTED.search(whole) and not any(map(_is_mark, whole))


def _is_mark(char: str) -> bool:
    return char > "\u02ff" and unicodedata.category(char) in ("Mn", "Mc")


def _line_text(kind: LineKind, text: str) -> str:
    if kind != "lex":
        return _NEGATION.sub(r"\1", text)
    if text.count('"') % 2:
        before, _, after = text.rpartition('"')
        return f"{before} {after}"
    return text


def _printable(text: str) -> str:
    # An argument cannot hold a zero, and half a character is none.
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


_MOST_LINES = 10  # that the server takes


class Plan(NamedTuple):
    """A search in both languages.

    ``arguments`` and ``query`` are for the command line. ``tool`` is for the server, ``None``
    where it cannot be asked. ``heavy`` searches load models: worth waiting for the server, which
    keeps them. Where words are not ``findable``, to find nothing says nothing.
    """

    arguments: tuple[str, ...]
    query: str
    tool: Mapping[str, Any] | None
    heavy: bool
    findable: bool = True


def plan(
    mode: Mode, query: str | Sequence[Line], *, index_path: str, models: frozenset[ModelKind]
) -> Plan | None:
    """How to search; ``None`` if there are no words to search for.

    Without its models, QMD would try to download them, for a quarter of an hour where there is no
    network. Raises :class:`~commonplace_qmd.engine.values.QmdError`: ``no_models``, and
    ``no_vectors`` where QMD would say that it found nothing;
    :class:`~commonplace.errors.DeclinedError` where it would say so of any notes, and
    ``ValueError`` for lines in another mode than ``query``.
    """
    if isinstance(query, str):
        if not query.strip():
            return None
        if mode == "query":
            return _expanded(plain(query), index_path, models)
        lines = [Line("lex" if mode == "search" else "vec", query)]
    elif mode == "query":
        lines = list(query)
    else:
        raise ValueError(f"typed lines are for the mode query, not {mode}")
    lines = [line for line in map(cleaned, lines) if line.text]
    if not lines:
        return None
    lines = [line for line in lines if line.kind != "lex" or has_words(line.text)]
    if not lines:
        raise DeclinedError("qmd: the query has no words to look for, and QMD needs one")
    if any(line.kind != "lex" for line in lines):
        _check_vectors(lines, index_path, models)
    return _typed(mode, lines, models)


def no_models(kind: ModelKind) -> QmdError:
    """The error for a model that is not on this machine."""
    return QmdError(
        f"its model to {_USES[kind]} is not on this machine",
        reason="no_models",
        hint='run "qmd pull", or set memory.qmd.searchMode to "search", which needs no model',
    )


_USES: Mapping[ModelKind, str] = {
    "embed": "make vectors",
    "rerank": "rank the best",
    "generate": "expand queries",
}


def _check_vectors(lines: Sequence[Line], index_path: str, models: frozenset[ModelKind]) -> None:
    if all(line.kind != "lex" for line in lines) and not has_vectors(index_path):
        raise QmdError(
            "nothing is embedded yet",
            reason="no_vectors",
            hint='run an update with embeddings, or set memory.qmd.searchMode to "search"',
        )
    if "embed" not in models and has_vector_table(index_path):
        raise no_models("embed")


def _expanded(query: str, index_path: str, models: frozenset[ModelKind]) -> Plan:
    """A plain query, which a model puts into other words."""
    if "generate" not in models:
        raise no_models("generate")
    if "embed" not in models and has_vector_table(index_path):
        raise no_models("embed")
    rerank = "rerank" in models
    arguments = ("query",) if rerank else ("query", "--no-rerank")
    return Plan(arguments, query, {"query": query, "rerank": rerank}, heavy=True)


def _typed(mode: Mode, lines: Sequence[Line], models: frozenset[ModelKind]) -> Plan:
    # What asks for words alone shall not wait for a model.
    meaning = any(line.kind != "lex" for line in lines)
    rerank = meaning and mode == "query" and "rerank" in models
    findable = any(line.kind != "lex" or is_findable(line.text) for line in lines)
    searches = [{"type": line.kind, "query": line.text} for line in lines]
    tool = {"searches": searches, "rerank": rerank} if len(lines) <= _MOST_LINES else None
    if mode == "search":
        return Plan(("search",), lines[0].text, tool, heavy=False, findable=findable)
    if mode == "vsearch" and "generate" in models:  # it expands the query
        return Plan(("vsearch",), lines[0].text, tool, heavy=True)
    arguments = ("query",) if rerank else ("query", "--no-rerank")
    return Plan(arguments, as_document(lines), tool, heavy=meaning, findable=findable)


_WHOLE = 20  # rows that the server takes from each list, whatever it is asked for
# QMD ranks all collections together and drops what was not asked for afterwards, so that a few
# rows asked for may all be crowded out. It looks at twenty times as many as it is asked for, and
# takes half as long again for so many.
_LEAST_ASKED = 200
_TIMES_ASKED = 5


class Searching:
    """Searches of one home; safe to share between threads."""

    def __init__(
        self,
        commands: Commands,
        resident: Resident | None,
        home: QmdHome,
        *,
        models: Callable[[], frozenset[ModelKind]],
    ) -> None:
        self._commands = commands
        self._resident = resident
        self._home = home
        self._models = models
        self._count = count()

    def search(
        self,
        mode: Mode,
        query: str | Sequence[Line],
        *,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row]:
        """See :meth:`~commonplace_qmd.engine.client.Qmd.search`."""
        planned = plan(mode, query, index_path=self._home.index_path, models=self._models())
        if planned is None or limit < 1:
            return []
        rows = self._resident_rows(planned, collections, limit, deadline)
        if rows is None:
            asked = limit
            if mode == "search" and self._crowded(collections):
                asked = max(_LEAST_ASKED, limit * _TIMES_ASKED)
            rows = self._commands.rows(
                planned.arguments,
                planned.query,
                collections=collections,
                limit=asked,
                deadline=deadline,
            )
        wanted = _of(rows, collections)[:limit]
        if not wanted and not planned.findable:
            raise DeclinedError("qmd: QMD does not find all words of this script")
        return wanted

    def _resident_rows(
        self, planned: Plan, collections: Sequence[str], limit: int, deadline: Deadline
    ) -> list[Row] | None:
        """The server's answer; ``None`` if there is none, or it may not be all."""
        if self._resident is None or planned.tool is None or limit > _WHOLE:
            return None
        # Starting it costs more than a process does: only who comes back gets one, and without
        # waiting for it, unless there are models that each process would load anew.
        found = None
        if planned.heavy:
            found = self._resident.server(deadline)
        elif next(self._count):
            found = self._resident.server(Deadline.after(0.0), patient=False)
        # Of a collection that it does not know, it would say that nothing was found there.
        if found is None or not found[1].issuperset(collections):
            return None
        server, _ = found
        try:
            rows = self._whole(server, planned, collections, limit, deadline)
        except QmdTimeoutError:
            raise
        except RefusedError:
            return None
        except QmdError as error:
            self._resident.failed(server, str(error))
            return None
        self._resident.answered()
        return rows

    def _whole(
        self,
        server: Server,
        planned: Plan,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row] | None:
        """The best of all collections; the server would rank several asked for by turns."""
        if not self._crowded(collections):
            return self._called(server, planned, (), limit, deadline)
        everywhere = self._called(server, planned, (), _WHOLE, deadline)
        rows = _of(everywhere, collections)
        if len(rows) >= limit or len(everywhere) < _WHOLE:
            return rows
        if len(collections) > 1:
            return None
        rows = self._called(server, planned, collections, _WHOLE, deadline)
        return rows if len(rows) >= limit else None

    def _crowded(self, collections: Sequence[str]) -> bool:
        """Whether there are, or may be, notes that were not asked for."""
        return bool(collections) and crowded(self._home.index_path, collections)

    def _called(
        self,
        server: Server,
        planned: Plan,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row]:
        assert planned.tool is not None
        arguments = {**planned.tool, "collections": list(collections), "limit": limit}
        if not planned.tool["rerank"]:
            arguments["candidateLimit"] = limit  # it cuts them all up, to no purpose
        answer = server.call("query", arguments, deadline)
        results = answer.get("results") if isinstance(answer, dict) else None
        return read_results(results, numbered=True)


def _of(rows: Sequence[Row], collections: Sequence[str]) -> list[Row]:
    return [row for row in rows if not collections or row.collection in collections]
