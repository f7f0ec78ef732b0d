"""The platform's folders for configuration, state and cache, and private files in them.

``platformdirs`` costs about 10 ms to import, half of what a whole search may cost above its
libraries, and on Linux its answer is a few lines. Elsewhere it is asked.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


_APP = "commonplace"

NO_HOME = "/nonexistent"
"""The home of users without one, as Debian has it: nothing is found there."""


def user_config_dir(env: Mapping[str, str]) -> str:
    """Where a user's own configuration of commonplace lives; it need not exist."""
    return _folder(env, "config", "XDG_CONFIG_HOME", "~/.config")


def user_state_dir(env: Mapping[str, str]) -> str:
    """Where indexes live; it need not exist."""
    return _folder(env, "state", "XDG_STATE_HOME", "~/.local/state")


def user_cache_dir(env: Mapping[str, str]) -> str:
    """The folder of files that can be built again at any time; it need not exist."""
    return _folder(env, "cache", "XDG_CACHE_HOME", "~/.cache")


def make_private_folder(folder: str) -> None:
    """Make ``folder``, and those above it that are missing, for their owner alone.

    Raises ``OSError``. ``os.makedirs`` gives its mode to the last folder only, and others may look
    into the rest.
    """
    if not folder or os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    if above != folder:
        make_private_folder(above)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):  # else another process was faster
            raise
    else:
        os.chmod(folder, 0o700)  # the umask may have taken away too much


def expand_user(path: str, env: Mapping[str, str]) -> str:
    """``path`` with a leading ``~`` or ``~name`` replaced by that home, as ``env`` has it."""
    if path == "~" or path.startswith(("~/", f"~{os.sep}")):
        home = env.get("HOME", "")
        if os.path.isabs(home):
            return home.rstrip("/") + path[1:] or "/"
        return _home_of_user() + path[1:]
    return os.path.expanduser(path) if path.startswith("~") else path


def _home_of_user() -> str:
    """The home that the system knows, whatever ``HOME`` says; else one that does not exist."""
    if sys.platform == "win32":
        return os.path.expanduser("~")
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir.rstrip("/")
    except KeyError:  # in containers, a user may have a number alone
        return NO_HOME


def _folder(env: Mapping[str, str], kind: str, variable: str, default: str) -> str:
    if sys.platform == "linux" and "ANDROID_DATA" not in env:
        base = env.get(variable, "")
        # The XDG specification has relative paths ignored.
        return os.path.join(base if os.path.isabs(base) else expand_user(default, env), _APP)
    return _asked(kind)


def _asked(kind: str) -> str:
    """What ``platformdirs`` says, of the environment of this process."""
    import platformdirs

    folders = platformdirs.PlatformDirs(_APP, appauthor=False)
    return {
        "config": folders.user_config_dir,
        "state": folders.user_state_dir,
        "cache": folders.user_cache_dir,
    }[kind]


_LONG_SECONDS = 3600


def write_whole(path: str, text: str, *, mode: int = 0o600) -> None:
    """Let the file at ``path`` have ``text`` and ``mode``; its folder is made if need be.

    What cannot be written as UTF-8 becomes ``?``. Drafts that processes left beside it when they
    were killed go with the next that is written. Raises ``OSError``, which names the file and not
    its draft; the file is then as it was.
    """
    folder, name = os.path.split(path)
    make_private_folder(folder)
    draft = f"{path}.{os.getpid()}"
    try:
        handle = os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        if mode != 0o600:
            os.chmod(draft, mode)
        os.replace(draft, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        # A new one: a second name that is set to None is shown all the same, as "-> None".
        raise OSError(error.errno, error.strerror, path) from error
    for other in os.listdir(folder):
        process = other.removeprefix(f"{name}.")
        if process != other and process.isdecimal():
            with contextlib.suppress(OSError):
                _forget(os.path.join(folder, other), int(process))


def _forget(draft: str, process: int) -> None:
    old = time.time() - os.stat(draft).st_mtime > _LONG_SECONDS
    if old if sys.platform == "win32" else not is_running(process):
        os.unlink(draft)


def is_running(process: int) -> bool:
    """Whether there is such a process, as far as the system tells; False on Windows."""
    if sys.platform == "win32":
        return False  # there, to ask for a process so would end it
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # the process of another user
    return True
