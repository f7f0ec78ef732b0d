"""``commonplace man``: the manual page, from the parsers; and all commands as data, for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from commonplace.cli.context import (
    UsageError,
    command_names,
    faults_named,
    plugin_command,
    plugin_host,
)
from commonplace.cli.parser import (
    BUILTIN,
    EXIT_CODES,
    PROGRAM,
    Parser,
    add_common,
    builtin_command,
    command_parser,
)
from commonplace.errors import CommonplaceError

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser, Namespace
    from collections.abc import Iterator, Mapping

    from commonplace.cli.context import Command, Context


class ManCommand:
    """Prints a manual page in the language of ``man``."""

    name = "man"
    summary = "Print the manual page, to be read by man or installed"
    examples = (
        "commonplace man | man -l -",
        "commonplace man > ~/.local/share/man/man1/commonplace.1",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """There are no arguments."""

    def run(self, _args: Namespace, context: Context) -> int:
        """Print it."""
        commands = catalog(context.env)
        page = manual(commands)
        if context.json:
            context.emit({"page": page, "missing": commands.missing})
            return 0
        context.out.write(page)
        context.notes(commands.missing)
        if context.pretty:
            context.note(f"this is the source of the page; to read it: {self.examples[0]}")
        return 0


def manual(catalog: Catalog) -> str:
    """The page as roff, with the macros of man(7)."""
    return "\n".join(_page(catalog)) + "\n"


def _page(catalog: Catalog) -> Iterator[str]:
    from commonplace._version import __version__
    from commonplace.config.paths import VARIABLES

    yield f'.TH {PROGRAM.upper()} 1 "" "{PROGRAM} {__version__}" "User Commands"'
    yield ".SH NAME"
    yield f"{PROGRAM} \\- the memory of AI agents: plain Markdown notes, searched, ranked and cited"
    yield ".SH SYNOPSIS"
    yield f".B {PROGRAM}"
    yield ".I COMMAND"
    yield "[arguments]"
    yield ".SH DESCRIPTION"
    yield _text(
        "Results go to standard output, everything else to standard error. On a terminal the "
        "output is laid out and coloured; in a pipe it is plain. "
        f"{PROGRAM} COMMAND --help lists the arguments of a command."
    )
    yield ".SH OPTIONS"
    yield "Every command takes:"
    for option in catalog.common:
        yield from _argument(option)
    yield ".TP"
    yield f".B {_text('--version')}"
    yield "print the version, without a command"
    yield ".SH COMMANDS"
    for command in catalog.commands:
        yield from _command(command)
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from (".TP", f".B {code}", _text(meaning))
    yield ".SH ENVIRONMENT"
    for name, meaning in VARIABLES.items():
        yield from (".TP", f".B {_text(name)}", _text(meaning))
    yield from (".TP", ".B NO_COLOR", "no colours on a terminal")
    yield from (".TP", ".B COMMONPLACE_DEBUG", "show the traceback of any failure")
    yield ".SH FILES"
    for path, meaning in _FILES.items():
        yield from (".TP", f".I {_text(path)}", _text(meaning))


_FILES = {
    "~/.config/commonplace/config.json5": f"the user's configuration; {PROGRAM} config path lists "
    "all files that are read",
    "commonplace.json5": "a workspace's own settings for searching",
    "~/.local/state/commonplace": "indexes",
    "~/.cache/commonplace": "caches, which can be rebuilt",
}


def _command(command: CommandFacts) -> Iterator[str]:
    usage = " ".join(
        f"[{argument.value}]..." if argument.many else argument.value
        for argument in command.positionals
    )
    yield f".SS {_text(f'{PROGRAM} {command.name} {usage}'.rstrip())}"
    yield _text(f"{command.summary}.")
    for argument in command.arguments:
        yield from _argument(argument)
    yield from (".PP", "Examples:" if len(command.examples) > 1 else "Example:")
    yield from (".PP", ".RS", ".nf")
    yield from map(_text, command.examples)
    yield from (".fi", ".RE")


def _argument(argument: Argument) -> Iterator[str]:
    yield ".TP"
    value = f" \\fI{_text(argument.value)}\\fR" if argument.value else ""
    if argument.names:
        yield ", ".join(f"\\fB{_text(name)}\\fR{value}" for name in argument.names)
    else:
        yield value.strip()
    yield _text(argument.about)


_ESCAPES = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha"})


def _text(text: str) -> str:
    """``text`` as one line of roff that means nothing but itself."""
    line = " ".join(text.split()).translate(_ESCAPES | {ord("~"): "\\(ti"})
    return f"\\&{line}" if line.startswith(".") else line


Takes = Literal["nothing", "text", "choice", "file", "folder"]

_BY_METAVAR: Mapping[str, Takes] = {"DIR": "folder", "FILE": "file", "PATH": "file"}


class Argument(NamedTuple):
    """One argument: an option where it has ``names``, else a positional one.

    ``value`` is what help calls its value, ``""`` for none. ``choices`` are all its values where
    ``takes`` is ``choice``. ``many``: any number of them may follow.
    """

    names: tuple[str, ...]
    value: str
    about: str
    takes: Takes
    choices: tuple[str, ...] = ()
    many: bool = False


class CommandFacts(NamedTuple):
    """One command; ``arguments`` are its own, without those that every command takes."""

    name: str
    summary: str
    examples: tuple[str, ...]
    arguments: tuple[Argument, ...]

    @property
    def options(self) -> tuple[Argument, ...]:
        """The arguments with a name."""
        return tuple(argument for argument in self.arguments if argument.names)

    @property
    def positionals(self) -> tuple[Argument, ...]:
        """The arguments without one, in their order."""
        return tuple(argument for argument in self.arguments if not argument.names)


class Catalog(NamedTuple):
    """All commands; ``common`` are the options that every command takes.

    ``missing`` says of each plugin's command that does not load why it is left out.
    """

    commands: tuple[CommandFacts, ...]
    common: tuple[Argument, ...]
    missing: tuple[str, ...] = ()


def catalog(env: Mapping[str, str]) -> Catalog:
    """All commands, those of plugins last; their modules are imported."""
    facts = [command_facts(builtin_command(name)) for name in BUILTIN]
    missing = []
    host = plugin_host(env)
    for name in command_names(host):
        try:
            with faults_named(name, host):
                facts.append(command_facts(plugin_command(name, host)))
        except (CommonplaceError, UsageError, OSError, SystemExit) as error:
            missing.append(f"{name} is left out: {str(error) or type(error).__name__}")
    return Catalog(tuple(facts), tuple(map(_argument_of, _common())), tuple(missing))


def command_facts(command: Command) -> CommandFacts:
    """``command`` as its parser describes it."""
    common = {name for action in _common() for name in action.option_strings}
    own = [
        _argument_of(action)
        for action in command_parser(command).actions()
        if not common.intersection(action.option_strings)
    ]
    return CommandFacts(command.name, command.summary, tuple(command.examples), tuple(own))


def _common() -> tuple[Action, ...]:
    parser = Parser(prog="", add_help=False)
    add_common(parser)
    parser.add_argument(
        "-h", "--help", action="store_true", help="show the arguments, and examples"
    )
    return parser.actions()


def _argument_of(action: Action) -> Argument:
    names = tuple(action.option_strings)
    about = (action.help or "").replace("%%", "%")
    if names and action.nargs == 0:
        return Argument(names, "", about, "nothing")
    many = action.nargs in ("*", "+", "...", "A...")
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if action.choices is not None:
        choices = tuple(map(str, action.choices))
        return Argument(names, metavar or "|".join(choices), about, "choice", choices, many)
    value = metavar or action.dest.upper()
    return Argument(names, value, about, _BY_METAVAR.get(value, "text"), (), many)
