"""All commands and their arguments as data, for completion scripts and the man page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from commonplace.cli.context import plugin_command, plugin_command_names
from commonplace.cli.parser import BUILTIN, Parser, add_common, builtin_command, command_parser
from commonplace.errors import CommonplaceError

if TYPE_CHECKING:
    from argparse import Action
    from collections.abc import Mapping

    from commonplace.cli.context import Command


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
    for name in plugin_command_names(env):
        try:
            facts.append(command_facts(plugin_command(name, env)))
        except CommonplaceError as error:
            missing.append(f"{name} is left out: {error}")
    return Catalog(tuple(facts), tuple(map(_argument, _common())), tuple(missing))


def command_facts(command: Command) -> CommandFacts:
    """``command`` as its parser describes it."""
    common = {name for action in _common() for name in action.option_strings}
    own = [
        _argument(action)
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


def _argument(action: Action) -> Argument:
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
