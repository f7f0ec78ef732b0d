"""Glob patterns of extra paths, as tests of what lies below them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.model.globs import glob_regex

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["matcher"]


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
