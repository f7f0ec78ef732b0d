"""One search: planned for the resident server and for a process, and answered by one of them."""

from __future__ import annotations

import re
import unicodedata
from itertools import count
from typing import TYPE_CHECKING, Any

from commonplace.plugin import Deadline, DeclinedError, NamedTuple
from commonplace_qmd.engine.installation import (
    has_other_collections,
    has_vector_table,
    has_vectors,
)
from commonplace_qmd.engine.values import (
    Line,
    QmdError,
    QmdTimeoutError,
    RefusedError,
    read_results,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace_qmd.engine.commands import Commands
    from commonplace_qmd.engine.server import Resident, Server
    from commonplace_qmd.engine.values import LineKind, Mode, ModelKind, QmdHome, Row


_SERVER_LINES = 10  # that the server accepts
_SERVER_ROWS = 20  # that the server takes from each list, whatever limit it gets
# QMD ranks all collections together and filters afterwards, so that with a small limit every row
# may be of another collection. It looks at twenty times as many rows as the limit, and takes half
# as long again for these.
_MIN_LIMIT = 200
_LIMIT_FACTOR = 5

_TYPED = re.compile(r"\A(lex|vec|hyde|intent|expand):", re.IGNORECASE)
_TERM = re.compile(r"""(-?)(?:"([^"]*)"?|([^\s"]+))""")
_WORD = re.compile(r"\w")
# Written without blanks, and not segmented: a word is found only where a run of them starts.
_UNSEGMENTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff]")
_NEGATION = re.compile(r"(^|\s)-+(?=[\w\"])")

_USES: Mapping[ModelKind, str] = {
    "embed": "embed texts",
    "rerank": "re-rank",
    "generate": "expand queries",
}


class Search:
    """Searches of one home: by the resident server if it can answer fully, else by a process.

    Threads may share it.
    """

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
        """See :meth:`commonplace_qmd.engine.client.Qmd.search`."""
        planned = plan(mode, query, index_path=self._home.index_path, models=self._models())
        if planned is None or limit < 1:
            return []
        rows = self._resident_rows(planned, collections, limit, deadline)
        if rows is None:
            command_limit = limit
            if mode == "search" and self._shares_index(collections):
                command_limit = max(_MIN_LIMIT, limit * _LIMIT_FACTOR)
            rows = self._commands.rows(
                planned.arguments,
                planned.query,
                collections=collections,
                limit=command_limit,
                deadline=deadline,
            )
        wanted = _of(rows, collections)[:limit]
        if not wanted and not planned.findable:
            raise DeclinedError("qmd: QMD does not find all words of this script")
        return wanted

    def _resident_rows(
        self, planned: Plan, collections: Sequence[str], limit: int, deadline: Deadline
    ) -> list[Row] | None:
        """The server's rows; ``None`` if there is no server, or they may not be all."""
        if self._resident is None or planned.tool is None or limit > _SERVER_ROWS:
            return None
        # Starting the server costs more than a process: the second search starts it, without
        # waiting, unless there are models that each process would load again.
        found = None
        if planned.heavy:
            found = self._resident.server(deadline)
        elif next(self._count):
            found = self._resident.server(Deadline.after(0.0), patient=False)
        # For a collection that it does not know, the server would return an empty list.
        if found is None or not found[1].issuperset(collections):
            return None
        server, _ = found
        try:
            rows = self._complete_rows(server, planned, collections, limit, deadline)
        except QmdTimeoutError:
            raise
        except RefusedError:
            return None
        except QmdError as error:
            self._resident.failed(server, str(error))
            return None
        self._resident.answered()
        return rows

    def _complete_rows(
        self,
        server: Server,
        planned: Plan,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row] | None:
        """The best of all ``collections``; of several named ones, the server fuses by turns."""
        if not self._shares_index(collections):
            return _call(server, planned, (), limit, deadline)
        everywhere = _call(server, planned, (), _SERVER_ROWS, deadline)
        rows = _of(everywhere, collections)
        if len(rows) >= limit or len(everywhere) < _SERVER_ROWS:
            return rows
        if len(collections) > 1:
            return None
        rows = _call(server, planned, collections, _SERVER_ROWS, deadline)
        return rows if len(rows) >= limit else None

    def _shares_index(self, collections: Sequence[str]) -> bool:
        """Whether the index has, or may have, documents that the search does not want."""
        return bool(collections) and has_other_collections(self._home.index_path, collections)


def _call(
    server: Server, planned: Plan, collections: Sequence[str], limit: int, deadline: Deadline
) -> list[Row]:
    assert planned.tool is not None
    arguments = {**planned.tool, "collections": list(collections), "limit": limit}
    if not planned.tool["rerank"]:
        arguments["candidateLimit"] = limit  # the server would chunk them all for nothing
    answer = server.call("query", arguments, deadline)
    results = answer.get("results") if isinstance(answer, dict) else None
    return read_results(results)


def _of(rows: Sequence[Row], collections: Sequence[str]) -> list[Row]:
    return [row for row in rows if not collections or row.collection in collections]


class Plan(NamedTuple):
    """A search in both forms.

    ``arguments`` and ``query`` are for the command line, ``tool`` is for the server, ``None``
    where it cannot be used. ``heavy`` searches load models: the server, which keeps them, is worth
    waiting for. If the words are not ``findable``, an empty list proves nothing.
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

    Without its models, QMD would try to download them, for a quarter of an hour if there is no
    network. Raises :class:`QmdError`: ``no_models``, or ``no_vectors`` where QMD would return an
    empty list; :class:`~commonplace.plugin.DeclinedError` where it would do so for any notes, and
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
    """A plain query, which QMD's model expands."""
    if "generate" not in models:
        raise no_models("generate")
    if "embed" not in models and has_vector_table(index_path):
        raise no_models("embed")
    rerank = "rerank" in models
    arguments = ("query",) if rerank else ("query", "--no-rerank")
    return Plan(arguments, query, {"query": query, "rerank": rerank}, heavy=True)


def _typed(mode: Mode, lines: Sequence[Line], models: frozenset[ModelKind]) -> Plan:
    # A search for words alone must not wait for a model.
    semantic = any(line.kind != "lex" for line in lines)
    rerank = semantic and mode == "query" and "rerank" in models
    findable = any(line.kind != "lex" or is_findable(line.text) for line in lines)
    searches = [{"type": line.kind, "query": line.text} for line in lines]
    tool = {"searches": searches, "rerank": rerank} if len(lines) <= _SERVER_LINES else None
    if mode == "search":
        return Plan(("search",), lines[0].text, tool, heavy=False, findable=findable)
    if mode == "vsearch" and "generate" in models:  # it expands the query
        return Plan(("vsearch",), lines[0].text, tool, heavy=True)
    arguments = ("query",) if rerank else ("query", "--no-rerank")
    return Plan(arguments, as_document(lines), tool, heavy=semantic, findable=findable)


def plain(query: str) -> str:
    """A query on one line that QMD does not take for a typed document."""
    return _TYPED.sub(r"\1 :", " ".join(_printable(query).split()))


def cleaned(line: Line) -> Line:
    """A line that QMD accepts: quotes in pairs, and no exclusions in ``vec`` and ``hyde``."""
    return line._replace(text=" ".join(_balanced(line.kind, _printable(line.text)).split()))


def as_document(lines: Sequence[Line]) -> str:
    """The typed document of cleaned lines."""
    return "\n".join(f"{line.kind}: {line.text}" for line in lines)


def has_words(text: str) -> bool:
    """Whether a ``lex`` line has a word; one of signs and exclusions never finds anything."""
    return any(
        _WORD.search(phrase or term)
        for excluded, phrase, term in _TERM.findall(text)
        if not excluded
    )


def is_findable(text: str) -> bool:
    """Whether QMD finds the words of ``text`` wherever they stand.

    It ignores marks that do not compose with a letter, as the vowels of many scripts are, and
    does not segment Thai, Lao, Khmer and Burmese.
    """
    whole = unicodedata.normalize("NFC", text)
    return not _UNSEGMENTED.search(whole) and not any(map(_is_mark, whole))


def _is_mark(char: str) -> bool:
    return char > "\u02ff" and unicodedata.category(char) in ("Mn", "Mc")


def _balanced(kind: LineKind, text: str) -> str:
    if kind != "lex":
        return _NEGATION.sub(r"\1", text)
    if text.count('"') % 2:
        before, _, after = text.rpartition('"')
        return f"{before} {after}"
    return text


def _printable(text: str) -> str:
    # An argument cannot hold a NUL, nor half of a surrogate pair.
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
