"""``commonplace watch`` as a service of the user: a systemd unit, or a launchd agent on macOS.

What would be written and run is printed first; nothing is done before the user has agreed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from commonplace.dirs import expand_user, write_whole
from commonplace.errors import CallerError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.cli.context import Context


class Service(NamedTuple):
    """The file of a service, and the commands that start and stop it."""

    path: str
    text: str
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    advice: str


def service_of(
    command: Sequence[str],
    *,
    index: str,
    workspace: str,
    env: Mapping[str, str],
    platform: str = sys.platform,
    log: str = "",
) -> Service:
    """The service that runs ``command`` for the memory whose index is ``index``.

    Two memories have services of different names. Raises
    :class:`~commonplace.errors.CallerError` on a system with neither systemd nor launchd.
    """
    name = os.path.splitext(os.path.basename(index))[0]
    passed = {key: env[key] for key in _passed_on(env)}
    if platform == "darwin":
        return _launchd(f"commonplace.watch.{name}", command, passed, env, log)
    if platform.startswith("linux"):
        return _systemd(f"commonplace-watch-{name}.service", command, workspace, passed, env)
    raise CallerError(
        f"no service can be set up on {platform}",
        hint="let the system start `commonplace watch` when you log in",
    )


def _passed_on(env: Mapping[str, str]) -> list[str]:
    """The variables that say which memory it is; never a key."""
    from commonplace.config.paths import VARIABLES

    wanted = (*VARIABLES, "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    return [name for name in wanted if env.get(name)]


def _systemd(
    name: str,
    command: Sequence[str],
    workspace: str,
    passed: Mapping[str, str],
    env: Mapping[str, str],
) -> Service:
    base = env.get("XDG_CONFIG_HOME", "")
    base = base if os.path.isabs(base) else expand_user("~/.config", env)
    variables = [f"Environment={_unit_word(f'{key}={value}')}" for key, value in passed.items()]
    lines = [
        "# Written by `commonplace watch --install`; `commonplace watch --uninstall` removes it.",
        "[Unit]",
        f"Description=Index of the notes in {_unit_text(workspace)}",
        "",
        "[Service]",
        "ExecStart=" + " ".join(_unit_word(word, command=True) for word in command),
        *variables,
        "Restart=on-failure",
        "RestartSec=30",
        "Nice=10",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    systemctl = ("systemctl", "--user")
    return Service(
        path=os.path.join(base, "systemd", "user", name),
        text="\n".join(lines) + "\n",
        start=((*systemctl, "daemon-reload"), (*systemctl, "enable", "--now", name)),
        stop=((*systemctl, "disable", "--now", name), (*systemctl, "daemon-reload")),
        advice=f"journalctl --user -u {name} shows what it does; it runs while you are logged in, "
        "and always after `loginctl enable-linger`. It does not see variables of your shell: put "
        "keys where the configuration finds them",
    )


def _unit_text(text: str) -> str:
    """``text`` in the value of a unit: one line, and no specifier."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("%", "%%")


def _unit_word(word: str, *, command: bool = False) -> str:
    """``word`` in quotes, for systemd: ``%`` and, in commands, ``$`` mean something there."""
    if "\n" in word or "\0" in word:
        raise CallerError(
            "a path with a line break cannot stand in a unit", hint="rename the folder"
        )
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return '"' + (escaped.replace("$", "$$") if command else escaped) + '"'


def _launchd(
    label: str,
    command: Sequence[str],
    passed: Mapping[str, str],
    env: Mapping[str, str],
    log: str,
) -> Service:
    import plistlib

    path = expand_user(f"~/Library/LaunchAgents/{label}.plist", env)
    facts = {
        "Label": label,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(passed),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    user = f"gui/{os.getuid()}"
    return Service(
        path=path,
        text=plistlib.dumps(facts, sort_keys=False).decode(),
        start=(("launchctl", "bootstrap", user, path),),
        stop=(("launchctl", "bootout", f"{user}/{label}"),),
        advice=f"{log} shows what it does",
    )


def install(service: Service, context: Context, *, yes: bool) -> int:
    """Print the service and, with consent, write and start it."""
    from shlex import join

    done = yes or _agreed(context, _plan(service), "Write it and start it?")
    if done:
        write_whole(service.path, service.text, mode=0o644)
        for command in service.start:
            _run(command, context)
    if context.json:
        _emit(service, context, service.start, done=done)
        return 0
    if yes or not _asks(context):
        context.lines(_plan(service))
    if done:
        context.note(f"started; {service.advice}")
    else:
        context.note(
            f"nothing was done; to do it: the same with --yes, or write the file and run"
            f" {' && '.join(map(join, service.start))}"
        )
    return 0


def uninstall(service: Service, context: Context, *, yes: bool) -> int:
    """Print what goes and, with consent, stop the service and delete its file."""
    from shlex import join

    if not os.path.lexists(service.path):
        if context.json:
            _emit(service, context, service.stop, done=False)
        else:
            context.line(f"There is no {service.path}; nothing was done")
        return 0
    plan = [f"# deletes {service.path}, after", *map(join, service.stop)]
    done = yes or _agreed(context, plan, "Stop it and delete its file?")
    if done:
        _run(service.stop[0], context)
        os.unlink(service.path)
        for command in service.stop[1:]:
            _run(command, context)
    if context.json:
        _emit(service, context, service.stop, done=done)
        return 0
    if yes or not _asks(context):
        context.lines(plan)
    context.note("it is gone" if done else "nothing was done; to do it: the same with --yes")
    return 0


def _plan(service: Service) -> list[str]:
    from shlex import join

    return [
        f"# {service.path}",
        service.text.rstrip("\n"),
        "",
        "# and then",
        *map(join, service.start),
    ]


def _asks(context: Context) -> bool:
    return context.pretty and sys.stdin is not None and sys.stdin.isatty()


def _agreed(context: Context, plan: Sequence[str], question: str) -> bool:
    """Show ``plan`` and ask; False where there is no terminal to ask on."""
    if not _asks(context):
        return False
    context.lines(plan)
    context.out.write(f"\n{question} [y/N] ")
    context.out.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _run(command: Sequence[str], context: Context) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - commands of this module, and no shell
            command, env=dict(context.env), capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(
            f"{command[0]} cannot be run: {error}",
            hint="start `commonplace watch` by the means of your system",
        ) from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise UnavailableError(
            f"{' '.join(command)} failed: {said[-1] if said else f'exit code {done.returncode}'}",
            hint="run it by hand in a session of your own; or: commonplace watch --uninstall",
        )


def _emit(
    service: Service, context: Context, commands: Sequence[Sequence[str]], *, done: bool
) -> None:
    context.emit({"path": service.path, "text": service.text, "commands": commands, "done": done})
