"""Path globs, of search filters and of configured folders, as regular expressions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "glob_regex",
    "matcher",
]


_STARS = r"(?:(?:^|(?<=/))(?:\*\*+/)+)|\*\*+|\*|\?"
_WILDCARD = re.compile(_STARS)
_EXTENDED = rf"{_STARS}|\[.[^\]]*\]|\{{[^}}]*\}}"


def glob_regex(pattern: str, *, extended: bool = False) -> str:
    """A regular expression that matches the whole of each path that ``pattern`` stands for.

    ``*`` is any characters but ``/``, ``?`` one of them; ``**`` is any characters, and ``**/`` at
    the start of a name any number of folders, none included. All else stands for itself. A pattern
    without wildcards stands for the path itself and everything under it. Use it with
    ``re.fullmatch``.

    With ``extended``, ``[a-z]`` and ``[!a-z]`` are one character, ``{md,txt}`` alternatives, unless
    they are never closed, and ``**`` crosses a ``/`` only where it is the whole of a name.
    """
    # Filters do without: a path may have brackets, and should be its own filter.
    wildcards = re.compile(_EXTENDED, re.DOTALL) if extended else _WILDCARD
    if wildcards.search(pattern) is None:
        return f"(?s:{re.escape(pattern.rstrip('/'))}(?:/.*)?)"
    return f"(?s:{_translated(pattern, wildcards, extended=extended)})"


def _translated(pattern: str, wildcards: re.Pattern[str], *, extended: bool) -> str:
    pieces = []
    end = 0
    for found in wildcards.finditer(pattern):
        wildcard = found.group()
        pieces.append(re.escape(pattern[end : found.start()]))
        end = found.end()
        if wildcard[0] == "[":
            pieces.append(_class(wildcard[1:-1]))
        elif wildcard[0] == "{":
            choices = wildcard[1:-1].split(",")
            inner = "|".join(_translated(one, wildcards, extended=extended) for one in choices)
            pieces.append(f"(?:{inner})")
        elif extended and wildcard.startswith("**") and wildcard[-1] == "*":
            whole = end == len(pattern) and pattern[: found.start()][-1:] in ("", "/")
            pieces.append(".*" if whole else "[^/]*")
        else:
            pieces.append(_meaning(wildcard))
    return f"{''.join(pieces)}{re.escape(pattern[end:])}"


def _meaning(wildcard: str) -> str:
    if wildcard == "?":
        return "[^/]"
    if wildcard == "*":
        return "[^/]*"
    # Several in a row mean no more than one, and would only make matching slow.
    return "(?:.*/)?" if wildcard.endswith("/") else ".*"


def _class(inside: str) -> str:
    negated = inside[0] in "!^" and len(inside) > 1
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
    try:
        re.compile(f"[{members}]")
    except re.error:  # such as a range that runs backwards: nothing is in it
        return "[^/]" if negated else "(?!)"
    return f"(?!/)[{'^' if negated else ''}{members}]"


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a path below the root (forward slashes) is one that ``pattern`` asks for.

    ``*`` and ``?`` stay within a name, ``**/`` stands for any number of folders, ``[a-z]`` and
    ``[!a-z]`` for one character, ``{md,txt}`` for alternatives. A pattern without any of these
    names a file or a folder with all it holds. A bracket or brace that is never closed stands for
    itself.
    """
    pattern = pattern.removeprefix("./").strip("/")
    expression = re.compile(glob_regex(pattern, extended=True))
    return lambda path: expression.fullmatch(path) is not None
