"""Finds recalls in the log by citation or question, and asks their question again to compare."""

from __future__ import annotations

import os
import posixpath
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace import Memory, MemoryTools
from commonplace.plugin import (
    ENDINGS,
    CommonplaceError,
    NamedTuple,
    cited,
    content_stamp,
    counted,
    engine_of,
    notes_revision,
    question_digest,
    recall_trace,
    settings_fingerprint,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonplace import SearchResult
    from commonplace.plugin import TracedRecall

_LINE = r"(\d{1,9})"
_CITATION = re.compile(rf"(.*?)(?:#L{_LINE}(?:-L?{_LINE})?|:{_LINE}(?:-{_LINE})?)?\Z", re.DOTALL)
_LIKE_A_CITATION = re.compile(
    r"\S*#L\d+\S*|\S+\.(?:md|markdown|txt|jsonl)(?::\d+(?:-\d+)?)?", re.IGNORECASE
)
_LINES_ALONE = re.compile(r"\S+:\d+(?:-\d+)?")
_CITES_LINES = re.compile(r"\S*#L\d+\S*|\S+\.(?:md|markdown|txt|jsonl):\d+(?:-\d+)?", re.IGNORECASE)
_LAST_LINE = 1 << 31
_CHAT = "agent:replay:group:replay"  # any chat that is not direct


class Recalled(NamedTuple):
    """A recall that a passage was part of: the hit's 1-based ``rank``, ``citation`` and score.

    ``same`` says whether the lines hold the same text now.
    """

    recall: TracedRecall
    rank: int
    citation: str
    score: float
    same: bool


class Replay(NamedTuple):
    """A recall and what its question finds now, as of the time of the recall.

    ``same`` says whether the ranking is the same, citation by citation and score by score.
    ``reasons`` say what else changed meanwhile: why it differs, where it does.
    """

    recall: TracedRecall
    now: tuple[tuple[str, float], ...]
    same: bool
    reasons: tuple[str, ...]


def citations_in(memory: Memory, words: Sequence[str]) -> list[str]:
    """The citations that ``words`` are, together or each of them; none if they are a question.

    Raises as :func:`citation_in` and :func:`citation_meant`.
    """
    whole = " ".join(words)
    one = citation_in(memory, whole) or citation_meant(memory, whole)
    if one is not None:
        return [one]
    if not all(_LIKE_A_CITATION.fullmatch(word) or _LINES_ALONE.fullmatch(word) for word in words):
        return []
    citations = [citation_in(memory, word) or citation_meant(memory, word) for word in words]
    return [one for one in citations if one is not None] if all(citations) else []


def question_about(memory: Memory, words: Sequence[str]) -> tuple[str, str] | None:
    """The question that ``words`` begin with and the citation that is the last of them.

    ``None`` if the last one is none: in a question of several arguments, it must name lines. Raises
    as :func:`citation_in` and :func:`citation_meant`.
    """
    *others, last = words
    question = " ".join(others).strip()
    like = _LIKE_A_CITATION.fullmatch(last) or _LINES_ALONE.fullmatch(last)
    alone = len(others) == 1 and like
    if not question or not (alone or _CITES_LINES.fullmatch(last)):
        return None
    citation = citation_in(memory, last) or citation_meant(memory, last)
    return None if citation is None else (question, citation)


def citation_in(memory: Memory, words: str) -> str | None:
    """The citation that ``words`` are, with the path that hits have; ``None`` if they are none.

    They name a document that is there or in the log, with or without lines. ``./`` before the path,
    an absolute path, and lines of a path without its ending are understood. Raises
    :class:`~commonplace.errors.UnavailableError` where the log cannot be read.
    """
    words = words.strip()
    path, first, last = lines_of(words)
    if not path:
        return None
    there = {ref.path: ref.location for ref in memory.notes()}
    if os.path.isabs(path):
        real = os.path.realpath(path)
        within = os.path.relpath(real, os.path.realpath(memory.settings.workspace))
        named = [one for one, at in there.items() if at and os.path.realpath(at) == real]
        names = [*named, within.replace(os.sep, "/")]
    else:
        names = [posixpath.normpath(path)]
    logged = {lines_of(hit.citation)[0] for recall in trace_of(memory) for hit in recall.hits}
    for name in names:
        if (
            name in there
            or name in logged
            or (name.endswith(ENDINGS) and _stored(memory, name) is not None)
        ):
            return _cited(name, first, last)
    stored = _stored(memory, words) if last < _LAST_LINE else None
    return None if stored is None else _cited(stored, first, last)


def citation_meant(memory: Memory, words: str) -> str | None:
    """What ``words`` cite if they look like a citation, ``None`` if the log has them as a question.

    Raises :class:`~commonplace.errors.CallerError` as :meth:`Memory.get
    <commonplace.memory.Memory.get>` does, where there is no such note, and
    :class:`~commonplace.errors.UnavailableError` where the log cannot be read.
    """
    words = words.strip()
    if not _LIKE_A_CITATION.fullmatch(words):
        return None
    digest = question_digest(words)
    if any(recall.question == digest for recall in trace_of(memory)):
        return None
    _, first, last = lines_of(words)
    return _cited(memory.get(words).path, first, last)


def _stored(memory: Memory, words: str) -> str | None:
    """The path of the note that ``words`` cite, ``None`` where it cannot be read."""
    with suppress(CommonplaceError):
        return memory.get(words).path
    return None


def _cited(path: str, first: int, last: int) -> str:
    return path if last == _LAST_LINE else cited(path, first, last)


def recalls_of(memory: Memory, citation: str) -> Iterator[Recalled]:
    """The recalls whose hits have a line of what ``citation`` names, the newest first.

    Raises :class:`~commonplace.errors.UnavailableError` where the log cannot be read.
    """
    path, first, last = lines_of(citation)
    for recall in reversed(list(trace_of(memory))):
        for rank, hit in enumerate(recall.hits, 1):
            of_path, start, end = lines_of(hit.citation)
            if of_path == path and start <= last and first <= end:
                same = bool(hit.stamp) and content_stamp(memory, hit.citation) == hit.stamp
                yield Recalled(recall, rank, hit.citation, hit.score, same)


def replays_of(memory: Memory, question: str, most: int) -> Iterator[Replay]:
    """The newest ``most`` recalls by ``question``, the newest first, each asked again.

    The question is asked with the same limits, for the same kind of chat and at the time of the
    recall, as ranking may prefer new notes. Nothing of it is logged. Raises
    :class:`~commonplace.errors.UnavailableError` where the log cannot be read, and as
    :meth:`Memory.search <commonplace.memory.Memory.search>` does.
    """
    digest = question_digest(question)
    found = [recall for recall in trace_of(memory) if recall.question == digest]
    for recall in reversed(found[-most:]):
        asked = recall.asked
        result = ask(
            memory,
            question,
            max_results=asked.max_results,
            min_score=asked.min_score,
            sources=asked.sources,
            direct=asked.direct,
            clock=lambda at=recall.at: at,  # type: ignore[misc]
        )
        now = tuple((hit.citation, hit.score) for hit in result.hits)
        before = tuple((hit.citation, hit.score) for hit in recall.hits)
        yield Replay(recall, now, _is_same(before, now), tuple(_reasons(memory, recall, result)))


def ask(
    memory: Memory,
    question: str,
    *,
    max_results: int | None = None,
    min_score: float | None = None,
    sources: tuple[str, ...] = (),
    direct: bool = True,
    clock: Callable[[], float] | None = None,
) -> SearchResult:
    """What an agent that asks ``question`` is given, without a trace in any log of recalls."""
    silent = memory.settings.recalls.evolve(enabled=False, trace=False)
    settings = memory.settings.evolve(recalls=silent)
    chat = "" if direct else _CHAT
    with Memory(settings, memory.host, one_shot=True, clock=clock or memory.clock) as again:
        tools = MemoryTools(again, session_key=chat, seconds=None)
        return tools.search(
            question, max_results=max_results, min_score=min_score, sources=sources or None
        )


def trace_of(memory: Memory) -> Iterator[TracedRecall]:
    """The recalls that are logged for the workspace of ``memory``, the oldest first."""
    return recall_trace(memory.settings.state_dir, memory.settings.workspace).read()


def lines_of(citation: str) -> tuple[str, int, int]:
    """Path, first and last line of a citation; without lines it is the whole note.

    As in :meth:`Memory.get <commonplace.memory.Memory.get>` the lines may be named in either order,
    and line 0 is the first.
    """
    found = _CITATION.match(citation.strip())
    assert found is not None, "the pattern matches any text"
    first = found[2] or found[4]
    if first is None:
        return found[1], 1, _LAST_LINE
    start, end = int(first), int(found[3] or found[5] or first)
    return found[1], max(1, min(start, end)), max(1, start, end)


def _is_same(before: tuple[tuple[str, float], ...], now: tuple[tuple[str, float], ...]) -> bool:
    return len(before) == len(now) and all(
        one == other and abs(score - later) < 1e-6
        for (one, score), (other, later) in zip(before, now, strict=True)
    )


def _reasons(memory: Memory, recall: TracedRecall, result: SearchResult) -> Iterator[str]:
    """What is other than at the time of a recall, and what the answer of now does not know."""
    if result.stale:
        changed_files = counted(result.stale, "changed file")
        yield f"the index does not know {changed_files} yet: update it with commonplace index"
    changed = [
        hit.citation
        for hit in recall.hits
        if not hit.stamp or content_stamp(memory, hit.citation) != hit.stamp
    ]
    if changed:
        yield f"the text changed at {', '.join(changed)}"
    elif notes_revision(memory) != recall.notes:
        # The log has no texts: a file written again with the same text looks changed.
        yield "notes were added, deleted or written again; the text of these hits is the same"
    if settings_fingerprint(memory.settings) != recall.settings:
        yield "the settings of the search or the version of commonplace changed"
    if (engine := engine_of(result)) != recall.engine:
        yield f"{engine} answers now, then it was {recall.engine}"
    if recall.stale:
        yield "the index did not know all files then"
