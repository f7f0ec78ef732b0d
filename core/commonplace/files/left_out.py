"""What a workspace leaves out, counted and said; and whether a folder holds notes at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.files.roots import (
    SUFFIXES,
    TEXT_SUFFIX,
    find_roots,
    is_ignored,
    is_too_wide,
)
from commonplace.model.reports import LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace.files.roots import Roots
    from commonplace.model.documents import NoteRules
    from commonplace.protocols.parts import ConfiguredPath


_MOST_ENTRIES = 20_000
"""So many files and folders are looked at, in some 50 ms, when what is left out is counted."""

_MOST_FOR_ONE = 2_000
"""So many are looked at to find out whether a folder holds any note."""


def left_out(workspace: str, extra: Iterable[str | ConfiguredPath], rules: NoteRules) -> LeftOut:
    """Count what is not searched; no file is opened, and links are not followed."""
    roots = find_roots(workspace, tuple(extra), rules)
    wide = is_too_wide(roots.workspace)
    found = LeftOut(
        looked_for=_looked_for(roots),
        workspace=roots.workspace,
        whole=roots.whole,
        too_wide=wide and not roots.whole,
    )
    searched = notes = texts = ignored = capitals = 0
    folders: set[str] = set()
    entries = _Entries(roots.workspace, _MOST_ENTRIES, folders)
    for path in entries:
        if path.endswith(SUFFIXES):
            if any(root.below(path) is not None for root in roots.all):
                searched += 1
            elif any(root._replace(wanted=None).below(path) is not None for root in roots.own):
                ignored += 1
            else:
                notes += 1
        elif path.endswith(TEXT_SUFFIX):
            if not rules.text:
                texts += 1
            elif any(root.below(path) is not None for root in roots.all):
                searched += 1
        elif path.lower().endswith(SUFFIXES):
            capitals += 1
    return found.replace(
        searched=searched,
        notes=notes,
        texts=texts,
        ignored=ignored,
        capitals=capitals,
        folders=tuple(sorted(folders)),
        at_least=entries.left < 0,
    )


def holds_notes(folder: str) -> bool:
    """Whether a note is among the first files in ``folder``, by what they are called."""
    return any(path.endswith(SUFFIXES) for path in _Entries(folder, _MOST_FOR_ONE, set()))


def _looked_for(roots: Roots) -> str:
    words = "all .md and .markdown files" if roots.whole else "MEMORY.md and memory/**/*.md"
    extra = [
        root.stored or roots.workspace for root in roots.extra if root.stored or not roots.whole
    ]
    if len(extra) > 1:
        return f"{words} and in {len(extra)} extra paths"
    return f"{words} and in {extra[0]}" if extra else words


class _Entries:
    """The files below ``folder``, level by level; ``left`` is below 0 if there are too many.

    ``passed`` takes the names of folders that are not entered.
    """

    def __init__(self, folder: str, most: int, passed: set[str]) -> None:
        self.left = most
        self._folder = folder
        self._passed = passed

    def __iter__(self) -> Iterator[str]:
        waiting = [self._folder]
        while waiting:
            inner: list[str] = []
            for folder in waiting:
                try:
                    with os.scandir(folder) as entries:
                        for entry in entries:
                            self.left -= 1
                            if self.left < 0:
                                return
                            if entry.is_dir(follow_symlinks=False):
                                if is_ignored(entry.name):
                                    self._passed.add(entry.name)
                                else:
                                    inner.append(entry.path)
                            elif entry.is_file(follow_symlinks=False):
                                yield entry.path
                except OSError:
                    continue  # named by the scan
            waiting = inner
