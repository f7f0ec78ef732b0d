"""One search: planned for the resident server and for a process, and answered by one of them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from commonplace.plugin import DeclinedError, NamedTuple
from commonplace_qmd.engine.installation import has_vector_table, has_vectors
from commonplace_qmd.engine.values import Line, QmdError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace_qmd.engine.values import Mode, ModelKind


_SERVER_LINES = 10  # that the server accepts

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
    text = _printable(line.text)
    if line.kind != "lex":
        text = _NEGATION.sub(r"\1", text)
    elif text.count('"') % 2:
        before, _, after = text.rpartition('"')
        text = f"{before} {after}"
    return line._replace(text=" ".join(text.split()))


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
    marks = (unicodedata.category(char) in ("Mn", "Mc") for char in whole if char > "\u02ff")
    return not _UNSEGMENTED.search(whole) and not any(marks)


def _printable(text: str) -> str:
    # An argument cannot hold a NUL, nor half of a surrogate pair.
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
