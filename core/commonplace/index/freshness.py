"""Freshness at search time: index what little has changed, count the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.errors import IndexBusyError, UnavailableError
from commonplace.index.changes import lies_under
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from types import CodeType

    from commonplace.model.documents import RootFailure
    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.protocols.managers import MemoryManager

__all__ = ["Freshness", "freshen", "maintain_unasked"]

_INLINE_DOCUMENTS = 20
_INLINE_SECONDS = 0.2

_TAKES_ANY = 8
"""The flag of code with a parameter ``**``, as ``inspect.CO_VARKEYWORDS`` has it."""


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


def freshen(
    manager: MemoryManager, progress: ProgressCallback | None = None, *, later: str = ""
) -> Freshness:
    """Bring the index up to the files if that is quick, or if there is no index yet.

    Up to 20 changed documents are indexed within about 200 ms. More are counted and left: a search
    never waits for them. An index that knows nothing is built whole, since it could answer nothing.
    A conversation that has grown by little is left to grow more. Nothing is embedded: that costs
    time and perhaps money, and waits for a sync that was asked for.
    A failure to write is said, and the search goes on with what is there; where nothing is there,
    the :class:`~commonplace.errors.UnavailableError` is raised. ``later`` are words on what becomes
    of that which is left.
    """
    try:
        report = maintain_unasked(
            manager,
            at_most=_INLINE_DOCUMENTS,
            embed=False,
            deadline=Deadline.after(_INLINE_SECONDS),
            wait=0,
        )
        told = () if report.known else report.notices  # once: when all of the index is new
        if report.remaining and not report.known:
            report = maintain_unasked(manager, embed=False, deadline=NEVER, progress=progress)
            told = report.notices or told
    except UnavailableError as error:
        report = manager.pending()
        if isinstance(error, IndexBusyError) and report.remaining and not report.known:
            # Another process is building the first index just now: wait for it, within bounds.
            report = maintain_unasked(manager, embed=False, deadline=NEVER, progress=progress)
            told = report.notices
        elif report.remaining:
            if not (report.known or report.hidden):
                raise
            return Freshness(report.remaining, _words(report, str(error)), report.failed_roots)
        else:
            told = ()
    return Freshness(report.remaining, (*told, *_words(report, later)), report.failed_roots)


def maintain_unasked(manager: MemoryManager, **options: Any) -> SyncReport:
    """As ``manager.maintain(eager=False, **options)``; one that knows no ``eager`` does all."""
    code = getattr(manager.maintain, "__code__", None)
    if code is None or code.co_flags & _TAKES_ANY or "eager" in _parameters(code):
        options["eager"] = False
    report: SyncReport = manager.maintain(**options)
    return report


def _parameters(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _words(report: SyncReport, hindrance: str) -> tuple[str, ...]:
    if not (
        report.unchanged
        or report.updated
        or report.added
        or report.remaining
        or report.hidden
        or report.deferred
    ):
        return ("there are no notes yet: write MEMORY.md or memory/*.md",)
    notes = [f"{failed.root or 'notes'}: {failed.reason}" for failed in report.failed_roots]
    notes += [f"{path} could not be read: {reason}" for path, reason in report.unreadable]
    if report.remaining and report.anew is not None:
        made, size = report.anew
        notes.append(
            f"the index is being made anew: {made} of {size} notes are done, and it answers as it "
            f"was until then: {hindrance or '`commonplace index` finishes it'}"
        )
    elif report.remaining:
        # It may well be among the hits, as it was when it was indexed.
        changed = (
            "1 changed note may not be in this answer as it is now"
            if report.remaining == 1
            else f"{report.remaining} changed notes may not be in this answer as they are now"
        )
        notes.append(f"{changed}: {hindrance or 'run `commonplace index`'}")
    return tuple(notes)
