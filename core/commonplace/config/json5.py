"""Reading a JSON5 file: its values, or where its text is wrong."""

from __future__ import annotations

import os
import stat
from typing import Any

__all__ = ["UnreadableError", "parse", "read_text"]

_MOST_BYTES = 16 * 1024 * 1024
_DEEPEST = 200


class UnreadableError(Exception):
    """A file that cannot be read as JSON5; ``line`` is 0 where it is not about a line."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def read_text(path: str, *, strange: bool = False) -> str:
    """The text of ``path``.

    ``strange`` files, which somebody else may have put there, must be plain files: no link is
    followed, no pipe waited for. Raises :class:`UnreadableError`.
    """
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
    if strange:
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
        with os.fdopen(handle, "rb") as file:
            if strange and not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UnreadableError("is not a plain file; it is not read")
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        if strange and os.path.islink(path):
            reason = "is a link; a workspace's own file must be a plain file"
        raise UnreadableError(reason) from None
    if len(data) > _MOST_BYTES:
        raise UnreadableError(f"is larger than {_MOST_BYTES // 1024**2} MiB; this cannot be meant")
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError("is not UTF-8 text; save it as UTF-8", line) from None


def parse(text: str) -> Any:
    """The values in ``text``; a blank text, or one of comments only, is an empty object.

    Of a key that stands twice in one object, the last one counts. Raises :class:`UnreadableError`.
    """
    import json

    # What a program wrote is mostly plain JSON, and the parser for that is here already; the
    # one for JSON5 costs 8 ms to import.
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _parse_json5(text)


def _parse_json5(text: str) -> Any:
    from commonplace.config.places import is_blank

    if is_blank(text):
        return {}
    import pyjson5

    try:
        return pyjson5.decode(text, _DEEPEST)
    except (pyjson5.Json5Exception, ValueError, RecursionError) as error:
        words = str(error.args[0]) if error.args else ""
    # Raised outside of the handler: the error that was caught has the values read so far in it.
    raise _explained(text, words)


def _explained(text: str, words: str) -> UnreadableError:
    from commonplace.config.places import MisplacedError, locate

    try:
        locate(text)
    except MisplacedError as misplaced:
        return UnreadableError(f"column {misplaced.column}: {misplaced}", misplaced.line)
    if "nesting" in words.lower():
        return UnreadableError(f"is nested more than {_DEEPEST} deep; this cannot be meant")
    _, _, place = words.partition(" near ")
    digits = place.split(",")[0].strip()
    line = text.count("\n", 0, int(digits)) + 1 if digits.isdigit() else 0
    return UnreadableError("is not JSON5 here: a number or an escape that cannot be read", line)
