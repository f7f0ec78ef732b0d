"""Updates of QMD's index: what one does, when one is due, and those beside searches."""

from __future__ import annotations

import logging
import os
import time
from contextlib import contextmanager, suppress
from threading import TIMEOUT_MAX, Condition, Lock
from typing import TYPE_CHECKING, Literal

from commonplace.plugin import (
    CommonplaceError,
    Embedding,
    IndexReadOnlyError,
    Lease,
    Progress,
    SyncReport,
    SyncRequest,
    SyncWorker,
    UnavailableError,
    file_stamp,
    settled_stamp,
    waited_for,
    write_whole,
)
from commonplace_qmd.collections import find_changes, index_yml
from commonplace_qmd.engine.values import QmdError
from commonplace_qmd.home import load_state, make_home, save_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from commonplace.plugin import Deadline, ProgressCallback, Stamp
    from commonplace_qmd.collections import Changes, Collection
    from commonplace_qmd.engine.client import Qmd
    from commonplace_qmd.engine.values import UpdateCounts
    from commonplace_qmd.export import Exporter
    from commonplace_qmd.home import Home, Manifest, State
    from commonplace_qmd.settings import QmdSettings


_FIRST_PAUSE = 60.0
_LONGEST_PAUSE = 3600.0
_SECOND_NS = 1_000_000_000


class Updater:
    """Finds what has changed in ``collections``, and has QMD index it.

    ``exporter`` exports transcripts before each update.
    """

    def __init__(
        self,
        qmd: Qmd,
        home: Home,
        collections: Sequence[Collection],
        config: QmdSettings,
        *,
        workspace: str,
        env: Mapping[str, str],
        exporter: Exporter | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.qmd = qmd
        self.home = home
        self.collections = tuple(collections)
        self.config = config
        self.clock = clock
        self._workspace = workspace
        self._env = env
        self._exporter = exporter
        self.lease = Lease(home.lock, what="QMD's index")
        self._saving = Lock()
        self.incomplete: frozenset[str] = frozenset()
        """The collections that the last scan could not list to the end: QMD may not know them."""

    def state(self) -> State:
        """What is remembered of former updates."""
        return load_state(self.home)

    def changes(self) -> Changes:
        """What an update would do; nothing is written, and only transcripts may be opened."""
        changes = self._scan(self.state())
        if self._exporter is None:
            return changes
        due, deferred = self._exporter.pending()
        return changes._replace(exports=due, deferred=deferred)

    def refresh(self) -> Changes:
        """As :meth:`changes`, and list the folders that can be read in ``index.yml``.

        A disk that is mounted again needs no update. Write errors are ignored: a search needs no
        right to write.
        """
        changes, state = self.changes(), self.state()
        with suppress(OSError):
            if state.configured and (text := self._configure(changes, state)) != state.configured:
                self._save(configured=text)
        return changes

    def write_collections(self) -> None:
        """Write ``index.yml``, whatever it holds now."""
        with self._writable():
            state = self.state()
            self._configure(self._scan(state), state._replace(configured=""))

    def run(
        self,
        *,
        vectors: Literal["now", "due", "no"],
        force: bool = False,
        eager: bool = True,
        deadline: Deadline,
        wait: float,
        progress: ProgressCallback | None = None,
    ) -> SyncReport:
        """Update, and embed now, if it is due, or not at all.

        Unless ``eager``, transcripts that have grown by little are not exported again. ``force``
        replaces an index that QMD cannot use; without, it is kept, as it may hold vectors that
        took hours to compute.

        Raises :class:`~commonplace.plugin.IndexBusyError` if another writer takes longer than
        ``wait`` seconds, :class:`~commonplace.plugin.IndexReadOnlyError` if the home cannot be
        written, and :class:`~commonplace_qmd.engine.values.QmdError`.
        """
        started = time.monotonic()
        report_progress = progress or (lambda _: None)
        with self._writable(), waited_for(self.lease.held, wait=wait, progress=progress):
            exporter = self._exporter
            unreadable = exporter.export(eager=eager or force).unreadable if exporter else ()
            now_ns, state = time.time_ns(), self.state()
            changes = self._scan(state)
            report_progress(Progress(label="Updating QMD", completed=0, total=0))
            configured = self._configure(changes, state)
            counts, rebuilt = self._update(deadline, force=force)
            state = self._save(
                configured=configured,
                last_update=self.clock(),
                documents=counts.added + counts.changed + counts.unchanged,
                pending=counts.pending,
                files=_files_after(changes, state.files, now_ns),
            )
            embedding: Embedding | None = None
            if (vectors == "now" and needs_vectors(self.config)) or (
                vectors == "due" and embedding_is_due(self.config, state, self.clock())
            ):
                report_progress(Progress(label="QMD embeds", completed=0, total=0))
                embedding = self._embed(state, deadline)
        report = changes.report()
        return report.replace(
            added=counts.added,
            updated=counts.changed,
            removed=counts.removed,
            unchanged=counts.unchanged,
            remaining=0,
            rebuilt=rebuilt,
            unreadable=(*report.unreadable, *unreadable),
            embedding=embedding,
            seconds=time.monotonic() - started,
        )

    @contextmanager
    def _writable(self) -> Iterator[None]:
        """Make the home; it is an error of its own if that cannot be written meanwhile."""
        try:
            make_home(self.home, self._env)
            yield
        except OSError as error:
            raise IndexReadOnlyError(
                f"QMD's home {self.home.root} cannot be written: {error.strerror or error}",
                hint="check that its disk has room, and that this user may write there",
            ) from error

    def _scan(self, state: State) -> Changes:
        changes = find_changes(self.collections, self._workspace, state.files)
        self.incomplete = changes.incomplete
        return changes

    def _configure(self, changes: Changes, state: State) -> str:
        """Write ``index.yml`` unless its text, which is returned, was last written.

        A collection that could not be scanned is left out, and QMD keeps its documents; listed, it
        would lose them. One that is no longer configured gets an empty folder, to lose them.
        """
        complete = [scan.collection for scan in changes.scans if scan.complete]
        configured = {scan.collection.name for scan in changes.scans}
        retired = [name for name, files in state.files.items() if files and name not in configured]
        text = index_yml(complete, retired=retired, empty_folder=self.home.empty_folder)
        if state.configured != text or not os.path.exists(self.home.config_file):
            with self._saving:
                write_whole(self.home.config_file, text)
        return text

    def _save(self, **values: Any) -> State:
        with self._saving:
            state = self.state()._replace(**values)
            save_state(self.home, state)
        return state

    def _update(self, deadline: Deadline, *, force: bool) -> tuple[UpdateCounts, bool]:
        """Have QMD update; once more if it crashed, as it does beside another one.

        With ``force``, a third time with an empty index; the second value says whether.
        """
        deadline = deadline.sooner(self.config.update.update_timeout_ms / 1000)
        for attempt in range(3 if force else 2):
            if attempt == 2:
                self._set_aside()
            try:
                return self.qmd.update(deadline=deadline, holding=self._holding()), attempt == 2
            except QmdError as error:
                if error.reason != "crash" or attempt == (2 if force else 1):
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _embed(self, state: State, deadline: Deadline) -> Embedding:
        """Have QMD embed what has no vector.

        A failure is counted and reported, never raised: keywords are searchable without. Each one
        in a row doubles the pause, from a minute to an hour.
        """
        before, limits, now = max(0, state.pending), self.config.update, self.clock()
        if "embed" not in self.qmd.models():
            reason = "QMD's model for vectors is not on this machine: see `commonplace qmd env`"
            self._save(embed_reason=reason)
            return Embedding(provider="qmd", missing=before, reason=reason)
        try:
            embedding_deadline = deadline.sooner(limits.embed_timeout_ms / 1000)
            self.qmd.embed(deadline=embedding_deadline, holding=self._holding())
            status = self.qmd.status(deadline=deadline.sooner(limits.command_timeout_ms / 1000))
        except UnavailableError as error:
            failures = state.embed_failures + 1
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(failures - 1, 10))
            self._save(embed_failures=failures, embed_after=now + pause, embed_reason=str(error))
            return Embedding(provider="qmd", missing=before, reason=str(error))
        self._save(
            last_embed=now,
            embed_failures=0,
            embed_after=0.0,
            embed_reason="",
            pending=status.pending,
        )
        embedded = max(0, before - status.pending)
        return Embedding(provider="qmd", embedded=embedded, missing=status.pending)

    def _holding(self) -> tuple[int, ...]:
        """The lease, for a child to inherit: it goes on writing if this process is killed."""
        descriptor = self.lease.descriptor
        return () if descriptor is None else (descriptor,)

    def _set_aside(self) -> None:
        """Rename QMD's index; nothing is lost, as it can be rebuilt from the files."""
        for suffix in ("", "-wal", "-shm"):
            path = self.home.qmd.index_path + suffix
            with suppress(FileNotFoundError):
                os.replace(path, f"{path}.damaged")


def needs_vectors(config: QmdSettings) -> bool:
    """Whether the configured ``searchMode`` uses vectors."""
    return config.search_mode != "search"


def embedding_is_due(config: QmdSettings, state: State, now: float) -> bool:
    """Whether ``embedInterval`` (0 is never) and the pause after a failure are over."""
    interval = config.update.embed_interval
    if not (needs_vectors(config) and state.pending and interval):
        return False
    return now >= state.embed_after and now - state.last_embed >= interval


def _files_after(changes: Changes, before: Manifest, now_ns: int) -> Manifest:
    """The files that QMD knows after an update: of incomplete collections, those from before."""
    return {
        scan.collection.name: {
            ref.path: _settled(ref.stamp, now_ns) for ref in scan.report.documents
        }
        if scan.complete
        else before.get(scan.collection.name, {})
        for scan in changes.scans
    }


def _settled(stamp: Stamp, now_ns: int) -> Stamp:
    """``stamp``, or one that no file has if a later change might not show in it.

    QMD reads a file after the scan, by far more than a tick of common clocks, so that a later
    change has other times; only on disks that count whole seconds it may not.
    """
    file = file_stamp(stamp)
    if file is None or file.mtime_ns % _SECOND_NS or file.ctime_ns % _SECOND_NS:
        return stamp
    return settled_stamp(stamp, now_ns)


class BackgroundUpdates:
    """Runs ``update`` on a thread of its own, one at a time: when requested, and every interval.

    ``interval`` is in seconds, 0 is never. Nothing runs before :meth:`start`. What ``update``
    raises is returned to the thread that waits; an unexpected exception is logged, and returned as
    :class:`~commonplace.plugin.UnavailableError`.
    """

    def __init__(self, update: Callable[[], SyncReport], interval: float) -> None:
        self._update = update
        self._interval = interval
        self._background = SyncWorker(self._run, name="qmd", debounce=0.0)
        self._changed = Condition()
        self._running = False  # or requested
        self._unread = False
        self._closed = False
        self._outcome: SyncReport | CommonplaceError | None = None

    def start(self, *, now: bool) -> None:
        """Begin to update every interval, and ``now`` unless an update is under way."""
        with self._changed:
            if self._closed:
                return
            if now and not self._running:
                self._running = self._unread = True
                self._outcome = None
                self._background.ask(SyncRequest(("search",)))
            if self._interval:
                self._background.every(self._interval)

    def wait(self, seconds: float) -> SyncReport | CommonplaceError | None:
        """The outcome of the update under way, or requested before, if it ends in ``seconds``.

        The outcome of an update that has ended is returned once.
        """
        with self._changed:
            if not (self._running or self._unread) or not self._ended(seconds):
                return None
            self._unread = False
            return self._outcome

    def settle(self, seconds: float) -> None:
        """Wait up to ``seconds`` for the update under way, if there is one."""
        with self._changed:
            self._ended(seconds)

    def close(self, seconds: float) -> bool:
        """Start no more updates; return whether the one under way ended in ``seconds``."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._background.close(seconds)
        return not self._running

    def _ended(self, seconds: float) -> bool:
        return self._changed.wait_for(
            lambda: self._closed or not self._running, min(seconds, TIMEOUT_MAX)
        )

    def _run(self, _request: SyncRequest) -> bool:
        self._running = True
        outcome: SyncReport | CommonplaceError
        try:
            outcome = self._update()
        except CommonplaceError as error:
            outcome = error
        except BaseException as error:  # a thread that waits must learn of it
            logging.getLogger("commonplace").exception("an update of QMD failed")
            outcome = UnavailableError(f"internal error: {type(error).__name__}: {error}")
        with self._changed:
            self._outcome, self._running = outcome, False
            self._changed.notify_all()
        return True  # a failure waits for the next search or interval
