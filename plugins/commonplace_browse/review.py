"""The pages that change notes: each shows a diff first, and writes only what was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace import CallerError, CommonplaceError, NoteNotFoundError
from commonplace_browse import changing, searching
from commonplace_browse.opening import open_in_editor
from commonplace_browse.page import number_in, to

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from commonplace_browse.page import Page

_SHOWN = 30
"""Changes on a page."""


class Review:
    """Receipts, corrections, proposals. A form's fields are in ``request.state.form``, checked."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._memory = page.memory

    def changes(self, request: Request) -> Response:
        """The journal, newest first."""
        most = number_in(request, "most") or _SHOWN
        receipts = changing.writer_of(self._memory).journal(limit=most + 1)
        done = request.query_params.get("done", "")
        undone = {one.undoes for one in receipts if one.undoes}
        return self._page.show(
            "changes",
            request,
            receipts=receipts[:most],
            more=most * 3 if len(receipts) > most else 0,
            done=next((one for one in receipts if done and one.id == done), None),
            undone=undone,
        )

    def edit(self, request: Request) -> Response:
        """The form for one change of the cited lines."""
        self._check_writable()
        at = request.query_params.get("at", "")
        note = self._memory.get(at)
        return self._page.show("edit", request, at=at, note=note)

    def undo(self, request: Request) -> Response:
        """The preview of an undo."""
        self._check_writable()
        fields = {"action": "undo", "at": request.query_params.get("id", "")}
        return self._shown(request, fields)

    def preview(self, request: Request) -> Response:
        """The preview of the change that a form describes."""
        return self._shown(request, request.state.form)

    def apply(self, request: Request) -> Response:
        """Make the change that was shown."""
        receipt = changing.apply(self._memory, request.state.form)
        self._page.note_changed()
        return to(f"/changes?done={receipt.id}")

    def proposals(self, request: Request) -> Response:
        """What daily logs hold that belongs in the long-term note, step by step."""
        try:
            found: dict[str, Any] = changing.propose(self._page.run_command)
        except CommonplaceError as error:
            return self._page.failure(request, error)
        return self._page.show(
            "dream", request, found=found, diff=changing.diff_of_text(found["diff"])
        )

    def chosen(self, request: Request) -> Response:
        """The diff of the chosen steps of a proposal."""
        form = request.state.form
        only = ",".join(form.get("step", "").split("\n"))
        if not only:
            raise CallerError("no step is chosen", hint="choose one on the page")
        digest, run = form.get("digest"), self._page.run_command
        try:
            found = changing.propose(run, only)
        except CallerError:  # it may have fewer steps now
            found = changing.propose(run)
            if found["digest"] == digest:
                raise
        if found["digest"] != digest:
            raise CallerError("the proposal has changed since it was shown", hint="reload it")
        return self._page.show(
            "dream_preview",
            request,
            found=found,
            only=only,
            diff=changing.diff_of_text(found["diff"]),
        )

    def accept(self, request: Request) -> Response:
        """Write the chosen steps."""
        form = request.state.form
        only, digest = form.get("only", ""), form.get("digest", "")
        done = changing.accept(self._page.run_command, only, digest)
        self._page.note_changed()
        return to(f"/changes?done={done}")

    def open(self, request: Request) -> Response:
        """Open a note in the editor of the person who started the server."""
        form = request.state.form
        ref = self._page.library.ref(form.get("path", ""))
        if ref is None:
            raise NoteNotFoundError("there is no such note", hint="search for it")
        line = form.get("line", "1")
        number = int(line) if line.isascii() and line.isdecimal() and len(line) < 9 else 1
        name = open_in_editor(self._page.env, ref.location, max(1, number))
        return to(searching.note_url(ref.path, editor=name))

    def _shown(self, request: Request, fields: dict[str, str]) -> Response:
        preview = changing.preview(self._memory, fields)
        return self._page.show("preview", request, preview=preview)

    def _check_writable(self) -> None:
        if self._page.read_only:
            raise CallerError(
                "this memory is shown read-only",
                hint="start commonplace browse without --read-only",
            )
