"""Runs QMD's commands, a process for each, and judges how they ended."""

from __future__ import annotations

import errno
import re
import signal
from typing import TYPE_CHECKING

from commonplace.plugin import DeclinedError
from commonplace_qmd.engine.faults import QmdError, QmdTimeoutError, UnknownCollectionError
from commonplace_qmd.engine.process import run
from commonplace_qmd.engine.program import LEAST_NODE, check_version
from commonplace_qmd.engine.rows import read_output
from commonplace_qmd.engine.types import QmdStatus, UpdateCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.plugin import Deadline
    from commonplace_qmd.engine.process import Ended, Runs
    from commonplace_qmd.engine.program import Program
    from commonplace_qmd.engine.types import QmdHome, Row

__all__ = ["Commands"]

# Five times what a search of the original may print: ours asks for more rows than it returns.
_CAP = 1_000_000
_SEARCH_GRACE = 0.5
_WRITE_GRACE = 3.0
_SHOWN = 300
_SEGMENTATION_FAULT = (-signal.SIGSEGV, 128 + signal.SIGSEGV)

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_UNKNOWN = re.compile(r"^Collection not found: (.*)$", re.MULTILINE)
_LOCKED = re.compile(r"SQLITE_BUSY|database is locked")
_DAMAGED = re.compile(r"file is not a database|database disk image is malformed")
_THROWN = re.compile(r"^\w*Error: .+$", re.MULTILINE)  # what Node says between code and trace
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
_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")


class Commands:
    """The commands of one home. ``locate`` finds the program, ``env`` is made for each call."""

    def __init__(
        self,
        locate: Callable[[], Program],
        home: QmdHome,
        *,
        env: Callable[[], Mapping[str, str]],
        runs: Runs,
    ) -> None:
        self._locate = locate
        self._home = home
        self._env = env
        self._runs = runs
        self._version: str | None = None

    def rows(
        self,
        arguments: Sequence[str],
        query: str,
        *,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row]:
        """The rows of a search, as QMD orders them. Raises :class:`QmdError`."""
        named = [word for collection in collections for word in ("-c", collection)]
        # Behind "--", or a query that starts with a dash is taken for an option.
        words = [*arguments, "--json", "-n", str(limit), *named, "--", query]
        ended = self._run(words, deadline, grace=_SEARCH_GRACE)
        return read_output(ended.output, ended.words)

    def update(self, deadline: Deadline, lock: int) -> UpdateCounts:
        """Run ``update``, which keeps the ``lock``. Raises :class:`QmdError`."""
        output = self._run(["update"], deadline, grace=_WRITE_GRACE, holding=(lock,)).output
        counts = [tuple(map(int, found)) for found in _COUNTS.findall(output)]
        if not counts and not _NO_COLLECTIONS.search(output):
            raise QmdError(f"did not say what it updated: {_short(output)}", reason="bad_json")
        added, changed, unchanged, removed = (
            map(sum, zip(*counts, strict=True)) if counts else (0, 0, 0, 0)
        )
        return UpdateCounts(added, changed, unchanged, removed, _number(_PENDING, output) or 0)

    def embed(self, deadline: Deadline, lock: int) -> None:
        """Run ``embed``, which keeps the ``lock``. Raises :class:`QmdError`."""
        output = self._run(["embed"], deadline, grace=_WRITE_GRACE, holding=(lock,)).output
        if _SKIPPED.search(output):
            raise QmdError("another process makes its vectors", reason="locked")
        if failed := _FAILED_CHUNKS.search(output):
            raise QmdError(f"{failed[1]} texts could not be embedded", reason="crash")

    def status(self, deadline: Deadline) -> QmdStatus:
        """Run ``status``. Raises :class:`QmdError`."""
        output = self._run(["status"], deadline, grace=_SEARCH_GRACE).output
        documents = _number(_TOTAL, output)
        vectors = _number(_VECTORS, output)
        if documents is None or vectors is None:
            raise QmdError(f"did not say how it is: {_short(output)}", reason="bad_json")
        version = self._version or ""
        return QmdStatus(version, documents, vectors, _number(_STATUS_PENDING, output) or 0)

    def _run(
        self,
        words: Sequence[str],
        deadline: Deadline,
        *,
        grace: float,
        holding: Sequence[int] = (),
    ) -> Ended:
        program = self._locate()
        if self._version is None:
            self._version = program.version or self._asked_version(program, deadline)
        return self._ran(program, words, deadline, grace, holding)

    def _asked_version(self, program: Program, deadline: Deadline) -> str:
        """What a program that is not npm's says; an older one finds files that do not exist."""
        told = self._ran(program, ["--version"], deadline, _SEARCH_GRACE).output
        found = _VERSION.search(told)
        version = found[0] if found else ""
        check_version(version)
        return version

    def _ran(
        self,
        program: Program,
        words: Sequence[str],
        deadline: Deadline,
        grace: float,
        holding: Sequence[int] = (),
    ) -> Ended:
        if deadline.expired:
            raise QmdTimeoutError("no time was left to run it")
        if self._runs.closed:
            raise _closed()
        env = self._env()
        try:
            ended = run(
                [*program.argv, *words],
                env=env,
                cwd=self._home.cwd,
                deadline=deadline,
                runs=self._runs,
                cap=_CAP,
                grace=grace,
                holding=holding,
            )
        except OSError as error:
            if error.errno == errno.E2BIG:
                raise DeclinedError("qmd: the query is too long for QMD") from error
            what = f"{program.argv[0]} cannot be started: {error.strerror or error}"
            raise QmdError(what, reason="not_installed") from error
        output = _ESCAPE.sub("", ended.output)
        said = _ESCAPE.sub("", ended.words)
        if token := env.get("HF_TOKEN"):  # it may not look like one
            said = said.replace(token, "***")
        _judge(words[0], ended.code, ended.why, said)
        return ended._replace(output=output, words=said)


def _judge(command: str, code: int, why: str, words: str) -> None:
    """Raise :class:`QmdError` unless all went well."""
    if why == "timeout":
        raise QmdTimeoutError(f"{command} took longer than it was given", output=words)
    if why == "closed":
        raise _closed()
    if why == "output":
        raise QmdError(f"{command} printed too much", reason="output_cap", output=words)
    if code == 0:
        return
    if unknown := _UNKNOWN.findall(words):
        raise UnknownCollectionError(unknown)
    if _LOCKED.search(words):
        raise QmdError("its index is locked", reason="locked", output=words)
    if _DAMAGED.search(words):
        raise QmdError(
            "its index is damaged",
            reason="crash",
            output=words,
            hint="`commonplace index --force` sets it aside and makes it anew",
        )
    if code in _SEGMENTATION_FAULT:
        raise QmdError(
            f"{command} crashed at once, as it does on a Node older than {LEAST_NODE}",
            reason="wrong_runtime",
            output=words,
            hint=f"install Node {LEAST_NODE} or newer, first in the PATH",
        )
    manner = f"by signal {-code}" if code < 0 else f"with status {code}"
    said = f": {_short(words)}" if words.strip() else ""
    raise QmdError(f"{command} ended {manner}{said}", reason="crash", output=words)


def _number(pattern: re.Pattern[str], output: str) -> int | None:
    found = pattern.search(output)
    return int(found[1]) if found else None


def _short(text: str) -> str:
    thrown = _THROWN.search(text)
    return " ".join((thrown[0] if thrown else text).split())[:_SHOWN]


def _closed() -> QmdError:
    return QmdError("was closed", reason="closed")
