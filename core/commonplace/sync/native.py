"""Changes reported by the operating system, through the library watchfiles."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING

from commonplace.errors import UnavailableError, how_to_install
from commonplace.files.scan import words_of
from commonplace.sync.folders import FolderTrees, Relevance, folders_of, state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Sequence
    from threading import Event

    from commonplace.model.documents import WatchedPath

    Events = set[tuple[int, str]]
    """Kinds of change, as watchfiles numbers them, with absolute paths."""
    OpenEvents = Callable[[Collection[str], Event], Generator[Events, None, None]]


MODIFIED = 2
"""The kind of change of what was there before and still is."""

# Each step wakes a thread for some 50 microseconds: twenty a second cost a thousandth of a core.
_STEP_MS = 50
_GROUP_MS = 100  # changes that keep coming are gathered for so long
_WAKE_MS = 250  # the longest time without an item, be it empty
_WATCHES_TREES = sys.platform in ("darwin", "win32")

_ATTEMPTS = 10
_RESTS = 20  # so many times as long as a restart took, before the next one
# Seconds between checks for what is not reported: a folder far above was moved or mounted, or so
# much happened at once that the queue of the system was too short.
_CHECK_SECONDS = 5.0
_CHECK_RESTS = 100  # times as long as listing the folders took, before that is done again


def native_events(
    folders: Collection[str], stop: Event, *, trees: bool = _WATCHES_TREES
) -> Generator[Events, None, None]:
    """What changes in ``folders`` (absolute), each for its own entries, until ``stop`` is set.

    Watching begins with the first item. There is an item at least every 250 ms, which is empty if
    nothing changed. With ``trees``, changes further below are reported as well.

    Raises :class:`~commonplace.errors.UnavailableError` if the operating system does not do it or
    fails, and ``FileNotFoundError`` or ``PermissionError`` for a folder that is gone or forbidden.
    """
    try:
        from watchfiles import watch
    except ImportError as error:
        raise UnavailableError(
            f"the library watchfiles cannot be loaded ({error})",
            hint=how_to_install("commonplace[watch]"),
        ) from error
    tops = FolderTrees(folders) if trees else None
    try:
        # With denied folders it would also ignore those beyond the system's limit, so none are.
        with closing(
            watch(
                *(folders if tops is None else tops.tops),
                watch_filter=None,
                debounce=_GROUP_MS,
                step=_STEP_MS,
                stop_event=stop,
                rust_timeout=_WAKE_MS,
                yield_on_timeout=True,
                debug=False,
                force_polling=False,
                recursive=trees,
                ignore_permission_denied=False,
            )
        ) as changes:
            for batch in changes:
                names = [(int(kind), path) for kind, path in batch]
                if tops is not None:
                    names = [(kind, name) for kind, path in names for name in tops.names_of(path)]
                yield set(names)
    except (FileNotFoundError, PermissionError):
        raise
    except (OSError, RuntimeError, UnicodeError) as error:
        raise _unavailable(error) from error


class NativeWatch:
    """Reports the changes below ``paths``, which do not vary, until ``stop`` is set.

    Folders are watched one by one: handing whole trees to the system would watch ignored folders
    and the targets of links, too. When folders come or go, watching is restarted, at most for a
    twentieth of the time. ``folders`` are those watched now. ``clock`` gives seconds.
    """

    def __init__(
        self,
        paths: Sequence[WatchedPath],
        stop: Event,
        *,
        clock: Callable[[], float],
        events: OpenEvents = native_events,
    ) -> None:
        self._paths = paths
        self._stop = stop
        self._clock = clock
        self._events = events
        self._relevance = Relevance(paths)
        self._everything = frozenset(path.location for path in paths)
        self.folders: frozenset[str] = frozenset()

    def changes(self) -> Generator[frozenset[str], None, None]:
        """The paths that changed, or none: there is an item at least every 250 ms.

        After each restart something may have changed unnoticed: the first item names all watched
        paths, or the folders for which watching was restarted.

        Raises :class:`~commonplace.errors.UnavailableError` if watching fails.
        """
        missed = self._everything
        while not self._stop.is_set():
            began, former = self._clock(), self.folders
            with closing(self._open()) as events:
                took = max(0.0, self._clock() - began - _WAKE_MS / 1000)
                new = self.folders - former if former else frozenset[str]()
                yield missed.union(filter(self._relevance.is_folder, new))
                rest_until = self._clock() + _RESTS * took
                missed = yield from self._follow(events, rest_until)

    def _follow(
        self, events: Iterable[Events], rest_until: float
    ) -> Generator[frozenset[str], None, frozenset[str]]:
        """Report until watching must be restarted; the paths that are to be reported then."""
        stale: set[str] = set()
        heard = False
        listed_at = check_at = self._clock()
        for group in events:
            reported, folders, in_doubt = self._judge(group)
            stale |= folders
            heard = heard or bool(group)
            yield frozenset(reported)
            now = self._clock()
            if stale and now >= rest_until:
                return frozenset(stale)
            if in_doubt or now >= check_at:
                check_at = now + _CHECK_SECONDS
                if self._states() != self._opened:
                    return self._everything
                if heard and now >= listed_at:
                    heard = False
                    if self._folders() != self.folders:
                        stale |= self._everything
                    listed_at = now + _CHECK_RESTS * (self._clock() - now)
        return frozenset()

    def _open(self) -> Generator[Events, None, None]:
        """Begin to watch all folders there are; none came while they were handed over."""
        for _ in range(_ATTEMPTS):
            self._opened = self._states()
            folders = self._folders()
            events = self._events(folders, self._stop)
            try:
                first = next(events, set[tuple[int, str]]())
            except (FileNotFoundError, PermissionError):
                continue  # it is gone since it was listed, or was closed
            if self._folders() <= folders and self._states() == self._opened:
                self.folders = folders
                return _resumed(first, events)
            events.close()
        raise UnavailableError("folders come and go faster than they can be watched")

    def _judge(self, events: Events) -> tuple[set[str], set[str], bool]:
        """The paths that count, the folders that came or went, and a doubt.

        The doubt is whether a watched path was replaced, so that other folders are to be watched.
        """
        reported, folders, in_doubt = set[str](), set[str](), False
        for kind, path in events:
            if self._relevance.is_document(path):
                reported.add(path)
            if self._relevance.leads(path):
                in_doubt = True
                # A new folder may have the inode of the former one, and is not watched yet.
                if kind != MODIFIED and self._was_or_is_folder(path):
                    folders.update(self._everything)
            elif self._relevance.is_folder(path) and self._was_or_is_folder(path):
                reported.add(path)
                folders.add(path)
                if self._relevance.is_document(path):
                    # Called like a document, it would be taken for one that came or went.
                    reported.add(os.path.dirname(path))
        return reported, folders, in_doubt

    def _was_or_is_folder(self, path: str) -> bool:
        if path in self.folders:
            return True
        try:
            return stat.S_ISDIR(os.lstat(path).st_mode)
        except (OSError, ValueError):
            return False

    def _states(self) -> list[object]:
        return [state_of(path.location) for path in self._paths]

    def _folders(self) -> frozenset[str]:
        try:
            return folders_of(self._paths)
        except OSError as error:
            raise UnavailableError(f"folders cannot be listed: {words_of(error)}") from error


def _resumed(first: Events, events: Generator[Events, None, None]) -> Generator[Events, None, None]:
    with closing(events):
        yield from chain([first], events)


def _unavailable(error: Exception) -> UnavailableError:
    words = str(error)
    if "watch limit" in words:
        return UnavailableError(
            "the system watches no more folders for this user",
            hint="raise fs.inotify.max_user_watches",
        )
    if "os error 24" in words:
        return UnavailableError(
            "the system gives this user no more watchers or open files",
            hint="raise fs.inotify.max_user_instances, or the limit of open files",
        )
    return UnavailableError(f"the system does not watch: {words}")
