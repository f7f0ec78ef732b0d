"""The command line: from a list of arguments to an exit code.

0: done. 1: it failed, and standard error says why. 2: the command line cannot be understood.
130: interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; ``None`` is that of this process."""
    if argv is not None:
        return _guarded(argv)
    _settle_in()
    code = _guarded(sys.argv[1:])
    # The interpreter would take apart every module before it ends: a tenth of the time of a search.
    # What must be closed is closed by now, and what was printed is flushed here.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # what a stream would not take was told when it was first refused
            stream.flush()
    os._exit(code)


def _guarded(argv: Sequence[str]) -> int:
    try:
        from commonplace.cli.dispatch import dispatch

        code = dispatch(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads us has seen enough. Nothing more may be written, not even by the interpreter's
        # own flush at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        from commonplace.cli.failure import report_interrupt

        return report_interrupt(argv)
    except Exception as error:
        if os.environ.get("COMMONPLACE_DEBUG"):
            raise
        from commonplace.cli.failure import report

        return report(error, argv)
    return code


def _settle_in() -> None:
    """Make this process ours."""
    # Start-up makes many objects that stay and hardly any garbage: at the usual threshold the
    # collector would look through all of them a dozen times.
    gc.set_threshold(50_000, 20, 20)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us, who wants to hear nothing
            nowhere = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
            setattr(sys, name, nowhere)
        # A name that the terminal cannot show must not end the program.
        getattr(sys, name).reconfigure(errors="backslashreplace")
