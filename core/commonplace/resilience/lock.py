"""The writer lease: of all threads and processes that know a file, one may write at a time."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from commonplace.dirs import make_private_folder
from commonplace.errors import CallerError, IndexBusyError, IndexReadOnlyError
from commonplace.model.tuples import NamedTuple
from commonplace.resilience import begin_in_children

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from commonplace.model.reports import ProgressCallback


T = TypeVar("T")

_POLL_SECONDS = 0.02
_PATIENCE_SECONDS = 1.0
"""Seconds of waiting before progress says what for."""
_NAME_LENGTH = 60
_NUMBERS = count(1)


class Holder(NamedTuple):
    """Who writes: the process, since when (epoch seconds), and its program if that is known."""

    pid: int
    since: float
    program: str = ""


class Lease:
    """A lock on a file, which the system lets go of when the process ends; re-entrant in a thread.

    The file at ``path`` says nothing and may stay where it is; a second one, ``path`` + ``.pid``,
    tells who holds the lease. With ``path=None`` it keeps the threads apart that share this object,
    and no more. ``what`` is written, in words for people.

    It keeps apart the writers on this machine. Whether it also keeps apart writers on others that
    share the disk depends on the locks of its file system.
    """

    def __init__(
        self,
        path: str | None = None,
        *,
        what: str = "the index",
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._path = path
        self._what = what
        self._clock = clock
        self._wall = wall
        self._sleep = sleep
        self.descriptor: int | None = None
        """The lock file while the lease is held: a child that inherits it (``pass_fds``) keeps the
        lease until it ends, even if this process is killed; otherwise ``None``."""
        self.begin()
        begin_in_children(self)

    def begin(self) -> None:
        """Begin without a holder; in a forked child, which its parent's lease does not concern."""
        self._threads = threading.RLock()
        self._owner: int | None = None
        self._depth = 0
        self._since = 0.0
        if self.descriptor is not None:
            os.close(self.descriptor)  # it would keep the lease when the parent has let go
            self.descriptor = None

    @contextmanager
    def held(self, wait: float) -> Iterator[bool]:
        """Hold the lease; yields whether this is the outermost hold. Creates its folder if needed.

        Raises :class:`~commonplace.errors.IndexBusyError` where the lease is not free within
        ``wait`` seconds (with 0 or less: at once), and
        :class:`~commonplace.errors.IndexReadOnlyError` where there can be no lock file.
        """
        give_up = self._clock() + wait
        with ExitStack() as stack:
            outermost = stack.enter_context(self.threads(wait))
            if outermost and self._path is not None:
                folder = os.path.dirname(os.path.abspath(self._path))
                try:
                    make_private_folder(folder)
                    stack.enter_context(self.processes(give_up - self._clock()))
                except OSError as error:
                    raise IndexReadOnlyError(
                        f"{self._what} cannot be written: {error.strerror or error}",
                        hint=f"make {folder} and what is in it writable",
                    ) from error
            yield outermost

    @contextmanager
    def threads(self, wait: float) -> Iterator[bool]:
        """The first half of :meth:`held`: keep the other threads that share this object out.

        Tells whether this is the outermost hold. Raises
        :class:`~commonplace.errors.IndexBusyError` after ``wait`` seconds.
        """
        threads = self._threads
        if not threads.acquire(timeout=min(max(wait, 0.0), threading.TIMEOUT_MAX)):
            raise self._busy(Holder(os.getpid(), self._since))
        self._depth += 1
        if self._depth == 1:
            self._since = self._wall()
        self._owner = threading.get_ident()
        try:
            yield self._depth == 1
        finally:
            if threads is self._threads:  # else this is a child that was forked meanwhile
                self._depth -= 1
                if not self._depth:
                    self._owner = None
            threads.release()

    @contextmanager
    def processes(self, wait: float) -> Iterator[None]:
        """The second half of :meth:`held`, for its outermost hold: keep the other processes out.

        Raises :class:`~commonplace.errors.IndexBusyError` after ``wait`` seconds, and ``OSError``
        where there can be no lock file.
        """
        if self._path is None:
            yield
            return
        give_up = self._clock() + wait
        while (descriptor := _locked(self._path)) is None:
            left = give_up - self._clock()
            if left <= 0:
                raise self._busy(self._signed())
            self._sleep(min(_POLL_SECONDS, left))
        try:
            self.descriptor = descriptor
            self._sign()
            yield
        finally:
            if self.descriptor == descriptor:  # else this is such a child: its parent holds it
                self.descriptor = None
                self._unsign()
                _unlock(descriptor)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Hold it for as long as this process does something, whichever thread ends that."""
        make_private_folder(os.path.dirname(os.path.abspath(self._path or "")))
        self._since = self._wall()
        with self.processes(0):
            yield

    def check(self) -> None:
        """Raise :class:`~commonplace.errors.CallerError` unless this thread holds the lease."""
        # No lock is needed: a thread can only find its own id here if it put it there.
        if self._owner != threading.get_ident():
            raise CallerError(
                "writing without the lease", hint="write inside `with store.writer(wait=...)`"
            )

    def holder(self) -> Holder | None:
        """Who writes just now; ``None`` where no process does, or none says so.

        What a killed process has left of itself is not taken for a holder.
        """
        if self._owner is not None:
            return Holder(os.getpid(), self._since, _program())
        if self._path is None or self._signed() is None:
            return None
        try:
            descriptor = _locked(self._path)
        except OSError:
            return None
        if descriptor is None:
            return self._signed()
        try:
            self._unsign()
        finally:
            _unlock(descriptor)
        return None

    def notices(self) -> tuple[str, ...]:
        """A line for people on the other writer, if there is one: for a store's health."""
        holder = self.holder()
        if holder is None or self._owner == threading.get_ident():
            return ()
        return (self._doing(holder),)

    def _busy(self, holder: Holder | None) -> IndexBusyError:
        return IndexBusyError(
            self._doing(holder), holder=_named(holder), hint="try again when it is done"
        )

    def _doing(self, holder: Holder | None) -> str:
        seconds = self._wall() - holder.since if holder is not None else 0.0
        if seconds < 1:
            return f"{_named(holder)} is writing {self._what}"
        return f"{_named(holder)} has been writing {self._what} for {_duration(seconds)}"

    def _sign(self) -> None:
        # A courtesy to processes that wait: that it cannot be done is no reason not to write.
        said = f"{os.getpid()}\n{self._since:.3f}\n{_program()}\n"
        with suppress(OSError):
            flags = _careful(os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            descriptor = os.open(f"{self._path}.pid", flags, 0o600)
            try:
                os.write(descriptor, said.encode(errors="replace"))
            finally:
                os.close(descriptor)

    def _unsign(self) -> None:
        with suppress(OSError):
            os.unlink(f"{self._path}.pid")

    def _signed(self) -> Holder | None:
        try:
            descriptor = os.open(f"{self._path}.pid", _careful(os.O_RDONLY))
        except OSError:
            return None
        try:
            said = os.read(descriptor, 512).decode(errors="replace")
        except OSError:  # a FIFO, or a folder
            return None
        finally:
            os.close(descriptor)
        pid, since, program, *_ = (*said.splitlines(), "", "", "")
        try:
            return Holder(int(pid), float(since), _printable(program))
        except ValueError:
            return None


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int) -> None:
        with suppress(OSError):
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        os.close(descriptor)

else:

    def _lock(descriptor: int) -> None:
        import fcntl  # a search that finds the index up to date locks nothing

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        import fcntl

        # Explicitly: a child that was given the descriptor may have left a process behind.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _careful(flags: int) -> int:
    """``flags`` with which a link in the path's place is refused, and a FIFO does not block."""
    for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"):
        flags |= getattr(os, name, 0)
    return flags


def _locked(path: str) -> int | None:
    """The descriptor of the locked file at ``path``; ``None`` where another one has locked it."""
    descriptor = os.open(path, _careful(os.O_RDWR | os.O_CREAT), 0o600)
    try:
        _lock(descriptor)
    except (BlockingIOError, PermissionError):  # the latter from Windows and some network disks
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def waited_for(
    hold: Callable[[float], AbstractContextManager[T]],
    *,
    wait: float,
    progress: ProgressCallback | None,
) -> Iterator[T]:
    """``hold(wait)``; ``progress`` gets the process that is waited for, after a second.

    Raises what ``hold`` raises, after ``wait`` seconds in all.
    """
    patience = min(wait, _PATIENCE_SECONDS)
    with ExitStack() as stack:
        try:
            held = stack.enter_context(hold(patience))
        except IndexBusyError as error:
            if wait <= patience:
                raise
            if progress is not None:
                from commonplace.model.reports import Progress

                who = error.holder or _named(None)
                progress(
                    Progress(
                        label=f"waiting for {who}, which is writing the index", completed=0, total=0
                    )
                )
            held = stack.enter_context(hold(wait - patience))
        yield held


class Presence:
    """Shows other processes that this one does something, until :meth:`end` or its own end.

    ``base`` is a path and what is done, such as ``main.sqlite.watch``: the files beside it that
    begin so are locked, so that those of a process that was killed are known for what they are.
    """

    def __init__(self, base: str) -> None:
        self._path = f"{base}-{os.getpid()}-{next(_NUMBERS)}"
        self._lease = Lease(self._path)
        self._held = ExitStack()

    def begin(self) -> None:
        """Show it; where no file can be written, it is not shown."""
        with suppress(OSError, IndexBusyError):
            self._held.enter_context(self._lease.shown())

    def end(self) -> None:
        """Show it no more; ending twice is fine."""
        self._held.close()
        with suppress(OSError):
            os.unlink(self._path)


def present(base: str) -> tuple[Holder, ...]:
    """The processes that show ``base`` now, the oldest first; deletes what others left."""
    folder, name = os.path.split(base)
    found = []
    with suppress(OSError):
        for file in sorted(os.listdir(folder)):
            path = os.path.join(folder, file.removesuffix(".pid"))
            if not (file.startswith(f"{name}-") and file.endswith(".pid")):
                continue
            if (holder := Lease(path).holder()) is not None:
                found.append(holder)
                continue
            with suppress(OSError):
                os.unlink(path)
    return tuple(sorted(found, key=lambda holder: holder.since))


def _named(holder: Holder | None) -> str:
    if holder is None:
        return "another process"
    if holder.pid == os.getpid():
        return "another thread of this process"
    program = f" ({holder.program})" if holder.program else ""
    return f"process {holder.pid}{program}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def _program() -> str:
    """What was started, without its arguments: they may be anybody's secret."""
    path, *arguments = getattr(sys, "argv", None) or [""]
    folder, name = os.path.split(path)
    if name == "__main__.py":
        name = os.path.basename(folder)
    if name == "commonplace" and arguments and arguments[0].isalpha():
        name = f"{name} {arguments[0]}"
    return "" if name.startswith("-") else _printable(name)


def _printable(name: str) -> str:
    return name[:_NAME_LENGTH] if name.isprintable() else ""
