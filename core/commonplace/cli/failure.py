"""Prints errors, for a person or as JSON, and chooses the exit code."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.cli.context import UsageError
from commonplace.cli.parser import BUILTIN, FAILED, INTERRUPTED, NOT_VALID, PROGRAM
from commonplace.cli.streams import one_line, wants_json
from commonplace.config.paths import current_folder
from commonplace.errors import CommonplaceError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


_ENDED = "interrupted; nothing is lost, the same command continues"


def report(error: Exception, argv: Sequence[str]) -> int:
    """Print what failed and how to fix it; return the exit code."""
    if isinstance(error, FileNotFoundError) and error.filename is None:
        try:
            current_folder()
        except ConfigError as gone:  # whatever asked for it
            error = gone
    kind, message, hint = _explain(error)
    message, hint = _suggesting(message, argv), _suggesting(hint, argv)
    if not (wants_json(argv) and _printed_as_json(error, kind, message, hint)):
        lines = [f"{PROGRAM}: {message}"]
        lines += [f"  {note}" for note in getattr(error, "__notes__", ())]
        if isinstance(error, ConfigError):
            lines += [f"  {problem}" for problem in error.problems if str(problem) not in message]
        if hint:
            lines.append(f"  fix: {hint}")
        with suppress(OSError):  # the exit code still reports it
            sys.stderr.write("".join(f"{one_line(line)}\n" for line in lines))
    return NOT_VALID if isinstance(error, UsageError | ConfigError) else FAILED


def report_interrupt(argv: Sequence[str]) -> int:
    """Print that Ctrl-C ended the command; return the exit code."""
    if not (wants_json(argv) and _printed_as_json(KeyboardInterrupt(), "Interrupted", _ENDED, "")):
        # A terminal shows ^C at the cursor.
        start = "\n" if sys.stderr.isatty() else ""
        with suppress(OSError):
            sys.stderr.write(f"{start}{PROGRAM}: {_ENDED}\n")
    return INTERRUPTED


def _printed_as_json(error: BaseException, kind: str, message: str, hint: str) -> bool:
    """Write the error to standard output; False if that fails, which may be the error itself."""
    from commonplace.cli.jsonify import document, dumps

    facts: dict[str, object] = {"type": kind, "message": message, "hint": hint}
    if isinstance(error, ConfigError):
        facts["problems"] = error.problems
    if notes := getattr(error, "__notes__", ()):
        facts["notes"] = notes
    try:
        sys.stdout.write(dumps(document({"error": facts}), sys.stdout.encoding) + "\n")
        sys.stdout.flush()
    except OSError:
        return False
    return True


def _suggesting(text: str, argv: Sequence[str]) -> str:
    from commonplace.cli.context import given_options, plugin_host

    given = given_options(argv)
    if not given or "commonplace " not in text:
        return text
    from commonplace.cli.forms import suggesting

    return suggesting(text, given, BUILTIN, lambda: plugin_host(os.environ, given.get("--config")))


def _explain(error: Exception) -> tuple[str, str, str]:
    kind = type(error).__name__
    if isinstance(error, CommonplaceError | UsageError):
        return kind, str(error), error.hint
    if isinstance(error, OSError):
        reason = error.strerror or kind
        message = f"{error.filename}: {reason}" if error.filename else reason
        return kind, message, ""
    from commonplace.resilience.bounded_call import failure_of

    return (
        kind,
        f"this is a bug in {PROGRAM}: {failure_of(error)}",
        "run it again with COMMONPLACE_DEBUG=1 for the traceback to report",
    )
