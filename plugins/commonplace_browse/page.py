"""What every page needs: the memory, its notes, the templates, other commands, and failures."""

from __future__ import annotations

import io
import json
import shlex
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from threading import Thread
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse

from commonplace import (
    CallerError,
    CommonplaceError,
    NoteNotFoundError,
    PathNotAllowedError,
    UnavailableError,
    WriteRefusedError,
    __version__,
)
from commonplace.plugin import Context, UsageError, counted
from commonplace_browse import searching
from commonplace_browse.changing import diff_of
from commonplace_browse.condition import PATIENCE, size_of
from commonplace_browse.library import Library
from commonplace_browse.markdown import plain_title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from commonplace import Memory
    from commonplace_browse.guarding import Keys


class Page:
    """Shows templates about one memory; ``opened`` is what the command line named."""

    def __init__(self, memory: Memory, keys: Keys, *, read_only: bool, opened: Namespace) -> None:
        self.memory = memory
        self.read_only = read_only
        self.library = Library(memory)
        self.env: Mapping[str, str] = opened.env
        self._opened = opened
        self._templates = Environment(
            loader=PackageLoader("commonplace_browse"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._templates.globals.update(
            version=__version__,
            workspace=memory.settings.workspace,
            read_only=read_only,
            csrf=keys.csrf,
            counted=counted,
            note_url=searching.note_url,
            search_url=searching.search_url,
            diff_of=diff_of,
            size_of=size_of,
            quoted=shlex.quote,
            plain_title=plain_title,
            at=lambda when: datetime.fromtimestamp(when).astimezone(),
        )

    def show(
        self, name: str, request: Request, *, status: int = 200, **values: object
    ) -> HTMLResponse:
        """The page ``name`` with ``values``."""
        here = request.url.path.split("/")[1]
        text = self._templates.get_template(f"{name}.html").render(here=here, **values)
        # Half a character, as of a folder whose name is not UTF-8, can be in no page.
        return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)

    def failure(self, request: Request, error: Exception) -> Response:
        """A page that says what failed, and how to fix it."""
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        if isinstance(error, NoteNotFoundError | PathNotAllowedError):
            status = HTTPStatus.NOT_FOUND
        elif isinstance(error, WriteRefusedError):
            status = HTTPStatus.CONFLICT
        elif isinstance(error, CallerError):
            status = HTTPStatus.BAD_REQUEST
        elif isinstance(error, UnavailableError):
            status = HTTPStatus.SERVICE_UNAVAILABLE
        hint = getattr(error, "hint", "") or ""
        name = "part_failure" if "part" in request.query_params else "failure"
        values = {"title": status.phrase, "message": str(error), "hint": hint}
        return self.show(name, request, status=status.value, **values)

    def note_changed(self) -> None:
        """Let the pages show a change that was just written.

        The index is waited for a moment alone, and no failure of it is raised: another process may
        write it for long, and the change is made all the same.
        """
        self.library.forget()
        updating = Thread(target=self._update_index, daemon=True, name="browse-change")
        with suppress(RuntimeError):  # no thread can be started: the next search updates the index
            updating.start()
            updating.join(PATIENCE)

    def _update_index(self) -> None:
        with suppress(CommonplaceError):  # the health page reports it
            self.memory.sync()

    def run_command(self, name: str, *arguments: str) -> dict[str, Any]:
        """The JSON of another command on this memory.

        Raises what the command raises (:class:`~commonplace.CallerError` for wrong arguments), and
        :class:`~commonplace.PluginUnavailableError` where it is not installed.
        """
        command = self.memory.host.command(name).factory()
        parser = ArgumentParser(exit_on_error=False)
        command.configure(parser)
        named = Namespace(json=True, format=None, **self._named())
        out = io.StringIO()
        context = Context(
            parser.parse_args(arguments, named), out=out, err=io.StringIO(), env=self.env
        )
        try:
            command.run(named, context)
        except UsageError as error:
            raise CallerError(str(error), hint=error.hint) from error
        found: dict[str, Any] = json.loads(out.getvalue())
        return found

    def _named(self) -> dict[str, str | None]:
        opened = self._opened
        return {key: getattr(opened, key) for key in ("workspace", "config", "agent")}


def to(address: str) -> Response:
    """Sends the browser to another address of ours."""
    return RedirectResponse(address, status_code=303)


def number_in(request: Request, name: str) -> int | None:
    """A whole number of the address; ``None`` for anything else."""
    value = request.query_params.get(name, "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 7 else None


def lines_in(value: str) -> tuple[int, int]:
    """``3-5`` as numbers; (0, 0) for anything else."""
    first, _, last = value.partition("-")
    if not (first.isascii() and first.isdecimal() and len(first) < 9):
        return 0, 0
    end = int(last) if last.isascii() and last.isdecimal() and len(last) < 9 else int(first)
    return int(first), end
