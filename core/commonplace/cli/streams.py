"""What the command line prints can steer no terminal: the one place that makes text printable.

And what it writes to a file that a person named takes no other file's place.

Notes, the names of files, answers of servers and configurations hold what others wrote. Their
control characters could move the cursor, set the title or answer in the user's name, and characters
that reverse the direction of text make it read as something else.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonplace.errors import UnavailableError


_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_C1 = range(0x80, 0xA0)
# Each character is replaced by exactly one, so that offsets into the text stay true.
_HARMLESS = (
    dict.fromkeys([*range(0x20), 0x7F, *_C1, *_BIDI], "\ufffd")
    | {0x09: " ", 0x0A: "\n", 0x0D: " "}
)  # fmt: skip
_IN_JSON = {code: f"\\u{code:04x}" for code in (0x7F, *_C1, *_BIDI)}
_SHOWN = _HARMLESS | {0x09: "\t"}

# What stands for an escape character of our own, so that no text of another can pass for it.
_ESCAPE = f"\ufdd0{os.urandom(8).hex()}\ufdd1"


def typed(text: str) -> str:
    """An argument in UTF-8, also where a locale such as C made lone surrogates of its bytes."""
    with suppress(UnicodeError):
        return text.encode(sys.getfilesystemencoding(), "surrogateescape").decode()
    return text


def printable(text: str) -> str:
    """``text`` without characters that steer a terminal; as long as before."""
    return text.translate(_HARMLESS)


def one_line(text: str) -> str:
    """The same on one line: a name with a line break in it must not begin a line of its own."""
    return text.translate(_HARMLESS).replace("\n", "\ufffd")


def printable_json(text: str) -> str:
    """JSON with such characters escaped; it means the same."""
    return text.translate(_IN_JSON)


class PrintableStream:
    """A stream whose text is made printable as it is written, but for decorations of our own.

    Those begin with :attr:`escape` in the place of an escape character. A carriage return is left
    at the beginning of what is written at once, where it redraws a line.
    """

    escape = _ESCAPE

    def __init__(self, stream: TextIO) -> None:
        self.bare = stream

    def write(self, text: str) -> int:
        """Write ``text``; returns its length."""
        start = "\r" if text.startswith("\r") else ""
        parts = text[len(start) :].split(_ESCAPE)
        self.bare.write(start + "\x1b".join(part.translate(_SHOWN) for part in parts))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bare, name)


def bare(stream: TextIO) -> TextIO:
    """The stream itself, for a library that decorates; give it text that is printable."""
    found: TextIO = getattr(stream, "bare", stream)
    return found


def escape_of(stream: TextIO) -> str:
    """What begins a decoration of text on ``stream``."""
    found: str = getattr(stream, "escape", "\x1b")
    return found


@contextmanager
def printable_streams() -> Iterator[None]:
    """Make printable what this process writes for a person, meanwhile.

    That is standard error, and standard output where it is a terminal: what is piped elsewhere,
    such as a note, arrives as it is.
    """
    out, err = sys.stdout, sys.stderr
    if out.isatty():
        sys.stdout = cast("TextIO", PrintableStream(out))
    sys.stderr = cast("TextIO", PrintableStream(err))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


@contextmanager
def prints_aside() -> Iterator[None]:
    """Send to standard error what is printed meanwhile.

    A plugin, or a library that it uses, may print whatever it likes, and standard output is for the
    result alone: a program reads it.
    """
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdout = out


def check_output(path: str, what: str, is_ours: Callable[[bytes], bool]) -> None:
    """See that ``what``, such as ``"the report"``, may be written to the ``path`` of a person.

    Raises :class:`~commonplace.errors.CallerError` for a folder, and for a file that is there and
    not empty, unless ``is_ours`` knows its first line.
    """
    from commonplace.errors import CallerError

    if os.path.isdir(path):
        raise CallerError(f"{path}: is a folder", hint=f"name the file of {what}")
    if os.path.isfile(path):
        try:
            with open(path, "rb") as file:
                first = file.readline()
        except OSError as error:
            raise _failed(path, "read", error) from error
        if first and not is_ours(first):
            raise CallerError(
                f"{path}: is there already, and no earlier file of {what}",
                hint="name a new file, or delete this one",
            )


def write_output(path: str, text: str) -> None:
    """Write ``text`` to ``path``: to a file, also behind a link, whole or not at all.

    Raises :class:`~commonplace.errors.UnavailableError` where that fails.
    """
    from commonplace.dirs import write_whole

    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        else:
            write_whole(os.path.realpath(path), text)
    except BrokenPipeError:  # its reader has seen enough
        pass
    except OSError as error:
        raise _failed(path, "written", error) from error


def _failed(path: str, done: str, error: OSError) -> UnavailableError:
    from commonplace.errors import UnavailableError

    return UnavailableError(
        f"{path} cannot be {done}: {error.strerror or error}",
        hint="check the rights of the file and its folder, and the free space",
    )


def wants_json(argv: Sequence[str]) -> bool:
    """Whether ``argv`` asks for JSON; the rest need not be valid."""
    options = argv[: argv.index("--")] if "--" in argv else argv
    if "--json" in options or "--format=json" in options:
        return True
    return ("--format", "json") in pairwise(options)
