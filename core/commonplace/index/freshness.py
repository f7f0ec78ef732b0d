"""Freshness at search time: index what little has changed, count the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from commonplace.deadline import NEVER, Deadline
from commonplace.errors import IndexBusyError, UnavailableError
from commonplace.index.changes import lies_under

if TYPE_CHECKING:
    from commonplace.model.documents import RootFailure
    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.spec import MemoryManager

__all__ = ["Freshness", "freshen"]

_INLINE_DOCUMENTS = 20
_INLINE_SECONDS = 0.2


class Freshness(NamedTuple):
    """How many documents the index does not know yet, and words about it for the user.

    ``hidden`` are the roots that could not be looked at: what the index has below them stays there,
    and is not shown.
    """

    stale: int = 0
    notes: tuple[str, ...] = ()
    hidden: tuple[RootFailure, ...] = ()

    def hides(self, source: str, path: str) -> bool:
        """Whether a document lies below a root that could not be looked at."""
        return any(
            root.source in ("", source) and lies_under(path, root.root) for root in self.hidden
        )


def freshen(manager: MemoryManager, progress: ProgressCallback | None = None) -> Freshness:
    """Bring the index up to the files if that is quick, or if there is no index yet.

    Up to 20 changed documents are indexed within about 200 ms. More are counted and left: a search
    never waits for them. An index that knows nothing is built whole, since it could answer nothing.
    Nothing is embedded: that costs time and perhaps money, and waits for a sync that was asked for.
    A failure to write is said, and the search goes on with what is there; where nothing is there,
    the :class:`~commonplace.errors.UnavailableError` is raised.
    """
    try:
        report = manager.maintain(
            at_most=_INLINE_DOCUMENTS,
            embed=False,
            deadline=Deadline.after(_INLINE_SECONDS),
            wait=0,
        )
        told = () if report.known else report.notices  # once: when all of the index is new
        if report.remaining and not report.known:
            report = manager.maintain(embed=False, deadline=NEVER, progress=progress)
            told = report.notices or told
    except UnavailableError as error:
        report = manager.pending()
        if isinstance(error, IndexBusyError) and report.remaining and not report.known:
            # Another process is building the first index just now: wait for it, within bounds.
            report = manager.maintain(embed=False, deadline=NEVER, progress=progress)
            told = report.notices
        elif report.remaining:
            if not (report.known or report.hidden):
                raise
            return Freshness(report.remaining, _words(report, str(error)), report.failed_roots)
        else:
            told = ()
    return Freshness(report.remaining, (*told, *_words(report)), report.failed_roots)


def _words(report: SyncReport, hindrance: str = "") -> tuple[str, ...]:
    if not (
        report.unchanged or report.updated or report.added or report.remaining or report.hidden
    ):
        return ("there are no notes yet: write MEMORY.md or memory/*.md",)
    notes = [f"{failed.root or 'notes'}: {failed.reason}" for failed in report.failed_roots]
    notes += [f"{path} could not be read: {reason}" for path, reason in report.unreadable]
    if report.remaining:
        changed = (
            "1 changed note is"
            if report.remaining == 1
            else f"{report.remaining} changed notes are"
        )
        notes.append(f"{changed} not in this answer yet: {hindrance or 'run `commonplace index`'}")
    return tuple(notes)
