"""What git ignores, by the ``.gitignore`` files in a folder of notes and around it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class GitIgnored:
    """Whether git ignores a path below ``top``, by the ``.gitignore`` files there and around it.

    Those around it count up to the folder that holds ``.git``. Files that git ignores for one user
    or one clone are not known here.
    """

    def __init__(self, top: str) -> None:
        from pathspec import GitIgnoreSpec

        self._load = GitIgnoreSpec.from_lines
        self._base = top
        around = top
        while around != os.path.dirname(around):
            if os.path.lexists(os.path.join(around, ".git")):
                self._base = around
                break
            around = os.path.dirname(around)
        below = os.path.relpath(top, self._base)
        self._prefix = "" if below == os.curdir else below.replace(os.sep, "/") + "/"
        self._specs: dict[str, GitIgnoreSpec | None] = {}
        self._folders: dict[str, bool] = {"": False}

    def __call__(self, path: str) -> bool:
        """``path`` is below the top, with forward slashes; a folder's ends in one."""
        full = self._prefix + path
        if full.endswith("/"):
            return self._ignores_folder(full)
        folder = full[: full.rfind("/") + 1]
        return self._ignores_folder(folder) or self._judged(folder, full)

    def _ignores_folder(self, folder: str) -> bool:
        known = self._folders.get(folder)
        if known is None:
            around = folder[: folder.rstrip("/").rfind("/") + 1]
            known = self._ignores_folder(around) or self._judged(around, folder)
            self._folders[folder] = known
        return known

    def _judged(self, folder: str, full: str) -> bool:
        """What the innermost file says that says anything; ``folder`` is around ``full``."""
        while True:
            spec = self._spec(folder)
            said = None if spec is None else spec.check_file(full[len(folder) :]).include
            if said is not None:
                return said
            if not folder:
                return False
            folder = folder[: folder.rstrip("/").rfind("/") + 1]

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            try:
                path = os.path.join(self._base, folder, ".gitignore")
                with open(path, encoding="utf-8", errors="replace") as file:
                    self._specs[folder] = self._load(file)
            except OSError:
                self._specs[folder] = None
        return self._specs[folder]
