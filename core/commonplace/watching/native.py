"""Changes as the operating system tells them, by the library watchfiles."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

from commonplace.errors import UnavailableError
from commonplace.watching.trees import Trees

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["MODIFIED", "Events", "Native", "Pulse"]

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
