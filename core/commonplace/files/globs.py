"""Glob patterns of extra paths: ``*`` does not cross ``/``, ``**`` does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["matcher"]

_ANY_FOLDERS = "(?:[^/]+/)*"
_WILDCARDS = frozenset("*?[{")


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a path below the root (forward slashes) is one that ``pattern`` asks for.

    ``*`` and ``?`` stay within a name, ``**/`` stands for any number of folders, ``[a-z]`` and
    ``[!a-z]`` for one character, ``{md,txt}`` for alternatives. A pattern without any of these
    names a file or a folder with all it holds. A bracket or brace that is never closed stands for
    itself.
    """
    pattern = pattern.removeprefix("./").strip("/")
    if not _WILDCARDS & set(pattern):
        return lambda path: path == pattern or path.startswith(f"{pattern}/")
    expression = re.compile(_translate(pattern), re.DOTALL)
    return lambda path: expression.fullmatch(path) is not None


def _translate(pattern: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(pattern):
        piece, at = _next(pattern, at)
        out.append(piece)
    return "".join(out)


def _next(pattern: str, at: int) -> tuple[str, int]:
    """The expression for what stands at ``at``, and where the next thing begins."""
    character = pattern[at]
    if character == "*":
        return _stars(pattern, at)
    if character == "?":
        return "[^/]", at + 1
    if character == "[":
        end = pattern.find("]", at + 2)
        if end > 0:
            return _class(pattern[at + 1 : end]), end + 1
    if character == "{":
        end = pattern.find("}", at)
        if end > 0:
            choices = pattern[at + 1 : end].split(",")
            return f"(?:{'|'.join(_translate(choice) for choice in choices)})", end + 1
    return re.escape(character), at + 1


def _stars(pattern: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    whole_name = (at == 0 or pattern[at - 1] == "/") and end - at > 1
    if whole_name and end == len(pattern):
        return ".*", end
    if whole_name and pattern[end] == "/":
        return _ANY_FOLDERS, end + 1
    return "[^/]*", end


def _class(inside: str) -> str:
    negated = inside[0] in "!^" and len(inside) > 1
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
    try:
        re.compile(f"[{members}]")
    except re.error:  # such as a range that runs backwards: nothing is in it
        return "[^/]" if negated else "(?!)"
    return f"(?!/)[{'^' if negated else ''}{members}]"
