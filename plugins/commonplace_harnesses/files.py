"""Reads and replaces a harness's file: its bytes, its mode, and whether it is a link.

What an installation found where there was no file, or an empty one, is kept in the state folder:
an uninstallation that leaves nothing else in the file puts it back, or deletes the file.
"""

from __future__ import annotations

import contextlib
import os
import stat
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import (
    CallerError,
    CommonplaceError,
    UnavailableError,
    UnreadableError,
    parse_json5,
    read_json,
    update_json,
    write_whole,
)
from commonplace_harnesses.edits import EditError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from commonplace_harnesses.edits import Ours
    from commonplace_harnesses.harnesses import Target

_BOM = "\ufeff"
DONE = {"create": "created", "change": "changed", "delete": "deleted", "none": "unchanged"}
_MOST_BYTES = 16 * 1024 * 1024


class FileChange(NamedTuple):
    """What becomes of a file: its text before and after, None where there is no file.

    ``real`` is where it is, behind any link. Texts have a byte order mark if the file has one.
    """

    path: str
    real: str
    before: str | None
    after: str | None
    mode: int

    @property
    def action(self) -> str:
        """``create``, ``change``, ``delete`` or ``none``."""
        if self.before == self.after:
            return "none"
        if self.before is None:
            return "create"
        return "change" if self.after is not None else "delete"


class _Found(NamedTuple):
    """What an installation found: an empty text or no file, and the folders that it made."""

    text: str | None
    folders: list[str]


class HarnessFiles:
    """The files of one installation.

    ``base`` is the folder that they lie below: a link on the way from there is followed only with
    ``follow_links``. ``record`` is the path of the file that holds what was found.
    """

    def __init__(self, base: str, record: str, *, follow_links: bool, new_mode: int) -> None:
        self._base = base
        self._record = record
        self._follow_links = follow_links
        self._new_mode = new_mode

    def installed(self, target: Target) -> FileChange:
        """What adding the edit to its file changes. Raises ``CommonplaceError``."""
        path = self._path(target)
        real, mode, text = self._read(path)
        bom, body = _split(text)
        new = _edited(path, target.edit.add, target.blank if text is None else body)
        after = text if new == body and text is not None else bom + new
        return FileChange(path, real, text, after, mode)

    def uninstalled(self, target: Target) -> FileChange:
        """What removing the edit from its file changes. Raises ``CommonplaceError``."""
        path = self._path(target)
        real, mode, text = self._read(path)
        bom, body = _split(text)
        new = _edited(path, target.edit.remove, body) if text is not None else ""
        after = None if text is None else bom + new
        found = self._kept().get(real)
        if after != text and found is not None:
            before = target.blank if found.text is None else _split(found.text)[1]
            if _content(new) == _content(before):
                after = found.text
        return FileChange(path, real, text, after, mode)

    def ours(self, target: Target) -> list[Ours]:
        """All that is ours in a target's file. Raises ``CommonplaceError``."""
        text = self._read(self._path(target))[2]
        return [] if text is None else target.edit.ours(_split(text)[1])

    def apply(self, changes: Sequence[FileChange]) -> None:
        """Make all of ``changes``, or none: where one fails, those before it are taken back.

        Raises :class:`~commonplace.CommonplaceError`; its notes name the files that have changed
        all the same.
        """
        done: list[FileChange] = []
        try:
            for change in changes:
                self._apply(change)
                done.append(change)
        except CommonplaceError as error:
            for change in reversed(done):
                try:
                    self._apply(change._replace(before=change.after, after=change.before))
                except CommonplaceError as failure:
                    error.add_note(f"{change.path} stays {DONE[change.action]}: {failure}")
            raise

    def _apply(self, change: FileChange) -> None:
        """Write or delete the file, if it is still what it was when the change was planned.

        Raises :class:`~commonplace.UnavailableError`.
        """
        try:
            if self._read(change.path)[2] != change.before:
                raise UnavailableError(
                    f"{change.path} was changed by another program meanwhile",
                    hint="run the command again",
                )
            if change.action == "delete":
                os.unlink(change.real)
            elif change.action != "none" and change.after is not None:
                self._keep(change, self._folders(change.real))
                write_whole(change.real, change.after, mode=change.mode)
            self._forget(change)
        except OSError as error:
            raise UnavailableError(
                f"{change.path} cannot be written: {error.strerror or error}",
                hint="check the rights of the file and its folder",
            ) from error

    def _path(self, target: Target) -> str:
        """The one of a target's paths that counts."""
        there = [path for path in target.paths if os.path.lexists(path)]
        for path in there if len(there) > 1 else ():
            body = _split(self._read(path)[2])[1]
            if _edited(path, target.edit.remove, body) != body:
                return path
        return (*there, target.paths[-1])[0]

    def _read(self, path: str) -> tuple[str, int, str | None]:
        """Where the file is, its mode, and its text; None if there is no file."""
        real = self._real(path)
        try:
            found = os.stat(real)
        except (FileNotFoundError, NotADirectoryError):
            return real, self._new_mode, None
        except OSError as error:
            raise _unreadable(path, error.strerror or str(error)) from None
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
            raise _unreadable(path, "it is not a plain file of a sensible size")
        try:
            with open(real, "rb") as file:
                return real, stat.S_IMODE(found.st_mode), file.read().decode()
        except UnicodeDecodeError:
            raise _unreadable(path, "it is not UTF-8 text") from None
        except OSError as error:
            raise _unreadable(path, error.strerror or str(error)) from None

    def _real(self, path: str) -> str:
        """``path`` behind any link, which must be wanted."""
        real = os.path.realpath(path)
        below = os.path.relpath(path, self._base)
        outside = below.startswith(os.pardir)
        start = os.path.dirname(path) if outside else self._base
        plain = os.path.join(os.path.realpath(start), os.path.relpath(path, start))
        if real != plain and not self._follow_links:
            raise CallerError(
                f"{path} is a link, or in a linked folder: it leads to {real}",
                hint="to have that file changed, add --follow-links",
            )
        return real

    def _folders(self, path: str) -> list[str]:
        """Make the folders of a file that are missing, and name them, the innermost first."""
        folder = os.path.dirname(path)
        missing = []
        while not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for made in reversed(missing):
            os.mkdir(made, 0o700 if self._new_mode == 0o600 else 0o777)
        return missing

    def _kept(self) -> dict[str, _Found]:
        """What was found in the place of files that had nothing in them, by path."""
        return _all_found(read_json(self._record))

    def _keep(self, change: FileChange, folders: list[str]) -> None:
        """Keep what was found in a file with nothing in it, and which folders were made for it."""
        if _is_empty(_split(change.before)[1]):
            new = _Found(change.before, folders)
            update_json(self._record, lambda held: {**_all_found(held), change.real: new})

    def _forget(self, change: FileChange) -> None:
        """Forget what was found once the file is back to it, with the folders if they are empty."""
        found = self._kept().get(change.real)
        if change.action == "none" or found is None or change.after != found.text:
            return
        for folder in found.folders:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        update_json(self._record, partial(_without, path=change.real))


def _all_found(record: Mapping[str, Any]) -> dict[str, _Found]:
    try:
        return {path: _Found(*found) for path, found in record.items()}
    except TypeError:
        return {}


def _without(record: Mapping[str, Any], path: str) -> dict[str, _Found]:
    return {other: found for other, found in _all_found(record).items() if other != path}


def _split(text: str | None) -> tuple[str, str]:
    text = text or ""
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _content(text: str) -> str:
    """``text`` without its layout; an empty object counts as nothing."""
    return "".join(text.split()).removesuffix("{}")


def _is_empty(text: str) -> bool:
    """Whether there are at most comments and an empty object in a file."""
    try:
        return bool(parse_json5(text) == {})
    except UnreadableError:
        return not text.strip()


def _edited(path: str, edit: Callable[[str], str], text: str) -> str:
    try:
        return edit(text)
    except EditError as error:
        raise CallerError(f"{path}: {error}", hint=error.hint) from None


def _unreadable(path: str, reason: str) -> CallerError:
    return CallerError(f"{path} is left alone: {reason}", hint="look at it with an editor")


def unified(change: FileChange, *, context: int = 1) -> str:
    """The change as a unified diff, or ``""``. A byte order mark is not shown."""
    from difflib import unified_diff

    def lines(text: str | None) -> Sequence[str]:
        whole = _split(text)[1].split("\n")
        return [*(f"{line}\n" for line in whole[:-1]), *filter(None, whole[-1:])]

    before = change.path if change.before is not None else os.devnull
    after = change.path if change.after is not None else os.devnull
    found = unified_diff(lines(change.before), lines(change.after), before, after, n=context)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found
    ).replace("\r\n", "\n")
