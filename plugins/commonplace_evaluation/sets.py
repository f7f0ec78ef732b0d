"""Reads sets of queries whose relevant lines are known."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from commonplace.plugin import CallerError, NamedTuple
from commonplace_evaluation.measures import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_FILE = "queries.jsonl"
_LAYOUT = "a set is a folder with a queries.jsonl and a workspace/ beside it"


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

    Raises :class:`~commonplace.errors.CallerError` if there is none, or a line is malformed.
    """
    queries = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    queries.append(_read_query(json.loads(line)))
                except (ValueError, KeyError, TypeError) as error:
                    raise CallerError(
                        f"{path}:{number}: not a query: {type(error).__name__}: {error}",
                        hint="a line is {id, query, relevant: [{path, startLine, endLine}], ...}",
                    ) from error
    if not queries:
        raise CallerError(f"{path}: there are no queries in it", hint=_LAYOUT)
    return tuple(queries)


def _read_query(facts: dict[str, Any]) -> EvalQuery:
    relevant = tuple(
        Span(str(span["path"]), int(span["startLine"]), int(span["endLine"]))
        for span in facts["relevant"]
    )
    if not relevant:
        raise ValueError("nothing is relevant to it")
    return EvalQuery(
        id=str(facts["id"]),
        text=str(facts["query"]),
        relevant=relevant,
        category=str(facts.get("category", "-")),
        lang=str(facts.get("lang", "-")),
    )
