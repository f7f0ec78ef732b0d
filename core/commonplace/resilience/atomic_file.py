"""Writing a small file whole or not at all, even if a process is killed or another writes it."""

from __future__ import annotations

import contextlib
import os
import sys
import time

from commonplace.dirs import make_private_folder

_LONG_SECONDS = 3600


def write_whole(path: str, text: str) -> None:
    """Let the file at ``path`` have ``text``, for this user alone; its folder is made if need be.

    What cannot be written as UTF-8 becomes ``?``. Drafts that processes left beside it when they
    were killed go with the next that is written. Raises ``OSError``; the file is then as it was.
    """
    folder, name = os.path.split(path)
    make_private_folder(folder)
    draft = f"{path}.{os.getpid()}"
    handle = os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        os.replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
    for other in os.listdir(folder):
        process = other.removeprefix(f"{name}.")
        if process != other and process.isdecimal():
            with contextlib.suppress(OSError):
                _forget(os.path.join(folder, other), int(process))


def _forget(draft: str, process: int) -> None:
    if sys.platform == "win32":  # there, to ask for a process so would end it
        if time.time() - os.stat(draft).st_mtime > _LONG_SECONDS:
            os.unlink(draft)
        return
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        os.unlink(draft)
