"""One agent's QMD: searched through a resident server or a process, updated by a process."""

from __future__ import annotations

import errno
import os
import re
import time
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING

from commonplace.plugin import Deadline, DeclinedError, Probe
from commonplace_qmd.engine.commands import Ended, Runs, check, closed, run, short
from commonplace_qmd.engine.installation import (
    OfflineHub,
    check_version,
    environment,
    has_other_collections,
    installed_models,
    locate,
)
from commonplace_qmd.engine.search import no_models, plan
from commonplace_qmd.engine.server import Resident, Server
from commonplace_qmd.engine.values import (
    QmdError,
    QmdStatus,
    QmdTimeoutError,
    RefusedError,
    UpdateCounts,
    read_output,
    read_results,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace_qmd.engine.installation import Program
    from commonplace_qmd.engine.search import Plan
    from commonplace_qmd.engine.values import Line, Mode, ModelKind, QmdHome, Row


_SERVER_ROWS = 20  # that the server takes from each list, whatever limit it gets
# QMD ranks all collections together and filters afterwards, so that with a small limit every row
# may be of another collection. It looks at twenty times as many rows as the limit, and takes half
# as long again for these.
_MIN_LIMIT = 200
_LIMIT_FACTOR = 5
# Five times what a search of the original may print: ours asks for more rows than it returns.
_MAX_OUTPUT = 1_000_000
_SEARCH_GRACE = 0.5  # seconds between SIGTERM and SIGKILL
_WRITE_GRACE = 3.0
_IDLE = 600.0  # seconds after which the server, of some 110 MB, is ended

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SKIPPED = re.compile(r"another embed process is already running", re.IGNORECASE)
_FAILED_CHUNKS = re.compile(r"⚠ (\S+) chunks still failed")
_COUNTS = re.compile(
    r"^Indexed: (\d+) new, (\d+) updated, (\d+) unchanged, (\d+) removed", re.MULTILINE
)
_NO_COLLECTIONS = re.compile(r"^No collections found", re.MULTILINE)
_PENDING = re.compile(r"\((\d+) unique hashes need vectors\)")
_TOTAL = re.compile(r"^\s*Total:\s+(\d+) files indexed", re.MULTILINE)
_VECTORS = re.compile(r"^\s*Vectors:\s+(\d+)", re.MULTILINE)
_STATUS_PENDING = re.compile(r"^\s*Pending:\s+(\d+)", re.MULTILINE)
_NUMBERS = re.compile(r"\d+\.\d+\.\d+\S*")


class Qmd:
    """One home's engine; threads may share it, and constructing it runs nothing.

    ``command`` is the program as configured, ``env`` the environment to look for it in, and to
    pass on. ``resident`` allows a server that runs until :meth:`close`. No model is ever fetched.
    """

    def __init__(
        self,
        command: str,
        home: QmdHome,
        *,
        env: Mapping[str, str],
        resident: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command = command
        self._home = home
        self._env = dict(env)
        self._clock = clock
        self._runs = Runs()
        self._hub = OfflineHub()
        self._program: Program | None = None
        self._lock = Lock()
        self._version: str | None = None
        self._resident = Resident(self._start, home, clock=clock) if resident else None
        self._count = count()

    def probe(self) -> Probe:
        """Whether QMD and a Node new enough for it are installed; QMD is not run."""
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
        planned = plan(mode, query, index_path=self._home.index_path, models=self.models())
        if planned is None or limit < 1:
            return []
        rows = self._resident_rows(planned, collections, limit, deadline)
        if rows is None:
            command_limit = limit
            if mode == "search" and self._shares_index(collections):
                command_limit = max(_MIN_LIMIT, limit * _LIMIT_FACTOR)
            named = [word for collection in collections for word in ("-c", collection)]
            # Behind "--", or a query that starts with a dash is taken for an option.
            words = ["--json", "-n", str(command_limit), *named, "--", planned.query]
            ended = self._run([*planned.arguments, *words], deadline, _SEARCH_GRACE)
            rows = read_output(ended.stdout, ended.stderr)
        wanted = _of(rows, collections)[:limit]
        if not wanted and not planned.findable:
            raise DeclinedError("qmd: QMD does not find all words of this script")
        return wanted

    def update(self, *, deadline: Deadline, holding: Sequence[int] = ()) -> UpdateCounts:
        """Update QMD's index from the files of all collections; raises :class:`QmdError`.

        The caller must keep other writers out: two at once can break a new index. The child goes
        on writing if this process is killed, so it keeps the descriptors ``holding`` open, by
        which a lock is held. QMD drops the rows of a collection whose folder is missing.
        """
        output = self._run(["update"], deadline, _WRITE_GRACE, holding).stdout
        counts = [tuple(map(int, found)) for found in _COUNTS.findall(output)]
        if not counts and not _NO_COLLECTIONS.search(output):
            raise QmdError(f"printed no counts of an update: {short(output)}", reason="bad_json")
        columns = zip(*(counts or [(0, 0, 0, 0)]), strict=True)
        added, changed, unchanged, removed = map(sum, columns)
        return UpdateCounts(added, changed, unchanged, removed, _number(_PENDING, output) or 0)

    def embed(self, *, deadline: Deadline, holding: Sequence[int] = ()) -> None:
        """Embed what has no vector, with ``holding`` as in :meth:`update`."""
        if "embed" not in self.models():
            raise no_models("embed")
        output = self._run(["embed"], deadline, _WRITE_GRACE, holding).stdout
        if _SKIPPED.search(output):
            raise QmdError("another process is embedding", reason="locked")
        if failed := _FAILED_CHUNKS.search(output):
            raise QmdError(f"{failed[1]} texts could not be embedded", reason="crash")

    def status(self, *, deadline: Deadline) -> QmdStatus:
        """Run ``qmd status``, the one test whether QMD works; raises :class:`QmdError`."""
        output = self._run(["status"], deadline, _SEARCH_GRACE).stdout
        documents, vectors = _number(_TOTAL, output), _number(_VECTORS, output)
        if documents is None or vectors is None:
            raise QmdError(f"printed no status: {short(output)}", reason="bad_json")
        pending = _number(_STATUS_PENDING, output) or 0
        return QmdStatus(self._version or "", documents, vectors, pending)

    def warm(self, *, deadline: Deadline) -> bool:
        """Start the resident server and wait for it; return whether it is ready."""
        return self._resident is not None and self._resident.server(deadline) is not None

    def close(self) -> None:
        """End every child, also of calls under way; closing twice is fine."""
        self._runs.close()
        if self._resident is not None:
            self._resident.close()
        self._hub.close()

    def _resident_rows(
        self, planned: Plan, collections: Sequence[str], limit: int, deadline: Deadline
    ) -> list[Row] | None:
        """The server's rows; ``None`` if there is no server, or they may not be all."""
        if self._resident is None or planned.tool is None or limit > _SERVER_ROWS:
            return None
        # Starting the server costs more than a process: the second search starts it, without
        # waiting, unless there are models that each process would load again.
        found = None
        if planned.heavy:
            found = self._resident.server(deadline)
        elif next(self._count):
            found = self._resident.server(Deadline.after(0.0), patient=False)
        # For a collection that it does not know, the server would return an empty list.
        if found is None or not found[1].issuperset(collections):
            return None
        server, _ = found
        try:
            rows = self._complete_rows(server, planned, collections, limit, deadline)
        except QmdTimeoutError:
            raise
        except RefusedError:
            return None
        except QmdError as error:
            self._resident.failed(server, str(error))
            return None
        self._resident.answered()
        return rows

    def _complete_rows(
        self,
        server: Server,
        planned: Plan,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row] | None:
        """The best of all ``collections``; of several named ones, the server fuses by turns."""
        if not self._shares_index(collections):
            return _call(server, planned, (), limit, deadline)
        everywhere = _call(server, planned, (), _SERVER_ROWS, deadline)
        rows = _of(everywhere, collections)
        if len(rows) >= limit or len(everywhere) < _SERVER_ROWS:
            return rows
        if len(collections) > 1:
            return None
        rows = _call(server, planned, collections, _SERVER_ROWS, deadline)
        return rows if len(rows) >= limit else None

    def _shares_index(self, collections: Sequence[str]) -> bool:
        """Whether the index has, or may have, documents that the search does not want."""
        return bool(collections) and has_other_collections(self._home.index_path, collections)

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

    def _run(
        self,
        words: Sequence[str],
        deadline: Deadline,
        grace: float,
        holding: Sequence[int] = (),
    ) -> Ended:
        """Run a command, whose child keeps ``holding`` open."""
        if self._version is None:
            version = self._located().version
            if not version:  # npm did not install it; older ones return missing files
                found = _NUMBERS.search(self._ran(["--version"], deadline).stdout)
                version = found[0] if found else ""
                check_version(version)
            self._version = version
        return self._ran(words, deadline, grace, holding)

    def _ran(
        self,
        words: Sequence[str],
        deadline: Deadline,
        grace: float = _SEARCH_GRACE,
        holding: Sequence[int] = (),
    ) -> Ended:
        program = self._located()
        if deadline.expired:
            raise QmdTimeoutError("no time was left to run it")
        if self._runs.closed:
            raise closed()
        try:
            ended = run(
                [*program.argv, *words],
                env=self._offline(),
                cwd=self._home.cwd,
                deadline=deadline,
                runs=self._runs,
                cap=_MAX_OUTPUT,
                grace=grace,
                holding=holding,
            )
        except OSError as error:
            if error.errno == errno.E2BIG:
                raise DeclinedError("qmd: the query is too long for QMD") from error
            what = f"{program.argv[0]} cannot be started: {error.strerror or error}"
            raise QmdError(what, reason="not_installed") from error
        stdout, stderr = _ESCAPE.sub("", ended.stdout), _ESCAPE.sub("", ended.stderr)
        check(words[0], ended.code, ended.why, stderr)
        return ended._replace(stdout=stdout, stderr=stderr)


def _call(
    server: Server, planned: Plan, collections: Sequence[str], limit: int, deadline: Deadline
) -> list[Row]:
    assert planned.tool is not None
    arguments = {**planned.tool, "collections": list(collections), "limit": limit}
    if not planned.tool["rerank"]:
        arguments["candidateLimit"] = limit  # the server would chunk them all for nothing
    answer = server.call("query", arguments, deadline)
    results = answer.get("results") if isinstance(answer, dict) else None
    return read_results(results)


def _of(rows: Sequence[Row], collections: Sequence[str]) -> list[Row]:
    return [row for row in rows if not collections or row.collection in collections]


def _number(pattern: re.Pattern[str], output: str) -> int | None:
    found = pattern.search(output)
    return int(found[1]) if found else None
