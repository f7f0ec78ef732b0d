"""Turns a query into what to ask QMD for, refusing what it would falsely find nothing for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import DeclinedError, NamedTuple
from commonplace_qmd.engine.faults import QmdError
from commonplace_qmd.engine.index import has_vector_table, has_vectors
from commonplace_qmd.engine.types import Line
from commonplace_qmd.engine.words import as_document, cleaned, has_words, is_findable, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace_qmd.engine.types import Mode, ModelKind

__all__ = ["Plan", "no_models", "plan"]

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
    network. Raises :class:`~commonplace_qmd.engine.faults.QmdError`: ``no_models``, and
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
