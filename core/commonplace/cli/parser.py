"""From a command line to the command it names: finding it, parsing its arguments, running it."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from commonplace.cli.context import (
    Context,
    UsageError,
    command_names,
    faults_named,
    is_safe,
    named_config,
    plugin_command,
    plugin_commands,
    plugin_host,
)
from commonplace.cli.streams import prints_aside, wants_json
from commonplace.errors import MemoryDisabledError, suggest
from commonplace.model.plugins import COMMANDS

if TYPE_CHECKING:
    from argparse import Action, _ActionsContainer
    from collections.abc import Mapping, Sequence

    from commonplace.cli.context import Command


# argparse translates its messages by ``gettext``, and that by ``locale``: a tenth of the time of a
# search, wasted in an English program. So it is given one that leaves them as they are.
_english = {"gettext": str, "ngettext": lambda one, many, number: one if number == 1 else many}
_found, sys.modules["gettext"] = sys.modules.get("gettext"), ModuleType("gettext")
vars(sys.modules["gettext"]).update(_english)
try:
    import argparse
    from argparse import ArgumentParser, RawDescriptionHelpFormatter
finally:
    del sys.modules["gettext"]
    if _found is not None:
        sys.modules["gettext"] = _found
vars(argparse).update(_=str, ngettext=_english["ngettext"])  # where it was imported before


PROGRAM = "commonplace"


class _Formatter(RawDescriptionHelpFormatter):
    """Lays out help to the width of the terminal.

    argparse creates a formatter for every argument and imports ``shutil`` each time to get the
    width, which costs more than all its other work. Asking the terminal directly is free.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=_width())


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return max(40, int(columns) - 2)
    try:
        return max(40, min(100, os.get_terminal_size().columns) - 2)
    except (OSError, ValueError):
        return 78


class Parser(ArgumentParser):
    """Raises :class:`UsageError`, with a suggestion where an argument looks mistyped."""

    def error(self, message: str) -> NoReturn:
        """Raise argparse's message as a :class:`UsageError`."""
        message = re.sub(
            r"invalid ((?:whole number|number|day) .*) value: ", r"must be a \1, not ", message
        )
        raise UsageError(message, hint=self._hint(message))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does it, but optional arguments may stand between positional ones, too.

        argparse gives all positional arguments that may be missing their values at the first one:
        ``config set --file F KEY VALUE`` would have a key too much.
        """
        return super().parse_known_args(
            self._options_first(sys.argv[1:] if args is None else args), namespace
        )

    def _options_first(self, args: Sequence[str]) -> list[str]:
        """``args`` with the options that are known, and their values, before all else."""
        known = self._option_string_actions
        if any(action.nargs not in (None, 0, "?", "*", "+") for action in self._actions) or any(
            action.nargs in ("?", "*", "+") for action in known.values()
        ):
            return [*args]  # its options may take what looks like something else
        options: list[str] = []
        others: list[str] = []
        rest = iter(args)
        for word in rest:
            if word == "--":
                others += [word, *rest]
                break
            option, joined, _ = word.partition("=")
            action = known.get(word if not joined else option)
            if action is None or not word.startswith("-"):
                others.append(word)
                continue
            options.append(word)
            if action.nargs is None and not joined:
                options += [value for value in (next(rest, None),) if value is not None]
        return options + others

    def actions(self) -> tuple[Action, ...]:
        """All arguments, in the order in which they were added."""
        return tuple(self._actions)

    def _hint(self, message: str) -> str:
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message:
            word = (unknown.split() or [""])[0]
            option = word.partition("=")[0]
            dests = {action.dest for action in self._actions}
            near = suggest(option, self._option_string_actions)
            if "words" in dests and option[:1] == "-" != option[1:2] and near != f"-{option}":
                return f'to leave out notes with a word, quote the query: "words {option}"'
            if near:
                return f"did you mean {near}?"
            if "text" in dests and option[:1] != "-":
                return "put the text in quotes"
        if found := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
            choices = [choice.strip("'") for choice in found[2].split(", ")]
            shows = found[1] in {"get", "list", "view"} and "show" in choices
            near = "show" if shows else suggest(found[1], choices)
            if near:
                return f"did you mean {near!r}?"
        if "ignored explicit argument" in message:  # -heron, read as -h and more
            return f'put a word that begins with - after --: {self.prog} -- "-word"'
        return f"{self.prog} --help lists its arguments"


def command_parser(command: Command) -> Parser:
    """The parser of ``command``: its own arguments, then those that every command takes."""
    parser = Parser(
        prog=f"{PROGRAM} {command.name}",
        description=command.summary + ".",
        epilog=_examples(command.examples),
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    command.configure(parser)
    forms: tuple[str, ...] = getattr(command, "formats", FORMATS)
    add_common(parser.add_argument_group("every command takes"), forms)
    return parser


FORMATS = ("plain", "json")
"""The forms of output that every command has; one that has others names them in ``formats``."""


def add_common(group: _ActionsContainer, formats: Sequence[str] = (*FORMATS, "md")) -> None:
    """Add the arguments that every command takes; ``formats`` are the forms of its output."""
    argument(group, "--workspace", "DIR", "folder of the notes (default: as configured)")
    argument(group, "--config", "FILE", "configuration file to use (JSON5)")
    argument(group, "--agent", "ID", "agent whose memory is used (default: main)")
    forms = f"{', '.join(formats)} (default: laid out on a terminal, else plain)"
    argument(group, "--format", "FORM", f"form of the result: {forms}", choices=formats)
    flag(group, "--json", "print the result as JSON")
    flag(group, "--safe", "builtin plugins only: import none of third parties")


def _examples(lines: Sequence[str]) -> str:
    head = "example:" if len(lines) == 1 else "examples:"
    return "\n".join([head, *(f"  {line}" for line in lines)])


def flag(parser: _ActionsContainer, name: str, about: str) -> None:
    """Add an option without a value."""
    parser.add_argument(name, action="store_true", help=about)


def argument(parser: _ActionsContainer, names: str, metavar: str, about: str, **more: Any) -> None:
    """Add a positional argument or an option with a value; blanks separate ``names``."""
    parser.add_argument(*names.split(), metavar=metavar, help=about, **more)


def positive_int(text: str) -> int:
    """An argument that is a whole number of at least 1; raises ``ValueError`` otherwise."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def positive_seconds(text: str) -> float:
    """An argument that is a number of seconds above 0; raises ``ValueError`` otherwise."""
    number = float(text)
    if not 0 < number < 1e9:
        raise ValueError
    return number


def unit_interval(text: str) -> float:
    """An argument that is a number from 0 to 1; raises ``ValueError`` otherwise."""
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError
    return number


# A message names the type: "must be a whole number above 0, not 'x'".
positive_int.__name__ = "whole number above 0"
positive_seconds.__name__ = "number of seconds above 0"
unit_interval.__name__ = "number from 0 to 1"


BUILTIN = COMMANDS
"""The commands of core; a module each, but for :data:`_MODULES`."""

_MODULES = {
    "recent": "list",
    **dict.fromkeys(("get", "recall"), "read"),
    **dict.fromkeys(("remember", "correct", "forget", "undo", "journal"), "write"),
}

_COMMON_WITH_VALUE = ("--workspace", "--config", "--agent", "--format")


def dispatch(argv: Sequence[str]) -> int:
    """Run the command line ``argv`` and return its exit code.

    Raises :class:`UsageError` if it cannot be understood, and whatever the command raises.
    """
    common, rest = _split_common(argv)
    env = {**os.environ, "COMMONPLACE_SAFE": "1"} if is_safe(argv) else os.environ
    name = rest[0] if rest else ""
    if name in {"--version", "-V"}:
        sys.stdout.write(_version(as_json=wants_json(argv)))
        return 0
    if name in {"help", "-h", "--help"}:
        if rest[1:] == ["exit-codes"]:
            sys.stdout.write(exit_codes())
            return 0
        if rest[1:]:
            return _run_named(rest[1], ["--help"], env)
        sys.stdout.write(overview(env))
        return 0
    if not name and common:  # it may be JSON that is asked for
        raise UsageError("no command is named", hint=f"{PROGRAM} --help lists the commands")
    if not name:
        sys.stderr.write(overview(env))
        return 2
    if name in _COMMON_WITH_VALUE:
        raise UsageError(f"{name} needs a value", hint=f"{PROGRAM} --help says which")
    if name.startswith("-"):
        raise UsageError(f"unknown option {name}", hint=f"{PROGRAM} --help lists the commands")
    return _run_named(name, [*common, *rest[1:]], env, named_config(argv))


def _version(*, as_json: bool) -> str:
    from commonplace._version import __version__

    if not as_json:
        return f"{PROGRAM} {__version__}\n"
    from commonplace.cli.jsonify import document, dumps

    return dumps(document({"version": __version__}), "ascii") + "\n"


def _run(command: Command, arguments: Sequence[str], env: Mapping[str, str]) -> int:
    parser = command_parser(command)
    try:
        args = parser.parse_args(arguments)
    except SystemExit:  # raised by argparse itself only after --help
        return 0
    context = Context(args, env=env, commands=BUILTIN)
    try:
        with prints_aside():
            code: object = command.run(args, context)
    except MemoryDisabledError as error:
        if context.json:
            context.emit({"disabled": True, "results": []})
        else:
            context.line("Memory search disabled.")
            context.note(error.hint)
        return 0
    if not isinstance(code, int | None):
        raise TypeError(f"it ended with {str(code)[:40]!r}, which is no exit code")
    return code or 0


def _split_common(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split off the common options before the command's name."""
    common: list[str] = []
    rest = list(argv)
    while rest:
        option, joined, _ = rest[0].partition("=")
        if rest[0] in ("--json", "--safe") or (option in _COMMON_WITH_VALUE and joined):
            common.append(rest.pop(0))
        elif option in _COMMON_WITH_VALUE and len(rest) > 1:
            common += [rest.pop(0), rest.pop(0)]
        else:
            break
    return common, rest


def builtin_command(name: str) -> Command:
    """One of :data:`BUILTIN`, by the name of its class; only its own module is imported."""
    module = import_module(f"commonplace.cli.commands.{_MODULES.get(name, name)}")
    command: Command = getattr(module, f"{name.capitalize()}Command")()
    return command


def _run_named(
    name: str, arguments: Sequence[str], env: Mapping[str, str], config: str | None = None
) -> int:
    if name in BUILTIN:
        return _run(builtin_command(name), arguments, env)
    host = plugin_host(env, config)
    names = host.ids("command")
    if name not in names:
        names = command_names(host)  # of those that cannot be loaded there is an error that says so
    if name in names or host.switched_off("command", name):
        with faults_named(name, host):  # or the error that names what switches it off
            return _run(plugin_command(name, host), arguments, env)
    near = suggest(name, (*BUILTIN, *names))
    raise UsageError(
        f"no such command: {name!r}",
        hint=f"did you mean {PROGRAM} {near}?" if near else f"{PROGRAM} --help lists the commands",
    )


DONE, FAILED, NOT_VALID, IN_PART, INTERRUPTED = 0, 1, 2, 3, 130

EXIT_CODES = {
    DONE: "done. Also a search that finds nothing or that keywords alone answer, and any command "
    "but `remember`, `correct`, `forget` and `undo` where the configuration switches memory off.",
    FAILED: "failed, with the reason on standard error. Also `status` and `doctor` if they find a "
    "problem, `plugins` if one does not load, and `audit --check` if there is a finding.",
    NOT_VALID: "the command line or the configuration is not valid. Also `config check` if it "
    "finds an error.",
    IN_PART: "done in part: `index` if notes could not be read or are left for the next run, or if "
    "an embedding provider or a backend failed that the configuration names.",
    INTERRUPTED: "interrupted by Ctrl-C. Nothing is lost: the same command continues.",
}
"""What the exit codes mean, the same for every command."""


def exit_codes() -> str:
    """The text of ``commonplace help exit-codes``."""
    from textwrap import fill

    lines = [
        fill(words, 78, initial_indent=f"{code:>4}  ", subsequent_indent=" " * 6)
        for code, words in EXIT_CODES.items()
    ]
    return "\n".join(["exit codes:", *lines, ""])


_TAIL = f"""\
every command takes:
  --workspace DIR   folder of the notes
  --config FILE     configuration file to use (JSON5)
  --agent ID        agent whose memory is used (default: main)
  --format FORM     form of the result: plain, json; of search, get and status also md
  --json            print the result as JSON
  --safe            builtin plugins only: import none of third parties
  --help            its arguments, with examples

  -V, --version     the version, without a command

  {PROGRAM} help exit-codes lists the exit codes

first steps:
  {PROGRAM} demo
  {PROGRAM} init ~/notes
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
