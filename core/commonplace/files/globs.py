"""Globs on paths: those of filters and folders, and those of ``.gitignore`` files.

The former are regular expressions that take no time even where they match nothing: a filter can
come from a model and a pattern from a folder that was cloned. So each wildcard is matched by what
comes first, and tried no other way: that is enough, since the next wildcard takes what lies
between. Only those of the end have to be tried everywhere.
"""

from __future__ import annotations

import os
import re
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pathspec import GitIgnoreSpec


_STARS = r"(?:(?:^|(?<=/))(?:\*\*+/)+)|\*\*+|\*|\?"
_EXTENDED = rf"{_STARS}|\[.[^\]]*\]"
_BRACES = r"\{([^}]*)\}"
_MOST_CHOICES = 64

_STAR = "[^/]*"
_ANY = ".*"
_FOLDERS = "(?:[^/]*/)*"


def glob_regex(pattern: str, *, extended: bool = False) -> str:
    """A regular expression that matches the whole of each path that ``pattern`` stands for.

    ``*`` is any characters but ``/``, ``?`` one of them; ``**`` is any characters, and ``**/`` at
    the start of a name any number of folders, none included. All else stands for itself. A pattern
    without wildcards stands for the path itself and everything under it. Use it with
    ``re.fullmatch``.

    With ``extended``, ``[a-z]`` and ``[!a-z]`` are one character, ``{md,txt}`` alternatives (64 in
    all at most, else braces stand for themselves), unless they are never closed, and ``**``
    crosses a ``/`` only where it is the whole of a name.
    """
    # Filters do without: a path may have brackets, and should be its own filter.
    wildcards = re.compile(_EXTENDED if extended else _STARS, re.DOTALL)
    choices = _choices(pattern) if extended else [pattern]
    if len(choices) == 1 and wildcards.search(choices[0]) is None:
        return f"(?s:{re.escape(choices[0].rstrip('/'))}(?:/.*)?)"
    found = (_regex(_pieces(choice, wildcards, extended=extended)) for choice in choices)
    return f"(?s:{'|'.join(found)})"


def _choices(pattern: str) -> list[str]:
    """The patterns that ``pattern`` stands for by its braces."""
    parts = re.split(_BRACES, pattern)
    braces = [inside.split(",") for inside in parts[1::2]]
    number = 1
    for choices in braces:
        number *= len(choices)
        if number > _MOST_CHOICES:
            return [pattern]
    return [
        "".join(one for pair in zip(parts[::2], (*chosen, ""), strict=True) for one in pair)
        for chosen in product(*braces)
    ]


def _pieces(pattern: str, wildcards: re.Pattern[str], *, extended: bool) -> Iterator[str]:
    """Regular expressions of its parts: one of the three wildcards, or what has a fixed length."""
    fixed, end = "", 0
    for found in wildcards.finditer(pattern):
        wildcard = found.group()
        fixed += re.escape(pattern[end : found.start()])
        end = found.end()
        if wildcard[0] == "[":
            fixed += _class(wildcard[1:-1])
            continue
        if wildcard == "?":
            fixed += "[^/]"
            continue
        if fixed:
            yield fixed
        fixed = ""
        if wildcard == "*":
            yield _STAR
        elif wildcard.endswith("/"):
            # Several in a row mean no more than one.
            yield _FOLDERS
        elif extended:
            whole = end == len(pattern) and pattern[: found.start()][-1:] in ("", "/")
            yield _ANY if whole else _STAR
        else:
            yield _ANY
    fixed += re.escape(pattern[end:])
    if fixed:
        yield fixed


def _regex(pieces: Iterator[str]) -> str:
    """One expression of all; each wildcard but the last two kinds is followed as soon as it can."""
    # Runs of names, each after a wildcard that crosses from folder to folder, or "".
    runs: list[tuple[str, list[str]]] = [("", [])]
    for piece in pieces:
        if piece in (_ANY, _FOLDERS):
            runs.append((piece, []))
        else:
            runs[-1][1].append(piece)
    *firsts, (wide, last) = runs
    parts = []
    for crossing, run in firsts:
        while run and run[-1] == _STAR:
            del run[-1]  # the next one crosses what it would
        inner = "".join(_early(run))
        parts.append(f"(?>{crossing}?{inner})" if crossing and inner else inner)
    return f"{''.join(parts)}{wide}{_late(last)}"


def _early(run: Sequence[str]) -> Iterator[str]:
    """What is fixed in a run, each at its first place after the one before it."""
    star = ""
    for piece in run:
        if piece == _STAR:
            star = "[^/]*?"
        else:
            yield f"(?>{star}{piece})" if star else piece
            star = ""


def _late(run: Sequence[str]) -> str:
    """The run at the end: its last star takes what has to be taken."""
    stars = [place for place, piece in enumerate(run) if piece == _STAR]
    if not stars:
        return "".join(run)
    return "".join(_early(run[: stars[-1]])) + "".join(run[stars[-1] :])


def _class(inside: str) -> str:
    negated = inside[0] in "!^" and len(inside) > 1
    members = re.sub(r"([\\\[\]^&~|]|(?<=-)-)", r"\\\1", inside[1:] if negated else inside)
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


class GitIgnored:
    """Whether git ignores a path below ``top``, by the ``.gitignore`` files there and around it.

    Those around it count up to the folder that holds ``.git``. Files that git ignores for one user
    or one clone are not known here.
    """

    def __init__(self, top: str) -> None:
        from pathspec import GitIgnoreSpec

        self._load = GitIgnoreSpec.from_lines
        self._base = top
        around = top
        while around != os.path.dirname(around):
            if os.path.lexists(os.path.join(around, ".git")):
                self._base = around
                break
            around = os.path.dirname(around)
        below = os.path.relpath(top, self._base)
        self._prefix = "" if below == os.curdir else below.replace(os.sep, "/") + "/"
        self._specs: dict[str, GitIgnoreSpec | None] = {}
        self._folders: dict[str, bool] = {"": False}

    def __call__(self, path: str) -> bool:
        """``path`` is below the top, with forward slashes; a folder's ends in one."""
        full = self._prefix + path
        if full.endswith("/"):
            return self._ignores_folder(full)
        folder = full[: full.rfind("/") + 1]
        return self._ignores_folder(folder) or self._judged(folder, full)

    def _ignores_folder(self, folder: str) -> bool:
        known = self._folders.get(folder)
        if known is None:
            around = folder[: folder.rstrip("/").rfind("/") + 1]
            known = self._ignores_folder(around) or self._judged(around, folder)
            self._folders[folder] = known
        return known

    def _judged(self, folder: str, full: str) -> bool:
        """What the innermost file says that says anything; ``folder`` is around ``full``."""
        while True:
            spec = self._spec(folder)
            said = None if spec is None else spec.check_file(full[len(folder) :]).include
            if said is not None:
                return said
            if not folder:
                return False
            folder = folder[: folder.rstrip("/").rfind("/") + 1]

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            try:
                path = os.path.join(self._base, folder, ".gitignore")
                with open(path, encoding="utf-8", errors="replace") as file:
                    self._specs[folder] = self._load(file)
            except OSError:
                self._specs[folder] = None
        return self._specs[folder]
