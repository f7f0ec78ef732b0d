"""The command line: from arguments to an exit code.

``commonplace help exit-codes`` lists the codes; :mod:`commonplace.cli.parser` has them.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False  # not from ``typing``: see ``_prepare_process``
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; ``None`` is that of this process."""
    if argv is not None:
        return _guarded(argv)
    _prepare_process()
    code = _guarded(sys.argv[1:])
    # Skip the teardown of the interpreter, which takes a tenth of the time of a search. Everything
    # that needs closing is closed, and the output is flushed here.
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # a failed write was reported when it first failed
            stream.flush()
    os._exit(code)


def _guarded(argv: Sequence[str]) -> int:
    try:
        from commonplace.cli.streams import printable_streams

        with printable_streams():
            return _run(argv)
    except KeyboardInterrupt:  # before anything runs
        return _interrupted(argv)


def _run(argv: Sequence[str]) -> int:
    try:
        from commonplace.cli.parser import dispatch

        code = dispatch(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe. Write nothing more, not even by the interpreter's flush at the
        # end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _interrupted(argv)
    except Exception as error:
        if os.environ.get("COMMONPLACE_DEBUG"):
            raise
        from commonplace.cli.failure import report

        return report(error, argv)
    return code


def _interrupted(argv: Sequence[str]) -> int:
    from commonplace.cli.failure import report_interrupt

    return report_interrupt(argv)


def _prepare_process() -> None:
    """Set up a process that runs one command."""
    # Start-up creates many lasting objects and little garbage: at the default threshold the
    # collector would scan all of them a dozen times. So nothing large is imported before this.
    gc.set_threshold(50_000, 20, 20)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the parent process
            nowhere = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
            setattr(sys, name, nowhere)
        # A character that the terminal cannot show must not end the program.
        getattr(sys, name).reconfigure(errors="backslashreplace")
