"""Which lines of the notes agents recalled, when and by how many questions: a log without text.

The log is off unless ``memory.recalls.enabled``. It keeps digests: of a question, and of those
lines of its hits that share the most words with it. Who has the notes can tell which lines these
are; who has the log alone cannot tell what they say. A line that moves keeps its recalls.
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from typing import TYPE_CHECKING

from commonplace.model.tuples import NamedTuple
from commonplace.resilience.json_file import JsonLog
from commonplace.text.facts import plain_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.model.search import Hit

_WORDS = re.compile(r"\w+").findall
_MOST_BYTES = 16 << 20
_MOST_LINES = 3  # of one answer


class Recalled(NamedTuple):
    """How often a line was recalled: by which questions (digests), on which days."""

    times: int
    questions: frozenset[str]
    days: frozenset[str]


class RecallLog:
    """The log of one workspace, ``recalls.jsonl`` in its state folder."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._log = JsonLog(path, most_bytes=_MOST_BYTES)

    def record(self, question: str, hits: Sequence[Hit], day: str) -> None:
        """Note that ``question`` was answered by ``hits`` on ``day`` (``2026-01-31``).

        Each write is one line, appended at once. A log that cannot be written is left as it is:
        the answer matters more.
        """
        words = _words(question)
        lines = [line_digest(line) for line in _answering(hits, words)]
        if not lines:
            return
        record = {
            "day": day,
            "question": question_digest(question),
            "lines": lines,
        }
        self._log.append(record)

    @property
    def is_full(self) -> bool:
        """Whether the log has reached its size limit, so that no recall is added."""
        return self._log.is_full

    def read(self) -> dict[str, Recalled]:
        """How often each line was recalled, by its :func:`line_digest`.

        Half lines and records of another form are skipped. Raises
        :class:`~commonplace.errors.UnavailableError` if the log exists and cannot be read.
        """
        recalled: dict[str, Recalled] = {}
        for record in self._log.records():
            if not isinstance(record, dict):
                continue
            day, question = str(record.get("day")), str(record.get("question"))
            for line in _digests(record.get("lines")):
                before = recalled.get(line, Recalled(0, frozenset(), frozenset()))
                recalled[line] = Recalled(
                    before.times + 1, before.questions | {question}, before.days | {day}
                )
        return recalled


def recall_log(state_dir: str, workspace: str) -> RecallLog:
    """The log of ``workspace`` among those in ``state_dir``."""
    return RecallLog(log_path(state_dir, workspace, "jsonl"))


def log_path(state_dir: str, workspace: str, ending: str) -> str:
    """Where ``state_dir`` has the log of ``workspace`` whose name ends with ``ending``."""
    name = digest(os.path.realpath(workspace))
    return os.path.join(state_dir, "recalls", f"{name}.{ending}")


def question_digest(question: str) -> str:
    """A digest of a question, whatever its spaces and the case of its letters."""
    return digest(" ".join(question.casefold().split()))


def line_digest(line: str) -> str:
    """A digest of what ``line`` says, without marks of lists and headings, spaces and comments."""
    return digest(plain_line(line))


def digest(text: str) -> str:
    """A digest of ``text``: the same at all times, on all machines."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _digests(value: object) -> list[str]:
    """``value``, if it is a list of strings; else none."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return []
    return value


def _words(text: str) -> frozenset[str]:
    """The words of ``text`` that say what it is about."""
    from commonplace.text.questions import STOP_WORDS

    words = (word.casefold() for word in _WORDS(text))
    return frozenset(word for word in words if len(word) > 1 and word not in STOP_WORDS)


def _answering(hits: Sequence[Hit], words: frozenset[str]) -> list[str]:
    """The lines of all hits that share most of the question's ``words``, two thirds at least."""
    shared: dict[str, int] = {}
    for hit in hits:
        for line in hit.snippet.split("\n"):  # as in citations
            if plain_line(line):
                shared[line] = len(words & _words(line))
    most = max(shared.values(), default=0)
    if most * 3 < max(1, len(words) * 2):
        return []  # no line answers by itself
    return [line for line, count in shared.items() if count == most][:_MOST_LINES]
