"""What ``commonplace --help`` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.dispatch import BUILTIN, builtin_command
from commonplace.cli.extra import plugin_commands
from commonplace.cli.parser import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["overview"]

_TAIL = f"""\
every command takes:
  --workspace DIR   folder of the notes
  --config FILE     configuration file to use (JSON5)
  --agent ID        whose memory (default: main)
  --json            print the result as JSON
  --help            what it takes, with examples

  --version         the version, without a command

first steps:
  {PROGRAM} demo
  {PROGRAM} index --workspace ~/notes
  {PROGRAM} search --workspace ~/notes "why did we move to the small server?"
"""


def overview(env: Mapping[str, str]) -> str:
    """All commands with what they do, those of plugins after our own."""
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
