"""Opens a note in the editor that the environment names, at a line."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from typing import TYPE_CHECKING

from commonplace import CallerError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GOTO = frozenset({"code", "codium", "cursor", "windsurf", "code-insiders", "zeditor"})
_COLON = frozenset({"subl", "zed", "hx", "helix", "mate"})
_PLUS = frozenset(
    {"vi", "vim", "nvim", "gvim", "nano", "emacs", "emacsclient", "micro", "kak", "gedit", "kate"}
)


def command_for(env: Mapping[str, str], location: str, line: int) -> Sequence[str]:
    """The command line that opens the file ``location`` at ``line`` (1-based).

    Raises :class:`~commonplace.CallerError` where neither ``VISUAL`` nor ``EDITOR`` is set.
    """
    try:
        words = shlex.split(env.get("VISUAL") or env.get("EDITOR") or "")
    except ValueError as error:
        raise CallerError(f"EDITOR cannot be read: {error}", hint="export EDITOR=nano") from error
    if not words:
        raise CallerError(
            "no editor is named: neither VISUAL nor EDITOR is set",
            hint="set it where commonplace browse is started: export EDITOR=nano",
        )
    name = os.path.basename(words[0]).removesuffix(".exe")
    if name in _GOTO:
        return [*words, "--goto", f"{location}:{line}"]
    if name in _COLON:
        return [*words, f"{location}:{line}"]
    return [*words, *([f"+{line}"] if name in _PLUS else []), location]


def open_in_editor(env: Mapping[str, str], location: str, line: int) -> str:
    """Start the editor, without waiting for its end; its name.

    Raises :class:`~commonplace.UnavailableError` where it cannot be started.
    """
    command = command_for(env, location, line)
    try:
        process = subprocess.Popen(command)  # noqa: S603 - the user's own editor, without a shell
    except OSError as error:
        raise UnavailableError(
            f"{command[0]} cannot be started: {error.strerror or error}",
            hint="set EDITOR to an editor that is installed",
        ) from error
    threading.Thread(target=process.wait, daemon=True).start()
    return os.path.basename(command[0])
