"""The files and folders that a configuration is made of, the agent, and its workspace."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.config.defaults import ORIGINAL_NAMES
from commonplace.dirs import (
    NO_HOME,
    expand_user,
    user_cache_dir,
    user_config_dir,
    user_state_dir,
)
from commonplace.errors import ConfigError, suggest
from commonplace.model.plugins import Group, setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.config.document import Findings
    from commonplace.config.reading import Found


WORKSPACE_FILE = "commonplace.json5"
"""A workspace's own file. It has no dot before its name: what tunes a search is not hidden."""

_ORIGINAL_DIRS = ("~/.openclaw", "~/.moltbot")

VARIABLES = {
    "COMMONPLACE_WORKSPACE": "the workspace",
    "COMMONPLACE_AGENT": "the agent's id",
    "COMMONPLACE_CONFIG": "the configuration file, instead of the user's and the original's",
    "COMMONPLACE_STATE_DIR": "where indexes live",
    "COMMONPLACE_CACHE_DIR": "where caches live; they can be rebuilt",
    "OPENCLAW_STATE_DIR": "the original's folder, instead of ~/.openclaw and ~/.moltbot",
    "OPENCLAW_CONFIG_PATH": "the original's configuration file",
}
"""The environment variables that are looked at, and what each says."""


class ConfigPath(Group):
    """A place that configuration is looked for."""

    role: str = setting("What the file is: named, workspace, user or original.")
    path: str = setting("Where it is looked for.")
    exists: bool = setting("Whether it is there.")


def given(env: Mapping[str, str], variable: str) -> str:
    """The value of ``variable``, with white space around it removed; ``""`` if it is not set."""
    return env.get(variable, "").strip()


def state_dir(env: Mapping[str, str]) -> str:
    """Where indexes live, absolute.

    Raises :class:`~commonplace.errors.ConfigError` for a user without a home.
    """
    return _folder(env, "COMMONPLACE_STATE_DIR") or _in_a_home(user_state_dir(env), env)


def cache_dir(env: Mapping[str, str]) -> str:
    """Where caches live, absolute; raises as :func:`state_dir`."""
    return _folder(env, "COMMONPLACE_CACHE_DIR") or _in_a_home(user_cache_dir(env), env)


def _in_a_home(folder: str, env: Mapping[str, str]) -> str:
    if folder.startswith(f"{NO_HOME}/"):
        why = "" if env.get("HOME") else "HOME is not set, and "
        raise ConfigError(
            f"there is no folder for indexes and caches: {why}{folder} lies in the home that the "
            "system gives to users without one",
            hint="set HOME to a folder of yours, or both COMMONPLACE_STATE_DIR and "
            "COMMONPLACE_CACHE_DIR",
        )
    return folder


def default_index(state: str, agent: str, workspace: str) -> str:
    """The index of ``agent`` in ``workspace``, where no other is configured.

    The folder's checksum is part of the name: two folders searched under one agent's name must
    never share an index, and would else undo each other's at every turn.
    """
    from zlib import crc32

    folder = os.path.realpath(workspace).encode("utf-8", "surrogateescape")
    return os.path.join(state, "memory", f"{agent}-{crc32(folder):08x}.sqlite")


def user_file(env: Mapping[str, str]) -> str:
    """The user's own configuration file, absolute; it need not exist."""
    return os.path.join(user_config_dir(env), "config.json5")


def openclaw_dirs(env: Mapping[str, str]) -> tuple[str, ...]:
    """The folders of an original installation that exist, each once; never written to."""
    named = _folder(env, "OPENCLAW_STATE_DIR")
    candidates = [named] if named else _usual_originals(env)
    found: list[str] = []
    for path in candidates:
        # The original leaves the older name behind as a link to the newer.
        if os.path.isdir(path) and not any(os.path.samefile(path, other) for other in found):
            found.append(path)
    return tuple(found)


def is_originals(path: str, env: Mapping[str, str]) -> bool:
    """Whether ``path`` lies in a folder of an original installation, be that there yet or not."""
    named = _folder(env, "OPENCLAW_STATE_DIR")
    folders = [*_usual_originals(env), *([named] if named else [])]
    real = os.path.realpath(path)
    return any(real.startswith(os.path.join(os.path.realpath(folder), "")) for folder in folders)


def is_never_written(path: str, env: Mapping[str, str]) -> bool:
    """Whether ``path`` is a configuration file of another program, by its folder or its name."""
    return is_originals(path, env) or os.path.basename(os.path.realpath(path)) in ORIGINAL_NAMES


def beside_the_originals(path: str, named_by: str, env: Mapping[str, str]) -> str:
    """How settings of the user's own count beside those of ``path``, a file of the original.

    Named by ``named_by``, an option or a variable, it is read instead of the user's own file.
    """
    from shlex import quote

    found = original_file(env, openclaw_dirs(env))
    if found and os.path.realpath(found) == os.path.realpath(absolute(path, env)):
        verb = "unset" if named_by in VARIABLES else "leave out"
        how = f"{verb} {named_by}, now and later: {path} is found without it, and"
    else:
        whole = quote(absolute(path, env))
        how = f"set OPENCLAW_CONFIG_PATH={whole} instead of {named_by}, now and later: then"
    return f"{how} what {user_file(env)} says counts more"


def original_file(env: Mapping[str, str], folders: tuple[str, ...]) -> str:
    """The original's configuration file, or ``""`` if there is none."""
    if named := _folder(env, "OPENCLAW_CONFIG_PATH"):
        return named if os.path.isfile(named) else ""
    for folder in folders:
        for name in ORIGINAL_NAMES:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                return path
    return ""


def checked_agent(agent: str) -> str:
    """``agent`` as an id: in lower case.

    It becomes a file's name, and two agents must never share one by accident: an id that the
    original would rewrite is refused. Raises :class:`~commonplace.errors.ConfigError`.
    """
    id_ = agent.strip().lower()
    plain = id_.replace("-", "").replace("_", "")
    if not (plain.isascii() and plain.isalnum() and id_[0] not in "-_" and len(id_) <= 64):
        raise ConfigError(
            f"{agent!r} cannot be the id of an agent",
            hint="use up to 64 letters, digits, - and _, beginning with a letter or digit",
        )
    return id_


def current_folder() -> str:
    """The current folder; raises :class:`~commonplace.errors.ConfigError` if it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise ConfigError(
            "the current folder does not exist any more",
            hint="change to another one with cd, and name the folder of your notes with "
            "--workspace, as a whole path",
        ) from None


def default_workspace(env: Mapping[str, str], folders: tuple[str, ...]) -> str:
    """The workspace where nothing names one: the original's, else this folder if it holds notes.

    The home folder and folders around it are taken only if they hold ``MEMORY.md`` or ``memory/``.
    Raises :class:`~commonplace.errors.ConfigError` if neither is there.
    """
    for folder in folders:
        path = os.path.join(folder, "workspace")
        if os.path.isdir(path):
            return path
    cwd = current_folder()
    if os.path.isfile(os.path.join(cwd, "MEMORY.md")) or os.path.isdir(os.path.join(cwd, "memory")):
        return cwd
    from commonplace.files.left_out import holds_notes
    from commonplace.files.roots import is_too_wide

    wide = is_too_wide(cwd, expand_user("~", env))
    if not wide and holds_notes(cwd):
        return cwd
    why = "is never searched as a whole" if wide else "holds no notes (.md files)"
    raise ConfigError(
        f"no workspace is configured, and the current folder {why}",
        hint="name the folder of your notes with --workspace, by COMMONPLACE_WORKSPACE, or as "
        f"agents.defaults.workspace in {user_file(env)}; `commonplace demo` searches sample notes",
    )


def workspace_above(folder: str, env: Mapping[str, str]) -> str:
    """The nearest workspace around ``folder``, the current one, taken as it is; ``""`` for none.

    It has ``MEMORY.md``, ``memory/``, a file of settings, or an index. There is none where the
    environment names ``folder``.
    """
    from commonplace.files.roots import has_memory, is_too_wide

    try:
        current = os.getcwd()
    except FileNotFoundError:
        return ""  # it was deleted
    if folder != current or given(env, "COMMONPLACE_WORKSPACE"):
        return ""
    above, home, state = os.path.dirname(folder), expand_user("~", env), state_dir(env)
    while not (has_memory(folder) or is_too_wide(above, home)):
        own = os.path.join(above, WORKSPACE_FILE), default_index(state, "main", above)
        if has_memory(above) or any(map(os.path.exists, own)):
            return above
        above = os.path.dirname(above)
    return ""


def absolute(path: str, env: Mapping[str, str]) -> str:
    """``path`` with ``~`` expanded, from the current folder; links are not followed.

    Raises :class:`~commonplace.errors.ConfigError` for what no file can be called, and for a
    relative path where the current folder was deleted.
    """
    if "\0" in path:
        raise ConfigError(f"{path!r} is no path", hint="pass one without a NUL")
    whole = expand_user(path, env)
    if not os.path.isabs(whole):
        whole = os.path.join(current_folder(), whole)
    return os.path.abspath(whole)


def config_paths(
    *, workspace: str | None = None, config: str | None = None, env: Mapping[str, str] | None = None
) -> tuple[ConfigPath, ...]:
    """Where configuration is looked for, nearest first: what is nearer counts more."""
    env = os.environ if env is None else env
    found = []
    if named := config or given(env, "COMMONPLACE_CONFIG"):
        found.append(("named", absolute(named, env)))
    else:
        found.append(("user", user_file(env)))
        found.append(("original", original_file(env, openclaw_dirs(env)) or _missing_file(env)))
    if workspace:
        found.append(("workspace", os.path.join(absolute(workspace, env), WORKSPACE_FILE)))
    return tuple(
        ConfigPath(role=role, path=path, exists=os.path.isfile(path)) for role, path in found
    )


def _missing_file(env: Mapping[str, str]) -> str:
    """Where an original's file would be read from; there is none."""
    if named := _folder(env, "OPENCLAW_CONFIG_PATH"):
        return named
    folder = next(iter(openclaw_dirs(env)), "") or _folder(env, "OPENCLAW_STATE_DIR")
    return os.path.join(folder or _usual_originals(env)[0], ORIGINAL_NAMES[0])


def missing_originals(env: Mapping[str, str], *, named: bool = False) -> list[str]:
    """Words on each variable that names a file or folder of an original, and there is none.

    Where a configuration is ``named``, the original's file is not read, and none is missed.
    """
    missing = []
    file, folder = _folder(env, "OPENCLAW_CONFIG_PATH"), _folder(env, "OPENCLAW_STATE_DIR")
    if file and not named and not os.path.isfile(file):
        missing.append(f"OPENCLAW_CONFIG_PATH: there is no file {file}; no openclaw.json is read")
    if folder and not os.path.isdir(folder):
        missing.append(f"OPENCLAW_STATE_DIR: there is no folder {folder}; nothing is read from it")
    return missing


def _usual_originals(env: Mapping[str, str]) -> list[str]:
    return [expand_user(name, env) for name in _ORIGINAL_DIRS]


def _folder(env: Mapping[str, str], variable: str) -> str:
    value = given(env, variable)
    return absolute(value, env) if value else ""


class Agents:
    """What all documents say of agents; nearest document first."""

    def __init__(self, findings: list[Findings]) -> None:
        self._findings = findings
        self.ids = tuple(dict.fromkeys(id_ for f in findings for id_ in f.agents))

    @property
    def default(self) -> str:
        """The agent that is meant where none is named: as the original, else ``main``.

        A setting that a nearer document has for one agent must not make it the default one: only
        ``default`` does, of which the nearest document that has it counts.
        """
        flags: dict[str, bool] = {}
        for document in self._findings:
            for agent in document.agents.values():
                if agent.default is not None:
                    flags.setdefault(agent.id, agent.default)
        farthest = next((f.agents for f in reversed(self._findings) if f.agents), {"main": None})
        return next((id_ for id_, flag in flags.items() if flag), next(iter(farthest)))

    def workspace(self, id_: str) -> Found | None:
        """The workspace an agent has of its own."""
        for document in self._findings:
            agent = document.agents.get(id_)
            if agent is not None and agent.workspace is not None:
                return agent.workspace
        return None

    @property
    def common_workspace(self) -> Found | None:
        """``agents.defaults.workspace``."""
        return next((f.workspace for f in self._findings if f.workspace is not None), None)


def find_agent(agent: str | None, env: Mapping[str, str], agents: Agents) -> tuple[str, str]:
    """The agent's id, and who named it.

    Raises :class:`~commonplace.errors.ConfigError` if it cannot be an id, or if agents are listed
    and it is none of them. There is always an agent ``main``.
    """
    named = agent or given(env, "COMMONPLACE_AGENT")
    if not named:
        return agents.default, "configuration" if agents.ids else "default"
    id_ = listed_agent(named, agents.ids)
    return id_, "argument" if agent else "environment variable COMMONPLACE_AGENT"


def listed_agent(named: str, ids: tuple[str, ...]) -> str:
    """The id of the agent that is ``named``, one of ``ids``; raises as :func:`find_agent`."""
    id_ = checked_agent(named)
    if ids and id_ not in ids and id_ != "main":
        close = suggest(id_, ids)
        meant = f"did you mean {close!r}? " if close else ""
        raise ConfigError(
            f"no agent {id_!r} is configured", hint=f"{meant}the agents are {', '.join(ids)}"
        )
    return id_


def find_workspace(
    workspace: str | None,
    id_: str,
    env: Mapping[str, str],
    agents: Agents,
    folders: tuple[str, ...],
    *,
    needed: bool = True,
) -> tuple[str, str]:
    """The absolute workspace of agent ``id_``, and who named it.

    Raises :class:`~commonplace.errors.ConfigError` if nothing does; unless it is ``needed``, it is
    ``""`` then.
    """
    variable = "COMMONPLACE_WORKSPACE"
    for named, origin in (
        (workspace, "argument"),
        (given(env, variable), f"environment variable {variable}"),
    ):
        if named:
            return absolute(named, env), origin
    if (own := agents.workspace(id_)) is not None:
        return own.value, own.layer.file
    common = agents.common_workspace
    if id_ in agents.ids and id_ != agents.default:
        # The original gives every further agent a folder of its own, by one of two rules.
        bases = [os.path.join(common.value, id_)] if common else []
        for path in (*bases, *(os.path.join(f, f"workspace-{id_}") for f in folders)):
            if os.path.isdir(path):
                return path, "the original's folder of this agent"
    if common is not None:
        return common.value, common.layer.file
    try:
        return default_workspace(env, folders), "default"
    except ConfigError as error:
        if needed:
            raise
        return "", f"not set: {error.hint}"
