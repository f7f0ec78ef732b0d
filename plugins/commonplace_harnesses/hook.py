"""The command ``hook``: what a harness runs at the events of a session.

It always exits with 0: an exit code of 2 would block what the user does. What cannot be done is
said in the answer.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from commonplace import MemoryDisabledError
from commonplace.plugin import CommonplaceError, reason_of, unfenced

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from commonplace import Memory
    from commonplace.plugin import Context

_MOST_INPUT = 1024 * 1024
"""Bytes of standard input that are read as JSON; a hook's input has some hundred."""

_TRIES = 4


def utf16_units(text: str) -> int:
    """The length of a text in JavaScript, which the limits of harnesses written in it count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf8_bytes(text: str) -> int:
    """The length in bytes; Codex counts a token for each four."""
    return len(text.encode("utf-8", "surrogatepass"))


LIMITS: dict[str, tuple[Callable[[str], int], int]] = {
    "claude-code": (utf16_units, 9_500),
    "codex": (utf8_bytes, 9_500),
    "cursor": (utf16_units, 9_500),
}
"""How each harness measures what a hook adds, and how much of it reaches the model whole.

Claude Code puts more than 10,000 characters in a file and shows 2 KB of them; Codex cuts what has
more than 2,500 tokens in the middle.
"""

_HAVE_IT = ("resume", "fork")
"""Sources of a session that begins with all that was said, and with the block, already."""


class HookCommand:
    """Answers one event of a session."""

    name = "hook"
    summary = "Answer a hook of an agent's program with the block on memory for a session's start"
    examples = (
        "commonplace hook claude-code SessionStart --workspace ~/notes",
        "commonplace hook codex SessionStart < input.json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments. Wrong ones are reported, and exit with 0 like all else."""
        parser.add_argument("harness", help=f"the program: {', '.join(LIMITS)}")
        parser.add_argument("event", help="the event, as the program calls it")
        # argparse would exit with 2, which blocks the user in the harnesses there are.
        vars(parser)["error"] = _report_usage

    def run(self, args: Namespace, context: Context) -> int:
        """Print the answer to the event, if there is one."""
        given = read_input()
        if args.harness not in LIMITS or args.event.lower() != "sessionstart":
            context.note(f"there is nothing to do at {args.harness} {args.event}")
        elif given.get("source") not in _HAVE_IT:
            _write(_session_start(args.harness, args.event, context), context)
        return 0


def _report_usage(message: str) -> NoReturn:
    sys.stderr.write(f"commonplace hook: {message}\n")
    raise SystemExit(0)


def read_input() -> dict[str, Any]:
    """What the harness wrote to standard input; ``{}`` for anything that is not a JSON object."""
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    try:
        data = sys.stdin.buffer.read(_MOST_INPUT)
        while sys.stdin.buffer.read(_MOST_INPUT):  # the writer must not find the pipe closed
            pass
        given = json.loads(data)
    except (OSError, ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _write(answer: str, context: Context) -> None:
    """Write the answer; that it cannot be written is no reason to fail."""
    try:
        context.out.write(answer)
        context.out.flush()
    except OSError as error:
        context.note(f"the answer cannot be written: {error.strerror or error}")
        # What is left in the buffer would fail again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), context.out.fileno())


def _session_start(harness: str, event: str, context: Context) -> str:
    """The block on memory, in the form that the harness reads."""
    failure = ""
    try:
        with context.open_memory() as memory:
            text = block(memory, *LIMITS[harness])
    except MemoryDisabledError:
        return ""
    except CommonplaceError as error:
        failure = context.suggesting(reason_of(error))
    except Exception as error:  # noqa: BLE001 - the session must begin, whatever is wrong here
        failure = f"{type(error).__name__}: {error}"
    if failure:
        text = f"The user's memory is not available in this session: {unfenced(failure)}"
    if harness == "cursor":
        answer: dict[str, object] = {"additional_context": text}
    else:
        answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
        if failure:
            answer["systemMessage"] = f"commonplace: {failure}"
    return json.dumps(answer) + "\n"


def block(memory: Memory, measure: Callable[[str], int], most: int) -> str:
    """The block for a session's start, of which ``measure`` is at most ``most``."""
    budget = min(memory.settings.search.limits.max_injected_chars, most)
    for _ in range(_TRIES):
        text = memory.recall(budget=max(budget, 500)).text
        size = measure(text)
        if size <= most:
            return text
        # Notes in scripts of several bytes a character are shorter than they weigh.
        budget = int(budget * most / size) - 100
    # What plugins add is not cut to a budget.
    while measure(text) > most:
        text = text[: len(text) * 9 // 10]
    return text
