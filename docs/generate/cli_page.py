"""Writes the page of the command line: ``python docs/generate/cli_page.py > docs/cli.md``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from commonplace.cli.parser import BUILTIN, PROGRAM, Parser, add_common, builtin_command
from commonplace_evaluation.command import EvalCommand

if TYPE_CHECKING:
    from argparse import Action
    from collections.abc import Iterator

    from commonplace.cli.context import Command

__all__ = ["reference"]

_HEAD = f"""\
# The command line

<!-- Written by `python docs/generate/cli_page.py > docs/cli.md`; edit the commands instead. -->

`{PROGRAM} COMMAND [arguments]`; `{PROGRAM} COMMAND --help` lists the arguments of a command.

- Results go to standard output, everything else to standard error.
- Exit codes: `0` done, `1` failed, `2` the command line is not valid, `130` interrupted.
- On a terminal the output is laid out and coloured (not if `NO_COLOR` is set); in a pipe it is
  plain. On a terminal, standard error shows the progress of long work.
- `--json` prints one object, for errors too: [json.md](json.md) lists every key.
- Where the configuration switches memory off, the output is `Memory search disabled.` and the exit
  code `0`.
- `COMMONPLACE_DEBUG=1` shows the traceback of any failure.
- Plugins can add commands; `{PROGRAM} --help` lists them.
"""


_QUERIES = """
## Query syntax

Words, in any language, joined by *or*: the more of them a piece of a note has, and the rarer they
are, the higher it ranks. Everything that does not match one of these forms is words, too:

- `"these words"`: only pieces with these words next to each other. If there are none, the most
  similar pieces are shown, with a note.
- `-word`, `-"these words"`: no pieces with these. Put a query that begins with one after `--`.
- `path:memory/projects`: only that note, or the notes below that folder, with paths as in results.
  `path:memory/**/2026-*.md`: `*` and `?` match inside a folder, `**` across folders. Write
  `path:"my notes"` for a path with blanks.
- `after:2026-10-01`, `before:2026-10`, `before:2025`: only notes named after a day in
  that range.
- `source:memory`: only that source.

Several `path:`, or several `source:`, are alternatives; all other forms narrow the search.
"""


class _Recorder(Parser):
    """Records the arguments that are added."""

    def __init__(self) -> None:
        self.recorded: list[Action] = []
        super().__init__(add_help=False)

    def add_argument(self, *names: Any, **facts: Any) -> Action:
        """Add an argument and record it."""
        action = super().add_argument(*names, **facts)
        self.recorded.append(action)
        return action


def reference() -> str:
    """The page as Markdown."""
    common = _Recorder()
    add_common(common)
    lines = [_HEAD, "Every command takes:", "", *map(_item, common.recorded)]
    for command in (*map(builtin_command, BUILTIN), EvalCommand()):
        lines += ["", *_section(command)]
    return "\n".join(lines) + "\n" + _QUERIES


def _section(command: Command) -> Iterator[str]:
    recorder = _Recorder()
    command.configure(recorder)
    yield f"## {PROGRAM} {command.name}"
    yield ""
    yield f"{command.summary}."
    yield ""
    if recorder.recorded:
        yield from map(_item, recorder.recorded)
        yield ""
    yield "```console"
    for example in command.examples:
        yield f"$ {example}"
    yield "```"


def _item(action: Action) -> str:
    value = action.metavar or ""
    if action.choices is not None:
        value = "|".join(action.choices)
    if not action.option_strings:
        return f"- `{value or action.dest}`: {action.help}"
    names = ", ".join(
        f"`{name} {value}`" if value else f"`{name}`" for name in action.option_strings
    )
    return f"- {names}: {action.help}"


if __name__ == "__main__":
    sys.stdout.write(reference())
