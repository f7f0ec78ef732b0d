"""One agent's QMD: searched through a resident server or a process, updated by a process."""

from __future__ import annotations

import os
import time
from threading import Lock
from typing import TYPE_CHECKING

from commonplace_qmd.engine.commands import Commands, Runs
from commonplace_qmd.engine.installation import (
    OfflineHub,
    environment,
    installed_models,
    locate,
)
from commonplace_qmd.engine.search import Search, no_models
from commonplace_qmd.engine.server import Resident, Server
from commonplace_qmd.engine.values import QmdError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.plugin import Deadline, Probe
    from commonplace_qmd.engine.installation import Program
    from commonplace_qmd.engine.values import (
        Line,
        Mode,
        ModelKind,
        QmdHome,
        QmdStatus,
        Row,
        UpdateCounts,
    )


_IDLE = 600.0  # seconds after which the server, of some 110 MB, is ended


class Qmd:
    """One home's engine; threads may share it, and constructing it runs nothing.

    ``command`` is the program as configured, ``env`` the environment to look for it in, and to
    pass on. ``downloads`` allows :meth:`embed` to fetch a model; a search never does. ``resident``
    allows a server that runs until :meth:`close`.
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
        self._command = command
        self._home = home
        self._env = dict(env)
        self._downloads = downloads
        self._clock = clock
        self._runs = Runs()
        self._hub = OfflineHub()
        self._program: Program | None = None
        self._lock = Lock()
        self._commands = Commands(self._located, home, env=self._offline, runs=self._runs)
        self._resident = Resident(self._start, home, clock=clock) if resident else None
        self._search = Search(self._commands, self._resident, home, models=self.models)

    def probe(self) -> Probe:
        """Whether QMD and a Node new enough for it are installed; QMD is not run."""
        from commonplace.plugin import Probe

        try:
            self._located()
        except QmdError as error:
            return Probe(available=False, reason=str(error), hint=error.hint)
        return Probe(available=True)

    def models(self) -> frozenset[ModelKind]:
        """The models that are on this machine."""
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
        """At most ``limit`` rows of ``collections`` (of all if none is named), best first.

        Lines are for the mode ``query``. Up to 20 rows may come from the resident server. Raises
        :class:`UnknownCollectionError` if a collection is missing, :class:`QmdTimeoutError`,
        :class:`~commonplace.plugin.DeclinedError` for words that QMD cannot find, and
        :class:`QmdError` for every other reason for which its answer cannot be trusted.
        """
        return self._search.search(
            mode, query, collections=collections, limit=limit, deadline=deadline
        )

    def update(self, *, deadline: Deadline, holding: Sequence[int] = ()) -> UpdateCounts:
        """Update QMD's index from the files of all collections; raises :class:`QmdError`.

        The caller must keep other writers out: two at once can break a new index. The child goes
        on writing if this process is killed, so it keeps the descriptors ``holding`` open, by
        which a lock is held. QMD drops the rows of a collection whose folder is missing.
        """
        return self._commands.update(deadline, holding)

    def embed(self, *, deadline: Deadline, holding: Sequence[int] = ()) -> None:
        """Embed what has no vector, with ``holding`` as in :meth:`update`."""
        commands = self._commands
        if "embed" not in self.models():
            if not self._downloads:
                raise no_models("embed")
            commands = Commands(self._located, self._home, env=self._online, runs=self._runs)
        commands.embed(deadline, holding)

    def status(self, *, deadline: Deadline) -> QmdStatus:
        """Run ``qmd status``, the one test whether QMD works; raises :class:`QmdError`."""
        return self._commands.status(deadline)

    def warm(self, *, deadline: Deadline) -> bool:
        """Start the resident server and wait for it; return whether it is ready."""
        return self._resident is not None and self._resident.server(deadline) is not None

    def close(self) -> None:
        """End every child, also of calls under way; closing twice is fine."""
        self._runs.close()
        if self._resident is not None:
            self._resident.close()
        self._hub.close()

    def _located(self) -> Program:
        with self._lock:
            if self._program is None or not os.path.exists(self._program.argv[-1]):
                self._program = locate(self._command, self._env)
            return self._program

    def _start(self) -> Server:
        program = self._located()
        return Server(
            program.argv, env=self._offline(), cwd=self._home.cwd, idle=_IDLE, clock=self._clock
        )

    def _offline(self) -> dict[str, str]:
        return environment(self._home, self._env, endpoint=self._hub.address())

    def _online(self) -> dict[str, str]:
        return environment(self._home, self._env, endpoint=None)
