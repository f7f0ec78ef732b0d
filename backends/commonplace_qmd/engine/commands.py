"""QMD's commands, one process each: run within bounds, judged by how it ended, leaving no child."""

from __future__ import annotations

import errno
import os
import re
import selectors
import signal
import subprocess
from contextlib import contextmanager, suppress
from threading import Condition
from typing import TYPE_CHECKING

from commonplace.plugin import DeclinedError, NamedTuple
from commonplace_qmd.engine.installation import LEAST_NODE, check_version
from commonplace_qmd.engine.values import (
    QmdError,
    QmdStatus,
    QmdTimeoutError,
    UnknownCollectionError,
    UpdateCounts,
    read_output,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import IO

    from commonplace.plugin import Deadline
    from commonplace_qmd.engine.installation import Program
    from commonplace_qmd.engine.values import QmdHome, Row


_POLL = 0.05  # seconds between two checks whether a process has ended with its pipes open
_CHUNK = 1 << 16
_STDERR_TAIL = 8192  # bytes kept of standard error, the last ones
# Five times what a search of the original may print: ours asks for more rows than it returns.
_MAX_OUTPUT = 1_000_000
_SEARCH_GRACE = 0.5
_WRITE_GRACE = 3.0
_SHOWN = 300
_SEGMENTATION_FAULT = (-signal.SIGSEGV, 128 + signal.SIGSEGV)

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_UNKNOWN = re.compile(r"^Collection not found: (.*)$", re.MULTILINE)
_LOCKED = re.compile(r"SQLITE_BUSY|database is locked")
_DAMAGED = re.compile(r"file is not a database|database disk image is malformed")
_THROWN = re.compile(r"^\w*Error: .+$", re.MULTILINE)  # between source code and stack trace
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


class Commands:
    """The commands of one home. ``locate`` finds the program, ``env`` is called for each run.

    ``holding``, of those that write, are descriptors that the child keeps open as long as it
    lives. Each method raises :class:`QmdError`.
    """

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
        """The rows of a search, in QMD's order."""
        named = [word for collection in collections for word in ("-c", collection)]
        # Behind "--", or a query that starts with a dash is taken for an option.
        words = [*arguments, "--json", "-n", str(limit), *named, "--", query]
        ended = self._run(words, deadline, _SEARCH_GRACE)
        return read_output(ended.stdout, ended.stderr)

    def update(self, deadline: Deadline, holding: Sequence[int] = ()) -> UpdateCounts:
        """Run ``update``."""
        output = self._run(["update"], deadline, _WRITE_GRACE, holding).stdout
        counts = [tuple(map(int, found)) for found in _COUNTS.findall(output)]
        if not counts and not _NO_COLLECTIONS.search(output):
            raise QmdError(f"printed no counts of an update: {_short(output)}", reason="bad_json")
        added, changed, unchanged, removed = (
            map(sum, zip(*counts, strict=True)) if counts else (0, 0, 0, 0)
        )
        return UpdateCounts(added, changed, unchanged, removed, _number(_PENDING, output) or 0)

    def embed(self, deadline: Deadline, holding: Sequence[int] = ()) -> None:
        """Run ``embed``."""
        output = self._run(["embed"], deadline, _WRITE_GRACE, holding).stdout
        if _SKIPPED.search(output):
            raise QmdError("another process is embedding", reason="locked")
        if failed := _FAILED_CHUNKS.search(output):
            raise QmdError(f"{failed[1]} texts could not be embedded", reason="crash")

    def status(self, deadline: Deadline) -> QmdStatus:
        """Run ``status``."""
        output = self._run(["status"], deadline, _SEARCH_GRACE).stdout
        documents, vectors = _number(_TOTAL, output), _number(_VECTORS, output)
        if documents is None or vectors is None:
            raise QmdError(f"printed no status: {_short(output)}", reason="bad_json")
        pending = _number(_STATUS_PENDING, output) or 0
        return QmdStatus(self._version or "", documents, vectors, pending)

    def _run(
        self,
        words: Sequence[str],
        deadline: Deadline,
        grace: float,
        holding: Sequence[int] = (),
    ) -> Ended:
        program = self._locate()
        if self._version is None:
            self._version = program.version or self._reported_version(program, deadline)
        return self._run_program(program, words, deadline, grace, holding)

    def _reported_version(self, program: Program, deadline: Deadline) -> str:
        """What a program that npm did not install reports; older ones return missing files."""
        output = self._run_program(program, ["--version"], deadline, _SEARCH_GRACE).stdout
        found = _NUMBERS.search(output)
        version = found[0] if found else ""
        check_version(version)
        return version

    def _run_program(
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
        if token := env.get("HF_TOKEN"):  # which need not look like a secret
            stderr = stderr.replace(token, "***")
        _check(words[0], ended.code, ended.why, stderr)
        return ended._replace(stdout=stdout, stderr=stderr)


def _check(command: str, code: int, why: str, stderr: str) -> None:
    """Raise :class:`QmdError` unless the command succeeded."""
    if why == "timeout":
        raise QmdTimeoutError(f"{command} exceeded its time limit", output=stderr)
    if why == "closed":
        raise _closed()
    if why == "output":
        raise QmdError(f"{command} printed too much", reason="output_cap", output=stderr)
    if code == 0:
        return
    if unknown := _UNKNOWN.findall(stderr):
        raise UnknownCollectionError(unknown)
    if _LOCKED.search(stderr):
        raise QmdError("its index is locked", reason="locked", output=stderr)
    if _DAMAGED.search(stderr):
        raise QmdError(
            "its index is damaged",
            reason="crash",
            output=stderr,
            hint="`commonplace index --force` sets it aside and rebuilds it",
        )
    if code in _SEGMENTATION_FAULT:
        raise QmdError(
            f"{command} crashed at once, as it does on a Node older than {LEAST_NODE}",
            reason="wrong_runtime",
            output=stderr,
            hint=f"install Node {LEAST_NODE} or newer, first in the PATH",
        )
    manner = f"by signal {-code}" if code < 0 else f"with status {code}"
    message = f": {_short(stderr)}" if stderr.strip() else ""
    raise QmdError(f"{command} ended {manner}{message}", reason="crash", output=stderr)


def _number(pattern: re.Pattern[str], output: str) -> int | None:
    found = pattern.search(output)
    return int(found[1]) if found else None


def _short(text: str) -> str:
    thrown = _THROWN.search(text)
    return " ".join((thrown[0] if thrown else text).split())[:_SHOWN]


def _closed() -> QmdError:
    return QmdError("was closed", reason="closed")


class Ended(NamedTuple):
    """How a process ended.

    ``code`` is its status, negative a signal's number. ``why`` is the reason for which we ended
    it, or empty. ``stdout`` is whole if ``why`` is empty, ``stderr`` the last 8 KiB.
    """

    code: int
    stdout: str
    stderr: str
    why: str


class Runs:
    """Counts running processes, so that closing can stop them all and wait."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self.closed = False

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one run while it lasts."""
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Stop all runs, and wait until they have ended."""
        with self._changed:
            self.closed = True
            self._changed.wait_for(lambda: not self._running)


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    deadline: Deadline,
    runs: Runs,
    cap: int,
    grace: float = _SEARCH_GRACE,
    holding: Sequence[int] = (),
) -> Ended:
    """Run ``argv`` to its end, or end it: past ``deadline``, past ``cap`` bytes, or when closed.

    ``grace`` are the seconds between SIGTERM and SIGKILL, which its children get as well.
    ``holding`` are descriptors that it keeps open. Raises ``OSError`` if it cannot be started.
    """
    with (
        runs.one(),
        subprocess.Popen(  # noqa: S603 - the program that the configuration names
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            bufsize=0,
            pass_fds=holding,
            # A group of its own: its children can be ended with it. Ctrl-C is for us.
            start_new_session=True,
        ) as process,
        selectors.DefaultSelector() as selector,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        pipes = _Pipes(selector, process.stdout, process.stderr, cap)
        try:
            why = _follow(process, pipes, deadline, runs)
        except BaseException:
            end_group(process, 0.0)
            raise
        if why or pipes.open:
            end_group(process, grace if why else 0.0)
        return Ended(process.wait(), pipes.text(pipes.stdout), pipes.text(pipes.stderr), why)


def end_group(process: subprocess.Popen[bytes], grace: float) -> None:
    """End a process that leads a session, and all that is in it; it is reaped."""
    if grace:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=grace)
    # Also when it has ended by now: its children may not have.
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS: a group of zombies only
        os.killpg(process.pid, number)


def _follow(process: subprocess.Popen[bytes], pipes: _Pipes, deadline: Deadline, runs: Runs) -> str:
    """Read until the program has ended; return why it has to be ended, or nothing."""
    while True:
        ended = process.poll() is not None
        pipes.read(0.0 if ended else min(_POLL, deadline.remaining()), whole=ended)
        if pipes.full:
            return "output"
        if ended:
            return ""  # what still holds the pipes now is a child that it left behind
        if runs.closed:
            return "closed"
        if deadline.expired:
            return "timeout"
        if not pipes.open:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=min(_POLL, deadline.remaining()))


class _Pipes:
    """Both output pipes: all of ``stdout``, up to ``cap`` bytes, and the end of ``stderr``."""

    def __init__(
        self, selector: selectors.BaseSelector, out: IO[bytes], err: IO[bytes], cap: int
    ) -> None:
        self.full = False
        self.stdout = bytearray()
        self.stderr = bytearray()
        self._selector = selector
        self._cap = cap
        for pipe, into in ((out, self.stdout), (err, self.stderr)):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, into)

    @property
    def open(self) -> bool:
        """Whether a process can still write to one of them."""
        return bool(self._selector.get_map())

    def read(self, timeout: float, *, whole: bool) -> None:
        """Read what there is, once or, if ``whole``, until there is no more."""
        if not self.open:
            return
        while events := self._selector.select(timeout):
            for key, _ in events:
                part = os.read(key.fd, _CHUNK)
                if not part:
                    self._selector.unregister(key.fileobj)
                key.data.extend(part)
            del self.stderr[:-_STDERR_TAIL]
            self.full = len(self.stdout) > self._cap
            if not whole or self.full or not self.open:
                return
            timeout = 0.0

    @staticmethod
    def text(raw: bytearray) -> str:
        return raw.decode("utf-8", "replace")
