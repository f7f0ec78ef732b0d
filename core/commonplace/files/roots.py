"""The allowed roots: which files of a workspace, and beside it, memory may know of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from commonplace.files.globs import matcher
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commonplace.protocols.sources import ConfiguredPath

__all__ = ["IGNORED_FOLDERS", "SUFFIX", "ExtraRoot", "Root", "Roots", "is_ignored"]

SUFFIX = ".md"
"""How the name of every note ends, exactly."""

IGNORED_FOLDERS = frozenset(
    {".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__"}
)
"""Folders of tools; those whose name begins with a dot are ignored whatever it is."""


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
    ``parts`` and in everything below. ``own`` tells the workspace's own roots from extra paths.
    """

    location: str
    stored: str
    base: str
    parts: tuple[str, ...]
    own: bool
    kind: Literal["file", "folder", "any"]
    wanted: Callable[[str], bool] | None = None

    def below(self, location: str) -> str | None:
        """The part of ``location`` (absolute, normalised) below this root, with forward slashes.

        ``""`` is the root itself. ``None`` is what this root does not admit: what is elsewhere,
        what lies in an ignored folder, and what the pattern does not want. Nothing is looked up.
        """
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

    ``MEMORY.md``, ``memory.md``, ``memory/``, then ``extra`` as configured: strings, or paths with
    a pattern. Blank ones are left out, ``~`` is expanded. Nothing is looked up, so roots that do
    not exist yet are fine. ``unusable`` are configured paths that no file can have. Without ``own``
    there are only ``extra`` ones.
    """

    def __init__(
        self, workspace: str, extra: Iterable[str | ConfiguredPath] = (), *, own: bool = True
    ) -> None:
        self.workspace = os.path.abspath(os.path.expanduser(workspace))
        self.own: tuple[Root, ...] = (
            (
                self._own("MEMORY.md", "file"),
                self._own("memory.md", "file"),
                self._own("memory", "folder"),
            )
            if own
            else ()
        )
        wanted = dict.fromkeys(
            ExtraRoot(item) if isinstance(item, str) else ExtraRoot(item.path, item.pattern)
            for item in extra
        )
        self.unusable = tuple(item.path for item in wanted if "\0" in item.path)
        self.extra = tuple(
            self._make_extra(item) for item in wanted if item.path.strip() and "\0" not in item.path
        )

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
        return Root(location, name, self.workspace, (name,), own=True, kind=kind)

    def _make_extra(self, extra: ExtraRoot) -> Root:
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
        return Root(location, stored, base, parts, own=False, kind="any", wanted=wanted)


def is_ignored(folder: str) -> bool:
    """Whether a folder of this name is passed over below a root: hidden ones and those of tools."""
    return folder.startswith(".") or folder in IGNORED_FOLDERS
