"""Files that are written beside the result: checked before the work, and no file of others lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.plugin import CallerError, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable


def check_output(path: str, what: str, is_ours: Callable[[bytes], bool]) -> None:
    """See that ``what``, such as ``"the report"``, can be written to ``path``.

    Raises :class:`~commonplace.errors.CallerError` without its folder, and for a file that is there
    and not empty, unless ``is_ours`` knows its first line.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise CallerError(f"{path}: there is no folder {folder}", hint="make it, or name another")
    if os.path.isdir(path):
        raise CallerError(f"{path}: is a folder", hint=f"name the file of {what}")
    if os.path.isfile(path):
        with open(path, "rb") as file:
            first = file.readline()
        if first and not is_ours(first):
            raise CallerError(
                f"{path}: is there already, and no earlier file of {what}",
                hint="name a new file, or delete this one",
            )


def write_output(path: str, text: str) -> None:
    """Write ``text`` to ``path``: to a file whole or not at all. Raises ``OSError``."""
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        write_whole(os.path.realpath(path), text)
