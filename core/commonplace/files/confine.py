"""Which of the paths that people and models ask for memory may read."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from commonplace.errors import PathNotAllowedError
from commonplace.files.roots import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.files.roots import Root, Roots

__all__ = ["resolve", "split_citation"]

_LONGEST = 4096
_CITATION = re.compile(r"#L([0-9]{1,9})(?:-L?([0-9]{1,9}))?\Z")


def split_citation(path: str) -> tuple[str, int | None, int | None]:
    """``path#L3-L9`` as path, first and last line; ``path#L3`` is that one line.

    Without such an ending the lines are ``None``. No note's name ends like that, since all end in
    ``.md``.
    """
    path = path.strip()
    found = _CITATION.search(path)
    if found is None:
        return path, None, None
    first = int(found[1])
    last = first if found[2] is None else int(found[2])
    return path[: found.start()], min(first, last), max(first, last)


def resolve(roots: Roots, path: str) -> tuple[Root, str]:
    """The root that admits ``path``, and the part below it as ``read_bytes`` takes it.

    ``path`` is relative to the workspace, as search results name it, or absolute. ``..`` is
    taken out of the name before anything is looked up, so it cannot be used to step through a
    link; the names alone decide, and whether such a file exists plays no part.

    Raises :class:`~commonplace.errors.PathNotAllowedError`, in the same words whatever the reason.
    """
    for asked in dict.fromkeys((path, path.strip())):
        if len(asked) > _LONGEST or "\0" in asked or not asked.endswith(SUFFIX):
            continue
        location = os.path.normpath(os.path.join(roots.workspace, asked))
        for root, relative in _admitting(roots, location, absolute=os.path.isabs(asked)):
            if _is_plain(roots.stored(location), relative):
                return root, relative
    raise PathNotAllowedError


def _admitting(roots: Roots, location: str, *, absolute: bool) -> Iterator[tuple[Root, str]]:
    for root in roots.all:
        relative = root.below(location)
        if relative is not None:
            yield root, relative
    if not absolute:
        return
    for root in roots.all:
        # The same place by another name: /private/tmp for /tmp, a workspace that is a link.
        real = os.path.join(os.path.realpath(root.base), *root.parts)
        if real != root.location:
            relative = root._replace(location=real).below(location)
            if relative is not None:
                yield root, relative


def _is_plain(stored: str, relative: str) -> bool:
    """Whether an index can hold this name, and a file system will not read more into it."""
    try:
        stored.encode()
    except UnicodeEncodeError:
        return False
    # On Windows a colon begins the name of a stream within the file.
    return os.name != "nt" or ":" not in relative
