"""The source ``memory``: Markdown files below the allowed roots."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.plugin import (
    SUFFIX,
    Document,
    DocumentRef,
    PathNotAllowedError,
    Roots,
    WatchedPath,
    scan,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.plugin import ConfiguredPath, Root, ScanReport


class NotesSource:
    """The notes of ``workspace``, and the Markdown of ``extra_paths`` beside them.

    Extra paths are as :class:`~commonplace.files.roots.Roots` takes them. What is found by them is
    trusted as ``external``, also inside the workspace: only ``MEMORY.md``, ``memory.md`` and
    ``memory/`` are the agent's own.
    """

    id = "memory"
    version = "1"
    capabilities = frozenset({"watched"})

    def __init__(self, workspace: str, extra_paths: Iterable[str | ConfiguredPath] = ()) -> None:
        self.roots = Roots(workspace, extra_paths)

    def scan(self) -> ScanReport:
        """All notes there are; see :mod:`commonplace.files.scan` for what counts as deleted."""
        return scan(self.roots, source=self.id)

    def watched(self) -> tuple[WatchedPath, ...]:
        """Every root; what a link leads to, which is not scanned, is not watched to its bottom."""
        return tuple(
            WatchedPath(
                root.location,
                recursive=root.kind != "file" and not _is_reached_by_link(root),
                suffix=SUFFIX,
            )
            for root in self.roots.all
        )

    def read(self, ref: DocumentRef) -> Document | None:
        """The note, or ``None`` where it is gone, or has become a link or no regular file.

        Raises ``OSError`` if it is there and cannot be read.
        """
        from hashlib import sha256

        from commonplace.plugin import day_of, decode, read_bytes, resolve

        try:
            root, relative = resolve(self.roots, ref.path)
            data, stamp = read_bytes(root, relative)
        except (FileNotFoundError, PathNotAllowedError):
            return None
        return Document(
            ref=DocumentRef(self.id, ref.path, ref.location, stamp),
            text=decode(data),
            digest=sha256(data).hexdigest(),
            day=day_of(ref.path),
            trust="memory" if root.own else "external",
        )


def _is_reached_by_link(root: Root) -> bool:
    location = root.base
    for part in root.parts:
        location = os.path.join(location, part)
        if os.path.islink(location):
            return True
    return False
