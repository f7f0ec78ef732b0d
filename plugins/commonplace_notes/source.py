"""The source ``memory``: Markdown files below the allowed roots."""

from __future__ import annotations

import os
from itertools import accumulate
from typing import TYPE_CHECKING

from commonplace import plugin  # names are imported on first use: a search reads no note
from commonplace.plugin import (
    NOTE_RULES,
    Document,
    DocumentRef,
    PathNotAllowedError,
    WatchedPath,
    find_roots,
    scan,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from commonplace.plugin import ConfiguredPath, NoteRules, Root, Roots, ScanReport


class NotesSource:
    """The notes of ``workspace``, and the Markdown of ``extra_paths`` beside them.

    Extra paths are as :class:`~commonplace.files.roots.Roots` takes them. What is found by them is
    trusted as ``external``, also inside the workspace: only ``MEMORY.md``, ``memory.md`` and
    ``memory/`` are the agent's own. In a workspace that has none of these every note is, and so
    it is where the workspace itself (``.``) is an extra path. Which it is, is found out again by
    every scan.
    """

    id = "memory"
    version = "2"
    capabilities = frozenset({"watched", "partial"})

    def __init__(
        self,
        workspace: str,
        extra_paths: Iterable[str | ConfiguredPath] = (),
        rules: NoteRules = NOTE_RULES,
    ) -> None:
        self._workspace = workspace
        self._extra = tuple(extra_paths)
        self._rules = rules
        self._roots: Roots | None = None
        self._wholes: set[bool] = set()  # whether the workspace was taken as it is, in any scan

    def scan(self) -> ScanReport:
        """All notes there are; see :mod:`commonplace.files.scan` for what counts as deleted."""
        self._roots = self._find()
        self._wholes.add(self._roots.whole)
        report = scan(self._roots, source=self.id)
        if report.documents or report.failed_roots or any(not r.root for r in report.absent_roots):
            return report  # what is missing in an empty workspace need not be said
        found = plugin.left_out(self._workspace, self._extra, self._rules)
        return report._replace(empty=found.nothing_found())

    def scan_paths(self, paths: Collection[str]) -> ScanReport | None:
        """What is at ``paths`` now; see :mod:`commonplace.files.changed`.

        ``None`` also where git's rules apply, any of which may have changed, and once the workspace
        has begun or ceased to be taken as it is.
        """
        roots = self._find()
        if self._rules.gitignore or self._wholes != {roots.whole}:
            return None
        return plugin.scan_paths(
            roots.all,
            paths,
            source=self.id,
            stored=roots.stored_below,
            workspace=roots.workspace,
        )

    def watched(self) -> tuple[WatchedPath, ...]:
        """Every root; what a link leads to, which is not scanned, is not watched to its bottom."""
        return tuple(
            WatchedPath(
                root.location,
                recursive=root.kind != "file" and not _is_reached_by_link(root),
                suffix=root.suffix,
            )
            for root in self._find().all
        )

    def read(self, ref: DocumentRef) -> Document | None:
        """The note, or ``None`` where it is gone, or has become a link or no regular file.

        Raises ``OSError`` if it is there and cannot be read, or holds no text.
        """
        from hashlib import sha256

        try:
            root, relative = plugin.resolve(self._roots or self._find(), ref.path)
            data, stamp = plugin.read_bytes(root, relative)
        except (FileNotFoundError, PathNotAllowedError):
            return None
        text = plugin.decode(data)
        facts = plugin.note_facts(text)
        return Document(
            ref=DocumentRef(self.id, ref.path, ref.location, stamp),
            text=text,
            digest=sha256(data).hexdigest(),
            day=plugin.day_of(ref.path) or facts.day,
            trust="memory" if root.own else "external",
            title=facts.title,
            names=facts.names,
            tags=facts.tags,
        )

    def _find(self) -> Roots:
        return find_roots(self._workspace, self._extra, self._rules)


def _is_reached_by_link(root: Root) -> bool:
    _, *below = accumulate(root.parts, os.path.join, initial=root.base)
    return any(map(os.path.islink, below))
