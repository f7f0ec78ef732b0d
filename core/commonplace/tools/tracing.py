"""What each recall of an agent gave, and in which state: a log that is off unless it is asked for.

With ``memory.recalls.trace`` it keeps times, citations, scores and digests; with
``memory.recalls.text`` the question too. Who has the notes and the question can ask again and
compare; the log alone does not say what the notes hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from commonplace._version import __version__
from commonplace.errors import CommonplaceError, UnavailableError
from commonplace.model.plugins import Group
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.json_file import JsonLog
from commonplace.tools.recall_log import digest, log_path, question_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.config.settings import Settings
    from commonplace.model.documents import DocumentRef
    from commonplace.model.reports import NoteText
    from commonplace.model.search import SearchResult

_MOST_BYTES = 8 << 20  # of the log, and of the one before it, which is kept until it is full again


class TracedHit(NamedTuple):
    """A hit of a recall: ``stamp`` is a digest of the text of its lines, ``""`` if unknown."""

    citation: str
    score: float
    stamp: str


class Asked(NamedTuple):
    """What was asked for: the arguments of a search, and whether a direct chat asked.

    Of a recall that is read from the log ``query`` is ``""`` unless texts were kept.
    """

    query: str
    max_results: int | None = None
    min_score: float | None = None
    sources: tuple[str, ...] = ()
    direct: bool = True


class TracedRecall(NamedTuple):
    """One recall: ``at`` in epoch seconds, by ``agent``, answered by ``hits``, best first.

    ``question`` is the :func:`question_digest` of the query. ``notes`` and ``settings`` are the
    :func:`notes_revision` and :func:`settings_fingerprint` of that time; ``engine`` names the
    backend, the provider and the model that answered; ``stale`` counts files that the index did not
    know yet.
    """

    at: float
    agent: str
    question: str
    asked: Asked
    hits: tuple[TracedHit, ...]
    notes: str
    settings: str
    engine: str
    stale: int = 0


class TracedMemory(Protocol):
    """What is needed of a :class:`~commonplace.Memory` to tell in which state it is."""

    @property
    def settings(self) -> Settings:
        """The configuration."""
        ...

    def get(self, path: str, *, start: int | None = None, lines: int | None = None) -> NoteText:
        """Lines of a note."""
        ...

    def notes(self) -> tuple[DocumentRef, ...]:
        """All documents."""
        ...


class RecallTrace:
    """The log of one workspace: ``path``, and the one before it, ``path.1``."""

    def __init__(self, path: str, *, most_bytes: int = _MOST_BYTES) -> None:
        self.path = path
        self._log = JsonLog(path, most_bytes=most_bytes, rotating=True)

    def record(self, memory: TracedMemory, asked: Asked, result: SearchResult, now: float) -> None:
        """Add a recall at ``now`` (epoch seconds).

        A log that cannot be written is left as it is: the answer matters more.
        """
        settings = memory.settings
        record: dict[str, Any] = {
            "at": round(now, 3),
            "agent": settings.agent,
            "question": question_digest(asked.query),
            "maxResults": asked.max_results,
            "minScore": asked.min_score,
            "sources": asked.sources,
            "direct": asked.direct,
            "hits": [
                (hit.citation, hit.score, content_stamp(memory, hit.citation))
                for hit in result.hits
            ],
            "notes": notes_revision(memory),
            "settings": settings_fingerprint(settings),
            "engine": engine_of(result),
            "stale": result.stale,
        }
        if settings.recalls.text:
            record["text"] = asked.query
        self._log.append(record)

    def read(self) -> Iterator[TracedRecall]:
        """The recalls, oldest first; half lines and records of another form are skipped.

        Raises :class:`~commonplace.errors.UnavailableError` if a log exists and cannot be read.
        """
        for record in self._log.records():
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                yield _recall_of(record)


def recall_trace(state_dir: str, workspace: str) -> RecallTrace:
    """The log of ``workspace`` among those in ``state_dir``."""
    return RecallTrace(log_path(state_dir, workspace, "trace.jsonl"))


def content_stamp(memory: TracedMemory, citation: str) -> str:
    """A digest of the text that ``citation`` names now; ``""`` where there is none."""
    try:
        return digest(memory.get(citation).text)
    except CommonplaceError:
        return ""


def notes_revision(memory: TracedMemory) -> str:
    """A digest of which documents there are in which version: what an index is made from.

    ``""`` where they cannot be listed.
    """
    try:
        refs = memory.notes()
    except UnavailableError:
        return ""
    return digest("\n".join(f"{ref.source} {ref.path} {ref.stamp}" for ref in refs))


def settings_fingerprint(settings: Settings) -> str:
    """A digest of all settings that a ranking depends on, and of this program's version."""
    parts = (settings.search, settings.backends, settings.sections)
    return digest(json.dumps([__version__, *map(_plain, parts)], sort_keys=True, default=str))


def engine_of(result: SearchResult) -> str:
    """Which backend, provider and model gave an answer."""
    return " ".join(filter(None, (result.backend, result.provider, result.model)))


def _plain(value: object) -> object:
    if isinstance(value, Group):
        return {name: _plain(getattr(value, name)) for name in value.fields()}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _recall_of(record: Mapping[str, Any]) -> TracedRecall:
    asked = Asked(
        str(record.get("text", "")),
        record["maxResults"],
        record["minScore"],
        tuple(record["sources"]),
        direct=bool(record["direct"]),
    )
    hits = tuple(
        TracedHit(str(at), float(score), str(stamp)) for at, score, stamp in record["hits"]
    )
    return TracedRecall(
        at=float(record["at"]),
        agent=str(record["agent"]),
        question=str(record["question"]),
        asked=asked,
        hits=hits,
        notes=str(record["notes"]),
        settings=str(record["settings"]),
        engine=str(record["engine"]),
        stale=int(record["stale"]),
    )
