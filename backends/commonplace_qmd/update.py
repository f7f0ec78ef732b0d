"""When QMD makes vectors, and what comes of it."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from commonplace.plugin import (
    Embedding,
    IndexReadOnlyError,
    Lease,
    Progress,
    SyncReport,
    UnavailableError,
    settled_stamp,
    waited_for,
)
from commonplace_qmd.changes import look
from commonplace_qmd.collections import index_yml
from commonplace_qmd.engine import QmdError
from commonplace_qmd.home import (
    load_manifest,
    load_state,
    make_home,
    save_manifest,
    save_state,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.plugin import Deadline, ProgressCallback, Stamp
    from commonplace_qmd.changes import Look
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.engine import Qmd, UpdateCounts
    from commonplace_qmd.export import Exporter
    from commonplace_qmd.home import Home, Manifest, State
    from commonplace_qmd.settings import QmdSettings

__all__ = [
    "Upkeep",
    "Vectors",
    "embed",
    "is_due",
    "needs_vectors",
]


_FIRST_PAUSE = 60.0
_LONGEST_PAUSE = 3600.0


def needs_vectors(config: QmdSettings) -> bool:
    """Whether the configured way to search asks for vectors at all."""
    return config.search_mode != "search"


def is_due(config: QmdSettings, state: State, now: float) -> bool:
    """Whether it is time by ``embedInterval`` (0 is never), and no pause after a failure."""
    interval = config.update.embed_interval
    if not (needs_vectors(config) and state.pending and interval):
        return False
    return now >= state.embed_after and now - state.last_embed >= interval


def embed(
    qmd: Qmd,
    config: QmdSettings,
    state: State,
    *,
    now: float,
    deadline: Deadline,
    holding: Sequence[int],
) -> tuple[State, Embedding]:
    """Have QMD embed what has no vector; the state after it, and what to tell.

    A failure is counted and told, never raised: what is embedded is searchable all the same. After
    each in a row the pause is doubled, from a minute to an hour.
    """
    before = max(0, state.pending)
    if "embed" not in qmd.models():
        reason = "QMD's model for vectors is not on this machine: see `commonplace qmd env`"
        return state._replace(embed_reason=reason), Embedding("qmd", missing=before, reason=reason)
    try:
        qmd.embed(deadline=deadline.sooner(config.update.embed_timeout_ms / 1000), holding=holding)
        pending = qmd.status(
            deadline=deadline.sooner(config.update.command_timeout_ms / 1000)
        ).pending
    except UnavailableError as error:
        failures = state.embed_failures + 1
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(failures - 1, 10))
        failed = state._replace(
            embed_failures=failures, embed_after=now + pause, embed_reason=str(error)
        )
        return failed, Embedding("qmd", missing=before, reason=str(error))
    done = state._replace(
        last_embed=now, embed_failures=0, embed_after=0.0, embed_reason="", pending=pending
    )
    return done, Embedding("qmd", embedded=max(0, before - pending), missing=pending)


_SECOND_NS = 1_000_000_000

Vectors = Literal["asked", "due", "no"]
"""When to embed after an update: now, if it is time, or not at all."""


class Upkeep:
    """Looks at the files of ``collections``, and has QMD index what has changed.

    ``exporter`` brings the folder of exported transcripts up to date before each update.
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
        self._qmd = qmd
        self._home = home
        self._collections = collections
        self._config = config
        self._workspace = workspace
        self._env = env
        self._exporter = exporter
        self._clock = clock
        self._lease = Lease(home.lock, what="QMD's index")
        self._kept_out: frozenset[str] = frozenset()

    def look(self) -> Look:
        """What there is to do; nothing is written, and only what grows may be opened."""
        found = self._look(load_manifest(self._home))
        if self._exporter is None:
            return found
        pending = self._exporter.pending()
        return found._replace(exports=pending.due, deferred=pending.deferred)

    def kept_out(self) -> frozenset[str]:
        """The collections that could not be seen when they were last looked at.

        QMD may not know them just now, and nobody could open their files.
        """
        return self._kept_out

    def writing_elsewhere(self) -> tuple[str, ...]:
        """A line on who else updates QMD's index just now, if somebody does."""
        return self._lease.notices()

    def state(self) -> State:
        """What is remembered of former updates."""
        return load_state(self._home)

    def run(
        self,
        *,
        vectors: Vectors,
        force: bool = False,
        eager: bool = True,
        deadline: Deadline,
        wait: float,
        progress: ProgressCallback | None = None,
    ) -> SyncReport:
        """Update, and embed as ``vectors`` says. ``force`` replaces an index that QMD cannot use.

        Unless it is ``eager``, transcripts that have grown by little are not exported again.

        Without ``force`` such an index stays, for it may hold vectors that took hours to make.

        Raises :class:`~commonplace.errors.IndexBusyError` if somebody else does so for longer than
        ``wait`` seconds, :class:`~commonplace.errors.IndexReadOnlyError` where the home cannot be
        written, and :class:`~commonplace_qmd.engine.QmdError`.
        """
        started = time.monotonic()
        try:
            make_home(self._home, self._env)
            with waited_for(self._lease.held, wait=wait, progress=progress):
                report = self._run(vectors, deadline, progress, force=force, eager=eager)
        except OSError as error:
            raise IndexReadOnlyError(
                f"QMD's home {self._home.root} cannot be written: {error.strerror or error}",
                hint="see that its disk has room, and that this user may write there",
            ) from error
        return report._replace(seconds=time.monotonic() - started)

    def ensure_collections(self) -> None:
        """Write ``index.yml`` anew, whatever it holds now; raises ``OSError``."""
        make_home(self._home, self._env)
        manifest = load_manifest(self._home)
        found = self._look(manifest)
        self._configure(found, manifest, load_state(self._home)._replace(configured=""))

    def tell_of(self, found: Look) -> None:
        """Let ``index.yml`` list what can be seen now: a disk that is back needs no update."""
        state = load_state(self._home)
        manifest = load_manifest(self._home)
        told = self._configure(found, manifest, state) if state.configured else state
        if told != state:
            save_state(self._home, told)

    def _run(
        self,
        vectors: Vectors,
        deadline: Deadline,
        progress: ProgressCallback | None,
        *,
        force: bool,
        eager: bool,
    ) -> SyncReport:
        exporter = self._exporter
        exported = exporter.export(eager=eager or force) if exporter is not None else None
        manifest, state = load_manifest(self._home), load_state(self._home)
        now_ns = time.time_ns()
        found = self._look(manifest)
        if progress is not None:
            progress(Progress("Updating QMD", 0, 0))
        state = self._configure(found, manifest, state)
        counts, rebuilt = self._update(deadline, force=force)
        documents = counts.added + counts.changed + counts.unchanged
        state = state._replace(
            last_update=self._clock(), documents=documents, pending=counts.pending
        )
        save_manifest(self._home, _known_now(found, manifest, now_ns))
        save_state(self._home, state)
        embedding: Embedding | None = None
        due = is_due(self._config, state, self._clock())
        if (vectors == "asked" and needs_vectors(self._config)) or (vectors == "due" and due):
            if progress is not None:
                progress(Progress("QMD embeds", 0, 0))
            state, embedding = embed(
                self._qmd,
                self._config,
                state,
                now=self._clock(),
                deadline=deadline,
                holding=self._holding(),
            )
            save_state(self._home, state)
        return found.report()._replace(
            added=counts.added,
            updated=counts.changed,
            removed=counts.removed,
            unchanged=counts.unchanged,
            remaining=0,
            rebuilt=rebuilt,
            unreadable=(*found.refused, *(exported.unreadable if exported is not None else ())),
            embedding=embedding,
        )

    def _look(self, manifest: Manifest) -> Look:
        found = look(self._collections, self._workspace, manifest)
        self._kept_out = frozenset(
            name for name, listing in found.listings.items() if listing.failures
        )
        return found

    def _configure(self, found: Look, manifest: Manifest, state: State) -> State:
        """Write ``index.yml`` if it has to say something else than when it was last written.

        A collection that cannot be seen is left out, for QMD would forget all its files; left out,
        they stay. One that is no longer configured is led to an empty folder, for QMD to forget.
        """
        listings = found.listings
        seen = [each for each in self._collections if not listings[each.name].failures]
        retired = [name for name, files in manifest.items() if files and name not in listings]
        text = index_yml(seen, retired=retired, nowhere=self._home.retired)
        if state.configured == text and os.path.exists(self._home.config_file):
            return state
        from commonplace_qmd.home import write_whole

        write_whole(self._home.config_file, text.encode())
        return state._replace(configured=text)

    def _update(self, deadline: Deadline, *, force: bool) -> tuple[UpdateCounts, bool]:
        """Have QMD update; once more where it crashed, as it does when it meets another.

        With ``force``, a third time with an empty index; the second value says whether.
        """
        deadline = deadline.sooner(self._config.update.update_timeout_ms / 1000)
        for attempt in range(3 if force else 2):
            if attempt == 2:
                self._set_aside()
            try:
                return self._qmd.update(deadline=deadline, holding=self._holding()), attempt == 2
            except QmdError as error:
                if error.reason != "crash" or attempt == (2 if force else 1):
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _holding(self) -> tuple[int, ...]:
        """The lease, for a child to keep: it goes on writing if this process is killed."""
        descriptor = self._lease.descriptor
        return () if descriptor is None else (descriptor,)

    def _set_aside(self) -> None:
        """Rename QMD's index, of which nothing is lost: it can be made again from the files."""
        for ending in ("", "-wal", "-shm"):
            path = self._home.qmd.index_path + ending
            with suppress(FileNotFoundError):
                os.replace(path, f"{path}.damaged")


def _known_now(found: Look, before: Manifest, now_ns: int) -> Manifest:
    """What QMD knows after an update; of what could not be seen, what it knew."""
    known: Manifest = {}
    for name, listing in found.listings.items():
        if listing.failures:
            known[name] = before.get(name, {})
        else:
            known[name] = {path: _stamp(stamp, now_ns) for path, stamp in listing.files.items()}
    return known


def _stamp(stamp: Stamp, now_ns: int) -> Stamp:
    """``stamp``, or one that no file has, where a change might not show in it.

    QMD reads a file later than we look at it, by far more than a tick of common clocks: what is
    written after that has other times. Only on disks that count whole seconds it may not.
    """
    _, mtime_ns, ctime_ns, _ = stamp
    coarse = not (mtime_ns % _SECOND_NS or ctime_ns % _SECOND_NS)
    return settled_stamp(stamp, now_ns) if coarse else stamp
