"""One agent's QMD: asked through a resident server, or a process for each call."""

from __future__ import annotations

import os
import time
from threading import Lock
from typing import TYPE_CHECKING

from commonplace_qmd.engine.commands import Runs
from commonplace_qmd.engine.values import QmdError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.plugin import Deadline, Probe
    from commonplace_qmd.engine.installation import Program
    from commonplace_qmd.engine.server import Server
    from commonplace_qmd.engine.values import (
        Line,
        Mode,
        ModelKind,
        QmdHome,
        QmdStatus,
        Row,
        UpdateCounts,
    )

__all__ = ["Qmd"]

_IDLE = 600.0  # seconds after which the server, of some 110 MB, is not worth its memory


class Qmd:
    """Safe to share between threads; making one runs nothing.

    ``command`` is the program as configured, ``env`` the environment to look for it in, and
    to hand on. ``downloads`` allows :meth:`embed` to fetch a model; a search never does.
    ``resident`` allows a server that stays while we do.
    """

    def __init__(
        self,
        command: str,
        home: QmdHome,
        *,
        env: Mapping[str, str],
        downloads: bool = False,
        resident: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from commonplace_qmd.engine.commands import Commands
        from commonplace_qmd.engine.installation import Refusal
        from commonplace_qmd.engine.search import Searching
        from commonplace_qmd.engine.server import Resident

        self._command = command
        self._home = home
        self._env = dict(env)
        self._downloads = downloads
        self._clock = clock
        self._runs = Runs()
        self._refusal = Refusal()
        self._program: Program | None = None
        self._lock = Lock()
        self._commands = Commands(self._located, home, env=self._offline, runs=self._runs)
        self._resident = Resident(self._start, home, clock=clock) if resident else None
        self._searching = Searching(self._commands, self._resident, home, models=self.models)

    def probe(self) -> Probe:
        """Whether QMD and a Node new enough for it are there; nothing of QMD's is run.

        What :meth:`status` finds is the truth.
        """
        from commonplace.plugin import Probe

        try:
            self._located()
        except QmdError as error:
            return Probe(available=False, reason=str(error), hint=error.hint)
        return Probe(available=True)

    def models(self) -> frozenset[ModelKind]:
        """The models that are on this machine."""
        from commonplace_qmd.engine.installation import installed_models

        return installed_models(self._home.models_dir, self._env)

    def search(
        self,
        mode: Mode,
        query: str | Sequence[Line],
        *,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row]:
        """At most ``limit`` rows of ``collections`` (of all where none is named), best first.

        Lines are for the mode ``query``. Up to 20 rows may come from the resident server. Raises
        :class:`UnknownCollectionError` if a collection is missing, :class:`QmdTimeoutError`, and
        :class:`QmdError` for all else that keeps QMD from answering honestly;
        :class:`~commonplace.errors.DeclinedError` for words that it cannot look for.
        """
        return self._searching.search(
            mode, query, collections=collections, limit=limit, deadline=deadline
        )

    def update(self, *, deadline: Deadline) -> UpdateCounts:
        """Bring QMD's index up to the files of all collections; one process at a time may.

        A collection whose folder has gone loses its rows: look before. Raises :class:`QmdError`.
        """
        from commonplace_qmd.engine.lock import writer_lock

        with writer_lock(self._home.index_path, deadline, closed=self._is_closed) as lock:
            return self._commands.update(deadline, lock)

    def embed(self, *, deadline: Deadline) -> None:
        """Make the vectors that are missing. Raises :class:`QmdError`."""
        from commonplace_qmd.engine.commands import Commands
        from commonplace_qmd.engine.lock import writer_lock
        from commonplace_qmd.engine.search import no_models

        commands = self._commands
        if "embed" not in self.models():
            if not self._downloads:
                raise no_models("embed")
            commands = Commands(self._located, self._home, env=self._online, runs=self._runs)
        with writer_lock(self._home.index_path, deadline, closed=self._is_closed) as lock:
            commands.embed(deadline, lock)

    def status(self, *, deadline: Deadline) -> QmdStatus:
        """Run ``qmd status``: whether QMD works at all. Raises :class:`QmdError`."""
        return self._commands.status(deadline)

    def warm(self, *, deadline: Deadline) -> bool:
        """Start the resident server and wait for it; whether it is there to be asked."""
        return self._resident is not None and self._resident.server(deadline) is not None

    def close(self) -> None:
        """End every child, also of calls in flight; closing twice is fine."""
        self._runs.close()
        if self._resident is not None:
            self._resident.close()
        self._refusal.close()

    def _is_closed(self) -> bool:
        return self._runs.closed

    def _located(self) -> Program:
        with self._lock:
            if self._program is None or not os.path.exists(self._program.argv[-1]):
                from commonplace_qmd.engine.installation import locate

                self._program = locate(self._command, self._env)
            return self._program

    def _start(self) -> Server:
        from commonplace_qmd.engine.server import Server

        program = self._located()
        return Server(
            program.argv, env=self._offline(), cwd=self._home.cwd, idle=_IDLE, clock=self._clock
        )

    def _offline(self) -> dict[str, str]:
        from commonplace_qmd.engine.installation import surroundings

        return surroundings(self._home, self._env, endpoint=self._refusal.address())

    def _online(self) -> dict[str, str]:
        from commonplace_qmd.engine.installation import surroundings

        return surroundings(self._home, self._env, endpoint=None)
