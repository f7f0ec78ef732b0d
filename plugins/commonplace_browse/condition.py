"""The health page: the index, backends and breakers, embeddings, sizes, and the audit of notes."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from commonplace import UnavailableError
from commonplace.plugin import NamedTuple
from commonplace_browse.changing import diff_of_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace import Memory, Status
    from commonplace_browse.changing import DiffLine
    from commonplace_browse.library import Library

_TITLES = {
    "secret": "Secrets",
    "contradiction": "Contradictions",
    "stale": "Stale facts",
    "duplicate": "Duplicates",
    "broken-link": "Broken links",
    "oversized": "Oversized notes",
    "unfound": "Notes that no query finds",
}
_WITHOUT_SEARCHES = ",".join(kind for kind in _TITLES if kind != "unfound")
_MOST = 50
"""Findings of a kind that are shown."""

PATIENCE = 2.0
"""Seconds that a page waits for an audit before it says that one runs."""

LONG_PATIENCE = 25.0
"""Seconds that it waits where the reader chose to."""


class Finding(NamedTuple):
    """One finding of the audit; ``diff`` is the proposed change, if there is one."""

    severity: str
    citation: str
    text: str
    hint: str
    others: tuple[str, ...]
    diff: tuple[DiffLine, ...]


class Kind(NamedTuple):
    """The findings of one kind, the first of ``number``."""

    title: str
    number: int
    findings: tuple[Finding, ...]


class Audited(NamedTuple):
    """An audit of ``notes`` notes, which were also searched for if ``searched``.

    ``unreadable`` are (path, reason).
    """

    kinds: tuple[Kind, ...]
    notes: int
    silenced: int
    unreadable: tuple[tuple[str, str], ...]
    searched: bool


class Condition(NamedTuple):
    """What the page shows; ``note_bytes`` is -1 where the notes cannot be listed."""

    status: Status
    note_bytes: int
    deep: bool


def condition_of(memory: Memory, library: Library, *, deep: bool) -> Condition:
    """The condition of ``memory``; ``deep`` asks providers and checks the index."""
    status = memory.status(deep=deep)
    return Condition(status, _note_bytes(library), deep)


def _note_bytes(library: Library) -> int:
    try:
        refs = library.refs()
    except UnavailableError:  # the status says why: the page is for exactly that
        return -1
    size = 0
    for ref in refs:
        try:
            size += os.stat(ref.location).st_size
        except (OSError, ValueError):
            continue
    return size


def audited(run: Callable[..., Mapping[str, Any]], *, searched: bool) -> Audited:
    """What the command ``audit`` finds; ``searched`` lets it also search for each note.

    ``run`` gives the JSON of a command. Raises what the command raises, and
    :class:`~commonplace.PluginUnavailableError` where it is not installed.
    """
    report = run("audit", *(() if searched else ("--only", _WITHOUT_SEARCHES)))
    kinds: dict[str, list[Finding]] = {}
    for one in report["findings"]:
        kinds.setdefault(one["kind"], []).append(
            Finding(
                one["severity"],
                one["citation"],
                one["text"],
                one["hint"],
                tuple(one["others"]),
                tuple(diff_of_text(one["diff"].rstrip("\n"))),
            )
        )
    return Audited(
        tuple(
            Kind(_TITLES.get(kind, kind), len(found), tuple(found[:_MOST]))
            for kind, found in kinds.items()
        ),
        report["notes"],
        report["silenced"],
        tuple((one["path"], one["reason"]) for one in report["unreadable"]),
        searched,
    )


class Audits:
    """Audits in threads of their own: one of thousands of notes takes longer than a page may.

    ``run`` is as for :func:`audited`. A result is given once; to ask again is to audit again.
    """

    def __init__(self, run: Callable[..., Mapping[str, Any]]) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._running: dict[bool, Future[Audited]] = {}

    def result(self, *, searched: bool, patience: float) -> Audited | None:
        """The audit, or ``None`` if it still runs after ``patience`` seconds.

        Raises what the audit raises.
        """
        with self._lock:
            running = self._running.get(searched)
            if running is None:
                running = Future()
                threading.Thread(
                    target=self._audit, args=(running, searched), daemon=True, name="browse-audit"
                ).start()
                self._running[searched] = running  # only now: without a thread it would never end
        try:
            found = running.result(patience)
        except TimeoutError:
            if not running.done():
                return None
            raise
        finally:
            with self._lock:
                if running.done() and self._running.get(searched) is running:
                    del self._running[searched]
        return found

    def _audit(self, running: Future[Audited], searched: bool) -> None:  # noqa: FBT001 - of a thread
        try:
            running.set_result(audited(self._run, searched=searched))
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            running.set_exception(error)


def size_of(count: float) -> str:
    """A number of bytes for people: ``3.2 MB``."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError
