"""Reads sets of queries whose relevant lines are known."""

from __future__ import annotations

import json
import os
import posixpath
from typing import TYPE_CHECKING, Any

from commonplace.plugin import CallerError, NamedTuple
from commonplace_evaluation.measures import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


_FILE = "queries.jsonl"
_LAYOUT = "a set is a folder with a queries.jsonl and a workspace/ beside it"
_LINE = "a line is {id, query, relevant: [{path, startLine, endLine}], ...}"


class EvalQuery(NamedTuple):
    """A query and the lines that answer it."""

    id: str
    text: str
    relevant: tuple[Span, ...]
    category: str
    lang: str = "-"


class EvalSet(NamedTuple):
    """Queries on one workspace. ``name`` is that of the whole set, of which this may be a part.

    With ``is_own`` the workspace is the user's, with all that the configuration adds to it.
    """

    name: str
    part: str
    workspace: str
    queries: tuple[EvalQuery, ...]
    is_own: bool = False

    @property
    def title(self) -> str:
        """Name and part."""
        return f"{self.name}/{self.part}" if self.part else self.name


def find_sets(path: str, own_workspace: Callable[[], str] | None = None) -> list[EvalSet]:
    """All sets at or below ``path`` (a folder, or a file of queries), ordered by path.

    A single file of queries without a ``workspace/`` beside it is about ``own_workspace()``.

    Raises :class:`~commonplace.errors.CallerError` if there is none, or one is malformed.
    """
    if os.path.isfile(path):
        folder = os.path.dirname(os.path.abspath(path))
        if own_workspace is not None and not os.path.isdir(os.path.join(folder, "workspace")):
            name = os.path.basename(path).removesuffix(".jsonl")
            return [EvalSet(name, "", own_workspace(), read_queries(path), is_own=True)]
        return [_read_set(path, os.path.basename(folder), "")]
    if not os.path.exists(path):
        raise CallerError(f"{path}: no such file or folder", hint=_LAYOUT)
    top = os.path.basename(os.path.abspath(path))
    sets = []
    for folder in _folders(path):
        parts = os.path.relpath(folder, path).split(os.sep)
        name, rest = (top, []) if parts == ["."] else (parts[0], parts[1:])
        sets.append(_read_set(os.path.join(folder, _FILE), name, "/".join(rest)))
    if not sets:
        raise CallerError(f"{path}: no queries.jsonl there or below", hint=_LAYOUT)
    return sets


def _folders(path: str) -> Iterator[str]:
    for folder, children, names in os.walk(path):
        children.sort()
        if _FILE in names:
            children.clear()
            yield folder


def _read_set(path: str, name: str, part: str) -> EvalSet:
    workspace = os.path.join(os.path.dirname(os.path.abspath(path)), "workspace")
    if not os.path.isdir(workspace):
        raise CallerError(f"{path}: there is no workspace/ beside it", hint=_LAYOUT)
    return EvalSet(name, part, workspace, read_queries(path))


def read_queries(path: str) -> tuple[EvalQuery, ...]:
    """The queries of a file, in order.

    Raises :class:`~commonplace.errors.CallerError` if there is none, or it cannot be read.
    """
    try:
        lines = utf8_text(path).split("\n")
    except OSError as error:
        raise CallerError(
            f"{path} cannot be read: {error.strerror or error}", hint=_LINE
        ) from error
    queries = []
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            query = _read_query(parsed(line), line_of)
        except ValueError as error:
            why = f"{error}"
            if isinstance(error, json.JSONDecodeError):  # which counts the lines of its text
                why = f"{error.msg} at column {error.colno}"
            raise CallerError(
                f"{path}:{number}: not a query: {why}",
                hint=_LINE,
            ) from error
        line_of[query.id] = number
        queries.append(query)
    if not queries:
        raise CallerError(f"{path}: there are no queries in it", hint=_LINE)
    return tuple(queries)


def utf8_text(path: str) -> str:
    """The text of a file in UTF-8, without the byte order mark that some editors write.

    Raises :class:`~commonplace.errors.CallerError` for another encoding, and ``OSError``.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CallerError(f"{path}:{line}: not UTF-8", hint="save the file as UTF-8") from error


def parsed(text: str) -> Any:
    """``text`` as JSON. Raises ``ValueError`` for what is none, or is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def plain_text(value: object, name: str) -> str:
    """``value`` if it is a text that a file can hold. Raises ``ValueError``, which has ``name``."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text that is not empty")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"{name} holds half of a character (a lone surrogate)")
    return value


def _read_query(facts: Any, line_of: Mapping[str, int]) -> EvalQuery:
    """The query of a line; ``line_of`` has the lines of the ids before it."""
    if not isinstance(facts, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - of a file, not of a caller
    listed = facts.get("relevant")
    if not isinstance(listed, list) or not listed:
        raise ValueError("relevant must be a list with a run of lines at least")
    relevant = tuple(_read_span(span) for span in listed)
    if len(set(relevant)) < len(relevant):
        raise ValueError("relevant names a run of lines twice")
    if (id_ := _label(facts, "id")) in line_of:
        raise ValueError(f"its id {id_!r} is that of line {line_of[id_]}")
    return EvalQuery(
        id=id_,
        text=plain_text(facts.get("query"), "query"),
        relevant=relevant,
        category=_label(facts, "category", "-"),
        lang=_label(facts, "lang", "-"),
    )


def _label(facts: dict[str, Any], name: str, default: str = "") -> str:
    """A text, or a whole number as one."""
    value = facts.get(name)
    if value is None and default:
        return default
    return plain_text(str(value) if type(value) is int else value, name)


def _read_span(span: Any) -> Span:
    if not isinstance(span, dict):
        raise ValueError("relevant must hold objects")  # noqa: TRY004 - as above
    first, last = span.get("startLine"), span.get("endLine")
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        raise ValueError("startLine and endLine must be whole numbers, 1 <= startLine <= endLine")
    path = plain_text(span.get("path"), "path")
    return Span(posixpath.normpath(path), first, last)  # of ./MEMORY.md, as shells complete it
