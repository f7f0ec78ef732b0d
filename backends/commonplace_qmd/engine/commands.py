"""Runs a program once: its output bounded, its time too, and none of its children left behind."""

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

__all__ = [
    "Commands",
    "Ended",
    "Runs",
    "end_group",
    "run",
]


_SLICE = 0.05  # seconds between two looks at whether the program has ended with its pipes open
_PART = 1 << 16
_STDERR_TAIL = 8192  # bytes kept of standard error, the last ones
_GRACE = 0.5


class Ended(NamedTuple):
    """How a program ended.

    ``code`` is its status, below 0 a signal's number. ``why`` is what made us end it, or empty.
    ``output`` is whole unless ``why`` says otherwise.
    """

    code: int
    output: str
    words: str
    why: str


class Runs:
    """Counts what runs, so that closing can stop it all and wait."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self.closed = False

    @contextmanager
    def one(self) -> Iterator[None]:
        """A run, as long as it lasts."""
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Tell all runs to stop, and wait until they have."""
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
    grace: float = _GRACE,
    holding: Sequence[int] = (),
) -> Ended:
    """Run ``argv`` to its end, or end it: past ``deadline``, past ``cap`` bytes, or when closed.

    ``grace`` are the seconds between asking it to end and killing it, with all it started.
    ``holding`` are descriptors that it is to keep open as long as it lives.
    Raises ``OSError`` if it cannot be started.
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
            # A group of its own: what it starts can be ended with it. Ctrl-C is for us.
            start_new_session=True,
        ) as process,
        selectors.DefaultSelector() as selector,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        reading = _Reading(selector, process.stdout, process.stderr, cap)
        try:
            why = _follow(process, reading, deadline, runs)
        except BaseException:
            end_group(process, 0.0)
            raise
        if why or reading.open:
            end_group(process, grace if why else 0.0)
        return Ended(process.wait(), reading.text(), reading.words(), why)


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


def _follow(
    process: subprocess.Popen[bytes], reading: _Reading, deadline: Deadline, runs: Runs
) -> str:
    """Read until the program has ended; why it has to be ended, or nothing."""
    while True:
        ended = process.poll() is not None
        reading.read(0.0 if ended else min(_SLICE, deadline.remaining()), whole=ended)
        if reading.full:
            return "output"
        if ended:
            return ""  # what still holds the pipes now is somebody it left behind
        if runs.closed:
            return "closed"
        if deadline.expired:
            return "timeout"
        if not reading.open:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=min(_SLICE, deadline.remaining()))


class _Reading:
    """Both pipes: all of one, up to ``cap`` bytes, and the end of the other."""

    def __init__(
        self, selector: selectors.BaseSelector, out: IO[bytes], err: IO[bytes], cap: int
    ) -> None:
        self.full = False
        self._selector = selector
        self._out = bytearray()
        self._err = bytearray()
        self._cap = cap
        for pipe, into in ((out, self._out), (err, self._err)):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, into)

    @property
    def open(self) -> bool:
        """Whether anybody could still write."""
        return bool(self._selector.get_map())

    def read(self, timeout: float, *, whole: bool) -> None:
        """Read what there is, once or, if ``whole``, until there is no more."""
        if not self.open:
            return
        while events := self._selector.select(timeout):
            for key, _ in events:
                part = os.read(key.fd, _PART)
                if not part:
                    self._selector.unregister(key.fileobj)
                key.data.extend(part)
            del self._err[:-_STDERR_TAIL]
            self.full = len(self._out) > self._cap
            if not whole or self.full or not self.open:
                return
            timeout = 0.0

    def text(self) -> str:
        return self._out.decode("utf-8", "replace")

    def words(self) -> str:
        return self._err.decode("utf-8", "replace")


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
_NUMBERS = re.compile(r"\d+\.\d+\.\d+\S*")


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
        found = _NUMBERS.search(told)
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
