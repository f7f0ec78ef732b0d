"""What an agent is shown of its memory: fenced text with citations, within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.errors import (
    CallerError,
    DeclinedError,
    ScopeDeniedError,
    UnavailableError,
    counted,
)
from commonplace.graphemes import floor_boundary
from commonplace.model.prompt import DATA_NOTICE, fenced, unfenced
from commonplace.model.search import messages_of, shown_to_agent
from commonplace.model.tools import ToolAnswer
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.errors import CommonplaceError
    from commonplace.model.reports import NoteText
    from commonplace.model.search import Hit, SearchResult


LONGEST_SHOWN_PATH = 300
"""Characters of a path that stands outside of a fence."""


class Shape(NamedTuple):
    """How answers are written: ``budget`` characters of text at most, with citations or without."""

    budget: int
    cited: bool


def found(result: SearchResult, hits: Sequence[Hit], shape: Shape) -> ToolAnswer:
    """The answer to a search: ``hits`` are those of ``result`` that may be shown."""
    text, count = shown_to_agent(result, hits, budget=shape.budget, cited=shape.cited)
    data = {
        "results": [_hit_data(hit, shape) for hit in hits[:count]],
        "backend": result.backend,
        "provider": result.provider,
        "model": result.model,
        "fallback": result.fallback.reason if result.fallback is not None else None,
        "stale": result.stale,
        "omitted": len(hits) - count,
        "notes": messages_of(result),
        "warnings": list(result.warnings),
    }
    return ToolAnswer(text=text, data=data)


def lines_read(note: NoteText, *, budget: int, limited: bool) -> ToolAnswer:
    """The answer to a read. ``limited``: the last line was our choice, not the caller's.

    Text beyond ``budget`` characters is left out, whole lines where possible; what follows is
    named outside of the fence.
    """
    text, _, last = first_lines(note, budget)
    data = {
        "path": note.path,
        "text": text,
        "from": note.start_line,
        "lines": last - note.start_line + 1,
        "totalLines": note.total_lines,
        "trust": note.trust,
    }
    if last < note.start_line:
        return ToolAnswer(text=unfenced(f"{note.path} has {lines_of(note)}."), data=data)
    parts = [
        DATA_NOTICE,
        fenced(text, path=note.path, lines=f"{note.start_line}-{last}", trust=note.trust),
    ]
    if last < note.total_lines and (limited or last < note.end_line):
        data["nextFrom"] = last + 1
        path = unfenced(note.path, LONGEST_SHOWN_PATH)
        parts.append(
            f"({path} has {lines_of(note)}. To read on: memory_get with path "
            f'"{path}" and from {last + 1}.)'
        )
    return ToolAnswer(text="\n\n".join(parts), data=data)


def lines_of(note: NoteText) -> str:
    """How many lines a note has, in words."""
    return counted(note.total_lines, "line")


_EMPTY: dict[str, dict[str, Any]] = {"memory_search": {"results": []}, "memory_get": {"text": ""}}
"""What a success of each tool has, for those who look no further."""


def refused(name: str, error: CommonplaceError) -> ToolAnswer:
    """The answer of the tool ``name`` where memory could not answer."""
    unavailable = isinstance(error, UnavailableError | ScopeDeniedError | DeclinedError)
    away = "go on without memory, and say that it could not be asked"
    correctable = isinstance(error, CallerError) and not unavailable
    action = error.hint or ("correct the arguments, and call again" if correctable else away)
    head = "Memory is not available" if unavailable else "Memory did not answer"
    reason = "; ".join([str(error), *getattr(error, "__notes__", ())])
    data = {
        **_EMPTY.get(name, {}),
        "disabled": unavailable,
        "unavailable": unavailable,
        "error": reason,
        "action": action,
    }
    text = f"{head}: {unfenced(reason)}. What to do: {sentence(unfenced(action))}"
    return ToolAnswer(text=text, data=data, failed=True)


def sentence(words: str) -> str:
    """``words`` with an end mark, unless they have one."""
    return words if words.endswith((".", "?", "!")) else f"{words}."


def first_lines(note: NoteText, budget: int) -> tuple[str, int, int]:
    """The first lines of ``note`` in at most ``budget`` characters, and the first and last number.

    A first line that is longer is cut at a grapheme; the lines after it can be read on.
    """
    if len(note.text) <= budget:
        return note.text, note.start_line, note.end_line
    end = note.text.rfind("\n", 0, budget + 1)
    if end <= 0:
        cut = note.text[: floor_boundary(note.text, budget - 1)] + "…"
        return cut, note.start_line, note.start_line
    return note.text[:end], note.start_line, note.start_line + note.text.count("\n", 0, end)


def last_lines(note: NoteText, budget: int) -> tuple[str, int, int]:
    """The last whole lines of ``note`` in at most ``budget`` characters, and their numbers.

    The text is empty where not even the last line fits.
    """
    start = note.text.find("\n", max(0, len(note.text) - budget - 1)) + 1
    text = note.text[start:] if start else ""
    return text, note.end_line - text.count("\n"), note.end_line


def _hit_data(hit: Hit, shape: Shape) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "path": hit.path,
        "startLine": hit.start_line,
        "endLine": hit.end_line,
        "score": hit.score,
        "snippet": hit.snippet,
        "source": hit.source,
        "trust": hit.trust,
    }
    return facts | {"citation": hit.citation} if shape.cited else facts
