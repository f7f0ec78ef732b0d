"""The argument parser of one command."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

from commonplace.errors import suggest

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

if TYPE_CHECKING:
    from argparse import _ArgumentGroup
    from collections.abc import Sequence

    from commonplace.cli.context import Command


PROGRAM = "commonplace"


class UsageError(Exception):
    """The command line is not valid; ``hint`` says how to correct it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


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
        raise UsageError(message, hint=self._hint(message))

    def _hint(self, message: str) -> str:
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message:
            word = unknown.split()[0]
            option = word.partition("=")[0]
            near = suggest(option, self._option_string_actions)
            if near:
                return f"did you mean {near}?"
            if option.startswith("-") and not option.startswith("--"):
                return f'to leave out notes with a word, quote the query: "words {option}"'
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
    add_common(parser.add_argument_group("every command takes"))
    return parser


def add_common(group: _ArgumentGroup | ArgumentParser) -> None:
    """Add the arguments that every command takes."""
    group.add_argument(
        "--workspace", metavar="DIR", help="folder of the notes (default: as configured)"
    )
    group.add_argument("--config", metavar="FILE", help="configuration file to use (JSON5)")
    group.add_argument("--agent", metavar="ID", help="agent whose memory is used (default: main)")
    group.add_argument("--json", action="store_true", help="print the result as JSON")


def _examples(lines: Sequence[str]) -> str:
    head = "example:" if len(lines) == 1 else "examples:"
    return "\n".join([head, *(f"  {line}" for line in lines)])


def positive_int(text: str) -> int:
    """An argument that is a whole number of at least 1; raises ``ValueError`` otherwise."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def unit_interval(text: str) -> float:
    """An argument that is a number from 0 to 1; raises ``ValueError`` otherwise."""
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError
    return number


# argparse names the type in its message: "invalid whole number above 0 value: 'x'".
positive_int.__name__ = "whole number above 0"
unit_interval.__name__ = "number from 0 to 1"
