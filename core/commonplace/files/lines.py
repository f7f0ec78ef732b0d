"""Lines of a note, read from the file itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.errors import (
    NoteNotFoundError,
    PathNotAllowedError,
    UnavailableError,
    WorkspaceError,
)
from commonplace.files.reading import decode, read_bytes, resolve, split_citation
from commonplace.files.roots import ExtraRoot, Roots
from commonplace.model.reports import NoteText

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.model.plugins import Mount

__all__ = ["cut_lines", "read_lines", "read_mounted"]


def read_lines(
    roots: Roots, path: str, start: int | None = None, lines: int | None = None
) -> NoteText:
    r"""``lines`` lines of the note at ``path`` from the 1-based line ``start``; all by default.

    ``path`` is as in :func:`commonplace.files.reading.resolve`, or a citation (``path#L3-L9``)
    whose lines count where none are given. ``start`` and ``lines`` below 1 are taken as 1. Lines
    end at ``\n`` or ``\r\n``; the text keeps them as they stand in the file, without the one after
    the last line. Past the end the text is empty and ``end_line`` is below ``start_line``.

    Raises :class:`~commonplace.errors.PathNotAllowedError` for everything memory may not read,
    :class:`~commonplace.errors.NoteNotFoundError` where an allowed path has no note,
    :class:`~commonplace.errors.WorkspaceError` where the workspace is gone, and
    :class:`~commonplace.errors.UnavailableError` where the file cannot be read now.
    """
    return _read(roots, path, start, lines, prefix="")


def _read(roots: Roots, path: str, start: int | None, lines: int | None, prefix: str) -> NoteText:
    path, cited_first, cited_last = split_citation(path)
    if start is None and lines is None and cited_first is not None and cited_last is not None:
        start, lines = cited_first, cited_last - max(1, cited_first) + 1
    root, relative = resolve(roots, path)
    stored = prefix + roots.stored_below(root, relative)
    try:
        data, _ = read_bytes(root, relative)
    except FileNotFoundError:
        if not prefix and not os.path.isdir(roots.workspace):
            raise WorkspaceError(
                "the workspace is missing or not a folder", hint=f"make {roots.workspace}"
            ) from None
        raise NoteNotFoundError(
            f"there is no note {stored}", hint="search for it: search results name their notes"
        ) from None
    except OSError as error:
        raise UnavailableError(
            f"{stored} cannot be read: {error.strerror or error}",
            hint="see that this user may read the file, and that its disk is well",
        ) from error
    return cut_lines(stored, decode(data), start, lines)


def read_mounted(
    mounts: Iterable[Mount], path: str, start: int | None = None, lines: int | None = None
) -> NoteText | None:
    """As :func:`read_lines`, of a file that one of ``mounts`` names; ``None`` where none does."""
    for mount in mounts:
        below = path.strip().removeprefix(f"{mount.prefix}/")
        if below == path.strip():
            continue
        roots = Roots(mount.location, [ExtraRoot(".", mount.pattern)], own=False)
        try:
            return _read(roots, below, start, lines, prefix=f"{mount.prefix}/")
        except PathNotAllowedError:
            continue
    return None


def cut_lines(path: str, text: str, start: int | None, lines: int | None) -> NoteText:
    """``lines`` lines of ``text`` from line ``start``, as :func:`read_lines` gives them."""
    total = text.count("\n") + (not text.endswith("\n") and text != "")
    first = max(1, start or 1)
    last = total if lines is None else min(total, first + max(1, lines) - 1)
    if first > last:
        return NoteText(path=path, text="", start_line=first, end_line=first - 1, total_lines=total)
    # Splitting no further than the last line wanted keeps long notes cheap.
    pieces = text.split("\n", last)[first - 1 : last]
    if last < total or text.endswith("\n"):
        pieces[-1] = pieces[-1].removesuffix("\r")
    return NoteText(
        path=path, text="\n".join(pieces), start_line=first, end_line=last, total_lines=total
    )
