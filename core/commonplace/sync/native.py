"""Changes reported by the operating system, through the library watchfiles."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Protocol

from commonplace.errors import UnavailableError
from commonplace.files.scan import words_of
from commonplace.sync.folders import Relevance, Trees, folders_of, standing_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from commonplace.model.documents import WatchedPath

__all__ = ["MODIFIED", "Events", "Native", "Pulse", "SystemWatch"]


Events = set[tuple[int, str]]
"""What was told: a kind of change, as watchfiles numbers them, and an absolute path."""

MODIFIED = 2
"""The kind of change of what was there before and still is."""

# Each step wakes a thread for some 50 microseconds: twenty a second cost a thousandth of a core.
_STEP = 50
_GROUPED = 100  # milliseconds for which changes that keep coming are gathered
_WATCHES_TREES = sys.platform in ("darwin", "win32")


class Pulse(Protocol):
    """Asked at every step of waiting whether to go on."""

    def is_set(self) -> bool:
        """Whether to stop waiting."""
        ...


class Native:
    """Watches ``folders`` (absolute), each for its own entries, from the moment it is made.

    With ``trees``, what lies below them may be told as well.

    Raises :class:`~commonplace.errors.UnavailableError` where the operating system does not do it,
    and ``FileNotFoundError`` or ``PermissionError`` where a folder has gone or is forbidden.
    """

    def __init__(self, folders: Collection[str], *, trees: bool = _WATCHES_TREES) -> None:
        try:
            from watchfiles import _rust_notify
        except ImportError as error:
            raise UnavailableError(
                f"the library watchfiles cannot be loaded ({error})",
                hint="pip install 'commonplace[watch]'",
            ) from error
        self._internal = _rust_notify.WatchfilesRustInternalError
        self._trees = Trees(folders) if trees else None
        try:
            # It would ignore with denied folders also those beyond the system's limit, so they are
            # not to be ignored.
            self._told = _rust_notify.RustNotify(
                list(folders) if self._trees is None else self._trees.tops,
                debug=False,
                force_polling=False,
                poll_delay_ms=0,
                recursive=trees,
                ignore_permission_denied=False,
            )
        except (FileNotFoundError, PermissionError):
            raise
        except (OSError, self._internal, UnicodeError) as error:
            raise _trouble(error) from error

    def wait(self, pulse: Pulse) -> Events | None:
        """What has changed since the last call, once something has; ``None`` when ``pulse`` is set.

        After ``None``, changes may have been lost. Raises
        :class:`~commonplace.errors.UnavailableError` where watching has failed.
        """
        while True:
            found = self._watch(_GROUPED, _STEP, 0, pulse)
            if isinstance(found, set):
                return self._named(found)
            if found == "stop":
                return None

    def rest(self) -> Events:
        """What has been told and not been asked for yet."""
        found = self._watch(1, 1, 1, None)
        return self._named(found) if isinstance(found, set) else set()

    def close(self) -> None:
        """Stop watching. May be called again."""
        self._told.close()

    def _named(self, events: Events) -> Events:
        if self._trees is None:
            return events
        return {(kind, name) for kind, path in events for name in self._trees.names_of(path)}

    def _watch(self, grouped: int, step: int, timeout: int, pulse: Pulse | None) -> Events | str:
        try:
            return self._told.watch(grouped, step, timeout, pulse)
        except self._internal as error:
            raise UnavailableError(f"the system's watching failed: {error}") from error


def _trouble(error: Exception) -> UnavailableError:
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


_ATTEMPTS = 10
_CHECK_RESTS = 100  # times as long as looking for folders took, before that is done again
_RESTS = 20  # times as long as it took to watch other folders, before that is done again


class SystemWatch:
    """Tells what changes in ``places``, which stay the same and keep their standing.

    Folders are watched one by one: handing the system whole trees would watch ignored folders and
    what links lead to as well. Whenever folders have come or gone, all are watched anew, at most
    for a twentieth of the time. ``folders`` are those watched now, ``everything`` the places, and
    ``in_doubt`` says that one of them may have come or gone. ``clock`` gives seconds.

    Raises :class:`~commonplace.errors.UnavailableError` where the operating system does not do it.
    """

    def __init__(
        self,
        places: Sequence[WatchedPath],
        *,
        open_native: Callable[[Collection[str]], Native],
        clock: Callable[[], float],
    ) -> None:
        self._places = places
        self._open_native = open_native
        self._clock = clock
        self._relevance = Relevance(places)
        self._standings = self._standing()
        self._stale = False
        self._gone = False
        self._rested = clock()
        self._heard = False
        self._check_at = clock()
        self.everything = frozenset(place.location for place in places)
        self.folders: frozenset[str] = frozenset()
        self._native = self._open()
        # What stood otherwise a moment ago may have been missed in between.
        self.in_doubt = self._gone = self._standing() != self._standings

    def changes(self, pulse: Pulse) -> frozenset[str] | None:
        """The paths that count among those that have changed, once something has; perhaps none.

        ``None`` if ``pulse`` is set. Raises :class:`~commonplace.errors.UnavailableError` where
        watching has failed.
        """
        events = self._native.wait(pulse)
        if events is None:
            return None
        self._heard = True
        found = self._judge(events)
        if self._stale and self._clock() >= self._rested:
            return self.renew() | found
        return frozenset(found)

    def is_due(self) -> bool:
        """Whether folders that came or went in a time of rest wait for :meth:`renew`."""
        return self._stale and self._clock() >= self._rested

    def check(self) -> None:
        """Look, where something has changed, whether folders came of which nobody told.

        The system's queue forgets what is too much for it, and the library does not tell that.
        """
        began = self._clock()
        if self._heard and began >= self._check_at:
            self._heard = False
            try:
                self._stale = self._stale or folders_of(self._places) != self.folders
            except OSError as error:
                raise _unlisted(error) from error
            self._check_at = self._clock() + _CHECK_RESTS * (self._clock() - began)

    def stands(self) -> bool:
        """Look whether the places are still where and what they were."""
        self.in_doubt = False
        return not self._gone and self._standing() == self._standings

    def renew(self) -> frozenset[str]:
        """Watch the folders there are now; the paths that changed meanwhile, new folders too."""
        began = self._clock()
        former, folders = self._native, self.folders
        self._native = self._open()
        try:
            found = self._judge(former.rest())
        finally:
            former.close()
        self._stale = False
        self._rested = self._clock() + _RESTS * (self._clock() - began)
        return frozenset(found.union(filter(self._relevance.is_folder, self.folders - folders)))

    def close(self) -> None:
        """Stop watching. May be called again."""
        self._native.close()

    def _standing(self) -> list[object]:
        return [standing_of(place.location) for place in self._places]

    def _open(self) -> Native:
        """Watch all folders there are, with none having come while they were handed over."""
        try:
            folders = folders_of(self._places)
            for _ in range(_ATTEMPTS):
                native = self._tried(folders)
                known, folders = folders, folders_of(self._places)
                if native is not None and folders <= known:
                    self.folders = folders
                    return native
                if native is not None:
                    native.close()
        except OSError as error:
            raise _unlisted(error) from error
        raise UnavailableError("folders come and go faster than they can be watched")

    def _tried(self, folders: frozenset[str]) -> Native | None:
        try:
            return self._open_native(folders)
        except (FileNotFoundError, PermissionError):
            return None  # it has gone since it was listed, or was closed

    def _judge(self, events: Events) -> set[str]:
        found: set[str] = set()
        for kind, path in events:
            if self._relevance.is_document(path):
                found.add(path)
            if self._relevance.leads(path):
                self.in_doubt = True
                # One made anew may have the inode of the one before, and is not watched yet.
                self._gone = self._gone or (kind != MODIFIED and self._was_or_is_folder(path))
            elif self._relevance.is_folder(path) and self._was_or_is_folder(path):
                self._stale = True
                found.add(path)
        return found

    def _was_or_is_folder(self, path: str) -> bool:
        if path in self.folders:
            return True
        try:
            return stat.S_ISDIR(os.lstat(path).st_mode)
        except (OSError, ValueError):
            return False


def _unlisted(error: OSError) -> UnavailableError:
    return UnavailableError(f"folders cannot be listed: {words_of(error)}")
