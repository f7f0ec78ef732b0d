"""The platform's folders for configuration, state and cache, and private files in them.

``platformdirs`` costs about 10 ms to import, half of what a whole search may cost above its
libraries, and on Linux its answer is a few lines. Elsewhere it is asked.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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


DRAFT_ENDING = ".tmp"
_DRAFT = rf"\.commonplace-([1-9][0-9]{{0,9}})-[0-9a-f]{{8}}{re.escape(DRAFT_ENDING)}"
_ABANDONED_SECONDS = 3_600
"""Writing a draft takes milliseconds: an older one was left by a killed process."""


def write_whole(path: str, text: str, *, mode: int = 0o600) -> None:
    """Let the file at ``path`` have ``text`` and ``mode``; its folder is made if need be.

    What cannot be written as UTF-8 becomes ``?``. Threads and processes may write the same file:
    it is always what one of them wrote, whole. Drafts that killed processes left in the folder go
    with the next file that is written. Raises ``OSError``, which names the file and not its draft;
    the file is then as it was.
    """
    folder = os.path.dirname(path) or os.curdir
    make_private_folder(folder)
    # No other thread and no file of a user has this name, and no link can be put there before.
    name = f".commonplace-{os.getpid()}-{os.urandom(4).hex()}{DRAFT_ENDING}"
    draft = os.path.join(folder, name)
    try:
        handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(text)
                if mode != 0o600 and sys.platform != "win32":
                    os.fchmod(handle, mode)
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
    except OSError as error:
        # A new one: a second name that is set to None is shown all the same, as "-> None".
        raise OSError(error.errno, error.strerror, path) from error
    with contextlib.suppress(OSError):
        for name in filter(is_draft, os.listdir(folder)):
            other = os.path.join(folder, name)
            if is_abandoned(other, now=time.time()):
                os.unlink(other)


def is_draft(name: str) -> bool:
    """Whether ``name``, without its folder, is one that :func:`write_whole` gives its drafts."""
    return re.fullmatch(_DRAFT, name) is not None


def is_abandoned(path: str, *, now: float, lives: Callable[[int], bool] = is_running) -> bool:
    """Whether the file at ``path`` is a draft of a process that was killed.

    So it is if it has the name of a draft, is an hour old at ``now`` (epoch seconds), and its
    process does not run (``lives``). That alone would not do: a process of another container, or
    of another machine that shares the disk, is not seen.
    """
    match = re.fullmatch(_DRAFT, os.path.basename(path))
    if match is None:
        return False
    try:
        found = os.lstat(path)
    except OSError:
        return False
    old = stat.S_ISREG(found.st_mode) and now - found.st_mtime >= _ABANDONED_SECONDS
    return old and not lives(int(match[1]))
