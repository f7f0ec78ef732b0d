"""Asks the resident server where it can answer fully, and a process of its own otherwise."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from commonplace.plugin import Deadline, DeclinedError
from commonplace_qmd.engine.faults import QmdError, QmdTimeoutError, RefusedError
from commonplace_qmd.engine.index import crowded
from commonplace_qmd.engine.plans import plan
from commonplace_qmd.engine.rows import read_results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace_qmd.engine.commands import Commands
    from commonplace_qmd.engine.plans import Plan
    from commonplace_qmd.engine.resident import Resident
    from commonplace_qmd.engine.server import Server
    from commonplace_qmd.engine.types import Line, Mode, ModelKind, QmdHome, Row

__all__ = ["Searching"]

_WHOLE = 20  # rows that the server takes from each list, whatever it is asked for
# QMD ranks all collections together and drops what was not asked for afterwards, so that a few
# rows asked for may all be crowded out. It looks at twenty times as many as it is asked for, and
# takes half as long again for so many.
_LEAST_ASKED = 200
_TIMES_ASKED = 5


class Searching:
    """Searches of one home; safe to share between threads."""

    def __init__(
        self,
        commands: Commands,
        resident: Resident | None,
        home: QmdHome,
        *,
        models: Callable[[], frozenset[ModelKind]],
    ) -> None:
        self._commands = commands
        self._resident = resident
        self._home = home
        self._models = models
        self._count = count()

    def search(
        self,
        mode: Mode,
        query: str | Sequence[Line],
        *,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row]:
        """See :meth:`~commonplace_qmd.engine.client.Qmd.search`."""
        planned = plan(mode, query, index_path=self._home.index_path, models=self._models())
        if planned is None or limit < 1:
            return []
        rows = self._resident_rows(planned, collections, limit, deadline)
        if rows is None:
            asked = limit
            if mode == "search" and self._crowded(collections):
                asked = max(_LEAST_ASKED, limit * _TIMES_ASKED)
            rows = self._commands.rows(
                planned.arguments,
                planned.query,
                collections=collections,
                limit=asked,
                deadline=deadline,
            )
        wanted = _of(rows, collections)[:limit]
        if not wanted and not planned.findable:
            raise DeclinedError("qmd: QMD does not find all words of this script")
        return wanted

    def _resident_rows(
        self, planned: Plan, collections: Sequence[str], limit: int, deadline: Deadline
    ) -> list[Row] | None:
        """The server's answer; ``None`` if there is none, or it may not be all."""
        if self._resident is None or planned.tool is None or limit > _WHOLE:
            return None
        # Starting it costs more than a process does: only who comes back gets one, and without
        # waiting for it, unless there are models that each process would load anew.
        found = None
        if planned.heavy:
            found = self._resident.server(deadline)
        elif next(self._count):
            found = self._resident.server(Deadline.after(0.0), patient=False)
        # Of a collection that it does not know, it would say that nothing was found there.
        if found is None or not found[1].issuperset(collections):
            return None
        server, _ = found
        try:
            rows = self._whole(server, planned, collections, limit, deadline)
        except QmdTimeoutError:
            raise
        except RefusedError:
            return None
        except QmdError as error:
            self._resident.failed(server, str(error))
            return None
        self._resident.answered()
        return rows

    def _whole(
        self,
        server: Server,
        planned: Plan,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row] | None:
        """The best of all collections; the server would rank several asked for by turns."""
        if not self._crowded(collections):
            return self._called(server, planned, (), limit, deadline)
        everywhere = self._called(server, planned, (), _WHOLE, deadline)
        rows = _of(everywhere, collections)
        if len(rows) >= limit or len(everywhere) < _WHOLE:
            return rows
        if len(collections) > 1:
            return None
        rows = self._called(server, planned, collections, _WHOLE, deadline)
        return rows if len(rows) >= limit else None

    def _crowded(self, collections: Sequence[str]) -> bool:
        """Whether there are, or may be, notes that were not asked for."""
        return bool(collections) and crowded(self._home.index_path, collections)

    def _called(
        self,
        server: Server,
        planned: Plan,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row]:
        assert planned.tool is not None
        arguments = {**planned.tool, "collections": list(collections), "limit": limit}
        if not planned.tool["rerank"]:
            arguments["candidateLimit"] = limit  # it cuts them all up, to no purpose
        answer = server.call("query", arguments, deadline)
        results = answer.get("results") if isinstance(answer, dict) else None
        return read_results(results, numbered=True)


def _of(rows: Sequence[Row], collections: Sequence[str]) -> list[Row]:
    return [row for row in rows if not collections or row.collection in collections]
