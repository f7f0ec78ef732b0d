"""The application: which address shows what of the memory. Nothing here changes anything."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from commonplace import CommonplaceError, NoteNotFoundError
from commonplace_browse import searching
from commonplace_browse.condition import LONG_PATIENCE, PATIENCE, Audits, condition_of
from commonplace_browse.evaluations import evaluations
from commonplace_browse.guarding import Guard
from commonplace_browse.markdown import LONGEST, render_note
from commonplace_browse.page import Page, lines_in, number_in, to
from commonplace_browse.review import Review
from commonplace_browse.timeline import Timeline, is_day

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from starlette.requests import Request

    from commonplace import Memory, Progress
    from commonplace_browse.evaluations import Evaluations
    from commonplace_browse.guarding import Keys

_LEAST_BUDGET = 500
"""Characters; ``Memory.recall`` takes no fewer."""

_LINES = 2_000
"""Lines of a note that a page shows: a log of 400,000 would take half a minute."""


def make_app(
    memory: Memory,
    keys: Keys,
    *,
    names: tuple[str, ...],
    read_only: bool,
    opened: Namespace,
    progress: Callable[[], Progress | None] = lambda: None,
    used: Callable[[], object] = lambda: None,
    listeners: list[Callable[[], None]] | None = None,
) -> Guard:
    """The ASGI application that shows ``memory``.

    ``names`` are the accepted hosts; ``opened`` has ``workspace``, ``config``, ``agent`` and
    ``env`` as the command line named them. ``progress`` says how far a running sync is; ``used``
    is called when a token was used. What is added to ``listeners`` is to be called when notes have
    changed.
    """
    page = Page(memory, keys, read_only=read_only, opened=opened)
    if listeners is not None:
        listeners.append(page.library.forget)
    reading = Reading(page, progress)
    review = Review(page)
    app = Starlette(
        routes=[
            Route("/", reading.search),
            Route("/note", reading.note),
            Route("/go", reading.go),
            Route("/timeline", reading.timeline),
            Route("/agent", reading.agent),
            Route("/health", reading.health),
            Route("/progress", reading.how_far),
            Route("/changes", review.changes),
            Route("/edit", review.edit),
            Route("/undo", review.undo),
            Route("/preview", review.preview, methods=["POST"]),
            Route("/apply", review.apply, methods=["POST"]),
            Route("/dream", review.proposals),
            Route("/dream/preview", review.chosen, methods=["POST"]),
            Route("/dream/apply", review.accept, methods=["POST"]),
            Route("/open", review.open, methods=["POST"]),
            Mount("/static", StaticFiles(packages=[("commonplace_browse", "static")])),
        ],
        exception_handlers={
            CommonplaceError: page.failure,
            OSError: page.failure,
            404: lambda request, _: page.failure(
                request, NoteNotFoundError("there is no such page", hint="see the pages above")
            ),
        },
    )
    return Guard(app, keys, names=names, read_only=read_only, used=used)


class Reading:
    """The pages that only show."""

    def __init__(self, page: Page, progress: Callable[[], Progress | None]) -> None:
        self._page = page
        self._memory = page.memory
        self._progress = progress
        self._audits = Audits(page.run_command)

    def search(self, request: Request) -> Response:
        """The search page; with ``part`` its results without explanations, or one of these.

        For each key, the part ``hits`` leaves out what narrows the search.
        """
        page = self._page
        query = request.query_params.get("q", "").strip()
        part = request.query_params.get("part")
        if part == "why":
            cited = request.query_params.get("at", "")
            return page.show("part_why", request, why=searching.why(self._memory, query, cited))
        values: dict[str, Any] = {"query": query, "answer": None, "newest": (), "notes": 0}
        if query:
            most = number_in(request, "most") or searching.SHOWN
            values["answer"] = searching.search(
                self._memory, page.library, query, most, narrowing=part != "hits"
            )
        else:
            newest = page.library.newest(8)
            values["newest"] = [(one, page.library.about(one.path)) for one in newest]
            values["notes"] = len(page.library.listed())
        name = "search" if part is None else "part_results"
        return page.show(name, request, whole=part is None, typing=part == "hits", **values)

    def note(self, request: Request) -> Response:
        """One note, rendered or line by line."""
        found = self._memory.get(request.query_params.get("path", ""))
        if (found.start_line, found.end_line) != (1, found.total_lines):  # a citation, not a path
            return to(searching.note_url(found.path, found.start_line, found.end_line))
        first, last = lines_in(request.query_params.get("lines", ""))
        lines = found.text.split("\n")
        begin = lines_in(request.query_params.get("from", ""))[0] or first
        before = (max(1, min(begin, len(lines))) - 1) // _LINES * _LINES
        ref = self._page.library.ref(found.path)
        as_lines = request.query_params.get("view") == "lines" or len(found.text) > LONGEST
        return self._page.show(
            "note",
            request,
            note=found,
            rendered=None if as_lines else render_note(found.text, found.path),
            lines=lines[before : before + _LINES],
            before=before,
            more=len(lines) > before + _LINES,
            first=first,
            last=last,
            as_lines=as_lines,
            long=len(found.text) > LONGEST,
            tags=self._page.library.tags([found.path])[found.path],
            editable=not self._page.read_only and found.trust == "memory",
            opens=not self._page.read_only and ref is not None,
            editor=request.query_params.get("editor", "")[:80],
        )

    def go(self, request: Request) -> Response:
        """Where a link in a note leads: to the note that it names, or to a search for its name."""
        wanted = request.query_params.get("to", "")
        path = self._page.library.resolve(wanted, request.query_params.get("from", ""))
        name = wanted.rpartition("/")[2].removesuffix(".md")
        return to(searching.note_url(path) if path else searching.search_url(name))

    def timeline(self, request: Request) -> Response:
        """A year, or with ``day`` a day."""
        timeline = Timeline(self._memory, self._page.library)
        day = request.query_params.get("day", "")
        if day and not is_day(day):
            raise NoteNotFoundError(f"there is no day {day[:40]!r}", hint="2026-01-31")
        if day:
            shown = timeline.day(day)
            notes = []
            for one in shown.notes:
                with suppress(NoteNotFoundError):  # deleted since the notes were listed
                    text = self._memory.get(one.path).text
                    notes.append((one.path, render_note(text, one.path)))
            beside = timeline.beside(day)
            return self._page.show("day", request, day=shown, notes=notes, beside=beside)
        year = timeline.year(number_in(request, "year"))
        return self._page.show(
            "timeline",
            request,
            year=year,
            days=timeline.latest(year.year),
            changed=timeline.changed_facts(year.year)[:30],
            day_of=timeline.day_of,
            notice=timeline.notice,
        )

    def agent(self, request: Request) -> Response:
        """The block that an agent gets for a question, or at the start of a session."""
        query = request.query_params.get("q", "").strip()
        usual = self._memory.settings.search.limits.max_injected_chars
        budget = max(_LEAST_BUDGET, number_in(request, "budget") or usual)
        recall = self._memory.recall(query=query or None, budget=budget)
        return self._page.show(
            "agent", request, query=query, budget=budget, usual=usual, recall=recall
        )

    def health(self, request: Request) -> Response:
        """The condition of the memory; with ``deep`` providers are asked, too.

        ``audit`` reads the notes for findings, and ``audit=all`` also searches for each note.
        """
        page = self._page
        wanted = request.query_params.get("audit")
        patience = LONG_PATIENCE if "wait" in request.query_params else PATIENCE
        found = None
        if wanted:
            found = self._audits.result(searched=wanted == "all", patience=patience)
        measured: Evaluations | str
        try:
            measured = evaluations(page.run_command)
        except (CommonplaceError, OSError) as error:  # the rest of the page is worth showing
            measured = str(error)
        condition = condition_of(self._memory, page.library, deep="deep" in request.query_params)
        return page.show(
            "health",
            request,
            condition=condition,
            state=condition.status,
            audit=found,
            auditing=wanted if found is None else None,
            measured=measured,
        )

    def how_far(self, _: Request) -> Response:
        """How far a running sync is, as JSON."""
        now = self._progress()
        fields = None
        if now is not None:
            fields = {"label": now.label, "completed": now.completed, "total": now.total}
        return Response(json.dumps(fields), media_type="application/json")
