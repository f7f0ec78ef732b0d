"""Path globs of search filters, as regular expressions."""

from __future__ import annotations

import re

__all__ = ["glob_regex"]

_WILDCARD = re.compile(r"(?:(?:^|(?<=/))(?:\*\*/)+)|\*\*+|\*|\?")


def glob_regex(pattern: str) -> str:
    """A regular expression that matches the whole of each path that ``pattern`` stands for.

    ``*`` is any characters but ``/``, ``?`` one of them; ``**`` is any characters, and ``**/`` at
    the start of a name any number of folders, none included. All else stands for itself. A pattern
    without wildcards stands for the path itself and everything under it. Use it with
    ``re.fullmatch``.
    """
    if "*" not in pattern and "?" not in pattern:
        return f"(?s:{re.escape(pattern.rstrip('/'))}(?:/.*)?)"
    pieces = []
    end = 0
    for wildcard in _WILDCARD.finditer(pattern):
        pieces += [re.escape(pattern[end : wildcard.start()]), _meaning(wildcard.group())]
        end = wildcard.end()
    return f"(?s:{''.join(pieces)}{re.escape(pattern[end:])})"


def _meaning(wildcard: str) -> str:
    if wildcard == "?":
        return "[^/]"
    if wildcard == "*":
        return "[^/]*"
    # Several in a row mean no more than one, and would only make matching slow.
    return "(?:.*/)?" if wildcard.endswith("/") else ".*"
