"""Where notes are: the roots of a workspace, and which paths may be read."""

from __future__ import annotations

import os
import re
import stat
import sys
from typing import TYPE_CHECKING, Literal

from commonplace.errors import WorkspaceError
from commonplace.model.documents import NOTE_RULES
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date

    from commonplace.model.documents import NoteRules, Stamp
    from commonplace.protocols.parts import ConfiguredPath


SUFFIXES = (".md", ".markdown")
"""How the names of notes end, exactly; below ``memory/`` only as the first."""

TEXT_SUFFIX = ".txt"
"""How they may end, too, where the configuration says so."""
ENDINGS = (*SUFFIXES, TEXT_SUFFIX)
"""All that the name of a note may end in; the roots refuse those that no note has."""

IGNORED_FOLDERS = frozenset(
    {
        "$RECYCLE.BIN",
        "System Volume Information",
        "__MACOSX",
        "__pycache__",
        "bower_components",
        "lost+found",
        "node_modules",
        "site-packages",
        "venv",
    }
)
"""Folders of tools and systems; one whose name begins with a dot is ignored whatever it is."""

OWN = ("MEMORY.md", "memory.md", "memory")
"""Where any of these is, they are the notes of the workspace; else every note in it is."""


class ExtraRoot(NamedTuple):
    """A configured extra path: a file, or a folder of which only ``pattern`` is wanted.

    ``path`` is absolute or relative to the workspace, may leave it by ``..``, and may begin with
    ``~``. ``pattern`` is a glob relative to ``path`` (see :func:`commonplace.files.globs.matcher`).
    """

    path: str
    pattern: str | None = None


class Root(NamedTuple):
    """One place where notes may be.

    ``location`` is its absolute path and ``stored`` the same as documents are named, relative to
    the workspace. ``base`` is where opening begins: links are followed up to there, and refused in
    ``parts`` and in everything below. ``own`` tells the workspace's own roots, of which an extra
    path that is the workspace itself is one, from other extra paths.
    Its files end in (one of) ``suffix`` and are those whose path below it is ``wanted``. ``enters``
    decides by the path below it which folders are scanned, in place of :func:`is_ignored`.
    """

    location: str
    stored: str
    base: str
    parts: tuple[str, ...]
    own: bool
    kind: Literal["file", "folder", "any"]
    wanted: Callable[[str], bool] | None = None
    suffix: str | tuple[str, ...] = SUFFIXES
    enters: Callable[[str], bool] | None = None

    def below(self, location: str) -> str | None:
        """The part of ``location`` (absolute, normalised) below this root, with forward slashes.

        ``""`` is the root itself. ``None`` is what this root does not admit: what is elsewhere,
        what lies in an ignored folder, what ends otherwise, and what the pattern does not want.
        """
        if not location.endswith(self.suffix):
            return None
        ours, theirs = os.path.normcase(self.location), os.path.normcase(location)
        if ours == theirs:
            return None if self.kind == "folder" else ""
        inside = ours.rstrip(os.sep) + os.sep
        if self.kind == "file" or not theirs.startswith(inside):
            return None
        relative = location[len(inside) :].replace(os.sep, "/")
        if any(is_ignored(folder) for folder in relative.split("/")[:-1]):
            return None
        return relative if self.wanted is None or self.wanted(relative) else None


class Roots:
    """The roots of one workspace, in the order in which a document found twice is kept.

    ``MEMORY.md``, ``memory.md``, ``memory/``, then ``extra``: strings, or paths with a pattern, as
    configured, but the workspace itself first. Blank ones are left out, ``~`` is expanded. Roots
    that do not exist yet are fine. ``unusable`` are configured paths that no file can have. Without
    ``own`` there are only ``extra`` ones. With ``whole`` the workspace itself is the one root of
    its own.
    """

    def __init__(
        self,
        workspace: str,
        extra: Iterable[str | ConfiguredPath] = (),
        *,
        own: bool = True,
        whole: bool = False,
        rules: NoteRules = NOTE_RULES,
    ) -> None:
        self.workspace = os.path.abspath(os.path.expanduser(workspace))
        self.whole = whole
        texts = (TEXT_SUFFIX,) if rules.text else ()
        self._suffixes = (*SUFFIXES, *texts)
        self._own_suffixes = (SUFFIXES[0], *texts) if texts else SUFFIXES[0]
        self._gitignore = rules.gitignore
        self.own: tuple[Root, ...] = ()
        if whole:
            root = Root(self.workspace, "", self.workspace, (), own=True, kind="folder")
            self.own = (self._tracked(root._replace(suffix=self._suffixes)),)
        elif own:
            self.own = (
                self._own("MEMORY.md", "file"),
                self._own("memory.md", "file"),
                self._own("memory", "folder"),
            )
        wanted = dict.fromkeys(
            ExtraRoot(item) if isinstance(item, str) else ExtraRoot(item.path, item.pattern)
            for item in extra
        )
        self.unusable = tuple(item.path for item in wanted if "\0" in item.path)
        usable = (item for item in wanted if item.path.strip() and "\0" not in item.path)
        made = [self._make_extra(item, own=own) for item in usable]
        self.extra = tuple(sorted(made, key=lambda root: not root.own))

    @property
    def all(self) -> tuple[Root, ...]:
        """Every root, own ones first."""
        return self.own + self.extra

    def stored(self, location: str) -> str:
        """The name documents carry: ``location`` relative to the workspace, forward slashes.

        ``""`` is the workspace itself. On another drive, where nothing is relative, it stays
        absolute.
        """
        try:
            relative = os.path.relpath(location, self.workspace)
        except ValueError:
            relative = location
        return "" if relative == os.curdir else relative.replace(os.sep, "/")

    def stored_below(self, root: Root, relative: str) -> str:
        """The stored path of what lies at ``relative`` (forward slashes) below ``root``."""
        return self.stored(os.path.join(root.location, relative) if relative else root.location)

    def _own(self, name: str, kind: Literal["file", "folder"]) -> Root:
        location = os.path.join(self.workspace, name)
        suffix = self._own_suffixes
        return Root(location, name, self.workspace, (name,), own=True, kind=kind, suffix=suffix)

    def _tracked(self, root: Root) -> Root:
        """``root`` without what git ignores, if the rules say so."""
        if not self._gitignore:
            return root
        from commonplace.files.globs import GitIgnored

        ignored, wanted = GitIgnored(root.location), root.wanted
        return root._replace(
            wanted=lambda path: (wanted is None or wanted(path)) and not ignored(path),
            enters=lambda path: not is_ignored(path.rpartition("/")[2]) and not ignored(f"{path}/"),
        )

    def _make_extra(self, extra: ExtraRoot, *, own: bool) -> Root:
        from commonplace.files.globs import matcher  # few workspaces have extra paths

        location = os.path.normpath(
            os.path.join(self.workspace, os.path.expanduser(extra.path.strip()))
        )
        stored = self.stored(location)
        parts: tuple[str, ...] = ()
        if not stored:
            base = self.workspace
        elif stored.split("/")[0] == os.pardir or os.path.isabs(stored):
            # Outside, links above the root are the user's own (/tmp on macOS is one).
            base, name = os.path.split(location)
            parts = (name,) if name else ()
        else:
            # Inside, no link may lead out: a workspace can come from a stranger.
            base, parts = self.workspace, tuple(stored.split("/"))
        wanted = matcher(extra.pattern) if extra.pattern else None
        # "." says that all of this folder is memory, as it is in one without MEMORY.md. A folder
        # inside, such as a checkout, can be of others.
        own = own and not stored
        root = Root(location, stored, base, parts, own=own, kind="any", wanted=wanted)
        return self._tracked(root._replace(suffix=self._suffixes))


def find_roots(
    workspace: str, extra: Iterable[str | ConfiguredPath] = (), rules: NoteRules = NOTE_RULES
) -> Roots:
    """The roots of ``workspace`` as it is now: taken as it is where none of :data:`OWN` is there.

    The home folder, and what is around it, is never taken as a whole.
    """
    roots = Roots(workspace, extra, rules=rules)
    if has_memory(roots.workspace) or is_too_wide(roots.workspace):
        return roots
    return Roots(workspace, extra, rules=rules, whole=True)


def has_memory(workspace: str) -> bool:
    """Whether the folder holds one of :data:`OWN`, be it a link."""
    return any(os.path.lexists(os.path.join(workspace, name)) for name in OWN)


def is_too_wide(folder: str, home: str = "~") -> bool:
    """Whether ``folder`` (absolute) is the home folder, or a folder around it."""
    folder = os.path.join(os.path.realpath(folder), "")
    home = os.path.join(os.path.realpath(os.path.expanduser(home)), "")
    return home.startswith(folder) or len(os.path.splitdrive(folder)[1]) == 1


def is_ignored(folder: str) -> bool:
    """Whether a folder of this name is passed over below a root: hidden ones and those of tools."""
    return folder.startswith(".") or folder in IGNORED_FOLDERS


if sys.platform == "win32":

    def stamp_of(found: os.stat_result) -> Stamp:
        """The stamp of a file; the same from an open file and from its directory entry."""
        # A directory entry of Windows does not know the number of its file.
        return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} 0"

else:

    def stamp_of(found: os.stat_result) -> Stamp:
        """The stamp of a file; the same from an open file and from its directory entry."""
        # A scan makes one for every note: one string, no FileStamp.
        return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"


class FileStamp(NamedTuple):
    """What ``stat`` says of a file: size in bytes, times in nanoseconds since 1970, inode."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def text(self) -> Stamp:
        """The stamp of a document that is such a file."""
        return f"{self.size} {self.mtime_ns} {self.ctime_ns} {self.inode}"


def file_stamp(stamp: Stamp) -> FileStamp | None:
    """The inverse of :attr:`FileStamp.text`; ``None`` for the stamp of what is not a file."""
    numbers = stamp.split(" ")
    if len(numbers) != 4:
        return None
    try:
        return FileStamp(*map(int, numbers))
    except ValueError:
        return None


def is_link(found: os.stat_result) -> bool:
    """Whether this is a link, symbolic or (on Windows, where folders can be that) a junction."""
    if sys.platform == "win32" and found.st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT:
        return True
    return stat.S_ISLNK(found.st_mode)


def how_to_restore(workspace: str) -> str:
    """What to do about a workspace that is not there; a new folder would hide a disk's."""
    from shlex import quote

    memory = quote(os.path.join(workspace, "memory"))
    return f"if it is on another disk, mount it; else create it (mkdir -p {memory})"


_ANOTHER = "pass another one (--workspace, or workspace= in Python)"


def check_workspace(workspace: str) -> None:
    """Raise :class:`~commonplace.errors.WorkspaceError` where it is no folder that can be read."""
    try:
        os.scandir(workspace).close()
    except NotADirectoryError as error:
        raise WorkspaceError(
            f"the workspace {workspace} is not a folder",
            hint="pass the folder that holds the notes (--workspace, or workspace= in Python)",
        ) from error
    except FileNotFoundError as error:
        raise WorkspaceError(
            f"the workspace {workspace} does not exist",
            hint=f"{how_to_restore(workspace)}; or {_ANOTHER}",
        ) from error
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise WorkspaceError(
            f"the workspace {workspace} cannot be read: {reason}",
            hint=f"see that this user may read it, or {_ANOTHER}",
        ) from error


# A date in the name of a file, apart from letters and digits; or folders of year and month.
_DATED = (
    r"(?s:(?:.*/)?(?:[^/]*?[^/A-Za-z0-9])??([0-9]{4})([-_.])([0-9]{2})\2([0-9]{2})"
    r"(?:(?:[^/A-Za-z0-9]|T[0-9])[^/]*)?\.(?:md|markdown|txt))"
)
_DATED_FOLDERS = (
    r"(?s:(?:.*/)?([0-9]{4})(/)([0-9]{2})/([0-9]{2})(?:[^/A-Za-z0-9][^/]*)?\.(?:md|markdown|txt))"
)


def day_of(path: str) -> date | None:
    """The day that the name of a note tells: ``daily/2026-01-31.md``, ``2026_01_31 walk.md``.

    ``path`` is a stored path; ``2026/01/31.md`` is of a day, too. ``None`` for every other note,
    and for a day no calendar has.
    """
    found = re.fullmatch(_DATED, path) or re.fullmatch(_DATED_FOLDERS, path)
    if found is None:
        return None
    from datetime import date

    try:
        return date(int(found[1]), int(found[3]), int(found[4]))
    except ValueError:
        return None
