"""``commonplace man``: the manual page, from the same source as ``--help``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.parser import EXIT_CODES, PROGRAM

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from commonplace.cli.catalog import Argument, Catalog, CommandFacts
    from commonplace.cli.context import Context


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
        from commonplace.cli.catalog import catalog

        commands = catalog(context.env)
        page = manual(commands)
        if context.json:
            context.emit({"page": page, "missing": commands.missing})
            return 0
        context.out.write(page)
        for line in commands.missing:
            context.note(line)
        if context.pretty:
            context.note(f"this is the source of the page; to read it: {self.examples[0]}")
        return 0


create = ManCommand


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
