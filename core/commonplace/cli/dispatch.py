"""Finds the command that the command line names, and runs it."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from commonplace.cli.context import plugin_commands
from commonplace.cli.parser import PROGRAM, UsageError, command_parser
from commonplace.errors import MemoryDisabledError, suggest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.cli.context import Command


BUILTIN = (
    "demo",
    "index",
    "search",
    "get",
    "status",
    "watch",
    "doctor",
    "config",
    "plugins",
)
"""The commands of core, each in a module of its own, in the order of the help."""

_COMMON_WITH_VALUE = ("--workspace", "--config", "--agent")


def dispatch(argv: Sequence[str]) -> int:
    """Run the command line ``argv`` and return its exit code.

    Raises :class:`~commonplace.cli.parser.UsageError` if it cannot be understood, and whatever
    the command raises.
    """
    common, rest = _split_common(argv)
    name = rest[0] if rest else ""
    if name == "--version":
        from commonplace._version import __version__

        sys.stdout.write(f"{PROGRAM} {__version__}\n")
        return 0
    if name in {"help", "-h", "--help"}:
        if rest[1:]:
            return _run(_find(rest[1]), ["--help"])
        sys.stdout.write(overview(os.environ))
        return 0
    if not name:
        sys.stderr.write(overview(os.environ))
        return 2
    if name.startswith("-"):
        raise UsageError(f"unknown option {name}", hint=f"{PROGRAM} --help lists the commands")
    return _run(_find(name), [*common, *rest[1:]])


def _run(command: Command, arguments: Sequence[str]) -> int:
    parser = command_parser(command)
    try:
        args = parser.parse_args(arguments)
    except SystemExit:  # raised by argparse itself only after --help
        return 0
    from commonplace.cli.context import Context

    context = Context(args)
    try:
        return command.run(args, context)
    except MemoryDisabledError:
        if context.json:
            context.emit({"disabled": True, "results": []})
        else:
            context.line("Memory search disabled.")
        return 0


def _split_common(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split off the common options before the command's name."""
    common: list[str] = []
    rest = list(argv)
    while rest:
        option, joined, _ = rest[0].partition("=")
        if rest[0] == "--json" or (option in _COMMON_WITH_VALUE and joined):
            common.append(rest.pop(0))
        elif option in _COMMON_WITH_VALUE and len(rest) > 1:
            common += [rest.pop(0), rest.pop(0)]
        else:
            break
    return common, rest


def builtin_command(name: str) -> Command:
    """One of :data:`BUILTIN`; only its own module is imported."""
    command: Command = import_module(f"commonplace.cli.commands.{name}").create()
    return command


def _find(name: str) -> Command:
    if name in BUILTIN:
        return builtin_command(name)
    from commonplace.cli.context import plugin_command, plugin_command_names

    names = plugin_command_names(os.environ)
    if name in names:
        return plugin_command(name, os.environ)
    near = suggest(name, (*BUILTIN, *names))
    raise UsageError(
        f"no such command: {name!r}",
        hint=f"did you mean {PROGRAM} {near}?" if near else f"{PROGRAM} --help lists the commands",
    )


_TAIL = f"""\
every command takes:
  --workspace DIR   folder of the notes
  --config FILE     configuration file to use (JSON5)
  --agent ID        agent whose memory is used (default: main)
  --json            print the result as JSON
  --help            its arguments, with examples

  --version         the version, without a command

first steps:
  {PROGRAM} demo
  {PROGRAM} index --workspace ~/notes
  {PROGRAM} search --workspace ~/notes "why did we move to the small server?"
"""


def overview(env: Mapping[str, str]) -> str:
    """The text of ``commonplace --help``: all commands, those of plugins last."""
    ours = [(command.name, command.summary) for command in map(builtin_command, BUILTIN)]
    width = max(len(name) for name, _ in ours)
    lines = [
        f"usage: {PROGRAM} COMMAND [arguments]",
        "",
        "The memory of AI agents: plain Markdown notes, searched, ranked and cited.",
        "",
        "commands:",
        *(f"  {name:<{width}}  {summary}" for name, summary in ours),
    ]
    if theirs := plugin_commands(env):
        lines += ["", "commands of plugins:"]
        lines += [f"  {name:<{width}}  {summary}" for name, summary in theirs]
    return "\n".join([*lines, "", _TAIL])
